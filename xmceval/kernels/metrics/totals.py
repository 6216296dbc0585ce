"""Sum kernels: add the values of rows, and products of them, to exact sums, and keep the most extreme rows."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile import helper, kernel
from xmceval.kernels.vector import PLAIN, instruction

MOMENTS = 8  # num, den, num^2, num den, den^2, best - num, worst - num, ceiling

# Their factors: slots of a row's values for an output; a value by itself is multiplied by 1.
FACTORS = np.array([(0, -1), (1, -1), (0, 0), (0, 1), (1, 1), (2, -1), (3, -1), (4, -1)])

PRODUCTS = 4  # of two systems: num_a num_b, num_a den_b, den_a num_b, den_a den_b

# Rows in which a is better, in which b is, in which they differ, and in which only one or neither has a denominator.
WINS, LOSSES, DIFFERING, ONE_SIDED, NEITHER = range(5)

COUNTS = 5

FEW_DIFFER = 5  # rows that differ whose values are kept

TIE = 1e-12  # rows whose values differ by at most this share of the larger are ties

WORDS = 4  # of a sum: fractions of 2^-120, fractions of 2^-60, ones, and multiples of 2^60

WORD = 60  # bits of all words but the last

MASK = (1 << WORD) - 1

UNIT = float(1 << WORD)

LARGEST_TOP = float(1 << 61)  # of the last word


KEPT = 4  # rows that gain most, and rows that lose most

FAST = not PLAIN  # eight rows at once

CACHED = 1 << 17  # numbers of so many rows stay in the processor's cache, where each output goes through all rows

MOST_ROWS = instruction("MOST_ROWS")


@instruction
def add_product(sums, place, x, y):
    """Add the product of two values, each cut off, to the sum at a place; return whether it fits."""
    x, y = float(x) * UNIT, float(y) * UNIT
    if not abs(x * y) < LARGEST_TOP * UNIT**3:
        return False
    words, number = sums.reshape(-1)[place : place + WORDS], int(x) * int(y)
    for w in range(WORDS - 1):
        number += int(words[w])
        words[w] = number & MASK
        number >>= WORD
    words[-1] += number
    return abs(int(words[-1])) < LARGEST_TOP


@instruction
def add_eights(values, at, step, n_rows, weights, first_row, is_weighted, sums, place, extremes, kept):
    """Add the values of an output in 8 to MOST_ROWS rows, and products of them.

    Return 0 where that was not possible, 1 where it was, and 3 where some row may have to be kept in `extremes`, those
    of the output from `kept` on.
    """


@instruction
def add_pairs_of_eights(a, b, at, step, n_rows, weights, first_row, is_weighted, sums, place):
    """Add the products of two systems' values in 8 to MOST_ROWS rows; return whether that was possible."""


@helper
def _rows_at_once(n_rows, width):
    """Return how many rows of so many numbers to add at once."""
    if not FAST:
        return max(n_rows, 1)
    step = CACHED // (width + 1)
    return 64 if step < 64 else step if step < MOST_ROWS else MOST_ROWS


@helper
def _insert(first, second, extremes, output, side):
    """Keep a row at its place, if it has one: then the last one is no longer kept."""
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
    """Keep the rows from `first` to `stop` of an output that gain most and those that lose most."""
    for row in range(first, stop):
        weight = weights[row] if weights.size > 0 else 1.0
        gain = weight * values[row, output, 0] + 0.0  # never -0.0, which is equal but other bits
        loss = weight * values[row, output, 1] - gain + 0.0
        _insert(gain, loss, extremes, output, 0)
        _insert(loss, gain, extremes, output, 1)


