"""Poisson weights: against whole numbers in Python, and against drawing rows with replacement."""

import itertools
import math
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
from numba import config

from xmceval.kernels.metrics.resampling import (
    POISSON,
    count_draws,
    flip_signs,
    permute_ratios,
    permute_systems,
    poisson_table,
    swap_systems,
    weigh_groups,
    weigh_rows,
)
from xmceval.statistics import resampling
from xmceval.statistics.resampling import Resampling, bootstrap_difference, bootstrap_sums

# As plain Python, kernels have numpy's numbers, which warn of what is meant: words without their overflow.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar")

WORD = 2**64
PLAIN = bool(config.DISABLE_JIT)


def mixed(word):
    """SplitMix64's finaliser, as printed."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def random_word(seed, resample, row):
    golden = 0x9E3779B97F4A7C15
    stream = mixed((seed * golden + mixed(resample + golden)) % WORD)
    return mixed((stream + (row + 1) * golden) % WORD)


def exact_bounds(mean):
    """The numbers out of 2^53 below which at most 0, 1, 2 ... are drawn, to the last one."""
    with localcontext(Context(prec=60)):
        share = total = (-Decimal(mean)).exp()
        bounds = []
        while total * 2**53 < 2**53 - Decimal("0.01"):
            bounds.append(total * 2**53)
            share *= Decimal(mean) / len(bounds)
            total += share
        return bounds


def drawn(word, bounds):
    return sum(word >> 11 >= bound for bound in bounds)


@pytest.mark.parametrize("seed", [0, 7, 2**63 - 1])
def test_a_weight_is_a_function_of_seed_resample_and_row(seed):
    bounds = [math.floor(bound) for bound in exact_bounds(1)]
    rows = np.eye(40)
    sums = np.empty((3, 40))
    weigh_rows(rows, seed, 5, sums)
    expected = [[drawn(random_word(seed, 5 + b, row), bounds) for row in range(40)] for b in range(3)]
    assert sums.tolist() == expected
    weigh_rows(rows[:9], seed, 6, sums)
    assert sums[0, :9].tolist() == expected[1][:9]


def test_sums_have_the_order_of_the_rows():
    """Added up one by one, and no product is fused with a sum: the bits of plain Python."""
    rows = np.random.default_rng(3).random((500, 2))
    sums = np.empty((4, 2))
    weigh_rows(rows, 1, 0, sums)
    bounds = POISSON.tolist()
    for b in range(4):
        expected = [0.0, 0.0]
        for row in range(500):
            weight = float(drawn(random_word(1, b, row), bounds))
            expected = [total + weight * value for total, value in zip(expected, rows[row].tolist(), strict=True)]
        assert sums[b].tolist() == expected


@pytest.mark.parametrize("size", [1, 2, 3, 50, 1000])
def test_the_table_of_a_group_is_that_of_the_poisson_distribution(size):
    least, bounds = poisson_table(size)
    exact = exact_bounds(size)[least:]
    assert np.abs([float(a - b) for a, b in zip(exact, bounds.tolist(), strict=False)]).max() < 4 + size / 10
    assert bounds[-1] == 2**53
    assert np.diff(bounds).min() >= 0


@pytest.mark.parametrize("size", [1, 2, 9, 400, 10**6])
def test_a_group_is_drawn_as_often_as_its_size_with_that_variance(size):
    groups, sums = np.ones((1, 1)), np.empty((200 if PLAIN else 20_000, 1))
    tables = resampling._poisson_tables(np.array([size]))
    weigh_groups(groups, tables, 0, 0, sums)
    n = sums.size
    # Four standard errors of the mean and of the variance of so many Poisson numbers.
    assert sums.mean() == pytest.approx(size, abs=4 * math.sqrt(size / n))
    assert sums.var() == pytest.approx(size, abs=4 * math.sqrt((size + 2 * size**2) / n))


def test_weights_of_rows_are_poisson_numbers_and_independent():
    n = 300 if PLAIN else 20_000
    sums = np.empty((n, 6))
    weigh_rows(np.eye(6), 11, 0, sums)
    for column in range(6):
        shares = np.bincount(sums[:, column].astype(int), minlength=6)[:6] / n
        exact = [math.exp(-1) / math.factorial(i) for i in range(6)]
        assert all(abs(a - b) < 4.5 * math.sqrt(b / n) for a, b in zip(shares, exact, strict=True))
    correlations = np.corrcoef(np.vstack([sums.T, [*sums[1:, 0], 0.0]]))
    assert np.abs(correlations - np.eye(7)).max() < 4.5 / math.sqrt(n)


def words(seed, resample):
    return (random_word(seed, resample, place) for place in itertools.count())


def permuted(n, stream):
    """Fisher and Yates' order of n, with the upper part of word times n as a number below n."""
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        other = next(stream) * (i + 1) >> 64
        order[i], order[other] = order[other], order[i]
    return order


