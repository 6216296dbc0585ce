"""Growing counts: counts by id to which more are added, sorted and added up as they double."""

from __future__ import annotations

from typing import Any

import numpy as np

from xmceval.rows.block import Int64

MERGE_ABOVE = 1 << 17  # ids


class GrowingCounts:
    """Counts [n, n_slots] under ascending ids [n], to which more are added under ids in any order.

    Those that were added wait until there are as many of them as of the others, so that each is sorted a few times,
    however often counts are added.
    """

    def __init__(self, ids: Int64, counts: Int64) -> None:
        self._sorted = ids, counts
        self._waiting: list[tuple[Int64, Int64]] = []
        self._n_waiting = 0

    def add(self, ids: Int64, counts: Int64) -> None:
        """Add counts; the arrays are kept."""
        if ids.size:
            self._waiting.append((ids, counts))
            self._n_waiting += ids.size
        if self._n_waiting > max(self._sorted[0].size, MERGE_ABOVE):
            self.columns()

    def columns(self) -> tuple[Int64, Int64]:
        """Return all ids, ascending, and their counts."""
        if self._waiting:
            ids, counts = zip(self._sorted, *self._waiting, strict=True)
            self._sorted = sum_by_id(np.concatenate(ids), np.concatenate(counts))
            self._waiting, self._n_waiting = [], 0
        return self._sorted

    def merge(self, other: GrowingCounts) -> GrowingCounts:
        """Return the sums of both."""
        first, second = (self, other) if self.columns()[0].size else (other, self)
        both = GrowingCounts(*first.columns())
        both.add(*second.columns())
        return both


def no_counts(n_slots: int) -> GrowingCounts:
    """Return counts of nothing."""
    return GrowingCounts(np.zeros(0, dtype=np.int64), np.zeros((0, n_slots), dtype=np.int64))


def sum_by_id(ids: Any, counts: Int64) -> tuple[Any, Int64]:
    """Add up the counts [n, ...] of each id; return the ids, ascending, and the sums."""
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])[: ids.size])
    return ids[starts], np.add.reduceat(counts[order], starts, axis=0) if starts.size else counts
