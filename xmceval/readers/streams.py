"""Streams: files as bytes, whatever they are compressed with, and their chunks of whole lines."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError

CHUNK_BYTES = 1 << 20
PADDING = 64  # kernels may read so far beyond the end of a chunk

GZIP_MAGIC = b"\x1f\x8b"


def check_file(path: Path) -> None:
    """Refuse what is no file.

    Raises
    ------
    DataError
        A missing file, a directory, or an empty file.
    """
    if path.is_dir():
        raise DataError(f"{path}: is a directory; expected a file")
    if not path.exists():
        raise DataError(f"{path}: no such file")
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty")


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading; gzip is told by its first bytes."""
    check_file(path)
    try:
        plain = path.open("rb", buffering=0)
        magic = plain.read(2)
        plain.seek(0)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    return cast(BinaryIO, gzip.GzipFile(fileobj=plain) if magic == GZIP_MAGIC else plain)


def first_bytes(path: Path, size: int = CHUNK_BYTES) -> bytes:
    """Return the first bytes of a file, decompressed."""
    with open_bytes(path) as stream:
        buffer = bytearray(size)
        return bytes(buffer[: _fill(stream, memoryview(buffer), path)])


@dataclass
class Chunk:
    """Bytes of whole lines: ``text[start:stop]`` ends with a newline. Its buffer goes back to the pool with it."""

    buffer: bytearray
    start: int
    stop: int
    pool: list[bytearray]
    text: NDArray[np.uint8] = field(init=False)

    def __post_init__(self) -> None:
        self.text = np.frombuffer(self.buffer, dtype=np.uint8)

    def __del__(self) -> None:
        self.pool.append(self.buffer)


@dataclass
class LineChunks:
    """A file as chunks of whole lines of about CHUNK_BYTES; a longer line makes a longer chunk."""

    path: Path
    chunk_bytes: int = CHUNK_BYTES
    lacks_newline: bool = False  # set at the end of a file that ends within a line

    def __iter__(self) -> Iterator[Chunk]:
        pool: list[bytearray] = []
        carry = b""
        with open_bytes(self.path) as stream:
            while True:
                buffer = pool.pop() if pool else bytearray(self.chunk_bytes + PADDING)
                buffer[: len(carry)] = carry
                filled, at_end = len(carry), False
                end = 0
                while end == 0 and not at_end:
                    if filled == len(buffer) - PADDING:
                        buffer = buffer + bytearray(len(buffer))
                    view = memoryview(buffer)[filled : len(buffer) - PADDING]
                    got = _fill(stream, view, self.path)
                    at_end = got < len(view)
                    view.release()
                    end = buffer.rfind(b"\n", filled, filled + got) + 1
                    filled += got
                if at_end and filled > end:
                    self.lacks_newline = True
                    buffer[filled] = 0x0A
                    end = filled + 1
                carry = bytes(buffer[end:filled])
                if end:
                    yield Chunk(buffer, 0, end, pool)
                if at_end:
                    return


def _fill(stream: BinaryIO, view: memoryview, path: Path) -> int:
    """Read until the view is full or the stream ends."""
    filled = 0
    try:
        while filled < len(view):
            got = stream.readinto(view[filled:])  # type: ignore[attr-defined]
            if not got:
                break
            filled += got
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: the compressed file is damaged or cut short ({error})") from None
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    return filled
