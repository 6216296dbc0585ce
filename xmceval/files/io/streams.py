"""Open files as streams of bytes, decompressed according to their first bytes."""

from __future__ import annotations

import gzip
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, cast

from xmceval.errors import DataError
from xmceval.files.io.compressed import DamagedError, open_bzip2, open_xz, open_zstd
from xmceval.files.io.inputfiles import open_stored, size_of
from xmceval.files.io.signatures import BZIP2, EMPTY_ZIP, GZIP, UTF8_BOM, XZ, ZIP, ZSTD, ZSTD_SKIPPABLE

# Decompressors by the first bytes of a file.
DECOMPRESSORS: Mapping[bytes, Callable[[Any], Any]] = MappingProxyType(
    {GZIP: gzip.open, BZIP2: open_bzip2, XZ: open_xz, **dict.fromkeys((ZSTD, *ZSTD_SKIPPABLE), open_zstd)}
)

BYTES_LOOKED_AT = 1 << 10

_LONGEST_SIGNATURE = max(map(len, DECOMPRESSORS))


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, decompressed according to its first bytes."""
    stream = open_stored(path)
    head = stream.read(_LONGEST_SIGNATURE)
    stream.seek(0)
    for signature, decompress in DECOMPRESSORS.items():
        if head.startswith(signature):
            try:
                decompressed = decompress(stream)
            except DataError as error:
                stream.close()
                raise DataError(f"{path}: {error}") from None
            weakref.finalize(decompressed, stream.close)  # gzip does not close the file passed to it
            return cast(BinaryIO, decompressed)
    return stream


def is_empty(path: Path) -> bool:
    """Return whether a path is an empty file."""
    return path.is_file() and size_of(path) == 0


def is_uncompressed(path: Path) -> bool:
    """Return whether a path is a file that is not compressed."""
    with open_stored(path) as stream:
        head = stream.read(_LONGEST_SIGNATURE)
    return not head.startswith(tuple(DECOMPRESSORS))


def read_first_bytes(path: Path, size: int) -> bytes:
    """Read the first bytes of a file, decompressed."""
    buffer = bytearray(size)
    with open_bytes(path) as stream:
        return bytes(buffer[: read_into(stream, memoryview(buffer), path)])


def read_all_bytes(path: Path) -> bytes:
    """Read a whole file, decompressed: for small files, or files that are held in memory anyway."""
    with open_bytes(path) as stream, _locate_damage(path):
        return stream.read()


def read_short_lines(path: Path) -> list[bytes]:
    """Return the stripped lines of a small file, up to the last non-blank one."""
    text = read_all_bytes(path).removeprefix(UTF8_BOM).rstrip()
    return [line.strip() for line in text.split(b"\n")] if text else []


def check_is_text(path: Path) -> None:
    """Refuse a file that is not text: an archive, or a file with a zero byte near its start."""
    head = read_first_bytes(path, BYTES_LOOKED_AT)
    if head.startswith((ZIP, EMPTY_ZIP)):
        raise DataError(
            f"{path}: is a zip or npz archive; expected lines of text (hint: numpy.savetxt writes an array)"
        )
    if b"\0" in head:
        raise DataError(f"{path}: has bytes that are no text; expected lines of text")


def read_into(stream: BinaryIO, view: memoryview, path: Path) -> int:
    """Read until the view is full or the stream ends; return the number of bytes."""
    filled = 0
    with _locate_damage(path):
        while filled < len(view):
            n_read = stream.readinto(view[filled:])  # type: ignore[attr-defined]
            if not n_read:
                break
            filled += n_read
    return filled


def read_resource(package: str, name: str) -> str:
    """Return the text of a data file of this package, such as a style sheet."""
    from importlib.resources import files

    return files(package).joinpath(name).read_text(encoding="utf-8")


def quote(text: bytes) -> str:
    """Quote the beginning of bytes from a file for a message."""
    plain = text.strip()
    quoted = ascii(plain[:40].decode("latin-1"))
    return quoted if len(plain) <= 40 else f"{quoted}..."


@contextmanager
def _locate_damage(path: Path) -> Iterator[None]:
    """Convert exceptions from reading a damaged file into an error with its place."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, DamagedError) as error:
        problem = "it ends too early" if isinstance(error, EOFError) else "its bytes are wrong"
        raise DataError(f"{path}: the compressed file is damaged or truncated ({problem})") from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
