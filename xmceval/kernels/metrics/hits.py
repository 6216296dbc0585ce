"""Kernels that find the hits of a row, sort them, and count the labels ranked above each."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper
from xmceval.kernels.rows.order import ascend, make_descending, sort_by_digits

FEW = 64  # up to this many hits, scanning the row for each is faster than sorting it


@helper
def position_below(labels, start, stop, label):
    """Return the index of the last ascending label that does not exceed a label, or `start`."""
    length = stop - start
    while length > 1:
        half = length >> 1
        start += half if labels[start + half] <= label else 0
        length -= half
    return start


@helper
def _count_each(hits, hit_scores, hit_labels, labels, scores, start, stop, ranks, greater, at_least):
    """For each hit, write its rank and count higher scores and scores at least as high, in vector registers."""
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
def sort_hits(scores, labels, grades, n):
    """Sort the first `n` by score, descending, then by label (heap sort: no scratch space, no bad case)."""
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
def _find_hits(truth, predictions, row, is_ascending, space, real_space):
    """Find the hits of a row in order of its predictions, with their places in truth; return their number."""
    truth_indptr, truth_indices, grades = truth
    pred_indptr, labels, scores = predictions
    hit_labels, places, hit_scores, hit_grades = space[0], space[6], real_space[0], real_space[1]
    at, last = truth_indptr[row], truth_indptr[row + 1]
    first, hits = at, np.int64(0)
    for entry in range(pred_indptr[row], pred_indptr[row + 1]):
        label = labels[entry]
        if is_ascending:
            while at < last and truth_indices[at] < label:
                at += 1
        else:
            at = position_below(truth_indices, first, last, label)
        if at < last and truth_indices[at] == label:
            hit_scores[hits], hit_labels[hits], hit_grades[hits], places[hits] = scores[entry], label, grades[at], at
            hits += 1
    return hits


@helper
def count_covering(truth, predictions, row, n_labels, zero_unscored):
    """Return the number of labels needed to cover all true labels of a row, and the number of hits.

    Nothing is sorted.
    """
    truth_indptr, truth_indices, _ = truth
    pred_indptr, labels, scores = predictions
    first, last = truth_indptr[row], truth_indptr[row + 1]
    start, stop = pred_indptr[row], pred_indptr[row + 1]
    n, at, hits = last - first, first, np.int64(0)
    lowest, level = np.inf, np.int64(0)
    is_ascending = ascend(labels, start, stop)
    m = stop - start
    if is_ascending and n > 0 and m > 0 and labels[stop - 1] == m - 1 and truth_indices[last - 1] < m:
        hits = n  # labels are 0, 1, ... without gaps
        for i in range(np.uint64(first), np.uint64(last)):
            score = scores[np.uint64(start + truth_indices[i])]
            lowest = score if score < lowest else lowest
    else:
        for entry in range(start, stop):
            label = labels[entry]
            if is_ascending:
                while at < last and truth_indices[at] < label:
                    at += 1
            else:
                at = position_below(truth_indices, first, last, label)
            if at < last and truth_indices[at] == label:
                lowest = scores[entry] if scores[entry] < lowest else lowest
                hits += 1
    if n == 0 or (n > hits and not zero_unscored):
        return (n_labels if n > 0 else 0), hits
    if n > hits and lowest > 0.0:
        lowest = 0.0
    for entry in range(np.uint64(start), np.uint64(stop)):
        level += scores[entry] >= lowest
    return level + (n_labels - (stop - start) if zero_unscored and lowest <= 0.0 else 0), hits


@helper
def _rank_all(hits, labels, scores, grades, start, stop, is_ascending, space, real_space, rooms):
    """Sort all labels of a row, and find the positions of its hits."""
    hit_labels, starts, stops, ranks, greater, at_least, places = space
    hit_scores, hit_grades, _, _ = real_space
    keys, reals, entries, spare_keys, marks, counters = rooms
    m = stop - start
    for i in range(m):
        entries[i] = i
    if not is_ascending:
        for i in range(m):
            keys[i] = labels[start + i]
        sort_by_digits(keys, entries, spare_keys, marks, counters, m)
    for i in range(m):
        reals[i] = scores[start + entries[i]] + 0.0  # removes -0.0
    make_descending(keys, m)
    sort_by_digits(keys, entries, spare_keys, marks, counters, m)
    found = 0
    for i in range(m):
        is_hit = found < hits and labels[start + i] == hit_labels[found]
        marks[i] = places[found] if is_hit else -1
        found += is_hit
    begin, first = 0, 0
    while begin < m:
        end, found = begin, first
        while end < m and keys[end] == keys[begin]:
            at, entry = marks[entries[end]], start + entries[end]
            end += 1
            if at >= 0:
                hit_labels[found], hit_scores[found], hit_grades[found] = labels[entry], scores[entry], grades[at]
                starts[found], ranks[found], greater[found] = first, end, begin
                found += 1
        for i in range(first, found):
            stops[i], at_least[i] = found, end
        begin, first = end, found


@helper
def rank_hits(truth, predictions, row, space, real_space, rooms):
    """Find and sort the hits of a row, count the labels up to each, and return the number of hits.

    Parameters
    ----------
    truth : indptr, indices, grades
        Labels ascend within a row.
    predictions : indptr, indices, scores
    row : int
    space, real_space : arrays
        Output, for each hit, best first and then by label: its label, the first hit with the same score and the
        first hit after these, its rank by label, the number of labels with a higher score and with a score at
        least as high; its score and its grade.
    rooms : arrays
        Scratch space for rows of more than FEW hits, see `sort_by_digits`: keys, the same memory as float64,
        places, spare keys, spare places, each as long as the longest row of predictions, and counters.
    """
    pred_indptr, labels, scores = predictions
    hit_labels, starts, stops, ranks, greater, at_least, _ = space
    hit_scores, hit_grades, _, _ = real_space
    start, stop = pred_indptr[row], pred_indptr[row + 1]
    is_ascending = ascend(labels, start, stop)
    hits = _find_hits(truth, predictions, row, is_ascending, space, real_space)
    if hits > FEW:
        _rank_all(hits, labels, scores, truth[2], start, stop, is_ascending, space, real_space, rooms)
        return hits
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
    _count_each(hits, hit_scores, hit_labels, labels, scores, start, stop, ranks, greater, at_least)
    return hits
