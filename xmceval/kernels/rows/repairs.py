"""Kernels that order entries by row, merge duplicate labels of a row, and drop labels or pairs."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import kernel


@kernel("i8[:]", "i8[:]", returns="i8")
def count_entries(rows, indptr):
    """Fill indptr, initially all 0, from the rows of entries; return the first entry of an invalid row, or -1.

    `rows` are int64 [n_entries], `indptr` is int64 [n_rows + 1].
    """
    n_rows = indptr.size - 1
    for entry in range(rows.size):
        row = rows[entry]
        if row < 0 or row >= n_rows:
            return entry
        indptr[row + 1] += 1
    for row in range(n_rows):
        indptr[row + 1] += indptr[row]
    return -1


@kernel("i8[:]", "i8[:]", "i8[:]")
def order_entries(rows, following, order):
    """Write the indices of entries sorted by row; `following`, a copy of indptr, is overwritten.

    `rows` and `order` are int64 [n_entries], `following` is int64 [n_rows + 1].
    """
    for entry in range(rows.size):
        row = rows[entry]
        order[following[row]] = entry
        following[row] += 1


@kernel("i8[:]", "i8[:]", "f8[:]", "i8[:]", returns="i8")
def merge_duplicates(indptr, indices, values, table):
    """Keep the largest value of labels repeated within a row, in place; return the number of dropped entries.

    NaN is kept. `table` is scratch space of at least 16 elements and four times the longest row; it is all -1
    before and after. `indptr` is int64 [n_rows + 1], `indices` int64 and `values` float64 [at least
    indptr[-1]].
    """
    kept = np.int64(0)
    start = indptr[0]
    for row in range(indptr.size - 1):
        stop = indptr[row + 1]
        size = 16
        while size < 2 * (stop - start):
            size *= 2
        for entry in range(start, stop):
            label, value = indices[entry], values[entry]
            slot = ((((label ^ (label >> 31)) & 0x7FFFFFFF) * 0x9E3779B1) >> 20) & (size - 1)
            while table[slot] >= 0 and indices[table[slot]] != label:
                slot = (slot + 1) & (size - 1)
            place = table[slot]
            if place >= 0:
                if value > values[place] or value != value:
                    values[place] = value
            else:
                table[slot] = kept
                indices[kept], values[kept] = label, value
                kept += 1
        for slot in range(size):
            table[slot] = -1
        start = stop
        indptr[row + 1] = kept
    indptr[0] = 0
    return start - kept


@kernel("i8[:]", "i8[:]", "f8[:]", "i8", returns="i8")
def drop_label(indptr, indices, values, unwanted):
    """Drop all entries of one label, in place; return their number.

    `indptr` is int64 [n_rows + 1], `indices` int64 and `values` float64 [at least indptr[-1]].
    """
    kept = np.int64(0)
    start = indptr[0]
    for row in range(indptr.size - 1):
        stop = indptr[row + 1]
        for entry in range(start, stop):
            if indices[entry] != unwanted:
                indices[kept], values[kept] = indices[entry], values[entry]
                kept += 1
        start = stop
        indptr[row + 1] = kept
    indptr[0] = 0
    return start - kept


# Slots of `counts`: entries that are pairs, and rows with such entries.
ENTRIES, ROWS = 0, 1


@kernel("i8[:]", "i8[:]", "f8[:]", "i8", "i8[:]", "i8[:]", "b1", "i8[:]")
def drop_pairs(indptr, indices, values, first_row, pair_rows, pair_labels, remove, counts):
    """Count the entries that are pairs, and if `remove` is set, remove them in place.

    The first row is row `first_row` of the pairs. The pairs are distinct, sorted by row and then by label, and
    all belong to these rows. `pair_rows` and `pair_labels` are int64 [n_pairs], `counts` int64 [2].
    """
    n_pairs = pair_rows.size
    pair = 0
    start, kept = indptr[0], indptr[0]
    for row in range(indptr.size - 1):
        stop = indptr[row + 1]
        first = pair
        while pair < n_pairs and pair_rows[pair] == first_row + row:
            pair += 1
        if pair == first:
            if kept < start:
                for entry in range(start, stop):
                    indices[kept], values[kept] = indices[entry], values[entry]
                    kept += 1
            else:
                kept = stop
        else:
            before = counts[ENTRIES]
            for entry in range(start, stop):
                label = indices[entry]
                low, length = first, pair - first
                while length > 1:
                    half = length >> 1
                    low += half if pair_labels[low + half] <= label else np.int64(0)
                    length -= half
                if pair_labels[low] == label:
                    counts[ENTRIES] += 1
                    if remove:
                        continue
                indices[kept], values[kept] = label, values[entry]
                kept += 1
            counts[ROWS] += counts[ENTRIES] > before
        start = stop
        indptr[row + 1] = kept
