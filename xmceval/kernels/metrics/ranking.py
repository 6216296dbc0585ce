"""Kernels that rank the best labels of each row, with equal scores in the order of the labels."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel

LANES = 16  # interleaved parts of a long row; the depth-th largest of their maxima bounds the best scores
SHALLOW = LANES  # maximum depth of `top_k`
SHORT = 256  # labels; at most this many are sorted by insertion
RUN = 32  # otherwise runs of this length are sorted by insertion and then merged


@helper
def _bound(scores, start, stop, depth, maxima):
    """Return a score that at least `depth` scores of a row reach; the row has at least LANES scores."""
    for i in range(LANES):
        maxima[i] = -np.inf
    for first in range(np.uint64(start), np.uint64(stop - LANES + 1), np.uint64(LANES)):
        for i in range(np.uint64(LANES)):
            score, largest = scores[first + i], maxima[i]
            maxima[i] = score if score > largest else largest
    bound = np.inf
    for i in range(LANES):
        above = 0
        for j in range(LANES):
            above += maxima[j] > maxima[i]
        if above < depth and maxima[i] < bound:
            bound = maxima[i]
    return bound


@kernel(("i8[:]", "i8[:]", "f8[:]"), ("i8[:,:]", "f8[:,:]", "i8[:]"), "f8[:]", returns="i8")
def top_k(rows, ranking, maxima):
    """Write the best labels of each row; return the number of rows with a tie among them.

    Parameters
    ----------
    rows : indptr, indices, scores
    ranking : ranked labels [n_rows, depth], their scores [n_rows, depth], and their number [n_rows]
        Depth at most SHALLOW.
    maxima : float64 [LANES]
        Scratch space.
    """
    indptr, indices, scores = rows
    ranked, ranked_scores, n_ranked = ranking
    depth = ranked.shape[1]
    n_tied = 0
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        n = 0
        worst = _bound(scores, start, stop, depth, maxima) if stop - start > 2 * LANES else -np.inf
        for entry in range(start, stop):
            score = scores[entry]
            if score < worst:
                continue
            label = indices[entry]
            place = n
            while place > 0 and (
                ranked_scores[row, place - 1] < score
                or (ranked_scores[row, place - 1] == score and ranked[row, place - 1] > label)
            ):
                if place < depth:
                    ranked[row, place] = ranked[row, place - 1]
                    ranked_scores[row, place] = ranked_scores[row, place - 1]
                place -= 1
            if place < depth:
                ranked[row, place], ranked_scores[row, place] = label, score
            n = n + 1 if n < depth else depth
            if n == depth:
                worst = max(worst, ranked_scores[row, n - 1])
        ties = 0
        for j in range(1, n):
            ties += ranked_scores[row, j] == ranked_scores[row, j - 1]
        n_ranked[row] = n
        n_tied += ties > 0
    return n_tied


@helper
def _sort(labels, scores, begin, n):
    """Sort the `n` labels from `begin` on by score, descending, then by label; return their new start.

    Both arrays have room for the result at 0 and at half their length.
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
            while i < middle and j < stop:  # without a data-dependent branch
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


@kernel(("i8[:]", "i8[:]", "f8[:]"), ("i8[:,:]", "f8[:,:]", "i8[:]"), ("i8[:]", "f8[:]"), returns="i8")
def top_many(rows, ranking, space):
    """Write the best labels of each row, as `top_k` does, for rankings of any depth.

    Candidates are collected; when there are twice as many as needed, they are sorted, and the worst one that is
    kept bounds later candidates: n log k comparisons for any order of the scores. The scratch space has room
    for 4 * depth labels: int64 and float64 [4 * depth].
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
