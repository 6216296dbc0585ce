"""The conductor: blocks of truth and scores, row for row, through the kernels into totals, in threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.rows.block import Block, Int64, Scratch, Source
from xmceval.rows.checks import validated_truth
from xmceval.rows.threads import each_block
from xmceval.rows.width import Width


def count_labels(truth: Source, *, width: Width, threads: int | None = None) -> LabelCounts:
    """Count the rows of a truth matrix and, for each label, those in which it is true."""
    counts, lock = LabelCounts(), threading.Lock()

    def work(scratch: Scratch, block: Block) -> None:
        rows, _ = validated_truth(block, scratch, width)
        with lock:
            counts.add(block.n_rows, rows.indices[: rows.indptr[-1]])

    each_block(truth.blocks(), Scratch, work, threads, all_faults=True)
    return counts


DENSE_IDS = 1 << 27  # ids below are counted in one array, of which only the pages that are touched exist


class LabelCounts:
    """Rows counted, and for each label the rows in which it is true; counts of two parts add up."""

    def __init__(self) -> None:
        self.n_rows = 0
        self.n_labels = 0  # the largest label seen + 1
        self._dense = np.zeros(DENSE_IDS, dtype=np.int32)
        self._ids: Int64 = np.empty(0, dtype=np.int64)
        self._counts: Int64 = np.empty(0, dtype=np.int64)

    def add(self, n_rows: int, indices: Int64) -> None:
        """Count some rows, given the labels of all of them."""
        from xmceval.kernels.counts import count_labels

        self.n_rows += n_rows
        if indices.size == 0:
            return
        largest = int(count_labels(indices, self._dense))
        self.n_labels = max(self.n_labels, largest + 1)
        if largest >= DENSE_IDS:
            self._merge(indices[indices >= DENSE_IDS])

    def _merge(self, indices: Int64) -> None:
        ids, counts = np.unique(indices, return_counts=True)
        every = np.concatenate([self._ids, ids])
        self._ids, where = np.unique(every, return_inverse=True)
        self._counts = np.bincount(where, np.concatenate([self._counts, counts])).astype(np.int64)

    def table(self) -> tuple[Int64, NDArray[np.integer[Any]]]:
        """Return (ids, counts): ids is empty where counts is indexed by the label itself."""
        dense = self._dense[: min(self.n_labels, DENSE_IDS)]
        if self.n_labels <= DENSE_IDS and self.n_labels <= max(1 << 22, 64 * int(np.count_nonzero(dense))):
            return np.empty(0, dtype=np.int64), dense
        low = np.flatnonzero(dense)
        return np.concatenate([low, self._ids]), np.concatenate([dense[low], self._counts])
