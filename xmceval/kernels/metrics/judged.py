"""Judged kernel: how many of the best labels of each row were judged."""

from __future__ import annotations

from xmceval.kernels.compile.decorators import kernel
from xmceval.kernels.rows.order import position


@kernel
def count_judged(truth, zeros, ranking, cutoffs, values):
    """Write for each row and cutoff the judged labels among the predictions within it, and divide by their number.

    Parameters
    ----------
    truth, zeros : indptr, indices, values
        True labels, and labels stored with value 0; both ascend within a row.
    ranking : ranked labels [n_rows, depth], their scores, and their number [n_rows]
    cutoffs : int64 [n_outputs]
    values : float64 [n_rows, n_outputs, at least 1]
        Of which the first element is written.
    """
    truth_indptr, truth_indices, _ = truth
    zero_indptr, zero_indices, _ = zeros
    ranked, _, n_ranked = ranking
    for row in range(values.shape[0]):  # o: output, j: rank - 1
        for o in range(cutoffs.size):
            depth = n_ranked[row] if n_ranked[row] < cutoffs[o] else cutoffs[o]
            judged = 0
            for j in range(depth):
                label = ranked[row, j]
                if (
                    position(truth_indices, truth_indptr[row], truth_indptr[row + 1], label) >= 0
                    or position(zero_indices, zero_indptr[row], zero_indptr[row + 1], label) >= 0
                ):
                    judged += 1
            values[row, o, 0] = judged / depth if depth > 0 else 0.0
