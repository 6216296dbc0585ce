"""The level of tests and the coverage of intervals, by simulation."""

import math

import pytest
from support.simulation import LAWS, simulate

REPEATS = 80
TESTS = {"t": {}, "randomization": {"test": "randomization", "resamples": 999}}


@pytest.mark.parametrize("law", ["P@1 = 0.5", "P@3 = 0.5", "PSP@3 = 0.5"])
def test_a_test_errs_in_one_of_twenty_samples_and_an_interval_holds_the_others(law):
    """Within 3.3 standard errors of 0.05; half of the variance would give a level of 0.17."""
    shares = {name: simulate(law, 60, REPEATS, **testing) for name, testing in TESTS.items()}
    for test in TESTS:
        assert shares[test]["test"]["errs"] == pytest.approx(0.05, abs=0.08)
        assert shares[test]["difference"]["errs"] <= 0.13
    errors = [shares[test][kind]["errs"] for test in TESTS for kind in ("test", "difference")]
    assert max(errors) > 0, "what never errs is no test at the level 0.05"


@pytest.mark.parametrize("law", LAWS)
def test_few_intervals_miss_and_few_tests_err_without_a_caution(law):
    """At most 7 %, and two standard errors more; a test is always given."""
    found = simulate(law, 100, REPEATS)
    for shares in found.values():
        assert shares["unwarned"] <= 0.07 + 2 * math.sqrt(0.07 * 0.93 / REPEATS)
    assert found["test"]["given"] == 1
    if law == "PSP@5, tail 0.9":  # few rows have most weight
        assert found["value"]["cautioned"] > 0.5
    elif "value" in found:
        assert found["value"]["cautioned"] == 0
