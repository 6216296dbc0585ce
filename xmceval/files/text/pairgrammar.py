"""Pairs: how two kernels parse rows of ``idx:value`` in turn, one what is usual and one the lines where that ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.text import pairs as kernels
from xmceval.rows.block import Int64, Rows


def parse_pairs(
    text: NDArray[np.uint8], start: int, stop: int, rows: Rows, hard: Int64, status: Int64, space: tuple[Any, ...]
) -> None:
    """Parse a region of text, with arrays as the kernels take them.

    The kernel for any line is not even compiled where no line needs it. Where many do, it parses more and more of them
    at a time.
    """
    status[:] = 0
    at = kernels.parse_pairs(text, start, stop, *rows, status, space)
    if at == stop:
        return
    from xmceval.kernels.text.anyline import parse_lines

    n_lines = 1
    while at < stop:
        after = parse_lines(text, at, stop, n_lines, *rows, hard, status)
        if status[1]:
            return
        reached = kernels.parse_pairs(text, after, stop, *rows, status, space)
        n_lines = 4 * n_lines if reached - after < after - at else 1
        at = reached
