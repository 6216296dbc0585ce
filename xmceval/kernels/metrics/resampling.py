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


# Flags of an entry, a row and label: whether the label is true, and predicted by system and baseline.
TRUE, SYSTEM, BASELINE, N_FLAGS = 1, 2, 4, 8
FLAG_BITS, ALL_FLAGS, BOTH = np.uint64(3), np.uint64(7), SYSTEM | BASELINE

LANES, WIDTH = 16, np.uint64(16)  # draws at once
DRAWS_PER_WORD = 64

# Kinds of rates: one fraction or the mean of two, with terms linear in the cells.
ONE_FRACTION, TWO_FRACTIONS = 0, 1


@helper
def _last(of_rows, row, most):
    """Return the end of the first labels in a row."""
    indptr, _ = of_rows
    return min(indptr[row + 1], indptr[row] + most)


@helper
def _flag_first(of_rows, row, most, flag, flags):
    """Set a flag of the first labels in a row."""
    indptr, labels = of_rows
    for entry in range(indptr[row], _last(of_rows, row, most)):
        flags[labels[entry]] |= flag


@helper
def _flag_row(truth, system, baseline, row, k, flags):
    """Set the flags of the true labels in a row, and of the first `k` of each system."""
    _flag_first(truth, row, truth[1].size, TRUE, flags)
    _flag_first(system, row, k, SYSTEM, flags)
    _flag_first(baseline, row, k, BASELINE, flags)


@helper
def _count_row(of_rows, row, most, flags, counts, are_predicted):
    """Count the entries of the first labels in a row, clear their flags, and return whether any differs."""
    indptr, labels = of_rows
    differ = False
    for entry in range(indptr[row], _last(of_rows, row, most)):
        label = labels[entry]
        predicted_by = flags[label] & BOTH
        counts[label] += flags[label] != 0
        are_predicted[label] |= predicted_by != 0
        differ |= predicted_by == SYSTEM or predicted_by == BASELINE
        flags[label] = 0
    return differ


@helper
def _take(of_rows, row, most, first_row, flags, places, codes):
    """Write the entries of the first labels in a row that have a place, and clear their flags."""
    indptr, labels = of_rows
    for entry in range(indptr[row], _last(of_rows, row, most)):
        label = labels[entry]
        if flags[label] and places[label] >= 0:
            codes[places[label]] = (first_row + row) << 3 | np.int64(flags[label])
            places[label] += 1
        flags[label] = 0


LIST = ("i8[:]", "i4[:]")  # of labels per row


@kernel(LIST, LIST, LIST, "i8", "u1[:]", "i4[:]", "b1[:]", "b1[:]")
def count_entries(truth, system, baseline, k, flags, counts, are_predicted, differ):
    """Count the rows in which each label is true, or among the first `k` of either system.

    Lists are int64 [n_rows + 1] and int32 labels; `flags`, uint8 [n_labels], are 0. Added to are `counts`, int32
    [n_labels], and `are_predicted`, bool [n_labels]; `differ`, bool [n_rows], is whether the first `k` do.
    """
    for row in range(truth[0].size - 1):
        _flag_row(truth, system, baseline, row, k, flags)
        of_system = _count_row(system, row, k, flags, counts, are_predicted)
        of_baseline = _count_row(baseline, row, k, flags, counts, are_predicted)
        _count_row(truth, row, truth[1].size, flags, counts, are_predicted)
        differ[row] = of_system or of_baseline


@kernel(LIST, LIST, LIST, "i8", "i8", "u1[:]", "i4[:]", "i4[:]")
def list_entries(truth, system, baseline, k, first_row, flags, places, codes):
    """Write the entries of labels: the row, from `first_row` on, times 8, plus its flags.

    `places`, int32 [n_labels], is where in `codes` the next entry of a label goes, -1 for labels left out.
    """
    for row in range(truth[0].size - 1):
        _flag_row(truth, system, baseline, row, k, flags)
        _take(system, row, k, first_row, flags, places, codes)
        _take(baseline, row, k, first_row, flags, places, codes)
        _take(truth, row, truth[1].size, first_row, flags, places, codes)


