"""Rows in memory: the values of all rows in their order, for tests that resample them."""

from __future__ import annotations

import threading

import numpy as np

from xmceval.rows.block import Float64
from xmceval.scoring.observing.observers import BlockValues, Observer


class RowsInMemory(Observer):
    """An observer that keeps the values of every row: 16 bytes per row, metric and system."""

    def __init__(self) -> None:
        self._blocks: list[tuple[int, list[Float64], list[Float64]]] = []
        self._lock = threading.Lock()

    def add(self, block: BlockValues) -> None:
        """Keep the values of a block, weighted."""
        weights = block.weights[:, None, None] if block.weights.size else 1.0
        values = [each * weights for each in block.values]
        shares = [each * weights if each.size else each for each in block.shares]
        with self._lock:
            self._blocks.append((block.first_row, values, shares))

    def values(self, system: int) -> Float64:
        """Return the values [n_rows, n_columns, 2] of a system, by row."""
        return self._joined(1, system)

    def shares(self, system: int) -> Float64:
        """Return the shares [n_rows, n_columns * n_bins, 2] of a system, by row."""
        return self._joined(2, system)

    def _joined(self, part: int, system: int) -> Float64:
        self._blocks.sort(key=lambda block: block[0])
        blocks = [block[part][system] for block in self._blocks]  # type: ignore[index]
        return np.concatenate(blocks) if blocks else np.empty((0, 0, 2))
