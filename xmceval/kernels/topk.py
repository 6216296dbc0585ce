"""Top-k kernels: the k best labels of each row, and the values of metrics at cutoffs."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.decorators import helper, kernel

HIT, PROPENSITY, GRADE, EXP_GRADE = 0, 1, 2, 3

SUM, ANY, FIRST, PRECISION = 0, 1, 2, 3

N_GAINS = 4

LARGEST_KEY = 2**63 - 1

# Orders of the tied labels: by label, gains descending, gains ascending; and the ideal ranking.
BY_LABEL, BEST, WORST, PERFECT = 0, 1, 2, 3

# Slots of `counts`: these, then for each cutoff the rows with fewer predictions and the rows with a tie across it.
ROWS, EMPTY_ROWS, TRUE_LABELS, PREDICTIONS, INSIDE_TIES, FIRST_CUTOFF = 0, 1, 2, 3, 4, 5

SLOTS = 5  # of a row's values for an output: numerator, denominator, best - num, worst - num, ceiling

# For speed and compile time, no helper is called with a slice (each counts references, at the price of a dozen
# additions), nor with a literal number (each compiles the helper again).


@kernel
def top_k(rows, ranking):
    """Write the best labels of each row, best first; equal scores in the order of the labels.

    Parameters
    ----------
    rows : indptr, indices, scores
    ranking : ranked labels [n_rows, depth], their scores [n_rows, depth], and their number [n_rows]
    """
    indptr, indices, scores = rows
    ranked, ranked_scores, n_ranked = ranking
    depth = ranked.shape[1]
    for row in range(indptr.size - 1):
        count = 0
        worst = -np.inf
        for entry in range(indptr[row], indptr[row + 1]):
            score = scores[entry]
            if count == depth and score < worst:
                continue
            label = indices[entry]
            if count == depth and score == worst and label > ranked[row, depth - 1]:
                continue
            j = count if count < depth else depth - 1  # j: rank - 1
            while j > 0 and (
                score > ranked_scores[row, j - 1] or (score == ranked_scores[row, j - 1] and label < ranked[row, j - 1])
            ):
                ranked[row, j] = ranked[row, j - 1]
                ranked_scores[row, j] = ranked_scores[row, j - 1]
                j -= 1
            ranked[row, j] = label
            ranked_scores[row, j] = score
            if count < depth:
                count += 1
            worst = ranked_scores[row, count - 1]
        n_ranked[row] = count


@helper
def _position(indices, start, stop, label):
    """Index of a label in ascending labels, or -1."""
    length = stop - start
    if length <= 0:
        return -1
    while length > 1:  # without a branch that depends on what is compared
        half = length >> 1
        start += half if indices[start + half] <= label else 0
        length -= half
    return start if indices[start] == label else -1


@helper
def _code(label, ids, codes):
    """Index of a label's inverse propensity in the table of their values; `ids` is empty where labels index codes."""
    if ids.size > 0:
        label = _position(ids, np.int64(0), ids.size, label)
    return np.int64(codes[label]) if 0 <= label < codes.size else np.int64(0)


@helper
def _gain(kind, grade, label, ids, codes, inverse):
    """Gain of a true label."""
    if kind == HIT:
        return 1.0
    if kind == PROPENSITY:
        return inverse[_code(label, ids, codes)]
    return grade if kind == GRADE else 2.0**grade - 1.0


@helper
def _insert(best, row, count, first, depth, value):
    """Insert into the `count` ascending values of best[row, first:depth], dropping what falls off; return `count`."""
    j = first + count
    if j == depth:
        if value >= best[row, depth - 1]:
            return count
        j -= 1
        count -= 1
    while j > first and value < best[row, j - 1]:
        best[row, j] = best[row, j - 1]
        j -= 1
    best[row, j] = value
    return count + 1


@helper
def _least(keys, n, least):
    """Write the least of the first `n` keys, ascending."""
    filled = 0
    bound = LARGEST_KEY
    for i in range(n):
        key = keys[i]
        if key < bound:
            j = filled if filled < least.size else least.size - 1
            while j > 0 and key < least[j - 1]:
                least[j] = least[j - 1]
                j -= 1
            least[j] = key
            filled += 1
            if filled >= least.size:
                bound = least[least.size - 1]


@helper
def _run(curves, discounts, gains, count, running, order):
    """Write the running sum of every curve along the ranks."""
    depth = gains.shape[1]
    for c in range(curves.shape[0]):
        g, d, fold = curves[c, 0], curves[c, 1], curves[c, 2]
        total = 0.0
        hits = 0
        for j in range(depth):
            if j < count:
                if fold == SUM:
                    total += gains[g, j] * discounts[d, j]
                elif gains[g, j] > 0.0:
                    hits += 1
                    if fold == PRECISION:
                        total += hits / (j + 1)
                    elif hits == 1:
                        total = 1.0 if fold == ANY else 1.0 / (j + 1)
            running[order, c, j] = total


