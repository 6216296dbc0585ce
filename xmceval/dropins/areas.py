"""Areas under curves, as in scikit-learn; cells that are not stored have score 0."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmceval.api.types import ClassLike, MatrixLike
from xmceval.dropins.inputs import (
    UndefinedMetricWarning,
    as_classes,
    as_indicator,
    as_score_list,
    as_scores,
    as_weight,
    in_one_order,
    is_matrix,
    iterate_cells,
    mean,
)
from xmceval.errors import DataError, UsageError, listed, warn
from xmceval.rows.block import AnyArray, Float64
from xmceval.rows.matrices.storage import comparable
from xmceval.scoring.tasks.curves import (
    GroupAreas,
    RankedGroups,
    average_precisions,
    partial_roc_areas,
    roc_areas,
    sort_by_score,
)

MatrixAverage = Literal["micro", "macro", "weighted", "samples"]
MultiClass = Literal["raise", "ovr", "ovo"]
Compute = Callable[[RankedGroups], GroupAreas]


# Keywords of the two functions, for the overloads by `average`: only without one is an array returned.
class AreaOptions(TypedDict, total=False):  # noqa: D101 - documented by the functions
    sample_weight: ArrayLike | None
    max_fpr: float | None
    multi_class: MultiClass
    labels: ArrayLike | None


class PrecisionOptions(TypedDict, total=False):  # noqa: D101
    pos_label: ClassLike
    sample_weight: ArrayLike | None


@overload
def roc_auc_score(
    y_true: MatrixLike, y_score: MatrixLike, *, average: MatrixAverage = "macro", **options: Unpack[AreaOptions]
) -> float: ...
@overload
def roc_auc_score(
    y_true: MatrixLike, y_score: MatrixLike, *, average: None, **options: Unpack[AreaOptions]
) -> float | Float64: ...
def roc_auc_score(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    average: MatrixAverage | None = "macro",
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
    multi_class: MultiClass = "raise",
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
    _check_choice(average, "average", ("micro", "macro", "weighted", "samples", None))
    _check_choice(multi_class, "multi_class", ("raise", "ovr", "ovo"))
    if max_fpr is not None and not (isinstance(max_fpr, numbers.Real) and 0 < max_fpr <= 1):
        raise UsageError(f"max_fpr must be above 0 and at most 1, or None, got {max_fpr!r}")
    compute = roc_areas if max_fpr is None or max_fpr == 1 else partial(partial_roc_areas, max_fpr=float(max_fpr))
    y_true, y_score, sample_weight = in_one_order(y_true, y_score, sample_weight)
    if is_matrix(y_true):
        return _average(compute, y_true, y_score, average, sample_weight)
    classes, distinct = _as_two_classes(y_true, "multiclass (one-vs-rest, one-vs-one)")
    return _compute_of_list(compute, classes == distinct[-1], y_score, sample_weight)


@overload
def average_precision_score(
    y_true: MatrixLike, y_score: MatrixLike, *, average: MatrixAverage = "macro", **options: Unpack[PrecisionOptions]
) -> float: ...
@overload
def average_precision_score(
    y_true: MatrixLike, y_score: MatrixLike, *, average: None, **options: Unpack[PrecisionOptions]
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
    y_true, y_score : array [n_rows] or sparse matrix or array [n_rows, n_labels]
        As in `roc_auc_score`.
    average : {"micro", "macro", "weighted", "samples", None}
        As in `roc_auc_score`.
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
    _check_choice(average, "average", ("micro", "macro", "weighted", "samples", None))
    y_true, y_score, sample_weight = in_one_order(y_true, y_score, sample_weight)
    is_text = isinstance(pos_label, str)
    if is_matrix(y_true):
        if is_text or not np.isscalar(pos_label) or pos_label != 1:
            raise UsageError(f"pos_label must be 1 for an indicator matrix, got {pos_label!r}")
        return _average(average_precisions, y_true, y_score, average, sample_weight)
    classes, distinct = _as_two_classes(y_true, "multiclass")
    if is_text != (classes.dtype.kind == "U") or (distinct.size == 2 and pos_label not in distinct):
        raise DataError(f"pos_label={pos_label!r} is not one of the classes, {distinct.tolist()}")
    return _compute_of_list(average_precisions, classes == pos_label, y_score, sample_weight)


def _check_choice(value: Any, name: str, choices: Iterable[Any]) -> None:
    """Refuse a value that is not one of the choices."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise UsageError(f"{name} must be one of {listed(map(repr, choices))}, got {value!r}")


def _as_two_classes(y_true: Any, unsupported: str) -> tuple[AnyArray, AnyArray]:
    """Return one class per row, and the distinct ones in ascending order."""
    classes = as_classes(y_true)
    distinct = np.unique(classes)
    if distinct.size > 2:
        raise DataError(
            f"y_true: has {distinct.size} classes; {unsupported} is not supported "
            "(hint: pass an indicator matrix, one column per class)"
        )
    return classes, distinct


