"""Sample kernels: copies of the rows that a sample keeps."""

from __future__ import annotations

from xmceval.kernels.compile.decorators import kernel


@kernel
def copy_sampled(truth, ranking, runs, first_row, kept, limits, space):
    """Copy the rows that belong to a sample; return how many these are, and how many true labels they have.

    Parameters
    ----------
    truth : indptr, indices
    ranking : labels [n_rows, depth], their scores, and their number [n_rows]
    runs : int, hashes uint64 [n_runs]
        The logarithm of the length of a run of rows, and the hashes of the runs, from that of `first_row` on.
    first_row, kept : int, int64
        The rows are numbered from the first on, by `kept` where it is not empty.
    limits : greatest hash, most true labels, label
        Rows have a hash up to the first, a prediction, and at least one true label, but not more than the second; the
        third stands for a label that is not ranked.
    space : hashes, numbers, ranked, scores, lengths, labels
        Written: the columns of the sampled rows, with room for all of them.
    """
    indptr, indices = truth
    labels, label_scores, n_ranked = ranking
    run_bits, run_hashes = runs
    greatest, longest, nothing = limits
    hashes, numbers, best, scores, lengths, true_labels = space
    n_rows, n_true = 0, 0
    for row in range(indptr.size - 1):  # j: rank - 1
        length, last = indptr[row + 1] - indptr[row], n_ranked[row] - 1
        number = first_row + (kept[row] if kept.size > 0 else row)
        run = run_hashes[(number >> run_bits) - (first_row >> run_bits)]
        if run > greatest or last < 0 or length == 0 or length > longest:
            continue
        hashes[n_rows], numbers[n_rows], lengths[n_rows] = run, number, length
        for j in range(best.shape[1]):
            best[n_rows, j] = labels[row, j] if j <= last and j < labels.shape[1] else nothing
        scores[n_rows, 0], scores[n_rows, 1] = label_scores[row, 0], label_scores[row, last]
        for i in range(length):
            true_labels[n_true + i] = indices[indptr[row] + i]
        n_rows += 1
        n_true += length
    return n_rows, n_true
