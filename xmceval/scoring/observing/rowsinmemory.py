"""Rows in memory: the values of all rows in their order, for tests that resample them."""

from __future__ import annotations

import threading

import numpy as np

from xmceval.rows.block import Float64
from xmceval.scoring.observing.observers import FRACTION, BlockValues, Observer

NO_ROWS = np.empty((0, FRACTION))


class RowsInMemory(Observer):
    """An observer that keeps the values of every row: 16 bytes per row, metric and system."""

    def __init__(self) -> None:
        self._blocks: list[tuple[int, list[Float64], list[Float64]]] = []
        self._lock = threading.Lock()

    def add(self, block: BlockValues) -> None:
        """Keep the values of a block, weighted."""
        values, shares = list(block.values), list(block.shares)
        if block.weights.size:
            values, shares = ([_weighted(each, block.weights) for each in kind] for kind in (values, shares))
        with self._lock:
            self._blocks.append((block.first_row, values, shares))

    def values(self, system: int, column: int) -> Float64:
        """Return a column [n_rows, 2] of the values of a system, by row."""
        return _join([values[system][:, column] for _, values, _ in self._in_order()])

    def shares(self, system: int, column: int) -> Float64:
        """Return a column [n_rows, 2] of the shares of a system, by row."""
        return _join([shares[system][:, column] for _, _, shares in self._in_order()])

    def _in_order(self) -> list[tuple[int, list[Float64], list[Float64]]]:
        return sorted(self._blocks, key=lambda block: block[0])


def _weighted(values: Float64, weights: Float64) -> Float64:
    return values * weights[:, None, None] if values.size else values


def _join(blocks: list[Float64]) -> Float64:
    return np.concatenate(blocks) if blocks else NO_ROWS
