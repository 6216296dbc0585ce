"""Counts: the rows in which each label is true."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels import counts as kernels
from xmceval.labels.idcounts import IdCounts
from xmceval.rows.block import Block, Int64, Scratch, Source
from xmceval.rows.checks import validated_truth
from xmceval.rows.progress import phase
from xmceval.rows.threads import each_block
from xmceval.rows.width import Width

DENSE_IDS = 1 << 27  # labels below are counted in one array, of which only the pages that are touched exist
LONG_TABLE = 1 << 22  # labels; a longer table that is mostly zeros is given by ids


def count_labels(truth: Source, *, width: Width, threads: int | None = None, may_merge: bool = False) -> LabelCounts:
    """Count the rows of a truth and, for each label, those in which it is true.

    `may_merge` says that an option merges duplicate labels.
    """
    counts, lock = LabelCounts(), threading.Lock()

    def work(scratch: Scratch, block: Block) -> None:
        n_rows = block.n_rows
        rows, _ = validated_truth(block, scratch, width, may_merge=may_merge)
        with lock:
            counts.add(n_rows, rows.indices[: rows.indptr[-1]])
        add(n_rows)

    with phase(truth.name, truth.n_rows) as add:
        each_block(truth.blocks(), Scratch, work, threads, all_faults=True)
    return counts


class LabelCounts:
    """A number of rows, and for each label the rows in which it is true."""

    def __init__(self) -> None:
        self.n_rows = 0
        self.n_labels = 0  # the largest label seen + 1
        self._dense = np.zeros(DENSE_IDS, dtype=np.int32)
        self._high = IdCounts.empty(1)

    def add(self, n_rows: int, indices: Int64) -> None:
        """Count some rows, given the labels of all of them."""
        self.n_rows += n_rows
        if indices.size == 0:
            return
        largest = int(kernels.count_labels(indices, self._dense))
        self.n_labels = max(self.n_labels, largest + 1)
        if largest >= DENSE_IDS:
            ids, counts = np.unique(indices[indices >= DENSE_IDS], return_counts=True)
            self._high.add(ids, counts[:, None])

    def table(self) -> tuple[Int64, NDArray[np.integer[Any]]]:
        """Return (ids, counts): ids is empty where counts is indexed by the label itself."""
        dense = self._dense[: min(self.n_labels, DENSE_IDS)]
        if self.n_labels <= DENSE_IDS and self.n_labels <= max(LONG_TABLE, 64 * int(np.count_nonzero(dense))):
            return np.empty(0, dtype=np.int64), dense
        low, (ids, counts) = np.flatnonzero(dense), self._high.table()
        return np.concatenate([low, ids]), np.concatenate([dense[low], counts[:, 0]])
