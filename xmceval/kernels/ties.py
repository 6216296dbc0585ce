"""Tie kernel: the exact mean of every running sum over all orders of equally scored labels."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.decorators import helper, kernel

HIT, PROPENSITY, GRADE, EXP_GRADE = 0, 1, 2, 3
SUM, ANY, FIRST, PRECISION = 0, 1, 2, 3
N_GAINS = 4


@helper
def _position(indices, start, stop, label):
    """Index of a label in ascending labels, or -1."""
    while start < stop:
        middle = (start + stop) >> 1
        if indices[middle] < label:
            start = middle + 1
        elif indices[middle] > label:
            stop = middle
        else:
            return middle
    return -1


@helper
def _gain(kind, grade, label, ids, codes, inverse):
    """Gain of a true label; `ids` is empty where labels index `codes`."""
    if kind == HIT:
        return 1.0
    if kind == GRADE:
        return grade
    if kind == EXP_GRADE:
        return 2.0**grade - 1.0
    if ids.size > 0:
        label = _position(ids, np.int64(0), ids.size, label)
    return inverse[codes[label]] if 0 <= label < codes.size else inverse[0]


@kernel
def expect_rows(truth, predictions, ranking, propensities, curves, discounts, gain_sums, expected):
    """Write the mean running sum of every curve at every rank, over all orders of tied labels.

    A group of m tied labels of which h are true puts a hit on each of its ranks with probability h/m, so gains that
    add up (McSherry and Najork, ECIR 2008) have the group's mean gain at each rank. No hit in the first t of the group
    has the probability (m-h choose t) / (m choose t). A hit at the group's rank t has on average
    (t-1)(h-1)/(m-1) hits of its group before it. The first four arguments are those of `compute_rows`; `gain_sums` is
    working space for the kinds of gain.
    """
    truth_indptr, truth_indices, grades = truth
    pred_indptr, pred_indices, scores, omitted = predictions
    ranked, ranked_scores, n_ranked = ranking
    ids, codes, inverse = propensities
    depth = expected.shape[2]
    for row in range(truth_indptr.size - 1):
        first, last = truth_indptr[row], truth_indptr[row + 1]
        start = 0
        hits_before = 0.0
        while start < depth and start < n_ranked[row]:
            stop = start + 1
            while stop < n_ranked[row] and ranked_scores[row, stop] == ranked_scores[row, start]:
                stop += 1
            # A group that extends beyond the deepest cutoff is gathered from the whole row.
            beyond = stop > depth
            begin = pred_indptr[row] if beyond else start
            end = pred_indptr[row + 1] if beyond else stop
            size, hits = omitted[row] if omitted.size > 0 and beyond and stop == n_ranked[row] else 0, 0
            for g in range(N_GAINS):
                gain_sums[g] = 0.0
            for place in range(begin, end):
                label = pred_indices[place] if beyond else ranked[row, place]
                if not beyond or scores[place] == ranked_scores[row, start]:
                    size += 1
                    at = _position(truth_indices, first, last, label)
                    if at >= 0:
                        hits += 1
                        for g in range(N_GAINS):
                            gain_sums[g] += _gain(g, grades[at], label, ids, codes, inverse)
            stop = stop if stop < depth else depth
            for c in range(curves.shape[0]):  # c: curve, g: kind of gain, j: rank - 1, t: rank within the group - 1
                g, d, fold = curves[c, 0], curves[c, 1], curves[c, 2]
                total = expected[row, c, start - 1] if start > 0 else 0.0
                none = 1.0  # probability that no rank of the group so far has a hit
                for j in range(start, stop):
                    t = j - start
                    if fold == SUM:
                        total += gain_sums[g] / size * discounts[d, j]
                    elif fold == PRECISION:
                        inside = t * (hits - 1.0) / (size - 1.0) if size > 1 else 0.0
                        total += hits / size * (hits_before + 1.0 + inside) / (j + 1)
                    elif hits_before == 0.0:
                        here = none * hits / (size - t)
                        total += here if fold == ANY else here / (j + 1)
                        none -= here
                    expected[row, c, j] = total
            hits_before += hits
            start = stop
        for c in range(curves.shape[0]):
            for j in range(start, depth):
                expected[row, c, j] = expected[row, c, start - 1] if start > 0 else 0.0
