"""Row kernels: the k best labels of each row, and the sums of what they are worth."""

from __future__ import annotations

import math

import numba
import numpy as np

kernel = numba.njit(nogil=True, cache=True, error_model="numpy")

HIT, PROPENSITY, GRADE, EXP_GRADE = 0, 1, 2, 3
SUM, ANY, FIRST, PRECISION = 0, 1, 2, 3
ONE, K, N, MIN_K_N, MEAN_K_N, D_K, D_MIN_K_N, IDEAL = 0, 1, 2, 3, 4, 5, 6, 7
N_GAINS = 4

# Slots of `counts`: these, then for each cut the rows with fewer predictions and the rows with a tie across it.
ROWS, EMPTY_ROWS, TRUE_LABELS, PREDICTIONS, INSIDE_TIES, FIRST_CUT = 0, 1, 2, 3, 4, 5

WORD = 60  # bits of the two lower words of a sum
MASK = (1 << WORD) - 1
UNIT = float(1 << WORD)


@kernel
def top_k(indptr, indices, scores, ranked, ranked_scores, n_ranked):
    """Write the best labels of each row, best first; equal scores in the order of the labels."""
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
                score > ranked_scores[row, j - 1]
                or (score == ranked_scores[row, j - 1] and label < ranked[row, j - 1])
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


@kernel
def _add(sums, x):
    """Add a number to an exact sum of three words: fractions of 2^-60, ones, and 2^60s."""
    if x == 0.0:
        return
    whole = math.floor(x)
    fraction = np.int64(np.rint((x - whole) * UNIT))
    top = math.floor(whole / UNIT)
    low = sums[0] + fraction
    sums[0] = low & MASK
    middle = sums[1] + np.int64(whole - top * UNIT) + (low >> WORD)
    sums[1] = middle & MASK
    sums[2] += np.int64(top) + (middle >> WORD)


@kernel
def _position(indices, start, stop, label):
    """Place of a label in a row's ascending labels, or -1."""
    end = stop
    while start < stop:
        middle = (start + stop) >> 1
        if indices[middle] < label:
            start = middle + 1
        else:
            stop = middle
    return start if start < end and indices[start] == label else -1


@kernel
def _weight(label, ids, inverse, unseen):
    """Inverse propensity of a label; `ids` is empty where `inverse` is indexed by the label itself."""
    if ids.size == 0:
        return inverse[label] if label < inverse.size else unseen
    place = _position(ids, 0, ids.size, label)
    return inverse[place] if place >= 0 else unseen


@kernel
def _gain(kind, grade, label, ids, inverse, unseen):
    """What a true label is worth."""
    if kind == HIT:
        return 1.0
    if kind == PROPENSITY:
        return _weight(label, ids, inverse, unseen)
    return grade if kind == GRADE else 2.0**grade - 1.0


@kernel
def _insert(best, count, value, ascending):
    """Insert a value into the first `count` of a sorted array, dropping what falls off its end; give the new count."""
    depth = best.size
    if count == depth:
        last = best[depth - 1]
        if (value >= last) if ascending else (value <= last):
            return count
        j = depth - 1
    else:
        j = count
        count += 1
    while j > 0 and ((value < best[j - 1]) if ascending else (value > best[j - 1])):
        best[j] = best[j - 1]
        j -= 1
    best[j] = value
    return count


@kernel
def _run(fold, gains, count, discount, curve):
    """Write the running sum of a fold over the gains at each rank."""
    total = 0.0
    hits = 0
    for j in range(curve.size):
        if j < count and gains[j] > 0:
            hits += 1
            if fold == SUM:
                total += gains[j] * discount[j]
            elif fold == PRECISION:
                total += hits / (j + 1)
            elif hits == 1:
                total = 1.0 if fold == ANY else 1.0 / (j + 1)
        curve[j] = total


@kernel
def _divisor(kind, k, n, discount_sum, ideal):
    """What a row's sum is divided by; 0 where the row is worth nothing."""
    least = min(k, n)
    if kind == ONE:
        return 1.0
    if kind == K:
        return float(k)
    if kind == N:
        return float(n)
    if kind == MIN_K_N:
        return float(least)
    if kind == MEAN_K_N:
        return (k + n) / 2
    if kind == D_K:
        return discount_sum[k - 1]
    if kind == D_MIN_K_N:
        return discount_sum[least - 1] if least > 0 else 0.0
    return ideal


@kernel
def _order_ties(row, kind, ascending, truth, predictions, ranking, weights, gains):
    """Write the gains of a row in the worst (ascending) or best order of its tied labels."""
    truth_indptr, truth_indices, grades = truth
    pred_indptr, pred_indices, scores = predictions
    ranked, ranked_scores, n_ranked = ranking
    first, last = truth_indptr[row], truth_indptr[row + 1]
    ids, inverse, unseen = weights
    depth = gains.size
    j = 0
    while j < min(depth, n_ranked[row]):
        score = ranked_scores[row, j]
        # A group that ends before the last rank stands whole among the ranked; the last one may go on beyond them.
        stop = j + 1
        while stop < n_ranked[row] and ranked_scores[row, stop] == score:
            stop += 1
        group = gains[j : min(stop, depth)]
        count = 0
        if stop <= depth:
            for place in range(j, stop):
                at = _position(truth_indices, first, last, ranked[row, place])
                gain = 0.0
                if at >= 0:
                    gain = _gain(kind, grades[at], ranked[row, place], ids, inverse, unseen)
                count = _insert(group, count, gain, ascending)
        else:
            for entry in range(pred_indptr[row], pred_indptr[row + 1]):
                if scores[entry] == score:
                    at = _position(truth_indices, first, last, pred_indices[entry])
                    gain = 0.0
                    if at >= 0:
                        gain = _gain(kind, grades[at], pred_indices[entry], ids, inverse, unseen)
                    count = _insert(group, count, gain, ascending)
        j = stop


