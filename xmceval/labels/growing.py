"""Growing tables: columns to which rows are added, brought into their form as they double."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.rows.block import Int64

Columns = tuple[Any, ...]  # arrays, of which the first says how many rows there are

MERGE_ABOVE = 1 << 17  # ids


class GrowingTable:
    """Columns to which more rows are added.

    Those that were added wait until there are as many of them as of the others, so that each is brought into its form
    a few times, however often rows are added.

    Parameters
    ----------
    form : callable
        From columns to columns in their form, such as sorted by id, with what has the same id added up; of columns in
        their form and further rows it makes the same as of all rows.
    columns : tuple of array
        In their form.
    most_waiting : int
        So many rows always may wait.
    """

    def __init__(self, form: Callable[..., Columns], columns: Columns, most_waiting: int) -> None:
        self._form, self.formed, self._most_waiting = form, columns, most_waiting
        self._waiting: list[Columns] = []
        self._n_waiting = 0

    def add(self, *columns: NDArray[Any]) -> None:
        """Add rows; the arrays are kept."""
        if len(columns[0]):
            self._waiting.append(columns)
            self._n_waiting += len(columns[0])
        if self._n_waiting > max(len(self.formed[0]), self._most_waiting):
            self.columns()

    @property
    def n_rows(self) -> int:
        """The number of rows before those that wait are brought into the form."""
        return len(self.formed[0]) + self._n_waiting

    def columns(self) -> Columns:
        """Return the columns of all rows."""
        if self._waiting:
            all_columns = zip(self.formed, *self._waiting, strict=True)
            self.formed = self._form(*map(np.concatenate, all_columns))
            self._waiting, self._n_waiting = [], 0
        return self.formed

    def merge(self, other: GrowingTable) -> GrowingTable:
        """Return the table of the rows of both."""
        first, second = (self, other) if len(self.columns()[0]) else (other, self)
        both = GrowingTable(self._form, first.columns(), self._most_waiting)
        both.add(*second.columns())
        return both


def counts_by_id(ids: Int64, counts: Int64) -> GrowingTable:
    """Return counts [n, n_slots] under ascending ids [n], to which more are added under ids in any order."""
    return GrowingTable(sum_by_id, (ids, counts), MERGE_ABOVE)


def no_counts(n_slots: int) -> GrowingTable:
    """Return counts of nothing."""
    return counts_by_id(np.zeros(0, dtype=np.int64), np.zeros((0, n_slots), dtype=np.int64))


def sum_by_id(ids: Any, counts: Int64) -> tuple[Any, Int64]:
    """Add up the counts [n, ...] of each id; return the ids, ascending, and the sums."""
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])[: ids.size])
    return ids[starts], np.add.reduceat(counts[order], starts, axis=0) if starts.size else counts
