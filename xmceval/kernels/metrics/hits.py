"""Hits, the true labels of a row that have a score: found, sorted, and the labels counted that are above each."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import function, helper
from xmceval.kernels.rows.order import ascend

FEW = 64  # hits, up to which it is faster to pass over a row for each of them


@helper
def position_below(labels, start, stop, label):
    """Index of the last of ascending labels that is not above a label, or `start`."""
    length = stop - start
    while length > 1:  # without a branch that depends on what is compared
        half = length >> 1
        start += half if labels[start + half] <= label else 0
        length -= half
    return start


@helper
def _first_not_above(scores, n, score):
    """Index of the first of more than FEW descending scores that is not above a score, or `n`."""
    start, length = np.uint64(0), np.uint64(n)
    while length > np.uint64(FEW):
        half = length >> np.uint64(1)
        start += half if scores[start + half - np.uint64(1)] > score else np.uint64(0)
        length -= half
    start = min(start, np.uint64(n - FEW))  # a number of them that does not vary, compared in vector registers
    above = np.int64(start)
    for i in range(np.uint64(FEW)):
        above += scores[start + i] > score
    return above


@helper
def _count_each(hits, hit_scores, hit_labels, labels, scores, start, stop, ranks, greater, at_least):
    """Count for each hit the labels up to it, above it, and above or as high: many at once, in vector registers."""
    for i in range(hits):
        hit_score, hit_label = hit_scores[i], hit_labels[i]
        n_above, n_level, n_before = 0, 0, 0
        for entry in range(np.uint64(start), np.uint64(stop)):
            score = scores[entry]
            n_above += score > hit_score
            n_level += score == hit_score
            n_before += (score == hit_score) & (labels[entry] <= hit_label)
        ranks[i], greater[i], at_least[i] = n_above + n_before, n_above, n_above + n_level


@helper
def _count_at_once(hits, hit_scores, hit_labels, stops, labels, scores, start, stop, ranks, greater, at_least):
    """Do the same by counting every label at the first hit that it precedes, and adding up."""
    for i in range(hits + 1):
        ranks[i], greater[i], at_least[i] = 0, 0, 0
    for entry in range(start, stop):
        score = scores[entry]
        above = _first_not_above(hit_scores, hits, score)
        before, below = above, above
        if above < hits and hit_scores[above] == score:
            below = stops[above]
            before = position_below(hit_labels, above, below, labels[entry])
            before += hit_labels[before] < labels[entry]
        ranks[before] += 1
        greater[below] += 1
        at_least[above] += 1
    for i in range(1, hits):
        ranks[i] += ranks[i - 1]
        greater[i] += greater[i - 1]
        at_least[i] += at_least[i - 1]


@function
def sort_hits(scores, labels, grades, n):
    """Sort the first `n` by score, descending, and label (heap sort: no working space, no bad case)."""
    i = 1
    while i < n and (scores[i - 1] > scores[i] or (scores[i - 1] == scores[i] and labels[i - 1] <= labels[i])):
        i += 1
    if i >= n:
        return
    begin, end = n // 2, n
    while end > 1:
        if begin > 0:
            begin -= 1
            place = begin
        else:
            end -= 1
            place = end
        score, label, grade = scores[place], labels[place], grades[place]
        if place == end:
            scores[end], labels[end], grades[end] = scores[0], labels[0], grades[0]
        hole = begin
        child = 2 * hole + 1
        while child < end:
            right = child + 1
            if right < end and (
                scores[right] < scores[child] or (scores[right] == scores[child] and labels[right] > labels[child])
            ):
                child = right
            if scores[child] > score or (scores[child] == score and labels[child] < label):
                break
            scores[hole], labels[hole], grades[hole] = scores[child], labels[child], grades[child]
            hole = child
            child = 2 * hole + 1
        scores[hole], labels[hole], grades[hole] = score, label, grade


@helper
def rank_hits(truth, predictions, row, space, real_space):
    """Find and sort the hits of a row, count the labels up to each, and return how many hits there are.

    Parameters
    ----------
    truth : indptr, indices, grades
        Labels ascend within a row.
    predictions : indptr, indices, scores
    row : int
    space, real_space : arrays
        Written, for each hit, best first and then by label: its label, the first hit with the same score and the first
        one after these, its rank by label, and how many labels have a higher score, and one at least as high; its score
        and its grade.
    """
    truth_indptr, truth_indices, grades = truth
    pred_indptr, labels, scores = predictions
    hit_labels, starts, stops, ranks, greater, at_least, _ = space
    hit_scores, hit_grades, _, _ = real_space
    at, last = truth_indptr[row], truth_indptr[row + 1]
    start, stop = pred_indptr[row], pred_indptr[row + 1]
    first, hits = at, np.int64(0)
    is_merged = ascend(labels, start, stop)
    for entry in range(start, stop):
        label = labels[entry]
        if is_merged:
            while at < last and truth_indices[at] < label:
                at += 1
        else:
            at = position_below(truth_indices, first, last, label)
        if at < last and truth_indices[at] == label:
            hit_scores[hits], hit_labels[hits], hit_grades[hits] = scores[entry], label, grades[at]
            hits += 1
    sort_hits(hit_scores, hit_labels, hit_grades, hits)
    i = 0
    while i < hits:  # groups of hits with the same score
        j = i
        while j < hits and hit_scores[j] == hit_scores[i]:
            starts[j] = i
            j += 1
        while i < j:
            stops[i] = j
            i += 1
    if hits <= FEW:
        _count_each(hits, hit_scores, hit_labels, labels, scores, start, stop, ranks, greater, at_least)
    else:
        _count_at_once(hits, hit_scores, hit_labels, stops, labels, scores, start, stop, ranks, greater, at_least)
    return hits
