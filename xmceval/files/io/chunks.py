"""Split a text file into chunks of whole lines, in buffers that are reused."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.files.io.paths import MAX_LINE
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import open_bytes, quote, read_into

CHUNK_BYTES = 3 << 20  # smaller means more Python steps, larger more memory
PADDING = 64  # bytes that kernels may read beyond the end of a chunk
MIB = 1 << 20
NEWLINE = 0x0A


@dataclass
class Chunk:
    """Whole lines from byte `offset` of a file: ``text[start:stop]``; the buffer is reused after deletion."""

    buffer: bytearray
    start: int
    stop: int
    pool: list[bytearray]
    offset: int = 0
    text: NDArray[np.uint8] = field(init=False)

    def __post_init__(self) -> None:
        self.text = np.frombuffer(self.buffer, dtype=np.uint8)

    def __del__(self) -> None:
        self.pool.append(self.buffer)


@dataclass
class LineChunks:
    """A file as chunks of whole lines of about CHUNK_BYTES; a longer line makes a longer chunk."""

    path: Path
    max_line: int | None = None  # limit for a line in MiB, if the user can choose it; default MAX_LINE
    lacks_newline: bool = False  # set at the end of a file that ends within a line
    offset: int = 0  # where the first line begins; above 0 only for files that are not compressed

    def __iter__(self) -> Iterator[Chunk]:
        pool: list[bytearray] = []
        max_bytes = (self.max_line or MAX_LINE) * MIB

        rest = b""  # the start of an incomplete line, and the bytes before it
        n_before = self.offset
        with open_bytes(self.path) as stream:
            if self.offset:
                stream.seek(self.offset)
            while True:
                buffer = pool.pop() if pool else bytearray(CHUNK_BYTES + PADDING)
                is_usual = len(rest) < CHUNK_BYTES
                if not is_usual:
                    buffer = bytearray(len(rest) + PADDING)
                buffer[: len(rest)] = rest
                filled = len(rest)
                at_end = False
                end = 0
                while end == 0 and not at_end:
                    if filled >= len(buffer) - PADDING:
                        if filled > max_bytes:
                            hint = " (hint: pass max_line= in Python)"
                            if self.max_line is None:
                                hint = ""
                            place = f"{self.path}:{count_lines(self.path, n_before) + 1}"
                            raise DataError(f"{place}: this line is longer than {max_bytes // MIB:,} MiB{hint}")
                        is_usual = False
                        # one byte more than the longest allowed line is enough
                        buffer = buffer + bytes(max(min(filled, max_bytes + 1 - filled), 1))
                    view = memoryview(buffer)[filled : len(buffer) - PADDING]
                    n_read = read_into(stream, view, self.path)
                    at_end = n_read < len(view)
                    view.release()
                    end = buffer.rfind(b"\n", filled, filled + n_read) + 1
                    filled += n_read
                if at_end and filled > end:
                    self.lacks_newline = bool(buffer[end:filled].strip())
                    buffer[filled] = NEWLINE
                    end = filled + 1
                rest = bytes(buffer[end:filled])
                if end:
                    yield Chunk(buffer, 0, end, pool if is_usual else [], n_before)
                n_before += end
                if at_end:
                    return


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file of any size, without their newlines."""
    for chunk in LineChunks(path):
        yield from bytes(chunk.buffer[chunk.start : chunk.stop]).split(b"\n")[:-1]


def count_lines(path: Path, n_bytes: int = sys.maxsize) -> int:
    """Count the lines of a file, or of its first bytes, however long they are; the last may lack its newline."""
    count = 0
    n_left = n_bytes
    last = NEWLINE
    buffer = bytearray(CHUNK_BYTES)
    with open_bytes(path) as stream:
        while stop := min(read_into(stream, memoryview(buffer), path), n_left):
            count += buffer.count(b"\n", 0, stop)
            last = buffer[stop - 1]
            n_left -= stop
    return count + (last != NEWLINE)


NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COMMENT = re.compile(rb"(?:\A|(?<=[ \t\r]))#.*", re.DOTALL)
PERCENT = rb"[-+]?\d+(?:[.,]\d+)?%"
COMMA = rb"[-+]?\d+,\d+(?:[eE][-+]?\d+)?"


def without_comment(line: bytes) -> bytes:
    """Strip the comment from a line: ``#`` begins one only where a word may begin."""
    if b"#" in line:
        return _COMMENT.sub(b"", line, count=1)
    return line


def explain_decimal(word: bytes) -> str:
    """Return the end of a message about a word that is not a number: how to convert it, or nothing."""
    if re.fullmatch(PERCENT, word):
        return "; percent signs are not read (hint: write the numbers without them)"
    if re.fullmatch(COMMA, word):
        return "; decimal commas are not read (hint: write the numbers with points)"
    return ""


def expected_score(word: bytes) -> str:
    """Return the message about a word that is not a score."""
    return f"expected a number as the score, found {quote(word)}{explain_decimal(word)}"


@dataclass(frozen=True)
class Places:
    """Places, for messages, of the lines below the header that are neither blank nor comments."""

    path: Path
    n_header_lines: int = 0
    has_comments: bool = False

    def __call__(self, entry: int) -> str:
        """Return the place of a line, given the number of lines before it."""
        number, _ = next(islice(self.filled_lines(), entry, None), (entry + 1, b""))
        return f"{self.path}:{number}"

    def filled_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the text of each line."""
        for number, line in enumerate(read_lines(self.path), 1):
            text = line
            if number == 1:
                text = line.removeprefix(UTF8_BOM)
            is_blank = not text.strip(None if self.has_comments else b"\r")
            is_comment = self.has_comments and text.startswith(b"#")
            if number > self.n_header_lines and not is_blank and not is_comment:
                yield number, text
