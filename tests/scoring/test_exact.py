"""Exact sums against `math.fsum` and Python's whole numbers."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from xmceval.scoring.intervals import exact_sum, exact_total

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
