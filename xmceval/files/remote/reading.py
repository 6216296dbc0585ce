"""Reading: a remote file as a stream of bytes that can be searched, whatever its store can do."""

from __future__ import annotations

import io
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import Any

from xmceval.errors import DataError
from xmceval.files.io.copies import Copy, write_all
from xmceval.files.remote import prefetch
from xmceval.files.remote.prefetch import Ranges, Window
from xmceval.files.remote.storecalls import RETRIES, call, pause
from xmceval.files.remote.storefaults import explain, is_changed, is_lost
from xmceval.files.remote.stores import Remote
from xmceval.rows.progress import find_watcher

PIECE = 1 << 20  # bytes


class RemoteFile(io.RawIOBase):
    """A remote file, from its beginning."""

    def __init__(self, remote: Remote) -> None:
        path = remote.path
        if remote.is_folder:
            raise DataError(f"{path}: is a directory; expected a file")
        if remote.size == 0:
            raise DataError(f"{path}: the file is empty")
        self._reader: Ranges | Stream | CopyReader = _open_reader(remote)
        self._remote, self._place, self._lock = remote, 0, threading.Lock()
        self._watcher = find_watcher()
        if self._watcher is not None:
            self._watcher.open(str(path), remote.size or 0)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, view: Any) -> int:
        """Read into a buffer; return 0 at the end."""
        with self._lock, memoryview(view).cast("B") as buffer:
            if isinstance(self._reader, Stream) and not self._reader.leads_to(self._place):
                self._copy()
            n_read = self._reader.read_into(self._place, buffer)
            self._place += n_read
        if self._watcher is not None:
            self._watcher.read(n_read)
        return n_read

    def read(self, size: int | None = -1) -> bytes:
        """Read so many bytes, fewer only at the end: archives and pyarrow count on it."""
        if size is None or size < 0:
            return self.readall()
        buffer, filled = bytearray(min(size, self._n_left or size)), 0
        view = memoryview(buffer)
        while filled < len(buffer) and (n_read := self.readinto(view[filled:])):
            filled += n_read
        view.release()
        return bytes(buffer) if filled == len(buffer) else bytes(buffer[:filled])

    @property
    def _n_left(self) -> int:
        """The number of bytes to the end, as far as it is known; 1 at the end."""
        return max((self._reader.size or sys.maxsize) - self._place, 1)

    def readall(self) -> bytes:
        """Read the rest."""
        return b"".join(iter(lambda: self.read(PIECE) or b"", b""))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        with self._lock:
            if whence == io.SEEK_END and self._reader.size is None:
                self._copy()
            begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._reader.size or 0}[whence]
            place = begin + offset
            if place < 0:
                raise OSError("before the beginning of the file")  # as for local files: zipfile tries it
            self._place = place
        return self._place

    def tell(self) -> int:
        """Return the place where the next byte is read."""
        return self._place

    def _copy(self) -> None:
        """Copy the file, as its store gives it only from the beginning."""
        self._reader.close()
        self._reader = CopyReader(make_copy(self._remote))

    def close(self) -> None:
        """Close it; a file of which several parts were read is checked for changes first."""
        if self.closed:
            return
        super().close()
        is_ending = isinstance(sys.exc_info()[1], (KeyboardInterrupt, SystemExit, GeneratorExit))
        try:
            if self._reader.is_doubtful and not is_ending:
                self._remote.check_unchanged()
        finally:
            self._reader.close()

    def __del__(self) -> None:
        if not self.closed and hasattr(self, "_reader"):
            self._reader.close()
            super().close()


class CopyReader:
    """The temporary copy of a remote file."""

    is_doubtful = False

    def __init__(self, copy: Copy) -> None:
        self._stored = copy
        self.size: int | None = copy.file.seek(0, io.SEEK_END)

    def read_into(self, place: int, view: memoryview) -> int:
        """Read some bytes from a place on; 0 at the end."""
        return self._stored.read_at(place, view)

    def close(self) -> None:
        """Do nothing: others may read the copy."""


