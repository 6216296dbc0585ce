"""Kernels that resample with random signs and swapped systems, from a counter-based generator.

Random word i of resample r depends only on (seed, r, i), so that threads, blocks and platforms cannot change a
digit: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), with one stream per resample. Sums have a fixed order.
"""

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.rows.order import GOLDEN, mix

ONE, BITS = np.uint64(1), 64
POPCOUNT_1, POPCOUNT_2 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
POPCOUNT_4, POPCOUNT_8 = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@helper
def _stream(seed, resample):
    """Return the first counter of a resample."""
    return mix(np.uint64(seed) * GOLDEN + mix(np.uint64(resample) + GOLDEN))


@helper
def _popcount(word):
    word = word - ((word >> ONE) & POPCOUNT_1)
    word = (word & POPCOUNT_2) + ((word >> np.uint64(2)) & POPCOUNT_2)
    word = (word + (word >> np.uint64(4))) & POPCOUNT_4
    return np.int64((word * POPCOUNT_8) >> np.uint64(56))


@kernel("f8[:]", "i8[:]", "i8", "i8", "f8[:]")
def flip_signs(sizes, counts, seed, first, sums):
    """For each resample, write the sum of differences with random signs.

    `sizes`, float64 [n], are the distinct absolute differences, and `counts`, int64 [n], the number of rows
    with each. `sums` are float64 [n_resamples].
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


@kernel("f8[:,:]", "i8", "i8", "f8[:,:]")
def swap_systems(rows, seed, first, sums):
    """For each resample, write the sums of (num_a, den_a, num_b, den_b) with systems swapped in random rows.

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
