"""ROC and precision-recall curves and their areas, as in scikit-learn; cells not stored have score 0."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmceval.api.types import ClassLike, MatrixLike
from xmceval.dropins import inputs
from xmceval.errors import DataError, UsageError, listed, warn
from xmceval.rows.block import AnyArray, Float64
from xmceval.rows.matrices.storage import comparable
from xmceval.scoring.tasks import curves
from xmceval.scoring.tasks.curves import GroupAreas, RankedGroups

MatrixAverage = Literal["micro", "macro", "weighted", "samples"]
MultiClass = Literal["raise", "ovr", "ovo"]
Compute = Callable[[RankedGroups], GroupAreas]

AVERAGES = ("micro", "macro", "weighted", "samples", None)
BINARY_CLASSES = ([0, 1], [-1, 1], [0], [-1], [1])  # their positive class is 1


# Keywords of the two functions, for the overloads by `average`: an array is returned only for None.
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

    It is the share of (positive, negative) pairs in the right order, counting a tie as one half. With only one
    class it is NaN, with a warning.

    Parameters
    ----------
    y_true : array [n_rows] or sparse matrix or array [n_rows, n_labels]
        Two classes, the larger one positive; or an indicator.
    y_score : array [n_rows] or sparse matrix or array [n_rows, n_labels]
        Scores; 0 where a sparse matrix stores none.
    average : {"micro", "macro", "weighted", "samples", None}
        For indicators: all cells together; mean over labels; mean weighted by support; mean over rows; no
        average.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    max_fpr : float, optional
        Only the area up to this false positive rate, in (0, 1], standardised by McClish's formula: 0.5 is
        chance, 1 is best.
    multi_class : {"raise", "ovr", "ovo"}
        No effect on two classes and indicators, as in scikit-learn; three classes or more are refused.
    labels : array, optional
        No effect either.

    Returns
    -------
    float or float64 array [n_labels]
        An array for an indicator with ``average=None``.

    Raises
    ------
    DataError
        More than two classes, or scores that are not finite or have another shape.
    UsageError
        An invalid parameter.

    See Also
    --------
    average_precision_score, roc_curve
    score : The metrics ``macroAUC`` and ``microAUC``, also for files.

    Examples
    --------
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    _check_choice(average, "average", AVERAGES)
    _check_choice(multi_class, "multi_class", ("raise", "ovr", "ovo"))
    if max_fpr is not None and not (isinstance(max_fpr, numbers.Real) and 0 < max_fpr <= 1):
        raise UsageError(f"max_fpr must be above 0 and at most 1, or None, got {max_fpr!r}")
    compute: Compute = curves.roc_areas
    if max_fpr is not None and max_fpr < 1:
        compute = partial(curves.partial_roc_areas, max_fpr=float(max_fpr))
    y_true, y_score, sample_weight = inputs.in_one_order(y_true, y_score, sample_weight)
    if inputs.is_matrix(y_true):
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

    It is the sum over thresholds of precision times the increase in recall; equal scores are one threshold.
    Without positives it is 0, with a warning.

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
        An array for an indicator with ``average=None``.

    Raises
    ------
    DataError
        More than two classes, classes without `pos_label`, or scores that are not finite or have another shape.
    UsageError
        An invalid parameter.

    See Also
    --------
    roc_auc_score, precision_recall_curve, label_ranking_average_precision_score
    score : The metric ``macroAP``, also for files.

    Examples
    --------
    >>> round(average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    """
    _check_choice(average, "average", AVERAGES)
    y_true, y_score, sample_weight = inputs.in_one_order(y_true, y_score, sample_weight)
    is_text = isinstance(pos_label, str)
    if inputs.is_matrix(y_true):
        if is_text or not np.isscalar(pos_label) or pos_label != 1:
            raise UsageError(f"pos_label must be 1 for an indicator matrix, got {pos_label!r}")
        return _average(curves.average_precisions, y_true, y_score, average, sample_weight)
    classes, distinct = _as_two_classes(y_true, "multiclass")
    if is_text != (classes.dtype.kind == "U") or (distinct.size == 2 and pos_label not in distinct):
        raise DataError(f"pos_label={pos_label!r} is not one of the classes, {distinct.tolist()}")
    return _compute_of_list(curves.average_precisions, classes == pos_label, y_score, sample_weight)


