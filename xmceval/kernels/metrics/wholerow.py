"""Kernels that compute metrics over all labels of a row, or along its whole list, from sparse rows."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.metrics.hits import count_covering, position_below, rank_hits, sort_hits
from xmceval.kernels.metrics.topk import EXP_GRADE, HIT
from xmceval.kernels.rows.order import bits_of, power_of_2

LRAP, COVERAGE, LOSS, AUC, GAUC, SET, AP, RR, RECALL_AT_N, DCG, NDCG, ERR, AUC_AT_K, RBP, AP_OF_HITS, IPREC = range(16)

# Orders of tied labels in the list.
BY_LABEL, BEST, WORST = 0, 1, 2

# Columns of `specs`.
KIND, CUT, DISCOUNT, GAIN, IS_RATIO = 0, 1, 2, 3, 4

# Slots of `status`: true labels without a score; whether a grade is too large for ERR, and in which row.
UNLISTED, FAULT, ROW = 0, 1, 2

# Numbers of scratch arrays: int64, float64.
N_SPACE, N_REAL_SPACE = 7, 4

# The types of `space`, `real_space` and `rooms`.
WORKING_SPACE = (
    ("i8[:]",) * N_SPACE,
    ("f8[:]",) * N_REAL_SPACE,
    ("u8[:]", "f8[:]", "i8[:]", "u8[:]", "i8[:]", "i8[:]"),
)


@helper
def _gain(grade, kind):
    if kind == HIT:
        return 1.0
    return power_of_2(grade) - 1.0 if kind == EXP_GRADE else grade


@helper
def _rank(i, order, ranks, greater, at_least, starts, stops):
    """Return the rank of a hit: by label, or with hits first or last in its group of ties."""
    if order == BY_LABEL:
        return ranks[i]
    return greater[i] + 1 + i - starts[i] if order == BEST else at_least[i] + 1 + i - stops[i]


@kernel(
    ("i8[:]", "i8[:]", "f8[:]"),
    ("i8[:]", "i8[:]", "f8[:]"),
    "i8[:]",
    "b1",
    "b1",
    "i8[:,:]",
    "f8[:]",
    "f8[:,:]",
    *WORKING_SPACE,
    "i8[:]",
    "i8[:]",
    "f8[:,:,:]",
)
def compute_whole_rows(
    truth,
    predictions,
    counted_labels,
    zero_unscored,
    drop_empty,
    specs,
    own_numbers,
    discounts,
    space,
    real_space,
    rooms,
    left_out,
    status,
    values,
):
    """Write the values of every output for each row.

    The labels above each true label with a score (hit) are counted; in rows with many hits all labels are
    sorted. Labels without a score are one group of ties: below all others, or at score 0. Metrics of whole rows
    define their value under ties, which therefore cannot move it; tie bounds of AUC_AT_K and AP_OF_HITS are not
    computed.

    Parameters
    ----------
    truth : indptr, indices, grades
        Labels ascend within a row.
    predictions : indptr, indices, scores
    counted_labels : int64 [n_rows] or [1]
        The number of labels that count in each row, or in every row.
    zero_unscored, drop_empty : bool
    specs : int64 [n_outputs, 5]
        As in scoring/wholerow.py.
    own_numbers : float64 [n_outputs]
        For SET the weight of true labels in the divisor, for ERR 2 to the power of the largest grade, for IPREC
        the level of recall.
    discounts : float64 [n_discounts, at least the labels of the longest row]
        The discount of each rank.
    space : 7 int64 arrays, real_space : 4 float64 arrays
        Scratch space, each array longer than the longest row of truth.
    rooms : arrays
        Scratch space, see `rank_hits`.
    left_out : int64 [n_outputs]
        The number of rows without a value is added here.
    status : int64 [3]
        True labels without a score; whether a grade is too large for ERR, and in which row.
    values : float64 [n_rows, n_outputs, at least 4], initially all 0
        Numerator, denominator, how far ties could move the numerator up and down.
    """
    truth_indptr, _, grades = truth
    pred_indptr, _, scores = predictions
    _, starts, stops, ranks, greater, at_least, numbers = space
    hit_scores, hit_grades, ideals, copies = real_space
    is_simple = specs.shape[0] == 1 and specs[0, KIND] == COVERAGE  # needs no ranks of hits
    for row in range(truth_indptr.size - 1):  # i: hit, o: output
        first, last = truth_indptr[row], truth_indptr[row + 1]
        start, stop = pred_indptr[row], pred_indptr[row + 1]
        n, m = last - first, stop - start
        n_labels = counted_labels[row if counted_labels.size > 1 else 0]
        if n == 0 and drop_empty:
            continue
        if is_simple:
            covering, hits = count_covering(truth, predictions, row, n_labels, zero_unscored)
            status[UNLISTED] += n - hits
            values[row, 0, 0], values[row, 0, 1] = float(covering), 1.0
            continue
        hits = rank_hits(truth, predictions, row, space, real_space, rooms)

        n_unscored, n_missing = n_labels - m, n - hits  # labels without a score, and the true ones among them
        status[UNLISTED] += n_missing
        others = float(n_labels - n)
        precisions, cover, wrong, ordered, listed = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(hits):
            up, level, true_up, true_level = greater[i], at_least[i], starts[i], stops[i]
            listed += (m - hits) - (level - true_level) + 0.5 * ((level - up) - (true_level - true_up))
            if zero_unscored:
                if hit_scores[i] < 0.0:
                    up += n_unscored
                    true_up += n_missing
                if hit_scores[i] <= 0.0:
                    level += n_unscored
                    true_level += n_missing
            precisions += true_level / level
            cover = float(level) if level > cover else cover
            wrong += level - true_level
            ordered += others - (level - true_level) + 0.5 * ((level - up) - (true_level - true_up))
        if n_missing > 0:
            up, level, true_up, true_level = m, n_labels, hits, n
            if zero_unscored:
                up, level, true_up, true_level = np.int64(0), n_unscored, np.int64(0), n_missing
                for entry in range(start, stop):
                    up += scores[entry] > 0.0
                    level += scores[entry] >= 0.0
                for i in range(hits):
                    true_up += hit_scores[i] > 0.0
                    true_level += hit_scores[i] >= 0.0
            precisions += n_missing * (true_level / level)
            cover = float(level) if level > cover else cover
            wrong += float(n_missing) * (level - true_level)
            ordered += n_missing * (others - (level - true_level) + 0.5 * ((level - up) - (true_level - true_up)))

        ties, unequal, sorted_for = 0, 0, BY_LABEL
        for i in range(hits):
            ties += at_least[i] - greater[i] > 1
            unequal += hit_grades[i] != hit_grades[0]
        for turn in range(specs.shape[0] * (3 if ties > 0 else 1)):
            order, o = turn // specs.shape[0], turn % specs.shape[0]
            kind, k = specs[o, KIND], specs[o, CUT]
            if order > BY_LABEL and (kind < AP or kind == AUC_AT_K or kind == AP_OF_HITS):
                continue
            if unequal > 0 and order != sorted_for:  # sorts groups of ties by grade instead of label
                for i in range(hits):
                    bits = bits_of(hit_grades[i])
                    numbers[i] = bits if order == WORST else -bits
                sort_hits(hit_scores, numbers, hit_grades, hits)
                sorted_for = order
            value, most = 0.0, 1.0
            if kind == LRAP:
                value = precisions / n if n > 0 else 1.0
            elif kind == COVERAGE:
                value = cover
            elif kind == LOSS:
                value = wrong / (n * others) if n > 0 and others > 0.0 else 0.0
            elif kind == AUC:
                if n > 0 and others > 0.0:
                    value = ordered / (n * others)
                else:
                    most = 0.0
                    left_out[o] += 1
            elif kind == GAUC:
                if hits > 0 and hits < m:
                    most = float(m)
                    value = m * (listed / (hits * float(m - hits)))
                else:
                    most = 0.0
                    left_out[o] += 1
            elif kind == SET:
                divisor = (1.0 - own_numbers[o]) * m + own_numbers[o] * n
                value = hits / divisor if divisor > 0.0 else 0.0
            elif kind == AUC_AT_K:
                inside = 0
                for i in range(hits):
                    inside += ranks[i] <= k
                for i in range(inside):
                    value += (k - ranks[i]) - (inside - 1 - i)
                value = value / (inside * float(k - inside)) if 0 < inside < k else 0.0
            elif kind == AP_OF_HITS:
                inside = 0
                for i in range(hits):
                    if ranks[i] <= k:
                        inside += 1
                        value += (i + 1) / ranks[i]
                value = value / inside if inside > 0 else 0.0
            else:
                going_on = 1.0
                wanted = np.int64(own_numbers[o] * n + 0.9) if kind == IPREC else np.int64(0)
                for i in range(hits):
                    rank = _rank(i, order, ranks, greater, at_least, starts, stops)
                    if kind == AP:
                        value += (i + 1) / rank
                    elif kind == RR:
                        value = 1.0 / rank
                        break
                    elif kind == RECALL_AT_N:
                        value += rank <= n
                    elif kind == IPREC:
                        if i + 1 >= wanted and (i + 1) / rank > value:
                            value = (i + 1) / rank
                    elif kind == RBP:
                        value += discounts[specs[o, DISCOUNT], rank - 1]
                    elif kind != ERR:
                        value += _gain(hit_grades[i], specs[o, GAIN]) * discounts[specs[o, DISCOUNT], rank - 1]
                    elif rank <= k:
                        satisfied = (power_of_2(hit_grades[i]) - 1.0) / own_numbers[o]
                        value += going_on * satisfied / rank
                        going_on *= 1.0 - satisfied
                divisor = 1.0
                if kind == AP or kind == RECALL_AT_N:
                    divisor = float(n)
                    if specs[o, IS_RATIO] > 0:
                        divisor, most = 1.0, float(n)
                elif kind == NDCG:
                    differing = 0
                    for i in range(n):
                        ideals[i], copies[i], numbers[i] = grades[first + i], 0.0, i
                        differing += grades[first + i] != grades[first]
                    if differing > 0:
                        sort_hits(ideals, numbers, copies, n)
                    divisor = 0.0
                    for i in range(n):
                        divisor += _gain(ideals[i], specs[o, GAIN]) * discounts[specs[o, DISCOUNT], i]
                elif kind == ERR:
                    for i in range(n):
                        if power_of_2(grades[first + i]) > own_numbers[o]:
                            if status[FAULT] == 0:
                                status[ROW] = row
                            status[FAULT] = 1
                value = value / divisor if n > 0 else 0.0
            if order == BY_LABEL:
                values[row, o, 0], values[row, o, 1] = value, most
            else:
                values[row, o, 1 + order] = value - values[row, o, 0]


@helper
def _discount(up, level, discounts):
    """Return the mean discount of the ranks after `up`, up to `level`; beyond `discounts` they are zero."""
    last = discounts.size - 1
    return (discounts[min(level, last)] - discounts[min(up, last)]) / (level - up)


@kernel(
    ("i8[:]", "i8[:]", "f8[:]"),
    ("i8[:]", "i8[:]", "f8[:]"),
    "i8",
    "b1",
    "f8[:]",
    *WORKING_SPACE,
    "f8[:]",
)
def sum_gains(gains, predictions, n_labels, by_label, discounts, space, real_space, rooms, values):
    """Write the DCG of each row: the mean over orders of tied labels, or with `by_label` larger labels first.

    Parameters
    ----------
    gains : indptr, indices, gains
    predictions : indptr, indices, scores
        Labels ascend within a row; no score is 0.
    n_labels : int
    by_label : bool
    discounts : float64 [n_ranks + 1]
        The cumulative sums of 0, 1, 2, ... discounts.
    space, real_space, rooms
        As in `compute_whole_rows`.
    values : float64 [n_rows]
    """
    gain_indptr, gain_indices, all_gains = gains
    pred_indptr, pred_indices, scores = predictions
    _, _, _, ranks, greater, at_least, _ = space
    hit_scores, hit_gains, _, _ = real_space
    for row in range(gain_indptr.size - 1):
        first, last = gain_indptr[row], gain_indptr[row + 1]
        start, stop = pred_indptr[row], pred_indptr[row + 1]
        hits = rank_hits(gains, predictions, row, space, real_space, rooms)
        n_unscored, total = n_labels - (stop - start), 0.0
        for i in range(hits):
            up, level = greater[i], at_least[i]
            if by_label:
                up += at_least[i] - ranks[i]
                level = up + 1
            if hit_scores[i] < 0.0:
                up += n_unscored
                level += n_unscored
            total += hit_gains[i] * _discount(up, level, discounts)
        if hits < last - first:
            n_positive = 0
            for entry in range(start, stop):
                n_positive += scores[entry] > 0.0
            for at in range(first, last):
                label = gain_indices[at]
                place = position_below(pred_indices, start, stop, label)
                if place < stop and pred_indices[place] == label:
                    continue
                up, level = n_positive, n_positive + n_unscored
                if by_label:
                    place += place < stop and pred_indices[place] < label
                    up += (n_labels - 1 - label) - (stop - place)
                    level = up + 1
                total += all_gains[at] * _discount(up, level, discounts)
        values[row] = total
