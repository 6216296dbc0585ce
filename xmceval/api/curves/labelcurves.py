"""Curves of labels: ROC and precision-recall points, areas and average precision, of matrices that stay sparse.

Values are scikit-learn's on dense copies, in which a label without a stored score has score 0: all such cells of a
label are one group of ties. Time is O(nnz log nnz), memory about 60 bytes for each stored entry of either matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError, listed
from xmceval.rows.block import Float64, Int64, Scratch, Source
from xmceval.rows.checks import validated_scores, validated_truth
from xmceval.rows.matrices.matrices import as_scores, as_truth
from xmceval.rows.width import Width
from xmceval.scoring.tasks.rocareas import roc_areas

AVERAGES = ("macro", "micro", "weighted", None)
LARGEST_COUNT = 1 << 63


@dataclass(frozen=True)
class _Entries:
    """The stored entries of one matrix."""

    rows: Int64
    labels: Int64
    values: Float64

    def of_label(self, label: int) -> _Entries:
        """Return the entries of one label."""
        kept = self.labels == label
        return _Entries(self.rows[kept], self.labels[kept], self.values[kept])


@dataclass(frozen=True)
class _Cells:
    """The cells of groups that either matrix stores, by group and descending score.

    A group is a label, or all cells together: ``labels`` are the labels of the groups that have such cells, and group g
    has the cells ``starts[g] : starts[g + 1]``. Each has ``size`` cells in all: the others are misses with score 0.
    """

    labels: Int64
    starts: Int64
    truth: NDArray[np.bool_]
    scores: Float64
    size: int
    n_labels: int

    @property
    def n_implicit(self) -> NDArray[Any]:
        """The cells of each group that are not stored, as floats where int64 does not hold them."""
        stored = np.diff(self.starts)
        return self.size - (stored if self.size < LARGEST_COUNT else stored.astype(np.float64))


@dataclass(frozen=True)
class _Steps:
    """Steps of the curves of labels, highest score first: the hits and misses that each score adds.

    ``labels`` are the labels, ``first`` the place of the first step of each.
    """

    labels: Int64
    first: Int64
    scores: Float64
    hits: Int64
    misses: NDArray[Any]

    def running(self, steps: NDArray[Any]) -> NDArray[Any]:
        """Add up along the steps of each label."""
        total = np.cumsum(steps)
        before = np.concatenate([np.zeros(1, dtype=total.dtype), total])[self.first]
        lengths = np.diff(np.append(self.first, steps.size))
        running: NDArray[Any] = total - np.repeat(before, lengths)
        return running

    @property
    def n_true(self) -> Int64:
        """The number of true cells of each label."""
        return self.sums(self.hits)

    @property
    def n_false(self) -> NDArray[Any]:
        """The number of other cells of each label."""
        return self.sums(self.misses)

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add up all steps of each label."""
        return np.add.reduceat(values, self.first) if self.first.size else values


def _sort_cells(y_true: Any, y_score: Any, *, label: int | None = None, micro: bool = False) -> _Cells:
    """Sort all cells, of one label, by label, or with `micro` together."""
    truth, scores = as_truth(y_true), as_scores(y_score)
    n_rows, n_labels = truth.n_rows, truth.n_labels
    if n_rows is None or n_labels is None or (scores.n_rows, scores.n_labels) != (n_rows, n_labels):
        raise DataError(
            f"y_true is {n_rows} x {n_labels}, y_score is {scores.n_rows} x {scores.n_labels}; they must be the same"
        )
    width = Width(n_labels, "y_true has")
    true, scored = _read_entries(truth, width, is_truth=True), _read_entries(scores, width, is_truth=False)
    if label is not None:
        if not 0 <= label < n_labels:
            raise UsageError(f"label {label} is outside 0..{n_labels - 1}")
        true, scored = true.of_label(label), scored.of_label(label)
    groups, values, is_true = _join_entries(true, scored, micro=micro)
    order = np.lexsort((-values, groups))
    groups = groups[order]
    labels, first = np.unique(groups, return_index=True)
    if labels.size == 0 and (micro or label is not None):
        labels, first = np.array([label or 0]), np.zeros(1, dtype=np.int64)
    size = n_rows * (n_labels if micro else 1)
    return _Cells(labels, np.append(first, groups.size), is_true[order], values[order], size, n_labels)