SEEDS = pytest.mark.parametrize("seed", [0, 7, 2**63 - 1])


@SEEDS
def test_rows_are_drawn_as_they_are_weighed(seed):
    counts = np.empty(300, dtype=np.int64)
    count_draws(seed, 9, counts)
    sums = np.empty((1, 300))
    weigh_rows(np.eye(300), seed, 9, sums)
    assert counts.tolist() == sums[0].tolist()
    assert counts.max() > 3


@SEEDS
def test_a_weight_of_a_group_is_a_function_of_seed_resample_and_number(seed):
    sizes = np.array([3, 1, 40, 3, 2000])
    sums = np.empty((4, 5))
    weigh_groups(np.eye(5), resampling._poisson_tables(sizes), seed, 2, sums)
    for b in range(4):
        for group, size in enumerate(sizes.tolist()):
            least, bounds = poisson_table(size)
            assert sums[b, group] == least + drawn(random_word(seed, 2 + b, group), bounds.tolist())


@SEEDS
def test_signs_are_bits_of_the_words_of_a_resample(seed):
    sizes, counts, sums = np.array([0.1, 0.7, 1.3, 2.9]), np.array([1, 64, 65, 200]), np.empty(3)
    flip_signs(sizes, counts, seed, 4, sums)
    for b in range(3):
        stream, expected = words(seed, 4 + b), 0.0
        for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
            lengths = [64] * (count // 64) + [count % 64] * (count % 64 > 0)
            positive = sum((next(stream) % 2**length).bit_count() for length in lengths)
            expected += size * (2 * positive - count)
        assert sums[b] == expected


@SEEDS
def test_systems_are_swapped_where_the_next_bit_is_1(seed, rng):
    rows, sums = rng.integers(0, 9, (150, 4)).astype(float), np.empty((3, 4))
    swap_systems(rows, seed, 1, sums)
    for b in range(3):
        bits = [word >> i & 1 for word in itertools.islice(words(seed, 1 + b), 3) for i in range(64)]
        assert sums[b].tolist() == sum(np.roll(row, 2 * bit) for row, bit in zip(rows, bits, strict=False)).tolist()


@SEEDS
def test_systems_are_permuted_within_rows_by_the_words_of_a_resample(seed, rng):
    values = rng.integers(0, 9, (20, 5, 2)).astype(float)
    values[:, 2, 1] = values[:, 4] = 0.0
    base, space = np.array([2.0, 7.0]), np.empty(5, dtype=np.int64)
    ranges, of_ratios, of_nothing = np.empty((3, 4))
    permute_systems(np.ascontiguousarray(values[:, :, 0]), seed, 3, space, np.empty(5), ranges)
    permute_ratios(values, base, seed, 3, space, np.empty((5, 2)), of_ratios)
    permute_ratios(values[:1], np.zeros(2), seed, 3, space, np.empty((5, 2)), of_nothing)
    for b in range(4):
        stream = words(seed, 3 + b)
        rows = [row[permuted(5, stream)] for row in values]
        totals = sum(rows)
        assert ranges[b] == np.ptp(totals[:, 0])
        assert of_ratios[b] == np.ptp((totals[:, 0] + 2.0) / (totals[:, 1] + 7.0))
        assert of_nothing[b] == np.ptp([num / den if den else 0.0 for num, den in rows[0]])


N_RESAMPLES = 400 if PLAIN else 10_000
# Of a quantile at 2.5 % of so many values, in standard deviations of the values: sqrt(.025 * .975) / density / sqrt(n).
QUANTILE_ERROR = math.sqrt(0.025 * 0.975) / 0.0584 / math.sqrt(N_RESAMPLES)


@pytest.mark.parametrize("is_grouped", [False, True])
@pytest.mark.parametrize("is_ratio", [False, True])
def test_percentile_intervals_are_those_of_rows_drawn_with_replacement(rng, is_grouped, is_ratio):
    n = 400
    values = rng.integers(0, 4, (n, 4)) / 3 if is_grouped else rng.random((n, 4))
    values[:, [1, 3]] = rng.integers(1, 3, (n, 2)) if is_ratio else 1.0
    if is_grouped:
        values = np.repeat(values[:40], 10, axis=0)
    drawn = rng.multinomial(n, np.full(n, 1 / n), N_RESAMPLES).astype(float)
    sums = np.einsum("bn,nc->bc", drawn, values)
    expected = sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3]
    totals = values.sum(axis=0)
    observed = totals[0] / totals[1] - totals[2] / totals[3]
    found = bootstrap_difference(bootstrap_sums(values, Resampling(N_RESAMPLES, 5)), observed, Resampling(1, 0))
    slack = 4.5 * math.sqrt(2) * QUANTILE_ERROR * expected.std()
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(expected, [0.025, 0.975])), abs=slack)


