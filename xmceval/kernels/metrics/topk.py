"""Kernels that compute metrics at cutoffs, such as P@k, for scoring/tasks/topk, and count rows and labels."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.rows.order import bits_of, position, power_of_2, sort

HIT, PROPENSITY, GRADE, EXP_GRADE = 0, 1, 2, 3

SUM, ANY, FIRST, PRECISION = 0, 1, 2, 3

N_GAINS = 4

BEST = 16  # codes; at most this many are selected by insertion, otherwise all are sorted

# Slots of `counts`: these, then for each cutoff the rows with fewer predictions and the rows with a tie across it.
ROWS, EMPTY_ROWS, TRUE_LABELS, PREDICTIONS, INSIDE_TIES, LOWEST, ROUNDED, FIRST_CUTOFF = 0, 1, 2, 3, 4, 5, 6, 7

LOWEST_FLOAT, LOWEST_HALF = -3.38e38, -65504.0  # only the lowest float32 and bfloat16 are below; lowest float16

STEPS = 1e-6  # larger than any step that raises equal scores of a run

LARGEST_WHOLE = 2.0**53  # from here on, float64 cannot represent all whole numbers

SLOTS = 5  # values of a row for an output: numerator, denominator, best - num, worst - num, ceiling

ACTUAL, IDEAL = 0, 1

# For speed and compile time, no helper is called with a slice in every row of a typical score (each slice
# counts references, which costs a dozen additions), or with a literal number (each compiles the helper again).


@helper
def _code(label, ids, codes):
    """Return the index of a label's inverse propensity in their table; `ids` is empty if labels index codes."""
    if ids.size > 0:
        label = position(ids, np.int64(0), ids.size, label)
    return np.int64(codes[label]) if 0 <= label < codes.size else np.int64(0)


@helper
def _sort(keys, n):
    """Sort the first `n` keys; a helper, so that two calls are compiled once."""
    sort(keys, n)


@helper
def _sort_least(keys, first, n, count):
    """Move the smallest `count` of `n` keys from `first` on to their front, in order; the others are lost."""
    last = first + count - 1  # position of the largest of them
    for i in range(first + 1, first + n):
        key, place = keys[i], i
        if i > last:
            if last < first or keys[last] <= key:
                continue
            place = last
        while place > first and keys[place - 1] > key:
            keys[place] = keys[place - 1]
            place -= 1
        keys[place] = key


@helper
def _look_up(labels, ids, codes, keys):
    """Write the code of each label, all in one loop, so that the processor overlaps memory accesses."""
    if ids.size > 0:
        for i in range(labels.size):
            keys[i] = _code(labels[i], ids, codes)
    else:
        for i in range(np.uint64(labels.size)):
            label = np.uint64(labels[i])
            keys[i] = np.int64(codes[label]) if label < np.uint64(codes.size) else np.int64(0)


@helper
def _run(curves, discounts, gains, side, count, running):
    """Write running sums of each curve along the first `count` ranks; ideals of hits are already there."""
    for c in range(curves.shape[0]):
        g, d, fold = curves[c, 0], curves[c, 1], curves[c, 2]
        if side == IDEAL and g == HIT:
            continue
        total = 0.0
        hits = 0
        for j in range(count):
            gain = gains[side, g, j]
            hits += gain > 0.0
            if fold == SUM:
                total += gain * discounts[d, j]
            elif gain > 0.0:
                if fold == PRECISION:
                    total += hits / (j + 1)
                elif hits == 1:
                    total = 1.0 if fold == ANY else 1.0 / (j + 1)
            running[side, c, j + 1] = total


