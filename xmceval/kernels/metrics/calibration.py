"""Calibration kernel: how far the scores of the best labels of each row are from hits."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import kernel
from xmceval.kernels.rows.order import position

# Columns of `specs`: the cutoff, the first output, and the number of outputs (bins), 0 for squares in one output.
CUT, FIRST, BINS = 0, 1, 2


@kernel
def compute_calibration(truth, ranking, first_row, drop_empty, specs, values):
    """Write numerators and denominators of every output for some rows, those from `first_row` on.

    Parameters
    ----------
    truth : indptr, indices, grades
        Labels ascend within a row.
    ranking : ranked labels [n_rows, depth], their scores from 0 to 1 [n_rows, depth], and their number [n_rows]
    drop_empty : bool
    specs : int64 [n_measures, 3]
    values : float64 [at most n_rows, n_outputs, at least 2]
        All 0.
    """
    indptr, indices, _ = truth
    ranked, ranked_scores, n_ranked = ranking
    for place in range(values.shape[0]):  # s: measure, o: output, j: rank - 1
        row = first_row + place
        first, last = indptr[row], indptr[row + 1]
        if first == last and drop_empty:
            continue
        for j in range(n_ranked[row]):
            score = ranked_scores[row, j]
            is_hit = position(indices, first, last, ranked[row, j]) >= 0
            excess = score - 1.0 if is_hit else score
            for s in range(specs.shape[0]):
                if j >= specs[s, CUT]:
                    continue
                o, n_bins = specs[s, FIRST], specs[s, BINS]
                if n_bins == 0:
                    values[place, o, 0] += excess * excess
                else:
                    at = np.int64(score * n_bins)
                    o += at if at < n_bins else n_bins - 1
                    values[place, o, 0] += excess
                values[place, o, 1] += 1.0
