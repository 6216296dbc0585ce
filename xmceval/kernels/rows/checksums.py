"""Checksum kernels: a CRC-32 by carry-less multiplication, some times as fast as zlib's."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import PLAIN, instruction, kernel

STEP = 64  # bytes that are folded at once

FAST = not PLAIN

FOLDS = instruction("FOLDS")


@instruction
def fold_crc(data, stop, rest):
    """Write 16 bytes that have the same CRC-32, from 0 on, as the bytes up to `stop`."""


@kernel
def fold(data, stop, rest):
    """Write 16 bytes that have the same CRC-32, from 0 on, as the bytes up to `stop`, a multiple of STEP but not 0.

    Returns 1 if the processor can, else 0.
    """
    if FAST and FOLDS:
        fold_crc(data, stop, rest)
        return np.int64(1)
    return np.int64(0)