def test_groups_and_rows_have_the_same_distribution(rng, monkeypatch):
    values = np.repeat(rng.random((20, 4)), 20, axis=0)
    grouped = bootstrap_sums(values, Resampling(N_RESAMPLES, 1))
    monkeypatch.setattr(resampling, "ROWS_PER_GROUP", 1000)
    by_row = bootstrap_sums(values, Resampling(N_RESAMPLES, 1))
    assert not np.array_equal(grouped, by_row)
    error = grouped.std(axis=0) / math.sqrt(N_RESAMPLES)
    assert np.abs(grouped.mean(axis=0) - by_row.mean(axis=0)).max() < (4.5 * math.sqrt(2) * error).max()
    assert grouped.std(axis=0) / by_row.std(axis=0) == pytest.approx(1, abs=4.5 / math.sqrt(N_RESAMPLES))


def test_a_resample_without_a_denominator_has_no_difference():
    sums = np.array([[1.0, 2, 0, 2], [0, 0, 5, 5], [5, 5, 0, 0], [3, 4, 1, 2], [0, 0, 0, 0]])
    found = bootstrap_difference(sums, 0.5, Resampling(5, 0))
    assert (found.low, found.high) == pytest.approx((0.25 + 0.025 * 0.25, 0.25 + 0.975 * 0.25))
    assert found.p == 1 / 3  # neither 0.5 nor 0.25 is 0.5 from 0.5
    nothing = bootstrap_difference(np.zeros((5, 4)), 0.5, Resampling(5, 0))
    assert (nothing.low, nothing.high, nothing.p) == (None, None, 1.0)


def test_quantiles_are_numpys(rng):
    for n in (1, 2, 3, 40, 41, 999):
        numbers = np.sort(rng.normal(size=n))
        for share in (0.025, 0.5, 0.975):
            assert resampling._quantile(numbers, share) == pytest.approx(np.quantile(numbers, share), abs=1e-14)
