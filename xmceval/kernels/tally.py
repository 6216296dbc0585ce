"""Look kernel: what a block of rows is like, sound or not."""

from __future__ import annotations

import numba
import numpy as np

kernel = numba.njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)

# The wrappers that Python and C would call take longer to compile than a small function.
helper = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True, forceinline=True)

# Slots of `found`: rows without entries, with labels ascending, with scores descending, with equal scores; entries
# whose label stands earlier in the row, that are 0, 1, negative, fractions, NaN, infinite; labels below 0 or beyond.
EMPTY, BY_LABEL, BY_SCORE, TIED, DUPLICATES, ZEROS, ONES, NEGATIVE, FRACTIONS, NANS, INFINITE, OUTSIDE, LARGEST = range(
    13
)

N_FOUND = 13


@helper
def _repeats(keys, start, stop, table):
    """Count the keys of a row that stand earlier in it. `table` is all -1, and left so."""
    size = 16
    while size < 2 * (stop - start):
        size *= 2
    repeats = 0
    for entry in range(start, stop):
        key = keys[entry]
        slot = ((((key ^ (key >> 31)) & 0x7FFFFFFF) * 0x9E3779B1) >> 20) & (size - 1)
        while table[slot] >= 0 and keys[table[slot]] != key:
            slot = (slot + 1) & (size - 1)
        if table[slot] >= 0:
            repeats += 1
        else:
            table[slot] = entry
    for slot in range(size):
        table[slot] = -1
    return repeats


@kernel
def look(indptr, indices, values, bits, n_labels, table, found, ends):
    """Add what is found in a block; `ends` are the least and the greatest finite value.

    `bits` are those of `values` as int64; `table` is working space: at least 16 elements and four times the longest
    row, all -1, and left so.
    """
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        if start == stop:
            found[EMPTY] += 1
            continue
        ones, by_label, by_score = 0, 0, 0
        for entry in range(start, stop):
            label, value = indices[entry], values[entry]
            ones += value == 1.0
            if value != 1.0:
                found[ZEROS] += value == 0.0
                found[NEGATIVE] += value < 0.0
                found[NANS] += value != value
                found[INFINITE] += abs(value) == np.inf
                found[FRACTIONS] += value != np.floor(value) and value == value
            if abs(value) < np.inf:
                ends[0] = value if value < ends[0] else ends[0]
                ends[1] = value if value > ends[1] else ends[1]
            found[OUTSIDE] += label < 0 or label >= n_labels
            found[LARGEST] = label if label > found[LARGEST] else found[LARGEST]
            if entry > start:
                by_label += indices[entry - 1] < label
                by_score += values[entry - 1] > value
        found[ONES] += ones
        length = stop - start
        found[BY_LABEL] += by_label == length - 1
        if by_label < length - 1:
            found[DUPLICATES] += _repeats(indices, start, stop, table)
        if ones == length:
            continue
        ties = 0
        if by_score < length - 1:
            ties = _repeats(bits, start, stop, table)
            descents = 0
            for entry in range(start + 1, stop):
                descents += values[entry - 1] >= values[entry]
            found[BY_SCORE] += descents == length - 1
        else:
            found[BY_SCORE] += 1
        found[TIED] += ties > 0