@kernel("i8", "i8", "f8[:]", "u8[:]")
def draw_bits(seed, group, units, words):
    """Write 64 random bits for each row of a weight above 0, one for each draw of a group."""
    word = _stream(seed, group)
    for row in range(words.size):
        if units[row] > 0.0:
            word += GOLDEN
            words[row] = mix(word)


@kernel("i8", "i8", "u2[:]", "f8[:]", "u2[:,:]", "f8[:]")
def draw_weights(seed, group, quantiles, units, weights, totals):
    """Write random weights of the rows whose units are above 0 for LANES draws, and their sums times the units.

    `quantiles`, uint16 [2^16], are those of the exponential distribution; `weights` [n_rows, LANES], `totals` [LANES].
    """
    word = _stream(seed, group)
    for lane in range(LANES):
        totals[lane] = 0.0
    for row in range(units.size):
        if units[row] > 0.0:
            for lane in range(0, LANES, 4):
                word += GOLDEN
                bits = mix(word)
                for part in range(4):
                    weights[row, lane + part] = quantiles[bits & np.uint64(0xFFFF)]
                    bits >>= np.uint64(16)
            for lane in range(LANES):
                totals[lane] += units[row] * weights[row, lane]


# The space of a label: the weights of its entries by their flags, each for LANES draws, then those of all rows.
ALL_ROWS, N_SPACE = N_FLAGS * LANES, (N_FLAGS + 1) * LANES

ENTRIES = ("i4[:]", "i8[:]", "f8[:]", "f8[:]")  # codes, ends, units, totals
MEANS = ("i8[:]", "f8[:,:,:,:]", "b1[:]", "f8[:,:]", "i8[:]")  # kinds, rates, are_seen, weights, bins


@helper
def _cells(space, flags, lane):
    """Return tp, fp, fn and tn of a label in a draw, for the system with these flags."""
    only_true, both_true = space[TRUE * LANES + lane], space[(BOTH | TRUE) * LANES + lane]
    tp = both_true + space[(flags | TRUE) * LANES + lane]
    fp = space[BOTH * LANES + lane] + space[flags * LANES + lane]
    fn = only_true + space[((flags ^ BOTH) | TRUE) * LANES + lane]
    return tp, fp, fn, space[ALL_ROWS + lane] - tp - fp - fn


@helper
def _factors(terms):
    """Return factors as numbers, which stay in registers over all lanes."""
    return terms[0], terms[1], terms[2], terms[3], terms[4]


@helper
def _quotient(cells, num, den):
    """Return a fraction, NaN if 0/0 leaves it out."""
    tp, fp, fn, tn = cells
    below = den[0] * tp + den[1] * fp + den[2] * fn + den[3] * tn
    above = num[0] * tp + num[1] * fp + num[2] * fn + num[3] * tn
    return above / below if below > 0.0 else den[4]


@helper
def _count(value, is_inside, weight, of_rate, lane):
    """Add the weighted value of a label to a rate, and the weight, unless it is undefined or the label is outside."""
    counts = is_inside and value == value
    of_rate[0, lane] += weight * value if counts else 0.0
    of_rate[1, lane] += weight if counts else 0.0


@helper
def _add_rates(space, flags, means, label, sums):
    """Add the weighted rates of a label, and the weights where they are defined, for one system and LANES draws."""
    kinds, rates, are_seen, weights, _ = means
    for r in range(kinds.size):
        kind, weight, of_rate, is_any = kinds[r], weights[r, label], sums[r], not are_seen[r]
        num, den = _factors(rates[r, 0, 0]), _factors(rates[r, 0, 1])
        if kind == ONE_FRACTION:
            for lane in range(LANES):
                cells = _cells(space, flags, lane)
                value = _quotient(cells, num, den)
                _count(value, is_any or cells[0] + cells[1] + cells[2] > 0.0, weight, of_rate, lane)
        else:
            other_num, other_den = _factors(rates[r, 1, 0]), _factors(rates[r, 1, 1])
            for lane in range(LANES):
                cells = _cells(space, flags, lane)
                one, other = _quotient(cells, num, den), _quotient(cells, other_num, other_den)
                value = (one + other) / 2.0
                if one != one or other != other:  # 0/0 is left out
                    value = other if one != one else one
                _count(value, is_any or cells[0] + cells[1] + cells[2] > 0.0, weight, of_rate, lane)


