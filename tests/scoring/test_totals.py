"""Totals: exact sums, the quantile, the delta method."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numba import config
from scipy import stats

from xmceval.errors import DataError
from xmceval.kernels.topk import SLOTS
from xmceval.kernels.totals import MOMENTS, add_values
from xmceval.scoring import estimates
from xmceval.scoring.sums import Sums
from xmceval.statistics.intervals import t_quantile

QUANTUM = Fraction(1, 1 << 60)
N = 60 if config.DISABLE_JIT else 2000


def empty(n_outputs=1):
    return np.zeros((n_outputs, MOMENTS, 3), np.int64)


def added(values, weights=(), sums=None):
    sums = empty(values.shape[1]) if sums is None else sums
    add_values(values, np.array(weights, dtype=np.float64), np.empty(MOMENTS), sums)
    return sums


def exact(words):
    low, middle, high = (int(word) for word in words)
    return low * QUANTUM + middle + (high << 60)


def moments(num, den, best, worst, ceiling):
    """The floats that are summed, moment by moment."""
    return [num, den, num * num, num * den, den * den, best, worst, ceiling]


def rows(rng, scale):
    """One output: value, ideal, how far ties move the value up and down, and the ceiling."""
    num = rng.random(N) * scale
    den = num + rng.random(N) * scale
    return np.stack([num, den, (den - num) * rng.random(N), -num * rng.random(N), den], axis=1)[:, None, :]


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1.0, 3.0, 5.0, 1e6, 2.0**40])
def test_sums_are_exact_but_for_one_quantum_a_row(rng, scale):
    values = rows(rng, scale)
    sums = added(values)
    for m, floats in enumerate(moments(*values[:, 0, :].T)):
        right = sum(map(Fraction, floats.tolist()))
        assert abs(exact(sums[0, m]) - right) <= N * QUANTUM, m


@pytest.mark.parametrize("x", [-1.0, -0.25, -1e-18, -3.5, -(2.0**40), -(2.0**70), 0.0, 2.0**-60, 4.0, 2.0**60, 2.0**80])
def test_one_value_of_any_sign_and_size_is_itself(x):
    values = np.zeros((1, 1, SLOTS))
    values[0, 0, SLOTS - 1] = x
    assert abs(exact(added(values)[0, MOMENTS - 1]) - Fraction(x)) < QUANTUM


@pytest.mark.parametrize("scale", [1.0, 2.0**40])
def test_weights_multiply_values(rng, scale):
    values, weights = rows(rng, scale), rng.random(N)
    weighted = values * weights[:, None, None]
    assert np.array_equal(added(values, weights), added(weighted))


def test_the_words_of_a_sum_do_not_tell_its_order(rng):
    values = rows(rng, 1000.0)
    assert np.array_equal(added(values), added(values[rng.permutation(N)]))
    half = added(values[N // 2 :], sums=added(values[: N // 2]))
    assert np.array_equal(half, added(values))


def estimate(values, extra=0):
    """Estimate the one output of some rows; `extra` is added to the words of the sum of squares."""
    [sums] = added(values)
    sums[2] += np.array(extra)
    return estimates.estimate(sums, len(values))


@pytest.mark.parametrize("scale", [1.0, 1e3, 2.0**40])
def test_a_ratio_has_the_interval_of_the_delta_method(rng, scale):
    values = rows(rng, scale)
    num, den = values[:, 0, 0], values[:, 0, 1]
    found = estimate(values)
    ratio = num.sum() / den.sum()
    error = math.sqrt(np.sum((num - ratio * den) ** 2) / (N * (N - 1))) / den.mean()
    assert found.value == pytest.approx(ratio, rel=1e-13)
    assert (found.high - found.low) / 2 == pytest.approx(stats.t.ppf(0.975, N - 1) * error, rel=1e-10)


def test_a_mean_has_the_interval_of_t(rng):
    values = rows(rng, 1.0)
    values[:, 0, 1] = 1
    found = estimate(values)
    low, high = stats.t.interval(0.95, N - 1, values[:, 0, 0].mean(), stats.sem(values[:, 0, 0]))
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-10)


def test_tie_bounds_are_the_value_moved(rng):
    values = rows(rng, 1.0)
    num, den, best, worst, _ = values[:, 0, :].T
    found = estimate(values)
    assert found.tie_low == pytest.approx((num + worst).sum() / den.sum())
    assert found.tie_high == pytest.approx((num + best).sum() / den.sum())


def test_one_row_has_no_interval():
    found = estimate(np.array([[[0.5, 1.0, 0.0, 0.0, 0.0]]]))
    assert (found.value, found.low, found.high, found.undefined) == (0.5, None, None, False)


def test_an_ideal_of_0_is_undefined():
    found = estimate(np.zeros((3, 1, SLOTS)))
    assert (found.value, found.low, found.high, found.undefined) == (0.0, None, None, True)


def test_rounding_never_makes_a_variance_negative():
    # Three times 1/3 of ideal 1: the sum of squares is rounded below the square of the sum over 3.
    values = np.tile([1 / 3, 1.0, 0.0, 0.0, 0.0], (3, 1, 1))
    for words in ([-9, 0, 0], [0, 0, 0]):
        found = estimate(values, words)
        assert found.low <= found.value <= found.high
        assert found.high - found.low < 1e-7


def test_equal_rows_have_next_to_no_interval():
    found = estimate(np.tile([1 / 3, 1.0, 0.0, 0.0, 0.0], (N, 1, 1)))
    assert found.high - found.low < 1e-8


def test_sums_beyond_their_words_are_refused():
    full = Sums(1)
    full.sums[0, 2, 2] = 1 << 60
    with pytest.raises(DataError, match="weights or grades too large"):
        full.merge(full)


@pytest.mark.parametrize("degrees", [1, 2, 3, 10, 299, 300, 301, 1000, 10**6, 10**9])
def test_the_quantile_is_students(degrees):
    assert t_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-11)
    assert t_quantile(degrees, 0.99) == pytest.approx(stats.t.ppf(0.995, degrees), rel=1e-10)
