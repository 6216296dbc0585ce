"""AUC kernel: ordered pairs within groups of a sorted list."""

from __future__ import annotations

from xmceval.kernels.compile.decorators import kernel

SPLITTER = float((1 << 27) + 1)


@kernel
def sum_ordered_pairs(starts, truth, scores, weights, spare, doubled, positive, negative):
    """Sum the pairs in order of each group, whose entries are sorted by descending score; a tie is half a pair.

    `doubled` [n_groups, 2] gets twice the sum of positive weight x negative weight over those pairs, as a float and
    what rounding left of it: whole numbers stay exact up to 2^106. `positive` and `negative` get the weight of each
    class. `spare` is the weight of entries that are not listed: negatives with score 0.
    """
    for group in range(starts.size - 1):
        stop = starts[group + 1]
        entry = starts[group]
        before, below, pairs, rest = 0.0, 0.0, 0.0, 0.0
        waiting = spare[group]
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
            above = 2.0 * before + hits
            product = misses * above  # and what rounding left of it (Dekker)
            xs, ys = SPLITTER * misses, SPLITTER * above
            xh, yh = xs - (xs - misses), ys - (ys - above)
            xl, yl = misses - xh, above - yh
            rest += ((xh * yh - product) + xh * yl + xl * yh) + xl * yl
            total = pairs + product  # and what rounding left of it (Knuth)
            added = total - pairs
            rest += (pairs - (total - added)) + (product - added)
            pairs = total
            before += hits
            below += misses
        doubled[group, 0], doubled[group, 1], positive[group], negative[group] = pairs, rest, before, below
