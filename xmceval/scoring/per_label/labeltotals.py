"""Label totals: what each label was in some rows: true, predicted, and both.

They cost memory in labels, not in rows: four bytes for each label and count. Labels are counted in an array up to 2^27,
of which only the pages that are touched exist; above, by sorted unique ids. Totals of a long array that is mostly zeros
are by ids too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.kernels.metrics.labelwise import FIRST_SPAN, TRUE
from xmceval.labels.counts import DENSE_IDS
from xmceval.labels.growing import sum_by_id
from xmceval.rows.block import Int64

CHUNK = 1 << 20
COMPACT_ABOVE = 1 << 22  # labels; arrays beyond it that are mostly zeros are kept by ids
COMPACT_SHARE = 8  # an array is mostly zeros where fewer than one label in so many has a count
MOST_ROWS = (1 << 31) - 1  # of 32-bit counters

Counts = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class LabelTotals:
    """Counts by label of some rows.

    Attributes
    ----------
    dense : int array [n, n_slots]
        Counts of labels 0..n-1: true, then for each span of ranks predicted and hit, and where they are counted the
        rows in whose ideal ranking the label is.
    ids, sparse : int64 arrays [m], [m, n_slots]
        Further labels, ascending from n or above, and their counts; labels that are in neither have none.
    rows : int
        The rows, without those that are left out.
    bits : int
        Counts are multiples of 2^-bits: 0 without sample weights.
    """

    dense: Counts
    ids: Int64
    sparse: Int64
    rows: int = 0
    bits: int = 0

    def column(self, slot: int | slice) -> Int64:
        """Return one slot of every label, or the sum of several, in the order of the labels."""
        columns = slice(slot, slot + 1) if isinstance(slot, int) else slot
        parts = [part[:, columns].sum(axis=1, dtype=np.int64) for part in (self.dense, self.sparse)]
        return np.concatenate(parts)

    @property
    def labels(self) -> Int64:
        """The labels of the columns."""
        return np.concatenate([np.arange(len(self.dense), dtype=np.int64), self.ids])

    @property
    def true(self) -> Int64:
        """The rows in which each label is true."""
        return self.column(TRUE)

    def hits(self, span: int) -> Int64:
        """Return the rows that predict each label down to the end of a span of ranks, and in which it is true."""
        return self.column(slice(FIRST_SPAN + 1, FIRST_SPAN + 2 * span + 2, 2))

    def at(self, labels: Int64) -> Int64:
        """Return all counts of some labels [n, n_slots]; those without any have zeros."""
        counts = np.zeros((labels.size, self.dense.shape[1]), dtype=np.int64)
        low = labels < len(self.dense)
        counts[low] = self.dense[labels[low]]
        if self.ids.size:
            places = np.minimum(np.searchsorted(self.ids, labels), self.ids.size - 1)
            found = self.ids[places] == labels
            counts[found] = self.sparse[places[found]]
        return counts

    def where(self, kept: NDArray[np.bool_]) -> LabelTotals:
        """Return the counts of some labels only."""
        low, high = kept[: len(self.dense)], kept[len(self.dense) :]
        ids = np.concatenate([np.flatnonzero(low), self.ids[high]])
        counts = np.concatenate([self.dense[low].astype(np.int64), self.sparse[high]])
        return LabelTotals(self.dense[:0], ids, counts, self.rows, self.bits)

    def compact(self, *, always: bool = False) -> LabelTotals:
        """Return the same counts by ids alone, where the array is long and mostly zeros."""
        n_labels = len(self.dense)
        if n_labels <= COMPACT_ABOVE and not always:
            return self
        used = np.concatenate([np.empty(0, dtype=np.int64), *map(self._used, range(0, n_labels, CHUNK))])
        if used.size * COMPACT_SHARE >= n_labels and not always:
            return self
        counts = np.concatenate([self.dense[used].astype(np.int64), self.sparse])
        return LabelTotals(self.dense[:0].copy(), np.concatenate([used, self.ids]), counts, self.rows, self.bits)

    def spread(self) -> LabelTotals:
        """Return the same counts in an array, where there are none but by ids and these fill enough of it."""
        n_low = int(np.searchsorted(self.ids, DENSE_IDS))
        n_labels = int(self.ids[n_low - 1]) + 1 if n_low else 0
        if len(self.dense) or n_low * COMPACT_SHARE < n_labels:
            return self
        is_wide = self.bits > 0 or self.rows > MOST_ROWS
        dense: Counts = np.zeros((n_labels, self.sparse.shape[1]), dtype=np.int64 if is_wide else np.int32)
        dense[self.ids[:n_low]] = self.sparse[:n_low]
        return LabelTotals(dense, self.ids[n_low:], self.sparse[n_low:], self.rows, self.bits)

    def _used(self, start: int) -> Int64:
        """Return the labels of a chunk of the array that have a count."""
        chunk = self.dense[start : start + CHUNK]
        return start + np.unique(np.flatnonzero(chunk.reshape(-1)) // chunk.shape[1])


def n_slots(n_spans: int, *, in_ideal: bool = False) -> int:
    """Return how many counts a label has."""
    return FIRST_SPAN + 2 * n_spans + (n_spans if in_ideal else 0)


def merge(left: LabelTotals, right: LabelTotals) -> LabelTotals:
    """Add two totals with the same slots; associative, and commutative."""
    if left.bits != right.bits:
        raise DataError("totals with and without sample weights cannot be added")
    first_id = min((int(each.ids[0]) for each in (left, right) if each.ids.size), default=DENSE_IDS)
    # A label may be in the array of one and in the ids of the other.
    if first_id < max(len(left.dense), len(right.dense)):
        left, right = left.compact(always=True), right.compact(always=True)
    short, long = sorted((left.dense, right.dense), key=len)
    dense: Counts = long.astype(np.int64)
    dense[: len(short)] += short
    if not left.bits and dense.max(initial=0) <= MOST_ROWS:
        dense = dense.astype(np.int32)
    ids, sparse = sum_by_id(np.concatenate([left.ids, right.ids]), np.concatenate([left.sparse, right.sparse]))
    return LabelTotals(dense, ids, sparse, left.rows + right.rows, left.bits)
