"""Random signs and swaps of a resample: against whole numbers in Python."""

import itertools

import numpy as np
import pytest

from xmceval.kernels.metrics.resampling import flip_signs, swap_systems

# In plain Python, kernels compute with numpy's numbers, which warn of intended overflows.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar")

WORD = 2**64


def mixed(word):
    """SplitMix64's finaliser, as printed."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def random_word(seed, resample, row):
    golden = 0x9E3779B97F4A7C15
    stream = mixed((seed * golden + mixed(resample + golden)) % WORD)
    return mixed((stream + (row + 1) * golden) % WORD)


def words(seed, resample):
    return (random_word(seed, resample, place) for place in itertools.count())


SEEDS = pytest.mark.parametrize("seed", [0, 7, 2**63 - 1])


@SEEDS
def test_signs_are_bits_of_the_words_of_a_resample(seed):
    sizes, counts, sums = np.array([0.1, 0.7, 1.3, 2.9]), np.array([1, 64, 65, 200]), np.empty(3)
    flip_signs(sizes, counts, seed, 4, sums)
    for b in range(3):
        stream, expected = words(seed, 4 + b), 0.0
        for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
            lengths = [64] * (count // 64) + [count % 64] * (count % 64 > 0)
            positive = sum((next(stream) % 2**length).bit_count() for length in lengths)
            expected += size * (2 * positive - count)
        assert sums[b] == expected


@SEEDS
def test_systems_are_swapped_where_the_next_bit_is_1(seed, rng):
    rows, sums = rng.integers(0, 9, (150, 4)).astype(float), np.empty((3, 4))
    swap_systems(rows, seed, 1, sums)
    for b in range(3):
        bits = [word >> i & 1 for word in itertools.islice(words(seed, 1 + b), 3) for i in range(64)]
        assert sums[b].tolist() == sum(np.roll(row, 2 * bit) for row, bit in zip(rows, bits, strict=False)).tolist()
