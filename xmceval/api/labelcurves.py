"""Curves by label: ROC and precision-recall points, areas and average precision, of matrices that stay sparse.

Values are scikit-learn's on dense copies, in which a label without a stored score has score 0: all such cells of a
label are one tied group. Time is O(nnz log nnz), memory about 60 bytes for each stored entry of either matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError, listed
from xmceval.rows.block import Float64, Int64, Scratch, Source
from xmceval.rows.checks import validated_scores, validated_truth
from xmceval.rows.matrices import as_scores, as_truth
from xmceval.rows.width import Width

AVERAGES = ("macro", "micro", "weighted", None)


@dataclass(frozen=True)
class _Steps:
    """Groups of cells with equal scores, by label, best first: what each adds, and what stands down to it.

    ``first`` is the place of each label's first group, ``labels`` the labels.
    """

    labels: Int64
    first: Int64
    scores: Float64
    hits: Int64
    misses: Int64

    def running(self, steps: Int64) -> Int64:
        """Add up along the groups of each label."""
        total = np.cumsum(steps)
        before = np.concatenate([[0], total])[self.first]
        lengths = np.diff(np.append(self.first, steps.size))
        return np.asarray(total - np.repeat(before, lengths), dtype=np.int64)


@dataclass(frozen=True)
class _Entries:
    """The stored entries of one matrix."""

    rows: Int64
    labels: Int64
    values: Float64


def _entries(source: Source, width: Width, *, is_truth: bool) -> _Entries:
    rows, labels, values = [], [], []
    scratch = Scratch()
    for block in source.blocks():
        first, n_rows = block.first_row, block.n_rows
        of = validated_truth(block, scratch, width)[0] if is_truth else validated_scores(block, scratch, width)
        used = slice(0, int(of.indptr[-1]))
        rows.append(np.repeat(np.arange(first, first + n_rows), np.diff(of.indptr)))
        labels.append(of.indices[used].copy())
        values.append(of.values[used].copy())
    return _Entries(
        np.concatenate(rows) if rows else np.empty(0, dtype=np.int64),
        np.concatenate(labels) if labels else np.empty(0, dtype=np.int64),
        np.concatenate(values) if values else np.empty(0),
    )


def _steps(y_true: Any, y_score: Any, *, of_label: int | None = None, together: bool = False) -> tuple[_Steps, int]:
    """Sort all cells; also return how many labels there are."""
    truth, scores = as_truth(y_true), as_scores(y_score)
    n_rows, n_labels = truth.n_rows, truth.n_labels
    if n_rows is None or n_labels is None or (scores.n_rows, scores.n_labels) != (n_rows, n_labels):
        raise DataError(
            f"y_true is {n_rows} x {n_labels}, y_score is {scores.n_rows} x {scores.n_labels}; they must be the same"
        )
    width = Width(n_labels, "y_true has")
    true = _entries(truth, width, is_truth=True)
    given = _entries(scores, width, is_truth=False)
    if of_label is not None:
        if not 0 <= of_label < n_labels:
            raise UsageError(f"label {of_label} is outside 0..{n_labels - 1}")
        true, given = (
            _Entries(each.rows[kept], each.labels[kept], each.values[kept])
            for each, kept in ((true, true.labels == of_label), (given, given.labels == of_label))
        )
    # Each cell that either matrix stores, once: its score, 0 where it has none, and whether it is true.
    keys = np.concatenate([given.rows * n_labels + given.labels, true.rows * n_labels + true.labels])
    cells, where = np.unique(keys, return_inverse=True)
    score = np.zeros(cells.size)
    score[where[: given.rows.size]] = given.values
    is_true = np.zeros(cells.size, dtype=np.int64)
    is_true[where[given.rows.size :]] = 1
    group = np.zeros(cells.size, dtype=np.int64) if together else cells % n_labels
    labels, stored = np.unique(group, return_counts=True)
    if together and labels.size == 0:
        labels, stored = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    if of_label is not None and labels.size == 0:
        labels, stored = np.array([of_label]), np.zeros(1, dtype=np.int64)
    rest = n_rows * (n_labels if together else 1) - stored
    # The cells that neither stores stand in one line a label.
    group = np.concatenate([group, labels[rest > 0]])
    score = np.concatenate([score, np.zeros(int(np.count_nonzero(rest)))]) + 0.0  # -0 is 0
    hits = np.concatenate([is_true, np.zeros(group.size - is_true.size, dtype=np.int64)])
    misses = np.concatenate([1 - is_true, rest[rest > 0]])
    order = np.lexsort((-score, group))
    group, score = group[order], score[order]
    starts = np.ones(group.size, dtype=np.bool_)
    starts[1:] = (group[1:] != group[:-1]) | (score[1:] != score[:-1])
    at = np.flatnonzero(starts)
    steps = _Steps(
        labels,
        np.searchsorted(group[at], labels),
        score[at],
        np.add.reduceat(hits[order], at) if at.size else hits,
        np.add.reduceat(misses[order], at) if at.size else misses,
    )
    return steps, n_labels


def roc_curve(
    y_true: Any, y_score: Any, *, label: int | None = None, drop_intermediate: bool = True
) -> tuple[Float64, Float64, Float64]:
    """Compute the points of the ROC curve of one label, or of all cells together.

    Parameters
    ----------
    y_true, y_score : matrices [n_rows, n_labels]
        As in `score`; a label without a stored score has score 0.
    label : int, optional
        Without it, all cells of the matrix are one problem (micro average).
    drop_intermediate : bool
        Leave out points on the straight line between their neighbours.

    Returns
    -------
    fpr, tpr, thresholds : float64 arrays
        scikit-learn's; the first threshold is inf. A rate is NaN where there is no cell of its class.

    Examples
    --------
    >>> fpr, tpr, thresholds = roc_curve([[0], [0], [1], [1]], [[0.1], [0.4], [0.35], [0.8]])
    >>> tpr.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    steps, _ = _steps(y_true, y_score, of_label=label, together=label is None)
    tps, fps, scores = steps.running(steps.hits), steps.running(steps.misses), steps.scores
    if drop_intermediate and scores.size > 2:
        kept = np.ones(scores.size, dtype=np.bool_)
        kept[1:-1] = (np.diff(fps, 2) != 0) | (np.diff(tps, 2) != 0)
        tps, fps, scores = tps[kept], fps[kept], scores[kept]
    fpr, tpr = (
        np.concatenate([[0.0], each / each[-1]]) if each.size and each[-1] else np.full(each.size + 1, np.nan)
        for each in (fps, tps)
    )
    return fpr, tpr, np.concatenate([[np.inf], scores])


