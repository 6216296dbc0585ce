"""Kernel for rows with tied scores: their gains in the best order, the worst order, and on average."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.metrics.topk import ANY, EXP_GRADE, GRADE, HIT, N_GAINS, PRECISION, SUM
from xmceval.kernels.rows.order import position, power_of_2, sort

BEST, WORST, MEAN = 0, 1, 2
SLOTS = np.array([2, 3, 0])  # slots of a row's values


@helper
def _gain(kind, grade, label, ids, codes, inverse):
    """Return the gain of a true label; `ids` is empty if labels index `codes`."""
    if kind == HIT:
        return 1.0
    if kind == GRADE:
        return grade
    if kind == EXP_GRADE:
        return power_of_2(grade) - 1.0
    if ids.size > 0:
        label = position(ids, np.int64(0), ids.size, label)
    return inverse[codes[label]] if 0 <= label < codes.size else inverse[0]


@kernel(
    ("i8[:]", "i8[:]", "f8[:]"),
    ("i8[:]", "i8[:]", "f8[:]", "i8[:]"),
    ("i8[:,:]", "f8[:,:]", "i8[:]"),
    ("i8[:]", "i4[:]", "f8[:]"),
    ("i8[:,:]", "f8[:,:]", "i8[:,:]", "f8[:,:]", "f8[:,:]"),
    "b1",
    ("i8[:]", "f8[:,:,:]", "i8[:,:]", "i8[:]", "f8[:]"),
    "f8[:,:,:]",
)
def bound_ties(truth, predictions, ranking, propensities, recipe, expects, space, values):
    """Write the numerators of rows with ties: in the best and worst order of tied labels, and the mean.

    A group of m tied labels, h of them true, has a hit at each of its ranks with probability h/m, so additive
    gains (McSherry and Najork, ECIR 2008) have the group's mean gain at each rank. The probability of no hit
    among the first t labels of the group is (m-h choose t) / (m choose t). A hit at rank t of the group has on
    average (t-1)(h-1)/(m-1) hits of its group before it.

    Parameters
    ----------
    truth, ranking, propensities, recipe, values : as in `compute_rows`
    predictions : indptr, indices, scores, omitted
        `omitted` is the number of labels per row that tie with the last one of the ranking and are missing from
        the predictions, none of them true; it is empty if no label is missing.
    expects : bool
        Whether to write the mean.
    space : used, running, hits, places, gains
        Scratch space; the last two are as long as the longest row of truth.
    """
    truth_indptr, truth_indices, grades = truth
    pred_indptr, pred_indices, scores, omitted = predictions
    ranked, ranked_scores, n_ranked = ranking
    ids, codes, inverse = propensities
    curves, discounts, outputs, _, _ = recipe
    used, running, hits, places, gains = space
    depth = discounts.shape[1]
    for row in range(truth_indptr.size - 1):
        first, last = truth_indptr[row], truth_indptr[row + 1]
        count = n_ranked[row] if n_ranked[row] < depth else depth
        ties = 0
        for j in range(1, n_ranked[row]):
            ties += ranked_scores[row, j] == ranked_scores[row, j - 1]
        if ties == 0:
            continue
        for order in range(MEAN + 1):
            for c in range(curves.shape[0]):
                hits[order, c] = 0
        start = 0
        while start < count:
            stop = start + 1
            while stop < n_ranked[row] and ranked_scores[row, stop] == ranked_scores[row, start]:
                stop += 1
            # A group that extends beyond the deepest cutoff is collected from the whole row.
            beyond = stop > depth
            begin = pred_indptr[row] if beyond else start
            end = pred_indptr[row + 1] if beyond else stop
            size = omitted[row] if omitted.size > 0 and beyond and stop == n_ranked[row] else 0
            n_true = 0
            for place in range(begin, end):
                label = pred_indices[place] if beyond else ranked[row, place]
                if not beyond or scores[place] == ranked_scores[row, start]:
                    size += 1
                    at = position(truth_indices, first, last, label)
                    if at >= 0:
                        places[n_true] = at
                        n_true += 1
            stop = stop if stop < depth else depth
            for g in range(N_GAINS):
                if used[g] == 0:
                    continue
                total = 0.0
                for i in range(n_true):
                    at = places[i]
                    gains[i] = _gain(g, grades[at], truth_indices[at], ids, codes, inverse)
                    total += gains[i]
                if g != HIT:
                    sort(gains, n_true)
                for c in range(curves.shape[0]):  # c: curve, g: kind of gain, j: rank - 1, t: rank in the group - 1
                    d, fold = curves[c, 1], curves[c, 2]
                    if curves[c, 0] != g:
                        continue
                    for order in range(MEAN):
                        so_far = running[order, c, start - 1] if start > 0 else 0.0
                        for j in range(start, stop):
                            t = j - start
                            i = n_true - 1 - t if order == BEST else t - (size - n_true)
                            if 0 <= i < n_true:
                                hits[order, c] += 1
                                if fold == SUM:
                                    so_far += gains[i] * discounts[d, j]
                                elif fold == PRECISION:
                                    so_far += hits[order, c] / (j + 1)
                                elif hits[order, c] == 1:
                                    so_far = 1.0 if fold == ANY else 1.0 / (j + 1)
                            running[order, c, j] = so_far
                    if not expects:
                        continue
                    so_far = running[MEAN, c, start - 1] if start > 0 else 0.0
                    none = 1.0  # probability of no hit in the group so far
                    for j in range(start, stop):
                        t = j - start
                        if fold == SUM:
                            so_far += total / size * discounts[d, j]
                        elif fold == PRECISION:
                            inside = t * (n_true - 1.0) / (size - 1.0) if size > 1 else 0.0
                            so_far += n_true / size * (hits[MEAN, c] + 1.0 + inside) / (j + 1)
                        elif hits[MEAN, c] == 0:
                            here = none * n_true / (size - t)
                            so_far += here if fold == ANY else here / (j + 1)
                            none -= here
                        running[MEAN, c, j] = so_far
                    hits[MEAN, c] += n_true
            start = stop
        for o in range(outputs.shape[0]):
            c, k = outputs[o, 0], outputs[o, 1]
            deepest = k if k < count else count
            for order in range(MEAN + 1 if expects else MEAN):
                values[row, o, SLOTS[order]] = running[order, c, deepest - 1] if deepest > 0 else 0.0
