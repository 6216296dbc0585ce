"""Overlap kernel: how far the best labels of two systems agree on the same rows, and which hits they share."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import helper, kernel

# What is summed at each cutoff; hits are counts, the others are shares of a row.
JACCARD, BOTH, ONLY_A, ONLY_B, UNION_P, UNION_R, ORACLE_P = 0, 1, 2, 3, 4, 5, 6
SUMMED = 7
RBO, WEIGHT = 0, 1  # what is summed once, in the last line

WORD = 60  # bits of the two lower words of an exact sum, as in the kernel of totals
MASK = (1 << WORD) - 1
UNIT = float(1 << WORD)


@helper
def _add(sums, line, m, x):
    """Add a number that is not negative to an exact sum of three words."""
    if x < 4.0:
        low = sums[line, m, 0] + np.int64(x * UNIT)
        middle = sums[line, m, 1] + (low >> WORD)
    else:
        whole = np.floor(x)
        low = sums[line, m, 0] + np.int64((x - whole) * UNIT)
        middle = sums[line, m, 1] + np.int64(whole) + (low >> WORD)
    sums[line, m, 0] = low & MASK
    sums[line, m, 1] = middle & MASK
    sums[line, m, 2] += middle >> WORD


@helper
def _is_in(indices, start, stop, label):
    """Whether a label is one of ascending labels."""
    while start < stop:
        middle = (start + stop) >> 1
        if indices[middle] < label:
            start = middle + 1
        elif indices[middle] > label:
            stop = middle
        else:
            return True
    return False


@helper
def _slot(keys, stamps, stamp, label):
    """Place of a label in a hash table, or the free place where it belongs; older stamps count as free."""
    mask = keys.size - 1
    slot = ((((label ^ (label >> 31)) & 0x7FFFFFFF) * 0x9E3779B1) >> 20) & mask
    while stamps[slot] == stamp and keys[slot] != label:
        slot = (slot + 1) & mask
    return slot


@helper
def _rank_biased(common, n_a, n_b, p):
    """Rank-biased overlap, extrapolated, of lists of n_a and n_b labels; equation 32 of Webber et al., 2010.

    `common[j]` labels are common to the two lists cut after rank j + 1, but not to those cut before.
    """
    shorter, longer = min(n_a, n_b), max(n_a, n_b)
    if longer == 0:
        return 1.0
    if shorter == 0:
        return 0.0
    total, power, found, at_shorter = 0.0, 1.0, 0, 0
    for depth in range(1, longer + 1):
        found += common[depth - 1]
        power *= p
        agreement = found / depth
        if depth == shorter:
            at_shorter = found
        if depth > shorter:
            agreement += at_shorter * (depth - shorter) / (shorter * depth)
        total += agreement * power
    return (1.0 - p) / p * total + ((found - at_shorter) / longer + at_shorter / shorter) * power


@kernel
def add_overlaps(a, b, truth, weights, cutoffs, p, drop_empty, space, sums):
    """Add the rows of two systems.

    Parameters
    ----------
    a, b : ranked labels [n_rows, at least the deepest cutoff], and their number [n_rows]
    truth : indptr, indices
        True labels, which ascend within a row.
    weights : float64 [n_rows]
        Or empty, where all rows count 1.
    cutoffs : int64 [n_cutoffs]
        Ascending.
    p : float
        The persistence of rank-biased overlap.
    drop_empty : bool
        Leave out rows without a true label.
    space : keys, ranks, stamps, counts, steps
        Working space: three int64 [a power of 2, at least twice the deepest cutoff], int64 [4, deepest cutoff] and
        float64 [SUMMED].
    sums : int64 [n_cutoffs + 1, SUMMED, 3]
        Exact sums.
    """
    keys, ranks, stamps, counts, steps = space
    ranked_a, n_ranked_a = a
    ranked_b, n_ranked_b = b
    indptr, indices = truth
    deepest = cutoffs[-1]
    common, both, hits_a, hits_b = counts[0], counts[1], counts[2], counts[3]  # that come with each rank
    for slot in range(stamps.size):
        stamps[slot] = -1
    for row in range(n_ranked_a.size):  # j: rank in a - 1, i: rank in b - 1, c: cutoff
        first, last = indptr[row], indptr[row + 1]
        if drop_empty and first == last:
            continue
        weight = weights[row] if weights.size > 0 else 1.0
        n_a, n_b = min(n_ranked_a[row], deepest), min(n_ranked_b[row], deepest)
        longer = max(n_a, n_b)
        for j in range(longer):
            common[j] = both[j] = hits_a[j] = hits_b[j] = 0
        for j in range(n_a):
            label = ranked_a[row, j]
            slot = _slot(keys, stamps, row, label)
            keys[slot], ranks[slot], stamps[slot] = label, j, row
            if _is_in(indices, first, last, label):
                hits_a[j] = 1
        for i in range(n_b):
            label = ranked_b[row, i]
            if _is_in(indices, first, last, label):
                hits_b[i] = 1
            slot = _slot(keys, stamps, row, label)
            if stamps[slot] == row:
                later = max(i, ranks[slot])
                common[later] += 1
                both[later] += hits_b[i]

        for m in range(SUMMED):
            steps[m] = 0.0
        steps[RBO], steps[WEIGHT] = _rank_biased(common, n_a, n_b, p), 1.0
        for m in range(SUMMED):  # m: what is summed
            _add(sums, cutoffs.size, m, weight * steps[m])
        n_common = n_both = n_hits_a = n_hits_b = j = 0
        for c in range(cutoffs.size):
            k = cutoffs[c]
            while j < min(k, longer):
                n_common += common[j]
                n_both += both[j]
                n_hits_a += hits_a[j]
                n_hits_b += hits_b[j]
                j += 1
            n_union = min(n_a, k) + min(n_b, k) - n_common
            n_hits = n_hits_a + n_hits_b - n_both
            steps[JACCARD] = n_common / n_union if n_union > 0 else 1.0
            steps[BOTH], steps[ONLY_A], steps[ONLY_B] = n_both, n_hits_a - n_both, n_hits_b - n_both
            steps[UNION_P] = n_hits / n_union if n_union > 0 else 0.0
            steps[UNION_R] = n_hits / (last - first) if last > first else 0.0
            steps[ORACLE_P] = min(n_hits, k) / k
            for m in range(SUMMED):
                _add(sums, c, m, weight * steps[m])
