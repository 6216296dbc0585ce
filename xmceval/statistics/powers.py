"""Logarithms and powers that have the same bits on every machine.

The last bit of numpy's own, and of the C library's, depends on the processor and on versions. These need only sums,
differences, products and quotients of doubles, which IEEE 754 rounds alike everywhere; no product is fused with a sum,
as each is an array operation of its own. Between the steps a number is a pair of doubles (high, low), of which the
second is what the first was rounded by (Dekker, Numerische Mathematik 1971), so that results are off by less than 0.52
units in the last place, and exact where a double is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import isqrt, ldexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Pair = tuple[Any, Any]  # high and low part: numbers or arrays

STEPS = 32  # of a table, between a number and its double
LEAST_STEP, MOST_STEP = 22, 46  # of a number from sqrt(1/2) to sqrt(2)
PRECISION = 160  # bits after the point of the whole numbers that tables are made of
SPLITTER = 2.0**27 + 1  # splits a double into halves whose products are exact
SHORT = 40  # bits of ln 2, whose product with an exponent is exact
LARGEST_EXPONENT = 1100.0  # the exponential of 2 is infinite from here on, and 0 below its negative
LARGEST_FACTOR = 2.0**900  # what is larger makes any logarithm overflow
BLOCK = 8192  # numbers at a time: so many stay in the caches of the processor


def log(x: Any) -> Float64:
    """Return the natural logarithm of positive, finite numbers, float64 of their shape."""
    return _by_block(_log, x)


def log2(x: Any) -> Float64:
    """Return the binary logarithm of positive, finite numbers, float64 of their shape."""
    return _by_block(lambda x: _binary(x)[0], x)


def power(x: Any, y: Any) -> Float64:
    """Return x to the power of y, for positive, finite numbers x and finite y; infinity where it is too large.

    It is float64, of the shape to which x and y are broadcast.
    """
    return _by_block(_power, x, y)


def _by_block(function: Callable[..., Float64], *numbers: Any) -> Float64:
    """Apply a function of arrays to numbers or arrays, whose shapes are broadcast."""
    arrays = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in numbers))
    flat = [each.reshape(-1) for each in arrays]
    values = np.empty(flat[0].size)
    for start in range(0, values.size, BLOCK):
        values[start : start + BLOCK] = function(*(each[start : start + BLOCK] for each in flat))
    return values.reshape(arrays[0].shape)


def _log(x: Float64) -> Float64:
    exponents, (high, low) = _reduced(x)
    tables = _tables()
    total, rest = _two_sum(exponents * tables.ln2_short, high)
    value: Float64 = total + (rest + (low + exponents * tables.ln2_rest))
    return value


def _binary(x: Float64) -> Pair:
    """Return the binary logarithm as a pair."""
    exponents, (high, low) = _reduced(x)
    factor, rest = _tables().of_ln2
    product, error = _two_product(high, factor)
    total, lost = _two_sum(exponents, product)
    return _sorted_sum(total, lost + (error + (high * rest + low * factor)))


def _reduced(x: Float64) -> tuple[Float64, Pair]:
    """Return e and ln m of x = 2^e m, m from sqrt(1/2) to sqrt(2).

    With c = j / 32 next to m, ln m = ln c + 2 artanh((m - c) / (m + c)), ln c from a table.
    """
    m, e = np.frexp(x)
    is_small = m < 0.5**0.5
    m = np.where(is_small, 2 * m, m)
    exponents = (e - is_small).astype(np.float64)
    steps = np.rint(m * STEPS)
    c = steps / STEPS
    divisor, rest = _two_sum(m, c)
    difference = m - c  # exact, as m and c are so near
    q = difference / divisor
    product, error = _two_product(q, divisor)
    q_low = ((difference - product) - error - q * rest) / divisor
    square = q * q
    series = square * (1 / 3 + square * (1 / 5 + square * (1 / 7 + square * (1 / 9 + square * (1 / 11)))))
    high, low = _sorted_sum(2 * q, 2 * (q_low + q * series))
    table_high, table_low = (table[steps.astype(np.int64)] for table in _tables().ln)
    total, lost = _two_sum(table_high, high)
    return exponents, _sorted_sum(total, lost + (low + table_low))


def _power(x: Float64, y: Float64) -> Float64:
    high, low = _binary(x)
    y = np.clip(y, -LARGEST_FACTOR, LARGEST_FACTOR)
    product, error = _two_product(high, y)
    is_inside = np.abs(product) <= LARGEST_EXPONENT
    rest = np.where(is_inside, error + low * y, 0.0)
    return _exp2(np.clip(product, -LARGEST_EXPONENT, LARGEST_EXPONENT), rest)


def _exp2(high: Float64, low: Float64) -> Float64:
    """Return 2^(high + low) = 2^(k / 32) e^t, |t| <= ln 2 / 64, from a table of 2^(j / 32)."""
    steps = np.rint(high * STEPS)
    factor, factor_rest = _tables().ln2
    rest, rest_low = _two_sum(high - steps / STEPS, low)
    t, error = _two_product(rest, factor)
    series = 1 / 6 + t * (1 / 24 + t * (1 / 120 + t * (1 / 720 + t * (1 / 5040 + t * (1 / 40320)))))
    small = (error + (rest * factor_rest + rest_low * factor)) + t * t * (0.5 + t * series)
    k = steps.astype(np.int64)
    table, table_rest = (each[k % STEPS] for each in _tables().exp2)
    value = table + (table * t + (table * small + table_rest))
    exponents = k // STEPS
    half = exponents // 2
    with np.errstate(over="ignore", under="ignore"):
        scaled: Float64 = value * _power_of_2(half) * _power_of_2(exponents - half)
    return scaled


def _power_of_2(exponents: NDArray[np.int64]) -> Float64:
    return ((exponents + 1023) << 52).view(np.float64)


# Sums and products of doubles with what they were rounded by.


def _two_sum(a: Any, b: Any) -> Pair:
    """Return a + b (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _sorted_sum(a: Any, b: Any) -> Pair:
    """Return a + b, where b is the smaller."""
    total = a + b
    return total, b - (total - a)


def _two_product(a: Any, b: Any) -> Pair:
    """Return a b (Veltkamp, Dekker)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Any) -> Pair:
    scaled = SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


class Tables(NamedTuple):
    """Constants as pairs: ln 2 and 1 / ln 2; ln 2 in few bits, and its rest; tables of ln(j / 32) and 2^(j / 32)."""

    ln2: Pair
    of_ln2: Pair
    ln2_short: float
    ln2_rest: float
    ln: Pair
    exp2: Pair


@cache
def _tables() -> Tables:
    """Compute the tables from whole numbers, which are exact."""
    one = 1 << PRECISION
    ln2 = _artanh(1, 3)
    short = ln2 >> (PRECISION - SHORT) << (PRECISION - SHORT)
    roots = [one]
    root = one << 1
    for _ in range(STEPS.bit_length() - 1):
        root = isqrt(root << PRECISION)
    for _ in range(1, STEPS):
        roots.append(roots[-1] * root >> PRECISION)
    logarithms = [0] * LEAST_STEP  # which no number comes near to
    logarithms += [-_artanh(STEPS - j, STEPS + j) for j in range(LEAST_STEP, STEPS)]
    logarithms += [_artanh(j - STEPS, j + STEPS) for j in range(STEPS, MOST_STEP + 1)]
    return Tables(
        _as_pair(ln2),
        _as_pair(one * one // ln2),
        *(_as_pair(short)[0], _as_pair(ln2 - short)[0]),
        _as_arrays(logarithms),
        _as_arrays(roots),
    )


def _artanh(numerator: int, denominator: int) -> int:
    """Return 2 artanh of a quotient from 0 to 1, which is ln((denominator + numerator) / (denominator - numerator))."""
    term = (numerator << PRECISION) // denominator
    total, i = 0, 1
    while term:
        total += 2 * term // i
        term = term * numerator * numerator // (denominator * denominator)
        i += 2
    return total


def _as_pair(scaled: int) -> Pair:
    high = float(scaled)
    return ldexp(high, -PRECISION), ldexp(float(scaled - int(high)), -PRECISION)


def _as_arrays(scaled: list[int]) -> Pair:
    pairs = np.array([_as_pair(each) for each in scaled])
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
