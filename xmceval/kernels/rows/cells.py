"""Cell kernel: which cells of dense rows are true, where almost none is."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile import kernel

CHUNK = 64  # cells that are looked at together


@kernel
def find_true(cells, places):
    """Write the places of the cells that are not 0, in order.

    `cells` are uint8 [n], read-only, and `places` int64, one for each of them.
    """
    n = np.uint64(cells.size)
    count, first = np.uint64(0), np.uint64(0)
    while first < n:
        last = first + np.uint64(CHUNK)
        if last <= n:
            bits = np.uint8(0)
            for i in range(np.uint64(CHUNK)):
                bits |= cells[first + i]
            if bits == 0:
                first = last
                continue
        for place in range(first, min(last, n)):
            if cells[place] != 0:
                places[count] = place
                count += np.uint64(1)
        first = last
