"""Ranking kernels: the best labels of each row, best first, and equal scores in the order of the labels."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile import helper, kernel
from xmceval.kernels.vector import instruction

LANES = 16  # a row is read as so many columns; the depth-th largest of their maxima bounds the best scores from below
GROUP = 32  # scores that are compared with the bound at once
FEW = 64  # candidates: so many are ranked by comparing all pairs, without a branch that is mispredicted
ROOM = FEW + GROUP

SHALLOW = LANES  # `top_k` is for rankings of at most so many labels
SHORT = 256  # labels: so many are sorted by insertion
RUN = 32  # of more labels, so many are sorted by insertion before they are merged


@instruction
def _bound(scores, start, stop, depth):
    """Return the depth-th largest of the maxima of LANES columns of scores; stop - start is a multiple of LANES."""
    maxima = np.sort(scores[start:stop].reshape(-1, LANES).max(axis=0))
    return maxima[LANES - depth]


@instruction
def _at_least(scores, at, bound):
    """Return which of GROUP scores are at least `bound`, as bits."""
    return sum(1 << i for i in range(GROUP) if scores[at + i] >= bound)


@instruction
def _lowest_one(word):
    return (int(word) & -int(word)).bit_length() - 1


@helper
def _find_candidates(indices, scores, start, stop, begin, bound, labels, values, n):
    """Append the scores from `begin` on that are at least `bound` to `n` others, until there are more than FEW.

    Returns how many there are, and where to go on.
    """
    if stop - start < GROUP:
        for entry in range(start, stop):
            labels[n], values[n] = indices[entry], scores[entry]
            n += 1
        return n, stop
    while begin < stop and n <= FEW:
        at = begin if begin < stop - GROUP else stop - GROUP
        mask = np.int64(_at_least(scores, at, bound)) >> (begin - at)
        while mask != 0:
            entry = begin + np.int64(_lowest_one(mask))
            labels[n], values[n] = indices[entry], scores[entry]
            mask &= mask - 1
            n += 1
        begin += GROUP
    return n, begin


@kernel
def top_k(rows, ranking, space):
    """Write the best labels of each row; return the number of rows with a tie among them.

    Parameters
    ----------
    rows : indptr, indices, scores
    ranking : ranked labels [n_rows, depth], their scores [n_rows, depth], and their number [n_rows]
        Depth at most SHALLOW.
    space : int64 and float64 [ROOM]
        Working space.
    """
    indptr, indices, scores = rows
    ranked, ranked_scores, n_ranked = ranking
    labels, values = space
    depth = ranked.shape[1]
    n_tied = 0
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        bound = -np.inf
        if stop - start >= GROUP:
            bound = _bound(scores, start, start + (stop - start) // LANES * LANES, depth)
        begin, count = start, np.int64(0)  # with a literal the helper would be compiled twice
        while begin < stop:
            n, begin = _find_candidates(indices, scores, start, stop, begin, bound, labels, values, count)
            falls = 1
            for i in range(1, n):
                falls += values[i] < values[i - 1]
            n_compared = 0 if falls == n else n  # none where the scores fall, as those of ranked lists do
            for i in range(n):
                label, score = labels[i], values[i]
                place = 0 if n_compared else i
                for j in range(n_compared):
                    place += (values[j] > score) | ((values[j] == score) & (labels[j] < label))
                if place < depth:
                    ranked[row, place], ranked_scores[row, place] = label, score
            count = n if n < depth else depth
            if begin < stop:  # too many candidates for once: go on with the best
                for i in range(count):
                    labels[i], values[i] = ranked[row, i], ranked_scores[row, i]
                bound = ranked_scores[row, count - 1]
        n_ranked[row] = count
        ties = 0
        for j in range(1, count):
            ties += ranked_scores[row, j] == ranked_scores[row, j - 1]
        n_tied += ties > 0
    return n_tied


@helper
def _sort(labels, scores, begin, n):
    """Sort the `n` labels from `begin` on by score, descending, and by label; return where they begin then.

    Both arrays have room for them at 0 and at half their length.
    """
    wrong = 0
    for i in range(begin + 1, begin + n):
        wrong += (scores[i] > scores[i - 1]) | ((scores[i] == scores[i - 1]) & (labels[i] < labels[i - 1]))
    if wrong == 0:
        return begin
    width = n if n <= SHORT else RUN
    for first in range(begin, begin + n, width):
        for i in range(first + 1, min(first + width, begin + n)):
            label, score = labels[i], scores[i]
            j = i
            while j > first and (score > scores[j - 1] or (score == scores[j - 1] and label < labels[j - 1])):
                labels[j], scores[j] = labels[j - 1], scores[j - 1]
                j -= 1
            labels[j], scores[j] = label, score
    while width < n:
        to = labels.size // 2 - begin
        end, begin = begin + n, to
        for first in range(end - n, end, 2 * width):
            i, middle, stop = first, min(first + width, end), min(first + 2 * width, end)
            j = middle
            while i < middle and j < stop:  # without a branch that depends on what is compared
                after = np.int64((scores[j] > scores[i]) | ((scores[j] == scores[i]) & (labels[j] < labels[i])))
                place = i + after * (j - i)
                labels[to], scores[to] = labels[place], scores[place]
                j += after
                i += 1 - after
                to += 1
            for place in range(i, middle):
                labels[to], scores[to] = labels[place], scores[place]
                to += 1
            for place in range(j, stop):
                labels[to], scores[to] = labels[place], scores[place]
                to += 1
        width *= 2
    return begin


@kernel
def top_many(rows, ranking, space):
    """Write the best labels of each row, as `top_k` does, for rankings of any depth.

    Labels that may be among the best are collected; when twice as many as needed are there, they are sorted, and the
    worst of those that are kept bounds what is collected then: n log k comparisons in any order of the scores. The
    working space has room for 4 * depth labels: int64 and float64 [4 * depth].
    """
    indptr, indices, scores = rows
    ranked, ranked_scores, n_ranked = ranking
    labels, values = space
    depth = ranked.shape[1]
    room = labels.size // 2
    begin = n_tied = 0
    for row in range(indptr.size - 1):
        stop = indptr[row + 1]
        n = 0
        worst = -np.inf
        for entry in range(indptr[row], stop):
            labels[begin + n], values[begin + n] = indices[entry], scores[entry]
            n += scores[entry] >= worst
            if n == room or entry == stop - 1:
                begin = _sort(labels, values, begin, n)
                if n > depth:
                    n = depth
                    worst = values[begin + depth - 1]
        ties = 0
        for j in range(n):
            ranked[row, j], ranked_scores[row, j] = labels[begin + j], values[begin + j]
            if j > 0:
                ties += values[begin + j] == values[begin + j - 1]
        n_ranked[row] = n
        n_tied += ties > 0
    return n_tied
