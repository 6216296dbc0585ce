"""Bars: how far long work is, on a terminal: the share of bytes or rows, the rows per second, and the time left."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

import click

from xmceval.errors import escaped

PATIENCE = 1.0  # seconds, after which a command has a bar
PAUSE = 0.1  # seconds between two drawings
FULL, EMPTY = "#", "-"
BAR, SHORTEST_BAR = 30, 5  # characters
NAME = 28


@contextmanager
def shown(quiet: bool) -> Iterator[None]:
    """Show the progress of work that takes more than a second, if stderr is a terminal."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from xmceval.rows.progress import watched_by

    bar = Bar()
    try:
        with watched_by(bar):
            yield
    finally:
        bar.stop()


def clear() -> None:
    """Remove the bar from the terminal, before something else is written there."""
    from xmceval.rows.progress import find_watcher

    bar = find_watcher()
    if isinstance(bar, Bar):
        bar.clear()


class Bar:
    """Watches work and draws a line: that of a phase, or outside of phases that of the file that is read."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._is_drawn = self._in_phase = False
        self._since = time.monotonic()
        self._begin("", None, "")

    def start(self, name: str, total: int | None, unit: str) -> None:
        """Begin a phase."""
        with self._lock:
            self._begin(name, total, unit)
            self._in_phase = True

    def add(self, number: int) -> None:
        """Take note of units done."""
        with self._lock:
            self._done += number
            self._draw()

    def stop(self) -> None:
        """End the phase."""
        with self._lock:
            self._begin("", None, "")
            self._in_phase = False

    def open(self, name: str, size: int) -> None:
        """Take note of a file: of the phase, or else by itself."""
        with self._lock:
            if not self._in_phase:
                self._begin(name, None, "")
            self._size += size

    def read(self, n_bytes: int) -> None:
        """Take note of bytes read."""
        with self._lock:
            self._n_read += n_bytes
            self._draw()
            if not self._in_phase and self._n_read >= self._size:  # what follows is another work, of unknown length
                self.clear()

    def clear(self) -> None:
        """Remove the line."""
        with self._lock:
            if self._is_drawn:
                click.echo("\r\x1b[K", nl=False, err=True)
            self._is_drawn = False

    def _begin(self, name: str, total: int | None, unit: str) -> None:
        self.clear()
        self._name, self._total, self._unit = name, total, unit
        self._done = self._size = self._n_read = 0
        self._began = self._drawn = time.monotonic()

    @property
    def _share(self) -> float | None:
        """The share that is done: bytes are read before their rows are worked on, so the lesser of both."""
        pairs = ((self._n_read, self._size), (self._done, self._total))
        return min((min(done / whole, 1.0) for done, whole in pairs if whole), default=None)

    def _draw(self) -> None:
        now = time.monotonic()
        if now - self._since < PATIENCE or now - self._drawn < PAUSE:
            return
        self._drawn, self._is_drawn = now, True
        width = shutil.get_terminal_size((80, 24)).columns - 1
        line = describe(self._name, self._share, (self._done, self._unit), now - self._began, width)
        click.echo(f"\r{line}\x1b[K", nl=False, err=True)


def describe(name: str, share: float | None, done: tuple[int, str], seconds: float, width: int) -> str:
    """Return the line of a bar: name, bar, share, time left, units done, their rate; those that fit into the width."""
    number, unit = done
    facts = [escaped(_shorten(name))]
    if share is not None:
        facts.append(f"{share:4.0%}")
    if share:
        facts.append(f"{_clock(seconds * (1 - share) / share)} left")
    if number:
        facts += [f"{number:,} {unit}", f"{number / seconds:,.0f}/s"]
    while len(facts) > 1 and len("  ".join(facts)) > width:
        facts.pop()
    room = min(width - len("  ".join(facts)) - len("  []"), BAR)
    if share is not None and room >= SHORTEST_BAR:
        full = int(room * share)
        facts.insert(1, f"[{FULL * full}{EMPTY * (room - full)}]")
    return "  ".join(facts)[:width]


def _shorten(name: str) -> str:
    """Return a name of NAME characters at most: that of a file without its folders."""
    if len(name) <= NAME:
        return name
    last = PurePath(name).name
    return last if len(last) <= NAME else f"...{last[3 - NAME :]}"


def _clock(seconds: float) -> str:
    """Return a time as minutes and seconds, and hours where there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
