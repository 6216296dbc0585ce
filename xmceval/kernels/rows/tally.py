"""A kernel that counts the occurrences of labels."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import kernel


@kernel("i8[:]", "u1[:]", "i4[:]", returns="i8")
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
