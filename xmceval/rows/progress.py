"""Track the progress of long work, which a terminal's progress bar polls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any
from weakref import WeakKeyDictionary

Add = Callable[[int], None]

# By the object that does the work: its name, its size, and how much of it is done.
_works: WeakKeyDictionary[Any, tuple[str, int, Callable[[Any], int]]] = WeakKeyDictionary()


def watch_work(worker: object, name: str, total: int, done: Callable[[Any], int]) -> None:
    """Let `done(worker)` be asked how much of a total is done, until the worker is gone or closed."""
    _works[worker] = name, total, done


@contextmanager
def phase(name: str, total: int | None) -> Iterator[Add]:
    """Yield a function to call with the number of rows or other units done."""
    counter = _Counter()
    if total:
        watch_work(counter, name, total, attrgetter("done"))
    try:
        yield counter.add
    finally:
        _works.pop(counter, None)


def measure_progress() -> tuple[str, float] | None:
    """Return the name of the largest work that goes on, and the share that is done of the one least done."""
    going_on = []
    for worker in [reference() for reference in _works.keyrefs()]:
        if worker not in _works:
            continue
        name, total, done = _works[worker]
        try:
            going_on.append((total, name, done(worker) / total))
        except (OSError, ValueError):  # a file that is closed
            continue
    return (max(going_on)[1], min(share for *_, share in going_on)) if going_on else None


class _Counter:
    """Units of work that are done; threads that add at the same time may lose some, which a bar can bear."""

    done = 0

    def add(self, number: int) -> None:
        self.done += number