def precision_recall_curve(
    y_true: Any, y_score: Any, *, label: int | None = None, drop_intermediate: bool = False
) -> tuple[Float64, Float64, Float64]:
    """Compute the points of the precision-recall curve of one label, or of all cells together.

    The parameters are those of `roc_curve`; ``drop_intermediate`` keeps the first and last point of each recall.

    Returns
    -------
    precision, recall, thresholds : float64 arrays
        scikit-learn's: recall falls, and ends in 0 with precision 1; recall is 1 where nothing is true.
    """
    steps, _ = _steps(y_true, y_score, of_label=label, together=label is None)
    tps, fps, scores = steps.running(steps.hits), steps.running(steps.misses), steps.scores
    if drop_intermediate and scores.size > 2:
        kept = np.ones(scores.size, dtype=np.bool_)
        kept[1:-1] = (np.diff(tps[:-1]) != 0) | (np.diff(tps[1:]) != 0)
        tps, fps, scores = tps[kept], fps[kept], scores[kept]
    precision = tps / np.maximum(tps + fps, 1)
    recall = tps / tps[-1] if tps.size and tps[-1] else np.ones(tps.size)
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), scores[::-1].copy()


def label_roc_auc(y_true: Any, y_score: Any, *, average: str | None = "macro") -> float | Float64:
    """Compute the area under the ROC curve of labels.

    Parameters
    ----------
    y_true, y_score : matrices [n_rows, n_labels]
        As in `score`; a label without a stored score has score 0.
    average : {"macro", "micro", "weighted", None}
        Mean over the labels that have both classes, the area of all cells together, the mean weighted by how often a
        label is true, or an array of all labels, NaN where a label has one class. scikit-learn refuses such labels.

    Raises
    ------
    DataError
        No label has both classes.

    Notes
    -----
    Equal to the Mann-Whitney statistic, ties counting one half (Fawcett, An Introduction to ROC Analysis, 2006).
    """
    steps, n_labels = _steps(y_true, y_score, together=_check(average) == "micro")
    tps, fps = steps.running(steps.hits), steps.running(steps.misses)
    # Twice the area, in whole cells.
    area = _sums(steps, steps.misses * (2 * tps - steps.hits))
    n_true, n_false = _last(steps, tps), _last(steps, fps)
    known = (n_true > 0) & (n_false > 0)
    values = np.full(known.size, np.nan)
    values[known] = area[known] / 2.0 / n_true[known] / n_false[known]
    return _averaged(steps, values, n_true, n_labels, average)


def label_average_precision(y_true: Any, y_score: Any, *, average: str | None = "macro") -> float | Float64:
    """Compute the average precision of labels: the sum over thresholds of precision times the step in recall.

    Parameters, errors and the labels of the mean are those of `label_roc_auc`; scikit-learn counts a label that is
    never true as 0 where this leaves it out.
    """
    steps, n_labels = _steps(y_true, y_score, together=_check(average) == "micro")
    tps, fps = steps.running(steps.hits), steps.running(steps.misses)
    total = _sums(steps, steps.hits * (tps / np.maximum(tps + fps, 1)))
    n_true, n_false = _last(steps, tps), _last(steps, fps)
    known = (n_true > 0) & (n_false > 0)
    values = np.full(known.size, np.nan)
    values[known] = total[known] / n_true[known]
    return _averaged(steps, values, n_true, n_labels, average)


def _check(average: str | None) -> str | None:
    if average not in AVERAGES:
        raise UsageError(f"average must be one of {listed([str(each) for each in AVERAGES])}, got {average!r}")
    return average


def _sums(steps: _Steps, values: NDArray[Any]) -> NDArray[Any]:
    return np.add.reduceat(values, steps.first) if steps.first.size else values


def _last(steps: _Steps, running: Int64) -> Int64:
    return running[np.append(steps.first[1:], running.size) - 1] if steps.first.size else running


def _averaged(steps: _Steps, values: Float64, n_true: Int64, n_labels: int, average: str | None) -> float | Float64:
    if average is None:
        every = np.full(n_labels, np.nan)
        every[steps.labels] = values
        return every
    known = ~np.isnan(values)
    if not known.any():
        raise DataError("no label has both classes, true in some rows and not true in others")
    weights = n_true[known] if average == "weighted" else None
    return float(np.average(values[known], weights=weights))
