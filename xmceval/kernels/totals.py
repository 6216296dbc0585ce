"""Sum kernels: add the values of rows, and products of them, to exact sums."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.decorators import function, helper, kernel

MOMENTS = 8  # num, den, num^2, num den, den^2, best - num, worst - num, ceiling

PRODUCTS = 4  # of two systems: num_a num_b, num_a den_b, den_a num_b, den_a den_b

WINS, LOSSES = 0, 1

TIE = 1e-12  # rows whose values differ by at most this share of the larger are ties

WORDS = 4  # of a sum: fractions of 2^-120, fractions of 2^-60, ones, and multiples of 2^60

WORD = 60  # bits of all words but the last

MASK = (1 << WORD) - 1

UNIT = float(1 << WORD)

LARGEST_TOP = float(1 << 61)  # of the last word

LARGEST = LARGEST_TOP * UNIT

LARGEST_PRODUCT = LARGEST * UNIT * UNIT  # in units of 2^-120

HALF = 30

HALF_MASK = (1 << HALF) - 1

SMALL = float(1 << 29)  # below it, all products of halves of words fit 64 bits

SPLITTER = float((1 << 27) + 1)


@function
def _add_large_product(sums, o, m, x, y):
    """Add the product of two numbers of any size; return whether it fits."""
    x, y = np.trunc(x * UNIT), np.trunc(y * UNIT)
    xs, ys = SPLITTER * x, SPLITTER * y
    xh, yh = xs - (xs - x), ys - (ys - y)
    xl, yl = x - xh, y - yh
    if not abs(x * y) < LARGEST_PRODUCT:
        return False
    part, rest = x * y, ((xh * yh - x * y) + xh * yl + xl * yh) + xl * yl  # rounded, and what rounding left (Dekker)
    for _ in range(2):
        carry = np.int64(0)
        for w in range(WORDS - 1):
            # Truncated: what is left keeps the sign, and so needs no more bits than the number has.
            above = 0.0 if -UNIT < part < UNIT else np.trunc(part / UNIT)
            word = sums[o, m, w] + np.int64(part - above * UNIT) + carry
            sums[o, m, w] = word & MASK
            carry, part = word >> WORD, above
        sums[o, m, WORDS - 1] += np.int64(part) + carry
        part = rest
    return -LARGEST_TOP < sums[o, m, WORDS - 1] < LARGEST_TOP


@helper
def _add_small_product(sums, o, m, num, den):
    """Add the product of two numbers from 0 to SMALL; return whether it fits."""
    x, y = np.int64(num), np.int64(den)
    x_rest, y_rest = np.int64((num - x) * UNIT), np.int64((den - y) * UNIT)
    if y_rest == 0 and y <= 1:  # most denominators are 1
        low = sums[o, m, 1] + x_rest * y
        word = (low >> WORD) + sums[o, m, 2] + x * y
        sums[o, m, 1], sums[o, m, 2] = low & MASK, word & MASK
        sums[o, m, 3] += word >> WORD
        return sums[o, m, 3] < LARGEST_TOP
    x1, x0, y1, y0 = x_rest >> HALF, x_rest & HALF_MASK, y_rest >> HALF, y_rest & HALF_MASK
    second, fourth = x0 * y1 + x1 * y0, x1 * y + x * y1
    word = sums[o, m, 0] + x0 * y0 + ((second & HALF_MASK) << HALF)
    sums[o, m, 0] = word & MASK
    word = (word >> WORD) + sums[o, m, 1] + (second >> HALF) + ((fourth & HALF_MASK) << HALF)
    word += x0 * y + x1 * y1 + x * y0
    sums[o, m, 1] = word & MASK
    word = (word >> WORD) + sums[o, m, 2] + (fourth >> HALF) + x * y
    sums[o, m, 2] = word & MASK
    sums[o, m, 3] += word >> WORD
    return sums[o, m, 3] < LARGEST_TOP


@function
def _add_product(sums, o, m, x, y):
    """Add the product of two numbers; return whether it fits."""
    if 0.0 <= x < SMALL and 0.0 <= y < SMALL:
        return _add_small_product(sums, o, m, x, y)
    return _add_large_product(sums, o, m, x, y)


@kernel
def add_values(values, weights, moments, sums):
    """Add the values of rows to the sums of every output; return the first row that leaves their range, or -1.

    A value is cut off below 2^-60; products are those of the values so cut off, and exact. `weights` is one per row, or
    empty where all are 1; `moments` is working space for five. Where a row is returned, the sums mean nothing.
    """
    for row in range(values.shape[0]):
        weight = weights[row] if weights.size > 0 else 1.0
        fits = True
        for o in range(values.shape[1]):  # o: output, m: moment
            for slot in range(5):
                moments[slot] = weight * values[row, o, slot]
            for slot in range(5):
                x = moments[slot]
                if x == 0.0:
                    continue
                m = slot if slot < 2 else slot + 3
                if -4.0 < x < 4.0:
                    low = sums[o, m, 1] + np.int64(x * UNIT)
                    middle = sums[o, m, 2] + (low >> WORD)
                    sums[o, m, 1] = low & MASK
                    sums[o, m, 2] = middle & MASK
                    sums[o, m, 3] += middle >> WORD
                    continue
                if not abs(x) < LARGEST:
                    return row
                whole = np.floor(x)
                # Only what is that large can lose 2^60s without being rounded: -1.0 + 2^60 has no room for the 1.
                top = np.floor(whole / UNIT) if abs(whole) >= UNIT else 0.0
                low = sums[o, m, 1] + np.int64((x - whole) * UNIT)
                middle = sums[o, m, 2] + np.int64(whole - top * UNIT) + (low >> WORD)
                sums[o, m, 1] = low & MASK
                sums[o, m, 2] = middle & MASK
                sums[o, m, 3] += np.int64(top) + (middle >> WORD)
            for m in range(2, 5):
                x, y = moments[1 if m == 4 else 0], moments[0 if m == 2 else 1]
                if x == 0.0 or y == 0.0:
                    continue
                if 0.0 < x < SMALL and 0.0 < y < SMALL:
                    fits &= _add_small_product(sums, o, m, x, y)
                else:
                    fits &= _add_large_product(sums, o, m, x, y)
        if not fits:
            return row
    return -1


@kernel
def add_pairs(a, b, weights, signs, products, counts):
    """Add the rows of two systems.

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
    counts : int64 [n_outputs, 2]
        Rows in which a is better, and in which b is.
    """
    for row in range(a.shape[0]):
        weight = weights[row] if weights.size > 0 else 1.0
        for o in range(a.shape[1]):  # o: output
            # Exact, as squares are: so the products of equal rows cancel against the squares.
            num_a, den_a, num_b, den_b = (
                weight * a[row, o, 0],
                weight * a[row, o, 1],
                weight * b[row, o, 0],
                weight * b[row, o, 1],
            )
            _add_product(products, o, 0, num_a, num_b)
            _add_product(products, o, 1, num_a, den_b)
            _add_product(products, o, 2, den_a, num_b)
            _add_product(products, o, 3, den_a, den_b)
            x, y = num_a, num_b
            if den_a != den_b:
                if den_a == 0.0 or den_b == 0.0:
                    continue
                x, y = num_a / den_a, num_b / den_b
            larger = max(abs(x), abs(y))
            if abs(x - y) > TIE * larger:
                counts[o, WINS if signs[o] * (x - y) > 0.0 else LOSSES] += 1
