"""Numba kernels: self-contained files that import numpy and numba only.

Importing this package makes sure that numba finds a place for its cache: without one it refuses to compile at all.
"""

from __future__ import annotations

import getpass
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import dispatcher, event
from numba.core.registry import cpu_target


def _is_writable(directory: Path) -> bool:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def _find_cache() -> None:
    """Leave numba its own places (beside the files, then the user's cache); else use a temporary directory."""
    if numba.config.CACHE_DIR or _is_writable(Path(__file__).parent / "__pycache__"):
        return
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba"
    if _is_writable(home):
        return
    try:
        place = Path(tempfile.gettempdir()) / f"xmceval-cache-{getpass.getuser()}"
    except (OSError, KeyError):
        place = None
    if place is not None and _is_writable(place) and place.stat().st_uid == os.getuid():
        numba.config.CACHE_DIR = str(place)
    else:
        dispatcher.Dispatcher.enable_caching = lambda _: None  # nowhere to write: compile at each start


class _CompilationListener(event.Listener):  # type: ignore[misc]
    def __init__(self, report: Callable[[], None]) -> None:
        self._report: Callable[[], None] | None = report

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if self._report is not None:
            report, self._report = self._report, None
            report()

    def on_end(self, event: Any) -> None:
        """Do nothing: the start was reported."""


def on_compilation(report: Callable[[], None]) -> None:
    """Call `report` once, when a kernel has to be compiled: on the first run ever it takes seconds."""
    event.register("numba:compile", _CompilationListener(report))


def start_quickly() -> None:
    """Load numba's registries without its look for a BLAS, which no kernel here uses.

    It would import scipy.linalg and half of scipy with it, 0.1 of the 0.5 seconds that a start takes. For the command's
    own process only: numba then has no BLAS for anyone else's functions.
    """
    name = "scipy.linalg.cython_blas"
    if name in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
    finally:
        del sys.modules[name]


_find_cache()
