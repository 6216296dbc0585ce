"""Areas under curves, with scikit-learn's names and values; cells that are not stored have score 0."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmceval.api.dropins.indicators import (
    UndefinedMetricWarning,
    as_classes,
    as_indicator,
    as_weight,
    check_choice,
    check_shapes,
    is_matrix,
    mean,
)
from xmceval.api.dropins.storedcells import SortedCells, finite_scores, iterate_cells, sort_cells
from xmceval.errors import DataError, UsageError, warn
from xmceval.rows.block import Float64
from xmceval.scoring.tasks.rocareas import roc_areas

AVERAGES = ("micro", "macro", "weighted", "samples", None)


class Area(NamedTuple):
    """An area under a curve, computed by group of cells.

    ``compute`` takes sorted cells, their weights and the weight of each group's cells that are not stored; it returns
    the values, and where they are not defined. ``warning`` is for those groups.
    """

    compute: Callable[[SortedCells, Float64, Float64], tuple[Float64, Any]]
    warning: str

    def warn(self, is_undefined: Any) -> None:
        """Warn, once, of groups without a value."""
        n = int(np.count_nonzero(is_undefined))
        if n:
            warn([self.warning.format(n=f"{n:,} of {is_undefined.size:,}")], UndefinedMetricWarning)


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
    """Compute the area under the ROC curve, as scikit-learn does, for two classes and for indicators.

    It is the share of (positive, negative) pairs in order, a tie being one half. With only one class it is NaN, with a
    warning.

    Parameters
    ----------
    y_true : array [n_rows] or sparse matrix or array [n_rows, n_labels]
        Two classes, the larger one positive; or an indicator.
    y_score : array [n_rows] or sparse matrix or array [n_rows, n_labels]
        Scores; 0 where a sparse matrix stores none.
    average : {"micro", "macro", "weighted", "samples", None}
        For indicators: all cells together; mean over labels; mean weighted by support; mean over rows; no mean.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    max_fpr : float, optional
        Area only up to this false positive rate, in (0, 1], standardised as by McClish: 0.5 is chance, 1 the best.
    multi_class, labels
        No effect on two classes and indicators, as in scikit-learn; three classes or more are refused.

    Returns
    -------
    float or array [n_labels]

    Raises
    ------
    DataError
        More than two classes, scores of another shape or not finite.
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

    area = Area(
        partial(_compute_roc_auc, max_fpr=limit),
        "ROC AUC is not defined where there is only one class ({n}); it was set to NaN",
    )
    if is_matrix(y_true):
        return _average(area, y_true, y_score, average, sample_weight)
    classes = as_classes(y_true, "y_true")
    distinct = np.unique(classes)
    if distinct.size > 2:
        raise DataError(
            f"y_true: has {distinct.size} classes; multiclass (one-vs-rest, one-vs-one) is not supported "
            "(hint: pass an indicator matrix, one column per class)"
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
    """Compute average precision, as scikit-learn does, for two classes and for indicators.

    It is the sum over thresholds of precision x step in recall; equal scores are one threshold. Without a positive it
    is 0, with a warning. See `roc_auc_score` for the other arguments.

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
        return _average(AVERAGE_PRECISION, y_true, y_score, average, sample_weight)
    classes = as_classes(y_true, "y_true")
    distinct = np.unique(classes)
    if distinct.size > 2:
        raise DataError(
            f"y_true: has {distinct.size} classes; multiclass is not supported "
            "(hint: pass an indicator matrix, one column per class)"
        )
    is_text = isinstance(pos_label, str)
    if is_text != (classes.dtype.kind == "U") or (distinct.size == 2 and pos_label not in distinct):
        raise DataError(f"pos_label={pos_label!r} is not one of the classes, {distinct.tolist()}")
    return _binary(AVERAGE_PRECISION, classes == pos_label, y_score, sample_weight)


def _compute_roc_auc(
    cells: SortedCells, weights: Float64, spare: Float64, max_fpr: float | None
) -> tuple[Float64, Any]:
    """Compute the area under the ROC curve of each group."""
    truth = cells.truth != 0
    if max_fpr is None:
        areas, positive, negative = roc_areas(cells.starts, truth, cells.scores, weights, spare)
    else:
        values = _follow_curves(cells, weights, spare, max_fpr)
        positive, negative = values[:, 2], values[:, 3]
        least = max_fpr**2 / 2
        areas = 0.5 * (1 + (values[:, 1] - least) / (max_fpr - least))
    has_one_class = (positive == 0) | (negative == 0)
    areas[has_one_class] = np.nan
    return areas, has_one_class


def _compute_average_precision(cells: SortedCells, weights: Float64, spare: Float64) -> tuple[Float64, Any]:
    """Compute the average precision of each group."""
    values = _follow_curves(cells, weights, spare, 1.0)
    return values[:, 0], values[:, 2] == 0


AVERAGE_PRECISION = Area(
    _compute_average_precision,
    "average precision is not defined where there is no positive ({n}); it was set to 0",
)


def _follow_curves(cells: SortedCells, weights: Float64, spare: Float64, max_fpr: float) -> Float64:
    """Return for each group average precision, area up to `max_fpr`, and the weights of positives and negatives."""
    from xmceval.kernels.metrics import dropins as kernels

    values = np.empty((spare.size, 4))
    kernels.follow_curves(cells.starts, cells.truth != 0, cells.scores, weights, spare, max_fpr, values)
    return values


def _binary(area: Area, is_positive: Any, y_score: Any, sample_weight: Any) -> float:
    """Compute the area of one list."""
    scores = finite_scores(y_score)
    if len(scores.shape) == 2 and scores.shape[1] != 1:
        raise DataError(
            f"y_score: expected one score per row, as y_true has one class per row; got shape {scores.shape}"
        )
    scores = (scores.toarray() if sparse.issparse(scores) else scores).reshape(-1).astype(np.float64)
    check_shapes(is_positive, scores, "y_score")
    weight = as_weight(sample_weight, is_positive.size)
    weight = np.ones(is_positive.size) if weight is None else weight.astype(np.float64)
    kept = np.flatnonzero(weight)
    order = kept[np.argsort(-scores[kept], kind="stable")]
    starts = np.array([0, order.size])
    cells = SortedCells(starts, order, is_positive[order].astype(np.float64), scores[order], order)
    values, is_undefined = area.compute(cells, weight[order], np.zeros(1))
    area.warn(is_undefined)
    return float(values[0])


def _average(area: Area, y_true: Any, y_score: Any, average: str | None, sample_weight: Any) -> Any:
    """Compute the area of labels, rows or all cells, and average."""
    indicator = as_indicator(y_true, "y_true")
    if indicator.value != 1:
        raise DataError(f"y_true: holds 0 and {indicator.value:g}; expected 0 and 1 (hint: pass y > 0)")
    truth, scores = indicator.ones, finite_scores(y_score)
    check_shapes(truth, scores, "y_score")
    weight = as_weight(sample_weight, truth.shape[0], allow_zero=average == "samples")
    if average == "samples":
        return _mean_of_weighted(_compute_by_row(area, truth, scores), weight)
    if weight is not None and not weight.all():  # a row of weight 0 is left out
        kept = np.flatnonzero(weight)
        truth, scores, weight = truth[kept], scores[kept], weight[kept]
    row_weights = np.ones(truth.shape[0]) if weight is None else weight.astype(np.float64)
    if average == "weighted":
        support = np.bincount(truth.indices, np.repeat(row_weights, np.diff(truth.indptr)), minlength=truth.shape[1])
        if np.isclose(support.sum(), 0):
            return 0.0
    values = _compute_by_column(area, truth, scores, row_weights, micro=average == "micro")
    if average is None:
        return values
    if average == "weighted":
        return _mean_of_weighted(values, support)
    return float(np.mean(values))


def _mean_of_weighted(values: Float64, weight: Any) -> float:
    """Average the values that have a weight; the others may be NaN."""
    return mean(values if weight is None else np.where(weight == 0, 0, values), weight)


def _compute_by_row(area: Area, truth: Any, scores: Any) -> Float64:
    """Compute the area of every row."""
    values, is_undefined = np.empty(truth.shape[0]), np.empty(truth.shape[0], dtype=bool)
    for start, stop, block in iterate_cells(truth, scores):
        cells = sort_cells(block)
        spare = truth.shape[1] - np.diff(cells.starts).astype(np.float64)
        values[start:stop], is_undefined[start:stop] = area.compute(cells, np.ones(cells.scores.size), spare)
    area.warn(is_undefined)
    return values


def _compute_by_column(area: Area, truth: Any, scores: Any, row_weights: Float64, *, micro: bool) -> Float64:
    """Compute the area of every label, or of all cells as one list."""
    n_rows, n_labels = truth.shape
    matrix = sparse.vstack([block for _, _, block in iterate_cells(truth, scores)], format="csr")
    if micro:
        rows = np.repeat(np.arange(n_rows), np.diff(matrix.indptr))
        order = np.argsort(-matrix.data.imag)
        starts = np.array([0, order.size])
        cells = SortedCells(starts, rows[order], matrix.data.real[order], matrix.data.imag[order], order)
        n_cells, total = n_rows * n_labels, row_weights.sum() * n_labels
    else:
        cells = sort_cells(matrix.tocsc())
        n_cells, total = n_rows, row_weights.sum()
    weights = row_weights[cells.labels]
    n_stored = np.diff(cells.starts)
    sums = np.bincount(np.repeat(np.arange(n_stored.size), n_stored), weights, minlength=n_stored.size)
    spare = np.where(n_stored == n_cells, 0.0, total - sums)
    values, is_undefined = area.compute(cells, weights, spare)
    area.warn(is_undefined)
    return values
