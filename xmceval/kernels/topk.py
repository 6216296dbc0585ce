"""Top-k kernels: counts of ranked rows, and the values of metrics at cutoffs."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.decorators import helper, kernel

HIT, PROPENSITY, GRADE, EXP_GRADE = 0, 1, 2, 3

SUM, ANY, FIRST, PRECISION = 0, 1, 2, 3

N_GAINS = 4

LARGEST_KEY = 2**63 - 1

PLACE_BITS = 31  # of a key; a code, which is an int32, is above them
PLACE_MASK = (1 << PLACE_BITS) - 1

FEW = 16  # keys: so many are selected one by one, more by sorting

# Slots of `counts`: these, then for each cutoff the rows with fewer predictions and the rows with a tie across it.
ROWS, EMPTY_ROWS, TRUE_LABELS, PREDICTIONS, INSIDE_TIES, FIRST_CUTOFF = 0, 1, 2, 3, 4, 5

SLOTS = 5  # of a row's values for an output: numerator, denominator, best - num, worst - num, ceiling

ACTUAL, IDEAL = 0, 1

# For speed and compile time, no helper is called with a slice (each counts references, at the price of a dozen
# additions), nor with a literal number (each compiles the helper again).


@helper
def _find(indices, first, n, ranked, row, count, places):
    """Write for each ranked label the place of the last of `n` ascending labels that is not above it; 0 if none is."""
    for j in range(count):
        places[j] = 0
    while n > 1:  # all labels are searched together, without a branch that depends on what is compared
        half = n >> 1
        for j in range(count):
            place = places[j] + half
            places[j] = place if indices[first + place] <= ranked[row, j] else places[j]
        n -= half


@helper
def _code(label, ids, codes):
    """Index of a label's inverse propensity in the table of their values; `ids` is empty where labels index codes."""
    if ids.size > 0:
        start, length = np.int64(0), ids.size
        while length > 1:
            half = length >> 1
            start += half if ids[start + half] <= label else 0
            length -= half
        label = start if ids[start] == label else -1
    return np.int64(codes[label]) if 0 <= label < codes.size else np.int64(0)


