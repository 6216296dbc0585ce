"""Count labels over batches of rows, in one set of counters shared by all threads.

Memory grows with labels, not with rows: four bytes per label and count. Labels up to 2^27 are counted in an
array, whose untouched pages take no memory; if there are larger labels, all are counted by sorted unique ids. A
long array that is mostly zeros is also read, merged and saved by ids.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from xmceval.labels.propensity import NO_IDS, NO_PROPENSITIES, Propensities
from xmceval.rows.block import Float64, Int64, Rows
from xmceval.rows.width import UNKNOWN
from xmceval.scoring.batch import NO_PAIRS, Decided, Pairs
from xmceval.scoring.setup.setup import Setup
from xmceval.scoring.tasks.curves import WEIGHT_BITS
from xmceval.scoring.totals import MOST_LABELS, MOST_ROWS as MOST_STORED, Part, take

Counts = NDArray[np.signedinteger[Any]]

FIRST_ROOM = 1 << 16
MOST_ROWS = (1 << 31) - 1  # limit of 32-bit counters

CHUNK = 1 << 20
COMPACT_ABOVE = 1 << 22  # labels; longer arrays that are mostly zeros are read by ids
COMPACT_SHARE = 8  # an array is mostly zeros if fewer than one label in this many has a count

MOST_WEIGHT = 1 << 22  # limit for the sum of sample weights


@dataclass(frozen=True)
class CountTable:
    """Counts by label; missing labels have no counts."""

    ids: Int64  # int64 array [n]; the ascending labels; empty if they are 0..n-1
    # int array [n, n_slots]; rows per label: true, then for each span of ranks predicted and hit, and, if
    # counted, rows with the label in their ideal ranking; with a filter, last the rows that leave the label out
    counts: Counts
    rows: int = 0  # the number of rows, without dropped ones
    bits: int = 0  # counts are multiples of 2^-bits: 0 without sample weights

    @property
    def labels(self) -> Int64:
        """The labels of the counts, int64 [n]."""
        if self.ids.size:
            return self.ids
        return np.arange(len(self.counts), dtype=np.int64)

    def where(self, kept: NDArray[np.bool_]) -> CountTable:
        """Return the counts of the labels selected by `kept`, bool [n]."""
        return CountTable(self.labels[kept], self.counts[kept], self.rows, self.bits)

    def counts_of(self, labels: Int64) -> Counts:
        """Return the counts of labels, int64 [n, n_slots]; 0 for labels without any."""
        counts = np.zeros((labels.size, self.counts.shape[1]), dtype=np.int64)
        if not len(self.counts):
            return counts
        places = labels
        if self.ids.size:
            places = np.searchsorted(self.ids, labels)
        are_counted = self.labels.take(places, mode="clip") == labels
        counts[are_counted] = self.counts[places[are_counted]]
        return counts

    def in_turn(self, n: int) -> Iterator[tuple[Int64, Counts]]:
        """Yield labels, int64 [at most n], and their counts [at most n, n_slots], in chunks of `n`; at least once."""
        for start in range(0, max(len(self.counts), 1), n):
            counts = self.counts[start : start + n]
            labels = self.ids[start : start + n]
            if not self.ids.size:
                labels = np.arange(start, start + len(counts))
            yield labels, counts


class LabelRows(NamedTuple):
    """The rows of a batch as counters take them: their truth, and either their rankings or their decisions."""

    truth: Rows
    weights: Float64  # float64 array [n_rows], or empty
    drop_empty: bool = False
    left_out: Pairs = NO_PAIRS  # labels that a filter leaves out of rows
    ranked: Int64 = NO_IDS  # int64 array [n_rows, depth]; the labels by rank
    n_ranked: Int64 = NO_IDS  # int64 array [n_rows]; the number of ranks
    cutoffs: Int64 = NO_IDS
    propensities: Propensities = NO_PROPENSITIES  # which order the labels of ideal rankings
    decided: Decided | None = None

    def list_others(self) -> list[Int64]:
        """Return the labels that rankings, decisions or a filter add to the truth."""
        if self.decided is not None:
            n_decided = int(self.decided.counts[:, DECISIONS].sum())
            return [self.decided.labels[:n_decided] >> 1, self.left_out[1]]
        return [self.ranked[self._is_within_cutoffs()], self.left_out[1]]

    def find_largest(self) -> int:
        """Return the largest of these labels, or -1."""
        if self.decided is not None:
            largest = self.decided.largest
        else:
            largest = int(self.ranked.max(initial=-1, where=self._is_within_cutoffs()))
        return int(self.left_out[1].max(initial=largest))

    def _is_within_cutoffs(self) -> Any:
        return np.arange(self.ranked.shape[1]) < np.minimum(self.n_ranked, self.cutoffs[-1])[:, None]


class LabelCounters(Part):
    """Counts by label of the rows added so far; threads may add concurrently.

    Predictions are counted in `n_spans` spans of ranks. With `in_ideal` the labels of ideal rankings are also
    counted; `bits` are as in `CountTable`; with `filtered` rows may leave labels out; `n_labels` may be UNKNOWN.
    Counts are in an array of all labels, or, if a label exceeds DENSE_IDS or counts by ids were added, all by ids.
    """

    def __init__(
        self,
        n_labels: int,
        n_spans: int,
        *,
        in_ideal: bool = False,
        bits: int = 0,
        weight_unit: float = 1.0,
        filtered: bool = False,
    ) -> None:
        super().__init__()
        self._n_spans = n_spans
        self._in_ideal = in_ideal
        self._filtered = filtered
        self.bits = bits
        self.unit: float = 1  # of counts
        if bits:
            self.unit = math.ldexp(weight_unit, -bits)
        self._slots = FIRST_SPAN + (2 + in_ideal) * n_spans + filtered
        self._room = n_labels
        self.rows = 0
        self._n_labels = 0  # the largest label seen + 1
        self._dense: Counts = np.zeros((0, self._slots), dtype=np.int32)
        self._by_id = no_counts(self._slots)
        self._go_dense(min(n_labels, FIRST_ROOM, DENSE_IDS))  # grows with rows

    def table(self) -> CountTable:
        """Return the counts of all rows so far; adding more rows changes them."""
        dense = self._dense[: self._n_labels]
        is_long = len(dense) > COMPACT_ABOVE
        if self._by_id.columns()[0].size or (is_long and self._used().size * COMPACT_SHARE < len(dense)):
            return self._table_by_id()
        return CountTable(NO_IDS, dense, self.rows, self.bits)

    def _table_by_id(self) -> CountTable:
        ids, counts = self._by_id.columns()
        used = self._used()
        if used.size:
            ids = used
            counts = self._dense[used].astype(np.int64)
        return CountTable(ids, counts, self.rows, self.bits)

    def _used(self) -> Int64:
        chunks = ((start, self._dense[start : start + CHUNK]) for start in range(0, len(self._dense), CHUNK))
        return np.concatenate([NO_IDS, *(start + np.flatnonzero(chunk.any(axis=1)) for start, chunk in chunks)])

    def begin(self) -> LabelCounters:
        """Return the counters themselves: they are too large to copy per block, so threads take turns."""
        return self

    def spare(self) -> LabelCounters:
        """Return the counters themselves, which are too large to copy per batch: what is added must be valid."""
        return self

    def absorb(self, other: LabelCounters) -> None:
        """Add the counts of other rows."""
        if other is not self:  # otherwise a thread has counted in these already
            with self._lock:
                self._take(other.table(), other._n_labels)

    def merge(self, other: LabelCounters) -> LabelCounters:
        """Return the counters of both; associative and commutative."""
        both = copy(self)
        both._dense = self._dense.copy()
        both._by_id = GrowingCounts(*self._by_id.columns())
        both.absorb(other)
        return both

    def arrays(self) -> dict[str, Int64]:
        """Return the int64 arrays of a state: `ids` [n] with counts, `counts` [n, n_slots], and `rows` [1]."""
        table = self._table_by_id()
        return {"ids": table.ids, "counts": table.counts, "rows": np.array([self.rows], dtype=np.int64)}

    def fill(self, arrays: dict[str, Int64], prefix: str) -> None:
        """Take the arrays of a state, as `arrays` returns them."""
        most = MOST_STORED
        if self.bits:
            most = MOST_WEIGHT << self.bits
        [n_rows] = take(arrays, f"{prefix}.rows", "i", (1,), 0, most).tolist()
        ids = take(arrays, f"{prefix}.ids", "i", (-1,), 0, min(self._room, MOST_LABELS) - 1)
        counts = take(arrays, f"{prefix}.counts", "i", (ids.size, self._slots), 0, n_rows)
        if (ids[1:] <= ids[:-1]).any():
            raise DataError(f"{prefix}.ids do not ascend")
        spans = counts[:, FIRST_SPAN : FIRST_SPAN + 2 * self._n_spans]
        predicted = spans[:, ::2]
        hits = spans[:, 1::2]
        true = counts[:, TRUE]
        missed = true - hits.sum(axis=1)
        rows = n_rows
        if self._filtered:
            rows = n_rows - counts[:, -1]
        if (hits > predicted).any() or (missed < 0).any() or (predicted.sum(axis=1) > rows - missed).any():
            raise DataError(f"{prefix}.counts has more hits than true labels or predictions, or more than its rows")
        self._take(CountTable(ids, counts, n_rows, self.bits), int(ids.max(initial=-1)) + 1)

    def _take(self, table: CountTable, n_labels: int) -> None:
        """Add counts: from an array to the array, others by ids."""
        if table.bits != self.bits:
            raise DataError("totals with and without sample weights cannot be added")
        check_weight(self.rows + table.rows, self.bits)
        self.rows += table.rows
        self._n_labels = max(self._n_labels, n_labels)
        if table.ids.size or self._by_id.columns()[0].size:
            self._add_by_id(table.labels, table.counts)
        else:
            self._go_dense(len(table.counts))
            self._dense[: len(table.counts)] += table.counts.astype(self._dense.dtype, copy=False)

    def add(self, rows: LabelRows) -> None:
        """Count rows of a batch, in the array or by ids."""
        truth = rows.truth
        true = truth.indices[: truth.indptr[-1]]
        units = NO_IDS
        is_kept = (np.diff(truth.indptr) > 0) | (not rows.drop_empty)
        n_kept = int(np.count_nonzero(is_kept))
        if self.bits:
            units = np.rint(np.ldexp(rows.weights, self.bits)).astype(np.int64)
            n_kept = int(units[is_kept].sum())
        largest = max(int(true.max(initial=-1)), rows.find_largest())
        with self._lock:
            check_weight(self.rows + n_kept, self.bits)
            self.rows += n_kept
            self._n_labels = max(self._n_labels, largest + 1)
            if self._n_labels <= DENSE_IDS:
                room = len(self._dense)
                if self._n_labels > room:
                    room = self._room
                    if room == UNKNOWN:
                        room = max(2 * self._n_labels, FIRST_ROOM)
                self._go_dense(min(room, DENSE_IDS))
                self._count(rows, units, self._dense, None)
                return
            ids = np.unique(np.concatenate([true, *rows.list_others()]))
            counts = np.zeros((ids.size, self._slots), dtype=np.int64)
            self._count(rows, units, counts, ids)
            self._add_by_id(ids, counts)

    def _count(self, rows: LabelRows, units: Int64, counters: Counts, ids: Int64 | None) -> None:
        """Add rows to counters by label, or by position in `ids`; `units` are their weights."""

        def place(labels: Int64) -> Int64:
            if ids is None:
                return labels
            return np.searchsorted(ids, labels)

        of_decisions = count_decisions_wide
        of_ranked = count_ranked_wide
        if counters.dtype == np.int32:
            of_decisions = count_decisions
            of_ranked = count_ranked
        indptr = rows.truth.indptr
        true = place(rows.truth.indices)
        if rows.decided is not None:
            labels = rows.decided.labels
            if ids is not None:
                labels = 2 * place(labels >> 1) + (labels & 1)
            of_decisions(indptr, true, rows.decided.counts, labels, units, rows.drop_empty, counters)
        else:
            ranked = place(rows.ranked)
            of_ranked(indptr, true, ranked, rows.n_ranked, rows.cutoffs, units, rows.drop_empty, counters)
            if self._in_ideal:
                self._count_ideal(rows, true, counters)
        of_row, left_out = rows.left_out
        if left_out.size:
            weights: Any = 1
            if units.size:
                weights = units[of_row]
            np.add.at(counters[:, -1], place(left_out), weights)

    def _count_ideal(self, rows: LabelRows, true: Int64, counters: Counts) -> None:
        """Count the labels of ideal rankings, sorted by descending inverse propensity, then by label."""
        indptr = rows.truth.indptr
        codes = rows.propensities.codes_of(rows.truth.indices[: indptr[-1]])
        true = true[: codes.size]
        of_row = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        order = np.lexsort((true, codes, of_row))
        spans = np.searchsorted(rows.cutoffs, np.arange(true.size) - indptr[of_row], side="right")
        kept = spans < rows.cutoffs.size
        np.add.at(counters, (true[order][kept], FIRST_SPAN + 2 * self._n_spans + spans[kept]), 1)

    def _go_dense(self, n_labels: int) -> None:
        """Move all counts to an array that is long enough for all labels and wide enough for their counts."""
        ids, counts = self._by_id.columns()
        dtype: Any = np.int32
        if self.bits or self.rows > MOST_ROWS:
            dtype = np.int64
        if ids.size or n_labels > len(self._dense) or dtype != self._dense.dtype:
            wider: Counts = np.zeros((max(n_labels, len(self._dense)), self._slots), dtype=dtype)
            wider[: len(self._dense)] = self._dense
            wider[ids] += counts.astype(dtype)
            self._dense = wider
            self._by_id = no_counts(self._slots)

    def _add_by_id(self, ids: Int64, counts: Counts) -> None:
        """Add counts by id, with which all counts in the array are then stored."""
        has_any = counts.any(axis=1)
        self._by_id.add(ids[has_any], counts[has_any].astype(np.int64))
        used = self._used()
        self._by_id.add(used, self._dense[used].astype(np.int64))
        self._dense = np.zeros((0, self._slots), dtype=self._dense.dtype)


def bits_of(setup: Setup) -> int:
    """Return the number of bits after the point in weights that are counted as whole numbers; 0 without weights."""
    if setup.weights is None:
        return 0
    return WEIGHT_BITS


def check_weight(rows: int, bits: int) -> None:
    """Refuse rows with more weight than can be counted exactly, in units of 2^-bits (0 without weights)."""
    if bits and rows >> bits >= MOST_WEIGHT:
        raise DataError(
            f"the sample weights sum to more than {MOST_WEIGHT / 2:,.0f} times the largest of them: "
            "label-wise metrics count them exactly up to there"
        )
