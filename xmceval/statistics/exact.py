"""Exact sums: rounded once, so that the order of the numbers has no effect."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def exact_sum(numbers: NDArray[np.float64]) -> float:
    """Return the sum of numbers, float64 [n], none of which is infinite or NaN."""
    return math.fsum(exact_parts(numbers))


def exact_parts(numbers: NDArray[np.float64]) -> Iterator[float]:
    """Yield a few numbers with the same exact sum as `numbers`, float64 [n].

    Each is the sum of the upper bits of what is left of all numbers: so few of them that no addition rounds.
    """
    left = numbers
    largest = _largest(left)
    while largest > 0.0:
        # Adding and subtracting it rounds to its last bit, of which 2^52 make more than all numbers together.
        rounder = math.ldexp(1.5, math.frexp(largest)[1] + left.size.bit_length())
        upper = left + rounder
        upper -= rounder
        yield float(upper.sum())
        left = np.subtract(left, upper, out=upper)
        largest = _largest(left)


def exact_total(counts: NDArray[np.int64]) -> int:
    """Return the sum, which int64 may not hold, of fewer than 2^31 whole numbers, int64 [n]."""
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())


def _largest(numbers: NDArray[np.float64]) -> float:
    return max(float(numbers.max()), -float(numbers.min())) if numbers.size else 0.0
