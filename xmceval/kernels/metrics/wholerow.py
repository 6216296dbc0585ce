"""Whole-row kernel: metrics over all labels of a row, or along its whole list, from sparse rows."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import function, helper, kernel
from xmceval.kernels.rows.order import ascend, power_of_2

LRAP, COVERAGE, LOSS, AUC, GAUC, SET, AP, RR, RECALL_AT_N, DCG, NDCG, ERR, AUC_AT_K, RBP, AP_OF_HITS, IPREC = range(16)

# Orders of tied labels along the list.
BY_LABEL, BEST, WORST = 0, 1, 2

# Columns of `specs`.
KIND, CUT, DISCOUNT, IS_EXP, IS_RATIO = 0, 1, 2, 3, 4

# Slots of `status`: true labels without a score; whether a grade is too large for ERR, and in which row.
UNLISTED, FAULT, ROW = 0, 1, 2

FEW = 64  # hits, up to which it is faster to pass over a row for each of them

# Arrays of working space: of int64, of float64.
N_SPACE, N_REAL_SPACE = 7, 4


@helper
def _position(labels, start, stop, label):
    """Index of the last of ascending labels that is not above a label, or `start`."""
    length = stop - start
    while length > 1:  # without a branch that depends on what is compared
        half = length >> 1
        start += half if labels[start + half] <= label else 0
        length -= half
    return start


@helper
def _first_not_above(scores, n, score):
    """Index of the first of `n` descending scores that is not above a score, or `n`."""
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if scores[middle] > score:
            low = middle + 1
        else:
            high = middle
    return low


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
            before = _position(hit_labels, above, below, labels[entry])
            before += hit_labels[before] < labels[entry]
        ranks[before] += 1
        greater[below] += 1
        at_least[above] += 1
    for i in range(1, hits):
        ranks[i] += ranks[i - 1]
        greater[i] += greater[i - 1]
        at_least[i] += at_least[i - 1]


@function
def _sort(scores, labels, grades, n):
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
def _gain(grade, is_exp):
    return power_of_2(grade) - 1.0 if is_exp > 0 else grade


@helper
def _rank(i, order, ranks, greater, at_least, starts, stops):
    """Rank of a hit: by label, or with its group of ties ordered hits first or hits last."""
    if order == BY_LABEL:
        return ranks[i]
    return greater[i] + 1 + i - starts[i] if order == BEST else at_least[i] + 1 + i - stops[i]


@kernel
def compute_whole_rows(
    truth,
    predictions,
    n_labels,
    zero_unscored,
    drop_empty,
    specs,
    own_numbers,
    discounts,
    space,
    real_space,
    left_out,
    status,
    values,
):
    """Write the values of every output for each row.

    Only true labels with a score (hits) are sorted; the others are counted: at each hit, or at the first hit that they
    precede, so that running sums give ranks and the numbers of labels scored above and as high. Labels without a score
    are one group of ties: below all, or at score 0. Metrics of whole rows have their own rule for ties, which could not
    move them; AUC_AT_K and AP_OF_HITS are not followed through their ties.

    Parameters
    ----------
    truth : indptr, indices, grades
        Labels ascend within a row.
    predictions : indptr, indices, scores
    n_labels : int
    zero_unscored, drop_empty : bool
    specs : int64 [n_outputs, 5]
        As in scoring/wholerow.py.
    own_numbers : float64 [n_outputs]
        Of SET the weight of true labels in the divisor, of ERR 2 to the power of its greatest grade, of IPREC its level
        of recall.
    discounts : float64 [n_discounts, at least the labels of the longest row]
        Of each rank.
    space : 7 int64 arrays, real_space : 4 float64 arrays
        Working space, each array longer than the longest row of truth.
    left_out : int64 [n_outputs]
        To which the rows without a value are added.
    status : int64 [3]
        True labels without a score; whether a grade is too large for ERR, and in which row.
    values : float64 [n_rows, n_outputs, at least 4]
        Numerator, denominator, how far ties could move the numerator up and down.
    """
    truth_indptr, truth_indices, grades = truth
    pred_indptr, pred_indices, scores = predictions
    hit_labels, starts, stops, ranks, greater, at_least, numbers = space
    hit_scores, hit_grades, ideals, copies = real_space
    for row in range(truth_indptr.size - 1):  # i: hit, o: output
        first, last = truth_indptr[row], truth_indptr[row + 1]
        start, stop = pred_indptr[row], pred_indptr[row + 1]
        n, m, hits = last - first, stop - start, np.int64(0)
        if n == 0 and drop_empty:
            for o in range(specs.shape[0]):
                values[row, o, 0], values[row, o, 1], values[row, o, 2], values[row, o, 3] = 0.0, 0.0, 0.0, 0.0
            continue
        is_merged, at = ascend(pred_indices, start, stop), first
        for entry in range(start, stop):
            label = pred_indices[entry]
            if is_merged:
                while at < last and truth_indices[at] < label:
                    at += 1
            else:
                at = _position(truth_indices, first, last, label)
            if at < last and truth_indices[at] == label:
                hit_scores[hits], hit_labels[hits], hit_grades[hits] = scores[entry], label, grades[at]
                hits += 1
        _sort(hit_scores, hit_labels, hit_grades, hits)
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
            _count_each(hits, hit_scores, hit_labels, pred_indices, scores, start, stop, ranks, greater, at_least)
        else:
            _count_at_once(
                hits, hit_scores, hit_labels, stops, pred_indices, scores, start, stop, ranks, greater, at_least
            )

        n_unscored, n_missing = n_labels - m, n - hits  # labels, and true ones among them
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
            if order > BY_LABEL and unequal > 0 and order != sorted_for:  # groups of ties by grade; by label no more
                for i in range(hits):
                    numbers[i] = np.int64(hit_grades[i] if order == WORST else -hit_grades[i])
                _sort(hit_scores, numbers, hit_grades, hits)
                sorted_for = order
            value, most = 0.0, 1.0
            if kind == LRAP:
                value = precisions / n if n > 0 and n < n_labels else 1.0
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
                        value += _gain(hit_grades[i], specs[o, IS_EXP]) * discounts[specs[o, DISCOUNT], rank - 1]
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
                        _sort(ideals, numbers, copies, n)
                    divisor = 0.0
                    for i in range(n):
                        divisor += _gain(ideals[i], specs[o, IS_EXP]) * discounts[specs[o, DISCOUNT], i]
                elif kind == ERR:
                    for i in range(n):
                        if power_of_2(grades[first + i]) > own_numbers[o]:
                            if status[FAULT] == 0:
                                status[ROW] = row
                            status[FAULT] = 1
                value = value / divisor if n > 0 else 0.0
            if order == BY_LABEL:
                values[row, o, 0], values[row, o, 1] = value, most
                values[row, o, 2], values[row, o, 3] = 0.0, 0.0
            else:
                values[row, o, 1 + order] = value - values[row, o, 0]
