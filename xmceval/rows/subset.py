"""Leave all labels but some out of rows, as if truth and predictions had only these columns."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xmceval.rows.block import AnyArray, Int64, Rows
from xmceval.rows.filters import Largest
from xmceval.rows.width import Width

LONGEST_TABLE = 1 << 27  # labels; a table of more would take too much memory


@dataclass(frozen=True, eq=False)
class LabelSubset:
    """The labels that count; metrics see them as 0, 1, ... in this order, which keeps the order of tied labels."""

    ids: Int64  # int64 [n]; ascending
    source: str  # their origin, for messages
    last: Largest

    @property
    def width(self) -> Width:
        """Their number."""
        return Width(self.ids.size, f"{self.source} has")

    @property
    def digest(self) -> int:
        """A number that differs for other labels."""
        return int.from_bytes(hashlib.blake2b(self.ids.tobytes(), digest_size=8).digest())

    def check(self, width: Width) -> None:
        """Refuse a label that is out of range."""
        self.last.check_label(width, "labels are 0-based")

    @cached_property
    def _table(self) -> AnyArray:
        """The place of each label in `ids`, or -1; the last entry stands for all larger labels."""
        table = np.full(int(self.ids[-1]) + 2, -1, dtype=np.int32)
        table[self.ids] = np.arange(self.ids.size)
        return table

    def find(self, labels: Int64) -> AnyArray:
        """Return the place of each label [n] in `ids`, or -1."""
        if self.ids[-1] < LONGEST_TABLE:
            return self._table[np.minimum(labels, self._table.size - 1)]
        places = np.searchsorted(self.ids[:-1], labels)
        return np.where(self.ids[places] == labels, places, -1)

    def cut(self, rows: Rows) -> Rows:
        """Drop all other labels of valid rows in place, and number these."""
        n_entries = int(rows.indptr[-1])
        places = self.find(rows.indices[:n_entries])
        is_inside = places >= 0
        ends = np.concatenate([[0], np.cumsum(is_inside)])[rows.indptr]
        rows.indices[: ends[-1]] = places[is_inside]
        rows.values[: ends[-1]] = rows.values[:n_entries][is_inside]
        rows.indptr[:] = ends
        return Rows(*rows)
