"""Tests across data sets: against Demšar's paper, scipy, all signs one by one, and random values."""

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy
from hypothesis import given, strategies as st
from judge import naive_across
from scipy import stats
from support.examples import examples

from xmceval.statistics.across import compare_across, count_wins, least_signed_rank_p, range_quantile
from xmceval.statistics.fdistribution import f_tail
from xmceval.statistics.ranks import signed_rank_p

DEMSAR = np.array(naive_across.DEMSAR)
SMALL = st.integers(-4, 4)


def blocks(n_datasets, n_systems, n_values):
    """Values of which few are distinct, so that systems tie."""
    rng = np.random.default_rng(n_datasets * 100 + n_systems)
    return rng.integers(n_values, size=(n_datasets, n_systems)).astype(float)


def test_the_judge_has_the_numbers_of_the_paper():
    assert [round(each, 3) for each in naive_across.mean_ranks(DEMSAR)] == [3.143, 2.0, 2.893, 1.964]
    assert [round(each, 2) for each in naive_across.friedman(DEMSAR)] == [9.28, 3.69]


def test_the_critical_difference_and_the_mean_ranks_are_those_of_the_paper():
    across = compare_across(DEMSAR, baseline=0)
    assert [round(each, 3) for each in across.mean_ranks] == [3.143, 2.0, 2.893, 1.964]
    assert round(across.nemenyi.critical_difference, 2) == 1.25
    assert across.nemenyi.groups == ((3, 1, 2, 0),)
    assert across.nemenyi.ahead == ()


def test_friedman_is_that_of_the_paper_without_ties():
    values = np.random.default_rng(0).random((14, 4))
    chi2, f = naive_across.friedman(values)
    found = compare_across(values).friedman
    assert (found.chi2, found.f) == (pytest.approx(chi2), pytest.approx(f))
    assert found.df == (3, 39)
    assert found.p == pytest.approx(stats.f.sf(f, 3, 39))


@pytest.mark.parametrize("values", [DEMSAR, blocks(5, 3, 3), blocks(9, 8, 4), blocks(30, 5, 2)])
def test_friedman_with_ties_is_that_of_scipy(values):
    n, k = values.shape
    expected = stats.friedmanchisquare(*values.T).statistic
    found = compare_across(values).friedman
    assert found.chi2 == pytest.approx(expected)
    assert found.f == pytest.approx((n - 1) * expected / (n * (k - 1) - expected))


# Up to 1.15 scipy is off by 6e-10 where f is 1e-9.
ERROR = 1e-10 if tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17) else 1e-9


@pytest.mark.parametrize("df1", [1, 2, 3, 8, 29])
@pytest.mark.parametrize("df2", [4, 5, 39, 1400])
def test_the_f_distribution_is_that_of_scipy(df1, df2):
    for f in (0.0, 1e-9, 0.3, 1.0, 1.7, 3.0, 20.0, 300.0):
        assert f_tail(f, df1, df2) == pytest.approx(stats.f.sf(f, df1, df2), rel=ERROR, abs=1e-300)


@pytest.mark.parametrize(
    ("row", "p"),
    [([3, 1, 2], 6.0**-5), ([1, 2, 3, 4], 24.0**-5), ([2, 1, 1], 3.0**-5), ([1, 1, 1], 1.0)],
)
def test_data_sets_that_rank_alike_have_the_chance_of_that_as_p(row, p):
    """All equal systems rank alike by certainty, two equal ones in half as many orders."""
    found = compare_across(np.tile(np.array(row, float), (6, 1))).friedman
    assert found.f is None
    assert found.p == pytest.approx(p)


def test_quantiles_of_the_range_are_those_of_the_paper_and_of_scipy():
    table = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    assert [range_quantile(k) / math.sqrt(2) for k in range(2, 11)] == pytest.approx(table, abs=0.001)
    for k in (2, 12, 50):
        assert range_quantile(k) == pytest.approx(stats.studentized_range.ppf(0.95, k, np.inf), rel=1e-9)


@pytest.mark.parametrize("n", [1, 5, 6, 14, 40])
def test_signed_ranks_without_ties_are_those_of_scipy(n):
    differences = np.random.default_rng(n).normal(0.4, 1.0, n)
    p, balance = signed_rank_p(differences)
    expected = stats.wilcoxon(differences, mode="exact")
    assert p == pytest.approx(expected.pvalue, rel=1e-12)
    assert abs(balance) == n * (n + 1) / 2 - 2 * expected.statistic


@examples(5)
@given(st.lists(SMALL, max_size=9))
def test_signed_ranks_are_exact_with_ties_and_zeros(differences):
    assert signed_rank_p(np.array(differences, float))[0] == naive_across.signed_rank_p(differences)


def test_differences_that_rounding_alone_tells_apart_tie():
    """0.3 - 0.2 and 0.2 - 0.1 differ in floats, and so their ranks would."""
    values = np.array([[0.3, 0.2], [0.1, 0.2], [0.5, 0.4], [0.9, 0.7], [0.6, 0.9], [0.4, 0.1 + 0.3]])
    tenths = [1, -1, 1, 2, -3, 0]
    (test,) = compare_across(values, baseline=1).signed_ranks
    assert test.p == naive_across.signed_rank_p(tenths)
    assert (test.system, test.baseline, test.balance) == (0, 1, 1.0)


