"""Filter kernel: finds given pairs of row and label among rows, and takes them out."""

from __future__ import annotations

import numba
import numpy as np

kernel = numba.njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)

# Slots of `found`: the entries that are pairs, and the rows that have such an entry.
ENTRIES, ROWS = 0, 1


@kernel
def drop_pairs(indptr, indices, values, first_row, pair_rows, pair_labels, remove, found):
    """Find the entries that are pairs, and take them out in place if `remove` is set.

    Row 0 here is row `first_row` of the pairs, which are ordered by row and then by label, each once; all of them are
    of rows that are here.
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
            before = found[ENTRIES]
            for entry in range(start, stop):
                label = indices[entry]
                low, length = first, pair - first
                while length > 1:
                    half = length >> 1
                    low += half if pair_labels[low + half] <= label else np.int64(0)
                    length -= half
                if pair_labels[low] == label:
                    found[ENTRIES] += 1
                    if remove:
                        continue
                indices[kept], values[kept] = label, values[entry]
                kept += 1
            found[ROWS] += found[ENTRIES] > before
        start = stop
        indptr[row + 1] = kept
