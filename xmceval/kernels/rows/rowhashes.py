"""Row hash kernels: what shows that two states have the same rows.

Integers alone are hashed, so hashes are the same on every machine.
"""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import kernel
from xmceval.kernels.rows.order import GOLDEN, SECOND, mix

ZERO = np.uint64(0)

TRUTH, RANKING = 0, 1


@kernel
def hash_rows(truth, ranked, n_ranked, first_row, kept, digests, hashes):
    """Write the hash of each row with a true or a ranked label, and return how many those are.

    `truth` are the arrays of a CSR matrix of grades, `ranked` labels [n_rows, depth], of which the first `n_ranked` of
    a row count. The hash of a row does not depend on its number. Digests of truth and ranking do: those of these rows,
    which are numbered from `first_row` on, by `kept` where it is not empty, are added, modulo 2^64.
    """
    indptr, labels, grades = truth
    n = np.int64(0)
    for row in range(indptr.size - 1):  # j: rank - 1
        of_truth, of_ranking = ZERO, ZERO
        for entry in range(indptr[row], indptr[row + 1]):
            of_truth += mix(np.uint64(labels[entry]) * GOLDEN + np.uint64(grades[entry]) * SECOND)
        depth = min(n_ranked[row], ranked.shape[1])
        for j in range(depth):
            of_ranking += mix(np.uint64(ranked[row, j]) * GOLDEN + np.uint64(j + 1) * SECOND)
        place = np.uint64(first_row + (kept[row] if kept.size > 0 else row)) * GOLDEN
        digests[TRUTH] += mix(place + of_truth)
        digests[RANKING] += mix(place + of_ranking)
        if depth > 0 or indptr[row + 1] > indptr[row]:
            hashes[n] = mix(of_truth * GOLDEN + of_ranking)
            n += 1
    return n
