"""Open input files as streams of bytes, decompressed according to their first bytes.

Standard input and named pipes can be read only once: they are copied to a temporary file for all readers, and so
are remote files.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import select
import shutil
import stat
import sys
import tempfile
import threading
import weakref
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from io import FileIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple, cast

from xmceval.errors import DataError
from xmceval.files.io.compressed import DamagedError, open_bzip2, open_xz, open_zstd
from xmceval.files.io.paths import RemotePath
from xmceval.files.io.signatures import BZIP2, EMPTY_ZIP, GZIP, UTF8_BOM, XZ, ZIP, ZSTD, ZSTD_SKIPPABLE
from xmceval.rows.progress import watch_work

# Decompressors by the first bytes of a file.
DECOMPRESSORS: Mapping[bytes, Callable[[Any], Any]] = MappingProxyType(
    {GZIP: gzip.open, BZIP2: open_bzip2, XZ: open_xz, **dict.fromkeys((ZSTD, *ZSTD_SKIPPABLE), open_zstd)}
)

STDIN = Path("-")
BYTES_LOOKED_AT = 1 << 10
HELD_BYTES = 1 << 26  # that any compressed file may expand to where its content is held in memory,
EXPANSION = 100  # and how many times its size a larger one may
KEPT = 4  # copies of remote files
TEMPORARY: set[Path] = set()  # incomplete outputs, and folders with a copy of an input
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TEMPORARY.clear)

_LONGEST_SIGNATURE = max(map(len, DECOMPRESSORS))
_PIECE = 1 << 20
_copies: dict[Hashable, Copy] = {}  # copies of pipes
_fetched: dict[Hashable, Copy] = {}  # the last copies of remote files, kept for tasks that read the same files
_lock = threading.Lock()
_are_kept = ContextVar("are_kept", default=False)  # whether a nested call reuses the copies


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
    """Read a whole file, decompressed: for small files, or files that are held in memory anyway.

    A small file that expands to an enormous one is refused.
    """
    try:
        with open_bytes(path) as stream:
            if isinstance(stream, FileIO):
                return stream.read()
            most = max(HELD_BYTES, EXPANSION * size_of(path))
            pieces = list[bytes]()
            n_bytes = 0
            for piece in iter(partial(stream.read, _PIECE), b""):
                pieces.append(piece)
                n_bytes += len(piece)
                if n_bytes > most:
                    raise DataError(
                        f"{path}: expands to more than {most >> 20:,} MiB, over {EXPANSION} times its size, and would "
                        "be held in memory (hint: decompress it first)"
                    )
            return b"".join(pieces)
    except DAMAGE as error:
        raise _explain(path, error) from error


def read_short_lines(path: Path) -> list[bytes]:
    """Return the stripped lines of a small file, up to the last non-blank one."""
    text = read_all_bytes(path).removeprefix(UTF8_BOM).rstrip()
    if text:
        return [line.strip() for line in text.split(b"\n")]
    return []


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
    try:
        while filled < len(view):
            n_read = stream.readinto(view[filled:])  # type: ignore[attr-defined]
            if not n_read:
                break
            filled += n_read
    except DAMAGE as error:
        raise _explain(path, error) from error
    return filled


def read_resource(package: str, name: str) -> str:
    """Return the text of a data file of this package, such as a style sheet."""
    from importlib.resources import files

    return files(package).joinpath(name).read_text(encoding="utf-8")


def quote(text: bytes) -> str:
    """Quote the beginning of bytes from a file for a message."""
    plain = text.strip()
    quoted = ascii(plain[:40].decode("latin-1"))
    if len(plain) <= 40:
        return quoted
    return f"{quoted}..."


DAMAGE = (OSError, EOFError, zlib.error, DamagedError)  # what reading raises; BadGzipFile is an OSError


def _explain(path: Path, error: Exception) -> DataError:
    problem = "its bytes are wrong"
    if isinstance(error, EOFError):
        problem = "it ends too early"
    elif isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
        return DataError(f"{path}: {error.strerror or error}")
    return DataError(f"{path}: the compressed file is damaged or truncated ({problem})")


def remove(path: Path) -> None:
    """Remove a temporary file, or a folder with one, if this process made it: a forked child must not."""
    if path in TEMPORARY:
        TEMPORARY.discard(path)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def remove_all() -> None:
    """Remove copies of inputs and incomplete outputs when a signal ends the process at once."""
    for path in tuple(TEMPORARY):
        with suppress(OSError):
            remove(path)


class Copy:
    """A temporary file for the bytes of an input, which is deleted with this object, or when the process ends.

    It has its own folder, so that a thread that opens it after its deletion cannot recreate it.
    """

    def __init__(self, name: str) -> None:
        with copying(name):
            self.path = Path(tempfile.mkdtemp(prefix="xmceval-"), "copy")
            self.path.touch()
        TEMPORARY.add(self.path.parent)
        weakref.finalize(self, remove, self.path.parent)


@contextmanager
def copying(name: str) -> Iterator[None]:
    """Report a lack of space for the copy of an input."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{name}: cannot be copied to a temporary file: {error.strerror or error} (hint: set TMPDIR)"
        ) from None


