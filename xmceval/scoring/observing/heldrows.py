"""Held rows: the values of all rows in memory, which are returned or saved when all are scored."""

from __future__ import annotations

import hashlib
import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.rows.order import FIRST, GOLDEN, SECOND
from xmceval.rows.block import Float64, Int64, Rows
from xmceval.scoring.observing.observers import BlockValues, Observer, is_counted
from xmceval.scoring.program import Program


class RowBlock(NamedTuple):
    """The values of some rows.

    Attributes
    ----------
    rows : int64 array [n_rows]
        Their numbers; those of weight 0 are left out.
    weights : float64 array [n_rows]
    values : float64 array [n_rows, n_systems, n_columns, 2]
        Numerators and denominators of `Program.columns`; the numerator is NaN where a row does not count.
    """

    rows: Int64
    weights: Float64
    values: Float64


class HeldRows(Observer):
    """An observer that holds the values of every row: 16 bytes per row, metric and system.

    Attributes
    ----------
    n_rows : int
        All rows, also those of weight 0.
    """

    def __init__(self, program: Program, *, drop_empty: bool = False) -> None:
        self._columns, self._drop_empty = program.columns, drop_empty
        self._blocks: list[RowBlock] = []
        self._lock = threading.Lock()
        self.n_rows = self._n_digested = self._sum = 0  # rows, and the digests of the truth modulo 2^64

    def add(self, block: BlockValues) -> None:
        """Take the values of a block."""
        kept = np.arange(block.n_rows) if block.kept is None else block.kept
        rows = (block.first_row + kept).astype(np.int64)
        weights = block.weights.copy() if block.weights.size else np.ones(rows.size)
        values = np.stack([of_system[:, [*self._columns.values()]] for of_system in block.values], axis=1)
        for system in range(values.shape[1]):
            numerators, denominators = values[:, system, :, 0], values[:, system, :, 1]
            has_value = is_counted(tuple(self._columns), block.truth, denominators, drop_empty=self._drop_empty)
            numerators[~has_value] = np.nan
        digest = digest_rows(rows, block.truth)
        with self._lock:
            self._blocks.append(RowBlock(rows, weights, values))
            self.n_rows += block.n_rows
            self._n_digested, self._sum = self._n_digested + rows.size, (self._sum + digest) % 2**64

    def join(self) -> RowBlock:
        """Return the values of all rows, in their order."""
        blocks = sorted((block for block in self._blocks if block.rows.size), key=lambda block: int(block.rows[0]))
        self._blocks = [RowBlock(*map(np.concatenate, zip(*blocks, strict=True)))] if blocks else self._blocks
        return self._blocks[0]

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
