"""Label-wise counts: empty, merge and add of what each label was: true, predicted, and both.

They cost memory in labels, not in rows: four bytes for each label and count, one set for all threads. Labels are
counted in an array up to 2^27, of which only the pages that are touched exist; above, by sorted unique ids. Totals of
a long array that is mostly zeros are by ids too.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.labels.counts import DENSE_IDS
from xmceval.labels.propensity import Propensities
from xmceval.rows.block import Float64, Int64, Rows
from xmceval.rows.width import UNKNOWN

FIRST_ROOM = 1 << 16

CHUNK = 1 << 20

COMPACT_ABOVE = 1 << 22  # labels; arrays beyond it that are mostly zeros are kept by ids

COMPACT_SHARE = 8  # an array is mostly zeros where fewer than one label in so many has a count

MOST_ROWS = (1 << 31) - 1  # of 32-bit counters

# Sample weights, of which the largest lies in [1, 2), are counted in units of 2^-40: exact for sums below 2^22.
WEIGHT_BITS = 40

MOST_WEIGHT = 1 << 22

# Slots of a label, as in kernels/labels.py: rows in which it is true, then for each span of ranks predicted and hit.
TRUE, FIRST_SPAN = 0, 1

Counts = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class LabelTotals:
    """Counts by label of some rows.

    Attributes
    ----------
    dense : int array [n, n_slots]
        Counts of labels 0..n-1: true, then for each span of ranks predicted, hit, and with ``reach`` in an ideal
        ranking.
    ids, sparse : int64 arrays [m], [m, n_slots]
        Further labels, ascending from n or above, and their counts; labels that are in neither have none.
    rows : int
        The rows, those left out not counted.
    bits : int
        Counts are multiples of 2^-bits: 0 without sample weights.
    """

    dense: Counts
    ids: Int64
    sparse: Int64
    rows: int = 0
    bits: int = 0

    def column(self, slot: int | slice) -> Int64:
        """Return one slot of every label, or the sum of some, in the order of the labels."""
        columns = slice(slot, slot + 1) if isinstance(slot, int) else slot
        parts = [part[:, columns].sum(axis=1, dtype=np.int64) for part in (self.dense, self.sparse)]
        return np.concatenate(parts)

    @property
    def labels(self) -> Int64:
        """The labels that the columns are of."""
        return np.concatenate([np.arange(len(self.dense), dtype=np.int64), self.ids])

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

    def _used(self, start: int) -> Int64:
        """Return the labels of a chunk of the array that have a count."""
        chunk = self.dense[start : start + CHUNK]
        return start + np.unique(np.flatnonzero(chunk.reshape(-1)) // chunk.shape[1])


def n_slots(n_spans: int, reach: bool = False) -> int:
    """How many counts a label has."""
    return FIRST_SPAN + 2 * n_spans + (n_spans if reach else 0)


def empty(n_spans: int, *, reach: bool = False, bits: int = 0) -> LabelTotals:
    """Totals of no rows."""
    slots, dtype = n_slots(n_spans, reach), np.dtype(np.int64 if bits else np.int32)
    return LabelTotals(
        np.zeros((0, slots), dtype=dtype), np.zeros(0, dtype=np.int64), np.zeros((0, slots), dtype=np.int64), 0, bits
    )


def merge(left: LabelTotals, right: LabelTotals) -> LabelTotals:
    """Add two totals with the same slots; associative, and commutative."""
    if left.bits != right.bits:
        raise DataError("totals with and without sample weights cannot be added")
    first_id = min((int(each.ids[0]) for each in (left, right) if each.ids.size), default=DENSE_IDS)
    # A label may stand in the array of one and by its id in the other.
    if first_id < max(len(left.dense), len(right.dense)):
        left, right = left.compact(always=True), right.compact(always=True)
    short, long = sorted((left.dense, right.dense), key=len)
    dense: Counts = long.astype(np.int64)
    dense[: len(short)] += short
    if not left.bits and dense.max(initial=0) <= MOST_ROWS:
        dense = dense.astype(np.int32)
    ids, sparse = _add_ids(left.ids, left.sparse, right.ids, right.sparse)
    return LabelTotals(dense, ids, sparse, left.rows + right.rows, left.bits)


def _add_ids(ids: Int64, counts: Int64, more_ids: Int64, more_counts: Int64) -> tuple[Int64, Int64]:
    """Add counts under ids; ids may stand several times in `more_ids`."""
    every, where = np.unique(np.concatenate([ids, more_ids]), return_inverse=True)
    total = np.zeros((every.size, counts.shape[1]), dtype=np.int64)
    np.add.at(total, where[: ids.size], counts)
    np.add.at(total, where[ids.size :], more_counts)
    return every, total


class LabelCounters:
    """The counters that all threads share; `totals` are what they come to."""

    def __init__(self, n_labels: int, n_spans: int, *, reach: bool = False, weighted: bool = False) -> None:
        self._lock, self._n_spans, self._reach = threading.Lock(), n_spans, reach
        self._bits = WEIGHT_BITS if weighted else 0
        self._slots = n_slots(n_spans, reach)
        room = FIRST_ROOM if n_labels == UNKNOWN else n_labels
        self._dense: Counts = np.zeros((min(room, DENSE_IDS), self._slots), dtype=np.int64 if weighted else np.int32)
        self._ids = np.zeros(0, dtype=np.int64)
        self._sparse = np.zeros((0, self._slots), dtype=np.int64)
        self._n_labels = self._rows = 0

    def units(self, weights: Float64 | None) -> Int64:
        """Return what each row counts, in units of the counters; nothing where all count 1."""
        if weights is None:
            return np.empty(0, dtype=np.int64)
        return np.rint(np.ldexp(weights, WEIGHT_BITS)).astype(np.int64)

    def add_ranked(
        self, true: Rows, ranked: Int64, n_ranked: Int64, cutoffs: Int64,
        weights: Float64 | None = None, drop_empty: bool = False, reach: Propensities | None = None,
    ) -> None:  # fmt: skip
        """Count some rows and their rankings, best label first, down to each cut."""
        from xmceval.kernels.labelwise import count_ranked

        units = self.units(weights)
        used = true.indices[: true.indptr[-1]]
        valid = np.arange(ranked.shape[1]) < np.minimum(n_ranked, cutoffs[-1])[:, None]
        largest = max(int(used.max(initial=-1)), int(ranked.max(initial=-1, where=valid)))
        with self._lock:
            self._make_room(largest, true, units, drop_empty)
            count_ranked(true.indptr, true.indices, ranked, n_ranked, cutoffs, units, drop_empty, self._dense)
            if self._n_labels > DENSE_IDS:
                rows, places = np.nonzero(valid)
                spans = np.searchsorted(cutoffs, places, side="right")
                self._add_high(true, rows, ranked[rows, places], spans, units, drop_empty)
            if self._reach and reach is not None:
                self._add_reach(true, cutoffs, reach)

    def add_decisions(
        self,
        true: Rows,
        given: Rows,
        threshold: float,
        weights: Float64 | None = None,
        drop_empty: bool = False,
    ) -> None:
        """Count some rows and the labels whose score reaches the threshold."""
        from xmceval.kernels.labelwise import count_decisions

        units = self.units(weights)
        found = np.empty((true.indptr.size - 1, 2), dtype=np.int64)
        stored = slice(0, int(given.indptr[-1]))
        decided, used = given.indices[stored], true.indices[: true.indptr[-1]]
        largest = max(int(used.max(initial=-1)), int(decided.max(initial=-1)))
        with self._lock:
            self._make_room(largest, true, units, drop_empty)
            count_decisions(*true[:2], *given, threshold, units, drop_empty, found, self._dense)
            if self._n_labels > DENSE_IDS:
                kept = given.values[stored] >= threshold
                rows = np.repeat(np.arange(len(found)), np.diff(given.indptr))[kept]
                self._add_high(true, rows, decided[kept], np.zeros(rows.size, dtype=np.int64), units, drop_empty)

    def _make_room(self, largest: int, true: Rows, units: Int64, drop_empty: bool) -> None:
        """Grow to the largest label, and to 64 bits where there are as many rows."""
        kept = np.diff(true.indptr) > 0 if drop_empty else np.ones(true.indptr.size - 1, dtype=np.bool_)
        self._rows += int(units[kept].sum()) if units.size else int(np.count_nonzero(kept))
        self._n_labels = max(self._n_labels, largest + 1)
        if len(self._dense) < min(self._n_labels, DENSE_IDS):
            wider = np.zeros((min(2 * self._n_labels, DENSE_IDS), self._slots), dtype=self._dense.dtype)
            wider[: len(self._dense)] = self._dense
            self._dense = wider
        if self._rows > MOST_ROWS and self._dense.dtype == np.int32:
            self._dense = self._dense.astype(np.int64)
        if self._bits and self._rows >> self._bits >= MOST_WEIGHT:
            raise DataError(
                f"the sample weights sum to more than {MOST_WEIGHT / 2:,.0f} times the largest of them: "
                "label-wise metrics count them exactly up to there"
            )

    def _add_high(self, true: Rows, rows: Int64, labels: Int64, spans: Int64, units: Int64, drop_empty: bool) -> None:
        """Count labels from 2^27 on: `labels` predicted in `rows`, and those of the truth."""
        true_labels = true.indices[: true.indptr[-1]]
        true_rows = np.repeat(np.arange(true.indptr.size - 1), np.diff(true.indptr))
        high = true_labels >= DENSE_IDS
        true_labels, true_rows = true_labels[high], true_rows[high]
        high = labels >= DENSE_IDS
        if drop_empty:
            high &= np.diff(true.indptr)[rows] > 0
        labels, rows, spans = labels[high], rows[high], spans[high]
        names, codes = np.unique(np.concatenate([true_labels, labels]), return_inverse=True)
        keys = np.concatenate([true_rows, rows]) * names.size + codes
        hits = np.isin(keys[true_rows.size :], keys[: true_rows.size])
        counts = np.zeros((names.size, self._slots), dtype=np.int64)

        def count(where: Int64, slots: Any, of: Int64) -> None:
            np.add.at(counts, (where, slots), units[of] if units.size else 1)

        count(codes[: true_rows.size], TRUE, true_rows)
        predicted = codes[true_rows.size :]
        count(predicted, FIRST_SPAN + 2 * spans, rows)
        count(predicted[hits], FIRST_SPAN + 2 * spans[hits] + 1, rows[hits])
        self._ids, self._sparse = _add_ids(self._ids, self._sparse, names, counts)

    def _add_reach(self, true: Rows, cutoffs: Int64, propensities: Propensities) -> None:
        """Count where each true label stands in the ideal ranking: largest inverse propensity, then lowest label."""
        labels = true.indices[: true.indptr[-1]]
        rows = np.repeat(np.arange(true.indptr.size - 1), np.diff(true.indptr))
        order = np.lexsort((labels, propensities.codes_of(labels), rows))
        places = np.arange(labels.size) - true.indptr[rows]
        spans = np.searchsorted(cutoffs, places, side="right")
        kept = spans < cutoffs.size
        labels, slots = labels[order][kept], FIRST_SPAN + 2 * self._n_spans + spans[kept]
        low = labels < DENSE_IDS
        np.add.at(self._dense, (labels[low], slots[low]), 1)
        if not low.all():
            counts = np.zeros((int(np.count_nonzero(~low)), self._slots), dtype=np.int64)
            counts[np.arange(len(counts)), slots[~low]] = 1
            self._ids, self._sparse = _add_ids(self._ids, self._sparse, labels[~low], counts)

    def totals(self) -> LabelTotals:
        """Return the counts of all rows so far; the counters must not be used afterwards."""
        totals = LabelTotals(self._dense[: self._n_labels], self._ids, self._sparse, self._rows, self._bits)
        return totals.compact()
