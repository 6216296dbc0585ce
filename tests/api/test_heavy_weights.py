"""Comparisons where a few instances have most of the weight: t of the numerators, and Fieller's interval."""

import math

import numpy as np
import pytest
from scipy import stats

import xmceval

N_ROWS, N_LABELS = 80, 400


@pytest.fixture(scope="module")
def problem():
    """Truth, the scores of four systems, which find one of two labels, and inverse propensities with a heavy tail."""
    rng = np.random.default_rng(5)
    inverse = np.sort(rng.random(N_LABELS) ** (-1 / 1.1))
    truth = np.zeros((N_ROWS, N_LABELS))
    truth[np.arange(N_ROWS), rng.permutation(N_LABELS)[:N_ROWS]] = 1
    systems = []
    for hit in (0.4, 0.5, 0.6, 0.7):
        found = np.where(rng.random(N_ROWS) < hit, truth.argmax(axis=1), 0)
        systems.append(np.eye(N_LABELS)[found])
    return truth, systems, inverse


def numerators(problem, scores):
    """Return the gains of each instance, and what is the most it could have."""
    truth, _, inverse = problem
    return (truth * scores * inverse).sum(axis=1), (truth * inverse).sum(axis=1)


def compared(problem, a, b):
    truth, _, inverse = problem
    result = xmceval.compare(truth, {"a": a, "b": b}, metrics="PSP@1", inverse_propensities=inverse)
    return result["PSP@1", "b", "a"]


@pytest.mark.parametrize("n_runs", [1, 2])
def test_p_is_that_of_t_of_the_numerators_and_the_interval_agrees(problem, n_runs):
    a, b = problem[1][:n_runs], problem[1][-n_runs:]
    found = compared(problem, *(each if n_runs > 1 else each[0] for each in (a, b)))
    gaps = np.mean([numerators(problem, each)[0] for each in b], axis=0)
    gaps = gaps - np.mean([numerators(problem, each)[0] for each in a], axis=0)
    den = numerators(problem, a[0])[1]
    assert stats.t.ppf(0.975, N_ROWS - 1) * stats.sem(den) > 0.2 * den.mean()
    expected = stats.ttest_1samp(gaps, 0)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.effect == pytest.approx(expected.statistic / math.sqrt(N_ROWS), rel=1e-9)
    assert found.difference == pytest.approx(gaps.sum() / den.sum())
    for end in found.interval:
        assert stats.ttest_1samp(gaps - end * den, 0).pvalue == pytest.approx(0.05, rel=1e-6)
    assert (found.low > 0 or found.high < 0) == (found.p < 0.05)


def test_an_interval_without_end_is_none_and_is_printed(problem):
    truth, (a, *_, b), inverse = problem
    inverse = np.where(np.arange(N_LABELS) == truth[0].argmax(), 1e6, inverse)
    own = truth, [a, b], inverse
    found = compared(own, a, b)
    assert found.low is None is found.high
    assert 0 < found.p <= 1
    value = xmceval.score(truth, b, metrics="PSP@1", inverse_propensities=inverse).estimates["PSP@1"]
    assert (value.low, value.caution) == (None, "one_row")
    both = xmceval.compare(truth, {"a": a, "b": b}, metrics="PSP@1", inverse_propensities=inverse)
    assert "a single instance carries more than a fifth of the variance of PSP@1" in str(both)
