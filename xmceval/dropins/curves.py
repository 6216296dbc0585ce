"""Points of ROC and precision-recall curves, with scikit-learn's names, signatures and values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from xmceval.api.types import ClassLike, MatrixLike
from xmceval.dropins.inputs import UndefinedMetricWarning, as_classes, as_score_list, as_weight, in_one_order
from xmceval.errors import DataError, UsageError, listed, warn
from xmceval.rows.block import AnyArray, Float64
from xmceval.rows.matrices.storage import comparable
from xmceval.scoring.tasks.curves import add_up_steps, sort_by_score

BINARY_CLASSES = ([0, 1], [-1, 1], [0], [-1], [1])  # whose positive class is 1


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
        The positive class; all others are negative. Default 1, where the classes are 0 and 1 or -1 and 1.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    drop_intermediate : bool
        Leave out points on the straight line between their neighbours.

    Returns
    -------
    fpr, tpr, thresholds : float64 arrays
        The false and true positive rates of the rows with at least that score; the first threshold is inf. A rate is
        NaN, with a warning, where no row is of its class.

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
        kept = _with_ends((np.diff(fps, 2) != 0) | (np.diff(tps, 2) != 0))
        tps, fps, thresholds = tps[kept], fps[kept], thresholds[kept]
    rates = []
    for sums, name in ((np.append(0, fps), "negative"), (np.append(0, tps), "positive")):
        if sums[-1] <= 0:
            warn([f"no row is {name}: its rate is not defined and was set to NaN"], UndefinedMetricWarning)
        rates.append(sums / sums[-1] if sums[-1] > 0 else np.full(sums.size, np.nan))
    return rates[0], rates[1], np.append(np.inf, thresholds.astype(np.float64))


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
        Recall falls and ends at 0 with precision 1; it is 1, with a warning, where no row is positive.
    thresholds : array
        One less than the others, ascending.

    Raises
    ------
    DataError
        As of `roc_curve`.

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
        kept = _with_ends((np.diff(tps[:-1]) != 0) | (np.diff(tps[1:]) != 0))
        tps, fps, thresholds = tps[kept], fps[kept], thresholds[kept]
    decided = tps + fps
    precision = np.divide(tps, decided, out=np.zeros(decided.size), where=decided != 0)
    recall = tps / tps[-1] if tps[-1] > 0 else np.ones(tps.size)
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), thresholds[::-1].copy()


def _with_ends(inner: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which points are kept, given those between the first and the last one, which always are."""
    return np.concatenate([[True], inner, [True]])


def _compute_steps(
    y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return the weights of true and of false positives down to each distinct score, in descending order, and those."""
    y_true, y_score, sample_weight = in_one_order(y_true, y_score, sample_weight)
    classes = as_classes(y_true)
    scores = as_score_list(y_score, classes)
    is_positive = classes == _positive_class(classes, pos_label)
    weight = as_weight(sample_weight, classes.size)
    if weight is not None:
        kept = weight != 0
        is_positive, scores, weight = is_positive[kept], scores[kept], weight[kept]
    order = sort_by_score(comparable(scores).astype(np.float64), stable=True)
    weights = None if weight is None else weight[order].astype(np.float64)
    return add_up_steps(is_positive[order], scores[order], weights)


def _positive_class(classes: AnyArray, pos_label: Any) -> Any:
    """Return the positive class: the one given, or 1 where the classes leave no doubt."""
    distinct = np.unique(classes)
    is_text = distinct.dtype.kind == "U"
    if pos_label is None:
        if is_text or distinct.tolist() not in BINARY_CLASSES:
            raise DataError(
                f"y_true: has the classes {listed(map(repr, distinct.tolist()[:9]))}, of which none is known to be "
                "positive (hint: pass pos_label)"
            )
        return 1
    if is_text != isinstance(pos_label, str):
        raise UsageError(f"pos_label={pos_label!r} is not of the type of the classes of y_true")
    return pos_label
