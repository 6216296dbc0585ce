"""AUC kernel: ordered pairs within groups of a sorted list."""

from __future__ import annotations

import numba

from xmceval.kernels.cache import cached

kernel = cached(numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True))


@kernel
def sum_ordered_pairs(starts, truth, scores, weights, spare, doubled, positive, negative):
    """Sum the pairs in order of each group, whose entries are sorted by descending score; a tie is half a pair.

    `doubled` gets twice the sum of positive weight x negative weight over those pairs, `positive` and `negative` the
    weight of each class; integers stay exact. `spare` is the weight of entries that are not listed: negatives with
    score 0.
    """
    for group in range(starts.size - 1):
        stop = starts[group + 1]
        entry = starts[group]
        before = weights[0] - weights[0]  # zero of the type of the weights
        below = before
        pairs = before
        waiting = spare[group]
        while entry < stop or waiting != 0:
            hits = before - before
            misses = hits
            if entry < stop and (waiting == 0 or scores[entry] >= 0.0):
                score = scores[entry]
                while entry < stop and scores[entry] == score:
                    if truth[entry]:
                        hits += weights[entry]
                    else:
                        misses += weights[entry]
                    entry += 1
                if score == 0.0:
                    misses += waiting
                    waiting = waiting - waiting
            else:
                misses = waiting
                waiting = waiting - waiting
            pairs += misses * (2 * before + hits)
            before += hits
            below += misses
        doubled[group], positive[group], negative[group] = pairs, before, below
