"""Label counters: one set for all threads, to which the rows of batches are added."""

from __future__ import annotations

from typing import Any

import numpy as np

from xmceval.errors import DataError, UsageError
from xmceval.kernels.metrics.labelwise import DECISIONS, FIRST_SPAN, TRUE, count_decisions, count_ranked
from xmceval.labels.counts import DENSE_IDS
from xmceval.labels.growing import counts_by_id, no_counts
from xmceval.labels.propensity import Propensities
from xmceval.rows.block import Float64, Int64, Rows
from xmceval.rows.width import UNKNOWN
from xmceval.scoring.decided import Decided
from xmceval.scoring.limbs import join, split
from xmceval.scoring.mergeable import Mergeable
from xmceval.scoring.per_label.labeltotals import MOST_ROWS, Counts, LabelTotals, merge, n_slots
from xmceval.scoring.states.stored import MOST_LABELS, MOST_ROWS as MOST_STORED, take

FIRST_ROOM = 1 << 16

# Sample weights, of which the largest lies in [1, 2), are counted in units of 2^-40: exact for sums below 2^22.
WEIGHT_BITS = 40
MOST_WEIGHT = 1 << 22


class LabelCounters(Mergeable):
    """Counts by label of the rows added so far; threads may add at the same time.

    Parameters
    ----------
    n_labels : int
        The number of labels, or UNKNOWN.
    n_spans : int
        Spans of ranks in which predictions are counted.
    in_ideal : bool
        Count the labels of ideal rankings too.
    weighted : bool
        Rows have sample weights.
    """

    def __init__(self, n_labels: int, n_spans: int, *, in_ideal: bool = False, weighted: bool = False) -> None:
        super().__init__()
        self._n_spans, self._in_ideal = n_spans, in_ideal
        self._bits = WEIGHT_BITS if weighted else 0
        self._slots = n_slots(n_spans, in_ideal=in_ideal)
        self._room = n_labels
        room, kind = min(n_labels, FIRST_ROOM, DENSE_IDS), np.int64 if weighted else np.int32
        self._dense: Counts = np.zeros((room, self._slots), dtype=kind)  # more once there are rows
        self._high = no_counts(self._slots)
        self._n_labels = self._rows = 0

    def totals(self) -> LabelTotals:
        """Return the counts of all rows so far; adding more rows changes them."""
        ids, counts = self._high.columns()
        return LabelTotals(self._dense[: self._n_labels], ids, counts, self._rows, self._bits).compact()

    def merge(self, other: LabelCounters) -> LabelCounters:
        """Return the counts of the rows of both."""
        merged = LabelCounters(self._room, self._n_spans, in_ideal=self._in_ideal, weighted=bool(self._bits))
        totals = merge(self.totals(), other.totals()).spread()
        merged._take(totals, max(self._n_labels, other._n_labels))
        return merged

    def arrays(self) -> dict[str, Int64]:
        """Return all numbers, as a state holds them: those of labels that have a count."""
        totals = self.totals().compact(always=True)
        return {"ids": totals.ids, "counts": totals.sparse, "rows": np.array([self._rows], dtype=np.int64)}

    def fill(self, arrays: dict[str, Int64]) -> None:
        """Take the numbers of a state."""
        most = MOST_WEIGHT << self._bits if self._bits else MOST_STORED
        [rows] = take(arrays, "rows", (1,), 0, most).tolist()
        ids = take(arrays, "ids", (-1,), 0, min(self._room, MOST_LABELS) - 1)
        counts = take(arrays, "counts", (ids.size, self._slots), 0, rows)
        if (ids[1:] <= ids[:-1]).any():
            raise ValueError("ids do not ascend")
        self._check_cells(counts, rows)
        n_labels = int(ids[-1]) + 1 if ids.size else 0
        self._take(LabelTotals(self._dense[:0], ids, counts, rows, self._bits).spread(), n_labels)

    def _check_cells(self, counts: Int64, rows: int) -> None:
        """Refuse labels with more hits than true labels or predictions, or with more rows than there are."""
        spans = counts[:, FIRST_SPAN : FIRST_SPAN + 2 * self._n_spans]
        predicted, hits, true = spans[:, ::2], spans[:, 1::2], counts[:, TRUE]
        missed = true - hits.sum(axis=1)
        if (hits > predicted).any() or (missed < 0).any() or (predicted.sum(axis=1) > rows - missed).any():
            raise ValueError("counts has more hits than true labels or predictions, or more than its rows")

    def limbs(self) -> Int64:
        """Return all numbers as limbs: one per counter, or two where rows have weights.

        Raises
        ------
        UsageError
            More labels than an array has counters for.
        """
        if self._room > DENSE_IDS:
            raise UsageError(
                f"label-wise metrics of more than {DENSE_IDS:,} labels have no state of fixed size (hint: merge "
                "evaluators instead, or save and load them)"
            )
        dense = np.zeros((self._room, self._slots), dtype=np.int64)
        dense[: min(len(self._dense), self._room)] = self._dense[: self._room]
        ids, counts = self._high.columns()
        dense[ids] = counts
        rows = np.array([self._rows], dtype=np.int64)
        return np.concatenate([split(rows), split(dense) if self._bits else dense.ravel()])

    def fill_limbs(self, limbs: Int64) -> None:
        """Take the numbers that sums of limbs stand for."""
        dense = join(limbs[2:]) if self._bits else limbs[2:]
        ids, rows = np.empty(0, dtype=np.int64), int(join(limbs[:2])[0])
        dense = dense.reshape(self._room, self._slots)
        used = np.flatnonzero(dense.any(axis=1))
        counts = LabelTotals(dense, ids, self._high.columns()[1], rows, self._bits)
        self._take(counts, int(used[-1]) + 1 if used.size else 0)

    def _take(self, totals: LabelTotals, n_labels: int) -> None:
        """Take counts, by label in an array or by id as they are."""
        self._check_weight(totals.rows)
        is_wide = self._bits > 0 or totals.rows > MOST_ROWS
        self._dense = totals.dense.astype(np.int64 if is_wide else np.int32)
        self._high = counts_by_id(totals.ids, totals.sparse)
        self._rows, self._n_labels = totals.rows, n_labels

    def add_ranked(
        self, truth: Rows, ranked: Int64, n_ranked: Int64, cutoffs: Int64, weights: Float64,
        drop_empty: bool = False, propensities: Propensities | None = None,
    ) -> None:  # fmt: skip
        """Count some rows and their rankings, best label first, down to each cutoff; `weights` is empty or per row."""
        units = self._units(weights)
        used = truth.indices[: truth.indptr[-1]]
        valid = np.arange(ranked.shape[1]) < np.minimum(n_ranked, cutoffs[-1])[:, None]
        largest = max(int(used.max(initial=-1)), int(ranked.max(initial=-1, where=valid)))
        with self._lock:
            self._make_room(largest, truth, units, drop_empty)
            count_ranked(truth.indptr, truth.indices, ranked, n_ranked, cutoffs, units, drop_empty, self._dense)
            if self._n_labels > DENSE_IDS:
                rows, places = np.nonzero(valid)
                spans = np.searchsorted(cutoffs, places, side="right")
                self._add_high(truth, rows, ranked[rows, places], spans, units, drop_empty)
            if self._in_ideal and propensities is not None:
                self._add_ideal(truth, cutoffs, propensities)

    def add_decisions(self, truth: Rows, decided: Decided, weights: Float64, drop_empty: bool = False) -> None:
        """Count some rows and the labels that are decided on."""
        units = self._units(weights)
        largest = max(int(truth.indices[: truth.indptr[-1]].max(initial=-1)), decided.largest)
        with self._lock:
            self._make_room(largest, truth, units, drop_empty)
            count_decisions(*truth[:2], decided.counts, decided.labels, units, drop_empty, self._dense)
            if self._n_labels > DENSE_IDS:
                n_decisions = decided.counts[:, DECISIONS]
                rows = np.repeat(np.arange(n_decisions.size), n_decisions)
                labels = decided.labels[: rows.size] >> 1
                self._add_high(truth, rows, labels, np.zeros(rows.size, dtype=np.int64), units, drop_empty)

    def _units(self, weights: Float64) -> Int64:
        """Return what each row counts, in units of the counters; empty where all count 1."""
        if not self._bits:
            return np.empty(0, dtype=np.int64)
        return np.rint(np.ldexp(weights, WEIGHT_BITS)).astype(np.int64)

    def _make_room(self, largest: int, truth: Rows, units: Int64, drop_empty: bool) -> None:
        """Grow to the largest label, and to 64 bits where there are as many rows."""
        kept = np.diff(truth.indptr) > 0 if drop_empty else np.ones(truth.indptr.size - 1, dtype=np.bool_)
        rows = self._rows + (int(units[kept].sum()) if self._bits else int(np.count_nonzero(kept)))
        self._check_weight(rows)
        self._rows = rows
        self._n_labels = max(self._n_labels, largest + 1)
        if len(self._dense) < min(self._n_labels, DENSE_IDS):
            self._widen(min(max(2 * self._n_labels, FIRST_ROOM) if self._room == UNKNOWN else self._room, DENSE_IDS))
        if self._rows > MOST_ROWS and self._dense.dtype == np.int32:
            self._dense = self._dense.astype(np.int64)

    def _widen(self, n_labels: int) -> None:
        """Make the array as long as there are labels, and move counts from under ids into it."""
        wider = np.zeros((n_labels, self._slots), dtype=self._dense.dtype)
        wider[: len(self._dense)] = self._dense
        ids, counts = self._high.columns()
        n_low = int(np.searchsorted(ids, n_labels))
        wider[ids[:n_low]] = counts[:n_low]
        self._dense, self._high = wider, counts_by_id(ids[n_low:], counts[n_low:])

    def check_room(self, weights: Float64) -> None:
        """Refuse rows of such weights, where they would sum to more than counters hold; adding rows checks it too."""
        if self._bits:
            self._check_weight(self._rows + int(self._units(weights).sum()))

    def _check_weight(self, rows: int) -> None:
        """Refuse rows of more weight than counters hold."""
        if self._bits and rows >> self._bits >= MOST_WEIGHT:
            raise DataError(
                f"the sample weights sum to more than {MOST_WEIGHT / 2:,.0f} times the largest of them: "
                "label-wise metrics count them exactly up to there"
            )

    def _add_high(self, truth: Rows, rows: Int64, labels: Int64, spans: Int64, units: Int64, drop_empty: bool) -> None:
        """Count labels from 2^27 on: `labels` predicted in `rows`, and those of the truth."""
        true_labels = truth.indices[: truth.indptr[-1]]
        true_rows = np.repeat(np.arange(truth.indptr.size - 1), np.diff(truth.indptr))
        high = true_labels >= DENSE_IDS
        true_labels, true_rows = true_labels[high], true_rows[high]
        high = labels >= DENSE_IDS
        if drop_empty:
            high &= np.diff(truth.indptr)[rows] > 0
        labels, rows, spans = labels[high], rows[high], spans[high]
        ids, codes = np.unique(np.concatenate([true_labels, labels]), return_inverse=True)
        keys = np.concatenate([true_rows, rows]) * ids.size + codes
        hits = np.isin(keys[true_rows.size :], keys[: true_rows.size])
        counts = np.zeros((ids.size, self._slots), dtype=np.int64)

        def count(places: Int64, slots: Any, of_rows: Int64) -> None:
            np.add.at(counts, (places, slots), units[of_rows] if units.size else 1)

        count(codes[: true_rows.size], TRUE, true_rows)
        predicted = codes[true_rows.size :]
        count(predicted, FIRST_SPAN + 2 * spans, rows)
        count(predicted[hits], FIRST_SPAN + 2 * spans[hits] + 1, rows[hits])
        self._high.add(ids, counts)

    def _add_ideal(self, truth: Rows, cutoffs: Int64, propensities: Propensities) -> None:
        """Count the labels of ideal rankings: the largest inverse propensity first, then the lowest label."""
        labels = truth.indices[: truth.indptr[-1]]
        rows = np.repeat(np.arange(truth.indptr.size - 1), np.diff(truth.indptr))
        order = np.lexsort((labels, propensities.codes_of(labels), rows))
        places = np.arange(labels.size) - truth.indptr[rows]
        spans = np.searchsorted(cutoffs, places, side="right")
        kept = spans < cutoffs.size
        labels, slots = labels[order][kept], FIRST_SPAN + 2 * self._n_spans + spans[kept]
        low = labels < DENSE_IDS
        np.add.at(self._dense, (labels[low], slots[low]), 1)
        if not low.all():
            counts = np.zeros((int(np.count_nonzero(~low)), self._slots), dtype=np.int64)
            counts[np.arange(len(counts)), slots[~low]] = 1
            self._high.add(labels[~low], counts)
