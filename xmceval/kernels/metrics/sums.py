"""Kernels that add per-row values and their products to exact sums, and keep the most extreme rows."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel

MOMENTS = 8  # num, den, num^2, num den, den^2, best - num, worst - num, ceiling

# The factors of these products: slots of a row's values for an output; single values are multiplied by 1.
FACTORS = np.array([(0, -1), (1, -1), (0, 0), (0, 1), (1, 1), (2, -1), (3, -1), (4, -1)])

PRODUCTS = 4  # of two systems: num_a num_b, num_a den_b, den_a num_b, den_a den_b

# Rows in which a is better, b is better, they differ, and in which only one or neither has a denominator.
WINS, LOSSES, DIFFERING, ONE_SIDED, NEITHER = range(5)

COUNTS = 5

FEW_DIFFER = 5  # differing rows whose values are kept

TIE = 1e-12  # rows whose values differ by at most this share of the larger value are ties

WORDS = 4  # words of a sum: multiples of 2^-120, of 2^-60, of 1 and of 2^60

WORD = 60  # bits per word, except the last

MASK = (1 << WORD) - 1

DIGIT = (1 << 20) - 1  # mask of one of three digits in a word

UNIT = float(1 << WORD)

LARGEST = 2.0**80  # limit for a number

TOP = 1 << 61  # limit for the last word

LARGEST_TOP = float(TOP)

KEPT = 4  # number of rows kept that gain most, and that lose most

ROWS_AT_ONCE = 1024  # products of this many rows, in columns of about 2 * 20 bits, add up exactly as float64

PART = 2.0**20  # numbers are split into parts of 20 bits

CACHED = 1 << 17  # this many rows stay in the processor's cache while every output iterates over them

FIRST, SECOND, THIRD = (np.int64(i) for i in range(3))  # words; each literal number would compile helpers again

NO_PARTS, NO_COLUMNS, NO_FRACTION = (0.0,) * 4, (0.0,) * 7, (0.0,) * 3


def multiples_of(sums: list[list[int]]) -> list[int]:
    """Convert the words of sums to integers, as multiples of their last bit."""
    multiples = [0] * len(sums)
    for i, words in enumerate(sums):
        for word in reversed(words):
            multiples[i] = (multiples[i] << WORD) + word
    return multiples


# Helpers return tuples of numbers, since compiled code keeps these in registers.


@helper
def _split(x):
    """Split a number below 2^20 into multiples of 2^-60, 2^-40, 2^-20 and 1; the rest is truncated."""
    ones = np.trunc(x)
    x = (x - ones) * PART
    second = np.trunc(x)
    x = (x - second) * PART
    third = np.trunc(x)
    return np.trunc((x - third) * PART), third, second, ones


@helper
def _plus_product(columns, x, y):
    """Add the product of two split numbers to columns, which are multiples of 2^-120, 2^-100, ... and 1."""
    return (
        columns[0] + x[0] * y[0],
        columns[1] + (x[0] * y[1] + x[1] * y[0]),
        columns[2] + (x[0] * y[2] + x[1] * y[1] + x[2] * y[0]),
        columns[3] + (x[0] * y[3] + x[1] * y[2] + x[2] * y[1] + x[3] * y[0]),
        columns[4] + (x[1] * y[3] + x[2] * y[2] + x[3] * y[1]),
        columns[5] + (x[2] * y[3] + x[3] * y[2]),
        columns[6] + x[3] * y[3],
    )


@helper
def _plus_number(columns, x):
    """Add the product of a split number and 1 to columns."""
    a, b, c = columns[0], columns[1], columns[2]
    return a, b, c, columns[3] + x[0], columns[4] + x[1], columns[5] + x[2], columns[6] + x[3]


@helper
def _plus(parts, x):
    """Add a split number to others."""
    return parts[0] + x[0], parts[1] + x[1], parts[2] + x[2], parts[3] + x[3]


@helper
def _add_columns(words, columns, first):
    """Add the columns of a product to a sum, the lowest columns to its word `first`."""
    rest = np.int64(columns[0])
    low = rest & DIGIT
    rest = (rest >> 20) + np.int64(columns[1])
    low |= (rest & DIGIT) << 20
    rest = (rest >> 20) + np.int64(columns[2])
    words[first] += low | (rest & DIGIT) << 40
    rest = (rest >> 20) + np.int64(columns[3])
    low = rest & DIGIT
    rest = (rest >> 20) + np.int64(columns[4])
    low |= (rest & DIGIT) << 20
    rest = (rest >> 20) + np.int64(columns[5])
    words[first + 1] += low | (rest & DIGIT) << 40
    rest = (rest >> 20) + np.int64(columns[6])
    if first + 2 < WORDS:
        words[first + 2] += rest
    else:
        words[first + 1] += rest << WORD
    for w in range(WORDS - 1):
        words[w + 1] += words[w] >> WORD
        words[w] &= MASK


@helper
def _add_product(words, x, y):
    """Add the product of any two numbers to a sum; return whether it fits."""
    if not (abs(x) <= LARGEST and abs(y) <= LARGEST and abs(x * y) < LARGEST_TOP * UNIT):
        return False
    whole_x, whole_y = np.trunc(x), np.trunc(y)
    x, y = _split(x - whole_x), _split(y - whole_y)
    large_x, large_y = _split(whole_x / UNIT), _split(whole_y / UNIT)
    _add_columns(words, _plus_product(NO_COLUMNS, x, y), FIRST)
    _add_columns(words, _plus_product(_plus_product(NO_COLUMNS, x, large_y), large_x, y), SECOND)
    _add_columns(words, _plus_product(NO_COLUMNS, large_x, large_y), THIRD)
    return abs(words[WORDS - 1]) < TOP


@helper
def _add_small(values, weights, first, stop, output, sums, extremes):
    """Add the values of an output in at most ROWS_AT_ONCE rows, and their products.

    Return whether this was possible because all are below 2^20, and whether some row may have to be kept.
    """
    num_squares = products = den_squares = NO_COLUMNS
    nums = dens = bests = worsts = ceilings = NO_PARTS
    gain, its_loss = extremes[output, 0, KEPT - 1, 0], extremes[output, 0, KEPT - 1, 1]
    loss, its_gain = extremes[output, 1, KEPT - 1, 0], extremes[output, 1, KEPT - 1, 1]
    n_ones = n_large = n_kept = 0
    for row in range(first, stop):
        weight = weights[row] if weights.size > 0 else 1.0
        num, den = weight * values[row, output, 0], weight * values[row, output, 1]
        best, worst = weight * values[row, output, 2], weight * values[row, output, 3]
        ceiling = weight * values[row, output, 4]
        n_large += not ((abs(num) < PART) & (abs(den) < PART) & (abs(best) < PART) & (abs(worst) < PART))
        n_large += not (abs(ceiling) < PART)
        lost = den - num
        n_kept += (num > gain) | ((num == gain) & (lost < its_loss))
        n_kept += (lost > loss) | ((lost == loss) & (num < its_gain))
        num_parts = _split(num)
        nums, num_squares = _plus(nums, num_parts), _plus_product(num_squares, num_parts, num_parts)
        if den == 1.0:  # as for most metrics
            products = _plus_number(products, num_parts)
            n_ones += 1
        else:
            den_parts = _split(den)
            products = _plus_product(products, num_parts, den_parts)
            den_squares = _plus_product(den_squares, den_parts, den_parts)
            dens = _plus(dens, den_parts)
        ceilings = _plus(ceilings, _split(ceiling))
        if best != 0.0 or worst != 0.0:
            bests, worsts = _plus(bests, _split(best)), _plus(worsts, _split(worst))
    for m in range(MOMENTS):  # the sum of ROWS_AT_ONCE small products is below 2^60
        n_large += abs(sums[m, WORDS - 1]) >= TOP - 1
    if n_large > 0:
        return False, False
    _add_columns(sums[0], NO_FRACTION + nums, FIRST)
    ones = (0.0, 0.0, 0.0, float(n_ones))
    _add_columns(sums[1], NO_FRACTION + _plus(dens, ones), FIRST)
    _add_columns(sums[2], num_squares, FIRST)
    _add_columns(sums[3], products, FIRST)
    _add_columns(sums[4], _plus_number(den_squares, ones), FIRST)
    _add_columns(sums[5], NO_FRACTION + bests, FIRST)
    _add_columns(sums[6], NO_FRACTION + worsts, FIRST)
    _add_columns(sums[7], NO_FRACTION + ceilings, FIRST)
    return True, n_kept > 0


@helper
def _insert(first, second, extremes, output, side):
    """Insert a row among the kept ones if it ranks high enough, and drop the last of them."""
    place = KEPT
    while place > 0:
        other = extremes[output, side, place - 1, 0]
        if first < other or (first == other and second >= extremes[output, side, place - 1, 1]):
            break
        place -= 1
        if place < KEPT - 1:
            extremes[output, side, place + 1, 0] = other
            extremes[output, side, place + 1, 1] = extremes[output, side, place, 1]
    if place < KEPT:
        extremes[output, side, place, 0], extremes[output, side, place, 1] = first, second


@helper
def _keep_extremes(values, weights, first, stop, output, extremes):
    """Keep the rows from `first` to `stop` that gain most and that lose most in an output."""
    for row in range(first, stop):
        weight = weights[row] if weights.size > 0 else 1.0
        gain = weight * values[row, output, 0] + 0.0  # never -0.0, which is equal but has other bits
        loss = weight * values[row, output, 1] - gain + 0.0
        _insert(gain, loss, extremes, output, FIRST)
        _insert(loss, gain, extremes, output, SECOND)


@kernel("f8[:,:,:]", "f8[:]", "i8[:,:,:]", "f8[:,:,:,:]", returns="i8")
def add_values(values, weights, sums, extremes):
    """Add the values of rows to the sums of every output; return the first row that exceeds their range, or -1.

    Values are truncated below 2^-60; products of truncated values are exact. If a row is returned, the sums are
    undefined.

    A row gains its numerator, and loses its denominator minus its numerator: for any ratio of the sums from 0
    to 1, or any ratio at all if the denominators are equal, a row far from this ratio gains or loses much.

    Parameters
    ----------
    values : float64 [n_rows, n_outputs, SLOTS]
    weights : float64 [n_rows]
        Empty if all rows count 1.
    sums : int64 [n_outputs, MOMENTS, WORDS]
    extremes : float64 [n_outputs, 2, KEPT, 2]
        The gain and loss of the rows that gain most, then the loss and gain of the rows that lose most; sorted
        by the first number, descending, then by the second, ascending. Infinite if no rows are to be kept.
    """
    n_rows, n_outputs, n_slots = values.shape
    step = max(64, min(CACHED // (n_outputs * n_slots + 1), ROWS_AT_ONCE))
    for first in range(0, n_rows, step):
        stop = min(first + step, n_rows)
        wrong = stop
        for o in range(n_outputs):  # o: output, m: moment
            is_added, may_be_kept = _add_small(values, weights, first, stop, o, sums[o], extremes)
            if not is_added:
                for row in range(first, wrong):
                    weight = weights[row] if weights.size > 0 else 1.0
                    fits = True
                    for m in range(MOMENTS):
                        x, y = weight * values[row, o, FACTORS[m, 0]], 1.0
                        if FACTORS[m, 1] >= 0:
                            y = weight * values[row, o, FACTORS[m, 1]]
                        fits &= _add_product(sums[o, m], x, y)
                    if not fits:
                        wrong = row
                        break
                may_be_kept = True
            if may_be_kept:
                _keep_extremes(values, weights, first, wrong, o, extremes)
        if wrong < stop:
            return wrong
    return -1


@helper
def _add_small_pairs(a, b, weights, first, stop, output, products):
    """Add products of two systems' values in at most ROWS_AT_ONCE rows; return whether this was possible."""
    nums = num_den = den_num = dens = NO_COLUMNS
    n_large = 0
    for row in range(first, stop):
        weight = weights[row] if weights.size > 0 else 1.0
        num_a, den_a = weight * a[row, output, 0], weight * a[row, output, 1]
        num_b, den_b = weight * b[row, output, 0], weight * b[row, output, 1]
        n_large += not ((abs(num_a) < PART) & (abs(den_a) < PART) & (abs(num_b) < PART) & (abs(den_b) < PART))
        x, y, other_x, other_y = _split(num_a), _split(den_a), _split(num_b), _split(den_b)
        nums, num_den = _plus_product(nums, x, other_x), _plus_product(num_den, x, other_y)
        den_num, dens = _plus_product(den_num, y, other_x), _plus_product(dens, y, other_y)
    for m in range(PRODUCTS):
        n_large += abs(products[m, WORDS - 1]) >= TOP - 1
    if n_large > 0:
        return False
    _add_columns(products[0], nums, FIRST)
    _add_columns(products[1], num_den, FIRST)
    _add_columns(products[2], den_num, FIRST)
    _add_columns(products[3], dens, FIRST)
    return True


