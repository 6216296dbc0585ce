"""Chunks: the bytes of a text file in runs of whole lines, in buffers that are used again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmceval.files.streams import open_bytes, read_into

CHUNK_BYTES = 1 << 20

PADDING = 64  # bytes beyond the end of a chunk that kernels may read


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
    chunk_bytes: int = field(default_factory=lambda: CHUNK_BYTES)
    lacks_newline: bool = False  # set at the end of a file that ends within a line

    def __iter__(self) -> Iterator[Chunk]:
        pool: list[bytearray] = []
        rest = b""  # the beginning of a line whose end is not yet read
        with open_bytes(self.path) as stream:
            while True:
                buffer = pool.pop() if pool else bytearray(self.chunk_bytes + PADDING)
                if len(rest) >= len(buffer) - PADDING:
                    buffer = bytearray(2 * len(rest) + PADDING)
                buffer[: len(rest)] = rest
                filled, at_end = len(rest), False
                end = 0
                while end == 0 and not at_end:
                    if filled >= len(buffer) - PADDING:
                        buffer = buffer + bytearray(len(buffer))
                    view = memoryview(buffer)[filled : len(buffer) - PADDING]
                    n_read = read_into(stream, view, self.path)
                    at_end = n_read < len(view)
                    view.release()
                    end = buffer.rfind(b"\n", filled, filled + n_read) + 1
                    filled += n_read
                if at_end and filled > end:
                    self.lacks_newline = bool(buffer[end:filled].strip())
                    buffer[filled] = 0x0A
                    end = filled + 1
                rest = bytes(buffer[end:filled])
                if end:
                    yield Chunk(buffer, 0, end, pool)
                if at_end:
                    return
