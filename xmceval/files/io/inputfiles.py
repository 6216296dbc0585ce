"""Input files: what a path names that is read, with the same methods: a local file, a remote one or a pipe."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, cast

from xmceval.errors import DataError, UsageError
from xmceval.files.io.paths import RemotePath
from xmceval.files.io.pipes import Pipe
from xmceval.rows.progress import Watcher, find_watcher

STDIN = Path("-")

_WATCHED_BYTES = 1 << 20  # at a time, of a file that is read whole


@dataclass(frozen=True)
class LocalInput:
    """A file that the operating system opens, if there is one."""

    path: Path
    is_remote: ClassVar[bool] = False
    is_copied: ClassVar[bool] = False
    is_started: ClassVar[bool] = False

    @property
    def size(self) -> int | None:
        """The number of bytes as it is stored."""
        return self.path.stat().st_size

    def copy(self) -> None:
        """Do nothing: it can be read any number of times."""

    def open(self) -> BinaryIO:
        """Open it as it is stored."""
        path = self.path
        try:
            status = path.stat()
            if stat.S_ISDIR(status.st_mode):
                raise DataError(f"{path}: is a directory; expected a file")
            if not stat.S_ISREG(status.st_mode):
                raise DataError(f"{path}: is a device or a socket; expected a file or a pipe")
            if status.st_size == 0:
                raise DataError(f"{path}: the file is empty")
            return cast(BinaryIO, path.open("rb", buffering=0))
        except DataError:
            raise
        except FileNotFoundError:
            raise DataError(f"{path}: no such file") from None
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: {getattr(error, 'strerror', None) or error}") from None

    def open_watched(self) -> BinaryIO:
        """Open it as it is stored, and show it to the watcher, if there is one."""
        stream, watcher = self.open(), find_watcher()
        if watcher is None:
            return stream
        stream.close()
        watched = _WatchedFile(self.path, "rb")
        watched.watcher = watcher
        watcher.open(str(self.path), os.fstat(watched.fileno()).st_size)
        return cast(BinaryIO, watched)


@dataclass(frozen=True)
class RemoteInput:
    """A file on a store, which is asked only when it has to be."""

    path: RemotePath
    is_remote: ClassVar[bool] = True
    is_started: ClassVar[bool] = False

    @property
    def is_copied(self) -> bool:
        """Whether it was copied to a temporary file."""
        return self.path.remote.copy is not None

    @property
    def size(self) -> int | None:
        """The number of bytes as it is stored, None where the store does not know it."""
        return self.path.remote.size

    def copy(self) -> None:
        """Copy it to a temporary file where its store gives it only from the beginning, so that it comes once."""
        if not self.path.remote.has_ranges:
            from xmceval.files.remote.reading import make_copy

            make_copy(self.path.remote)

    def open(self) -> BinaryIO:
        """Open it as it is stored."""
        return cast(BinaryIO, self.path.open())

    def open_watched(self) -> BinaryIO:
        """Open it as it is stored: it shows itself to the watcher."""
        return self.open()


_pipes: dict[object, Pipe] = {}  # by device and inode, or "-"


def input_at(path: Path) -> LocalInput | RemoteInput | Pipe:
    """Return what a path names."""
    if isinstance(path, RemotePath):
        return RemoteInput(path)
    if path == STDIN:
        return _find_stdin("-")
    try:
        status = path.stat()
    except (OSError, ValueError):
        return LocalInput(path)
    if not stat.S_ISFIFO(status.st_mode):
        return LocalInput(path)
    with suppress(AttributeError, OSError, ValueError):  # a standard input without a descriptor
        if os.path.samestat(status, os.fstat(sys.stdin.fileno())):
            return _find_stdin(str(path))
    return _pipes.setdefault((status.st_dev, status.st_ino), Pipe(str(path), path))


def find_pipe(path: Path) -> Pipe | None:
    """Return the pipe that a path names, or None where it names something else."""
    file = input_at(path)
    return file if isinstance(file, Pipe) else None


def _find_stdin(name: str) -> Pipe:
    if sys.stdin is None or getattr(sys.stdin, "closed", False):
        raise DataError(f"{name}: standard input is closed")
    if "-" not in _pipes or _pipes["-"].origin is not sys.stdin:
        _pipes["-"] = Pipe(name, sys.stdin)
    return _pipes["-"]


def claim_pipe(path: Path) -> None:
    """Reserve a pipe for one input; anything else may be several inputs."""
    pipe = find_pipe(path)
    if pipe is None or pipe.is_kept:
        return
    if pipe.is_claimed and not pipe.is_stdin and pipe.is_finished:  # a named pipe may be written to again
        key = next(key for key, each in _pipes.items() if each is pipe)
        pipe = Pipe(str(path), path)
        with suppress(DataError):
            pipe.peek(1)
            _pipes[key] = pipe
        pipe = _pipes[key]
    if pipe.is_claimed:
        what = "- is standard input, which" if pipe.is_stdin else f"{path}: a pipe"
        raise UsageError(f"{what} can stand for one file only")
    pipe.is_claimed = True


@contextmanager
def kept_pipes(paths: Iterable[Path]) -> Iterator[None]:
    """Copy the pipes of some paths to temporary files, so that each can be opened as an input any number of times."""
    pipes = list[Pipe]()
    try:
        for path in paths:
            claim_pipe(path)
            pipe = find_pipe(path)
            if pipe is not None:
                pipe.copy()
                pipe.is_kept = True
                pipes.append(pipe)
        yield
    finally:
        for pipe in pipes:
            pipe.is_kept = False
        for key in [key for key, pipe in _pipes.items() if pipe in pipes and not pipe.is_stdin]:
            del _pipes[key]


class _WatchedFile(io.FileIO):
    """A file whose watcher sees the bytes that are read."""

    watcher: Watcher

    def readinto(self, view: Any) -> int | None:
        """Read into a buffer."""
        n_read = super().readinto(view)
        self.watcher.read(n_read or 0)
        return n_read

    def read(self, size: int | None = -1) -> bytes:
        """Read so many bytes at most, or all."""
        if size is None or size < 0:
            return self.readall()
        text = super().read(size)
        self.watcher.read(len(text or b""))
        return text or b""

    def readall(self) -> bytes:
        """Read the rest, piece by piece."""
        return b"".join(iter(lambda: self.read(_WATCHED_BYTES), b""))
