"""Input files: what a path names that is read: a local file, or the copy of a pipe or remote file."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from xmceval.errors import DataError
from xmceval.files.io.paths import RemotePath
from xmceval.files.io.pipes import pipe_key, stored_at
from xmceval.rows.progress import watch_work


@dataclass(frozen=True)
class InputFile:
    """A file that the operating system opens, if there is one."""

    path: Path
    stored: Path  # the copy of a pipe or remote file, else the path itself

    @property
    def is_copied(self) -> bool:
        """Whether it was copied to a temporary file."""
        return self.stored != self.path

    @property
    def size(self) -> int:
        """The number of bytes as it is stored."""
        return self.stored.stat().st_size

    def open(self) -> BinaryIO:
        """Open it as it is stored."""
        path = self.path
        try:
            status = self.stored.stat()
            if stat.S_ISDIR(status.st_mode):
                raise DataError(f"{path}: is a directory; expected a file")
            if not stat.S_ISREG(status.st_mode):
                raise DataError(f"{path}: is a device or a socket; expected a file or a pipe")
            if status.st_size == 0:
                raise DataError(f"{path}: the file is empty")
            stream = self.stored.open("rb", buffering=0)
        except DataError:
            raise
        except FileNotFoundError:
            raise DataError(f"{path}: no such file") from None
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
        watch_work(stream, str(path), status.st_size, FileIO.tell)
        return cast(BinaryIO, stream)


def input_at(path: Path) -> InputFile:
    """Return what a path names."""
    return InputFile(path, stored_at(path))


class Stamp(NamedTuple):
    """Size and time of a file, by which a change between two readings is noticed."""

    n_bytes: int
    modified: int  # in nanoseconds


def stamp_of(path: Path) -> Stamp | None:
    """Return the stamp of a file; None for pipes and remote files, whose copies cannot change, and without a file."""
    if isinstance(path, RemotePath) or pipe_key(path) is not None:
        return None
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return Stamp(status.st_size, status.st_mtime_ns)


def check_unchanged(stamps: Mapping[Path, Stamp | None], files: Iterable[Path]) -> None:
    """Refuse files that have changed since their stamps were taken: each pass may have read other rows."""
    for path in files:
        if stamps.get(path) not in {None, stamp_of(path)}:
            raise DataError(
                f"{path}: has changed since it was opened (hint: score again once nothing writes to it any more)"
            )
