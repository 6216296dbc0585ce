"""The level of tests and the coverage of intervals, by simulation."""

import math

import pytest
from support.simulation import LAWS, METRICS, TESTS, simulate_intervals, simulate_tests

from xmceval.comparison.paired import t_test

REPEATS = 80


@pytest.fixture(scope="module")
def shares():
    """Return the shares of all cells at 60 rows; the seed is fixed, and so they are the same in every run."""
    return simulate_tests(60, REPEATS)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("test", TESTS)
def test_a_test_errs_in_one_of_twenty_samples(shares, test, metric):
    """Within 3.3 standard errors of 0.05; half of the variance would give a level of 0.17."""
    assert shares["level", test, metric] == pytest.approx(0.05, abs=0.08)


@pytest.mark.parametrize("metric", METRICS)
def test_an_interval_holds_the_difference_in_nineteen_of_twenty_samples(shares, metric):
    assert shares["coverage", "t", metric] >= 0.87


def test_some_test_errs_and_some_interval_misses(shares):
    """What never errs is no test at the level 0.05."""
    assert max(share for cell, share in shares.items() if cell[0] == "level") > 0
    assert min(share for cell, share in shares.items() if cell[0] == "coverage") < 1


@pytest.mark.parametrize("law", LAWS)
def test_few_intervals_miss_and_few_tests_err_without_a_caution(law):
    """At most 7 %, and two standard errors more; a test is always given."""
    found = simulate_intervals(law, 100, REPEATS)
    for shares in found.values():
        assert shares["unwarned"] <= 0.07 + 2 * math.sqrt(0.07 * 0.93 / REPEATS)
    assert found["test"]["given"] == 1


def test_a_caution_is_given_where_few_rows_have_most_weight_and_nowhere_else():
    assert simulate_intervals("PSP@5, tail 0.9", 100, REPEATS)["value"]["cautioned"] > 0.5
    assert simulate_intervals("P@1 = 0.98", 100, REPEATS)["value"]["cautioned"] == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_a_printed_example_of_the_paired_t_test(sign):
    """Sakai, Laboratory Experiments in Information Retrieval, 2018."""
    found = t_test(sign * 2.1158 * 0.01, 0.01, 20)
    assert found.p == pytest.approx(0.0478, abs=5e-5)
    assert found.effect == pytest.approx(sign * 0.4731, abs=5e-5)
    assert math.copysign(1, found.low) == math.copysign(1, found.high)  # p < 0.05: 0 is outside of the interval


def test_the_interval_ends_at_0_where_p_is_5_percent():
    from scipy.stats import t

    found = t_test(0.01 * t.ppf(0.975, 19), 0.01, 20)
    assert found.p == pytest.approx(0.05, abs=1e-12)
    assert found.low == pytest.approx(0.0, abs=1e-15)