class Stream:
    """The bytes of a remote file whose store gives it only from the beginning; one block is fetched ahead."""

    is_doubtful = False

    def __init__(self, remote: Remote) -> None:
        self.remote, self.size = remote, remote.size
        self._window = Window(self._fetch, sys.maxsize, 0, 1, in_turn=True)
        self._file: Any = None
        self._place = 0  # in the file, of the next byte
        self._is_checked = self._is_closed = False

    def leads_to(self, place: int) -> bool:
        """Return whether a place can be read without beginning anew."""
        window, head = self._window, self.remote.head
        return place < len(head) or (window.covers(place) if window.blocks else place == len(head))

    def read_into(self, place: int, view: memoryview) -> int:
        """Read some bytes from a place on; 0 at the end."""
        head = self.remote.head
        if place < len(head):
            n_read = min(len(view), len(head) - place)
            view[:n_read] = head[place : place + n_read]
            return n_read
        if not self._window.blocks:
            self._window.place = place
        n_read = self._window.read_into(place, view)
        if n_read == 0 and len(view):
            self._check_end(place)
        return n_read

    def _check_end(self, place: int) -> None:
        if self._is_checked:
            return
        self.remote.check_unchanged()
        if self.size is not None and place < self.size:
            raise DataError(f"{self.remote.path}: ends at byte {place:,}, but its size is {self.size:,}")
        self._is_checked = True

    def _fetch(self, begin: int, size: int) -> bytes:
        """Read the next block; where the connection was lost, begin anew and skip what was read."""
        text, failures = bytearray(), 0
        while len(text) < size:
            place = begin + len(text)
            try:
                piece = call(partial(self._read_at, place, size - len(text)))
            except Exception as error:
                self._close_file()
                failures += 1
                if is_changed(error):
                    self.remote.check_unchanged()
                    self.remote.trusts_tags = False
                elif failures > RETRIES or not is_lost(error):  # nor is one without an answer waited for again
                    cause = str(explain(self.remote.path, error)).removeprefix(f"{self.remote.path}: ")
                    raise DataError(
                        f"{self.remote.path}: the connection was lost at byte {place:,}, and it cannot be resumed: "
                        f"{cause}"
                    ) from None
                pause(failures - 1)
                self.remote.check_unchanged()
                continue
            if self._is_closed:  # meanwhile
                self._close_file()
                break
            if not piece:
                break
            text += piece
            if self.size is not None and begin + len(text) > self.size:
                self.remote.check_unchanged()
                raise DataError(f"{self.remote.path}: the server sent more than the {self.size:,} bytes of the file")
        if begin == 0 and not self.remote.head:
            self.remote.head = bytes(text[: prefetch.FIRST])
        return bytes(text)

    @property
    def _known(self) -> dict[str, int]:
        """What opening would ask the server again."""
        return {"size": self.size} if self.remote.is_web and self.size is not None else {}

    def _read_at(self, place: int, size: int) -> bytes:
        if self._file is None or self._place > place:
            self._file, self._place = self.remote.open(block_size=0, **self._known), 0
        while self._place < place:
            skipped = self._file.read(min(place - self._place, PIECE))
            if not skipped:
                return b""
            self._place += len(skipped)
        piece = bytes(self._file.read(size))
        self._place += len(piece)
        return piece

    def close(self) -> None:
        """Close the connection."""
        self._is_closed = True
        blocks = list(self._window.blocks)
        self._window.blocks.clear()
        if all(block.future.done() for block in blocks):  # else the thread closes it
            self._close_file()

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(Exception):
                file.close()


def make_copy(remote: Remote) -> Copy:
    """Copy a remote file to a temporary one, once."""
    if remote.copy is None:
        copy, stream, place = Copy(), Stream(remote), 0
        buffer = memoryview(bytearray(PIECE))
        try:
            while n_read := stream.read_into(place, buffer):
                write_all(copy.file, buffer[:n_read])
                place += n_read
        except OSError as error:
            raise DataError(
                f"{remote.path}: cannot be copied to a temporary file: {error.strerror or error} (hint: set TMPDIR)"
            ) from None
        finally:
            stream.close()
        remote.copy = copy
    return remote.copy


def _open_reader(remote: Remote) -> Ranges | Stream | CopyReader:
    if remote.copy is not None:
        return CopyReader(remote.copy)
    return Ranges(remote) if remote.has_ranges else Stream(remote)
