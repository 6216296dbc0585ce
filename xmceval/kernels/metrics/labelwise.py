"""Kernels that count for each label the rows in which it is true, predicted, or both."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.rows.order import ascend, position

# Slots of a label's `counters`: the rows in which it is true; then for each span of ranks, or for decisions,
# the rows that predict it there, and the rows among these in which it is true.
TRUE, FIRST_SPAN = 0, 1

# Slots of a row's `row_counts`: hits, decisions.
HITS, DECISIONS = 0, 1


@helper
def _count_true(indices, first, last, unit, counters):
    """Count a row for each of its true labels."""
    for entry in range(first, last):
        if indices[entry] < counters.shape[0]:
            counters[indices[entry], TRUE] += unit


@helper
def _count_ranked(truth_indptr, truth_indices, ranked, n_ranked, cutoffs, units, drop_empty, counters):
    size = counters.shape[0]
    for row in range(truth_indptr.size - 1):  # j: rank - 1
        first, last = truth_indptr[row], truth_indptr[row + 1]
        if first == last and drop_empty:
            continue
        unit = units[row] if units.size > 0 else np.int64(1)
        _count_true(truth_indices, first, last, unit, counters)
        span = 0
        for j in range(n_ranked[row]):
            if j == cutoffs[span]:
                span += 1
                if span == cutoffs.size:
                    break
            label = ranked[row, j]
            if label < size:
                counters[label, FIRST_SPAN + 2 * span] += unit
                if position(truth_indices, first, last, label) >= 0:
                    counters[label, FIRST_SPAN + 2 * span + 1] += unit


@kernel("i8[:]", "i8[:]", "i8[:,:]", "i8[:]", "i8[:]", "i8[:]", "b1", "i4[:,:]")
def count_ranked(truth_indptr, truth_indices, ranked, n_ranked, cutoffs, units, drop_empty, counters):
    """Count each label's rows: true, and predicted and hit within each span of ranks, from cutoff to cutoff.

    The counters of a label are adjacent: a row touches one cache line per label. `units` are the weights of
    rows, or empty if all rows count 1; labels beyond `counters` are ignored. `ranked` is int64 [n_rows, depth],
    `n_ranked` int64 [n_rows], `cutoffs` int64 [n_spans], and `counters` int32 [n_labels, at least 1 + 2 *
    n_spans].
    """
    _count_ranked(truth_indptr, truth_indices, ranked, n_ranked, cutoffs, units, drop_empty, counters)


@kernel("i8[:]", "i8[:]", "i8[:,:]", "i8[:]", "i8[:]", "i8[:]", "b1", "i8[:,:]")
def count_ranked_wide(truth_indptr, truth_indices, ranked, n_ranked, cutoffs, units, drop_empty, counters):
    """Do the same with int64 counters."""
    _count_ranked(truth_indptr, truth_indices, ranked, n_ranked, cutoffs, units, drop_empty, counters)


@kernel("i8[:]", "i8[:]", "i8[:]", "i8[:]", "f8[:]", "f8", "b1", "i8[:,:]", "i8[:]")
def find_decisions(
    truth_indptr, truth_indices, pred_indptr, pred_indices, scores, threshold, drop_empty, row_counts, decided
):
    """Write decisions, the stored labels whose score reaches the threshold: twice the label, plus 1 for a hit.

    `row_counts`, int64 [n_rows, 2], is the number of hits and of decisions of each row; dropped rows have none.
    `decided` is int64 [n_stored], and decisions fill its beginning.
    """
    n = np.int64(0)
    for row in range(truth_indptr.size - 1):
        first, last = truth_indptr[row], truth_indptr[row + 1]
        row_counts[row, HITS], row_counts[row, DECISIONS] = 0, 0
        if first == last and drop_empty:
            continue
        start, stop = pred_indptr[row], pred_indptr[row + 1]
        is_merged, at, before, hits = ascend(pred_indices, start, stop), first, n, np.int64(0)
        for entry in range(start, stop):
            label = pred_indices[entry]
            if is_merged:
                while at < last and truth_indices[at] < label:
                    at += 1
                is_hit = at < last and truth_indices[at] == label
            else:
                is_hit = position(truth_indices, first, last, label) >= 0
            is_decided = scores[entry] >= threshold
            decided[n] = 2 * label + is_hit
            n += is_decided
            hits += is_hit & is_decided
        row_counts[row, HITS], row_counts[row, DECISIONS] = hits, n - before


@helper
def _count_decisions(truth_indptr, truth_indices, row_counts, decided, units, drop_empty, counters):
    size, decision = counters.shape[0], np.int64(0)
    for row in range(truth_indptr.size - 1):
        first, last = truth_indptr[row], truth_indptr[row + 1]
        if first == last and drop_empty:
            continue
        unit = units[row] if units.size > 0 else np.int64(1)
        _count_true(truth_indices, first, last, unit, counters)
        for _ in range(row_counts[row, DECISIONS]):
            label = decided[decision] >> 1
            if label < size:
                counters[label, FIRST_SPAN] += unit
                counters[label, FIRST_SPAN + 1] += unit * (decided[decision] & 1)
            decision += 1


@kernel("i8[:]", "i8[:]", "i8[:,:]", "i8[:]", "i8[:]", "b1", "i4[:,:]")
def count_decisions(truth_indptr, truth_indices, row_counts, decided, units, drop_empty, counters):
    """Count the rows of each label in `counters`, int32 [n_labels, at least 3]: true, predicted, and hit.

    See `count_ranked` and `find_decisions`.
    """
    _count_decisions(truth_indptr, truth_indices, row_counts, decided, units, drop_empty, counters)


@kernel("i8[:]", "i8[:]", "i8[:,:]", "i8[:]", "i8[:]", "b1", "i8[:,:]")
def count_decisions_wide(truth_indptr, truth_indices, row_counts, decided, units, drop_empty, counters):
    """Do the same with int64 counters."""
    _count_decisions(truth_indptr, truth_indices, row_counts, decided, units, drop_empty, counters)


@kernel("i8[:]", "i8[:]", "i8[:]", "i8[:]", "b1[:]", "b1[:]")
def match_cells(truth_indptr, truth_indices, pred_indptr, pred_indices, is_true, is_scored):
    """Write whether each prediction is true, and whether each true label is predicted.

    True labels ascend within a row. `is_true` is bool [n_predictions]; `is_scored` is bool [n_true], initially
    all False.
    """
    for row in range(truth_indptr.size - 1):
        first, last = truth_indptr[row], truth_indptr[row + 1]
        for entry in range(pred_indptr[row], pred_indptr[row + 1]):
            place = position(truth_indices, first, last, pred_indices[entry])
            is_true[entry] = place >= 0
            if place >= 0:
                is_scored[place] = True
