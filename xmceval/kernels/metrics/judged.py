"""Judged kernels: metrics of the labels of each row that were judged."""

from __future__ import annotations

from xmceval.kernels.compile.decorators import helper, kernel
from xmceval.kernels.rows.order import position


@kernel
def count_judged(truth, zeros, ranking, cutoff, values, o):
    """Write for each row the judged labels among the predictions within a cutoff, divided by their number.

    Parameters
    ----------
    truth, zeros : indptr, indices, values
        True labels, and labels stored with value 0; both ascend within a row.
    ranking : ranked labels [n_rows, depth], their scores, and their number [n_rows]
    cutoff : int
    values : float64 [n_rows, n_outputs, at least 1]
        Of which the first element of output `o` is written.
    o : int
    """
    truth_indptr, truth_indices, _ = truth
    zero_indptr, zero_indices, _ = zeros
    ranked, _, n_ranked = ranking
    for row in range(values.shape[0]):  # j: rank - 1
        depth = n_ranked[row] if n_ranked[row] < cutoff else cutoff
        judged = 0
        for j in range(depth):
            label = ranked[row, j]
            if (
                position(truth_indices, truth_indptr[row], truth_indptr[row + 1], label) >= 0
                or position(zero_indices, zero_indptr[row], zero_indptr[row + 1], label) >= 0
            ):
                judged += 1
        values[row, o, 0] = judged / depth if depth > 0 else 0.0


@helper
def _prefer(n_above, n_true, least):
    """Share of preferences that a hit has in order, with so many false labels above it."""
    return 1.0 - (n_above if n_above < n_true else n_true) / least if n_above > 0 else 1.0


@kernel
def prefer_true(truth, zeros, predictions, rel, labels, scores, values, o):
    """Write for each row the binary preference: how few judged labels that are not true are ranked above those true.

    Parameters
    ----------
    truth, zeros : indptr, indices, values
        As in `count_judged`.
    predictions : indptr, indices, scores
    rel : int
        The grade from which on a label is true.
    labels, scores : int64, float64 [at least the judged labels of any row]
        Working space.
    values : float64 [n_rows, n_outputs, at least 4]
        Of output `o`: the value, and how far ties could move it up and down.
    o : int
    """
    truth_indptr, truth_indices, grades = truth
    zero_indptr, zero_indices, _ = zeros
    pred_indptr, pred_indices, pred_scores = predictions
    for row in range(values.shape[0]):  # hits are kept from the front, other judged labels from the back
        first, last = truth_indptr[row], truth_indptr[row + 1]
        n_true, hits, others = 0, 0, labels.size
        for at in range(first, last):
            n_true += grades[at] >= rel
        n_false = last - first - n_true + zero_indptr[row + 1] - zero_indptr[row]
        for entry in range(pred_indptr[row], pred_indptr[row + 1]):
            at = position(truth_indices, first, last, pred_indices[entry])
            if at >= 0 and grades[at] >= rel:
                labels[hits], scores[hits] = pred_indices[entry], pred_scores[entry]
                hits += 1
            elif at >= 0 or position(zero_indices, zero_indptr[row], zero_indptr[row + 1], pred_indices[entry]) >= 0:
                others -= 1
                labels[others], scores[others] = pred_indices[entry], pred_scores[entry]
        least = n_true if n_true < n_false else n_false
        value, best, worst = 0.0, 0.0, 0.0
        for i in range(hits):
            above, before, level = 0, 0, 0
            for j in range(others, labels.size):
                above += scores[j] > scores[i]
                level += scores[j] == scores[i]
                before += (scores[j] == scores[i]) & (labels[j] < labels[i])
            value += _prefer(above + before, n_true, least)
            best += _prefer(above, n_true, least)
            worst += _prefer(above + level, n_true, least)
        if n_true > 0:
            value, best, worst = value / n_true, best / n_true, worst / n_true
        values[row, o, 0], values[row, o, 2], values[row, o, 3] = value, best - value, worst - value