@helper
def _order_ties(
    row, g, sign, first, last, truth_indices, grades, pred_indptr, pred_indices, scores, omitted,
    ranked, ranked_scores, n_ranked, ids, codes, inverse, gains,
):  # fmt: skip
    """Write a row's gains with each group of tied labels in the order of sign * gain, ascending."""
    start, depth = 0, gains.shape[1]
    while start < depth and start < n_ranked[row]:
        stop = start + 1
        while stop < n_ranked[row] and ranked_scores[row, stop] == ranked_scores[row, start]:
            stop += 1
        # A group that extends beyond the cutoff is gathered from the whole row, any other from the ranked labels.
        beyond = stop > depth
        begin = pred_indptr[row] if beyond else start
        end = pred_indptr[row + 1] if beyond else stop
        n_omitted = omitted[row] if omitted.size > 0 and beyond and stop == n_ranked[row] else 0
        stop = stop if stop < depth else depth
        count = np.int64(0)
        for place in range(begin, end):
            label = pred_indices[place] if beyond else ranked[row, place]
            if not beyond or scores[place] == ranked_scores[row, start]:
                at = _position(truth_indices, first, last, label)
                gain = _gain(g, grades[at], label, ids, codes, inverse) if at >= 0 else 0.0
                count = _insert(gains, g, count, start, stop, sign * gain)
        for _ in range(n_omitted if n_omitted < stop - start else stop - start):
            count = _insert(gains, g, count, start, stop, sign * 0.0)
        for j in range(start, stop):
            gains[g, j] = sign * gains[g, j]
        start = stop


@kernel
def count_rows(truth_indptr, pred_indptr, ranking, cutoffs, drop_empty, counts):
    """Count rows, labels and predictions, and by cutoff the rows with fewer predictions and with a tie across it."""
    _, ranked_scores, n_ranked = ranking
    for row in range(truth_indptr.size - 1):
        n, n_best = truth_indptr[row + 1] - truth_indptr[row], n_ranked[row]
        if n == 0:
            counts[EMPTY_ROWS] += 1
            if drop_empty:
                continue
        counts[ROWS] += 1
        counts[TRUE_LABELS] += n
        counts[PREDICTIONS] += pred_indptr[row + 1] - pred_indptr[row]
        ties = 0
        for j in range(1, n_best):
            ties += ranked_scores[row, j] == ranked_scores[row, j - 1]
        across = 0
        for i in range(cutoffs.size):
            k = cutoffs[i]
            counts[FIRST_CUTOFF + 2 * i] += n_best < k
            if k < n_best and ranked_scores[row, k] == ranked_scores[row, k - 1]:
                counts[FIRST_CUTOFF + 2 * i + 1] += 1
                across += 1
        counts[INSIDE_TIES] += ties > 0 and across == 0


