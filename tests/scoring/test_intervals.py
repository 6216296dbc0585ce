"""Exact sums, and the intervals of ratios and of shares that follow from them: by hand, and what they cover."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numba import config
from scipy import sparse as sp, stats
from support import graded

from xmceval import DataError
from xmceval.kernels.metrics.sums import LARGEST_TOP, MOMENTS, WORD, WORDS, add_values
from xmceval.kernels.metrics.topk import SLOTS
from xmceval.metrics.names import parse
from xmceval.scoring import estimates
from xmceval.scoring.estimates import (
    FEW,
    RowSums,
    binomial_interval,
    exact_sum,
    exact_total,
    fieller_interval,
    is_uncertain,
    ratio_interval,
    t_quantile,
)
from xmceval.scoring.totals import check_words, no_extremes


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_the_quantile_is_students_at_every_number_of_degrees(confidence):
    degrees = [*range(1, 1001), 10**6, 10**9]
    expected = stats.t.ppf((1 + confidence) / 2, degrees)
    assert [t_quantile(n, confidence) for n in degrees] == pytest.approx(expected.tolist(), rel=1e-11)
    assert t_quantile(29) == t_quantile(29, 0.95)


def within(t, degrees):
    """The probability of -t..t, for an even number of degrees (Abramowitz, Stegun, 26.7.4)."""
    sine = t / (degrees + t * t).sqrt()
    term = total = Decimal(1)
    for j in range(1, degrees // 2):
        term *= (1 - sine * sine) * (2 * j - 1) / (2 * j)
        total += term
    return sine * total


@pytest.mark.parametrize(
    ("confidence", "error"), [(0.6, 2e-14), (0.9, 1e-13), (0.95, 4e-13), (0.99, 4e-12), (0.999, 4e-11)]
)
@pytest.mark.parametrize("degrees", [300, 302, 350, 500, 1000, 5000])
def test_the_expansion_of_the_quantile_is_as_exact_as_it_says(confidence, error, degrees):
    with localcontext() as context:
        context.prec = 50
        found, slack = Decimal(t_quantile(degrees, confidence)), Decimal(error)
        assert within(found - slack, degrees) < Decimal(confidence) < within(found + slack, degrees)


def sums_of(pairs):
    powers = (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)
    return RowSums(*(sum(Fraction(x) ** i * Fraction(y) ** j for x, y in pairs) for i, j in powers))


def interval(pairs, **options):
    """Return the interval of rows (numerator, denominator)."""
    return ratio_interval(sums_of(pairs), len(pairs), **options)[0]


def test_intervals_by_hand():
    # Values 0 and 1: mean 1/2, s = sqrt(1/2), s / sqrt(2) = 1/2, t(1) = 12.706205.
    assert interval([(0, 1), (1, 1)]) == pytest.approx((0.5 - 12.706204736 / 2, 0.5 + 12.706204736 / 2))
    # (1, 1), (0, 3): R = 1/4, e = 3/4, -3/4; SE = sqrt(9/8 / 2) / 2.
    margin = 12.706204736 * 0.75 / 2
    assert interval([(1, 1), (0, 3)]) == pytest.approx((0.25 - margin, 0.25 + margin))
    # Values 1, 0, 1, 1: s / sqrt(4) = 1/4, t(3) = 3.182446.
    margin = 3.182446305 / 4
    assert interval([(1, 1), (0, 1), (1, 1), (1, 1)]) == pytest.approx((0.75 - margin, 0.75 + margin))


def test_one_row_no_row_and_rows_that_are_alike_have_no_interval():
    assert interval([(1, 2)]) is None
    assert ratio_interval(RowSums(*map(Fraction, (0, 1, 0, 0, 1))), 0) == (None, False)
    for row in ((1, 3), (0, 1), (0.1, 0.3), (1e6 / 3, 1)):
        assert interval([row] * 5) is None
    # Ratios that differ by rounding only.
    assert interval([(0.1, 0.3), (0.1 / 3, 0.1), (1 / 3, 1)]) is None
    # Sums that were rounded below what the square of the sum asks for.
    sums = RowSums(Fraction(1), Fraction(2), Fraction(1, 3), Fraction(1), Fraction(2))
    assert ratio_interval(sums, 2) == (None, False)


def test_ever_so_small_a_spread_has_an_interval():
    low, high = interval([(0.5, 1), (0.5 + 1e-10, 1)])
    assert 0 < high - low < 1e-8


@pytest.mark.parametrize("n", [2, 5, 39, 40, 1000])
@pytest.mark.parametrize("weight", [1, Fraction(1, 3), 0.1])
def test_few_hits_or_misses_have_the_interval_of_clopper_and_pearson_and_others_that_of_t(n, weight):
    for hits in {0, 1, 2, FEW - 1, FEW, FEW + 1, n - FEW, n - FEW + 1, n - 1, n}.intersection(range(n + 1)):
        pairs = [(weight * (i < hits), weight) for i in range(n)]
        found = interval(pairs, is_share=True)
        if min(hits, n - hits) < FEW:
            assert found == binomial_interval(hits, n)
        else:
            assert found == interval(pairs) != binomial_interval(hits, n)


@pytest.mark.parametrize(
    "pairs",
    [
        [(0.5, 1), (1, 1), (0, 1)],  # a value that is neither 0 nor 1
        [(1, 1), (0, 2), (0, 1)],  # unlike weights
        [(2, 2), (0, 1), (0, 2)],
    ],
)
def test_other_values_and_unlike_weights_have_the_interval_of_t(pairs):
    assert interval(pairs, is_share=True) == interval(pairs)


def test_values_that_may_be_above_1_have_the_interval_of_t():
    pairs = [(1.5, 1), (0.5, 1), (0.5, 1), (0.5, 1)]  # whose sum is that of their squares
    low, high = interval(pairs)
    assert (low + high) / 2 == 0.75
    assert sums_of(pairs).hits(4) == 3


def at_most(hits, n, p):
    """Return the probability of at most this number of hits, to 60 digits."""
    with localcontext() as digits:
        digits.prec = 60
        p = Decimal(p.numerator) / Decimal(p.denominator)
        return sum(Decimal(math.comb(n, i)) * p**i * (1 - p) ** (n - i) for i in range(hits + 1))


@pytest.mark.parametrize("n", [1, 2, 7, 30, 100, 1000])
def test_the_ends_of_the_exact_interval_leave_a_fortieth_each(n):
    for hits in {0, 1, 2, 5, 19, n - 3, n}.intersection(range(n + 1)):
        low, high = map(Fraction, binomial_interval(hits, n))
        step = Fraction(1, 10**13)
        if hits:
            assert 1 - at_most(hits - 1, n, low - step) < Decimal("0.025") < 1 - at_most(hits - 1, n, low + step)
        if hits < n:
            assert at_most(hits, n, high + step) < Decimal("0.025") < at_most(hits, n, high - step)
        assert (low == 0) == (hits == 0)
        assert (high == 1) == (hits == n)


@pytest.mark.parametrize(("hits", "n"), [(0, 10**6), (3, 10**7), (19, 10**9), (10**8 - 2, 10**8)])
def test_the_exact_interval_of_very_many_rows_is_that_of_the_beta_distribution(hits, n):
    low, high = binomial_interval(hits, n)
    expected = stats.beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0, stats.beta.ppf(0.975, hits + 1, n - hits)
    assert (low, high) == pytest.approx(expected, rel=1e-9)


def test_the_exact_interval_of_misses_mirrors_that_of_hits():
    for hits in range(31):
        low, high = binomial_interval(hits, 30)
        assert binomial_interval(30 - hits, 30) == pytest.approx((1 - high, 1 - low), abs=1e-15)


@pytest.mark.parametrize(("n", "least"), [(30, 0.95), (100, 0.934), (1000, 0.931), (10_000, 0.93)])
def test_the_interval_of_a_share_covers_nearly_as_often_as_it_says_at_every_share(n, least):
    """By counting all samples, at shares just outside the ends of each interval, where the least are covered."""
    most = min(n // 2, 200)  # hits: the other half mirrors them, and beyond them t is as good as it gets
    hits = np.arange(min(n, 2 * most + 100) + 1)
    ends = np.array([interval_of_hits(each, n) for each in hits])
    shares = np.concatenate([ends[: most + 1, 0] - 1e-12, ends[: most + 1, 1] + 1e-12])
    shares = shares[(shares > 0) & (shares <= most / n)]
    chances = stats.binom.pmf(hits[:, None], n, shares)
    is_covered = (ends[:, :1] <= shares) & (shares <= ends[:, 1:])
    assert least <= (chances * is_covered).sum(axis=0).min() < least + 0.002


def interval_of_hits(hits, n):
    hits = Fraction(int(hits))
    return ratio_interval(RowSums(hits, Fraction(n), hits, hits, Fraction(n)), n, is_share=True)[0]


def heavy(seed, n, tail=0.9, share=0.5):
    """Rows of which few have most of the denominators."""
    rng = np.random.default_rng(seed)
    den = rng.random(n) ** (-1 / tail)
    return np.stack([den * (rng.random(n) < share), den], axis=1)


@pytest.mark.parametrize("seed", range(8))
def test_fiellers_interval_ends_where_t_excludes_a_mean_of_0(seed):
    pairs = heavy(seed, 200, tail=3.0)
    for ratio in fieller_interval(sums_of(pairs.tolist()), 200):
        assert stats.ttest_1samp(pairs[:, 0] - ratio * pairs[:, 1], 0).pvalue == pytest.approx(0.05, rel=1e-6)


def test_fiellers_interval_has_no_end_where_the_denominator_may_be_0():
    pairs = [(1, 1), (0, 1)] * 20 + [(1e6, 1e6)]
    assert is_uncertain(sums_of(pairs), len(pairs))
    assert interval(pairs) is None


def test_denominators_known_to_20_percent_and_few_rows_leave_the_delta_method():
    few = heavy(0, 29).tolist()
    assert not is_uncertain(sums_of(few), 29)
    assert sum(interval(few)) / 2 == pytest.approx(np.divide(*np.sum(few, axis=0)))
    den = stats.norm.ppf(np.linspace(0.01, 0.99, 99)) / stats.t.ppf(0.975, 98) * math.sqrt(99)
    den /= den.std(ddof=1) / math.sqrt(99) * stats.t.ppf(0.975, 98)  # so far does the interval of the mean reach
    for reach, is_so in ((0.199, False), (0.201, True)):
        assert is_uncertain(sums_of([(0, 1 + reach * each) for each in den.tolist()]), 99) is is_so


def test_intervals_of_few_large_denominators_seldom_miss():
    """The delta method misses in about 30% of such samples."""
    found = [interval(heavy(seed, 100).tolist()) for seed in range(150)]
    given = [ends for ends in found if ends is not None]
    assert len(given) > 75
    assert sum(not low <= 0.5 <= high for low, high in given) <= 0.07 * len(found)


# Exact sums


NUMBERS = st.floats(-1e150, 1e150, allow_subnormal=True) | st.floats(-1.0, 1.0) | st.sampled_from([1e-300, 5e-324, 0.1])


@given(numbers=st.lists(NUMBERS, max_size=40))
def test_sums_are_rounded_once(numbers):
    assert exact_sum(np.array(numbers)) == math.fsum(numbers)


@pytest.mark.parametrize("n", [0, 1, 2, 1023, 1024, 100_000])
def test_sums_of_many_rates_are_rounded_once(rng, n):
    numbers = rng.integers(0, 9, n) / rng.integers(1, 10**9, n)
    assert exact_sum(numbers) == math.fsum(numbers)
    assert exact_sum(numbers[::-1]) == exact_sum(numbers)


def test_an_exact_sum_leaves_its_numbers_alone(rng):
    numbers = rng.random(10)
    before = numbers.copy()
    exact_sum(numbers)
    assert numbers.tolist() == before.tolist()


@given(counts=st.lists(st.integers(0, 2**62), max_size=40))
def test_totals_may_exceed_64_bits(counts):
    assert exact_total(np.array(counts, dtype=np.int64)) == sum(counts)


# Estimates from the words of exact sums


[MEASURE] = parse("RR@1")
QUANTUM = Fraction(1, 1 << 60)
MANY = 60 if config.DISABLE_JIT else 2000


def none_kept(values):
    return np.full_like(no_extremes(values.shape[1]), np.inf)


def added(values, weights=()):
    sums = np.zeros((values.shape[1], MOMENTS, WORDS), np.int64)
    weights = np.array(weights, dtype=np.float64)
    assert add_values(values, weights, sums, none_kept(values)) == -1
    return sums


def exact(words):
    squares, low, middle, high = (int(word) for word in words)
    return squares * QUANTUM**2 + low * QUANTUM + middle + (high << 60)


def rows(rng, scale):
    """One output: value, ideal, how far ties move the value up and down, and the ceiling."""
    num = rng.random(MANY) * scale
    den = num + rng.random(MANY) * scale
    return np.stack([num, den, (den - num) * rng.random(MANY), -num * rng.random(MANY), den], axis=1)[:, None, :]


def estimate(values, extra=0):
    """Estimate the one output of some rows; `extra` is added to the lower words of the sum of squares."""
    [sums], [kept] = added(values), no_extremes(1)
    sums[2, 1:] += np.array(extra)
    [found] = estimates.estimate([MEASURE], sums[None], [len(values)], kept[None])
    return found


@pytest.mark.parametrize("scale", [1.0, 1e3, 2.0**40])
def test_a_ratio_has_the_interval_of_the_delta_method(rng, scale):
    values = rows(rng, scale)
    num, den = values[:, 0, 0], values[:, 0, 1]
    found = estimate(values)
    ratio = num.sum() / den.sum()
    error = math.sqrt(np.sum((num - ratio * den) ** 2) / (MANY * (MANY - 1))) / den.mean()
    assert found.value == pytest.approx(ratio, rel=1e-13)
    assert (found.high - found.low) / 2 == pytest.approx(stats.t.ppf(0.975, MANY - 1) * error, rel=1e-10)


def test_an_ideal_of_0_is_undefined():
    found = estimate(np.zeros((3, 1, SLOTS)))
    assert (found.value, found.low, found.high, found.undefined) == (0.0, None, None, True)


def test_rounding_never_makes_a_variance_negative():
    # Three times 1/3 of ideal 1: the sum of squares is rounded below the square of the sum over 3.
    values = np.tile([1 / 3, 1.0, 0.0, 0.0, 0.0], (3, 1, 1))
    for words in ([-9, 0, 0], [0, 0, 0]):
        found = estimate(values, words)
        assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize("row", [[1 / 3, 1.0], [77.7, 1.0], [1e6 / 3, 1e7 / 9], [2**39 + 0.1, 1.0], [1e-15, 1e-15 / 3]])
@pytest.mark.parametrize("n_rows", [2, 3, MANY])
def test_equal_rows_have_no_interval(row, n_rows):
    found = estimate(np.tile([*row, 0.0, 0.0, 0.0], (n_rows, 1, 1)))
    assert found.value == pytest.approx(row[0] / row[1], rel=1e-12)
    assert (found.low, found.high, found.caution) == (None, None, None)


@pytest.mark.parametrize("exponent", [-20, -25, -30, -35])
def test_small_weights_keep_the_width_of_the_interval(rng, exponent):
    values = rng.random((MANY, 1, SLOTS))
    values[:, 0, 1] = 1
    weights = np.ldexp(1 + rng.random(MANY), exponent)
    weights[0], values[0] = 1.0, [0.5, 1, 0, 0, 0]
    [sums] = added(values, weights)
    found = RowSums(*map(exact, sums[:5]))
    num = weights * values[:, 0, 0]
    ratio = num.sum() / weights.sum()
    assert float(found.squares / found.den**2) == pytest.approx(np.sum((num - ratio * weights) ** 2), rel=2e-6)


def test_grades_too_many_and_too_large_to_square_are_refused_with_their_place():
    n = 3 << 19
    truth = sp.csr_array((np.full(n, 2.0**40), np.arange(n), [0, 0, n]), shape=(2, n))
    scores = sp.csr_array((np.arange(n), np.arange(n), [0, 0, n]), shape=(2, n))
    with pytest.raises(DataError, match=r"y_true row 1: a sum of squares .* weights or grades too large"):
        graded.score(truth, scores, metrics="DCG(discount=none)@all")


@pytest.mark.parametrize("sign", [-1, 1])
def test_words_of_a_sum_out_of_range_are_refused(sign):
    words = np.zeros((2, WORDS), dtype=np.int64)
    words[:, -2], words[1, -1] = (1 << WORD) - 1, sign * (int(LARGEST_TOP) - 1)
    check_words("a state", words)
    words[1, -1] += sign
    with pytest.raises(ValueError, match=r"^a state has sums out of range$"):
        check_words("a state", words)
