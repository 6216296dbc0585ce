"""First rows: what the check of rows and labels needs of the first rows of each system."""

from __future__ import annotations

from operator import add

import numpy as np

from xmceval.rows.block import Int64, Rows
from xmceval.scoring.alignment import N_ROWS, NO_LABEL, Ranked, find_doubt
from xmceval.scoring.batch import Batch
from xmceval.scoring.mergeable import Mergeable, PartField
from xmceval.scoring.observing.observers import BlockValues, Observer

Piece = tuple[int, int, Rows, Ranked]  # the first row of a block, the system, and its rows up to N_ROWS


class FirstRows(Mergeable, Observer):
    """An observer that copies the first rows of each batch that has any; blocks come in any order."""

    fields = (PartField("pieces", add),)

    def __init__(self) -> None:
        super().__init__()
        self.pieces: tuple[Piece, ...] = ()

    def add(self, block: BlockValues) -> None:
        """Take the values of a block: nothing of them is needed."""

    def add_batch(self, system: int, batch: Batch) -> None:
        """Copy the first rows of a batch."""
        first_row = batch.block.first_row
        n = N_ROWS - first_row
        n = min(n, batch.n_rows) if batch.kept is None else int(np.searchsorted(batch.kept, n))
        if n > 0:
            indptr, labels, grades = _first(batch.truth, n)
            truth = Rows(indptr.copy(), labels.copy(), grades.copy())
            self.combine(pieces=((first_row, system, truth, _first_ranked(batch, n)),))

    def find_doubt(self, system: int, place: str = "", *, drop_empty: bool = False) -> str:
        """Return the likely mistake in the rows of a system; see `alignment.find_doubt`."""
        own = sorted((piece for piece in self.pieces if piece[1] == system), key=lambda piece: piece[0])
        if not own:
            return ""
        *_, truths, rankings = zip(*own, strict=True)
        ends = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(each.indptr) for each in truths]))])
        truth = Rows(ends, *map(np.concatenate, list(zip(*truths, strict=True))[1:]))
        return find_doubt(
            truth, Ranked(*map(np.concatenate, zip(*rankings, strict=True))), place, drop_empty=drop_empty
        )


def _first(rows: Rows, n: int) -> Rows:
    end = rows.indptr[n]
    return Rows(rows.indptr[: n + 1], rows.indices[:end], rows.values[:end])


def _first_ranked(batch: Batch, n: int) -> Ranked:
    """Copy the best labels of the first rows, and the last ones where all predictions are at hand."""
    labels, scores, n_ranked = (each[:n] for each in batch.ranking.arrays)
    best = np.full((n, 2), NO_LABEL)
    depth = min(2, labels.shape[1])
    best[:, :depth] = np.where(np.arange(depth) < n_ranked[:, None], labels[:, :depth], NO_LABEL)
    ends = np.stack([scores[:, 0], scores[np.arange(n), n_ranked - 1]], axis=1)
    last = np.full(n, NO_LABEL) if batch.ends is not None else _last_labels(_first(batch.scores, n))
    return Ranked(best, last, ends, np.diff(batch.score_ends[: n + 1]))


def _last_labels(scores: Rows) -> Int64:
    """Return the label with the lowest score of each row, int64 [n_rows], NO_LABEL without any."""
    lengths = np.diff(scores.indptr)
    last = np.full(lengths.size, NO_LABEL)
    has_any = lengths > 0
    if has_any.any():
        starts = scores.indptr[:-1][has_any]
        is_lowest = scores.values == np.repeat(np.minimum.reduceat(scores.values, starts), lengths[has_any])
        lowest = np.flatnonzero(is_lowest)
        last[has_any] = scores.indices[lowest[np.searchsorted(lowest, starts)]]
    return last
