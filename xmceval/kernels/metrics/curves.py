"""Kernels for areas under curves of groups of sorted entries, plus unlisted entries with score 0."""

from __future__ import annotations

from xmceval.kernels.load import helper, kernel

SPLITTER = float((1 << 27) + 1)


@helper
def _take_step(entry, stop, waiting, truth, scores, weights):
    """Return the weights of positives and negatives with the next score, the next entry, the rest of `waiting`.

    `waiting` is the weight of entries that are not listed: negatives with score 0.
    """
    hits, misses = 0.0, 0.0
    if entry < stop and (waiting == 0.0 or scores[entry] >= 0.0):
        score = scores[entry]
        while entry < stop and scores[entry] == score:
            if truth[entry]:
                hits += weights[entry]
            else:
                misses += weights[entry]
            entry += 1
        if score == 0.0:
            misses += waiting
            waiting = 0.0
    else:
        misses = waiting
        waiting = 0.0
    return hits, misses, entry, waiting


@kernel("i8[:]", "b1[:]", "f8[:]", "f8[:]", "f8[:]", "f8[:,:]", "f8[:]", "f8[:]")
def sum_ordered_pairs(starts, truth, scores, weights, spare, doubled, positive, negative):
    """Sum the ordered pairs of each group, whose entries are sorted by descending score; a tie is half a pair.

    `doubled` [n_groups, 2] receives twice the sum of positive weight x negative weight over these pairs, as a
    float and its rounding error: whole numbers stay exact up to 2^106. `positive` and `negative` receive the
    weight of each class. `spare` is the weight of entries that are not listed: negatives with score 0.
    """
    for group in range(starts.size - 1):
        entry, stop = starts[group], starts[group + 1]
        before, below, pairs, rest = 0.0, 0.0, 0.0, 0.0
        waiting = spare[group]
        while entry < stop or waiting != 0.0:
            hits, misses, entry, waiting = _take_step(entry, stop, waiting, truth, scores, weights)
            above = 2.0 * before + hits
            product = misses * above  # and its rounding error (Dekker)
            xs, ys = SPLITTER * misses, SPLITTER * above
            xh, yh = xs - (xs - misses), ys - (ys - above)
            xl, yl = misses - xh, above - yh
            rest += ((xh * yh - product) + xh * yl + xl * yh) + xl * yl
            total = pairs + product  # and its rounding error (Knuth)
            added = total - pairs
            rest += (pairs - (total - added)) + (product - added)
            pairs = total
            before += hits
            below += misses
        doubled[group, 0], doubled[group, 1], positive[group], negative[group] = pairs, rest, before, below


@kernel("i8[:]", "b1[:]", "f8[:]", "f8[:]", "f8[:]", "f8", "f8[:,:]")
def follow_curves(starts, truth, scores, weights, spare, max_fpr, values):
    """Write each group's average precision and its area under the ROC curve up to `max_fpr` into `values`.

    Entries of a group are sorted by descending score; `spare` is the weight of its other cells, negatives with
    score 0. `starts` are int [n_groups + 1], `truth`, `scores` and `weights` [n], `spare` float64 [n_groups],
    and `values` float64 [n_groups, 4]: the last two are the weights of positives and negatives.
    """
    for group in range(starts.size - 1):
        entry, stop = starts[group], starts[group + 1]
        waiting = spare[group]
        positive, negative = 0.0, waiting
        for i in range(entry, stop):
            if truth[i]:
                positive += weights[i]
            else:
                negative += weights[i]
        before, below, precision, area = 0.0, 0.0, 0.0, 0.0
        limit = max_fpr * negative
        while entry < stop or waiting != 0.0:
            hits, misses, entry, waiting = _take_step(entry, stop, waiting, truth, scores, weights)
            inside = max(min(misses, limit - below), 0.0)  # the part of this step to the left of max_fpr
            if inside > 0.0:
                area += inside * (before + 0.5 * hits * inside / misses)
            before += hits
            below += misses
            if before + below != 0.0:
                precision += hits * (before / (before + below))
        values[group, 0] = max(precision / positive, 0.0) if positive != 0.0 else 0.0
        values[group, 1] = area / (positive * negative) if positive * negative != 0.0 else 0.0
        values[group, 2], values[group, 3] = positive, negative