def test_a_baseline_is_compared_with_each_other_system_by_holm():
    tests = compare_across(DEMSAR, baseline=0).signed_ranks
    ps = [naive_across.signed_rank_p([round(1e4 * (row[i] - row[0])) for row in DEMSAR.tolist()]) for i in (1, 2, 3)]
    assert [test.p for test in tests] == ps
    first, second, third = ps
    assert [test.p_adjusted for test in tests] == [3 * first, second, 2 * third]
    assert [(test.is_detected, test.is_better) for test in tests] == [(True, True), (False, True), (True, True)]


def test_lower_values_may_be_better():
    up, down = compare_across(DEMSAR, baseline=0), compare_across(1 - DEMSAR, baseline=0, higher_is_better=False)
    assert up == down


def test_two_systems_have_the_signed_rank_test_alone():
    across = compare_across(DEMSAR[:, :2])
    assert (across.friedman, across.nemenyi) == (None, None)
    assert [(test.system, test.baseline) for test in across.signed_ranks] == [(1, 0)]


@pytest.mark.parametrize(("n_tests", "n"), [(1, 6), (3, 7), (7, 9)])
def test_so_many_data_sets_are_needed_for_a_difference_at_5_percent(n_tests, n):
    assert least_signed_rank_p(n - 1, n_tests) > 0.05 >= least_signed_rank_p(n, n_tests)
    falling = np.arange(n_tests + 1.0, 0.0, -1)
    few, many = (
        compare_across(np.tile(falling, (rows, 1)) + np.arange(rows)[:, None], baseline=0)
        for rows in (max(n - 1, 5), n)
    )
    assert (many.n_needed, few.n_needed) == (n, n)
    assert all(test.is_detected for test in many.signed_ranks)
    assert many.least_p == many.signed_ranks[0].p_adjusted
    assert not any(test.is_detected for test in few.signed_ranks)


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        ((3, 4), "3 data sets, at least 5 are needed"),
        ((1, 4), "1 data set, at least 5 are needed"),
        ((0, 4), "0 data sets, at least 5 are needed"),
        ((6, 1), "1 system has a value on all 6 data sets, at least 2 are needed"),
    ],
)
def test_what_is_not_tested_says_why_and_has_ranks(shape, why):
    across = compare_across(np.arange(math.prod(shape), dtype=float).reshape(shape), baseline=0)
    assert across.untested == why
    assert (across.friedman, across.nemenyi, across.signed_ranks) == (None, None, ())
    assert across.mean_ranks == (tuple(range(shape[1], 0, -1)) if shape[0] else ())


def test_systems_that_lack_a_data_set_are_left_out_and_data_sets_without_any_value_too():
    values = np.full((7, 5), np.nan)
    values[:6, [0, 2, 4]] = DEMSAR[:6, :3]
    values[:5, 1] = 1.0
    across, alone = compare_across(values, baseline=4), compare_across(DEMSAR[:6, :3], baseline=2)
    assert (across.datasets, across.systems) == (tuple(range(6)), (0, 2, 4))
    assert (across.ranks, across.friedman) == (alone.ranks, alone.friedman)
    assert [(test.system, test.baseline, test.p) for test in across.signed_ranks] == [
        (system, 4, test.p) for system, test in zip((0, 2), alone.signed_ranks, strict=True)
    ]
    assert compare_across(values, baseline=1).signed_ranks == ()


def test_groups_are_the_largest_that_are_not_told_apart():
    """With 30 data sets in one order mean ranks are 1 to 6, and the critical difference is 1.38."""
    across = compare_across(np.tile(np.arange(6.0), (30, 1)))
    assert across.nemenyi.groups == ((5, 4), (4, 3), (3, 2), (2, 1), (1, 0))
    assert (5, 3) in across.nemenyi.ahead
    assert (5, 4) not in across.nemenyi.ahead
    far = compare_across(np.tile([2.0, 1.0, 0.0], (30, 1)))
    assert (far.nemenyi.groups, far.nemenyi.ahead) == ((), ((0, 1), (0, 2), (1, 2)))


@examples(2)
@given(st.lists(st.lists(st.sampled_from([math.nan, 0.0, 1.0, 2.0, math.inf]), min_size=3, max_size=3), min_size=1))
def test_wins_are_counted_on_the_data_sets_that_both_have(values):
    wins, ties = count_wins(np.array(values))
    for a in range(3):
        for b in range(3):
            expected = naive_across.wins(values, a, b) if a != b else (0, 0, 0)
            assert (wins[a, b], ties[a, b], wins[b, a]) == expected


def test_tests_of_systems_that_are_alike_err_in_one_of_twenty_samples():
    rng = np.random.default_rng(0)
    samples = [compare_across(rng.random((12, 5)), baseline=0) for _ in range(600)]
    for share in (
        np.mean([each.friedman.p < 0.05 for each in samples]),
        np.mean([bool(each.nemenyi.ahead) for each in samples]),
        np.mean([any(test.is_detected for test in each.signed_ranks) for each in samples]),
    ):
        assert 0.02 < share < 0.08


def test_scipy_is_not_loaded():
    code = (
        "import sys, numpy; from xmceval.statistics.across import compare_across; "
        "compare_across(numpy.random.default_rng(0).random((9, 4)), baseline=0); "
        "assert 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_where_all_systems_tie_everywhere_there_is_nothing_to_find():
    found = compare_across(np.ones((6, 4))).friedman
    assert (found.chi2, found.p) == (0.0, 1.0)