@helper
def _sort(keys, n):
    """Sort the first `n` keys: heap sort, n log n in any order."""
    for begin in range(n // 2 - 1, -n, -1):
        end = n if begin >= 0 else n + begin
        if begin < 0:
            keys[0], keys[end] = keys[end], keys[0]
        root = begin if begin > 0 else 0
        key = keys[root]
        child = 2 * root + 1
        while child < end:
            child += child + 1 < end and keys[child + 1] > keys[child]
            if keys[child] <= key:
                break
            keys[root] = keys[child]
            root = child
            child = 2 * root + 1
        keys[root] = key


@helper
def _run(curves, discounts, gains, count, running, side):
    """Write the running sum of every curve along the first `count` ranks."""
    for c in range(curves.shape[0]):
        g, d, fold = curves[c, 0], curves[c, 1], curves[c, 2]
        total = 0.0
        if fold == SUM:
            for j in range(count):
                total += gains[g, j] * discounts[d, j]
                running[side, c, j] = total
            continue
        hits = 0
        for j in range(count):
            if gains[g, j] > 0.0:
                hits += 1
                if fold == PRECISION:
                    total += hits / (j + 1)
                elif hits == 1:
                    total = 1.0 if fold == ANY else 1.0 / (j + 1)
            running[side, c, j] = total


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
def compute_rows(truth, ranking, propensities, recipe, drop_empty, has_ties, expects, bins, space, values, shares):
    """Write the values of every output for each row, and the shares of bins of labels in them.

    Parameters
    ----------
    truth : indptr, indices, grades
        Labels ascend within a row.
    ranking : ranked labels [n_rows, depth + 1], their scores, and their number [n_rows]
        One label deeper than the deepest cutoff, so that ties across that cutoff show.
    propensities : ids, codes, inverse
        `codes` ascend as the inverse propensities that they index descend; `ids` is empty where labels index `codes`.
    recipe : curves, discounts, outputs, divisors, levels
        As in scoring/topk.py.
    drop_empty : bool
    has_ties : bool
        Whether `values` has for rows with ties what kernels/ties.py writes there.
    expects : bool
        Whether that includes the mean over all orders of tied labels, which counts then.
    bins : int64
        The bin of a label by its code.
    space : used, gains, running, keys, places, rank_bins
        Working space; as many keys as the longest row of truth.
    values : float64 [n_rows, n_outputs, SLOTS]
        Numerator, denominator, how far ties could move the numerator up and down, and the ideal ranking's numerator.
    shares : float64 [n_rows, n_outputs * n_bins, SLOTS]
        The same for the part of the numerator that labels of each bin contribute, bin by bin for each output; or no
        rows.
    """
    truth_indptr, truth_indices, grades = truth
    ranked, ranked_scores, n_ranked = ranking
    ids, codes, inverse = propensities
    curves, discounts, outputs, divisors, levels = recipe
    used, gains, running, keys, places, rank_bins = space
    depth = discounts.shape[1]
    n_bins = shares.shape[1] // outputs.shape[0] if shares.shape[0] > 0 else 0
    for row in range(truth_indptr.size - 1):  # g: kind of gain, c: curve, o: output, j: rank - 1
        first, last = truth_indptr[row], truth_indptr[row + 1]
        n, n_best = last - first, n_ranked[row]
        ties = 0
        if has_ties:
            for j in range(1, n_best):
                ties += ranked_scores[row, j] == ranked_scores[row, j - 1]
        count = n_best if n_best < depth else depth
        least = n if n < depth else depth
        if used[PROPENSITY] > 0:
            if ids.size > 0:
                for i in range(n):
                    keys[i] = _code(truth_indices[first + i], ids, codes) << PLACE_BITS | i
            else:  # a loop of vector instructions
                for i in range(n):
                    label = truth_indices[first + i]
                    code = np.int64(codes[label]) if label < codes.size else np.int64(0)
                    keys[i] = code << PLACE_BITS | i
        _find(truth_indices, first, n, ranked, row, count, places)
        for j in range(count):
            at = places[j]
            is_hit = n > 0 and truth_indices[first + at] == ranked[row, j]
            gains[HIT, j] = 1.0 if is_hit else 0.0
            if used[PROPENSITY] > 0:
                gain = inverse[keys[at] >> PLACE_BITS] if n > 0 else 0.0
                gains[PROPENSITY, j] = gain if is_hit else 0.0
            if used[GRADE] > 0:
                gains[GRADE, j] = grades[first + at] if is_hit else 0.0
            if used[EXP_GRADE] > 0:
                gains[EXP_GRADE, j] = 2.0 ** grades[first + at] - 1.0 if is_hit else 0.0
            if n_bins > 0:
                rank_bins[j] = bins[_code(ranked[row, j], ids, codes)]
        _run(curves, discounts, gains, count, running, ACTUAL)

        if used[PROPENSITY] > 0:
            if least > FEW:
                _sort(keys, n)
                for j in range(least):
                    gains[PROPENSITY, j] = inverse[keys[j] >> PLACE_BITS]
            else:
                for j in range(least):
                    key = LARGEST_KEY
                    for i in range(n):
                        key = keys[i] if keys[i] < key else key
                    keys[key & PLACE_MASK] = LARGEST_KEY
                    gains[PROPENSITY, j] = inverse[key >> PLACE_BITS]
        others = 0
        if used[GRADE] + used[EXP_GRADE] > 0:
            for i in range(n):
                others += grades[first + i] != 1.0
        for j in range(least):
            gains[HIT, j] = gains[GRADE, j] = gains[EXP_GRADE, j] = 1.0
        if others > 0:
            for i in range(n):
                keys[i] = -np.int64(grades[first + i])
            _sort(keys, n)
            for j in range(least):
                grade = -float(keys[j])
                gains[GRADE, j], gains[EXP_GRADE, j] = grade, 2.0**grade - 1.0
        _run(curves, discounts, gains, least, running, IDEAL)

        for o in range(outputs.shape[0]):
            c, k, is_ratio, is_complement = outputs[o, 0], outputs[o, 1], outputs[o, 2], outputs[o, 3]
            level = outputs[o, 4]
            deepest = k if k < count else count
            got = running[ACTUAL, c, deepest - 1] if deepest > 0 else 0.0
            shallow = k if k < n else n
            ideal = running[IDEAL, c, shallow - 1] if shallow > 0 else 0.0
            divisor = ideal
            if level >= 0:
                divisor = divisors[o, 0] * n + (divisors[o, 1] + levels[level, shallow])
            if ties > 0 and expects:
                got = values[row, o, 0]
            value, most, best, worst = 0.0, 0.0, 0.0, 0.0
            if n > 0 and divisor > 0.0:
                value, most = got / divisor, ideal / divisor
                if ties > 0:
                    best = (values[row, o, 2] - got) / divisor
                    worst = (values[row, o, 3] - got) / divisor
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
                for i in range(deepest):
                    step = running[ACTUAL, c, i] - before
                    before = running[ACTUAL, c, i]
                    if step > 0.0 and divisor > 0.0:
                        shares[row, o * n_bins + rank_bins[i], 0] += step / divisor
