"""Areas under curves, with scikit-learn's names and values; cells that are not stored have score 0."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmceval.api.dropins.cells import Cells, Float64, as_scores, row_blocks, sort_cells
from xmceval.api.dropins.targets import (
    UndefinedMetricWarning,
    as_classes,
    as_indicator,
    as_weight,
    check_choice,
    check_shapes,
    is_matrix,
    mean,
    warn,
)
from xmceval.errors import DataError, UsageError

AVERAGES = ("micro", "macro", "weighted", "samples", None)


class Metric(NamedTuple):
    """An area by group: its values, and where it is not defined, from cells, their weights and those of the rest."""

    values: Callable[[Cells, Float64, Float64], tuple[Float64, Any]]
    undefined: str

    def tell(self, undefined: Any) -> None:
        """Warn, once, where some group has no value."""
        n = int(np.count_nonzero(undefined))
        if n:
            warn(self.undefined.format(n=f"{n:,} of {undefined.size:,}"), UndefinedMetricWarning)


def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str | None = "macro",
    sample_weight: Any = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: Any = None,  # noqa: ARG001 - orders the classes of multiclass scores, which are refused
) -> Any:
    """Compute the area under the ROC curve, as scikit-learn's, for two classes and for indicators.

    The share of (positive, negative) pairs in order, a tie being one half. With one class it is NaN, with a warning.

    Parameters
    ----------
    y_true : array [n_rows] or sparse matrix or array [n_rows, n_labels]
        Two classes, of which the larger is positive; or an indicator.
    y_score : array [n_rows] or sparse matrix or array [n_rows, n_labels]
        Scores; what a sparse matrix does not store has score 0.
    average : {"micro", "macro", "weighted", "samples", None}
        Of indicators: all cells as one; mean over labels; weighted by true cells; mean over rows; no mean.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    max_fpr : float, optional
        Up to this false positive rate only, in (0, 1], standardised as McClish did: 0.5 is chance, 1 the best.
    multi_class, labels
        Without effect on two classes and indicators, as in scikit-learn; three classes or more are refused.

    Returns
    -------
    float or array [n_labels]

    Raises
    ------
    DataError
        More than two classes, scores that do not fit or are not finite.
    UsageError
        A parameter that is wrong.

    Examples
    --------
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    check_choice(average, "average", AVERAGES)
    check_choice(multi_class, "multi_class", ("raise", "ovr", "ovo"))
    if max_fpr is not None and not (isinstance(max_fpr, numbers.Real) and 0 < max_fpr <= 1):
        raise UsageError(f"max_fpr must be above 0 and at most 1, or None, got {max_fpr!r}")
    limit = None if max_fpr is None or max_fpr == 1 else float(max_fpr)

    area = Metric(
        partial(_areas, max_fpr=limit),
        "ROC AUC is not defined where there is one class only ({n}); it was set to NaN",
    )
    if is_matrix(y_true):
        return _average(area, y_true, y_score, average, sample_weight)
    classes = as_classes(y_true, "y_true")
    distinct = np.unique(classes)
    if distinct.size > 2:
        raise DataError(
            f"y_true: has {distinct.size} classes; multiclass (one-vs-rest, one-vs-one) is not supported here: "
            "give an indicator matrix, one column a class"
        )
    positive = classes == distinct[-1] if distinct.size > 1 else np.ones(classes.size, dtype=bool)
    return _binary(area, positive, y_score, sample_weight)


def average_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str | None = "macro",
    pos_label: Any = 1,
    sample_weight: Any = None,
) -> Any:
    """Compute average precision, as scikit-learn's, for two classes and for indicators.

    The sum over thresholds of (recall - recall before) x precision; equal scores are one threshold. Without a positive
    it is 0, with a warning. See `roc_auc_score` for the other arguments.

    Parameters
    ----------
    pos_label : class
        The positive class; 1 for indicators.

    Examples
    --------
    >>> round(average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    """
    check_choice(average, "average", AVERAGES)
    is_one = not isinstance(pos_label, str) and np.isscalar(pos_label) and pos_label == 1
    if is_matrix(y_true):
        if not is_one:
            raise UsageError(f"pos_label must be 1 for an indicator matrix, got {pos_label!r}")
        return _average(PRECISION, y_true, y_score, average, sample_weight)
    classes = as_classes(y_true, "y_true")
    distinct = np.unique(classes)
    if distinct.size > 2:
        raise DataError(
            f"y_true: has {distinct.size} classes; multiclass is not supported here: "
            "give an indicator matrix, one column a class"
        )
    is_text = isinstance(pos_label, str)
    if is_text != (classes.dtype.kind == "U") or (distinct.size == 2 and pos_label not in distinct):
        raise DataError(f"pos_label={pos_label!r} is not one of the classes, {distinct.tolist()}")
    return _binary(PRECISION, classes == pos_label, y_score, sample_weight)


def _areas(cells: Cells, weights: Float64, spare: Float64, max_fpr: float | None) -> tuple[Float64, Any]:
    """Compute the area of each group."""
    n_groups = spare.size
    truth = cells.truth != 0
    if max_fpr is None:
        from xmceval.kernels import grouped as flat

        doubled, positive, negative = np.zeros(n_groups), np.zeros(n_groups), np.zeros(n_groups)
        if truth.size:
            flat.add_pairs(cells.starts, truth, cells.scores, weights, spare, doubled, positive, negative)
        with np.errstate(invalid="ignore", divide="ignore"):
            areas = doubled / (2 * positive * negative)
    else:
        values = _follow(cells, weights, spare, max_fpr)
        positive, negative = values[:, 2], values[:, 3]
        least = max_fpr**2 / 2
        areas = 0.5 * (1 + (values[:, 1] - least) / (max_fpr - least))
    one_class = (positive == 0) | (negative == 0)
    areas[one_class] = np.nan
    return areas, one_class


