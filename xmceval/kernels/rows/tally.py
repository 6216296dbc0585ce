"""Kernels that count the contents of a block, valid or not, and the occurrences of labels."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile import helper, kernel

# Slots of `counts`: rows without entries, with ascending labels, with descending scores, with equal scores;
# entries with a repeated label, that are 0, 1, negative, fractions, NaN, infinite; labels outside the valid
# range.
EMPTY, BY_LABEL, BY_SCORE, TIED, DUPLICATES, ZEROS, ONES, NEGATIVE, FRACTIONS, NANS, INFINITE, OUTSIDE = range(12)


@helper
def _repeats(keys, start, stop, table):
    """Count the keys that appear earlier in the row; `table` is all -1 before and after."""
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
def tally_rows(indptr, indices, values, bits, n_labels, table, counts, ends):
    """Add the counts of a block to `counts`, and widen `ends`, the least and the greatest finite value.

    `counts` are int64 [12], `ends` float64 [2]. `bits` are the values viewed as int64. `table` is scratch space
    of at least 16 elements and four times the longest row: all -1 before and after. An empty row counts as
    sorted by label and by score.
    """
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        if start == stop:
            counts[EMPTY] += 1
            counts[BY_LABEL] += 1
            counts[BY_SCORE] += 1
            continue
        ones, by_label, by_score = 0, 0, 0
        for entry in range(start, stop):
            label, value = indices[entry], values[entry]
            ones += value == 1.0
            if value != 1.0:
                counts[ZEROS] += value == 0.0
                counts[NEGATIVE] += value < 0.0
                counts[NANS] += value != value
                counts[INFINITE] += abs(value) == np.inf
                counts[FRACTIONS] += value != np.floor(value) and value == value
            if abs(value) < np.inf:
                ends[0] = value if value < ends[0] else ends[0]
                ends[1] = value if value > ends[1] else ends[1]
            counts[OUTSIDE] += label < 0 or label >= n_labels
            if entry > start:
                by_label += indices[entry - 1] < label
                by_score += values[entry - 1] > value
        counts[ONES] += ones
        length = stop - start
        counts[BY_LABEL] += by_label == length - 1
        if by_label < length - 1:
            counts[DUPLICATES] += _repeats(indices, start, stop, table)
        if ones == length:
            continue
        ties = 0
        if by_score < length - 1:
            ties = _repeats(bits, start, stop, table)
            descents = 0
            for entry in range(start + 1, stop):
                descents += values[entry - 1] >= values[entry]
            counts[BY_SCORE] += descents == length - 1
        else:
            counts[BY_SCORE] += 1
        counts[TIED] += ties > 0


@kernel
def count_labels(indices, counts, wraps):
    """Count labels below the size of `counts`, in bytes that stay in the fast caches; return the largest label.

    `indices` are int64 [n_entries], `counts` uint8 [n]. `wraps`, int32 [n], counts the overflows of each byte.
    """
    largest = np.int64(-1)
    size = np.uint64(counts.size)
    for entry in range(np.uint64(indices.size)):
        label = indices[entry]
        largest = label if label > largest else largest
        place = np.uint64(label)
        if place < size:
            count = np.uint8(counts[place] + np.uint8(1))
            counts[place] = count
            if count == 0:
                wraps[place] += 1
    return largest
