"""The kernels of exact sums: eight rows at once, rows alone, and rows out of range, against integers of Python."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numba import config
from support.examples import examples

from xmceval.kernels.metrics.sums import (
    COUNTS,
    DIFFERING,
    FACTORS,
    FEW_DIFFER,
    KEPT,
    LOSSES,
    MOMENTS,
    NEITHER,
    ONE_SIDED,
    PRODUCTS,
    WINS,
    WORD,
    WORDS,
    add_pairs,
    add_values,
)

SLOTS = 5
BOUND = 256.0  # of values that are added eight at once
MOST_ROWS = 1024
LENGTHS = (
    (1, 7, 8, 9, 16, 23) if config.DISABLE_JIT else (1, 7, 8, 9, 16, 23, MOST_ROWS - 1, MOST_ROWS, 2 * MOST_ROWS + 9)
)
EXAMPLES = examples(2)

EDGES = [
    *(0.0, -0.0, 5e-324, 1e-310, 2.0**-61, 2.0**-60, 1.5 * 2.0**-60, 2.0**-53, 1e-18, 1 / 3, 0.1, 1.0, 4.0, 255.0),
    *(math.nextafter(x, 0.0) for x in (2.0**-60, 1.0, 4.0, BOUND)),
    *((2.0**45 + 1) * 2.0**-60, (2.0**22 + 0.5) * 2.0**-37, (2.0**52 - 1) * 2.0**-60, 2.0**-14, 2.0**-15 - 2.0**-60),
]
SMALL = EDGES + [-x for x in EDGES]
LARGE = [BOUND, 300.7, 3333.3, 1e6 / 3, 2.0**40, 1e14]


def cut_off(x):
    return int(x * 2.0**WORD)  # towards 0, and exact


def words(number):
    found = []
    for _ in range(WORDS - 1):
        number, word = divmod(number, 1 << WORD)
        found.append(word)
    return [*found, number]


def expected_sums(values, weights):
    """The words of each sum: in units of 2^-120, of products of whole numbers of 2^-60."""
    found = []
    for output in range(values.shape[1]):
        totals = [0] * MOMENTS
        rows = zip(
            map(tuple, values[:, output].tolist()), weights if len(weights) else [1.0] * len(values), strict=True
        )
        for (row, weight), n in Counter(rows).items():
            numbers = [*(cut_off(weight * x) for x in row), 1 << WORD]
            for m, (i, j) in enumerate(FACTORS):
                totals[m] += n * numbers[i] * numbers[j]
        found.append([words(total) for total in totals])
    return found


def no_rows(values, least=-np.inf):
    """Extremes without any row; nothing is above a `least` of infinity."""
    return np.full((values.shape[1], 2, KEPT, 2), least)


def no_sums(values):
    return np.zeros((values.shape[1], MOMENTS, WORDS), dtype=np.int64)


def first_refused(values, sums=None, weights=(), extremes=None):
    """Add rows; return the first one that is out of range, or -1."""
    sums = no_sums(values) if sums is None else sums
    extremes = no_rows(values, np.inf) if extremes is None else extremes
    return add_values(values, np.array(weights, dtype=np.float64), sums, extremes)


def added(values, weights=(), sums=None):
    sums = no_sums(values) if sums is None else sums
    assert first_refused(values, sums, weights) == -1
    return sums.tolist()


def kept(values, weights, extremes=None):
    extremes = no_rows(values) if extremes is None else extremes
    assert first_refused(values, None, weights, extremes) == -1
    return extremes


@st.composite
def rows(draw, numbers, n_slots=SLOTS):
    """Values of few or many rows, in any order of a few drawn ones; and their weights, or none."""
    n_rows, n_outputs = draw(st.sampled_from(LENGTHS)), draw(st.integers(1, 3))
    pool = np.array(draw(st.lists(numbers, min_size=1, max_size=40)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 2.0**-30, 1 / 3, 1.0]), min_size=1, max_size=5))
    return rng.choice(pool, (n_rows, n_outputs, n_slots)), [] if weights is None else rng.choice(weights, n_rows)


small = st.sampled_from(SMALL) | st.floats(-BOUND, BOUND, exclude_min=True, exclude_max=True) | st.floats(-1.0, 1.0)
any_size = small | st.sampled_from(LARGE + [-x for x in LARGE])


usual = st.sampled_from([0.0, 0.25, 0.5, 1.0])
coarse = st.sampled_from([-0.0, 0.0, 0.25, 0.5, 1.0, 2.0])


@pytest.mark.parametrize("numbers", [small, any_size, usual], ids=["small", "of any size", "usual"])
@EXAMPLES
@given(data=st.data())
def test_values_of_many_rows_are_added_exactly(numbers, data):
    values, weights = data.draw(rows(numbers))
    assert added(values, weights) == expected_sums(values, weights)


@pytest.mark.parametrize("n_rows", LENGTHS)
def test_the_same_value_many_times_is_added_exactly(n_rows):
    # The sums of digits become as large as they can.
    for x in [*SMALL, *LARGE, 13.463181841234, -0.07]:
        values = np.full((n_rows, 1, SLOTS), x)
        assert added(values) == expected_sums(values, ())


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1.0, 3.0, 5.0, 1e3, 1e6, 2.0**40])
def test_values_of_any_scale_are_added_exactly_in_any_order_and_parts(rng, scale):
    n_rows = 60 if config.DISABLE_JIT else 2000
    values, weights = scale * rng.random((n_rows, 1, SLOTS)), rng.random(n_rows)
    for weight in ((), weights):
        assert added(values, weight) == expected_sums(values, weight)
    assert added(values[rng.permutation(n_rows)]) == added(values)
    assert added(values[30:], sums=np.array(added(values[:30]))) == added(values)


ODD = [-1.0, -0.25, -1e-18, -3.5, -(2.0**40), -(2.0**70), 0.0, 2.0**-60, 4.0, 2.0**60, 2.0**80]


@pytest.mark.parametrize("n_rows", LENGTHS)
def test_one_value_of_any_sign_and_size_is_added_in_every_row(n_rows):
    for x, slot in [*((0.7, slot) for slot in range(SLOTS)), *((x, SLOTS - 1) for x in ODD)]:
        for row in {0, n_rows // 2, n_rows - 1}:
            values = np.zeros((n_rows, 3, SLOTS))
            values[row, 1, slot] = x
            assert added(values) == expected_sums(values, ())


def test_many_outputs_are_added_some_rows_at_a_time(rng):
    values = rng.random((*((20, 10) if config.DISABLE_JIT else (300, 1000)), SLOTS))
    alone = [added(np.ascontiguousarray(values[:, [o]]))[0] for o in range(0, values.shape[1], 9)]
    assert added(values)[::9] == alone


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, 2.0**61, 1e30, 1e200, -1e200])
@pytest.mark.parametrize("n_rows", LENGTHS)
def test_the_first_row_out_of_range_is_returned(wrong, n_rows):
    first, later = n_rows // 2, n_rows - 1
    for slot in range(SLOTS):
        values = np.full((n_rows, 3, SLOTS), 0.5)
        for o, row in ((2, first), (0, later), (1, later)):
            values[row, o, slot] = wrong
        # In slots above 1, only products are out of range.
        assert first_refused(values) == (-1 if slot > 1 and abs(wrong) <= 2.0**80 else first)


def test_a_sum_that_leaves_the_words_is_noticed():
    values = np.full((1 << 7, 1, SLOTS), 2.0**57)
    sums = no_sums(values)
    assert first_refused(values[:100], sums) == -1
    assert first_refused(values, sums) == 27


@pytest.mark.parametrize("m", [2, 3, 4])
def test_sums_that_are_almost_full_are_added_to_row_by_row(m):
    values = np.full((16, 1, SLOTS), 1.0)
    for room, row in ((20, -1), (11, 10)):  # a row that fills a sum is out of range
        sums = no_sums(values)
        sums[0, m, 2:] = (1 << WORD) - room, (1 << 61) - 1
        assert first_refused(values, sums) == row


def expected_extremes(values, weights):
    """The rows that gain most, and those that lose most; of equal ones those of which the other number is least."""
    found = no_rows(values)
    scale = np.array(weights)[:, None] if len(weights) else 1.0
    for output in range(values.shape[1]):
        num, den = (scale * values[:, output, :2]).T + 0.0
        gains = list(zip(num.tolist(), (den - num + 0.0).tolist(), strict=True))
        for side, pairs in enumerate((gains, [pair[::-1] for pair in gains])):
            first = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:KEPT]
            found[output, side, : len(first)] = first
    return found


@EXAMPLES
@given(rows(small) | rows(coarse), st.integers(0, 2000), st.integers(0, 9))
def test_the_rows_that_gain_and_lose_most_are_kept_whatever_their_order_and_parts(drawn, end, turn):
    values, weights = drawn
    expected = expected_extremes(values, weights).tobytes()
    assert kept(values, weights).tobytes() == expected
    turned, turned_weights = np.roll(values, turn, axis=0), np.roll(weights, turn)
    first = kept(turned[:end], turned_weights[:end])
    assert kept(turned[end:], turned_weights[end:], first).tobytes() == expected


@pytest.mark.parametrize("n_rows", LENGTHS)
@pytest.mark.parametrize("side", [0, 1])
def test_one_extreme_row_is_found_anywhere(n_rows, side):
    for row in {0, n_rows // 2, n_rows - 1}:
        values = np.full((n_rows, 3, SLOTS), 0.5)
        values[:, :, 1] = 1.0
        before = kept(values, ())
        values[row, 1, 0] = side
        after = kept(values, ())
        assert after[1, 1 - side, 0].tolist() == [1.0, 0.0]
        assert np.array_equal(after[[0, 2]], before[[0, 2]])


def are_unlike(x, y):
    return abs(x - y) > 1e-12 * max(abs(x), abs(y))


def expected_pairs(a, b, weights, signs):
    products, counts, kept = [], [], []
    for output in range(a.shape[1]):
        totals, n, rows = [0] * PRODUCTS, [0] * COUNTS, []
        scale = np.array(weights)[:, None] if len(weights) else 1.0
        for x, y in zip(scale * a[:, output], scale * b[:, output], strict=True):
            for m, (p, q) in enumerate(product(x, y)):
                totals[m] += cut_off(p) * cut_off(q)
            is_won = False
            if 0.0 in {x[1], y[1]} and x[1] != y[1]:
                n[ONE_SIDED] += 1
            else:
                n[NEITHER] += x[1] == 0.0
                p, q = (x[0], y[0]) if x[1] == y[1] else (x[0] / x[1], y[0] / y[1])
                is_won = are_unlike(p, q)
                n[WINS if signs[output] * (p - q) > 0 else LOSSES] += is_won
            if is_won or are_unlike(x[1], y[1]):
                n[DIFFERING] += 1
                rows.append([*x, *y])
        products.append([words(total) for total in totals])
        counts.append(n)
        kept.append((rows + [[0.0] * 4] * FEW_DIFFER)[:FEW_DIFFER])
    return products, counts, kept


@EXAMPLES
@given(
    rows(small, 2) | rows(any_size, 2) | rows(st.sampled_from([0.0, 0.5, 1.0]), 2),
    st.integers(0, 9),
    st.sampled_from([0, 1, 5, 6, 10_000]),
)
def test_products_of_two_systems_are_added_exactly(drawn, turn, n_other):
    a, weights = drawn
    b, signs = np.roll(a, turn, axis=0) + 0.0, np.array([1.0, -1.0, 1.0][: a.shape[1]])
    b[n_other:] = a[n_other:]
    a, b = np.abs(a), np.abs(b)  # of no sign: quotients of subnormal numbers could overflow
    a[:, :, 1], b[:, :, 1] = (np.where(each[:, :, 1] < 2.0**-60, 0.0, each[:, :, 1]) for each in (a, b))
    products = np.zeros((a.shape[1], PRODUCTS, WORDS), dtype=np.int64)
    counts = np.zeros((a.shape[1], COUNTS), dtype=np.int64)
    kept = np.zeros((a.shape[1], FEW_DIFFER, 4))
    add_pairs(a, b, np.array(weights, dtype=np.float64), signs, products, counts, kept)
    assert (products.tolist(), counts.tolist(), kept.tolist()) == expected_pairs(a, b, weights, signs)