@kernel("i8[:]", "i8[:]", ("i8[:,:]", "f8[:,:]", "i8[:]"), "i8[:]", "b1", "i8[:]", returns="i8")
def count_rows(truth_indptr, pred_indptr, ranking, cutoffs, drop_empty, counts):
    """Count rows, labels and predictions, and by cutoff the rows with fewer predictions and with a tie across it.

    Also count rows with the lowest finite float within a cutoff, and rows with ties of possibly rounded
    numbers. `cutoffs` are int64 [n_cutoffs], `counts` int64 [FIRST_CUTOFF + 2 * n_cutoffs]. Return the largest
    number of predictions in a row, at least 1.
    """
    _, ranked_scores, n_ranked = ranking
    longest = np.int64(1)
    deepest = cutoffs[cutoffs.size - 1] if cutoffs.size > 0 else 0
    for row in range(truth_indptr.size - 1):
        n, n_best = truth_indptr[row + 1] - truth_indptr[row], n_ranked[row]
        n_predicted = pred_indptr[row + 1] - pred_indptr[row]
        longest = n_predicted if n_predicted > longest else longest
        if n == 0:
            counts[EMPTY_ROWS] += 1
            if drop_empty:
                continue
        counts[ROWS] += 1
        counts[TRUE_LABELS] += n
        counts[PREDICTIONS] += n_predicted
        ties = lowest = rounded = 0
        for j in range(n_best):
            score = ranked_scores[row, j]
            is_tied = j > 0 and score == ranked_scores[row, j - 1]
            is_lowest = score <= LOWEST_FLOAT or abs(score - LOWEST_HALF) < STEPS
            ties += is_tied
            lowest += is_lowest and j < deepest
            rounded += is_tied and not is_lowest and LARGEST_WHOLE <= abs(score) < np.inf
        counts[LOWEST] += lowest > 0
        counts[ROUNDED] += rounded > 0
        across = 0
        for i in range(cutoffs.size):
            k = cutoffs[i]
            counts[FIRST_CUTOFF + 2 * i] += n_best < k
            if k < n_best and ranked_scores[row, k] == ranked_scores[row, k - 1]:
                counts[FIRST_CUTOFF + 2 * i + 1] += 1
                across += 1
        counts[INSIDE_TIES] += ties > 0 and across == 0
    return longest


