"""Label-wise kernels: how often each label is true, predicted, and both."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.decorators import helper, kernel

# Slots of a label's `counters`: the rows in which it is true; then for each span of ranks, or for the decisions, the
# rows that predict it there, and those of them in which it is true.
TRUE, FIRST_SPAN = 0, 1

# Slots of a row's `found`: hits, decisions.
HITS, DECISIONS = 0, 1


@helper
def _position(indices, start, stop, label):
    """Index of a label in ascending labels, or -1."""
    length = stop - start
    if length <= 0:
        return -1
    while length > 1:  # without a branch that depends on what is compared
        half = length >> 1
        start += half if indices[start + half] <= label else 0
        length -= half
    return start if indices[start] == label else -1


@kernel
def count_ranked(truth_indptr, truth_indices, ranked, n_ranked, cutoffs, units, drop_empty, counters):
    """Count each label's rows: true, and within each span of ranks (the last cut to this one) predicted and hit.

    One label's counters lie side by side: a row touches one line of the cache for each of its labels. `units` is what
    each row counts, or empty where all count 1; labels beyond `counters` are left out.
    """
    size = counters.shape[0]
    for row in range(truth_indptr.size - 1):  # j: rank - 1
        first, last = truth_indptr[row], truth_indptr[row + 1]
        if first == last and drop_empty:
            continue
        unit = units[row] if units.size > 0 else np.int64(1)
        for entry in range(first, last):
            label = truth_indices[entry]
            if label < size:
                counters[label, TRUE] += unit
        span = 0
        for j in range(n_ranked[row]):
            if j == cutoffs[span]:
                span += 1
                if span == cutoffs.size:
                    break
            label = ranked[row, j]
            if label < size:
                counters[label, FIRST_SPAN + 2 * span] += unit
                if _position(truth_indices, first, last, label) >= 0:
                    counters[label, FIRST_SPAN + 2 * span + 1] += unit


@kernel
def count_decisions(
    truth_indptr, truth_indices, pred_indptr, pred_indices, scores, threshold, units, drop_empty, found, counters
):
    """Count hits and decisions (stored labels whose score reaches the threshold), by row and by label.

    The other arguments are those of `count_ranked`; `counters` of no labels leaves out the counts by label.
    """
    size = counters.shape[0]
    for row in range(truth_indptr.size - 1):
        first, last = truth_indptr[row], truth_indptr[row + 1]
        found[row, HITS], found[row, DECISIONS] = 0, 0
        if first == last and drop_empty:
            continue
        unit = units[row] if units.size > 0 else np.int64(1)
        if size > 0:
            for entry in range(first, last):
                label = truth_indices[entry]
                if label < size:
                    counters[label, TRUE] += unit
        for entry in range(pred_indptr[row], pred_indptr[row + 1]):
            if scores[entry] < threshold:
                continue
            label = pred_indices[entry]
            is_hit = _position(truth_indices, first, last, label) >= 0
            found[row, DECISIONS] += 1
            found[row, HITS] += is_hit
            if label < size:
                counters[label, FIRST_SPAN] += unit
                if is_hit:
                    counters[label, FIRST_SPAN + 1] += unit
