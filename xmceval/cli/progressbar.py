"""Bars: how far work is that takes more than a second, on a terminal."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

import click

from xmceval.errors import escaped

PATIENCE, PAUSE = 1.0, 0.2  # seconds before the first drawing, and between two
STEPS = 1000
NAME = 28  # characters
CLEAR = "\r\x1b[K"
SHOW_CURSOR = "\x1b[?25h"  # after each drawing, which hides it: a signal may end the process at any time

_lock = threading.RLock()  # of the terminal
_is_drawn = False


@contextmanager
def shown(quiet: bool) -> Iterator[None]:
    """Show how far the work inside is, if stderr is a terminal."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
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
        clear()


def clear() -> None:
    """Remove the bar from the terminal, before something else is written there."""
    global _is_drawn  # noqa: PLW0603 - there is one terminal
    with _lock:
        if _is_drawn:
            click.echo(CLEAR, nl=False, err=True)
        _is_drawn = False


def _draw_until(is_over: threading.Event) -> None:
    """Draw a bar for each work, from its beginning on; it is removed while nothing is known to go on."""
    global _is_drawn  # noqa: PLW0603
    from xmceval.rows.progress import measure_progress

    bar, began = None, time.monotonic()
    while not is_over.wait(PAUSE):
        name, share = measure_progress() or ("", 1.0)
        if share >= 1:
            clear()
            bar = None
            continue
        label, step = escaped(PurePath(name).name[-NAME:]), int(STEPS * share)
        if bar is None or bar.label != label or bar.pos > step:
            bar = click.progressbar(length=STEPS, label=label, width=0, file=sys.stderr)
        if step > bar.pos and time.monotonic() - began >= PATIENCE:
            with _lock:
                bar.update(step - bar.pos)
                click.echo(SHOW_CURSOR, nl=False, err=True)
                _is_drawn = True
