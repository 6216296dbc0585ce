"""Ordered rows: the values of rows, handed to a writer in the order of the rows."""

from __future__ import annotations

import hashlib
import threading

import numpy as np
from numpy.typing import NDArray

from xmceval.files.saved.rowvalues import RowWriter
from xmceval.kernels.rows.order import FIRST, GOLDEN, SECOND
from xmceval.rows.block import Float64, Int64, Rows
from xmceval.scoring.observing.observers import BlockValues, Observer, is_counted
from xmceval.scoring.program import Program


class OrderedRows(Observer):
    """An observer that writes the values of rows in order; blocks that come early wait.

    Attributes
    ----------
    n_rows : int
        All rows that were written, and those of weight 0.
    """

    def __init__(self, program: Program, writer: RowWriter, *, drop_empty: bool = False) -> None:
        self._columns, self._drop_empty = program.columns, drop_empty
        self._writer, self.n_rows, self._lock = writer, 0, threading.Lock()
        self._waiting: dict[int, tuple[int, Int64, Float64, Float64]] = {}
        self._n_digested = self._sum = 0  # rows, and their digests modulo 2^64

    def add(self, block: BlockValues) -> None:
        """Take the values of a block."""
        kept = np.arange(block.n_rows) if block.kept is None else block.kept
        rows = (block.first_row + kept).astype(np.int64)
        weights = block.weights if block.weights.size else np.ones(rows.size)
        values = np.stack([of_system[:, [*self._columns.values()]] for of_system in block.values], axis=1)
        measures = tuple(self._columns)
        for system in range(values.shape[1]):
            own = values[:, system]
            has_value = is_counted(measures, block.truth, own[:, :, 1], drop_empty=self._drop_empty)
            own[:, :, 0][~has_value] = np.nan
        digest = digest_rows(rows, block.truth)
        with self._lock:
            self._n_digested, self._sum = self._n_digested + rows.size, (self._sum + digest) % 2**64
            self._waiting[block.first_row] = block.n_rows, rows, weights.copy(), values
            while self.n_rows in self._waiting:
                n_rows, rows, weights, values = self._waiting.pop(self.n_rows)
                self._writer.put(rows, weights, values)
                self.n_rows += n_rows

    @property
    def digest(self) -> str:
        """A digest of the truth that was scored, which does not depend on the order of blocks."""
        return hashlib.blake2b(f"{self._n_digested} {self._sum}".encode(), digest_size=16).hexdigest()


def digest_rows(rows: Int64, truth: Rows) -> int:
    """Return the sum of a hash of each (row, label, grade), modulo 2^64; `rows`, int64 [n_rows], are their numbers."""
    n_entries = int(truth.indptr[-1])
    entry_rows = np.repeat(rows, np.diff(truth.indptr)).astype(np.uint64)
    labels, grades = truth.indices[:n_entries].astype(np.uint64), truth.values[:n_entries].astype(np.uint64)
    words = _mix(_mix(entry_rows * GOLDEN + labels) + grades)
    return int(words.sum(dtype=np.uint64))


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = (words ^ (words >> np.uint64(30))) * FIRST
    words = (words ^ (words >> np.uint64(27))) * SECOND
    return words ^ (words >> np.uint64(31))
