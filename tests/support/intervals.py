"""Intervals of the program against the judge's."""

import math

import pytest
from judge.naive import quantile


def check_interval(found, expected, n, name=""):
    """Compare (low, high) or None with the judge's, of `n` rows.

    What is exact to 1e-14 is the variance, not its root: next to equal rows may differ by that much.
    """
    assert (found is None) == (expected is None), (name, found, expected)
    if expected is None:
        return
    value = sum(expected) / 2
    assert sum(found) / 2 == pytest.approx(value, rel=1e-11, abs=1e-11), name
    half, right = (found[1] - found[0]) / 2, (expected[1] - expected[0]) / 2
    slack = 1e-13 * (quantile(n - 1) * max(1, abs(value))) ** 2
    assert math.isclose(half, right, rel_tol=1e-9) or abs(half**2 - right**2) < slack, (name, half, right)
