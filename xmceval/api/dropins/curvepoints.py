"""Points of the ROC and precision-recall curves, with scikit-learn's names, signatures and values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xmceval.api.dropins.indicators import (
    AnyArray,
    UndefinedMetricWarning,
    as_array,
    as_classes,
    as_csr,
    as_weight,
    check_shapes,
    is_sparse,
)
from xmceval.errors import DataError, UsageError, listed, warn
from xmceval.rows.block import Float64

BINARY_CLASSES = ([0, 1], [-1, 1], [0], [-1], [1])  # whose positive class is 1


class Steps(NamedTuple):
    """The weights of true and false positives at each threshold, the highest threshold first."""

    tps: Float64
    fps: Float64
    thresholds: AnyArray

    def where(self, kept: AnyArray) -> Steps:
        """Return some of the thresholds, the first and the last one always."""
        mask = np.concatenate([[True], kept, [True]])
        return Steps(self.tps[mask], self.fps[mask], self.thresholds[mask])


def roc_curve(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    drop_intermediate: bool = True,
) -> tuple[Float64, Float64, Float64]:
    """Compute the points of the ROC curve of one list of scores, as scikit-learn does.

    For columns of a matrix see `label_roc_curve`.

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

    Examples
    --------
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> tpr.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    steps = _compute_steps(y_true, y_score, pos_label, sample_weight)
    if drop_intermediate and steps.tps.size > 2:
        steps = steps.where((np.diff(steps.fps, 2) != 0) | (np.diff(steps.tps, 2) != 0))
    fpr, tpr = _rate(steps.fps, "negative"), _rate(steps.tps, "positive")
    return fpr, tpr, np.concatenate([[np.inf], steps.thresholds.astype(np.float64)])


def precision_recall_curve(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    drop_intermediate: bool = False,
) -> tuple[Float64, Float64, AnyArray]:
    """Compute the points of the precision-recall curve of one list of scores, as scikit-learn does.

    See `roc_curve` for the arguments and errors; ``drop_intermediate`` keeps the first and last point of each recall.
    For columns of a matrix see `label_precision_recall_curve`.

    Returns
    -------
    precision, recall : float64 arrays
        Recall falls and ends at 0 with precision 1; it is 1, with a warning, where no row is positive.
    thresholds : array
        One less than the others, ascending.

    Examples
    --------
    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> recall.tolist()
    [1.0, 1.0, 0.5, 0.5, 0.0]
    """
    steps = _compute_steps(y_true, y_score, pos_label, sample_weight)
    if drop_intermediate and steps.tps.size > 2:
        steps = steps.where((np.diff(steps.tps[:-1]) != 0) | (np.diff(steps.tps[1:]) != 0))
    decided = steps.tps + steps.fps
    precision = np.divide(steps.tps, decided, out=np.zeros(decided.size), where=decided != 0)
    if steps.tps[-1] == 0:
        warn(["recall is not defined where no row is positive; it was set to 1 at every threshold"], UserWarning)
        recall = np.ones(steps.tps.size)
    else:
        recall = steps.tps / steps.tps[-1]
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), steps.thresholds[::-1].copy()


def _compute_steps(y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> Steps:
    """Sort rows by score, and add up the weights of both classes down to each distinct score."""
    classes, scores = as_classes(y_true, "y_true"), _as_scores(y_score)
    check_shapes(classes, scores, "y_score")
    is_positive = classes == _positive_class(classes, pos_label)
    weight = as_weight(sample_weight, classes.size)
    if weight is not None:
        kept = weight != 0
        is_positive, scores, weight = is_positive[kept], scores[kept], weight[kept]
    order = scores.size - 1 - np.argsort(scores[::-1], kind="stable")[::-1]
    scores, is_positive = scores[order], is_positive[order]
    last = np.append(np.flatnonzero(scores[1:] != scores[:-1]), scores.size - 1)  # of each run of equal scores
    weights = np.ones(scores.size) if weight is None else weight[order].astype(np.float64)
    tps, fps = (np.cumsum(np.where(mask, weights, 0.0))[last] for mask in (is_positive, ~is_positive))
    return Steps(tps, fps, scores[last])


def _as_scores(y_score: Any) -> AnyArray:
    """Return one finite score per row, as they are: thresholds are scores."""
    if is_sparse(y_score):
        y_score = as_csr(y_score, "y_score").toarray()
    scores = as_array(y_score, "y_score")
    if scores.dtype.kind == "U" or (scores.ndim == 2 and scores.shape[1] != 1):
        raise DataError(f"y_score: expected one score per row, got shape {scores.shape} of {scores.dtype}")
    if not np.isfinite(scores).all():
        raise DataError("y_score: has an infinity; expected finite numbers, as scikit-learn does")
    return scores.reshape(-1)


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


def _rate(running: Float64, name: str) -> Float64:
    """Divide running weights by their total, after a first point at 0."""
    if running[-1] <= 0:
        warn([f"no row is {name}: its rate is not defined and was set to NaN"], UndefinedMetricWarning)
        return np.full(running.size + 1, np.nan)
    return np.concatenate([[0.0], running / running[-1]])
