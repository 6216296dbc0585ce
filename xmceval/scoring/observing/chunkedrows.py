"""Chunked rows: the values of rows, handed on in chunks of so many rows, system by system."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from xmceval.rows.block import Float64
from xmceval.scoring.observing.observers import BlockValues, Observer
from xmceval.scoring.states.rowdigests import TruthDigest, digest_rows

Write = Callable[[int, int, Float64], None]  # of a system, a chunk, and its values [n_rows, n_columns]


class ChunkedRows(Observer):
    """An observer that puts rows into chunks; blocks that come early wait.

    A row is its weight, if there are weights, then the numerators and denominators of its values, then of its shares.

    Parameters
    ----------
    rows_of_chunk : int
    write : callable
        ``write(system, number, values)``; called from any thread, with chunks in any order.

    Attributes
    ----------
    n_rows : int
        All rows with values.
    digest : TruthDigest
        Of the truth that was scored.
    """

    def __init__(self, rows_of_chunk: int, write: Write) -> None:
        self._size, self._write, self._lock = rows_of_chunk, write, threading.Lock()
        self._waiting: dict[int, tuple[int, list[Float64]]] = {}
        self._next = self.n_rows = 0  # row of the truth, row with values
        self._ready: list[list[Float64]] = []  # blocks of the next chunk, each by system
        self.digest = TruthDigest()

    def add(self, block: BlockValues) -> None:
        """Take the values of a block."""
        kept = np.arange(block.n_rows) if block.kept is None else block.kept
        digest = digest_rows((block.first_row + kept).astype(np.int64), block.truth)
        shares = block.shares or [np.empty((kept.size, 0))] * len(block.values)
        tables = [_join(block.weights, *of_system) for of_system in zip(block.values, shares, strict=True)]
        with self._lock:
            self.digest.add(kept.size, digest)
            self._waiting[block.first_row] = block.n_rows, tables
            chunks = list(self._take_chunks())
        for number, of_systems in chunks:
            self._put(number, of_systems)

    def finish(self) -> None:
        """Write the last chunk."""
        if self._ready:
            self._put(self.n_rows // self._size, self._ready)

    def _take_chunks(self) -> Iterator[tuple[int, list[list[Float64]]]]:
        """Yield the chunks that are complete: their number, and their blocks, each by system."""
        while self._next in self._waiting:
            n_rows, tables = self._waiting.pop(self._next)
            self._next += n_rows
            while len(tables[0]):
                room = self._size - self.n_rows % self._size
                self._ready.append([table[:room] for table in tables])
                self.n_rows += len(self._ready[-1][0])
                tables = [table[room:] for table in tables]
                if self.n_rows % self._size == 0:
                    yield self.n_rows // self._size - 1, self._ready
                    self._ready = []

    def _put(self, number: int, blocks: Sequence[Sequence[Float64]]) -> None:
        for system, parts in enumerate(zip(*blocks, strict=True)):
            self._write(system, number, np.ascontiguousarray(parts[0]) if len(parts) == 1 else np.concatenate(parts))


def _join(weights: Float64, values: Float64, shares: Float64) -> Float64:
    """Return rows [n_rows, n_columns] of weights [n_rows] or none, and of values and shares [n_rows, n, 2]."""
    parts = [each.reshape(len(each), -1) for each in (weights, values, shares) if each.size]
    return np.concatenate(parts, axis=1) if parts else np.empty((len(values), 0))
