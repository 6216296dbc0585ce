"""Ordered rows: the values of rows, handed to a writer in the order of the rows."""

from __future__ import annotations

import threading

import numpy as np

from xmceval.files.saved.rowvalues import RowWriter
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.observing.observers import BlockValues, Observer, is_counted
from xmceval.scoring.program import Program
from xmceval.scoring.states.rowdigests import TruthDigest, digest_rows


class OrderedRows(Observer):
    """An observer that writes the values of rows in order; blocks that come early wait.

    Attributes
    ----------
    n_rows : int
        All rows that were written, and those of weight 0.
    digest : TruthDigest
        Of the truth that was scored.
    """

    def __init__(self, program: Program, writer: RowWriter, *, drop_empty: bool = False) -> None:
        self._columns, self._drop_empty = program.columns, drop_empty
        self._writer, self.n_rows, self._lock = writer, 0, threading.Lock()
        self._waiting: dict[int, tuple[int, Int64, Float64, Float64]] = {}
        self.digest = TruthDigest()

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
            self.digest.add(rows.size, digest)
            self._waiting[block.first_row] = block.n_rows, rows, weights.copy(), values
            while self.n_rows in self._waiting:
                n_rows, rows, weights, values = self._waiting.pop(self.n_rows)
                self._writer.put(rows, weights, values)
                self.n_rows += n_rows