@kernel("f8[:,:,:]", "f8[:,:,:]", "f8[:]", "f8[:]", "i8[:,:,:]", "i8[:,:]", "f8[:,:,:]")
def add_pairs(a, b, weights, signs, products, counts, kept):
    """Add the rows of two systems.

    A row differs if it is not a tie, or if the denominators differ.

    Parameters
    ----------
    a, b : float64 [n_rows, n_outputs, 2]
        Numerator and denominator of each row.
    weights : float64 [n_rows]
        Empty if all rows count 1.
    signs : float64 [n_outputs]
        1 if higher is better, else -1.
    products : int64 [n_outputs, PRODUCTS, WORDS]
        Exact sums.
    counts : int64 [n_outputs, COUNTS]
    kept : float64 [n_outputs, FEW_DIFFER, 4]
        Weighted numerators and denominators of a and b in the first rows that differ.
    """
    n_rows, n_outputs, n_slots = a.shape
    step = max(64, min(CACHED // (n_outputs * n_slots + 1), ROWS_AT_ONCE))
    for first in range(0, n_rows, step):
        stop = min(first + step, n_rows)
        for o in range(n_outputs):  # o: output
            is_added = _add_small_pairs(a, b, weights, first, stop, o, products[o])
            for row in range(first, stop):
                weight = weights[row] if weights.size > 0 else 1.0
                num_a, den_a = weight * a[row, o, 0], weight * a[row, o, 1]
                num_b, den_b = weight * b[row, o, 0], weight * b[row, o, 1]
                if not is_added:
                    # Exact, as squares are, so that the products of equal rows cancel against the squares.
                    _add_product(products[o, 0], num_a, num_b)
                    _add_product(products[o, 1], num_a, den_b)
                    _add_product(products[o, 2], den_a, num_b)
                    _add_product(products[o, 3], den_a, den_b)
                x, y, differs = num_a, num_b, 0
                if den_a != den_b:
                    differs = 1 if abs(den_a - den_b) > TIE * max(den_a, den_b) else 0
                    if den_a == 0.0 or den_b == 0.0:
                        counts[o, ONE_SIDED] += 1
                        x, y = 0.0, 0.0
                    else:
                        x, y = num_a / den_a, num_b / den_b
                elif den_a == 0.0:
                    counts[o, NEITHER] += 1
                if abs(x - y) > TIE * max(abs(x), abs(y)):
                    counts[o, WINS if signs[o] * (x - y) > 0.0 else LOSSES] += 1
                    differs = 1
                if differs:
                    n = counts[o, DIFFERING]
                    if n < FEW_DIFFER:
                        kept[o, n, 0], kept[o, n, 1] = num_a, den_a
                        kept[o, n, 2], kept[o, n, 3] = num_b, den_b
                    counts[o, DIFFERING] += 1
