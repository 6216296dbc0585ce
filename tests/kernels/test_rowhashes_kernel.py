"""The kernel of row hashes: the hashes of whole numbers, as plain Python computes them."""

import numpy as np
from hypothesis import given, strategies as st

from xmceval.kernels.rows.rowhashes import hash_rows

MODULO, GOLDEN, SECOND = 1 << 64, 0x9E3779B97F4A7C15, 0x94D049BB133111EB


def mix(word):
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % MODULO
    word = (word ^ (word >> 27)) * SECOND % MODULO
    return word ^ (word >> 31)


def hash_one(truth, ranked):
    """Return the hashes of a row's truth {label: grade} and of its ranked labels."""
    of_truth = sum(mix((label * GOLDEN + grade * SECOND) % MODULO) for label, grade in truth.items())
    of_ranking = sum(mix((label * GOLDEN + rank * SECOND) % MODULO) for rank, label in enumerate(ranked, 1))
    return of_truth % MODULO, of_ranking % MODULO


LABELS = st.integers(0, 5) | st.integers(0, 2**62)
ROWS = st.lists(
    st.tuples(st.dictionaries(LABELS, st.integers(1, 2**40), max_size=3), st.lists(LABELS, max_size=4)), max_size=6
)


@given(ROWS, st.integers(0, 2**50), st.booleans())
def test_hashes_are_those_of_plain_integers(rows, first_row, has_gaps):
    kept = np.arange(len(rows)) * 3 if has_gaps else np.empty(0, dtype=np.int64)
    indptr = np.cumsum([0, *(len(truth) for truth, _ in rows)])
    entries = [item for truth, _ in rows for item in sorted(truth.items())]
    labels = np.array([label for label, _ in entries], dtype=np.int64)
    grades = np.array([grade for _, grade in entries], dtype=np.float64)
    ranked = np.full((len(rows), 4), 7)
    for row, (_, best) in enumerate(rows):
        ranked[row, : len(best)] = best
    n_ranked = np.array([len(best) for _, best in rows], dtype=np.int64)
    digests, hashes = np.zeros(2, dtype=np.uint64), np.zeros(len(rows), dtype=np.uint64)
    with np.errstate(over="ignore"):
        n = hash_rows((indptr, labels, grades), ranked, n_ranked, first_row, kept, digests, hashes)

    both = [hash_one(truth, best) for truth, best in rows]
    expected = [mix((t * GOLDEN + r) % MODULO) for (t, r), row in zip(both, rows, strict=True) if any(row)]
    assert hashes[:n].tolist() == expected
    places = [first_row + (3 * row if has_gaps else row) for row in range(len(rows))]
    for which in (0, 1):
        sums = sum(mix((place * GOLDEN + each[which]) % MODULO) for place, each in zip(places, both, strict=True))
        assert int(digests[which]) == sums % MODULO
