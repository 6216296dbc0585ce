"""Keep the per-row values in memory, to return, save or resample them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.rows.order import FIRST, GOLDEN, SECOND
from xmceval.rows.block import Float64, Int64, Rows
from xmceval.scoring.batch import Batch, JointRows
from xmceval.scoring.setup.setup import Setup


class RowBlock(NamedTuple):
    """The values of a set of rows."""

    rows: Int64  # [n_rows]; their numbers, without rows of weight 0
    weights: Float64  # [n_rows]
    values: Float64  # [n_rows, n_systems, n_columns + n_shares of bins, 2]; numerators and denominators
    counts: NDArray[np.bool_]  # [n_rows, n_systems, n_columns]; whether a row counts for a metric


class HeldRows(JointRows):
    """The per-row values of systems: 16 bytes per row, metric and system; threads may add concurrently."""

    has_sums = False

    def __init__(self, setup: Setup, n_systems: int) -> None:
        self._measures = setup.program.row_measures
        self._drop_empty = setup.drop_empty
        values = np.empty((0, n_systems, len(self._measures), 2))
        self._blocks = [RowBlock(np.empty(0, dtype=np.int64), np.empty(0), values, values[..., 0] > 0)]  # of no rows
        self._lock = threading.Lock()
        self.n_rows = 0  # including rows of weight 0
        self.digest = 0  # digest of the truth, for any order of blocks

    def add_batch(self, batch: Batch, values: Sequence[Float64], shares: Sequence[Float64]) -> None:
        """Keep the values of a block, by system [n_rows, n_columns, 2], and the shares of bins, if any."""
        truth = batch.truth
        rows = batch.block.first_row + batch.rows_of_block
        weights = np.ones(rows.size)
        if batch.weights.size:
            weights = batch.weights.copy()
        held = np.stack(values, axis=1)
        counts = held[..., 1] != 0
        for m, measure in enumerate(self._measures):
            if not (measure.metric.left_out or measure.average in {"mean", "rows", "samples"}):
                counts[:, :, m] = True
            if self._drop_empty:  # rows without labels of this grade do not count
                n_true = np.concatenate([[0], np.cumsum(truth.values[: truth.indptr[-1]] >= measure.rel)])[truth.indptr]
                counts[:, :, m] &= np.diff(n_true)[:, None] > 0
        if shares[0].size:
            held = np.concatenate([held, np.stack(shares, axis=1)], axis=2)
        digest = digest_rows(rows, truth)
        with self._lock:
            self._blocks.append(RowBlock(rows, weights, held, counts))
            self.n_rows += batch.block.n_rows
            self.digest = (self.digest + digest) % 2**64

    def join(self) -> RowBlock:
        """Return the values of all rows, in order."""
        filled = [block for block in self._blocks if block.rows.size]
        filled.sort(key=lambda block: int(block.rows[0]))
        parts = filled or self._blocks[:1]
        self._blocks = [RowBlock(*map(np.concatenate, zip(*parts, strict=True)))]
        return self._blocks[0]


def digest_rows(rows: Int64, truth: Rows) -> int:
    """Return the sum of a hash of each (row, label, grade), modulo 2^64; `rows`, int64 [n_rows], are their numbers."""
    n_entries = int(truth.indptr[-1])
    entry_rows = np.repeat(rows, np.diff(truth.indptr)).astype(np.uint64)
    labels = truth.indices[:n_entries].astype(np.uint64)
    values = truth.values[:n_entries]
    grades = np.where(values % 1, values.view(np.uint64), values.astype(np.uint64))
    words = _mix(_mix(entry_rows * GOLDEN + labels) + grades)
    return int(words.sum(dtype=np.uint64))


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = (words ^ (words >> np.uint64(30))) * FIRST
    words = (words ^ (words >> np.uint64(27))) * SECOND
    return words ^ (words >> np.uint64(31))
