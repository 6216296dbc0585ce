"""Copies: temporary files that several readers share."""

from __future__ import annotations

import io
import threading
import weakref
from typing import Any, cast


def write_all(file: Any, data: Any) -> None:
    """Write all bytes of a buffer to an unbuffered file, whose `write` may stop halfway, as where the disk is full."""
    view = memoryview(data)
    if view.nbytes:
        view = view.cast("B")
        while len(view):
            view = view[file.write(view) :]


class Copy:
    """A temporary file for several readers, which is gone with the last of them."""

    def __init__(self) -> None:
        import tempfile

        self.file = cast(io.RawIOBase, tempfile.TemporaryFile(buffering=0))  # noqa: SIM115 - closed below
        weakref.finalize(self, self.file.close)
        self._lock = threading.Lock()

    def read_at(self, offset: int, view: Any) -> int:
        """Read into a buffer from an offset on."""
        with self._lock:
            self.file.seek(offset)
            return int(self.file.readinto(view) or 0)
