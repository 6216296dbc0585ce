"""Temporary copies of inputs that cannot be read in place: pipes and remote files."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from xmceval.errors import DataError

_paths: set[Path] = set()


class Copy:
    """A temporary file for the bytes of an input, which is deleted with this object, or when the process ends.

    It has its own folder, so that a thread that opens it after its deletion cannot recreate it.
    """

    def __init__(self, name: str) -> None:
        with copying(name):
            self.path = Path(tempfile.mkdtemp(prefix="xmceval-"), "copy")
            self.path.touch()
        _paths.add(self.path)
        weakref.finalize(self, _delete, self.path, os.getpid())


@contextmanager
def copying(name: str) -> Iterator[None]:
    """Report a lack of space for the copy of an input."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{name}: cannot be copied to a temporary file: {error.strerror or error} (hint: set TMPDIR)"
        ) from None


def _delete(path: Path, process: int) -> None:
    """Delete a copy in the process that made it, not in a forked child."""
    if os.getpid() == process:
        shutil.rmtree(path.parent, ignore_errors=True)
        _paths.discard(path)


def delete_copies() -> None:
    """Delete all copies when a signal ends the process at once."""
    while _paths:
        shutil.rmtree(_paths.pop().parent, ignore_errors=True)