@helper
def _add_label(space, means, label, sums):
    """Add the weighted rates of a label to those of its bin, for both systems and LANES draws."""
    of_bin = sums[means[4][label]]
    _add_rates(space, SYSTEM, means, label, of_bin[0])
    _add_rates(space, BASELINE, means, label, of_bin[1])


@kernel(ENTRIES, "u8[:]", "i8", MEANS, "f8[:]", "f8[:,:,:,:,:]")
def exchange_rows(entries, words, shift, means, space, sums):
    """Add the sums of rates over labels after exchanging two systems at random in rows, for LANES draws.

    Labels that both systems predict in the same rows are left out, since no exchange changes them.
    Of `entries`, the codes of a label go from `ends[label]` to `ends[label + 1]`, as `list_entries` writes them;
    `units` [n_rows] are weights of rows, empty if all are 1, and `totals` [LANES] their sums. `words` [n_rows] are
    random bits, from bit `shift` on. `means` are kinds [n_rates]; rates [n_rates, 2, 2, 5], for the numerator and the
    denominator of each fraction the factors of tp, fp, fn and tn, and last in a denominator the value of 0/0, NaN to
    leave it out; whether only labels count that are true or predicted [n_rates]; weights [n_rates, n_labels]; and bins
    [n_labels]. `space` is [N_SPACE], and `sums` [n_bins, 2, n_rates, 2, LANES], first of the system, then of the
    baseline.
    """
    codes, ends, units, totals = entries
    for lane in range(LANES):
        space[ALL_ROWS + lane] = totals[lane]
    for label in range(ends.size - 1):
        for place in range(SYSTEM * LANES, BOTH * LANES):
            space[place] = 0.0
        only_true = both = both_true = 0.0
        differs = False
        for entry in range(ends[label], ends[label + 1]):
            code = np.uint64(codes[entry])
            row, flags = code >> FLAG_BITS, code & ALL_FLAGS
            unit = units[row] if units.size > 0 else 1.0
            if flags == TRUE:
                only_true += unit
            elif flags == BOTH:
                both += unit
            elif flags == BOTH | TRUE:
                both_true += unit
            else:
                differs = True
                bits = words[row] >> np.uint64(shift)
                stays, goes = flags * WIDTH, (flags ^ np.uint64(BOTH)) * WIDTH
                for lane in range(LANES):
                    moved = unit if (bits >> np.uint64(lane)) & ONE else 0.0
                    space[stays + np.uint64(lane)] += unit - moved
                    space[goes + np.uint64(lane)] += moved
        if not differs:
            continue
        for lane in range(LANES):
            space[TRUE * LANES + lane] = only_true
            space[BOTH * LANES + lane] = both
            space[(BOTH | TRUE) * LANES + lane] = both_true
        _add_label(space, means, label, sums)


@kernel(ENTRIES, "u2[:,:]", MEANS, "f8[:]", "f8[:,:,:,:,:]")
def weigh_rows(entries, drawn, means, space, sums):
    """Add the sums of rates over labels with rows that are weighted at random, for LANES draws.

    `drawn`, uint16 [n_rows, LANES], are the weights; all others are as in `exchange_rows`.
    """
    codes, ends, units, totals = entries
    for lane in range(LANES):
        space[ALL_ROWS + lane] = totals[lane]
    for label in range(ends.size - 1):
        for place in range(N_FLAGS * LANES):
            space[place] = 0.0
        for entry in range(ends[label], ends[label + 1]):
            code = np.uint64(codes[entry])
            row, flags = code >> FLAG_BITS, code & ALL_FLAGS
            unit, place = units[row] if units.size > 0 else 1.0, flags * WIDTH
            for lane in range(LANES):
                space[place + np.uint64(lane)] += unit * drawn[row, lane]
        _add_label(space, means, label, sums)
