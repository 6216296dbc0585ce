"""Intervals of the program against the judge's."""

import math

import pytest
from judge.naive import interval_of, quantile

# Ratios of sums over rows, and values that can be above 1.
NO_MEAN_SHARES = {"DCG", "PSDCG", "PSP", "PSR", "PSnDCG", "GAUC", "microR", "coverage_error", "hamming_distance"}


def is_mean_share(name):
    """Whether a metric is a mean over rows of values within 0 and 1."""
    head = name.partition("@")[0].partition("(")[0]
    return head not in NO_MEAN_SHARES and not head.startswith("micro") and "average=micro" not in name


def judged_interval(pairs, name):
    """Return the judge's interval of a metric from its values of rows."""
    return interval_of(pairs, of_shares=is_mean_share(name))


def check_interval(found, expected, n, name=""):
    """Compare (low, high), which may be NaN, with the judge's, of `n` rows.

    What is exact to 1e-14 is the variance, not its root: next to equal rows may differ by that much.
    """
    assert [*map(math.isnan, found)] == [expected is None] * 2, (name, found, expected)
    if expected is None:
        return
    value = sum(expected) / 2
    assert sum(found) / 2 == pytest.approx(value, rel=1e-12, abs=1e-12), name
    half, right = (found[1] - found[0]) / 2, (expected[1] - expected[0]) / 2
    slack = 1e-14 * (quantile(n - 1) * max(1, abs(value))) ** 2
    assert math.isclose(half, right, rel_tol=1e-12) or abs(half**2 - right**2) < slack, (name, half, right)
