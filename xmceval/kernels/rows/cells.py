"""Cell kernels: which cells of dense rows are not zero."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile import kernel
from xmceval.kernels.vector import instruction

NO_ROOM = -2

CHUNK = 64  # cells that are looked at together, since almost all are zero


@instruction
def has_ones(words, at, mask):
    """Whether any of 64 words from an offset on has a bit of a mask."""
    return int(np.any(words[at : at + CHUNK] & mask))


@kernel
def find_cells(words, step, n_labels, mask, one, starts, labels, found):
    """Find the cells of rows that are not zero; return the largest label of them, -1 without any, and if all are one.

    `words` are the cells as unsigned integers, a row of `n_labels` every `step`; bits outside `mask` do not count, and
    `one` is the word of the number 1. Writes `starts`, int64 [n_rows + 1], and for each cell its label, int64, and its
    word, with up to CHUNK entries beyond the last one. Where these have no room for all of them, returns NO_ROOM.
    """
    largest, others = np.int64(-1), np.int64(0)
    starts[0] = n_found = np.int64(0)
    for row in range(starts.size - 1):
        first = row * step
        for label in range(0, n_labels, CHUNK):
            stop = min(label + CHUNK, n_labels)
            if stop == label + CHUNK and has_ones(words, first + label, mask) == 0:
                continue
            if n_found + CHUNK > labels.size:
                return np.int64(NO_ROOM), np.int64(0)
            for each in range(label, stop):
                word = words[first + each]
                labels[n_found], found[n_found] = each, word
                is_true = np.int64((word & mask) != 0)
                others += is_true & np.int64(word != one)
                n_found += is_true
        starts[row + 1] = n_found
        if n_found > starts[row] and labels[n_found - 1] > largest:
            largest = labels[n_found - 1]
    return largest, np.int64(others == 0)
