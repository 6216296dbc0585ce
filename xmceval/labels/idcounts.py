"""Counts under ids that are too large for an array: sorted, and merged as they double."""

from __future__ import annotations

import numpy as np

from xmceval.rows.block import Int64

MERGE_ABOVE = 1 << 17  # ids


class IdCounts:
    """Counts under ids, to which more are added.

    Those that were added are merged into the sorted ones when there are as many of them, so that each is sorted a few
    times, however often counts are added.

    Parameters
    ----------
    ids : int64 array [n]
        Ascending.
    counts : int64 array [n, n_slots]
    """

    def __init__(self, ids: Int64, counts: Int64) -> None:
        self._ids, self._counts = ids, counts
        self._waiting: list[tuple[Int64, Int64]] = []
        self._n_waiting = 0

    @classmethod
    def empty(cls, n_slots: int) -> IdCounts:
        """Return counts of nothing."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros((0, n_slots), dtype=np.int64))

    def add(self, ids: Int64, counts: Int64) -> None:
        """Add counts [n, n_slots] under ids [n] in any order; the arrays are kept."""
        self._waiting.append((ids, counts))
        self._n_waiting += ids.size
        if self._n_waiting > max(self._ids.size, MERGE_ABOVE):
            self._merge()

    def table(self) -> tuple[Int64, Int64]:
        """Return the ids, ascending, and their counts [n, n_slots]."""
        self._merge()
        return self._ids, self._counts

    def _merge(self) -> None:
        if self._waiting:
            ids, counts = zip((self._ids, self._counts), *self._waiting, strict=True)
            self._ids, self._counts = sum_by_id(np.concatenate(ids), np.concatenate(counts))
            self._waiting, self._n_waiting = [], 0


def sum_by_id(ids: Int64, counts: Int64) -> tuple[Int64, Int64]:
    """Add up the counts [n, n_slots] of each id; return the ids, ascending, and the sums."""
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    starts = np.flatnonzero(np.diff(ids, prepend=ids[:1] - 1))
    return ids[starts], np.add.reduceat(counts[order], starts, axis=0) if starts.size else counts
