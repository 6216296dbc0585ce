"""Pipes: bytes that come once, so the first of them, or all, are kept for readers."""

from __future__ import annotations

import io
import select
from pathlib import Path
from typing import Any, BinaryIO, cast

from xmceval.errors import DataError
from xmceval.files.io.copies import Copy, write_all
from xmceval.rows.progress import phase

COPY_BYTES = 1 << 20


class Pipe(io.RawIOBase):
    """Bytes that come once; those that were peeked at are kept for the reader.

    Parameters
    ----------
    name : str
        Its name in messages.
    origin : path or stream
        A named pipe, or the standard input of this process.
    """

    is_remote = False
    size: int | None = None  # nobody knows before its end

    def __init__(self, name: str, origin: Any) -> None:
        self.name, self.origin = name, origin
        self.is_claimed = self.is_kept = False
        self._raw: Any = None
        self._head, self._at_end, self._is_started = bytearray(), False, False
        self._copy: Copy | None = None

    @property
    def is_stdin(self) -> bool:
        """Whether it is standard input."""
        return not isinstance(self.origin, Path)

    @property
    def is_copied(self) -> bool:
        """Whether it is copied to a temporary file, and can be read any number of times."""
        return self._copy is not None

    @property
    def is_started(self) -> bool:
        """Whether a reader has taken bytes from it, which no other reader gets."""
        return self._is_started and not self.is_copied

    @property
    def is_finished(self) -> bool:
        """Whether all of it has been read."""
        return self._at_end and (self.is_copied or not self._head)

    def peek(self, size: int) -> bytes:
        """Return the first bytes and keep them."""
        if self._copy is not None:
            return self.open().read(size)
        while len(self._head) < size and not self._at_end:
            piece = bytearray(size - len(self._head))
            self._head += piece[: self._read_raw(piece)]
        if not self._head and not self._is_started:
            raise DataError(f"{self.name}: {'standard input' if self.is_stdin else 'the pipe'} is empty")
        return bytes(self._head[:size])

    def copy(self) -> None:
        """Copy all of it to a temporary file."""
        if self._copy is not None:
            return
        self.open()
        try:
            copy = Copy()
            with phase(self.name, unit="bytes") as add:
                while text := self.read(COPY_BYTES):
                    write_all(copy.file, text)
                    add(len(text))
        except OSError as error:
            raise DataError(
                f"{self.name}: cannot be copied to a temporary file: {error.strerror or error} (hint: set TMPDIR)"
            ) from None
        self._copy = copy
        self.close()

    def open(self) -> BinaryIO:
        """Start reading: any number of times from a copy, else once."""
        if self._copy is not None:
            return cast(BinaryIO, io.BufferedReader(_CopyReader(self._copy), COPY_BYTES))
        if self._is_started:
            raise DataError(f"{self.name}: a pipe can be read only once (hint: save it to a file first)")
        self._is_started = True
        return cast(BinaryIO, self)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, view: Any) -> int:
        """Read the bytes that were kept, then those that follow."""
        if not self._head:
            return self._read_raw(view)
        size = min(len(view), len(self._head))
        view[:size] = self._head[:size]
        del self._head[:size]
        return size

    def close(self) -> None:
        """Close a named pipe; standard input stays open."""
        if self._raw is not None and not self.is_stdin:
            self._raw.close()
        super().close()

    def _read_raw(self, view: Any) -> int:
        """Read into a buffer; return 0 at the end."""
        if self._raw is None:
            self._raw = getattr(self.origin, "buffer", self.origin) if self.is_stdin else self.origin.open("rb", 0)
        n_read = self._raw.readinto(view)
        while n_read is None:  # it is in non-blocking mode
            select.select([self._raw], [], [])
            n_read = self._raw.readinto(view)
        self._at_end |= not n_read and len(view) > 0
        return int(n_read)


class _CopyReader(io.RawIOBase):
    """The copy of a pipe, from its beginning."""

    def __init__(self, copy: Copy) -> None:
        self._copy, self._offset = copy, 0

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        n_read = self._copy.read_at(self._offset, view)
        self._offset += n_read
        return n_read
