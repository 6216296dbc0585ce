"""Streams: files and standard input as bytes, whatever they are compressed with, and their chunks of whole lines."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, cast

from xmceval.errors import DataError, UsageError

UTF8_BOM = b"\xef\xbb\xbf"

STDIN = Path("-")

ZSTD_SLICE = 1 << 11  # so many bytes at a time: four of them may stand for 128 KiB

ZSTD_WINDOW = 1 << 27


class _Zstd(io.RawIOBase):
    """A zstandard file, frame after frame; unlike zstandard's own reader it tells a file that is cut short."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            import zstandard
        except ImportError:
            raise DataError(
                "this is a zstandard file, which the package zstandard reads (hint: pip install 'xmceval[zstd]')"
            ) from None
        self._file, self._error = file, zstandard.ZstdError
        self._make: Callable[[], Any] = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj
        self._frame = self._make()
        self._fed, self._at_end, self._ready = b"", False, memoryview(b"")
        self._inside = False

    def readable(self) -> bool:
        """It is for reading."""
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
        piece = self._fed or self._file.read(ZSTD_SLICE)
        self._fed = b""
        if not piece:
            if self._inside:
                raise EOFError("it ends within a frame")
            self._at_end = True
            return
        try:
            self._ready = memoryview(self._frame.decompress(piece))
        except self._error as error:
            raise EOFError(str(error)) from None
        self._inside = not self._frame.eof
        if self._frame.eof:
            self._fed, self._frame = self._frame.unused_data, self._make()

    def close(self) -> None:
        """Close the file as well."""
        self._file.close()
        super().close()


# By the first bytes of a compressed file: what reads a path, or a stream. It closes only what it opened itself.
COMPRESSIONS: Mapping[bytes, Callable[[Any], Any]] = MappingProxyType(
    {
        b"\x1f\x8b": gzip.open,
        b"BZh": bz2.BZ2File,
        b"\xfd7zXZ\0": lzma.LZMAFile,
        b"\x28\xb5\x2f\xfd": lambda file: _Zstd(file.open("rb") if isinstance(file, Path) else file),
    }
)

_LONGEST = max(map(len, COMPRESSIONS))


class _Stdin(io.RawIOBase):
    """Standard input: it comes once, so what was looked at is kept for whoever reads it, or all of it is held."""

    def __init__(self) -> None:
        self.origin = sys.stdin
        self._raw = cast(BinaryIO, getattr(sys.stdin, "buffer", sys.stdin))
        self._head, self._ended = bytearray(), False
        self._claimed = self._started = False
        self._held: bytes | None = None

    def claim(self) -> None:
        """Take it for one input; the second one is a mistake."""
        if self._claimed:
            raise UsageError("standard input, -, can be one of the files only")
        self._claimed = True

    def peek(self, size: int) -> bytes:
        """Return the first bytes and keep them."""
        while len(self._head) < size and not self._ended and self._held is None:
            piece = self._raw.read(size - len(self._head))
            self._ended = not piece
            self._head += piece
        return bytes((self._held or self._head)[:size])

    def hold(self) -> None:
        """Read all of it."""
        if self._held is None:
            self._held = bytes(self._head) + self._raw.read()

    def open(self) -> BinaryIO:
        """Start reading: any number of times if it is held, else once."""
        if self._held is not None:
            return io.BytesIO(self._held)
        if self._started:
            raise DataError("-: standard input can be read only once; write it to a file first")
        self._started = True
        return cast(BinaryIO, self)

    def readable(self) -> bool:
        """It is for reading."""
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


_stdin: _Stdin | None = None


def stdin() -> _Stdin:
    """Return the standard input of this process."""
    global _stdin  # noqa: PLW0603 - there is one
    if _stdin is None or _stdin.origin is not sys.stdin:
        _stdin = _Stdin()
    return _stdin


def is_plain(path: Path) -> bool:
    """Tell whether a path is a file that is not compressed, which can be mapped and read from anywhere."""
    if path == STDIN:
        return False
    with _open_plain(path) as plain:
        magic = plain.read(_LONGEST)
    return not magic.startswith(tuple(COMPRESSIONS))


def _open_plain(path: Path) -> BinaryIO:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise DataError(f"{path}: is a directory; expected a file")
        if not stat.S_ISREG(status.st_mode):
            raise DataError(f"{path}: is a pipe or a device; expected a file, which is read more than once")
        if status.st_size == 0:
            raise DataError(f"{path}: the file is empty")
        return cast(BinaryIO, path.open("rb", buffering=0))
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def open_bytes(path: Path) -> BinaryIO:
    """Open a file, or standard input, for reading; compression is told by the first bytes.

    Raises
    ------
    DataError
        A missing or unreadable file, a directory, a pipe, or an empty file.
    """
    if path == STDIN:
        return _decompressed(stdin().open(), stdin().peek(_LONGEST), path)
    plain = _open_plain(path)
    magic = plain.read(_LONGEST)
    plain.seek(0)
    if not magic.startswith(tuple(COMPRESSIONS)):
        return plain
    plain.close()
    return _decompressed(path, magic, path)


def _decompressed(file: Any, magic: bytes, path: Path) -> BinaryIO:
    for known, inflate in COMPRESSIONS.items():
        if magic.startswith(known):
            try:
                return cast(BinaryIO, inflate(file))
            except DataError as error:
                raise DataError(f"{path}: {error}") from None
    return cast(BinaryIO, file)


def first_bytes(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, decompressed."""
    buffer = bytearray(size)
    if path == STDIN:
        raw = stdin().peek(size)
        if not raw:
            raise DataError(f"{path}: standard input is empty")
        stream = _decompressed(io.BytesIO(raw), raw, path)
        filled = 0
        with _telling_damage(path):
            try:
                while got := stream.readinto(memoryview(buffer)[filled:]):  # type: ignore[attr-defined]
                    filled += got
            except EOFError:  # these are the first bytes only
                pass
        return bytes(buffer[:filled])
    with open_bytes(path) as stream:
        return bytes(buffer[: _fill(stream, memoryview(buffer), path)])


def all_bytes(path: Path) -> bytes:
    """Return a whole file, decompressed: for what is small, or held in memory anyway."""
    with open_bytes(path) as stream, _telling_damage(path):
        return stream.read()


def shown(text: bytes) -> str:
    """Quote the beginning of some bytes of a file for a message."""
    plain = text.strip()
    quoted = ascii(plain[:40].decode("latin-1"))
    return quoted if len(plain) <= 40 else f"{quoted}..."


def _fill(stream: BinaryIO, view: memoryview, path: Path) -> int:
    """Read until the view is full or the stream ends."""
    filled = 0
    with _telling_damage(path):
        while filled < len(view):
            got = stream.readinto(view[filled:])  # type: ignore[attr-defined]
            if not got:
                break
            filled += got
    return filled


@contextmanager
def _telling_damage(path: Path) -> Iterator[None]:
    """Turn what reading raises into an error with its place."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise DataError(f"{path}: the compressed file is damaged or cut short ({error})") from None
    except OSError as error:
        if error.errno is None:  # bz2 has no error of its own
            raise DataError(f"{path}: the compressed file is damaged or cut short ({error})") from None
        raise DataError(f"{path}: {error.strerror or error}") from None
