"""Resampling kernels: random signs, swapped systems and drawn rows, from a counter-based generator.

Random word i of resample r is a function of (seed, r, i) alone, so that threads, blocks and platforms cannot change a
digit: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), each resample being a stream of its own. What is drawn from a word
is decided by comparing integers, and sums have a fixed order.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from xmceval.kernels.compile.decorators import helper, kernel
from xmceval.kernels.rows.order import GOLDEN, mix

ONE, BITS = np.uint64(1), 64
POPCOUNT_1, POPCOUNT_2 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
POPCOUNT_4, POPCOUNT_8 = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)

DRAWN = 53  # bits of a word that a Poisson number is drawn from
UNDRAWN = np.uint64(BITS - DRAWN)
CELLS = 8  # bits of it that say where in the table of mean 1 to begin
CELL = np.int64(DRAWN - CELLS)


def poisson_table(mean: int) -> tuple[int, np.ndarray]:
    """Return (least, bounds): a number below bounds[i] and not below bounds[i - 1], out of 2^53, draws least + i.

    The probabilities follow from one another by products and quotients, and so are the same on every machine; what is
    left out at either end is below 2^-53.
    """
    reach = 10 * isqrt(mean) + 40
    least = max(mean - reach, 0)
    below = np.multiply.accumulate(np.arange(mean, least, -1.0) / mean)
    above = np.multiply.accumulate(mean / np.arange(mean + 1.0, mean + reach + 1.0))
    sums = np.add.accumulate(np.concatenate([below[::-1], [1.0], above]))
    bounds = (sums / sums[-1] * 2.0**DRAWN).astype(np.int64)
    return least, bounds[: np.searchsorted(bounds, 1 << DRAWN) + 1]


POISSON = poisson_table(1)[1]
FIRST_IN_CELL = np.searchsorted(POISSON, np.arange(1 << CELLS) << CELL, side="right")


@helper
def _stream(seed, resample):
    """Return the first counter of a resample."""
    return mix(np.uint64(seed) * GOLDEN + mix(np.uint64(resample) + GOLDEN))


@helper
def _word(stream, row):
    """Return the random word of a row."""
    return mix(stream + (np.uint64(row) + ONE) * GOLDEN)


@helper
def _poisson(word):
    """Return a Poisson number of mean 1: how often a row is drawn."""
    number = np.int64(word >> UNDRAWN)
    drawn = FIRST_IN_CELL[number >> CELL]
    while number >= POISSON[drawn]:
        drawn += 1
    return drawn


@helper
def _popcount(word):
    word = word - ((word >> ONE) & POPCOUNT_1)
    word = (word & POPCOUNT_2) + ((word >> np.uint64(2)) & POPCOUNT_2)
    word = (word + (word >> np.uint64(4))) & POPCOUNT_4
    return np.int64((word * POPCOUNT_8) >> np.uint64(56))


@kernel
def flip_signs(sizes, counts, seed, first, sums):
    """Write for each resample the sum of differences with random signs.

    `sizes`, float64 [n], are the distinct absolute differences, `counts`, int64 [n], how many rows have each. `sums`
    are float64 [n_resamples].
    """
    for b in range(sums.size):
        word = _stream(seed, first + b)
        total = 0.0
        for g in range(sizes.size):
            positive, left = np.int64(0), counts[g]
            while left > 0:
                word += GOLDEN
                bits = mix(word)
                if left < BITS:
                    bits &= (ONE << np.uint64(left)) - ONE
                positive += _popcount(bits)
                left -= BITS
            total += sizes[g] * (2 * positive - counts[g])
        sums[b] = total


@kernel
def swap_systems(rows, seed, first, sums):
    """Write for each resample the sums of (num_a, den_a, num_b, den_b), the two systems swapped in random rows.

    `rows` are float64 [n_rows, 4], `sums` float64 [n_resamples, 4].
    """
    for b in range(sums.shape[0]):
        word, bits, left = _stream(seed, first + b), np.uint64(0), 0
        for c in range(4):
            sums[b, c] = 0.0
        for row in range(rows.shape[0]):
            if left == 0:
                word += GOLDEN
                bits, left = mix(word), BITS
            swap = 2 if bits & ONE else 0
            bits >>= ONE
            left -= 1
            for c in range(4):
                sums[b, c] += rows[row, (c + swap) & 3]


@kernel
def count_draws(seed, resample, counts):
    """Write how often a resample draws each row, a Poisson number of mean 1, into `counts`, int64 [n_rows]."""
    stream = _stream(seed, resample)
    for row in range(counts.size):
        counts[row] = _poisson(_word(stream, row))
