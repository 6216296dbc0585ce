"""zstandard files as streams of decompressed bytes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, BinaryIO

from xmceval.errors import DataError

READ_BYTES = 1 << 11  # compressed bytes at a time: four of them may expand to 128 KiB

LARGEST_WINDOW = 1 << 27


class ZstdStream(io.RawIOBase):
    """A zstandard file, frame by frame; unlike zstandard's own reader it detects a truncated file."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            import zstandard
        except ImportError:
            raise DataError(
                "is compressed with zstandard; reading it needs the package zstandard "
                "(hint: pip install 'xmceval[zstd]')"
            ) from None
        self._file, self._error = file, zstandard.ZstdError
        self._new_frame: Callable[[], Any] = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW).decompressobj
        self._frame = self._new_frame()
        self._surplus, self._at_end, self._ready = b"", False, memoryview(b"")
        self._is_inside = False

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, view: Any) -> int:
        """Decompress into a buffer."""
        while not self._ready and not self._at_end:
            self._refill()
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _refill(self) -> None:
        """Decompress some more bytes."""
        compressed = self._surplus or self._file.read(READ_BYTES)
        self._surplus = b""
        if not compressed:
            if self._is_inside:
                raise EOFError("it ends within a frame")
            self._at_end = True
            return
        try:
            self._ready = memoryview(self._frame.decompress(compressed))
        except self._error as error:
            raise EOFError(str(error)) from None
        self._is_inside = not self._frame.eof
        if self._frame.eof:
            self._surplus, self._frame = self._frame.unused_data, self._new_frame()

    def close(self) -> None:
        """Close the file as well."""
        self._file.close()
        super().close()
