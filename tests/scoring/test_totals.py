"""Totals: exact sums, the quantile, the delta method."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numba import config
from scipy import sparse as sp, stats

import xmceval
from xmceval import DataError
from xmceval.kernels.metrics.sums import LARGEST_TOP, MOMENTS, WORD, WORDS, add_values
from xmceval.kernels.metrics.topk import SLOTS
from xmceval.metrics.names import parse
from xmceval.scoring import estimates
from xmceval.scoring.intervals import RowSums
from xmceval.scoring.sums import Sums, check_words, no_extremes

[MEASURE] = parse("RR@1")
QUANTUM = Fraction(1, 1 << 60)
N = 60 if config.DISABLE_JIT else 2000


def empty(n_outputs=1):
    return np.zeros((n_outputs, MOMENTS, WORDS), np.int64)


def none_kept(values):
    return np.full_like(no_extremes(values.shape[1]), np.inf)


def added(values, weights=(), sums=None):
    sums = empty(values.shape[1]) if sums is None else sums
    assert add_values(values, np.array(weights, dtype=np.float64), sums, none_kept(values)) == -1
    return sums


def exact(words):
    squares, low, middle, high = (int(word) for word in words)
    return squares * QUANTUM**2 + low * QUANTUM + middle + (high << 60)


def rows(rng, scale):
    """One output: value, ideal, how far ties move the value up and down, and the ceiling."""
    num = rng.random(N) * scale
    den = num + rng.random(N) * scale
    return np.stack([num, den, (den - num) * rng.random(N), -num * rng.random(N), den], axis=1)[:, None, :]


def estimate(values, extra=0):
    """Estimate the one output of some rows; `extra` is added to the lower words of the sum of squares."""
    [sums], [kept] = added(values), no_extremes(1)
    sums[2, 1:] += np.array(extra)
    return estimates.estimate(MEASURE, sums, len(values), kept)


@pytest.mark.parametrize("scale", [1.0, 1e3, 2.0**40])
def test_a_ratio_has_the_interval_of_the_delta_method(rng, scale):
    values = rows(rng, scale)
    num, den = values[:, 0, 0], values[:, 0, 1]
    found = estimate(values)
    ratio = num.sum() / den.sum()
    error = math.sqrt(np.sum((num - ratio * den) ** 2) / (N * (N - 1))) / den.mean()
    assert found.value == pytest.approx(ratio, rel=1e-13)
    assert (found.high - found.low) / 2 == pytest.approx(stats.t.ppf(0.975, N - 1) * error, rel=1e-10)


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
@pytest.mark.parametrize("n_rows", [2, 3, N])
def test_equal_rows_have_no_interval(row, n_rows):
    found = estimate(np.tile([*row, 0.0, 0.0, 0.0], (n_rows, 1, 1)))
    assert found.value == pytest.approx(row[0] / row[1], rel=1e-12)
    assert (found.low, found.high, found.caution) == (None, None, None)


@pytest.mark.parametrize("exponent", [-20, -25, -30, -35])
def test_small_weights_keep_the_width_of_the_interval(rng, exponent):
    values = rng.random((N, 1, SLOTS))
    values[:, 0, 1] = 1
    weights = np.ldexp(1 + rng.random(N), exponent)
    weights[0], values[0] = 1.0, [0.5, 1, 0, 0, 0]
    [sums] = added(values, weights)
    found = RowSums(*map(exact, sums[:5]))
    num = weights * values[:, 0, 0]
    ratio = num.sum() / weights.sum()
    assert float(found.squares / found.den**2) == pytest.approx(np.sum((num - ratio * weights) ** 2), rel=2e-6)


def test_sums_beyond_their_words_are_refused():
    full = Sums(1)
    full["sums"][0, 2, WORDS - 1] = 1 << 60
    with pytest.raises(DataError, match="weights or grades too large"):
        full.merge(full)


def test_grades_too_many_and_too_large_to_square_are_refused_with_their_place():
    n = 3 << 20
    truth = sp.csr_array((np.full(n, 2.0**40), np.arange(n), [0, 0, n]), shape=(2, n))
    scores = sp.csr_array((np.arange(n), np.arange(n), [0, 0, n]), shape=(2, n))
    with pytest.raises(DataError, match=r"y_true row 1: a sum of squares .* weights or grades too large"):
        xmceval.score(truth, scores, metrics="DCG(discount=none)@all")


@pytest.mark.parametrize("sign", [-1, 1])
def test_words_of_a_sum_out_of_range_are_refused(sign):
    words = np.zeros((2, WORDS), dtype=np.int64)
    words[:, -2], words[1, -1] = (1 << WORD) - 1, sign * (int(LARGEST_TOP) - 1)
    check_words("a state", words)
    words[1, -1] += sign
    with pytest.raises(ValueError, match=r"^a state has sums out of range$"):
        check_words("a state", words)
