"""Resampling kernels: random signs, resampled rows and permuted systems, from a counter-based generator.

Random word i of resample r is a function of (seed, r, i) alone, so that threads, blocks and platforms cannot change a
digit: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), each resample being a stream of its own.
"""

from __future__ import annotations

import numpy as np

from xmceval.kernels.decorators import helper, kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
ONE, BITS = np.uint64(1), 64
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
POPCOUNT_1, POPCOUNT_2 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
POPCOUNT_4, POPCOUNT_8 = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@helper
def _mix(word):
    """Return a random word from a counter."""
    word = (word ^ (word >> np.uint64(30))) * FIRST
    word = (word ^ (word >> np.uint64(27))) * SECOND
    return word ^ (word >> np.uint64(31))


@helper
def _stream(seed, resample):
    """Return the first counter of a resample."""
    return _mix(np.uint64(seed) * GOLDEN + _mix(np.uint64(resample) + GOLDEN))


@helper
def _popcount(word):
    word = word - ((word >> ONE) & POPCOUNT_1)
    word = (word & POPCOUNT_2) + ((word >> np.uint64(2)) & POPCOUNT_2)
    word = (word + (word >> np.uint64(4))) & POPCOUNT_4
    return np.int64((word * POPCOUNT_8) >> np.uint64(56))


@helper
def _below(word, n):
    """Return a number in 0..n-1 from a random word: the upper half of their 96-bit product (Lemire, TOMACS 2019)."""
    high, low = word >> HALF, word & LOW
    return np.int64((high * n + ((low * n) >> HALF)) >> HALF)


@kernel
def flip_signs(sizes, counts, seed, first, sums):
    """Write for each resample the sum of differences with random signs.

    `sizes` are the distinct absolute differences, `counts` how many rows have each.
    """
    for b in range(sums.size):
        word = _stream(seed, first + b)
        total = 0.0
        for g in range(sizes.size):
            positive, left = np.int64(0), counts[g]
            while left > 0:
                word += GOLDEN
                bits = _mix(word)
                if left < BITS:
                    bits &= (ONE << np.uint64(left)) - ONE
                positive += _popcount(bits)
                left -= BITS
            total += sizes[g] * (2 * positive - counts[g])
        sums[b] = total


@kernel
def swap_systems(rows, seed, first, sums):
    """Write for each resample the sums of (num_a, den_a, num_b, den_b), the two systems swapped in random rows."""
    for b in range(sums.shape[0]):
        word, bits, left = _stream(seed, first + b), np.uint64(0), 0
        for c in range(4):
            sums[b, c] = 0.0
        for row in range(rows.shape[0]):
            if left == 0:
                word += GOLDEN
                bits, left = _mix(word), BITS
            swap = 2 if bits & ONE else 0
            bits >>= ONE
            left -= 1
            for c in range(4):
                sums[b, c] += rows[row, (c + swap) & 3]


@kernel
def resample_rows(rows, seed, first, sums):
    """Write for each resample the column sums of as many rows drawn with replacement."""
    n_rows, n_columns = rows.shape
    n = np.uint64(n_rows)
    for b in range(sums.shape[0]):
        word = _stream(seed, first + b)
        for c in range(n_columns):
            sums[b, c] = 0.0
        for _ in range(n_rows):
            word += GOLDEN
            row = _below(_mix(word), n)
            for c in range(n_columns):
                sums[b, c] += rows[row, c]


@kernel
def permute_systems(rows, seed, first, order, totals, ranges):
    """Write for each resample the range of the systems' sums, the systems permuted at random within each row.

    `order` and `totals` are working space, one element per system.
    """
    n_systems = rows.shape[1]
    for b in range(ranges.size):
        word = _stream(seed, first + b)
        for s in range(n_systems):
            totals[s] = 0.0
        for row in range(rows.shape[0]):
            for s in range(n_systems):
                order[s] = s
            for s in range(n_systems - 1, 0, -1):
                word += GOLDEN
                other = _below(_mix(word), np.uint64(s + 1))
                order[s], order[other] = order[other], order[s]
            for s in range(n_systems):
                totals[s] += rows[row, order[s]]
        ranges[b] = totals.max() - totals.min()


@kernel
def permute_ratios(rows, base, seed, first, order, totals, ranges):
    """Write for each resample the range of the systems' ratios of sums, the systems permuted at random within each row.

    `rows` are numerators and denominators [n_rows, n_systems, 2], `base` their sums over rows in which all systems are
    alike; `order` and `totals` [n_systems, 2] are working space. A ratio of nothing is 0.
    """
    n_systems = rows.shape[1]
    for b in range(ranges.size):
        word = _stream(seed, first + b)
        for s in range(n_systems):
            totals[s, 0], totals[s, 1] = base[0], base[1]
        for row in range(rows.shape[0]):
            for s in range(n_systems):
                order[s] = s
            for s in range(n_systems - 1, 0, -1):
                word += GOLDEN
                other = _below(_mix(word), np.uint64(s + 1))
                order[s], order[other] = order[other], order[s]
            for s in range(n_systems):
                totals[s, 0] += rows[row, order[s], 0]
                totals[s, 1] += rows[row, order[s], 1]
        least, most = np.inf, -np.inf
        for s in range(n_systems):
            ratio = totals[s, 0] / totals[s, 1] if totals[s, 1] != 0 else 0.0
            least, most = min(least, ratio), max(most, ratio)
        ranges[b] = most - least
