"""Random signs and swaps of a resample: against whole numbers in Python."""

import itertools

import numpy as np
import pytest

from xmceval.kernels.metrics import resampling as kernels
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


# Labels of rows: true, and predicted by system and baseline.
TRUE = [[0, 2], [], [1], [0, 1, 2, 3], [4]]
SYSTEM = [[2, 1], [0], [1, 4], [], [4, 0]]
BASELINE = [[1, 3], [0], [4, 1], [3], [0]]
N_LABELS = 6


def lists(rows):
    return np.cumsum([0, *map(len, rows)]), np.array([label for row in rows for label in row], dtype=np.int32)


def list_entries(k):
    """Return the codes of the labels that either system predicts among its first k, and where they end, by kernels."""
    flags, counts = np.zeros(N_LABELS, dtype=np.uint8), np.zeros(N_LABELS, dtype=np.int32)
    are_predicted, differ = np.zeros(N_LABELS, dtype=np.bool_), np.zeros(5, dtype=np.bool_)
    of_rows = [lists(rows) for rows in (TRUE, SYSTEM, BASELINE)]
    kernels.count_entries(*of_rows, k, flags, counts, are_predicted, differ)
    labels = np.flatnonzero(are_predicted)
    ends = np.concatenate([[0], np.cumsum(counts[labels], dtype=np.int64)])
    places = np.full(N_LABELS, -1, dtype=np.int32)
    places[labels] = ends[:-1]
    codes = np.empty(ends[-1], dtype=np.int32)
    kernels.list_entries(*of_rows, k, 100, flags, places, codes)
    assert not flags.any()
    return labels, codes, ends, differ


@pytest.mark.parametrize("k", [1, 2])
def test_entries_are_the_rows_of_labels(k):
    labels, codes, ends, differ = list_entries(k)
    expected = {
        label: {
            100 + row: (label in true) + 2 * (label in a[:k]) + 4 * (label in b[:k])
            for row, (true, a, b) in enumerate(zip(TRUE, SYSTEM, BASELINE, strict=True))
        }
        for label in range(N_LABELS)
        if any(label in a[:k] or label in b[:k] for a, b in zip(SYSTEM, BASELINE, strict=True))
    }
    assert labels.tolist() == sorted(expected)
    for label, start, stop in zip(labels.tolist(), ends, ends[1:], strict=False):
        entries = {code >> 3: code & 7 for code in codes[start:stop].tolist()}
        assert entries == {row: flags for row, flags in expected[label].items() if flags}
    assert differ.tolist() == [set(a[:k]) != set(b[:k]) for a, b in zip(SYSTEM, BASELINE, strict=True)]


DIFFERING = {
    label for a, b in zip(SYSTEM, BASELINE, strict=True) for label in range(N_LABELS) if (label in a) != (label in b)
}


def f_sums(weights, systems, labels=range(N_LABELS)):
    """Return by system the sum of F over labels, of 0/0 as 0; rows have weights."""
    sums = []
    for predicted in systems:
        cells = np.zeros((N_LABELS, 2))
        for weight, true, of_row in zip(weights, TRUE, predicted, strict=True):
            for label in labels:
                is_true, is_predicted = label in true, label in of_row
                cells[label] += weight * np.array([2 * (is_true and is_predicted), is_true + is_predicted])
        sums.append(sum(num / den for num, den in cells.tolist() if den))
    return sums


MEANS = (
    np.array([kernels.ONE_FRACTION]),
    np.array([[[[2.0, 0, 0, 0, 0], [2, 1, 1, 0, 0]], np.zeros((2, 5))]]),
    np.zeros(1, dtype=np.bool_),
)


def sum_entries(run):
    """Return the sums over labels that a kernel writes, by system and draw."""
    labels, codes, ends, _ = list_entries(2)
    codes -= 100 << 3
    sums = np.zeros((1, 2, 1, 2, kernels.LANES))
    means = (*MEANS, np.ones((1, labels.size)), np.zeros(labels.size, dtype=np.int64))
    run((codes, ends), means, np.empty(kernels.N_SPACE), sums)
    return sums[0, :, 0, 0]


def test_exchanges_are_of_the_rows_whose_bit_is_1(rng):
    units, totals = np.array([1.0, 2.0, 1.0, 0.5, 3.0]), np.full(kernels.LANES, 7.5)
    words = np.empty(5, dtype=np.uint64)
    kernels.draw_bits(7, 3, units, words)
    assert words.tolist() == [random_word(7, 3, row) for row in range(5)]

    def exchange(entries, means, space, sums):
        kernels.exchange_rows((*entries, units, totals), words, 5, means, space, sums)

    sums = sum_entries(exchange)
    for lane in range(kernels.LANES):
        swapped = [word >> (5 + lane) & 1 for word in words.tolist()]
        pairs = [(b, a) if swap else (a, b) for swap, a, b in zip(swapped, SYSTEM, BASELINE, strict=True)]
        assert sums[:, lane] == pytest.approx(f_sums(units, list(zip(*pairs, strict=True)), DIFFERING))


def test_weights_of_rows_are_quantiles_of_the_words(rng):
    units, totals = np.array([1.0, 2.0, 1.0, 0.5, 3.0]), np.empty(kernels.LANES)
    quantiles = rng.integers(1, 2**16, 2**16).astype(np.uint16)
    drawn = np.empty((5, kernels.LANES), dtype=np.uint16)
    kernels.draw_weights(7, 3, quantiles, units, drawn, totals)
    for row, lane in itertools.product(range(5), range(kernels.LANES)):
        word = random_word(7, 3, (row * kernels.LANES + lane) // 4)
        assert drawn[row, lane] == quantiles[word >> 16 * (lane % 4) & 0xFFFF]
    assert totals.tolist() == (units @ drawn).tolist()

    def weigh(entries, means, space, sums):
        kernels.weigh_rows((*entries, units, totals), drawn, means, space, sums)

    sums = sum_entries(weigh)
    for lane in range(kernels.LANES):
        assert sums[:, lane] == pytest.approx(f_sums(units * drawn[:, lane], (SYSTEM, BASELINE)))
