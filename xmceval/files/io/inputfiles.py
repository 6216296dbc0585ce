"""Open the file behind an input path: a local file, or the copy of a pipe or of a remote file.

Standard input and named pipes can be read only once: they are copied to a temporary file for all readers.
"""

from __future__ import annotations

import hashlib
import os
import select
import stat
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from xmceval.errors import DataError
from xmceval.files.io.copies import Copy, copying
from xmceval.files.io.paths import RemotePath
from xmceval.rows.progress import watch_work

STDIN = Path("-")

_PIECE = 1 << 20

_copies: dict[Hashable, Copy] = {}  # copies of pipes
_are_kept = ContextVar("are_kept", default=False)  # whether a nested call reuses the copies


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
    return "-" if path == STDIN else None


def renew_pipes(paths: Iterable[Path]) -> None:
    """Forget earlier contents of pipes: a call copies a pipe once, when it first reads it."""
    for path in paths if not _are_kept.get() else ():
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
        return path.remote.copy.path
    key = pipe_key(path)
    if key is None:
        return path
    if key not in _copies:
        copy = Copy(str(path))
        with copying(str(path)), copy.path.open("wb") as file:
            for piece in _pieces(path):
                file.write(piece)
            if not file.tell():
                raise DataError(f"{path}: {'standard input' if path == STDIN else 'the pipe'} is empty")
        _copies[key] = copy
    return _copies[key].path


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
    if isinstance(path, RemotePath) or pipe_key(path) is not None:
        return None
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return Stamp(status.st_size, status.st_mtime_ns)


def check_unchanged(stamps: Mapping[Path, Stamp | None], files: Iterable[Path]) -> None:
    """Refuse files that changed since their stamps were taken: passes may have read different rows."""
    for path in files:
        if stamps.get(path) not in {None, stamp_of(path)}:
            raise DataError(
                f"{path}: has changed since it was opened (hint: score again once nothing writes to it any more)"
            )
