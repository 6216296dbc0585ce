"""Prefetch: a remote file read in blocks, of which threads fetch the next ones while the first is used."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from xmceval.errors import DataError
from xmceval.files.remote.storecalls import RETRIES, NoAnswerError, call, pause, start
from xmceval.files.remote.storefaults import explain, is_changed, is_lost
from xmceval.files.remote.stores import Remote
from xmceval.files.remote.webranges import WrongRangeError, read_range

LEAST = 1 << 12  # bytes of a request after lost connections
SMALLEST = 1 << 16  # bytes of a block
FIRST = 1 << 18
LARGEST = 1 << 22
AHEAD = 4  # blocks fetched while another is used
QUICK, SLOW = 0.5, 2.0  # seconds: blocks that take less become larger, those that take more smaller


class Handles:
    """Open files of one remote file: each thread takes one, and puts it back."""

    def __init__(self, remote: Remote) -> None:
        self._remote, self._free = remote, list[Any]()

    def read(self, begin: int, size: int) -> bytes:
        """Read from a place on; fewer bytes than asked for are no error."""
        if self._remote.is_web:
            return read_range(self._remote, begin, size)
        if _is_stateless(self._remote.system):
            return bytes(self._remote.system.cat_file(self._remote.name, begin, begin + size))
        file = self._free.pop() if self._free else self._remote.open()
        file.seek(begin)
        text = bytes(file.read(size))
        self._free.append(file)  # one that failed is not used again
        return text

    def close(self) -> None:
        """Close the files that no thread uses."""
        while self._free:
            self._free.pop().close()


def _is_stateless(system: Any) -> bool:
    """Return whether a store that has no connections gives bytes at once, as memory does."""
    from fsspec.implementations.memory import MemoryFileSystem

    return isinstance(system, MemoryFileSystem)


def _are_parallel(system: Any) -> bool:
    """Return whether several files of a store can be read at the same time: those whose reads are requests."""
    return bool(getattr(system, "async_impl", False)) or type(system).__module__.startswith("huggingface_hub")


@dataclass
class FetchedRange:
    """Bytes from `begin` on, which a thread fetches."""

    begin: int
    size: int
    future: Future[bytes]


@dataclass
class Window:
    """Consecutive blocks of a file, from where one reader is.

    Attributes
    ----------
    fetch : callable
        Takes a place and a size, and returns the bytes.
    end : int
        The size of the file.
    place : int
        Where the next byte is read.
    ahead : int
        The number of blocks to fetch while another is used.
    in_turn : bool
        Whether a block is fetched only when the one before it has come.
    """

    fetch: Callable[[int, int], bytes]
    end: int
    place: int
    ahead: int
    in_turn: bool = False
    size: int = field(default_factory=lambda: FIRST)
    blocks: deque[FetchedRange] = field(default_factory=deque)
    has_moved: bool = False

    def covers(self, place: int) -> bool:
        """Return whether a place is in the blocks, or right behind them."""
        return self.blocks[0].begin <= place <= self._next if self.blocks else place == self.place

    def read_into(self, place: int, view: memoryview) -> int:
        """Read as much as one block has from a place on."""
        while self.blocks and place >= self.blocks[0].begin + self.blocks[0].size:
            self.blocks.popleft()
            self.has_moved = True
        self.place = place
        self._fetch_ahead()
        block = self.blocks[0]
        text = block.future.result()  # its thread gives up by itself, where it has to
        begin = place - block.begin
        n_read = max(min(len(view), len(text) - begin), 0)
        view[:n_read] = memoryview(text)[begin : begin + n_read]
        self.place += n_read
        return n_read

    def _fetch_ahead(self) -> None:
        wanted = 1 + (self.ahead if self.has_moved else 0)
        while len(self.blocks) < wanted and self._next < self.end:
            begin, size = self._next, min(self.size, self.end - self._next)
            previous = self.blocks[-1].future if self.blocks and self.in_turn else None
            self.blocks.append(FetchedRange(begin, size, start(partial(self._timed, begin, size, previous))))

    def _timed(self, begin: int, size: int, previous: Future[bytes] | None) -> bytes:
        """Fetch a block, and choose the size of those that follow by the time that it took."""
        if previous is not None:
            previous.result()
        since = time.monotonic()
        text = self.fetch(begin, size)
        seconds = time.monotonic() - since
        if seconds < QUICK and size == self.size:
            self.size = min(2 * self.size, LARGEST)
        elif seconds > SLOW:
            self.size = max(self.size // 2, SMALLEST)
        return text

    @property
    def _next(self) -> int:
        return self.blocks[-1].begin + self.blocks[-1].size if self.blocks else self.place


class Ranges:
    """The bytes of a remote file whose store gives any range of them.

    Readers of several parts at once, such as the arrays of an npz file, have a window each.
    """

    N_WINDOWS = 8

    def __init__(self, remote: Remote) -> None:
        size = remote.size
        if size is None:
            raise ValueError("a range needs the size of the file")
        self.remote, self.size, self._handles = remote, size, Handles(remote)
        self._windows = deque[Window](maxlen=self.N_WINDOWS)
        self._is_parallel = _are_parallel(remote.system)
        self._is_checked = False

    def read_into(self, place: int, view: memoryview) -> int:
        """Read some bytes from a place on; 0 at the end."""
        if place >= self.size or not len(view):
            self._check_once()
            return 0
        if place < FIRST and not self.remote.head:  # every reader begins with these
            self.remote.head = self._fetch(0, min(FIRST, self.size))
        head = self.remote.head
        if place < len(head):
            n_read = min(len(view), len(head) - place)
            view[:n_read] = head[place : place + n_read]
            return n_read
        window = next((each for each in self._windows if each.covers(place)), None) or self._open_window(place)
        return window.read_into(place, view)

    def _open_window(self, place: int) -> Window:
        place = min(place, max(self.size - SMALLEST, len(self.remote.head)))  # archives are read from their end
        window = Window(self._fetch, self.size, place, AHEAD if self._is_parallel else 1, not self._is_parallel)
        window.has_moved = place == len(self.remote.head)
        self._windows.append(window)
        return window

    def _check_once(self) -> None:
        """Check at the end of the file, once, that it did not change while it was read."""
        if not (self._is_checked or (self.size <= FIRST and self.remote.is_checked)):
            self.remote.check_unchanged()
            self._is_checked = True

    def _fetch(self, begin: int, size: int) -> bytes:
        """Fetch a block, and resume where a connection was lost."""
        parts, place, end, step, failures = list[bytes](), begin, begin + size, size, 0
        while place < end:
            try:
                text = call(partial(self._handles.read, place, min(step, end - place)))
            except Exception as error:  # packages of stores raise nearly anything
                failures += 1
                self._resume_or_raise(error, place, failures)
                step = max(step // 4, LEAST)  # servers may drop connections after so many bytes
                continue
            if not text:
                self.remote.check_unchanged()
                raise DataError(f"{self.remote.path}: ends at byte {place:,}, but its size is {self.size:,}")
            if place + len(text) > end:
                raise DataError(f"{self.remote.path}: its store sent more than the {end - place:,} bytes asked for")
            failures = 0
            place += len(text)
            parts.append(text)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _resume_or_raise(self, error: Exception, place: int, failures: int) -> None:
        if isinstance(error, WrongRangeError):
            self.remote.check_unchanged()
            raise DataError(f"{self.remote.path}: {error} (hint: download the file)") from None
        if is_changed(error):
            self.remote.check_unchanged()
            self.remote.trusts_tags = False  # the store gives the same file another tag
        elif not (is_lost(error) or isinstance(error, NoAnswerError)):
            raise explain(self.remote.path, error) from None
        if failures > RETRIES:
            cause = str(explain(self.remote.path, error)).removeprefix(f"{self.remote.path}: ")
            raise DataError(
                f"{self.remote.path}: the connection was lost at byte {place:,} of {self.size:,}, and {RETRIES} "
                f"attempts to resume failed: {cause}"
            ) from None
        pause(failures - 1)

    @property
    def is_doubtful(self) -> bool:
        """Whether several blocks were read, which may be of different contents, as nobody checked."""
        return not self._is_checked and any(window.has_moved for window in self._windows)

    def close(self) -> None:
        """Let go of everything; threads that still fetch end by themselves."""
        self._windows.clear()
        self._handles.close()