@kernel(
    ("i8[:]", "i8[:]", "f8[:]"),
    ("i8[:,:]", "f8[:,:]", "i8[:]"),
    ("i8[:]", "i4[:]", "f8[:]"),
    ("i8[:,:]", "f8[:,:]", "i8[:,:]", "f8[:,:]", "f8[:,:]"),
    "b1",
    "b1",
    "b1",
    "i8[:]",
    ("i8[:]", "f8[:,:,:]", "f8[:,:,:]", "i8[:]", "i8[:]"),
    "f8[:,:,:]",
    "f8[:,:,:]",
)
def compute_rows(truth, ranking, propensities, recipe, drop_empty, has_ties, expects, bins, space, values, shares):
    """Write the values of every output for each row, and the shares of bins of labels in them.

    Parameters
    ----------
    truth : indptr, indices, grades
        Labels ascend within a row.
    ranking : ranked labels [n_rows, depth + 1], their scores, and their number [n_rows]
        One label deeper than the deepest cutoff, so that ties across that cutoff are visible.
    propensities : ids, codes, inverse
        `codes` index `inverse`, the descending inverse propensities; `ids` is empty if labels index `codes`.
    recipe : curves, discounts, outputs, divisors, levels
        As in scoring/topk.py.
    drop_empty : bool
    has_ties : bool
        Whether `values` already has the results of kernels/ties.py for rows with ties.
    expects : bool
        Whether these include the mean over all orders of tied labels, which is then the value.
    bins : int64
        The bin of a label by its code.
    space : used, gains, running, keys, rank_bins
        Scratch space: one key per label of the longest row of truth if gains depend on labels; and
        `running[IDEAL]` has the sums of curves whose gain is HIT.
    values : float64 [n_rows, n_outputs, SLOTS]
        Numerator, denominator, how far ties could move the numerator up and down, and the numerator of the
        ideal ranking.
    shares : float64 [n_rows, n_outputs * n_bins, SLOTS]
        The same for the contribution of the labels of each bin to the numerator, bin by bin for each output; or
        without rows.
    """
    truth_indptr, truth_indices, grades = truth
    ranked, ranked_scores, n_ranked = ranking
    ids, codes, inverse = propensities
    curves, discounts, outputs, divisors, levels = recipe
    used, gains, running, keys, rank_bins = space
    depth = discounts.shape[1]
    n_bins = shares.shape[1] // outputs.shape[0] if shares.shape[0] > 0 else 0
    is_weighted, is_graded = used[PROPENSITY] > 0, used[GRADE] + used[EXP_GRADE] > 0
    if is_weighted:
        _look_up(truth_indices[: truth_indptr[-1]], ids, codes, keys)
    for row in range(truth_indptr.size - 1):  # g: kind of gain, c: curve, o: output, j: rank - 1
        first, last = truth_indptr[row], truth_indptr[row + 1]
        n, n_best = last - first, n_ranked[row]
        ties = 0
        if has_ties:
            for j in range(1, n_best):
                ties += ranked_scores[row, j] == ranked_scores[row, j - 1]
        count = n_best if n_best < depth else depth
        least = n if n < depth else depth
        for j in range(count):
            place = position(truth_indices, first, last, ranked[row, j])
            is_hit = place >= 0
            gains[ACTUAL, HIT, j] = 1.0 if is_hit else 0.0
            if is_weighted:
                gain = inverse[keys[place]] if is_hit else 0.0
                gains[ACTUAL, PROPENSITY, j] = gain
            if is_graded:
                grade = grades[place] if is_hit else 0.0
                gains[ACTUAL, GRADE, j], gains[ACTUAL, EXP_GRADE, j] = grade, power_of_2(grade) - 1.0
            if n_bins > 0:
                rank_bins[j] = bins[_code(ranked[row, j], ids, codes)]
        if is_weighted:
            if least > BEST:
                _sort(keys[first:last], n)
            else:
                _sort_least(keys, first, n, least)
            for j in range(least):
                gains[IDEAL, PROPENSITY, j] = inverse[keys[first + j]]
        if is_graded:
            others = 0
            for i in range(first, last):
                keys[i] = -bits_of(grades[i])
                others += grades[i] != 1.0
            if others > 0:
                _sort(keys[first:last], n)
            for j in range(least):
                grade = np.int64(-keys[first + j]).view(np.float64)
                gains[IDEAL, GRADE, j], gains[IDEAL, EXP_GRADE, j] = grade, power_of_2(grade) - 1.0
        for side in range(2):
            _run(curves, discounts, gains, side, least if side == IDEAL else count, running)

        for o in range(outputs.shape[0]):
            c, k, is_ratio, is_complement = outputs[o, 0], outputs[o, 1], outputs[o, 2], outputs[o, 3]
            level = outputs[o, 4]
            deepest, shallow = k if k < count else count, k if k < n else n
            got, ideal = running[ACTUAL, c, deepest], running[IDEAL, c, shallow]
            divisor = ideal if level < 0 else divisors[o, 0] * n + (divisors[o, 1] + levels[level, shallow])
            divisor += divisors[o, 2] * deepest
            if n == 0 or divisor == 0.0:
                divisor = np.inf
            best = worst = 0.0
            if ties > 0:
                got = values[row, o, 0] if expects else got
                best, worst = (values[row, o, 2] - got) / divisor, (values[row, o, 3] - got) / divisor
            value, most = got / divisor, ideal / divisor
            ceiling = most
            if is_complement > 0:
                value, best, worst, ceiling = 1.0 - value, -best, -worst, 1.0 - most
            if is_ratio == 0:
                most = 1.0
            if n == 0 and drop_empty:
                value = most = ceiling = 0.0
            values[row, o, 0], values[row, o, 1] = value, most
            values[row, o, 2], values[row, o, 3], values[row, o, 4] = best, worst, ceiling
            if n_bins > 0:
                for b in range(o * n_bins, (o + 1) * n_bins):
                    for i in range(shares.shape[2]):
                        shares[row, b, i] = most if i == 1 else 0.0
                before = 0.0
                for i in range(deepest):
                    step = running[ACTUAL, c, i + 1] - before
                    before = running[ACTUAL, c, i + 1]
                    if step > 0.0:
                        shares[row, o * n_bins + rank_bins[i], 0] += step / divisor
