"""Paired kernel: products of the values of two systems on the same rows, and which of the two is better."""

from __future__ import annotations

import numba
import numpy as np

from xmceval.kernels.cache import cached

kernel = cached(numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True))
# The wrappers that Python and C would call take longer to compile than a small function.
helper = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True, forceinline=True)

PRODUCTS = 4  # num_a num_b, num_a den_b, den_a num_b, den_a den_b
WINS, LOSSES = 0, 1
TIE = 1e-12  # rows whose values differ by at most this share of the larger are ties

WORD = 60  # bits of the two lower words of an exact sum, as in the kernel of totals
MASK = (1 << WORD) - 1
UNIT = float(1 << WORD)


@helper
def _add(sums, o, m, x):
    """Add a number to an exact sum of three words."""
    if x == 0.0:
        return
    if -4.0 < x < 4.0:
        low = sums[o, m, 0] + np.int64(x * UNIT)
        middle = sums[o, m, 1] + (low >> WORD)
    else:
        whole = np.floor(x)
        top = np.floor(whole / UNIT) if abs(whole) >= UNIT else 0.0
        low = sums[o, m, 0] + np.int64((x - whole) * UNIT)
        middle = sums[o, m, 1] + np.int64(whole - top * UNIT) + (low >> WORD)
        sums[o, m, 2] += np.int64(top)
    sums[o, m, 0] = low & MASK
    sums[o, m, 1] = middle & MASK
    sums[o, m, 2] += middle >> WORD


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
    products : int64 [n_outputs, PRODUCTS, 3]
        Exact sums.
    counts : int64 [n_outputs, 2]
        Rows in which a is better, and in which b is.
    """
    for row in range(a.shape[0]):
        weight = weights[row] if weights.size > 0 else 1.0
        for o in range(a.shape[1]):  # o: output
            # As the kernel of totals squares them: so the products of equal rows cancel against the squares.
            num_a, den_a, num_b, den_b = (
                weight * a[row, o, 0],
                weight * a[row, o, 1],
                weight * b[row, o, 0],
                weight * b[row, o, 1],
            )
            _add(products, o, np.int64(0), num_a * num_b)
            _add(products, o, np.int64(1), num_a * den_b)
            _add(products, o, np.int64(2), den_a * num_b)
            _add(products, o, np.int64(3), den_a * den_b)
            x, y = num_a, num_b
            if den_a != den_b:
                if den_a == 0.0 or den_b == 0.0:
                    continue
                x, y = num_a / den_a, num_b / den_b
            larger = max(abs(x), abs(y))
            if abs(x - y) > TIE * larger:
                counts[o, WINS if signs[o] * (x - y) > 0.0 else LOSSES] += 1
