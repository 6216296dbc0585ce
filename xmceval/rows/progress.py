"""Track the progress of long work, for a progress bar that polls it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

Add = Callable[[int], None]

# By the object that does the work: its name, its total, and a function that returns the part done.
_works: WeakKeyDictionary[Any, tuple[str, int, Callable[[Any], int]]] = WeakKeyDictionary()
_series: list[_Series] = []


def watch_work(worker: object, name: str, total: int, done: Callable[[Any], int]) -> None:
    """Register `done(worker)`, which returns the part of a total done, until the worker is gone or closed."""
    _works[worker] = name, total, done


@contextmanager
def phase(name: str, total: int | None) -> Iterator[Add]:
    """Yield a function to call with the number of finished rows or other units."""
    counter = _Counter()
    if total:
        watch_work(counter, name, total, attrgetter("done"))
    try:
        yield counter.add
    finally:
        _works.pop(counter, None)


def in_turn(name: str, parts: Sequence[T]) -> Iterator[T]:
    """Yield parts, such as shards, whose work is shown as one."""
    series = _Series(name, len(parts))
    _series.append(series)
    try:
        for part in parts:
            yield part
            series.n_done += 1
    finally:
        _series.remove(series)


def measure_progress() -> tuple[str, float, str] | None:
    """Return the name of the largest running work, and the share done of the work that is furthest behind.

    While parts run in turn: the name of their series, the share done of all parts, and the current part, such as
    ``17 of 24``. None if nothing runs.
    """
    going_on = []
    for worker in [reference() for reference in _works.keyrefs()]:
        if worker not in _works:
            continue
        name, total, done = _works[worker]
        try:
            going_on.append((total, name, done(worker) / total))
        except (OSError, ValueError):  # a closed file
            continue
    share = min([share for *_, share in going_on], default=0.0)
    for series in [series for series in _series if series.n > 1][:1]:  # others are within it
        series.share = max(series.share, (series.n_done + share) / series.n)  # a part that has ended has no share
        return series.name, series.share, f"{min(series.n_done + 1, series.n)} of {series.n}"
    if not going_on:
        return None
    return max(going_on)[1], share, ""


@dataclass(eq=False)
class _Series:
    """Parts that are worked on in turn."""

    name: str
    n: int
    n_done: int = 0
    share: float = 0.0


class _Counter:
    """Finished units of work; concurrent threads may lose some counts, which does not matter for a bar."""

    done = 0

    def add(self, number: int) -> None:
        self.done += number