def _defined_values(compute: Compute, areas: GroupAreas) -> Float64:
    """Return the values, float64 [n_groups], and warn, once, of groups without one."""
    if compute is average_precisions:
        is_undefined, what = areas.positive == 0, "average precision is not defined where there is no positive"
    else:
        is_undefined, what = ~areas.has_both, "ROC AUC is not defined where there is only one class"
    n = int(np.count_nonzero(is_undefined))
    if n:
        value = 0 if compute is average_precisions else "NaN"
        warn([f"{what} ({n:,} of {is_undefined.size:,}); it was set to {value}"], UndefinedMetricWarning)
    return areas.values


def _compute_of_list(compute: Compute, is_positive: AnyArray, y_score: Any, sample_weight: Any) -> float:
    """Compute the area of one list."""
    scores = comparable(as_score_list(y_score, is_positive)).astype(np.float64)
    weight = as_weight(sample_weight, is_positive.size)
    if weight is None:
        groups = RankedGroups.of_classes(scores[is_positive], scores[~is_positive])
    else:
        weights = weight.astype(np.float64)
        kept = np.flatnonzero(weights)
        order = kept[sort_by_score(scores[kept], stable=True)]
        starts = np.array([0, order.size])
        groups = RankedGroups(starts, is_positive[order], scores[order], weights[order], np.zeros(1))
    return float(_defined_values(compute, compute(groups))[0])


def _average(
    compute: Compute, y_true: Any, y_score: Any, average: MatrixAverage | None, sample_weight: Any
) -> float | Float64:
    """Compute the area of labels, rows or all cells, and average."""
    truth, value = as_indicator(y_true)
    if value != 1:
        raise DataError(f"y_true: holds 0 and {value:g}; expected 0 and 1 (hint: pass y > 0)")
    scores = as_scores(y_score, truth)
    weight = as_weight(sample_weight, truth.shape[0], allow_zero=average == "samples")
    if average == "samples":
        return mean(_defined_values(compute, _compute_by_row(compute, truth, scores)), weight)
    if weight is not None and not weight.all():  # a row of weight 0 is left out
        kept = np.flatnonzero(weight)
        truth, scores, weight = truth[kept], scores[kept], weight[kept]
    row_weights = np.ones(truth.shape[0]) if weight is None else weight.astype(np.float64)
    if average == "weighted":
        support = np.bincount(truth.indices, np.repeat(row_weights, np.diff(truth.indptr)), minlength=truth.shape[1])
        if np.isclose(support.sum(), 0):
            return 0.0
    if average == "micro" and weight is None:
        groups = _rank_unweighted(truth, scores)
    else:
        groups = _rank_weighted(truth, scores, row_weights, micro=average == "micro")
    values = _defined_values(compute, compute(groups))
    if average is None:
        return values
    return mean(values, support) if average == "weighted" else float(np.mean(values))


def _compute_by_row(compute: Compute, truth: Any, scores: Any) -> GroupAreas:
    """Compute the area of every row."""
    n_labels = truth.shape[1]
    parts = [
        compute(_rank(cells.data, cells.indptr, np.ones(cells.nnz), n_labels, n_labels))
        for cells in iterate_cells(truth, scores)
    ]
    return GroupAreas(*map(np.concatenate, zip(*parts, strict=True)))


def _rank_unweighted(truth: Any, scores: Any) -> RankedGroups:
    """Rank all cells as one group, without weights."""
    positive, negative = list[Float64](), list[Float64]()
    for cells in iterate_cells(truth, scores):
        is_true = cells.data.real != 0
        positive.append(cells.data.imag[is_true])
        negative.append(cells.data.imag[~is_true])
    n_zeros = truth.shape[0] * truth.shape[1] - sum(part.size for part in (*positive, *negative))
    return RankedGroups.of_classes(np.concatenate(positive), np.concatenate(negative), n_zeros)


def _rank_weighted(truth: Any, scores: Any, row_weights: Float64, *, micro: bool) -> RankedGroups:
    """Rank the cells [n_rows, n_labels] of every label, or all as one group, with `row_weights`, float64 [n_rows]."""
    n_rows, n_labels = truth.shape
    cells = sparse.vstack([*iterate_cells(truth, scores)], format="csr")
    if micro:
        weights, starts = np.repeat(row_weights, np.diff(cells.indptr)), np.array([0, cells.nnz])
        return _rank(cells.data, starts, weights, n_rows * n_labels, row_weights.sum() * n_labels)
    cells = cells.tocsc()
    return _rank(cells.data, cells.indptr, row_weights[cells.indices], n_rows, row_weights.sum())


def _rank(cells: AnyArray, starts: AnyArray, weights: Float64, n_cells: int, total: float) -> RankedGroups:
    """Rank stored cells, complex [n_stored], within their groups.

    A group has the cells from ``starts[g]`` to ``starts[g + 1]``, of `n_cells` whose weights sum to `total`.
    """
    n_stored = np.diff(starts)
    groups = np.repeat(np.arange(n_stored.size, dtype=np.uint32), n_stored)
    order = sort_by_score(cells.imag, groups)
    weights = weights[order]
    sums = np.bincount(groups, weights, minlength=n_stored.size)
    spare = np.where(n_stored == n_cells, 0.0, total - sums)
    return RankedGroups(starts.astype(np.int64), cells.real[order] != 0, cells.imag[order], weights, spare)
