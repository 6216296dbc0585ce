"""Tests of pairs: few rows that differ, runs that are alike, randomizations, and what a family of tests can detect."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judge import naive_pairs
from scipy import stats
from support.examples import examples

from xmceval.comparison.paired import (
    Resampling,
    detectable,
    exchange_p,
    mean_of_runs,
    paired_test,
    randomization_p,
    t_test,
    welch,
)
from xmceval.comparison.sums import sums_of_rows
from xmceval.metrics.names import parse
from xmceval.scoring.held_rows import RowBlock

# What a row may be worth: a share, with a common denominator or one of its own, or nothing.
NUMBERS = st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.4, 0.6, 0.6000000000000001, 2 / 3, 0.8, 1.0])
OWN = st.tuples(NUMBERS, st.sampled_from([0.0, 0.5, 1.0, 3.0])).map(lambda row: (row[0] * row[1], row[1]))


@st.composite
def rows_of_two(draw):
    n = draw(st.integers(1, 8))
    if draw(st.booleans()):
        dens = draw(st.lists(st.sampled_from([1.0, 0.5, 2.5]), min_size=n, max_size=n))
        return [[(draw(NUMBERS), den) for den in dens] for _ in "ab"]
    return [draw(st.lists(OWN, min_size=n, max_size=n)) for _ in "ab"]


@examples(3)
@given(rows_of_two())
def test_p_of_few_rows_is_that_of_all_exchanges(drawn):
    a, b = drawn
    differing = [(*x, *y) for x, y in zip(a, b, strict=True) if naive_pairs.differ(x, y)]
    totals = tuple(sum((Fraction(row[i]) for row in rows), Fraction(0)) for rows in (a, b) for i in (0, 1))
    assert exchange_p(totals, differing) == naive_pairs.exact_p(a, b)


def test_one_sided_rows_have_the_least_p():
    """Six rows are the fewest with p < 0.05."""
    for m in range(7):
        rows = [(1.0, 1.0, 0.0, 1.0)] * m
        totals = (Fraction(m), Fraction(50), Fraction(0), Fraction(50))
        assert exchange_p(totals, rows) == (2.0 ** (1 - m) if m else 1.0)


@pytest.mark.parametrize(("n_a", "n_b"), [(3, 3), (3, 5), (5, 3), (6, 7), (10, 9)])
def test_runs_that_are_all_alike_are_so_at_every_value(n_a, n_b):
    """A sum of equal values, divided by their number, misses the value at a third of all values."""
    values = [k / 2515 for k in range(1, 2515)]
    assert any(math.fsum([value] * 3) / 3 != value for value in values)
    for own, other in itertools.pairwise(values):
        found = welch([own] * n_a, [other] * n_b)
        assert (found.p, found.low, found.high, found.error) == (None, None, None, None)
        assert found.difference == own - other
        same = welch([own] * n_a, [own] * n_b)
        assert (same.difference, same.p, same.low, same.high) == (0.0, 1.0, None, None)
        assert mean_of_runs([own] * n_a) == own


@pytest.mark.parametrize(("squares", "is_by_t"), [(0.0, False), (1e-26, False), (1e-20, True)])
def test_errors_below_the_rounding_of_their_values_are_no_spread(squares, is_by_t):
    """Of a ratio of sums, whose differences are the ratio times the denominators but for their last digits."""
    totals = (Fraction(3), Fraction(10), Fraction(1), Fraction(10))
    found = paired_test(Fraction(1, 5), Fraction(squares), Fraction(1), 10, 8, [], totals)
    assert (found.error is not None) == is_by_t
    assert (found.n_differing, found.p == 2.0**-7) == ((None, False) if is_by_t else (8, True))


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_the_unit_of_denominators_changes_no_p(unit):
    found = [compare_ratios(each) for each in (1, unit)]
    assert 0 < found[0].p < 1
    assert found[0].n_differing is found[1].n_differing is None
    assert found[1].p == pytest.approx(found[0].p)
    assert found[1].difference * unit == pytest.approx(found[0].difference)


def compare_ratios(unit):
    """Compare ratios of 20 rows, with denominators in some unit."""
    rows = np.arange(20)
    ratios = [(rows % 3, (rows % 5 + 1) * unit), (rows % 4, (rows % 2 + 1) * unit)]
    values = np.array(ratios, dtype=float).transpose(2, 0, 1)[:, :, None]
    block = RowBlock(rows, np.ones(20), values, np.ones((20, 2, 1), dtype=bool))
    [sums] = sums_of_rows(parse("microP@1"), block, [(0, 1)], holds_rows=False)
    return sums.difference(0, 1)


def test_runs_that_differ_by_rounding_alone_are_alike():
    nearly = [0.1 + 0.2, 0.3, 0.3]
    assert nearly[0] != nearly[1]
    assert welch(nearly, [0.5, 0.5, 0.5]).p is None
    assert welch(nearly, [0.3, 0.3, 0.3]).p == 1.0


@pytest.mark.parametrize("n_tests", [1, 3, 45])
def test_welch_detects_what_its_degrees_allow(n_tests):
    rng = np.random.default_rng(8)
    a, b = (rng.normal(0.5, sd, n).tolist() for sd, n in ((0.01, 4), (0.03, 6)))
    found = welch(a, b)
    expected = stats.ttest_ind(a, b, equal_var=False)
    error = expected.confidence_interval().high - np.mean(a) + np.mean(b)
    error /= stats.t.ppf(0.975, expected.df)
    assert (found.error, found.degrees) == pytest.approx((error, expected.df))
    power = stats.t.ppf(1 - 0.025 / n_tests, expected.df) + stats.t.ppf(0.8, expected.df)
    assert detectable(found.error, found.degrees, n_tests) == pytest.approx(power * error)
    alike = welch([0.25] * 3, b)  # only one of the groups is alike
    expected = stats.ttest_1samp(b, 0.25)
    assert (alike.p, alike.degrees) == pytest.approx((expected.pvalue, len(b) - 1))


@pytest.mark.parametrize("n_systems", [2, 3, 6, 10])
@pytest.mark.parametrize("n", [100, 1000])
def test_the_detectable_difference_is_detected_with_80_percent_power(n, n_systems):
    """By the noncentral t, at the level of the smallest p of a family by Holm: a bound for all other ranks."""
    n_tests = n_systems * (n_systems - 1) // 2
    shift = detectable(1.0, n - 1, n_tests)
    at = stats.t.ppf(1 - 0.025 / n_tests, n - 1)
    assert 0.78 <= stats.nct.sf(at, n - 1, shift) <= 0.81
    alone = stats.nct.sf(at, n - 1, detectable(1.0, n - 1))
    assert n_tests == 1 or alone < 0.75


@pytest.mark.parametrize("sign", [1, -1])
def test_a_printed_example_of_the_paired_t_test(sign):
    """Sakai, Laboratory Experiments in Information Retrieval, 2018."""
    found = t_test(sign * 2.1158 * 0.01, 0.01, 20)
    assert found.p == pytest.approx(0.0478, abs=5e-5)
    assert found.effect == pytest.approx(sign * 0.4731, abs=5e-5)
    assert math.copysign(1, found.low) == math.copysign(1, found.high)  # p < 0.05: 0 is outside of the interval


def test_the_interval_ends_at_0_where_p_is_5_percent():
    found = t_test(0.01 * stats.t.ppf(0.975, 19), 0.01, 20)
    assert found.p == pytest.approx(0.05, abs=1e-12)
    assert found.low == pytest.approx(0.0, abs=1e-15)


def exact_randomization_p(a, b):
    """Return p over all swaps of rows of (numerator, denominator)."""

    def difference(a, b):
        return a[:, 0].sum() / a[:, 1].sum() - b[:, 0].sum() / b[:, 1].sum()

    swaps = np.array(list(itertools.product([False, True], repeat=len(a))))[:, :, None]
    found = [abs(difference(np.where(swap, b, a), np.where(swap, a, b))) for swap in swaps]
    return np.mean(np.array(found) >= abs(difference(a, b)) - 1e-12)


@pytest.mark.parametrize("is_common", [True, False])
def test_randomization_agrees_with_all_swaps(rng, is_common):
    a, b = rng.random((2, 9, 2)) + 0.5
    a[:, 0] += 0.2
    if is_common:
        b[:, 1] = a[:, 1]
    expected = exact_randomization_p(a, b)
    found = [randomization_p(a, b, Resampling(20_000, seed=3, threads=threads)) for threads in (1, 2)]
    assert found[0] == found[1]
    assert 0.01 < expected < 0.99
    assert found[0] == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 20_000))


def test_the_last_bits_of_values_do_not_change_p(rng):
    """Sizes of differences are equal but for rounding, from nearly none to the values themselves; 1 row in 5 ties."""
    worth = 1 + rng.random(30)
    a, b = (worth[rng.integers(30, size=(2, 3000, 3))] * (rng.random((2, 3000, 3)) < 0.7)).sum(axis=2)
    b[::5] = a[::5]
    values = np.stack([np.stack([each, np.full(3000, 4.0)], axis=1) for each in (a, b)])
    values[:, ::7, 0] *= 1e6  # a row's bits are those of its own size
    found = set()
    for _ in range(5):
        rounded = values.copy()
        rounded[:, :, 0] *= 1 + rng.integers(-4, 5, (2, 3000)) * np.finfo(float).eps
        found.add(randomization_p(*rounded, Resampling(999, seed=3, threads=1)))
    assert len(found) == 1


def test_a_ratio_of_nothing_is_0_in_a_randomization():
    """Of the 8 ways to swap 3 rows, only none and all leave one system without anything: p is 2 / 8."""
    with np.errstate(all="raise"):
        found = randomization_p(np.ones((3, 2)), np.zeros((3, 2)), Resampling(2_000, seed=3, threads=1))
    assert found == pytest.approx(0.25, abs=0.05)
