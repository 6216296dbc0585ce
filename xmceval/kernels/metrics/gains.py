"""Gain kernel: DCG as the mean over all orders of equal scores."""

from __future__ import annotations

from xmceval.kernels.compile.decorators import kernel


@kernel
def average_gains(starts, gains, scores, n_labels, discounts, values):
    """Write each row's DCG, the mean over all orders of equal scores.

    `discounts[j]` is the sum of the first j discounts; past its end they are zero.
    """
    last = discounts.size - 1
    for row in range(starts.size - 1):
        entry, stop = starts[row], starts[row + 1]
        waiting = n_labels - (stop - entry)
        rank, total = 0, 0.0
        while entry < stop and rank < last:
            if waiting > 0 and scores[entry] < 0.0:
                rank += waiting
                waiting = 0
                continue
            score, gain, size = scores[entry], 0.0, 0
            while entry < stop and scores[entry] == score:
                gain += gains[entry]
                size += 1
                entry += 1
            if score == 0.0:
                size += waiting
                waiting = 0
            total += gain / size * (discounts[min(rank + size, last)] - discounts[min(rank, last)])
            rank += size
        values[row] = total
