"""Confusion counts and the metrics of differing cells, with scikit-learn's names and values; sparse stays sparse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from xmceval.api.dropins.indicators import MULTILABEL, AnyArray, Targets, as_array, check_targets, mean
from xmceval.api.matrixlike import MatrixLike
from xmceval.errors import DataError


class ConfusionCounts(NamedTuple):
    """Numbers of cells that are true and predicted, predicted, true, and of all cells, per label or per row."""

    tp: AnyArray
    pred: AnyArray
    true: AnyArray
    cells: Any


def count_confusion(targets: Targets, labels: Any = None, *, samplewise: bool = False) -> ConfusionCounts:
    """Count by label, or by row with `samplewise`; integers where there are no weights."""
    if samplewise and targets.kind != MULTILABEL:
        raise DataError("samplewise counts (average='samples') need indicator matrices of at least two columns")
    if targets.kind == MULTILABEL:
        return _by_row(targets, labels) if samplewise else _by_label(targets, labels)
    return _by_class(targets, labels)


def _columns(targets: Targets, labels: Any) -> tuple[Any, Any]:
    """Return the chosen columns of both indicators."""
    if labels is None:
        return targets.true, targets.pred
    chosen, n_labels = as_labels(labels), targets.true.shape[1]
    if chosen.dtype.kind not in "iu" and chosen.size:
        raise DataError(f"labels: expected column numbers, got dtype {chosen.dtype}")
    wrong = chosen[(chosen < 0) | (chosen >= n_labels)] if chosen.size else chosen
    if wrong.size:
        raise DataError(f"labels: {wrong[0]} is outside 0..{n_labels - 1}, the columns of y_true")
    chosen = chosen.astype(np.int64)
    return targets.true[:, chosen], targets.pred[:, chosen]


def as_labels(labels: Any) -> AnyArray:
    """Return the labels argument as an array [n] of numbers or strings, which may be empty."""
    return as_array(labels, "labels").reshape(-1) if np.size(labels) else np.empty(0, dtype=np.int64)


def _by_label(targets: Targets, labels: Any) -> ConfusionCounts:
    true, pred = _columns(targets, labels)
    dtype = np.int64 if targets.weight is None else np.float64  # an empty bincount has integers even with weights

    def total(matrix: Any) -> AnyArray:
        weights = None if targets.weight is None else np.repeat(targets.weight, np.diff(matrix.indptr))
        sums: AnyArray = np.bincount(matrix.indices, weights, minlength=matrix.shape[1])
        return np.asarray(sums, dtype=dtype)

    cells = targets.n_rows if targets.weight is None else targets.weight.sum()
    return ConfusionCounts(total(true.multiply(pred).tocsr()), total(pred), total(true), cells)


def _by_row(targets: Targets, labels: Any) -> ConfusionCounts:
    true, pred = _columns(targets, labels)

    def total(matrix: Any) -> AnyArray:
        sums = np.diff(matrix.indptr).astype(np.int64)
        return np.asarray(sums if targets.weight is None else sums * targets.weight)

    width = true.shape[1]
    cells = width if targets.weight is None else width * targets.weight
    return ConfusionCounts(total(true.multiply(pred).tocsr()), total(pred), total(true), cells)


def _by_class(targets: Targets, labels: Any) -> ConfusionCounts:
    classes = targets.classes
    true, pred = np.searchsorted(classes, targets.true), np.searchsorted(classes, targets.pred)
    hits = true == pred
    weight = targets.weight
    dtype = np.int64 if weight is None else np.float64

    def total(codes: AnyArray, weights: Any) -> AnyArray:
        sums: AnyArray = np.bincount(codes, weights, minlength=classes.size).astype(dtype, copy=False)
        return sums if labels is None else np.asarray(np.where(is_class, sums[places], 0))

    if labels is not None:
        chosen = as_labels(labels)
        if chosen.size and (chosen.dtype.kind == "U") != (classes.dtype.kind == "U"):
            raise DataError("labels: strings and numbers are mixed with the classes of y_true")
        places = np.minimum(np.searchsorted(classes, chosen), classes.size - 1)
        is_class = classes[places] == chosen
    cells = targets.n_rows if weight is None else weight.sum()
    tp = total(true[hits], None if weight is None else weight[hits])
    return ConfusionCounts(tp, total(pred, weight), total(true, weight), cells)


def multilabel_confusion_matrix(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    samplewise: bool = False,
) -> AnyArray:
    """Count tn, fp, fn, tp of every label, or of every row with `samplewise`, as scikit-learn does.

    Parameters
    ----------
    y_true, y_pred : sparse matrix or array
        Indicators [n_rows, n_labels], dense or of any scipy.sparse format; or one class per row.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    labels : array, optional
        The labels (columns, classes) to count, in this order.
    samplewise : bool
        Count by row; only for indicators.

    Returns
    -------
    array [n_labels or n_rows, 2, 2]
        ``[[tn, fp], [fn, tp]]``; int64 where there are no weights.

    Raises
    ------
    DataError
        Targets that do not fit together, or labels out of range.

    See Also
    --------
    precision_recall_fscore_support : The ratios of these counts.

    Examples
    --------
    >>> multilabel_confusion_matrix([[1, 0], [1, 1]], [[1, 0], [0, 1]]).tolist()
    [[[0, 0], [1, 1]], [[1, 0], [0, 1]]]
    """
    counts = count_confusion(check_targets(y_true, y_pred, sample_weight), labels, samplewise=bool(samplewise))
    tp, fp, fn = counts.tp, counts.pred - counts.tp, counts.true - counts.tp
    return np.stack([counts.cells - tp - fp - fn, fp, fn, tp], axis=-1).reshape(-1, 2, 2)


def _differing(targets: Targets) -> AnyArray:
    """Return the number of differing cells of each row."""
    if targets.kind != MULTILABEL:
        return np.asarray(targets.true != targets.pred, dtype=np.int64)
    both = targets.true.multiply(targets.pred).tocsr()
    in_one = np.diff(targets.true.indptr) + np.diff(targets.pred.indptr) - 2 * np.diff(both.indptr)
    return np.asarray(in_one if targets.one_value else in_one + np.diff(both.indptr), dtype=np.int64)


def hamming_loss(y_true: MatrixLike, y_pred: MatrixLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the share of cells that differ, as scikit-learn does.

    Parameters
    ----------
    y_true, y_pred : sparse matrix or array
        Indicators [n_rows, n_labels], dense or of any scipy.sparse format; or one class per row.
    sample_weight : array [n_rows], optional
        Weights of the rows.

    Returns
    -------
    float
        From 0 to 1; less is better.

    See Also
    --------
    accuracy_score, jaccard_score

    Examples
    --------
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.25
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    width = targets.true.shape[1] if targets.kind == MULTILABEL else 1
    return mean(_differing(targets), targets.weight) / width


def accuracy_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, normalize: bool = True, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the share of rows without a difference, as scikit-learn does; without `normalize` their number or weight.

    Parameters
    ----------
    y_true, y_pred : sparse matrix or array
        Indicators [n_rows, n_labels], dense or of any scipy.sparse format; or one class per row.
    normalize : bool
        Whether to divide by the number of rows, or their weight.
    sample_weight : array [n_rows], optional
        Weights of the rows.

    Returns
    -------
    float
        From 0 to 1; without `normalize` to the number of rows, or their weight.

    See Also
    --------
    zero_one_loss, hamming_loss

    Examples
    --------
    >>> accuracy_score([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    is_equal = _differing(targets) == 0
    if normalize:
        return mean(is_equal, targets.weight)
    return float(is_equal.sum() if targets.weight is None else targets.weight[is_equal].sum())


def zero_one_loss(
    y_true: MatrixLike, y_pred: MatrixLike, *, normalize: bool = True, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the share of rows with a difference, as scikit-learn does; without `normalize` their number or weight.

    Parameters
    ----------
    y_true, y_pred : sparse matrix or array
        Indicators [n_rows, n_labels], dense or of any scipy.sparse format; or one class per row.
    normalize : bool
        Whether to divide by the number of rows, or their weight.
    sample_weight : array [n_rows], optional
        Weights of the rows.

    Returns
    -------
    float
        From 0 to 1; less is better. Without `normalize` to the number of rows, or their weight.

    See Also
    --------
    accuracy_score, hamming_loss

    Examples
    --------
    >>> zero_one_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    is_different = _differing(targets) != 0
    if normalize:
        return mean(is_different, targets.weight)
    return float(is_different.sum() if targets.weight is None else targets.weight[is_different].sum())
