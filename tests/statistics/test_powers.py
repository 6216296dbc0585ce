"""Logarithms and powers against Python's decimals, and against the bits that they have on every machine."""

import hashlib
import math
from decimal import Context, Decimal

import numpy as np
import pytest
from hypothesis import given, strategies as st

from xmceval.statistics.powers import log, log2, power

EXACT = Context(prec=50, Emax=10**6, Emin=-(10**6))
NUMBERS = st.floats(5e-324, 1.7e308) | st.floats(0.5, 2.0) | st.floats(1, 1e15) | st.integers(1, 10**12).map(float)
NEAR_1 = st.integers(-1000, 1000).map(lambda i: 1.0 + i * 2.0**-52)


def error(found, exact):
    """Return the error of a double in units of its last place."""
    return float(abs(Decimal(float(found)) - exact) / Decimal(math.ulp(float(found))))


def exact_log(x):
    return EXACT.ln(Decimal(x))


def exact_log2(x):
    return EXACT.divide(EXACT.ln(Decimal(x)), EXACT.ln(Decimal(2)))


def exact_power(x, y):
    return EXACT.power(Decimal(x), Decimal(y))


@given(x=NUMBERS | NEAR_1)
def test_logarithms_are_off_by_hardly_more_than_half_a_unit_in_the_last_place(x):
    assert error(log(x), exact_log(x)) < 0.52
    assert error(log2(x), exact_log2(x)) < 0.52


@given(x=NUMBERS | NEAR_1, y=st.floats(-3, 3) | st.integers(-40, 40).map(float))
def test_powers_are_off_by_hardly_more_than_half_a_unit_in_the_last_place(x, y):
    exact = exact_power(x, y)
    if Decimal("2.3e-308") < exact < Decimal("1.7e308"):
        assert error(power(x, y), exact) < 0.52


@pytest.mark.parametrize(("a", "b"), [(0.55, 1.5), (0.5, 0.4), (0.6, 2.6)])
def test_powers_of_propensities_are_within_half_a_unit_at_every_count(a, b):
    counts = np.concatenate([np.arange(300.0), 10.0 ** np.arange(3, 13)])
    found = power(counts + b, -a)
    assert max(map(error, found, (exact_power(x, -a) for x in (counts + b).tolist()))) < 0.52


def test_what_a_double_can_be_is_exact():
    exponents = np.arange(-1074, 1024)
    powers = [math.ldexp(1.0, int(each)) for each in exponents]
    assert power(2.0, exponents).tolist() == powers
    assert log2(powers).tolist() == exponents.tolist()
    assert power([3, 10, 7, 1.5, 9], [20, 22, 1, 3, 0.5]).tolist() == [3.0**20, 1e22, 7.0, 3.375, 3.0]
    assert log(1.0) == log2(1.0) == 0.0
    assert power([1.0, 0.3], [1e300, 0.0]).tolist() == [1.0, 1.0]


def test_powers_beyond_the_doubles_are_infinite_or_0():
    assert power([2.0, 0.5, 10.0], [1024, -1e300, 309]).tolist() == [math.inf] * 3
    assert power([2.0, 0.5, 10.0], [-1076, 1e300, -400]).tolist() == [0.0] * 3
    assert error(power(0.8, 3250.0), exact_power(0.8, 3250)) < 1  # below the least normal number


def test_shapes_are_those_of_what_is_passed():
    assert log(np.ones((2, 3))).shape == (2, 3)
    assert power(2.0, np.ones((2, 3))).shape == (2, 3)
    assert log2(3).shape == ()
    assert log([]).shape == (0,)


def test_a_value_does_not_depend_on_its_place_in_an_array(rng):
    x = rng.random(20_000) * 100 + 0.5
    for function in (log, log2, lambda x: power(x, -0.55)):
        expected = function(x)
        assert [float(function(each)) for each in x[::997]] == expected[::997].tolist()
        assert function(x[::-1]).tolist() == expected[::-1].tolist()
        assert function(np.repeat(x, 3)[1::3]).tolist() == expected.tolist()


def test_the_bits_are_those_of_every_machine():
    """Written down on one machine; numpy's own functions have others without AVX-512, or without FMA."""
    x = np.arange(1.0, 100_001.0)
    values = log(x), log2(x), power(x + 0.5, -0.55), power(0.8, np.arange(3000.0))
    digests = [hashlib.blake2b(each.astype("<f8").tobytes(), digest_size=8).hexdigest() for each in values]
    assert digests == ["b075490477e5b7f7", "1a847c5c17e57518", "17756c94e16f79aa", "f94cba7f4a45983a"]