def roc_curve(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    pos_label: ClassLike | None = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = True,
) -> tuple[Float64, Float64, Float64]:
    """Compute the points of the ROC curve of one list of scores, as scikit-learn does.

    Parameters
    ----------
    y_true : array [n_rows]
        One class per row.
    y_score : array [n_rows]
        Scores; rows with equal scores are one point.
    pos_label : class, optional
        The positive class; all others are negative. Default 1, if the classes are 0 and 1 or -1 and 1.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    drop_intermediate : bool
        Leave out points on the straight line between their neighbours.

    Returns
    -------
    fpr, tpr, thresholds : float64 arrays
        The false and true positive rates of the rows that score at least the threshold; the first threshold is
        inf. A rate is NaN, with a warning, if no row belongs to its class.

    Raises
    ------
    DataError
        More than one column, different lengths, scores that are not finite, or a `pos_label` that cannot be guessed.

    See Also
    --------
    roc_auc_score, precision_recall_curve

    Examples
    --------
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> tpr.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    tps, fps, thresholds = _compute_steps(y_true, y_score, pos_label, sample_weight)
    if drop_intermediate and tps.size > 2:
        is_bend = (np.diff(fps, 2) != 0) | (np.diff(tps, 2) != 0)
        tps, fps, thresholds = _keep_between(is_bend, tps, fps, thresholds)
    fpr = _rates(fps, "negative")
    tpr = _rates(tps, "positive")
    return fpr, tpr, np.append(np.inf, thresholds.astype(np.float64))


def precision_recall_curve(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    pos_label: ClassLike | None = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> tuple[Float64, Float64, AnyArray]:
    """Compute the points of the precision-recall curve of one list of scores, as scikit-learn does.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight : arrays and class
        As in `roc_curve`.
    drop_intermediate : bool
        Keep only the first and last point of each recall.

    Returns
    -------
    precision, recall : float64 arrays
        Recall falls and ends at 0 with precision 1; it is 1, with a warning, if no row is positive.
    thresholds : array
        Ascending; one entry shorter than the others.

    Raises
    ------
    DataError
        As for `roc_curve`.

    See Also
    --------
    average_precision_score, roc_curve

    Examples
    --------
    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> recall.tolist()
    [1.0, 1.0, 0.5, 0.5, 0.0]
    """
    tps, fps, thresholds = _compute_steps(y_true, y_score, pos_label, sample_weight)
    if tps[-1] == 0:
        warn(["recall is not defined where no row is positive; it was set to 1 at every threshold"], UserWarning)
    if drop_intermediate and tps.size > 2:
        is_end = (np.diff(tps[:-1]) != 0) | (np.diff(tps[1:]) != 0)
        tps, fps, thresholds = _keep_between(is_end, tps, fps, thresholds)
    decided = tps + fps
    precision = np.divide(tps, decided, out=np.zeros(decided.size), where=decided != 0)
    recall = np.ones(tps.size)
    if tps[-1] > 0:
        recall = tps / tps[-1]
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), thresholds[::-1].copy()


def _keep_between(is_kept: AnyArray, *arrays: AnyArray) -> list[AnyArray]:
    """Select points of a curve: the first, the last, and those between them with ``is_kept``, bool [n - 2]."""
    kept = np.concatenate([[True], is_kept, [True]])
    return [array[kept] for array in arrays]


def _rates(sums: AnyArray, name: str) -> Float64:
    """Divide sums of one class by their total, beginning with 0."""
    total = sums[-1]
    if total > 0:
        rates: Float64 = np.append(0, sums) / total
        return rates
    warn([f"no row is {name}: its rate is not defined and was set to NaN"], inputs.UndefinedMetricWarning)
    return np.full(sums.size + 1, np.nan)


def _check_choice(value: Any, name: str, choices: tuple[Any, ...]) -> None:
    if not isinstance(value, (str, type(None))) or value not in choices:
        raise UsageError(f"{name} must be one of {listed(map(repr, choices))}, got {value!r}")


def _as_two_classes(y_true: Any, unsupported: str) -> tuple[AnyArray, AnyArray]:
    """Return one class per row, and the distinct ones in ascending order."""
    classes = inputs.as_classes(y_true)
    distinct = np.unique(classes)
    if distinct.size > 2:
        raise DataError(
            f"y_true: has {distinct.size} classes; {unsupported} is not supported "
            "(hint: pass an indicator matrix, one column per class)"
        )
    return classes, distinct


def _defined_values(compute: Compute, areas: GroupAreas) -> Float64:
    """Return the values, float64 [n_groups], and warn once about groups without a value."""
    if compute is curves.average_precisions:
        is_undefined = areas.positive == 0
        what = "average precision is not defined where there is no positive"
        value = "0"
    else:
        is_undefined = ~areas.has_both
        what = "ROC AUC is not defined where there is only one class"
        value = "NaN"
    n = int(np.count_nonzero(is_undefined))
    if n:
        warn([f"{what} ({n:,} of {is_undefined.size:,}); it was set to {value}"], inputs.UndefinedMetricWarning)
    return areas.values


def _compute_of_list(compute: Compute, is_positive: AnyArray, y_score: Any, sample_weight: Any) -> float:
    if sample_weight is None:
        scores = comparable(inputs.as_scores(y_score, is_positive)).astype(np.float64)
        groups = RankedGroups.of_classes(scores[is_positive], scores[~is_positive])
    else:
        is_true, scores, weights = _sort_list(is_positive, y_score, sample_weight)
        starts = np.array([0, scores.size])
        groups = RankedGroups(starts, is_true, comparable(scores).astype(np.float64), weights, np.zeros(1))
    return float(_defined_values(compute, compute(groups))[0])


def _sort_list(is_positive: AnyArray, y_score: Any, sample_weight: Any) -> tuple[AnyArray, AnyArray, Any]:
    """Return classes, scores and weights (if any) [n] by descending score, without rows of weight 0."""
    scores = inputs.as_scores(y_score, is_positive)
    weight = inputs.as_weight(sample_weight, is_positive.size)
    order = curves.sort_by_score(comparable(scores).astype(np.float64), stable=True)
    if weight is None:
        return is_positive[order], scores[order], None
    order = order[weight[order] != 0]
    return is_positive[order], scores[order], weight[order]


def _average(
    compute: Compute, y_true: Any, y_score: Any, average: MatrixAverage | None, sample_weight: Any
) -> float | Float64:
    """Compute the area of labels, rows or all cells, and average."""
    truth, value = inputs.as_indicator(y_true)
    if value != 1:
        raise DataError(f"y_true: holds 0 and {value:g}; expected 0 and 1 (hint: pass y > 0)")
    scores = inputs.as_scores(y_score, truth)
    n_labels = truth.shape[1]
    weight = inputs.as_weight(sample_weight, truth.shape[0], allow_zero=average == "samples")
    if average == "samples":
        ranked = (
            _rank(cells.data, cells.indptr, np.ones(cells.nnz), n_labels, n_labels)
            for cells in inputs.iterate_cells(truth, scores)
        )
        areas = GroupAreas(*map(np.concatenate, zip(*map(compute, ranked), strict=True)))
        return inputs.mean(_defined_values(compute, areas), weight)
    if weight is not None and not weight.all():  # a row of weight 0 is left out
        kept = np.flatnonzero(weight)
        truth = truth[kept]
        scores = scores[kept]
        weight = weight[kept]
    n_rows = truth.shape[0]
    weights = np.ones(n_rows)
    if weight is not None:
        weights = weight
    support = None
    if average == "weighted":
        support = np.bincount(truth.indices, np.repeat(weights, np.diff(truth.indptr)), minlength=n_labels)
        if np.isclose(support.sum(), 0):
            return 0.0
    if average == "micro" and weight is None:  # does not sort all cells together
        positive = list[Float64]()
        negative = list[Float64]()
        for cells in inputs.iterate_cells(truth, scores):
            is_true = cells.data.real != 0
            positive.append(cells.data.imag[is_true])
            negative.append(cells.data.imag[~is_true])
        n_zeros = n_rows * n_labels - sum(part.size for part in (*positive, *negative))
        groups = RankedGroups.of_classes(np.concatenate(positive), np.concatenate(negative), n_zeros)
    else:
        cells = sparse.vstack([*inputs.iterate_cells(truth, scores)], format="csr")
        if average == "micro":
            of_cells = np.repeat(weights, np.diff(cells.indptr))
            starts = np.array([0, cells.nnz])
            groups = _rank(cells.data, starts, of_cells, n_rows * n_labels, weights.sum() * n_labels)
        else:
            cells = cells.tocsc()
            groups = _rank(cells.data, cells.indptr, weights[cells.indices], n_rows, weights.sum())
    values = _defined_values(compute, compute(groups))
    if average is None:
        return values
    return inputs.mean(values, support)


def _rank(cells: AnyArray, starts: AnyArray, weights: Float64, n_cells: int, total: float) -> RankedGroups:
    """Rank stored cells, complex [n_stored], within their groups.

    Group g stores the cells from ``starts[g]`` to ``starts[g + 1]``, out of `n_cells` with total weight
    `total`.
    """
    n_stored = np.diff(starts)
    groups = np.repeat(np.arange(n_stored.size, dtype=np.uint32), n_stored)
    order = curves.sort_by_score(cells.imag, groups)
    weights = weights[order]
    sums = np.bincount(groups, weights, minlength=n_stored.size)
    spare = np.where(n_stored == n_cells, 0.0, total - sums)
    return RankedGroups(starts.astype(np.int64), cells.real[order] != 0, cells.imag[order], weights, spare)


def _compute_steps(
    y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return the weights of true and of false positives down to each distinct score, and these scores."""
    y_true, y_score, sample_weight = inputs.in_one_order(y_true, y_score, sample_weight)
    classes = inputs.as_classes(y_true)
    distinct = np.unique(classes)
    is_text = distinct.dtype.kind == "U"
    if pos_label is None and (is_text or distinct.tolist() not in BINARY_CLASSES):
        raise DataError(
            f"y_true: has the classes {listed(map(repr, distinct.tolist()[:9]))}, and none of them is known to "
            "be positive (hint: pass pos_label)"
        )
    if pos_label is not None and is_text != isinstance(pos_label, str):
        raise UsageError(f"pos_label={pos_label!r} is not of the type of the classes of y_true")
    if pos_label is None:
        pos_label = 1
    return curves.add_up_steps(*_sort_list(classes == pos_label, y_score, sample_weight))
