"""Filter kernel: finds pairs of row and label in rows, and removes them."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile import kernel

# Indices into `counts`: entries that are pairs, and rows that have such an entry.
ENTRIES, ROWS = 0, 1


@kernel
def drop_pairs(indptr, indices, values, first_row, pair_rows, pair_labels, remove, counts):
    """Count the entries that are pairs, and remove them in place if `remove` is set.

    The rows begin with row `first_row` of the pairs. The pairs are distinct, ordered by row and then by label, and all
    of them belong to these rows. `pair_rows` and `pair_labels` are int64 [n_pairs], `counts` int64 [2].
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
