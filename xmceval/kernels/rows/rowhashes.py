"""Row hash kernels: what shows that two states have the same rows, and that rows are copies of each other.

Integers alone are hashed, so hashes are the same on every machine.
"""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import helper, kernel
from xmceval.kernels.rows.order import FIRST, GOLDEN, SECOND, mix

ZERO = np.uint64(0)
THIRD = np.uint64(0xD6E8FEB86659FD93)  # odd, as are the others

TRUTH, RANKING = 0, 1

MOST_RANKED = 6  # labels of a row that are hashed
LATER_BITS = 28  # of a hash: the others, before them, are those of the first two labels, so that most rows end there
ROUNDED_BITS = 40  # of a score, of 52: what differs by less than 1 in 8,192 is mostly equal
TELLS_APART = 1  # the last bit of a hash
ENOUGH_POINTS = 6
FEW_DECIMALS, NEARLY = 1000.0, 1e-4
NEAR = 0.01


@kernel
def add_digests(truth, ranked, n_ranked, first_row, kept, digests):
    """Add the digests of the truth and of the ranking of these rows, modulo 2^64.

    `truth` are the arrays of a CSR matrix of grades, `ranked` labels [n_rows, depth], of which the first `n_ranked` of
    a row count. Rows are numbered from `first_row` on, by `kept` where it is not empty.
    """
    indptr, labels, grades = truth
    for row in range(indptr.size - 1):  # j: rank - 1
        of_ranking = ZERO
        for j in range(min(n_ranked[row], ranked.shape[1])):
            of_ranking += mix(np.uint64(ranked[row, j]) * GOLDEN + np.uint64(j + 1) * SECOND)
        place = np.uint64(first_row + (kept[row] if kept.size > 0 else row)) * GOLDEN
        digests[TRUTH] += mix(place + _hash_truth(labels, grades, indptr[row], indptr[row + 1]))
        digests[RANKING] += mix(place + of_ranking)


@kernel
def sketch_rows(truth, ranking, above, greatest, n_known, rows, firsts, hashes):
    """Write the rows whose hashes have first bits above `above`, up to `greatest`; these bits, and the hashes.

    A hash does not depend on the number of its row. `truth` are the arrays of a CSR matrix of grades, `ranking` labels
    and scores [n_rows, depth], and how many count [n_rows]. Returns how many rows were written, and how many have a
    true or a ranked label. With `n_known` rows and first bits, only the hashes of those are written, of which the
    ranking is.

    The last bit is set where a row has so much to tell that other instances hardly have the same: one point for each
    different score of its best labels, two where it has more than three decimals, three where it is also not near 0 or
    1.
    """
    indptr, labels, grades = truth
    ranked, scores, n_ranked = ranking
    bits, width = scores.view(np.int64), min(ranked.shape[1], MOST_RANKED)
    n, n_rows = np.int64(0), np.int64(0)
    for i in range(np.uint64(n_known if n_known > 0 else indptr.size - 1)):  # j: rank - 1
        row = np.uint64(rows[i]) if n_known > 0 else i
        depth = min(n_ranked[i], width)
        if n_known > 0:
            first = firsts[i]
        elif depth > 0:
            word = np.uint64(ranked[i, 0]) * GOLDEN + np.uint64(_round(bits[i, 0])) * SECOND
            if depth > 1:
                word += np.uint64(ranked[i, 1]) * FIRST + np.uint64(_round(bits[i, 1])) * THIRD
            first = np.int64(mix(word) >> np.uint64(LATER_BITS))
        elif indptr[row] < indptr[row + np.uint64(1)]:
            word = _hash_truth(labels, grades, indptr[row], indptr[row + np.uint64(1)])
            first = np.int64(mix(word) >> np.uint64(LATER_BITS))
        else:
            continue
        n_rows += 1
        if n_known == 0 and (first > greatest or first <= above):
            continue
        word, points = ZERO, 0
        for j in range(depth):
            word += _hash_ranked(ranked[i, j], bits[i, j], j)
            score = scores[i, j]
            if j == 0 or _round(bits[i, j]) != _round(bits[i, j - 1]):
                is_fine = abs(score * FEW_DECIMALS - np.rint(score * FEW_DECIMALS)) > NEARLY
                points += 1 + is_fine + (is_fine and abs(score) > NEAR and abs(score - 1.0) > NEAR)
        word += mix(_hash_truth(labels, grades, indptr[row], indptr[row + np.uint64(1)]) + GOLDEN)
        later = mix(word) >> np.uint64(64 - LATER_BITS + 1) << np.uint64(1)
        rows[n], firsts[n] = row, first
        hashes[n] = np.uint64(first) << np.uint64(LATER_BITS) | later | np.uint64(points >= ENOUGH_POINTS)
        n += 1
    return n, n_rows


@helper
def _hash_truth(labels, grades, start, stop):
    """Hash true labels with their grades, in any order."""
    word = ZERO
    for entry in range(start, stop):
        word += mix(np.uint64(labels[entry]) * GOLDEN + np.uint64(grades[entry]) * SECOND)
    return word


@helper
def _hash_ranked(label, bits, j):
    """Hash a label with its score, about, and its place in the ranking."""
    return mix(np.uint64(label) * GOLDEN + np.uint64(_round(bits)) * SECOND + np.uint64(j))


@helper
def _round(bits):
    """Round a score, given by its bits as a whole number, so that those of two runs of a model are mostly equal."""
    return (bits + (1 << (ROUNDED_BITS - 1))) >> ROUNDED_BITS