def pipe_key(path: Path) -> Hashable:
    """Return a key shared by all names of a pipe, such as ``-`` and ``/dev/stdin``; None for other files."""
    if isinstance(path, RemotePath):
        return None
    try:
        status = os.fstat(sys.stdin.fileno()) if path == STDIN else path.stat()
    except (AttributeError, OSError, ValueError):  # no such file, or standard input without a descriptor
        status = None
    if status is not None and stat.S_ISFIFO(status.st_mode):
        return status.st_dev, status.st_ino
    if path == STDIN:
        return "-"
    return None


def renew_pipes(paths: Iterable[Path]) -> None:
    """Forget earlier contents of pipes: a call copies a pipe once, when it first reads it."""
    if _copies and not _are_kept.get():
        for path in paths:
            _copies.pop(pipe_key(path), None)


@contextmanager
def kept_pipes() -> Iterator[None]:
    """Let nested calls reuse the copies of pipes."""
    token = _are_kept.set(True)
    try:
        yield
    finally:
        _are_kept.reset(token)


def _pieces(pipe: Path) -> Iterator[bytes]:
    """Yield the bytes of a pipe."""
    if pipe != STDIN:
        with pipe.open("rb", buffering=0) as stream:
            yield from iter(lambda: stream.read(_PIECE), b"")
        return
    if sys.stdin is None or getattr(sys.stdin, "closed", False):
        raise DataError(f"{pipe}: standard input is closed")
    stdin: Any = sys.stdin.buffer
    while (piece := stdin.read1(_PIECE)) != b"":
        if piece is None:  # non-blocking standard input
            select.select([stdin], [], [])
        else:
            yield piece


def stored_at(path: Path) -> Path:
    """Return the file with the bytes of a path: for a pipe or a remote file its copy, made if needed."""
    if isinstance(path, RemotePath):
        with _lock:
            path.remote.copy = copy = path.remote.copy or _fetch(path)
        return Path(copy.path)
    key = pipe_key(path)
    if key is None:
        return path
    if key not in _copies:
        copy = Copy(str(path))
        with copying(str(path)), copy.path.open("wb") as file:
            for piece in _pieces(path):
                file.write(piece)
            if not file.tell():
                pipe = "standard input" if path == STDIN else "the pipe"
                raise DataError(f"{path}: {pipe} is empty")
        _copies[key] = copy
    return _copies[key].path


def is_copied(path: Path) -> bool:
    """Return whether a file that was read is a copy of a pipe or a remote file."""
    return isinstance(path, RemotePath) or (bool(_copies) and pipe_key(path) in _copies)


def _fetch(path: RemotePath) -> Copy:
    """Copy a remote file, unless a call before did, and its store reports the same tags and times."""
    key = path.remote.key
    copy = _fetched.pop(key, None)
    if copy is None:
        copy = Copy(str(path))
        path.remote.fetch(copy.path)
    if key:
        _fetched[key] = copy
    while len(_fetched) > KEPT:
        del _fetched[next(iter(_fetched))]
    return copy


def open_stored(path: Path) -> BinaryIO:
    """Open a file as it is stored, or the copy of a pipe or remote file."""
    stored = stored_at(path)
    try:
        status = stored.stat()
        if stat.S_ISDIR(status.st_mode):
            raise DataError(f"{path}: is a directory; expected a file")
        if not stat.S_ISREG(status.st_mode):
            raise DataError(f"{path}: is a device or a socket; expected a file or a pipe")
        if status.st_size == 0:
            raise DataError(f"{path}: the file is empty")
        stream = stored.open("rb", buffering=0)
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    watch_work(stream, str(path), status.st_size, FileIO.tell)
    return cast(BinaryIO, stream)


def size_of(path: Path) -> int:
    """Return the number of bytes of a file as it is stored."""
    return stored_at(path).stat().st_size


def digest_of(path: Path) -> tuple[int, str]:
    """Return the number of bytes of a file as it is stored, and their SHA-256 in hexadecimal digits."""
    with open_stored(path) as stream:
        digest = hashlib.file_digest(stream, "sha256")  # type: ignore[arg-type]  # it is a FileIO
        return stream.tell(), digest.hexdigest()


class Stamp(NamedTuple):
    """Size and time of a file, to detect changes between two passes."""

    n_bytes: int
    modified: int  # in nanoseconds


def stamp_of(path: Path) -> Stamp | None:
    """Return the stamp of a file; None if it is missing, or a pipe or remote file, whose copy cannot change."""
    try:
        status = path.stat()
    except (OSError, TypeError, ValueError):  # missing, remote, or with a NUL in its name
        return None
    if stat.S_ISFIFO(status.st_mode):
        return None
    return Stamp(status.st_size, status.st_mtime_ns)


def check_unchanged(stamps: Mapping[Path, Stamp | None], files: Iterable[Path]) -> None:
    """Refuse files that changed since their stamps were taken: passes may have read different rows."""
    for path in files:
        if stamps.get(path) not in {None, stamp_of(path)}:
            raise DataError(
                f"{path}: has changed since it was opened (hint: score again once nothing writes to it any more)"
            )
