"""Held cells: every stored cell of a system and every true one, for thresholds that are chosen from all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.metrics.measure import Measure
from xmceval.scoring.batch import Batch, Terms
from xmceval.scoring.mergeable import Mergeable, PartField
from xmceval.scoring.tasks.labelareas import SHORT
from xmceval.scoring.tasks.task import Estimates, ScoredRows, Task

Chunk = tuple[NDArray[Any], ...]


class CellChunks(Mergeable):
    """The cells of the rows added so far, block by block in any order; threads may add at the same time.

    Attributes
    ----------
    chunks : list of tuple of array
        Row, label, score and truth of the stored cells, then row and label of the true ones.
    """

    fields = (PartField("chunks", add, is_stored=False),)

    def __init__(self) -> None:
        super().__init__()
        self.chunks: list[Chunk] = []

    def joined(self) -> Chunk:
        """Return the cells of all rows in their order; they are held no longer."""
        chunks, self.chunks = sorted(self.chunks, key=_first_row), []
        return tuple(np.concatenate(each) for each in zip(*chunks, strict=True))


@dataclass(frozen=True)
class HoldCells(Task):
    """Hold the cells of all rows: 21 bytes for each that is stored, and 12 for each that is true."""

    measures: tuple[Measure, ...] = ()
    rel: int = 1

    @staticmethod
    def computes(measure: Measure) -> bool:  # noqa: ARG004 - it computes none
        """Return False."""
        return False

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[HoldCells]:  # noqa: ARG003
        """Return no task."""
        return []

    def empty(self, terms: Terms) -> CellChunks:  # noqa: ARG002
        """Return no cells."""
        return CellChunks()

    def add(self, batch: Batch, part: CellChunks) -> None:
        """Copy the cells of a batch."""
        from xmceval.kernels.rows.columns import match_cells  # at each start, kernels cost time to load

        truth, scores = batch.truth, batch.scores
        n_true, n_scored = int(truth.indptr[-1]), int(scores.indptr[-1])
        is_true, is_scored = np.empty(n_scored, dtype=np.bool_), np.zeros(n_true, dtype=np.bool_)
        match_cells(*truth[:2], *scores[:2], is_true, is_scored)
        numbers = np.arange(batch.n_rows) if batch.kept is None else batch.kept
        rows, true_rows = (np.repeat(batch.block.first_row + numbers, np.diff(each.indptr)) for each in (scores, truth))
        labels, true_labels = (_narrow(each) for each in (scores.indices[:n_scored], truth.indices[:n_true]))
        chunk = rows, labels, scores.values[:n_scored].copy(), is_true, true_rows, true_labels
        part.combine(chunks=[chunk])

    def finish(self, part: CellChunks, scored: ScoredRows) -> Estimates:  # noqa: ARG002
        """Return no estimate."""
        return {}


def _narrow(labels: NDArray[Any]) -> NDArray[Any]:
    """Copy labels in as few bytes as they need."""
    return labels.astype(np.int32 if labels.max(initial=0) < SHORT else np.int64)


def _first_row(chunk: Chunk) -> int:
    return min(int(chunk[0][0]) if chunk[0].size else 1 << 62, int(chunk[4][0]) if chunk[4].size else 1 << 62)
