"""Column kernel: which predictions are true, and which true labels have no prediction."""

from __future__ import annotations

from xmceval.kernels.compile import kernel


@kernel
def match_cells(truth_indptr, truth_indices, pred_indptr, pred_indices, is_true, is_scored):
    """Write for each prediction whether it is true, and for each true label whether it has a prediction.

    True labels ascend within a row. `is_true` is bool [n_predictions]; `is_scored`, bool [n_true], is all False before.
    """
    for row in range(truth_indptr.size - 1):
        first, last = truth_indptr[row], truth_indptr[row + 1]
        for entry in range(pred_indptr[row], pred_indptr[row + 1]):
            label = pred_indices[entry]
            low, high = first, last
            while low < high:
                middle = (low + high) >> 1
                if truth_indices[middle] < label:
                    low = middle + 1
                else:
                    high = middle
            is_true[entry] = low < last and truth_indices[low] == label
            if is_true[entry]:
                is_scored[low] = True