def _read_entries(source: Source, width: Width, *, is_truth: bool) -> _Entries:
    rows, labels, values = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)], [np.empty(0)]
    scratch = Scratch()
    for block in source.blocks():
        first_row, n_rows = block.first_row, block.n_rows
        entries = validated_truth(block, scratch, width)[0] if is_truth else validated_scores(block, scratch, width)
        used = slice(0, int(entries.indptr[-1]))
        rows.append(np.repeat(np.arange(first_row, first_row + n_rows), np.diff(entries.indptr)))
        labels.append(entries.indices[used].copy())
        values.append(entries.values[used].copy())
    return _Entries(np.concatenate(rows), np.concatenate(labels), np.concatenate(values))


def _join_entries(true: _Entries, scored: _Entries, *, micro: bool) -> tuple[Int64, Float64, NDArray[np.bool_]]:
    """Return group, score and truth of each cell that either matrix stores, once, with score 0 if it has none."""
    # Labels by their place among those in use: rows x labels might leave int64.
    used, codes = np.unique(np.concatenate([scored.labels, true.labels]), return_inverse=True)
    keys, places = np.unique(np.concatenate([scored.rows, true.rows]) * used.size + codes, return_inverse=True)
    scores, truth = np.zeros(keys.size), np.zeros(keys.size, dtype=np.bool_)
    scores[places[: scored.rows.size]] = scored.values + 0.0  # -0 is 0
    truth[places[scored.rows.size :]] = True
    return np.zeros_like(keys) if micro else used[keys % max(used.size, 1)], scores, truth


def _compute_steps(cells: _Cells) -> _Steps:
    """Make one step of the cells of a group with equal scores, those that are not stored among them."""
    n_implicit = cells.n_implicit
    kept = n_implicit > 0
    n_kept = int(np.count_nonzero(kept))
    groups = np.repeat(np.arange(cells.labels.size), np.diff(cells.starts))
    groups = np.concatenate([groups, np.flatnonzero(kept)])
    scores = np.concatenate([cells.scores, np.zeros(n_kept)])
    hits = np.concatenate([cells.truth, np.zeros(n_kept)]).astype(np.int64)
    misses = np.concatenate([(~cells.truth).astype(n_implicit.dtype), n_implicit[kept]])
    order = np.lexsort((-scores, groups))
    groups, scores, hits, misses = groups[order], scores[order], hits[order], misses[order]
    is_first = np.ones(groups.size, dtype=np.bool_)
    is_first[1:] = (groups[1:] != groups[:-1]) | (scores[1:] != scores[:-1])
    starts = np.flatnonzero(is_first)
    if starts.size:
        hits, misses = np.add.reduceat(hits, starts), np.add.reduceat(misses, starts)
    first = np.searchsorted(groups[starts], np.arange(cells.labels.size))
    return _Steps(cells.labels, first, scores[starts], hits, misses)


