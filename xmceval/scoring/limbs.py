"""Limbs: exact numbers as int64 arrays that may be added element by element over 2^20 states without overflow.

A number of 64 bits becomes two limbs of 32 bits, the upper one with its sign. A sum of 2^20 limbs is below 2^52;
joining carries what is above 32 bits upward.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xmceval.errors import DataError
from xmceval.kernels.metrics.totals import LARGEST_TOP, WORD, WORDS
from xmceval.rows.block import Int64

MOST_STATES = 1 << 20
BITS = 32
MASK = (1 << BITS) - 1
UPPER = WORD - BITS  # bits of the upper limb of a word below the last
UPPER_MASK = (1 << UPPER) - 1

TOO_LARGE = "the sums of these states leave the range of exact sums: are the weights or grades too large?"


def split(numbers: Int64) -> Int64:
    """Return the limbs of `numbers` of any shape, int64 [2 * numbers.size], one after the other."""
    return np.stack([numbers & MASK, numbers >> BITS], axis=-1).ravel()


def join(limbs: Int64) -> Int64:
    """Return the numbers, int64 [n], that sums of limbs, [2 * n] or [n, 2], stand for."""
    low, high = _carried(limbs.reshape(-1, 2))
    if np.any(high != (high << BITS) >> BITS):
        raise DataError(TOO_LARGE)
    return (high << BITS) | low


def join_words(limbs: Int64, shape: tuple[int, ...]) -> Int64:
    """Return exact sums [..., WORDS] from sums of their limbs."""
    by_word = limbs.reshape(-1, WORDS, 2).copy()
    words = np.empty(by_word.shape[:2], dtype=np.int64)
    for word in range(WORDS - 1):
        low, high = _carried(by_word[:, word])
        words[:, word] = ((high & UPPER_MASK) << BITS) | low
        by_word[:, word + 1, 0] += high >> UPPER
    words[:, -1] = join(by_word[:, -1])
    if np.any(np.abs(words[:, -1]) >= LARGEST_TOP):
        raise DataError(TOO_LARGE)
    return words.reshape(shape)


def _carried(limbs: Int64) -> tuple[Int64, Int64]:
    """Return lower limbs below 2^32, and upper ones with what was above."""
    return limbs[:, 0] & MASK, limbs[:, 1] + (limbs[:, 0] >> BITS)


def split_like(limbs: Int64, sizes: Sequence[int]) -> list[Int64]:
    """Return consecutive runs of limbs [n_limbs], int64 [size] for each of `sizes`."""
    if limbs.size != sum(sizes):
        raise ValueError(f"{limbs.size} limbs, expected {sum(sizes)}")
    return np.split(limbs, np.cumsum(sizes))[:-1]


def mark(place: int | None, n_places: int) -> Int64:
    """Return zeros with a 1 at a place, int64 [n_places].

    A sum of such arrays still shows the least and the greatest place.
    """
    marks = np.zeros(n_places, dtype=np.int64)
    if place is not None:
        marks[place] = 1
    return marks


def first_mark(marks: Int64) -> int:
    """Return the least place that is marked in `marks`, int64 [n_places]."""
    return int(np.argmax(marks > 0))


def last_mark(marks: Int64) -> int:
    """Return the greatest place that is marked in `marks`, int64 [n_places]."""
    return marks.size - 1 - first_mark(marks[::-1])