def _precisions(cells: Cells, weights: Float64, spare: Float64) -> tuple[Float64, Any]:
    """Compute the average precision of each group."""
    values = _follow(cells, weights, spare, 1.0)
    return values[:, 0], values[:, 2] == 0


PRECISION = Metric(_precisions, "average precision is not defined where there is no positive ({n}); it was set to 0")


def _follow(cells: Cells, weights: Float64, spare: Float64, max_fpr: float) -> Float64:
    from xmceval.kernels import dropins as kernels

    values = np.empty((spare.size, 4))
    kernels.follow_curves(cells.starts, cells.truth != 0, cells.scores, weights, spare, max_fpr, values)
    return values


def _binary(metric: Metric, positive: Any, y_score: Any, sample_weight: Any) -> float:
    """Compute the metric of one list."""
    scores = as_scores(y_score)
    if len(scores.shape) == 2 and scores.shape[1] != 1:
        raise DataError(f"y_score: has shape {scores.shape}, but y_true two classes; expected one score a row")
    scores = (scores.toarray() if sparse.issparse(scores) else scores).reshape(-1).astype(np.float64)
    check_shapes(positive, scores, "y_score")
    weight = as_weight(sample_weight, positive.size)
    weight = np.ones(positive.size) if weight is None else weight.astype(np.float64)
    kept = np.flatnonzero(weight)
    order = kept[np.argsort(-scores[kept], kind="stable")]
    starts = np.array([0, order.size])
    cells = Cells(starts, order, positive[order].astype(np.float64), scores[order], order)
    value, undefined = metric.values(cells, weight[order], np.zeros(1))
    metric.tell(undefined)
    return float(value[0])


def _average(metric: Metric, y_true: Any, y_score: Any, average: str | None, sample_weight: Any) -> Any:
    """Compute the metric of labels, rows or all cells, and average."""
    indicator = as_indicator(y_true, "y_true")
    if indicator.value != 1:
        raise DataError(f"y_true: holds 0 and {indicator.value:g}; expected 0 and 1 (hint: y > 0)")
    truth, scores = indicator.ones, as_scores(y_score)
    check_shapes(truth, scores, "y_score")
    weight = as_weight(sample_weight, truth.shape[0], some=average != "samples")
    if average == "samples":
        return _zeroed_mean(_by_rows(metric, truth, scores), weight)
    if weight is not None and not weight.all():  # rows of no weight are no rows
        kept = np.flatnonzero(weight)
        truth, scores, weight = truth[kept], scores[kept], weight[kept]
    by_row = np.ones(truth.shape[0]) if weight is None else weight.astype(np.float64)
    if average == "weighted":
        true_weight = np.bincount(truth.indices, np.repeat(by_row, np.diff(truth.indptr)), minlength=truth.shape[1])
        if np.isclose(true_weight.sum(), 0):
            return 0.0
    values = _by_columns(metric, truth, scores, by_row, micro=average == "micro")
    if average is None:
        return values
    if average == "weighted":
        return _zeroed_mean(values, true_weight)
    return float(np.mean(values))


def _zeroed_mean(values: Float64, weight: Any) -> float:
    """Average; what has no weight takes no part, even where it is NaN."""
    return mean(values if weight is None else np.where(weight == 0, 0, values), weight)


def _by_rows(metric: Metric, truth: Any, scores: Any) -> Float64:
    """Compute the metric of every row."""
    values, undefined = np.empty(truth.shape[0]), np.empty(truth.shape[0], dtype=bool)
    for start, stop, both in row_blocks(truth, scores):
        cells = sort_cells(both)
        spare = truth.shape[1] - np.diff(cells.starts).astype(np.float64)
        values[start:stop], undefined[start:stop] = metric.values(cells, np.ones(cells.scores.size), spare)
    metric.tell(undefined)
    return values


def _by_columns(metric: Metric, truth: Any, scores: Any, by_row: Float64, *, micro: bool) -> Float64:
    """Compute the metric of every label, or of all cells as one list."""
    n_rows, n_labels = truth.shape
    both = sparse.vstack([block for _, _, block in row_blocks(truth, scores)], format="csr")
    if micro:
        rows = np.repeat(np.arange(n_rows), np.diff(both.indptr))
        order = np.argsort(-both.data.imag)
        starts = np.array([0, order.size])
        cells = Cells(starts, rows[order], both.data.real[order], both.data.imag[order], order)
        n_cells, total = n_rows * n_labels, by_row.sum() * n_labels
    else:
        cells = sort_cells(both.tocsc())
        n_cells, total = n_rows, by_row.sum()
    weights = by_row[cells.labels]
    listed = np.diff(cells.starts)
    sums = np.bincount(np.repeat(np.arange(listed.size), listed), weights, minlength=listed.size)
    spare = np.where(listed == n_cells, 0.0, total - sums)
    values, undefined = metric.values(cells, weights, spare)
    metric.tell(undefined)
    return values