@kernel
def compute_rows(
    truth, predictions, ranking, propensities, recipe, drop_empty, expected, bins, space, keys, values, shares
):
    """Write the values of every output for each row, and the shares of bins of labels in them.

    Parameters
    ----------
    truth : indptr, indices, grades
        Labels ascend within a row.
    predictions : indptr, indices, scores, omitted
        `omitted` has for each row how many labels that tie with the last of the ranking are not among these, none of
        them true; it is empty where no label is missing.
    ranking : as in `top_k`
        One label deeper than the deepest cutoff, so that ties across that cutoff show.
    propensities : ids, codes, inverse
        `codes` ascend as the inverse propensities that they index descend; `ids` is empty where labels index `codes`.
    recipe : curves, discounts, outputs, slopes, levels
        As in scoring/topk.py. An output's divisor is slope * n + level[min(k, n)], or the ideal where the slope is
        negative.
    drop_empty : bool
    expected : float64 [n_rows, n_curves, depth]
        Mean running sums over the orders of tied labels, or no rows where their order by label counts.
    bins : int64
        The bin of a label by its code.
    space : used, gains, ideals, running, least_keys, rank_bins
        Working space.
    keys : int64
        Working space, as long as the longest row of truth.
    values : float64 [n_rows, n_outputs, SLOTS]
        Numerator, denominator, how far ties could move the numerator up and down, and the ideal ranking's numerator.
    shares : float64 [n_rows, n_outputs * n_bins, SLOTS]
        The same for the part of the numerator that labels of each bin contribute, bin by bin for each output; or no
        rows.
    """
    truth_indptr, truth_indices, grades = truth
    pred_indptr, pred_indices, scores, omitted = predictions
    ranked, ranked_scores, n_ranked = ranking
    ids, codes, inverse = propensities
    curves, discounts, outputs, slopes, levels = recipe
    used, gains, ideals, running, least_keys, rank_bins = space
    depth = gains.shape[1]
    n_bins = shares.shape[1] // outputs.shape[0] if shares.shape[0] > 0 else 0
    for row in range(truth_indptr.size - 1):  # g: kind of gain, c: curve, o: output, j: rank - 1
        first, last = truth_indptr[row], truth_indptr[row + 1]
        n, n_best = last - first, n_ranked[row]
        ties = 0
        for j in range(1, n_best):
            ties += ranked_scores[row, j] == ranked_scores[row, j - 1]
        count = n_best if n_best < depth else depth
        least = n if n < depth else depth
        for j in range(count):
            label = ranked[row, j]
            at = _position(truth_indices, first, last, label)
            for g in range(N_GAINS):
                if used[g] > 0:
                    gains[g, j] = _gain(g, grades[at], label, ids, codes, inverse) if at >= 0 else 0.0
            if n_bins > 0:
                rank_bins[j] = bins[_code(label, ids, codes)]
        others = 0
        for i in range(n):
            others += grades[first + i] != 1.0
        for g in range(N_GAINS):
            if used[g] == 0:
                continue
            if g == PROPENSITY:
                # All are looked up before any is compared: look-ups that miss the cache then miss it together.
                if ids.size > 0:
                    for i in range(n):
                        keys[i] = _code(truth_indices[first + i], ids, codes)
                else:
                    for i in range(n):
                        label = truth_indices[first + i]
                        keys[i] = codes[label] if label < codes.size else 0
            elif g != HIT and others > 0:
                for i in range(n):
                    keys[i] = -np.int64(grades[first + i])
            else:
                for j in range(least):
                    ideals[g, j] = 1.0
                continue
            _least(keys, n, least_keys)
            for j in range(least):
                key = least_keys[j]
                ideals[g, j] = inverse[key] if g == PROPENSITY else _gain(g, -float(key), first, ids, codes, inverse)
        for order in range(BY_LABEL, PERFECT + 1):
            if order == PERFECT:
                _run(curves, discounts, ideals, least, running, order)
            elif order == BY_LABEL or ties > 0:
                sign = -1.0 if order == BEST else 1.0
                for g in range(N_GAINS if order > BY_LABEL else 0):
                    if used[g] > 0:
                        _order_ties(
                            row, g, sign, first, last, truth_indices, grades, pred_indptr, pred_indices, scores,
                            omitted, ranked, ranked_scores, n_ranked, ids, codes, inverse, gains,
                        )  # fmt: skip
                _run(curves, discounts, gains, count, running, order)

        for o in range(outputs.shape[0]):
            c, j, is_ratio, is_complement = outputs[o, 0], outputs[o, 1] - 1, outputs[o, 2], outputs[o, 3]
            got, ideal = running[BY_LABEL, c, j], running[PERFECT, c, j]
            divisor = ideal if slopes[o] < 0 else slopes[o] * n + levels[o, n if n <= j else j + 1]
            if expected.shape[0] > 0 and ties > 0:
                got = expected[row, c, j]
            value, most, best, worst = 0.0, 0.0, 0.0, 0.0
            if n > 0 and divisor > 0.0:
                value, most = got / divisor, ideal / divisor
                if ties > 0:
                    best = (running[BEST, c, j] - got) / divisor
                    worst = (running[WORST, c, j] - got) / divisor
            ceiling = most
            if is_complement > 0:
                value, best, worst, ceiling = 1.0 - value, -best, -worst, 1.0 - most
            if is_ratio == 0:
                most = 1.0
            if n == 0 and drop_empty:
                value, most, ceiling = 0.0, 0.0, 0.0
            values[row, o, 0], values[row, o, 1] = value, most
            values[row, o, 2], values[row, o, 3], values[row, o, 4] = best, worst, ceiling
            if n_bins > 0:
                for b in range(o * n_bins, (o + 1) * n_bins):
                    for i in range(shares.shape[2]):
                        shares[row, b, i] = most if i == 1 else 0.0
                before = 0.0
                for i in range(j + 1 if j < count else count):
                    step = running[BY_LABEL, c, i] - before
                    before = running[BY_LABEL, c, i]
                    if step > 0.0 and divisor > 0.0:
                        shares[row, o * n_bins + rank_bins[i], 0] += step / divisor
