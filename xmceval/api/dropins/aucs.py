"""Areas under curves, with scikit-learn's names and values; cells that are not stored have score 0."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, get_args, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmceval.api.dropins.indicators import (
    MatrixAverage,
    UndefinedMetricWarning,
    as_classes,
    as_indicator,
    as_weight,
    check_choice,
    check_shapes,
    in_one_order,
    is_matrix,
    mean,
)
from xmceval.api.dropins.storedcells import finite_scores, iterate_cells, sort_cells
from xmceval.api.matrixlike import ClassLike, MatrixLike
from xmceval.errors import DataError, UsageError, warn
from xmceval.rows.block import Float64
from xmceval.statistics.curves import (
    Bools,
    GroupAreas,
    RankedGroups,
    average_precisions,
    partial_roc_areas,
    roc_areas,
    sort_by_score,
)

AVERAGES = (*get_args(MatrixAverage), None)


class Area(NamedTuple):
    """An area under a curve, where it is not defined, and the warning for groups without one."""

    compute: Callable[[RankedGroups], GroupAreas]
    is_undefined: Callable[[GroupAreas], Bools]
    warning: str

    def values(self, areas: GroupAreas) -> Float64:
        """Return the values, float64 [n_groups], and warn, once, of groups without one."""
        is_undefined = self.is_undefined(areas)
        n = int(np.count_nonzero(is_undefined))
        if n:
            warn([self.warning.format(n=f"{n:,} of {is_undefined.size:,}")], UndefinedMetricWarning)
        return areas.values


ROC_AUC = Area(
    roc_areas,
    lambda areas: ~areas.has_both,
    "ROC AUC is not defined where there is only one class ({n}); it was set to NaN",
)
AVERAGE_PRECISION = Area(
    average_precisions,
    lambda areas: areas.positive == 0,
    "average precision is not defined where there is no positive ({n}); it was set to 0",
)


@overload
def roc_auc_score(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    average: MatrixAverage = "macro",
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
    multi_class: Literal["raise", "ovr", "ovo"] = "raise",
    labels: ArrayLike | None = None,
) -> float: ...
@overload
def roc_auc_score(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    average: None,
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
    multi_class: Literal["raise", "ovr", "ovo"] = "raise",
    labels: ArrayLike | None = None,
) -> float | Float64: ...
def roc_auc_score(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    average: MatrixAverage | None = "macro",
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
    multi_class: Literal["raise", "ovr", "ovo"] = "raise",
    labels: ArrayLike | None = None,  # noqa: ARG001 - orders the classes of multiclass scores, which are refused
) -> float | Float64:
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
    multi_class : {"raise", "ovr", "ovo"}
        No effect on two classes and indicators, as in scikit-learn; three classes or more are refused.
    labels : array, optional
        Likewise.

    Returns
    -------
    float or float64 array [n_labels]
        The array of an indicator without an average.

    Raises
    ------
    DataError
        More than two classes, scores of another shape or not finite.
    UsageError
        A parameter that is wrong.

    See Also
    --------
    average_precision_score, roc_curve
    score : The metrics ``macroAUC`` and ``microAUC``, of files too.

    Examples
    --------
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    check_choice(average, "average", AVERAGES)
    check_choice(multi_class, "multi_class", ("raise", "ovr", "ovo"))
    if max_fpr is not None and not (isinstance(max_fpr, numbers.Real) and 0 < max_fpr <= 1):
        raise UsageError(f"max_fpr must be above 0 and at most 1, or None, got {max_fpr!r}")
    area = ROC_AUC
    if max_fpr is not None and max_fpr != 1:
        area = ROC_AUC._replace(compute=partial(partial_roc_areas, max_fpr=float(max_fpr)))
    y_true, y_score, sample_weight = in_one_order(y_true, y_score, sample_weight)
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


@overload
def average_precision_score(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    average: MatrixAverage = "macro",
    pos_label: ClassLike = 1,
    sample_weight: ArrayLike | None = None,
) -> float: ...
@overload
def average_precision_score(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    average: None,
    pos_label: ClassLike = 1,
    sample_weight: ArrayLike | None = None,
) -> float | Float64: ...
def average_precision_score(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    average: MatrixAverage | None = "macro",
    pos_label: ClassLike = 1,
    sample_weight: ArrayLike | None = None,
) -> float | Float64:
    """Compute average precision, as scikit-learn does, for two classes and for indicators.

    It is the sum over thresholds of precision x step in recall; equal scores are one threshold. Without a positive it
    is 0, with a warning.

    Parameters
    ----------
    y_true : array [n_rows] or sparse matrix or array [n_rows, n_labels]
        Two classes; or an indicator.
    y_score : array [n_rows] or sparse matrix or array [n_rows, n_labels]
        Scores; 0 where a sparse matrix stores none.
    average : {"micro", "macro", "weighted", "samples", None}
        For indicators: all cells together; mean over labels; mean weighted by support; mean over rows; no mean.
    pos_label : class
        The positive class; 1 for indicators.
    sample_weight : array [n_rows], optional
        Weights of the rows.

    Returns
    -------
    float or float64 array [n_labels]
        The array of an indicator without an average.

    Raises
    ------
    DataError
        More than two classes, none of which is `pos_label`, scores of another shape or not finite.
    UsageError
        A parameter that is wrong.

    See Also
    --------
    roc_auc_score, precision_recall_curve, label_ranking_average_precision_score
    score : The metric ``macroAP``, of files too.

    Examples
    --------
    >>> round(average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    """
    check_choice(average, "average", AVERAGES)
    y_true, y_score, sample_weight = in_one_order(y_true, y_score, sample_weight)
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
    if weight is None:
        return float(area.values(area.compute(RankedGroups.of_classes(scores[is_positive], scores[~is_positive])))[0])
    weights = weight.astype(np.float64)
    kept = np.flatnonzero(weights)
    order = kept[sort_by_score(scores[kept], stable=True)]
    starts = np.array([0, order.size])
    groups = RankedGroups(starts, is_positive[order], scores[order], weights[order], np.zeros(1))
    return float(area.values(area.compute(groups))[0])


def _average(
    area: Area, y_true: Any, y_score: Any, average: MatrixAverage | None, sample_weight: Any
) -> float | Float64:
    """Compute the area of labels, rows or all cells, and average."""
    indicator = as_indicator(y_true, "y_true")
    if indicator.value != 1:
        raise DataError(f"y_true: holds 0 and {indicator.value:g}; expected 0 and 1 (hint: pass y > 0)")
    truth, scores = indicator.ones, finite_scores(y_score)
    check_shapes(truth, scores, "y_score")
    weight = as_weight(sample_weight, truth.shape[0], allow_zero=average == "samples")
    if average == "samples":
        return _mean_of_weighted(area.values(_compute_by_row(area, truth, scores)), weight)
    if weight is not None and not weight.all():  # a row of weight 0 is left out
        kept = np.flatnonzero(weight)
        truth, scores, weight = truth[kept], scores[kept], weight[kept]
    row_weights = np.ones(truth.shape[0]) if weight is None else weight.astype(np.float64)
    if average == "weighted":
        support = np.bincount(truth.indices, np.repeat(row_weights, np.diff(truth.indptr)), minlength=truth.shape[1])
        if np.isclose(support.sum(), 0):
            return 0.0
    if average == "micro" and weight is None:
        groups = _rank_all_cells(truth, scores)
    else:
        groups = rank_columns(truth, scores, row_weights, micro=average == "micro")
    values = area.values(area.compute(groups))
    if average is None:
        return values
    if average == "weighted":
        return _mean_of_weighted(values, support)
    return float(np.mean(values))


def _mean_of_weighted(values: Float64, weight: Any) -> float:
    """Average the values that have a weight; the others may be NaN."""
    return mean(values if weight is None else np.where(weight == 0, 0, values), weight)


def _compute_by_row(area: Area, truth: Any, scores: Any) -> GroupAreas:
    """Compute the area of every row."""
    areas = GroupAreas(*np.empty((3, truth.shape[0])))
    for start, stop, block in iterate_cells(truth, scores):
        cells = sort_cells(block)
        groups = RankedGroups.unweighted(cells.starts, cells.truth != 0, cells.scores)
        spare = truth.shape[1] - np.diff(cells.starts).astype(np.float64)
        for whole, part in zip(areas, area.compute(groups._replace(spare=spare)), strict=True):
            whole[start:stop] = part
    return areas


def _rank_all_cells(truth: Any, scores: Any) -> RankedGroups:
    """Rank all cells as one group, without weights."""
    positive, negative = list[Float64](), list[Float64]()
    for _, _, block in iterate_cells(truth, scores):
        is_true = block.data.real != 0
        positive.append(block.data.imag[is_true])
        negative.append(block.data.imag[~is_true])
    n_zeros = truth.shape[0] * truth.shape[1] - sum(cells.size for cells in (*positive, *negative))
    return RankedGroups.of_classes(np.concatenate(positive), np.concatenate(negative), n_zeros)


def rank_columns(truth: Any, scores: Any, row_weights: Float64, *, micro: bool) -> RankedGroups:
    """Rank the cells [n_rows, n_labels] of every label, or all as one group, with `row_weights`, float64 [n_rows]."""
    n_rows, n_labels = truth.shape
    matrix = sparse.vstack([block for _, _, block in iterate_cells(truth, scores)], format="csr")
    if micro:
        order = sort_by_score(matrix.data.imag)
        rows = np.repeat(np.arange(n_rows), np.diff(matrix.indptr))[order]
        is_true, ranked = matrix.data.real[order] != 0, matrix.data.imag[order]
        starts, n_cells, total = np.array([0, order.size]), n_rows * n_labels, row_weights.sum() * n_labels
    else:
        cells = sort_cells(matrix.tocsc())
        rows, is_true, ranked = cells.places, cells.truth != 0, cells.scores
        starts, n_cells, total = cells.starts, n_rows, row_weights.sum()
    weights = row_weights[rows]
    n_stored = np.diff(starts)
    sums = np.bincount(np.repeat(np.arange(n_stored.size), n_stored), weights, minlength=n_stored.size)
    spare = np.where(n_stored == n_cells, 0.0, total - sums)
    return RankedGroups(starts, is_true, ranked, weights, spare)
