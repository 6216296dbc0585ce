"""Sum kernel: adds the values of rows to exact sums."""

from __future__ import annotations

import numba
import numpy as np

from xmceval.kernels.cache import cached

kernel = cached(numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True))

MOMENTS = 8  # num, den, num^2, num den, den^2, best - num, worst - num, ceiling

WORD = 60  # bits of the two lower words of a sum

MASK = (1 << WORD) - 1

UNIT = float(1 << WORD)


@kernel
def add_values(values, weights, moments, sums):
    """Add the values of rows to the sums of every output.

    A sum has three words: fractions of 2^-60 (what lies below is cut off), ones, and 2^60s. `weights` is one a row, or
    empty where all are 1; `moments` is working space.
    """
    for row in range(values.shape[0]):
        weight = weights[row] if weights.size > 0 else 1.0
        for o in range(values.shape[1]):  # o: output, m: moment
            num, den = weight * values[row, o, 0], weight * values[row, o, 1]
            moments[0], moments[1] = num, den
            moments[2], moments[3], moments[4] = num * num, num * den, den * den
            moments[5], moments[6] = weight * values[row, o, 2], weight * values[row, o, 3]
            moments[7] = weight * values[row, o, 4]
            for m in range(MOMENTS):
                x = moments[m]
                if x == 0.0:
                    continue
                if -4.0 < x < 4.0:
                    low = sums[o, m, 0] + np.int64(x * UNIT)
                    middle = sums[o, m, 1] + (low >> WORD)
                else:
                    whole = np.floor(x)
                    # Only what is that large can lose 2^60s without being rounded: -1.0 + 2^60 has no room for the 1.
                    top = np.floor(whole / UNIT) if abs(whole) >= UNIT else 0.0
                    low = sums[o, m, 0] + np.int64((x - whole) * UNIT)
                    middle = sums[o, m, 1] + np.int64(whole - top * UNIT) + (low >> WORD)
                    sums[o, m, 2] += np.int64(top)
                sums[o, m, 0] = low & MASK
                sums[o, m, 1] = middle & MASK
                sums[o, m, 2] += middle >> WORD
