"""Gain kernels: DCG of whole rows, where labels that are not stored have score 0."""

from __future__ import annotations

from xmceval.kernels.compile import helper, kernel
from xmceval.kernels.metrics.hits import position_below, rank_hits


@helper
def _discount(up, level, discounts):
    """Mean discount of the ranks after `up`, up to `level`; past the end of `discounts` they are zero."""
    last = discounts.size - 1
    return (discounts[min(level, last)] - discounts[min(up, last)]) / (level - up)


@kernel
def sum_gains(gains, predictions, n_labels, by_label, discounts, space, real_space, rooms, values):
    """Write each row's DCG: the mean over all orders of equal scores, or with `by_label` the larger labels first.

    Parameters
    ----------
    gains : indptr, indices, gains
    predictions : indptr, indices, scores
        Labels ascend within a row; no score is 0.
    n_labels : int
    by_label : bool
    discounts : float64 [n_ranks + 1]
        The sums of the first 0, 1, 2, ... discounts.
    space, real_space, rooms
        As in `wholerow`.
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
