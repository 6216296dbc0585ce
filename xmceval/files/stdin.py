"""Standard input as a file that can be recognised, and then read once, or many times if it is held in memory."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any, BinaryIO, cast

from xmceval.errors import DataError, UsageError

STDIN = Path("-")


class StandardInput(io.RawIOBase):
    """Standard input, which comes once: the bytes that were peeked at are kept for its reader."""

    def __init__(self) -> None:
        self.origin = sys.stdin
        self._raw = cast(BinaryIO, getattr(sys.stdin, "buffer", sys.stdin))
        self._head, self._at_end = bytearray(), False
        self._is_claimed = self._is_started = False
        self._content: bytes | None = None

    def claim(self) -> None:
        """Reserve it for one input.

        Raises
        ------
        UsageError
            It is another input already.
        """
        if self._is_claimed:
            raise UsageError("standard input, -, can be only one of the files")
        self._is_claimed = True

    def peek(self, size: int) -> bytes:
        """Return the first bytes and keep them."""
        while len(self._head) < size and not self._at_end and self._content is None:
            piece = self._raw.read(size - len(self._head))
            self._at_end = not piece
            self._head += piece
        return bytes((self._content or self._head)[:size])

    def hold(self) -> None:
        """Read all of it into memory."""
        if self._content is None:
            self._content = bytes(self._head) + self._raw.read()

    def open(self) -> BinaryIO:
        """Start reading: any number of times if it is held in memory, else once."""
        if self._content is not None:
            return io.BytesIO(self._content)
        if self._is_started:
            raise DataError("-: standard input can be read only once (hint: save it to a file first)")
        self._is_started = True
        return cast(BinaryIO, self)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, view: Any) -> int:
        """Read the bytes that were kept, then those that follow."""
        if self._head:
            size = min(len(view), len(self._head))
            view[:size] = self._head[:size]
            del self._head[:size]
            return size
        piece = self._raw.read(len(view))
        view[: len(piece)] = piece
        return len(piece)


_current: StandardInput | None = None


def stdin() -> StandardInput:
    """Return the standard input of this process."""
    global _current  # noqa: PLW0603 - a process has one
    if _current is None or _current.origin is not sys.stdin:
        _current = StandardInput()
    return _current