def label_roc_curve(
    y_true: Any, y_score: Any, *, label: int | None = None, drop_intermediate: bool = True
) -> tuple[Float64, Float64, Float64]:
    """Compute the points of the ROC curve of one label, or of all cells together.

    For one list of scores see `roc_curve`, which is scikit-learn's.

    Parameters
    ----------
    y_true, y_score : matrices [n_rows, n_labels]
        As in `score`; a label without a stored score has score 0.
    label : int, optional
        The label; default all cells of the matrix together (micro average).
    drop_intermediate : bool
        Leave out points on the straight line between their neighbours.

    Returns
    -------
    fpr, tpr, thresholds : float64 arrays
        As scikit-learn's; the first threshold is inf. A rate is NaN where no cell is of its class.

    Examples
    --------
    >>> fpr, tpr, thresholds = label_roc_curve([[0], [0], [1], [1]], [[0.1], [0.4], [0.35], [0.8]])
    >>> tpr.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    steps = _compute_steps(_sort_cells(y_true, y_score, label=label, micro=label is None))
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


def label_precision_recall_curve(
    y_true: Any, y_score: Any, *, label: int | None = None, drop_intermediate: bool = False
) -> tuple[Float64, Float64, Float64]:
    """Compute the points of the precision-recall curve of one label, or of all cells together.

    The parameters are those of `label_roc_curve`; ``drop_intermediate`` keeps the first and last point of each recall.

    Returns
    -------
    precision, recall, thresholds : float64 arrays
        As scikit-learn's: recall falls and ends at 0 with precision 1; recall is 1 where nothing is true.
    """
    steps = _compute_steps(_sort_cells(y_true, y_score, label=label, micro=label is None))
    tps, fps, scores = steps.running(steps.hits), steps.running(steps.misses), steps.scores
    if drop_intermediate and scores.size > 2:
        kept = np.ones(scores.size, dtype=np.bool_)
        kept[1:-1] = (np.diff(tps[:-1]) != 0) | (np.diff(tps[1:]) != 0)
        tps, fps, scores = tps[kept], fps[kept], scores[kept]
    precision = tps / np.maximum(tps + fps, 1)
    recall = tps / tps[-1] if tps.size and tps[-1] else np.ones(tps.size)
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), scores[::-1].copy()


def label_roc_auc(y_true: Any, y_score: Any, *, average: str | None = "macro") -> float | Float64:
    """Compute the area under the ROC curve by label.

    Parameters
    ----------
    y_true, y_score : matrices [n_rows, n_labels]
        As in `score`; a label without a stored score has score 0.
    average : {"macro", "micro", "weighted", None}
        The mean over the labels that have both classes, the area of all cells together, the mean weighted by the number
        of true cells, or an array of all labels, NaN where a label has only one class, which scikit-learn refuses.

    Raises
    ------
    DataError
        No label has both classes.

    Notes
    -----
    Equal to the Mann-Whitney statistic, ties counting one half (Fawcett, An Introduction to ROC Analysis, 2006).
    """
    cells = _sort_cells(y_true, y_score, micro=_check_average(average) == "micro")
    areas = roc_areas(cells.starts, cells.truth, cells.scores, spare=cells.n_implicit.astype(np.float64))
    return _average(cells, areas.values, areas.positive, average)


def label_average_precision(y_true: Any, y_score: Any, *, average: str | None = "macro") -> float | Float64:
    """Compute average precision by label: the sum over thresholds of precision times the step in recall.

    See `label_roc_auc` for the arguments and errors. A label with only one class is left out; scikit-learn counts a
    label that is never true as 0.
    """
    cells = _sort_cells(y_true, y_score, micro=_check_average(average) == "micro")
    steps = _compute_steps(cells)
    tps, fps = steps.running(steps.hits), steps.running(steps.misses)
    values = steps.sums(steps.hits * (tps / np.maximum(tps + fps, 1))) / np.maximum(steps.n_true, 1)
    values[(steps.n_true == 0) | (steps.n_false == 0)] = np.nan
    return _average(cells, values, steps.n_true, average)


def _check_average(average: str | None) -> str | None:
    if average not in AVERAGES:
        raise UsageError(f"average must be one of {listed(map(repr, AVERAGES))}, got {average!r}")
    return average


def _average(cells: _Cells, values: Float64, n_true: NDArray[Any], average: str | None) -> float | Float64:
    """Average the labels with both classes, or return all labels; a value is NaN where a label has only one."""
    has_both = ~np.isnan(values)
    if average is None:
        by_label = np.full(cells.n_labels, np.nan)
        by_label[cells.labels[has_both]] = values[has_both]
        return by_label
    if not has_both.any():
        raise DataError("no label has both classes: each is true in all rows or in none")
    weights = n_true[has_both] if average == "weighted" else None
    return float(np.average(values[has_both], weights=weights))
