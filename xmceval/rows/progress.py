"""Progress: what long work reports to whoever watches it, such as a bar on a terminal; nobody does by default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

Add = Callable[[int], None]


class Watcher(Protocol):
    """Sees how work goes on; threads may call at the same time."""

    def start(self, name: str, total: int | None, unit: str) -> None:
        """Begin a phase of work on so many rows or other units, if their number is known."""

    def add(self, number: int) -> None:
        """Take note of so many more units that are done."""

    def stop(self) -> None:
        """End the phase."""

    def open(self, name: str, size: int) -> None:
        """Take note of a file that is opened, and its bytes as they are stored."""

    def read(self, n_bytes: int) -> None:
        """Take note of so many more bytes read, as they are stored."""


_watchers: list[Watcher] = []
_names: list[str] = []


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Let a watcher see all work of this process."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def find_watcher() -> Watcher | None:
    """Return who watches, None where nobody does."""
    return _watchers[-1] if _watchers else None


@contextmanager
def named(name: str) -> Iterator[None]:
    """Show all phases of work under one name, such as that of a data set among others."""
    _names.append(name)
    try:
        yield
    finally:
        _names.pop()


@contextmanager
def phase(name: str, total: int | None = None, unit: str = "rows") -> Iterator[Add]:
    """Show a phase of work to the watcher, if there is one; what it yields is called with units as they are done."""
    watcher = find_watcher()
    if watcher is None:
        yield _ignore
        return
    watcher.start(_names[-1] if _names else name, total, unit)
    try:
        yield watcher.add
    finally:
        watcher.stop()


def _ignore(_: int) -> None:
    """Take note of nothing."""