@kernel
def add_values(values, weights, sums, extremes):
    """Add the values of rows to the sums of every output; return the first row that leaves their range, or -1.

    A value is cut off below 2^-60; products are those of the values so cut off, and exact. Where a row is returned, the
    sums mean nothing.

    A row gains its numerator, and loses what its denominator has more: whatever the ratio of the sums from 0 to 1, or
    where all denominators are equal any ratio, a row that is far from it gains or loses much.

    Parameters
    ----------
    values : float64 [n_rows, n_outputs, SLOTS]
    weights : float64 [n_rows]
        Or empty, where all rows count 1.
    sums : int64 [n_outputs, MOMENTS, WORDS]
    extremes : float64 [n_outputs, 2, KEPT, 2]
        The gain and the loss of the rows that gain most, then the loss and the gain of those that lose most; the
        first number descending, the second ascending where that is equal. Infinite where none are to be kept.
    """
    n_rows, n_outputs, n_slots = values.shape
    width, is_weighted = n_outputs * n_slots, 1 if weights.size > 0 else 0
    step = _rows_at_once(n_rows, width)
    for first in range(0, n_rows, step):
        stop = first + step if first + step < n_rows else n_rows
        wrong = stop
        for o in range(n_outputs):  # o: output, m: moment
            if FAST and stop - first >= 8:
                at = (first * n_outputs + o) * n_slots
                place = o * MOMENTS * WORDS
                kept = o * 4 * KEPT
                added = add_eights(
                    values, at, width, stop - first, weights, first, is_weighted, sums, place, extremes, kept
                )
                if added == 3:
                    _keep_extremes(values, weights, first, stop, o, extremes)
                if added:
                    continue
            for row in range(first, wrong):
                weight = weights[row] if is_weighted else 1.0
                fits = 1
                for m in range(MOMENTS):
                    x, y = weight * values[row, o, FACTORS[m, 0]], 1.0
                    if FACTORS[m, 1] >= 0:
                        y = weight * values[row, o, FACTORS[m, 1]]
                    fits &= add_product(sums, (o * MOMENTS + m) * WORDS, x, y)
                if not fits:
                    wrong = row
                    break
            _keep_extremes(values, weights, first, wrong, o, extremes)
        if wrong < stop:
            return wrong
    return -1


@kernel
def add_pairs(a, b, weights, signs, products, counts, kept):
    """Add the rows of two systems.

    A row differs where it is not a tie, or where the denominators are unlike.

    Parameters
    ----------
    a, b : float64 [n_rows, n_outputs, 2]
        Numerator and denominator of each row.
    weights : float64 [n_rows]
        Or empty, where all rows count 1.
    signs : float64 [n_outputs]
        1 where higher is better, else -1.
    products : int64 [n_outputs, PRODUCTS, WORDS]
        Exact sums.
    counts : int64 [n_outputs, COUNTS]
    kept : float64 [n_outputs, FEW_DIFFER, 4]
        Weighted numerators and denominators of a and of b in the first rows that differ.
    """
    n_rows, n_outputs, n_slots = a.shape
    width, is_weighted = n_outputs * n_slots, 1 if weights.size > 0 else 0
    step = _rows_at_once(n_rows, width)
    for first in range(0, n_rows, step):
        stop = first + step if first + step < n_rows else n_rows
        for o in range(n_outputs):  # o: output
            at, place, is_added = (first * n_outputs + o) * n_slots, o * PRODUCTS * WORDS, 0
            if FAST and stop - first >= 8:
                is_added = add_pairs_of_eights(
                    a, b, at, width, stop - first, weights, first, is_weighted, products, place
                )
            for row in range(first, stop):
                weight = weights[row] if is_weighted else 1.0
                num_a, den_a = weight * a[row, o, 0], weight * a[row, o, 1]
                num_b, den_b = weight * b[row, o, 0], weight * b[row, o, 1]
                if not is_added:
                    # Exact, as squares are: so the products of equal rows cancel against the squares.
                    add_product(products, place, num_a, num_b)
                    add_product(products, place + WORDS, num_a, den_b)
                    add_product(products, place + 2 * WORDS, den_a, num_b)
                    add_product(products, place + 3 * WORDS, den_a, den_b)
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
