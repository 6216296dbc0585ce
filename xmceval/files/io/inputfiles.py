"""Input files: what a path names that is read: a local file, or the copy of a pipe or remote file."""

from __future__ import annotations

import io
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from xmceval.errors import DataError
from xmceval.files.io.pipes import stored_at
from xmceval.rows.progress import Watcher, find_watcher

_WATCHED_BYTES = 1 << 20  # at a time, of a file that is read whole


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
            return cast(BinaryIO, self.stored.open("rb", buffering=0))
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
        watched = _WatchedFile(self.stored, "rb")
        watched.watcher = watcher
        watcher.open(str(self.path), os.fstat(watched.fileno()).st_size)
        return cast(BinaryIO, watched)


def input_at(path: Path) -> InputFile:
    """Return what a path names."""
    return InputFile(path, stored_at(path))


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
