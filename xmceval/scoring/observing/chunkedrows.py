"""Chunked rows: the values of rows, handed on in chunks of so many rows, system by system."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

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
        self._waiting: dict[int, tuple[int, _Parts]] = {}
        self._next = self.n_rows = 0  # row of the truth, row with values
        self._ready: list[_Parts] = []  # of the next chunk
        self.digest = TruthDigest()

    def add(self, block: BlockValues) -> None:
        """Take the values of a block."""
        kept = np.arange(block.n_rows) if block.kept is None else block.kept
        digest = digest_rows((block.first_row + kept).astype(np.int64), block.truth)
        parts = _Parts(block.weights, block.values, block.shares)
        with self._lock:
            self.digest.add(kept.size, digest)
            self._waiting[block.first_row] = block.n_rows, parts
            chunks = list(self._take_chunks())
        for chunk in chunks:
            self._put(*chunk)

    def finish(self) -> None:
        """Write the last chunk."""
        if self._ready:
            self._put(self.n_rows // self._size, self._ready)

    def _take_chunks(self) -> Iterator[tuple[int, list[_Parts]]]:
        """Yield the chunks that are complete: their number, and what they consist of."""
        while self._next in self._waiting:
            n_rows, parts = self._waiting.pop(self._next)
            self._next += n_rows
            start, stop = 0, len(parts.values[0])
            while start < stop:
                end = min(start + self._size - self.n_rows % self._size, stop)
                self._ready.append(parts.rows(start, end))
                self.n_rows += end - start
                start = end
                if self.n_rows % self._size == 0:
                    yield self.n_rows // self._size - 1, self._ready
                    self._ready = []

    def _put(self, number: int, chunk: Sequence[_Parts]) -> None:
        for system in range(len(chunk[0].values)):
            blocks = [parts.columns(system) for parts in chunk]
            ends = np.cumsum([len(each[0]) for each in blocks])
            table = np.empty((ends[-1], sum(each.shape[1] for each in blocks[0])))
            for end, columns in zip(ends, blocks, strict=True):
                np.concatenate(columns, axis=1, out=table[end - len(columns[0]) : end])
            self._write(system, number, table)


class _Parts(NamedTuple):
    """Some rows: weights [n_rows] or none, and by system values and shares [n_rows, n, 2]; there may be no shares."""

    weights: Float64
    values: Sequence[Float64]
    shares: Sequence[Float64]

    def rows(self, start: int, stop: int) -> _Parts:
        """Return some of the rows."""
        values, shares = ([of_system[start:stop] for of_system in each] for each in (self.values, self.shares))
        return _Parts(self.weights[start:stop], values, shares)

    def columns(self, system: int) -> list[Float64]:
        """Return the numbers of a system, each [n_rows, n]."""
        of_system = [self.weights, *(each[system] for each in (self.values, self.shares) if each)]
        return [each.reshape(len(each), -1) for each in of_system if each.size]
