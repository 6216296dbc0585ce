"""Drop-in kernels: tie-averaged gains, and curves of sorted entries beside implicit zeros."""

from __future__ import annotations

from xmceval.kernels.compile.decorators import kernel


@kernel
def average_gains(starts, gains, scores, n_labels, discounts, values):
    """Write each row's DCG, the mean over all orders of equal scores.

    `discounts[j]` is the sum of the first j discounts; past its end they are zero.
    """
    last = discounts.size - 1
    for row in range(starts.size - 1):
        entry, stop = starts[row], starts[row + 1]
        waiting = n_labels - (stop - entry)
        rank, total = 0, 0.0
        while entry < stop and rank < last:
            if waiting > 0 and scores[entry] < 0.0:
                rank += waiting
                waiting = 0
                continue
            score, gain, size = scores[entry], 0.0, 0
            while entry < stop and scores[entry] == score:
                gain += gains[entry]
                size += 1
                entry += 1
            if score == 0.0:
                size += waiting
                waiting = 0
            total += gain / size * (discounts[min(rank + size, last)] - discounts[min(rank, last)])
            rank += size
        values[row] = total


@kernel
def follow_curves(starts, truth, scores, weights, spare, max_fpr, values):
    """Write each group's average precision and its area under the ROC curve up to `max_fpr` into `values`.

    Entries of a group are sorted by descending score; `spare` is the weight of its other cells, false with score 0.
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
            inside = max(min(misses, limit - below), 0.0)  # the part of this step on the left of max_fpr
            if inside > 0.0:
                area += inside * (before + 0.5 * hits * inside / misses)
            before += hits
            below += misses
            if before + below != 0.0:
                precision += hits * (before / (before + below))
        values[group, 0] = max(precision / positive, 0.0) if positive != 0.0 else 0.0
        values[group, 1] = area / (positive * negative) if positive * negative != 0.0 else 0.0
        values[group, 2], values[group, 3] = positive, negative
