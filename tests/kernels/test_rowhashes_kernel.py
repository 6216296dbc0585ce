"""The kernels of row hashes: the hashes of whole numbers, as plain Python computes them."""

import struct

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from xmceval.kernels.rows.rowhashes import add_digests, sketch_rows

MODULO, GOLDEN = 1 << 64, 0x9E3779B97F4A7C15
FIRST, SECOND, THIRD = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93


def mix(word):
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % MODULO
    word = (word ^ (word >> 27)) * SECOND % MODULO
    return word ^ (word >> 31)


def hash_truth(truth):
    return sum(mix((label * GOLDEN + grade * SECOND) % MODULO) for label, grade in truth.items()) % MODULO


def round_bits(score):
    [bits] = struct.unpack("<q", struct.pack("<d", score))
    return (bits + 2**39) // 2**40


def hash_ranked(ranked):
    """Return the sum of the hashes of labels and scores."""
    words = (label * GOLDEN + round_bits(score) * SECOND + j for j, (label, score) in enumerate(ranked))
    return sum(mix(word % MODULO) for word in words) % MODULO


def first_of(truth, ranked):
    """Return the first 36 bits: of the two best labels, or of the truth without any."""
    if not ranked:
        return mix(hash_truth(truth)) >> 28
    numbers = [number for label, score in ranked[:2] for number in (label, round_bits(score))]
    return mix(sum(map(int.__mul__, numbers, (GOLDEN, SECOND, FIRST, THIRD))) % MODULO) >> 28


def points_of(ranked):
    """Return the points of the different scores of the six best labels."""
    points = 0
    for j, (_, score) in enumerate(ranked[:6]):
        if j == 0 or round_bits(score) != round_bits(ranked[j - 1][1]):
            is_fine = abs(1000 * score - round(1000 * score)) > 1e-4
            points += 3 if is_fine and min(abs(score), abs(score - 1)) > 0.01 else 2 if is_fine else 1
    return points


def hash_one(truth, ranked):
    later = mix((hash_ranked(ranked[:6]) + mix((hash_truth(truth) + GOLDEN) % MODULO)) % MODULO) >> 37
    return first_of(truth, ranked) << 28 | later << 1 | (points_of(ranked) >= 6)


LABELS = st.integers(0, 5) | st.integers(0, 2**62)
SCORES = st.sampled_from([-2.0, -0.0, 0.0, 0.5, 1.0, 0.9999, 0.123456, 7.654321]) | st.floats(-1e9, 1e9)
RANKED = st.lists(st.tuples(LABELS, SCORES), max_size=8)
ROWS = st.lists(st.tuples(st.dictionaries(LABELS, st.integers(1, 2**40), max_size=3), RANKED), max_size=6)


def arrays_of(rows):
    """Return the arrays of truth and ranking that kernels take."""
    indptr = np.cumsum([0, *(len(truth) for truth, _ in rows)])
    entries = [item for truth, _ in rows for item in sorted(truth.items())]
    labels = np.array([label for label, _ in entries], dtype=np.int64)
    grades = np.array([grade for _, grade in entries], dtype=np.float64)
    ranked, scores = np.full((len(rows), 8), 7), np.full((len(rows), 8), np.nan)
    for row, (_, best) in enumerate(rows):
        ranked[row, : len(best)], scores[row, : len(best)] = [each[0] for each in best], [each[1] for each in best]
    n_ranked = np.array([len(best) for _, best in rows], dtype=np.int64)
    return (indptr, labels, grades), (ranked, scores, n_ranked)


@example([({1: 1}, [(4, 0.5)])], 9, True)
@given(ROWS, st.integers(0, 2**50), st.booleans())
def test_digests_are_sums_that_depend_on_the_number_of_a_row(rows, first_row, has_gaps):
    kept = np.arange(len(rows)) * 3 + 2 if has_gaps else np.empty(0, dtype=np.int64)
    truth, (ranked, _, n_ranked) = arrays_of(rows)
    digests = np.zeros(2, dtype=np.uint64)
    with np.errstate(over="ignore"):
        add_digests(truth, ranked, n_ranked, first_row, kept, digests)
    sums = [0, 0]
    for row, (labels, best) in enumerate(rows):
        place = (first_row + (3 * row + 2 if has_gaps else row)) * GOLDEN
        of_ranking = sum(mix((label * GOLDEN + rank * SECOND) % MODULO) for rank, (label, _) in enumerate(best, 1))
        sums[0] += mix((place + hash_truth(labels)) % MODULO)
        sums[1] += mix((place + of_ranking) % MODULO)
    assert digests.tolist() == [each % MODULO for each in sums]


@example([({1: 1}, [(4, 0.123456), (2, 0.99995)]), ({}, [(4, 0.123456), (2, 0.5), (3, 0.00015)])], -1, 2**36 - 1)
@example([({1: 1}, []), ({}, [])], -1, 2**36 - 1)
@given(ROWS, st.sampled_from([-1, 2**33]), st.sampled_from([2**36 - 1, 2**35, 2**34]))
def test_hashes_are_those_of_plain_integers(rows, above, greatest):
    truth, ranking = arrays_of(rows)
    (places, firsts), hashes = np.empty((2, len(rows)), dtype=np.int64), np.empty(len(rows), dtype=np.uint64)
    with np.errstate(over="ignore"):
        n, n_rows = sketch_rows(truth, ranking, above, greatest, 0, places, firsts, hashes)
    filled = [row for row, both in enumerate(rows) if any(both)]
    sampled = [row for row in filled if above < first_of(*rows[row]) <= greatest]
    assert (n_rows, places[:n].tolist()) == (len(filled), sampled)
    assert hashes[:n].tolist() == [hash_one(*rows[row]) for row in sampled]
    if n:
        again = np.zeros(n, dtype=np.uint64)
        with np.errstate(over="ignore"):
            sketch_rows(truth, tuple(each[places[:n]] for each in ranking), above, greatest, n, places, firsts, again)
        assert again.tolist() == hashes[:n].tolist()


@pytest.mark.parametrize("change", [1e-7, -1e-7])
def test_scores_of_two_runs_that_differ_by_rounding_are_mostly_equal(change):
    scores = np.random.default_rng(0).random(1000)
    equal = sum(round_bits(score) == round_bits(score * (1 + change)) for score in scores)
    assert equal > 990
