"""Count labels over batches of rows, in one set of counters shared by all threads.

They cost memory in labels, not in rows: four bytes for each label and count. Labels up to 2^27 are counted in an array,
whose untouched pages take no memory; labels above, by sorted unique ids. Counts of a long array that is mostly zeros
are read, merged and saved by ids too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.kernels.metrics.labelwise import (
    DECISIONS,
    FIRST_SPAN,
    TRUE,
    count_decisions,
    count_decisions_wide,
    count_ranked,
    count_ranked_wide,
)
from xmceval.labels.counts import DENSE_IDS, GrowingCounts, no_counts
from xmceval.labels.propensity import Propensities
from xmceval.rows.block import Float64, Int64, Rows, read_only
from xmceval.rows.width import UNKNOWN
from xmceval.scoring.batch import Decided
from xmceval.scoring.totals import MOST_LABELS, MOST_ROWS as MOST_STORED, Part, take

Counts = NDArray[np.signedinteger[Any]]

FIRST_ROOM = 1 << 16
MOST_ROWS = (1 << 31) - 1  # of 32-bit counters

CHUNK = 1 << 20
COMPACT_ABOVE = 1 << 22  # labels; arrays beyond it that are mostly zeros are read by ids
COMPACT_SHARE = 8  # an array is mostly zeros if fewer than one label in this many has a count

# Sample weights, the largest in [1, 2), are counted in units of 2^-40, exact for sums below 2^22.
WEIGHT_BITS = 40
MOST_WEIGHT = 1 << 22

NO_IDS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class CountTable:
    """Counts by label of some rows; labels that are not in it have none."""

    ids: Int64  # int64 array [n]; the labels, ascending; empty where they are 0..n-1
    # int array [n, n_slots]; of each label: true, then for each span of ranks predicted and hit, and where they are
    # counted the rows in whose ideal ranking the label is
    counts: Counts
    rows: int = 0  # the rows, without those that are left out
    bits: int = 0  # counts are multiples of 2^-bits: 0 without sample weights

    @property
    def labels(self) -> Int64:
        """The labels of the counts, int64 [n]."""
        return self.ids if self.ids.size else np.arange(len(self.counts), dtype=np.int64)

    def where(self, kept: NDArray[np.bool_]) -> CountTable:
        """Return the counts of some labels only: those `kept`, bool [n]."""
        return CountTable(self.labels[kept], self.counts[kept], self.rows, self.bits)

    def in_turn(self, n: int) -> Iterator[tuple[Int64, Counts]]:
        """Yield labels, int64 [at most n], and their counts [at most n, n_slots], `n` at a time."""
        for start in range(0, len(self.counts), n):
            counts = self.counts[start : start + n]
            yield self.ids[start : start + n] if self.ids.size else np.arange(start, start + len(counts)), counts


class LabelCounters(Part):
    """Counts by label of the rows added so far; threads may add at the same time.

    There are `n_spans` spans of ranks in which predictions are counted. With `in_ideal` the labels of ideal rankings
    are counted too, with `weighted` rows have sample weights; `n_labels` may be UNKNOWN.
    """

    def __init__(self, n_labels: int, n_spans: int, *, in_ideal: bool = False, weighted: bool = False) -> None:
        super().__init__({})
        self._n_spans, self._in_ideal = n_spans, in_ideal
        self._bits = WEIGHT_BITS if weighted else 0
        self._slots = FIRST_SPAN + (3 if in_ideal else 2) * n_spans
        self._room = n_labels
        self._clear()

    def _clear(self) -> None:
        """Hold no counts."""
        shape = min(self._room, FIRST_ROOM, DENSE_IDS), self._slots  # more once there are rows
        self._dense: Counts = np.zeros(shape, dtype=np.int64 if self._bits else np.int32)
        self._high = no_counts(self._slots)  # of labels beyond the array
        self._n_labels = self._rows = 0  # of labels, the largest seen + 1

    def table(self) -> CountTable:
        """Return the counts of all rows so far; adding more rows changes them."""
        dense, has_ids = self._dense[: self._n_labels], self._high.columns()[0].size > 0
        if has_ids or len(dense) > COMPACT_ABOVE:
            used = self._used()
            if has_ids or used.size * COMPACT_SHARE < len(dense):
                return self._by_ids(used)
        return CountTable(NO_IDS, dense, self._rows, self._bits)

    def _by_ids(self, used: Int64) -> CountTable:
        """Return the counts of the labels of the array that have any, and of those beyond."""
        low, (ids, counts) = self._dense[used].astype(np.int64), self._high.columns()
        return CountTable(np.concatenate([used, ids]), np.concatenate([low, counts]), self._rows, self._bits)

    def _used(self) -> Int64:
        """Return the labels of the array that have a count."""
        chunks = ((start, self._dense[start : start + CHUNK]) for start in range(0, len(self._dense), CHUNK))
        used = (start + np.flatnonzero(chunk.any(axis=1)) for start, chunk in chunks)
        return np.concatenate([NO_IDS, *used])

    def begin(self) -> LabelCounters:
        """Return these: they are too large for a part of each block, so threads count in them one after the other."""
        return self

    def spare(self) -> Any:
        """Return an object that notes the rows of a batch for `adopt`; the counters are too large to be copied."""
        return NotedRows()

    def adopt(self, spare: Any) -> LabelCounters:
        """Add the rows that were noted; after an error none were added."""
        for add in spare.additions:
            add(self)
        return self

    def absorb(self, other: LabelCounters) -> None:
        """Add the counts of other rows."""
        if other is not self:  # a thread has counted in these
            with self._lock:
                self._take(other.table(), other._n_labels)

    def merge(self, other: LabelCounters) -> LabelCounters:
        """Return the counters of the rows of both; associative, and commutative."""
        both = copy(self)
        with both._lock:
            both._take(other.table(), other._n_labels)
        return both

    def arrays(self) -> dict[str, Int64]:
        """Return all numbers, as a state holds them: those of labels that have a count.

        They are int64 arrays: `ids` [n], `counts` [n, n_slots] and `rows` [1].
        """
        table = self._by_ids(self._used())
        return {"ids": table.ids, "counts": table.counts, "rows": np.array([self._rows], dtype=np.int64)}

    def fill(self, arrays: dict[str, Int64]) -> None:
        """Take the numbers of a state: the int64 arrays `ids` [n], `counts` [n, n_slots] and `rows` [1]."""
        most = MOST_WEIGHT << self._bits if self._bits else MOST_STORED
        [rows] = take(arrays, "rows", "i", (1,), 0, most).tolist()
        ids = take(arrays, "ids", "i", (-1,), 0, min(self._room, MOST_LABELS) - 1)
        counts = take(arrays, "counts", "i", (ids.size, self._slots), 0, rows)
        if (ids[1:] <= ids[:-1]).any():
            raise ValueError("ids do not ascend")
        spans = counts[:, FIRST_SPAN : FIRST_SPAN + 2 * self._n_spans]
        predicted, hits, true = spans[:, ::2], spans[:, 1::2], counts[:, TRUE]
        missed = true - hits.sum(axis=1)
        if (hits > predicted).any() or (missed < 0).any() or (predicted.sum(axis=1) > rows - missed).any():
            raise ValueError("counts has more hits than true labels or predictions, or more than its rows")
        self._clear()
        self._take(CountTable(ids, counts, rows, self._bits), int(ids[-1]) + 1 if ids.size else 0)

    def _take(self, table: CountTable, n_labels: int) -> None:
        """Add counts, in new arrays; those by ids come into the array where they fill enough of it."""
        if table.bits != self._bits:
            raise DataError("totals with and without sample weights cannot be added")
        check_weight(self._rows + table.rows, self._bits)
        self._rows, self._n_labels = self._rows + table.rows, max(self._n_labels, n_labels)
        if table.ids.size:
            self._high = self._high.merge(GrowingCounts(table.ids, table.counts))
            ids = self._high.columns()[0]
            n_low = int(np.searchsorted(ids, DENSE_IDS))
            n_dense = int(ids[n_low - 1]) + 1 if n_low else 0
            self._widen(n_dense if n_low * COMPACT_SHARE >= n_dense else 0)
        else:
            self._widen(len(table.counts))
            self._dense[: len(table.counts)] += table.counts.astype(self._dense.dtype, copy=False)

    def add_ranked(
        self, truth: Rows, ranked: Int64, n_ranked: Int64, cutoffs: Int64, weights: Float64,
        drop_empty: bool = False, propensities: Propensities | None = None,
    ) -> None:  # fmt: skip
        """Count some rows and their rankings, best label first, down to each cutoff; `weights` is empty or per row."""
        units, used = self._units(weights), truth.indices[: truth.indptr[-1]]
        valid = np.arange(ranked.shape[1]) < np.minimum(n_ranked, cutoffs[-1])[:, None]
        largest = max(int(used.max(initial=-1)), int(ranked.max(initial=-1, where=valid)))
        codes = propensities.codes_of(used) if self._in_ideal and propensities is not None else None

        def count(true: Int64, labels: Int64, counters: Counts) -> None:
            kernel = count_ranked if counters.dtype == np.int32 else count_ranked_wide
            kernel(truth.indptr, true, labels, n_ranked, read_only(cutoffs), units, drop_empty, counters)
            if codes is not None:
                self._count_ideal(truth.indptr, true[: codes.size], codes, cutoffs, counters)

        with self._lock:
            self._make_room(largest, truth, units, drop_empty)
            if largest < len(self._dense):
                count(truth.indices, ranked, self._dense)
            else:
                with self._counters_of(used, ranked.ravel()[valid.ravel()]) as (ids, counters):
                    count(np.searchsorted(ids, truth.indices), np.searchsorted(ids, ranked), counters)

    def add_decisions(self, truth: Rows, decided: Decided, weights: Float64, drop_empty: bool = False) -> None:
        """Count some rows and the labels that are decided on; `weights` is empty or float64 [n_rows]."""
        units, used = self._units(weights), truth.indices[: truth.indptr[-1]]
        largest = max(int(used.max(initial=-1)), decided.largest)

        def count(true: Int64, decisions: Int64, counters: Counts) -> None:
            kernel = count_decisions if counters.dtype == np.int32 else count_decisions_wide
            kernel(truth.indptr, true, decided.counts, decisions, units, drop_empty, counters)

        with self._lock:
            self._make_room(largest, truth, units, drop_empty)
            if largest < len(self._dense):
                count(truth.indices, decided.labels, self._dense)
            else:
                decisions = decided.labels[: int(decided.counts[:, DECISIONS].sum())]
                with self._counters_of(used, decisions >> 1) as (ids, counters):
                    coded = 2 * np.searchsorted(ids, decisions >> 1) + (decisions & 1)
                    count(np.searchsorted(ids, truth.indices), coded, counters)

    @contextmanager
    def _counters_of(self, true: Int64, labels: Int64) -> Iterator[tuple[Int64, Counts]]:
        """Yield the labels of some rows, ascending, and counters for their places among these, which are then added.

        Counts go to the array as far as it goes, the others to those beyond.
        """
        ids = np.unique(np.concatenate([true, labels]))
        counts = np.zeros((ids.size, self._slots), dtype=np.int64)
        yield ids, counts
        used = counts.any(axis=1)
        ids, counts = ids[used], counts[used]
        n_low = int(np.searchsorted(ids, len(self._dense)))
        self._dense[ids[:n_low]] += counts[:n_low].astype(self._dense.dtype)
        self._high.add(ids[n_low:], counts[n_low:])

    def _count_ideal(self, indptr: Int64, true: Int64, codes: Int64, cutoffs: Int64, counters: Counts) -> None:
        """Count the labels of ideal rankings: the largest inverse propensity first, then the lowest label."""
        rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        order = np.lexsort((true, codes, rows))
        spans = np.searchsorted(cutoffs, np.arange(true.size) - indptr[rows], side="right")
        kept = spans < cutoffs.size
        np.add.at(counters, (true[order][kept], FIRST_SPAN + 2 * self._n_spans + spans[kept]), 1)

    def _units(self, weights: Float64) -> Int64:
        """Return the weight of each row in units of the counters; empty if all count 1."""
        if not self._bits:
            return NO_IDS
        return np.rint(np.ldexp(weights, WEIGHT_BITS)).astype(np.int64)

    def _make_room(self, largest: int, truth: Rows, units: Int64, drop_empty: bool) -> None:
        """Grow to the largest label, and to 64 bits where there are as many rows."""
        kept = np.diff(truth.indptr) > 0 if drop_empty else np.ones(truth.indptr.size - 1, dtype=np.bool_)
        rows = self._rows + (int(units[kept].sum()) if self._bits else int(np.count_nonzero(kept)))
        check_weight(rows, self._bits)
        self._rows = rows
        self._n_labels = max(self._n_labels, largest + 1)
        if len(self._dense) < min(self._n_labels, DENSE_IDS):
            self._widen(min(max(2 * self._n_labels, FIRST_ROOM) if self._room == UNKNOWN else self._room, DENSE_IDS))
        elif self._rows > MOST_ROWS and self._dense.dtype == np.int32:
            self._widen(0)

    def _widen(self, n_labels: int) -> None:
        """Make the array as long as there are labels, if it is shorter, and as wide as its counts may be.

        Counts by ids that have their place there now are moved into it.
        """
        is_wide = self._bits > 0 or self._rows > MOST_ROWS
        shape = max(n_labels, len(self._dense)), self._slots
        wider: Counts = np.zeros(shape, dtype=np.int64 if is_wide else np.int32)
        wider[: len(self._dense)] = self._dense
        ids, counts = self._high.columns()
        n_low = int(np.searchsorted(ids, len(wider)))
        wider[ids[:n_low]] += counts[:n_low].astype(wider.dtype)
        self._dense, self._high = wider, GrowingCounts(ids[n_low:], counts[n_low:])


def check_weight(rows: int, bits: int) -> None:
    """Refuse rows of more weight than is counted exactly, in units of 2^-bits; without weights bits are 0."""
    if bits and rows >> bits >= MOST_WEIGHT:
        raise DataError(
            f"the sample weights sum to more than {MOST_WEIGHT / 2:,.0f} times the largest of them: "
            "label-wise metrics count them exactly up to there"
        )


class NotedRows:
    """Rows of a batch that counters add once all of it was found to be right; their arrays are valid until then."""

    def __init__(self) -> None:
        self.additions: list[Callable[[LabelCounters], None]] = []

    def add_ranked(self, *arguments: Any) -> None:
        """Note rows and their rankings."""
        self.additions.append(lambda counters: counters.add_ranked(*arguments))

    def add_decisions(self, *arguments: Any) -> None:
        """Note rows and the labels that are decided on."""
        self.additions.append(lambda counters: counters.add_decisions(*arguments))

    def absorb(self, other: LabelCounters) -> None:
        """Note the counts of rows of several blocks."""
        self.additions.append(lambda counters: counters.absorb(other))
