"""Copying kernels: rows of a CSR matrix, as the types that other kernels take."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile import kernel
from xmceval.kernels.vector import PLAIN, instruction

NOT_NOTICED = -2

FAST = not PLAIN


@instruction
def copy_sixteens(indices, values, stop, labels, numbers):
    """Copy entries from the second to `stop`, 16 at a time; return what was noticed of them."""


@kernel
def copy_rows(indptr, first_row, indices, values, rows):
    """Copy rows of a CSR matrix, from `first_row` on, and notice whether labels ascend strictly and no value is NaN.

    `indices` and `values` [n_entries] are those of the rows only; `rows` are int64 [n_rows + 1], int64 [n_entries]
    and float64 [n_entries]. Returns the largest label, -1 without any, or NOT_NOTICED; and 1 if all values are 1.
    """
    starts, labels, numbers = rows
    falls, nans, others = np.int64(0), np.int64(0), np.int64(0)
    done = 0
    if FAST and labels.size > 16:
        done = (labels.size - 1) // 16 * 16 + 1
        found = np.int64(copy_sixteens(indices, values, done, labels, numbers))
        falls, nans, others = found >> 2, found & 2, found & 1
    entry = 0
    while entry < labels.size:
        labels[entry], number = indices[entry], np.float64(values[entry])
        numbers[entry] = number
        if entry > 0:
            falls += labels[entry] <= labels[entry - 1]
        nans += number != number
        others += number != 1.0
        entry = done if entry < done else entry + 1
    # Labels may fall from one row to the next: that is subtracted.
    least, largest = np.int64(0), np.int64(-1)
    first = np.int64(indptr[first_row])
    starts[0] = start = np.int64(0)
    for row in range(1, starts.size):
        stop = np.int64(indptr[first_row + row]) - first
        starts[row] = stop
        if start < stop:
            least = labels[start] if labels[start] < least else least
            largest = labels[stop - 1] if labels[stop - 1] > largest else largest
            if start > 0:
                falls -= labels[start] <= labels[start - 1]
        start = stop
    if falls != 0 or least < 0 or nans > 0:
        largest = NOT_NOTICED
    return largest, np.int64(others == 0)
