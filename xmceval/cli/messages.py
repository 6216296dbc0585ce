"""Write doubts, notes, failed gates and progress to stderr."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from xmceval.errors import DataError, escaped

if TYPE_CHECKING:
    from xmceval.report.result import Result
    from xmceval.report.scored import GateOutcome

BREACH = 3  # exit code when a gate did not pass

PATIENCE = 1.0  # seconds before a bar is first drawn
PAUSE = 0.2  # seconds between updates
STEPS = 1000
NAME = 28  # characters
CLEAR = "\r\x1b[K"
SHOW_CURSOR = "\x1b[?25h"  # after each update, which hides it: a signal may end the process at any time

_lock = threading.RLock()  # guards the terminal
_is_drawn = False


def say(line: str) -> None:
    """Write a line to stderr; control characters, which file names may contain, are escaped."""
    _clear()
    click.echo(escaped(line), err=True)


def say_written(what: object, n_bytes: int, *, quiet: bool) -> None:
    """Say which file was written, and how large it is."""
    if not quiet:
        size = f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e6 else f"{max(round(n_bytes / 1e3), 1)} kB"
        say(f"wrote {what} ({size})")


def warn(lines: Iterable[str]) -> None:
    """Write doubts."""
    for line in lines:
        say(f"doubt: {line}")


def refuse_doubts(doubts: Sequence[str], failures: Sequence[str] = ()) -> None:
    """Refuse values that may be wrong, for ``--strict``."""
    if doubts:
        raise DataError(*failures, *doubts, "with --strict doubts are errors")


def warn_of_results(
    arguments: Mapping[str, Any], results: Sequence[Result], doubts: Sequence[str] | None = None, *, form: str
) -> None:
    """Write the doubts about results, and notes with --verbose; lines that systems share appear once.

    `doubts` are those about a comparison and its results. CSV has no place for facts, so they become notes too.
    """
    from xmceval.report.scored import shared_lines

    doubts = list(shared_lines(results, "doubts")) if doubts is None else doubts
    if arguments["strict"]:
        refuse_doubts(doubts)
    has_no_room = form == "csv" and not arguments["quiet"]
    is_verbose = arguments["verbose"]
    for kind, is_shown in (("facts", has_no_room), ("inputs", is_verbose), ("notes", is_verbose)):
        for line in shared_lines(results, kind) if is_shown else ():
            say(f"note: {line}")
    warn(doubts)


def print_output(text: str) -> None:
    """Write to stdout; if its reader has gone, the command goes on to its files and its gates."""
    with suppress(BrokenPipeError):
        click.echo(text, nl=False)


def enforce(outcomes: Sequence[GateOutcome], failures: Sequence[str] = (), *, quiet: bool = False) -> None:
    """Report failed gates and other failures, after the output is written, and losses that a gate lets pass."""
    for line in [] if quiet else [outcome.why for outcome in outcomes if outcome.passed and outcome.why]:
        say(f"note: {line}")
    breaches = [outcome.why for outcome in outcomes if outcome.is_decided and not outcome.passed]
    for line in breaches:
        say(f"breach: {line}")
    errors = dict.fromkeys([*failures, *(outcome.why for outcome in outcomes if not outcome.is_decided)])
    if errors:
        raise DataError(*errors)
    if breaches:
        raise click.exceptions.Exit(BREACH)


@contextmanager
def long_work(quiet: bool) -> Iterator[None]:
    """Show progress on a terminal, from one second on; a note says when kernels are compiled."""
    from xmceval.kernels.load import begin_command

    has_reader = sys.stderr.isatty()
    begin_command(say if has_reader or not quiet else lambda _: None)
    if quiet or not has_reader or os.environ.get("TERM") == "dumb":
        yield
        return
    is_over = threading.Event()
    thread = threading.Thread(target=_draw_until, args=(is_over,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        _clear()


def _clear() -> None:
    """Remove the bar from the terminal before anything else is written there."""
    global _is_drawn  # noqa: PLW0603 - there is one terminal
    with _lock:
        if _is_drawn:
            click.echo(CLEAR, nl=False, err=True)
        _is_drawn = False


def _draw_until(is_over: threading.Event) -> None:
    """Draw a bar for each piece of work until it is over; show no bar in between."""
    global _is_drawn  # noqa: PLW0603
    from xmceval.rows.progress import measure_progress

    bar = None
    shown = ""
    began = time.monotonic()
    while not is_over.wait(PAUSE):
        name, share, place = measure_progress() or ("", 1.0, "")
        if share >= 1:
            _clear()
            bar = None
            continue
        label = escaped(PurePath(name).name[-NAME:])
        step = int(STEPS * share)
        if bar is None or shown != label or bar.pos > step:
            bar = click.progressbar(length=STEPS, width=0, file=sys.stderr)
            shown = label
        bar.label = f"{label}, {place}" if place else label
        if step > bar.pos and time.monotonic() - began >= PATIENCE:
            with _lock:
                bar.update(step - bar.pos)
                click.echo(SHOW_CURSOR, nl=False, err=True)
                _is_drawn = True
