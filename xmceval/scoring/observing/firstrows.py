"""First rows: what the check of rows and labels needs of the first rows of each system."""

from __future__ import annotations

from operator import add
from typing import Any

import numpy as np

from xmceval.rows.block import Block, Int64, Rows
from xmceval.scoring.alignment import EQUAL, MUCH_BETTER, N_ROWS, NO_LABEL, OF_FEW, ORDERED, RISING, UNKNOWN, Ranked
from xmceval.scoring.batch import Batch
from xmceval.scoring.mergeable import Mergeable, PartField
from xmceval.scoring.observing.observers import BlockValues, Observer

NO_LABELS = np.empty(0, dtype=np.int64)
NO_ROWS = Rows(np.zeros(1, dtype=np.int64), NO_LABELS, np.empty(0))
NO_RANKED = Ranked(
    NO_LABELS.reshape(0, 2), NO_LABELS, np.empty((0, 2)), NO_LABELS, NO_LABELS, np.empty(0, dtype=np.bool_)
)

Piece = tuple[int, int, Rows, Ranked]  # the first row of a block, the system, and its rows up to N_ROWS


class FirstRows(Mergeable, Observer):
    """An observer that copies the first rows of each batch that has any; blocks come in any order."""

    fields = (PartField("pieces", add),)

    def __init__(self, n_rows: int | None = None) -> None:
        super().__init__()
        self.can_judge = n_rows is None or n_rows > OF_FEW**2  # of the whole: fewer hits are no clear difference
        self.pieces: tuple[Piece, ...] = ()

    def add(self, block: BlockValues) -> None:
        """Take the values of a block: nothing of them is needed."""

    def add_batch(self, system: int, batch: Batch, scores: Block) -> None:
        """Copy the first rows of a batch, whose scores come from a block."""
        first_row = batch.block.first_row
        n = N_ROWS - first_row
        n = min(n, batch.n_rows) if batch.kept is None else int(np.searchsorted(batch.kept, n))
        if n > 0:
            indptr, labels, grades = _first(batch.truth, n)
            truth = Rows(indptr.copy(), labels.copy(), grades.copy())
            self.combine(
                pieces=((first_row, system, truth, _first_ranked(batch, n, scores if self.can_judge else None)),)
            )

    def of_system(self, system: int) -> tuple[Rows, Ranked]:
        """Return the truth and the predictions of the first rows that a system was scored on."""
        pieces = sorted((piece for piece in self.pieces if piece[1] == system), key=lambda piece: piece[0])
        if not pieces:
            return NO_ROWS, NO_RANKED
        *_, truths, rankings = zip(*pieces, strict=True)
        ends = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(truth.indptr) for truth in truths]))])
        truth = Rows(ends, *map(np.concatenate, list(zip(*truths, strict=True))[1:]))
        return truth, Ranked(*map(np.concatenate, zip(*rankings, strict=True)))


def _first(rows: Rows, n: int) -> Rows:
    end = rows.indptr[n]
    return Rows(rows.indptr[: n + 1], rows.indices[:end], rows.values[:end])


def _first_ranked(batch: Batch, n: int, block: Block | None) -> Ranked:
    """Copy the best labels of the first rows, and what is seen of the scores where all of them are held."""
    labels, scores, n_ranked = (array[:n] for array in batch.ranking.arrays)
    best = np.full((n, 2), NO_LABEL)
    depth = min(2, labels.shape[1])
    best[:, :depth] = np.where(np.arange(depth) < n_ranked[:, None], labels[:, :depth], NO_LABEL)
    ends = np.stack([scores[:, 0], scores[np.arange(n), n_ranked - 1]], axis=1)
    lengths = np.diff(batch.score_ends[: n + 1])
    if batch.ends is None:
        return Ranked(best, ends=ends, lengths=lengths, **_describe_scores(_first(batch.scores, n)))
    # Selected labels of a dense row: all scores are equal where no label is left but those that tie with the last one.
    n_equal = np.diff(batch.scores.indptr[: n + 1]) + batch.omitted[:n]
    kinds = np.where((lengths > 1) & (n_equal == lengths) & (ends[:, 0] == ends[:, 1]), EQUAL, UNKNOWN)
    return Ranked(best, _find_lowest(batch, n, best[:, 0], block), ends, lengths, kinds, np.zeros(n, dtype=np.bool_))


def _find_lowest(batch: Batch, n: int, best: Int64, block: Block | None) -> Int64:
    """Return the labels with the lowest scores where they can be the best: a third of hits is too many for that."""
    truth = _first(batch.truth, n)
    hits = np.count_nonzero(truth.indices == np.repeat(best, np.diff(truth.indptr)))
    n_block = n if batch.kept is None else int(batch.kept[n - 1]) + 1
    lowest = None if block is None or MUCH_BETTER * hits >= n else block.lowest_labels(n_block)
    if lowest is None:
        return np.full(n, NO_LABEL)
    return np.where(best >= 0, lowest if batch.kept is None else lowest[batch.kept[:n]], NO_LABEL)


def _describe_scores(scores: Rows) -> dict[str, Any]:
    """Return the label with the lowest score of each row, NO_LABEL without any, and how its scores are stored."""
    starts, lengths = scores.indptr[:-1], np.diff(scores.indptr)
    last, kinds = np.full(lengths.size, NO_LABEL), np.full(lengths.size, UNKNOWN)
    ascends = np.zeros(lengths.size, dtype=np.bool_)
    described = {"last": last, "kinds": kinds, "ascends": ascends}
    has_any = lengths > 0
    if not has_any.any():
        return described
    starts, lengths, values = starts[has_any], lengths[has_any], scores.values
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    all_low = np.repeat(low, lengths)
    lowest = np.flatnonzero(values == all_low)
    last[has_any] = scores.indices[lowest[np.searchsorted(lowest, starts)]]
    is_between = (values > all_low) & (values < np.repeat(high, lengths))
    has_three = np.logical_or.reduceat(is_between, starts)
    is_next = np.ones(values.size, dtype=bool)
    is_next[starts] = False  # the first of a row has none before it
    falls, is_back = np.zeros((2, values.size), dtype=bool)
    np.less(values[1:], values[:-1], out=falls[1:])
    np.less(scores.indices[1:], scores.indices[:-1], out=is_back[1:])
    has_fall, has_back = (np.logical_or.reduceat(steps & is_next, starts) for steps in (falls, is_back))
    of_rows = np.where(has_three, np.where(has_back & ~has_fall, RISING, ORDERED), UNKNOWN)
    of_rows[(low == high) | np.isinf(low) & np.isinf(high) & ~has_three] = EQUAL
    of_rows[lengths < 2] = UNKNOWN
    kinds[has_any] = of_rows
    ascends[has_any] = ~has_back & (lengths > 1)
    return described