@kernel
def add_rows(truth, predictions, ranking, weights, program, drop_empty, sums, counts):
    """Add the rows of a block to the sums of every output.

    `ranking` is one label deeper than the deepest cut, so that ties across that cut show.
    """
    truth_indptr, truth_indices, grades = truth
    ranked, ranked_scores, n_ranked = ranking
    pred_indptr, pred_indices, scores = predictions
    ids, inverse, unseen = weights
    cuts, curves, outputs, discounts, discount_sums = program
    depth = cuts[cuts.size - 1]
    n_curves = curves.shape[0]
    used = np.zeros(N_GAINS, dtype=np.bool_)
    for c in range(n_curves):  # c: curve, g: kind of gain, o: output
        used[curves[c, 0]] = True
    gains = np.zeros((N_GAINS, depth))
    ideals = np.zeros((N_GAINS, depth))
    got = np.zeros((n_curves, depth))
    best = np.zeros((n_curves, depth))
    worst = np.zeros((n_curves, depth))
    ideal = np.zeros((n_curves, depth))

    for row in range(truth_indptr.size - 1):
        first, last = truth_indptr[row], truth_indptr[row + 1]
        n = last - first
        if n == 0:
            counts[EMPTY_ROWS] += 1
            if drop_empty:
                continue
        counts[ROWS] += 1
        counts[TRUE_LABELS] += n
        counts[PREDICTIONS] += pred_indptr[row + 1] - pred_indptr[row]
        n_best = n_ranked[row]
        tied = False
        for j in range(1, min(n_best, depth + 1)):
            if ranked_scores[row, j] == ranked_scores[row, j - 1]:
                tied = True
        across = False
        for i in range(cuts.size):
            k = cuts[i]
            counts[FIRST_CUT + 2 * i] += n_best < k
            if tied and k < n_best and ranked_scores[row, k] == ranked_scores[row, k - 1]:
                counts[FIRST_CUT + 2 * i + 1] += 1
                across = True
        counts[INSIDE_TIES] += tied and not across

        least = min(depth, n)
        if n > 0:
            count = min(depth, n_best)
            for g in range(N_GAINS):
                if used[g]:
                    gains[g, :] = 0.0
            for j in range(count):
                at = _position(truth_indices, first, last, ranked[row, j])
                if at >= 0:
                    for g in range(N_GAINS):
                        if used[g]:
                            gains[g, j] = _gain(g, grades[at], ranked[row, j], ids, inverse, unseen)
            for g in range(N_GAINS):
                if used[g]:
                    if g == HIT:
                        ideals[g, :least] = 1.0
                    else:
                        filled = 0
                        for at in range(first, last):
                            gain = _gain(g, grades[at], truth_indices[at], ids, inverse, unseen)
                            if filled < depth or gain > ideals[g, depth - 1]:
                                filled = _insert(ideals[g], filled, gain, False)
            for c in range(n_curves):
                g, discount, fold = curves[c, 0], discounts[curves[c, 1]], curves[c, 2]
                _run(fold, gains[g], count, discount, got[c])
                if fold == SUM:
                    _run(fold, ideals[g], least, discount, ideal[c])
            if tied:
                for g in range(N_GAINS):
                    if used[g]:
                        for low in range(2):
                            _order_ties(row, g, low == 1, truth, predictions, ranking, weights, gains[g])
                            for c in range(n_curves):
                                if curves[c, 0] == g:
                                    curve = best[c] if low == 0 else worst[c]
                                    _run(curves[c, 2], gains[g], count, discounts[curves[c, 1]], curve)

        for o in range(outputs.shape[0]):
            c, k, kind = outputs[o, 0], outputs[o, 1], outputs[o, 2]
            sums_o = sums[o]
            if n == 0:
                if outputs[o, 5] == 1:
                    _add(sums_o[0], 1.0)
                    _add(sums_o[2], 1.0)
                continue
            divisor = _divisor(kind, k, n, discount_sums[outputs[o, 3]], ideal[c, k - 1])
            if divisor == 0.0:
                continue
            value = got[c, k - 1] / divisor
            if outputs[o, 5] == 1:
                value = 1.0 - value
            _add(sums_o[0], value)
            _add(sums_o[2], value * value)
            if outputs[o, 4] == 1:
                most = ideal[c, k - 1] / divisor
                _add(sums_o[1], most)
                _add(sums_o[3], value * most)
                _add(sums_o[4], most * most)
            if tied:
                sign = -1.0 if outputs[o, 5] == 1 else 1.0
                _add(sums_o[5], sign * (best[c, k - 1] - got[c, k - 1]) / divisor)
                _add(sums_o[6], sign * (worst[c, k - 1] - got[c, k - 1]) / divisor)
