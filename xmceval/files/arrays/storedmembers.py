"""Members of archives that are stored as they are: threads read items of them from the file, in any order.

Their checksum is put together from those of the runs of bytes that were read, and checked at the end.
"""

from __future__ import annotations

import os
import weakref
import zlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.files.arrays.npy import PIECE_BYTES, Header, damage_error

AnyArray = NDArray[Any]

CAN_READ = hasattr(os, "preadv")  # whether the system reads at a place of a file, as threads have to

POLYNOMIAL = 0xEDB88320  # of CRC-32, the coefficient of x^31 in the lowest bit
X_TO_8 = 1 << 23


class ByteRun(NamedTuple):
    """Bytes `start` to `stop` of a member, and their CRC-32."""

    start: int
    stop: int
    crc: int


class StoredFile:
    """A file that is open as long as anything refers to it."""

    def __init__(self, path: Path) -> None:
        stream = path.open("rb", buffering=0)
        weakref.finalize(self, stream.close)
        self._number, self.size = stream.fileno(), os.fstat(stream.fileno()).st_size

    def read(self, offset: int, buffer: AnyArray) -> int:
        """Fill a buffer of bytes, uint8 [n], from a place on; return how many there were."""
        filled = 0
        while filled < buffer.size:
            n_read = os.preadv(self._number, [buffer[filled:].data], offset + filled)
            if not n_read:
                break
            filled += n_read
        return filled


@dataclass(frozen=True)
class StoredArray:
    """An array of one dimension in a file, whose items are read when it is sliced."""

    file: StoredFile
    name: str  # the name of the array in messages
    member: str  # that of the member
    header: Header
    offset: int  # the first byte of the member in the file
    n_head: int  # the bytes before the first item, and all of the member
    n_bytes: int
    crc: int  # the checksum that all bytes should have
    runs: list[ByteRun] = field(default_factory=list)  # the bytes that were read, in any order

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the items."""
        return self.header.dtype

    def __getitem__(self, items: slice) -> AnyArray:
        """Read some items, as an array [n_items] of the type in the header."""
        size = self.dtype.itemsize
        return self._read(self.n_head + items.start * size, self.n_head + items.stop * size).view(self.dtype)

    def _read(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Read bytes of the member, uint8 [stop - start], and keep their checksum."""
        buffer = np.empty(stop - start, dtype=np.uint8)
        try:
            n_read = self.file.read(self.offset + start, buffer)
        except OSError as error:
            raise damage_error(self.name, error) from None
        if n_read < buffer.size:
            shape = self.header.shape
            raise DataError(f"{self.name}: the file is truncated; its header declares shape {shape}")
        self.runs.append(ByteRun(start, stop, zlib.crc32(buffer.data)))
        return buffer

    def check_end(self) -> None:
        """Check that nothing follows the items, and the checksum; bytes that no thread has read yet are read for it."""
        if self.n_bytes > self.n_head + self.header.shape[0] * self.dtype.itemsize:
            raise DataError(f"{self.name}: has more data than shape {self.header.shape}, which its header declares")
        runs, end = list[ByteRun](), 0
        for run in [*sorted(self.runs), ByteRun(self.n_bytes, self.n_bytes, 0)]:
            for start in range(end, run.start, PIECE_BYTES):
                self._read(start, min(start + PIECE_BYTES, run.start))
                runs.append(self.runs[-1])
            if run.start >= end:
                runs.append(run)
                end = run.stop
        if combined_crc(runs) != self.crc:
            raise damage_error(self.name, BadZipFile(f"Bad CRC-32 for file '{self.member}'"))


def combined_crc(runs: list[ByteRun]) -> int:
    """Return the CRC-32 of the bytes of runs that follow each other.

    A checksum is the remainder of a polynomial: that of a run counts times x to the number of bits that follow it.
    """
    crcs = np.array([run.crc for run in runs], dtype=np.uint32)
    n_after = runs[-1].stop - np.array([run.stop for run in runs], dtype=np.int64)
    for bit in range(int(n_after.max()).bit_length()):
        crcs = np.where(n_after >> bit & 1, _times(_multiples(bit), crcs), crcs)
    return int(np.bitwise_xor.reduce(crcs))


@cache
def _multiples(bit: int) -> NDArray[np.uint32]:
    """Return x^(8 * 2^bit) times x^31, ..., x, 1, modulo the polynomial of CRC-32, uint32 [32]."""
    power = X_TO_8 if bit == 0 else int(_times(_multiples(bit - 1), _multiples(bit - 1)[-1:])[0])
    multiples = [power]
    for _ in range(31):
        multiples.append(multiples[-1] >> 1 ^ (multiples[-1] & 1) * POLYNOMIAL)
    return np.array(multiples[::-1], dtype=np.uint32)


def _times(multiples: NDArray[np.uint32], crcs: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Multiply polynomials, uint32 [n], by the one that has these multiples."""
    bits = crcs[:, None] >> np.arange(32, dtype=np.uint32) & np.uint32(1)
    product: NDArray[np.uint32] = np.bitwise_xor.reduce(bits * multiples, axis=1)
    return product
