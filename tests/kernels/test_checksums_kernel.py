"""The kernel of checksums, against zlib."""

import zlib

import numpy as np
import pytest

from xmceval.files.arrays import storedmembers
from xmceval.kernels.rows.checksums import STEP, fold


@pytest.mark.parametrize("size", [STEP, 2 * STEP, 3 * STEP, 10 * STEP, 1000 * STEP])
@pytest.mark.parametrize("high", [1, 2, 256])
def test_bytes_fold_to_some_of_the_same_checksum(size, high, rng):
    data, rest = rng.integers(0, high, size, dtype=np.uint8), np.empty(16, dtype=np.uint8)
    if not fold(data, size, rest):
        pytest.skip("the processor has no carry-less multiplication, or kernels are not compiled")
    assert zlib.crc32(rest, 0xFFFFFFFF) == zlib.crc32(data)


@pytest.mark.parametrize(
    "size", [0, 1, storedmembers.FEW - 1, *range(storedmembers.FEW, storedmembers.FEW + 2 * STEP, 7), 10**6 + 1]
)
@pytest.mark.parametrize("offset", [0, 1])
def test_checksums_are_those_of_zlib(size, offset, rng):
    data = rng.integers(0, 256, size + offset, dtype=np.uint8)[offset:]
    assert storedmembers.crc32(data) == zlib.crc32(data)
