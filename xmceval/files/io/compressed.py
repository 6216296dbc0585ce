"""Read bzip2, xz and zstandard files with any number of members, without silently dropping a damaged one."""

from __future__ import annotations

import bz2
import io
import lzma
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

from xmceval.errors import missing_package

READ_BYTES = 1 << 15  # compressed bytes at a time
OUTPUT_BYTES = 1 << 17  # decompressed bytes at a time, if the decompressor has a limit
ZSTD_READ_BYTES = 1 << 11  # zstandard has no limit: four bytes may expand to 128 KiB
LARGEST_WINDOW = 1 << 27  # bytes that zstandard may allocate
LARGEST_DICTIONARY = 1 << 28  # bytes that xz may allocate


class DamagedError(Exception):
    """The decompressor found damaged bytes."""


class FrameStream(io.RawIOBase):
    """A compressed file, member by member; padding with zero bytes between members is skipped.

    The readers of the standard library silently stop at the first bytes that are not a member, and zstandard's
    reader does not detect a truncated file.
    """

    def __init__(
        self,
        file: BinaryIO,  # closed with this stream
        new_decoder: Callable[[], Any],  # returns a decompressor for one member
        errors: tuple[type[Exception], ...],  # exceptions that it raises for damaged bytes
        read_bytes: int = READ_BYTES,  # compressed bytes at a time
    ) -> None:
        self._file = file
        self._new_decoder = new_decoder
        self._errors = errors
        self._read_bytes = read_bytes
        self._decoder = new_decoder()
        self._is_inside = self._at_end = False
        self._surplus = b""
        self._ready = memoryview(b"")

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
        """Decompress more bytes."""
        compressed = self._surplus
        self._surplus = b""
        if not compressed and getattr(self._decoder, "needs_input", True):
            compressed = self._file.read(self._read_bytes)
            if not compressed:
                if self._is_inside:
                    raise EOFError("it ends within a member")
                self._at_end = True
                return
        if not self._is_inside:
            compressed = compressed.lstrip(b"\0")
            if not compressed:
                return
        try:
            limit = []
            if hasattr(self._decoder, "needs_input"):
                limit = [OUTPUT_BYTES]
            self._ready = memoryview(self._decoder.decompress(compressed, *limit))
        except self._errors as error:
            if "limit exceeded" in str(error):  # of memory: the file itself may be sound
                raise OSError(f"decompressing it needs more memory than is allowed ({error})") from None
            raise DamagedError(str(error)) from None
        self._is_inside = not self._decoder.eof
        if self._decoder.eof:
            self._surplus = self._decoder.unused_data
            self._decoder = self._new_decoder()

    def close(self) -> None:
        """Close the stream and its file."""
        self._file.close()
        super().close()


open_bzip2 = partial(FrameStream, new_decoder=bz2.BZ2Decompressor, errors=(OSError, ValueError))


def open_xz(file: BinaryIO) -> FrameStream:
    """Open an xz file."""
    new_decoder = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, memlimit=LARGEST_DICTIONARY)
    return FrameStream(file, new_decoder, (lzma.LZMAError,))


def open_zstd(file: BinaryIO) -> FrameStream:
    """Open a zstandard file."""
    try:
        import zstandard
    except ImportError:
        raise missing_package("is compressed with zstandard; reading it", "zstandard") from None
    new_decoder = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW).decompressobj
    return FrameStream(file, new_decoder, (zstandard.ZstdError,), ZSTD_READ_BYTES)
