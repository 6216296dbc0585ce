"""Counting kernels: how often each label occurs."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.decorators import kernel


@kernel
def count_labels(indices, counts):
    """Count the labels below the size of `counts`; return the largest label."""
    largest = np.int64(-1)
    size = counts.size
    for entry in range(indices.size):
        label = indices[entry]
        largest = max(largest, label)
        if label < size:
            counts[label] += 1
    return largest
