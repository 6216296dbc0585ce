"""Kernels compiled by numba, and kept in a folder of their own: a process compiles only what no earlier one has.

Numba's cache looks at the file of a kernel alone, and trusts whoever wrote it. So its folder is named after a digest of
all kernels, of versions, of the processor and of numba's settings, and is used only if nobody but this user can write
to it. Where there is no such folder, each process compiles for itself.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import stat
import sys
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import cache, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTIONS = {"nogil": True, "error_model": "numpy"}

INDIFFERENT = {"CACHE_DIR", "CACHE_LOCATOR_CLASSES", "NUM_THREADS", "NUMBA_NUM_THREADS", "NUMBA_DEFAULT_NUM_THREADS"}
KEPT = 30 * 24 * 3600  # seconds after which folders that nobody used are removed

PATIENCE = 1.0  # seconds of compiling, before a note says so
COMPILING = "compiling for this kind of run: takes some seconds, once"
UNSAVED = (
    "compiling: takes some seconds in every process, as no folder for compiled code can be made that only this user "
    "can write (hint: set NUMBA_CACHE_DIR)"
)

# What reading and writing damaged or full files can raise.
BROKEN = (EOFError, OSError, pickle.UnpicklingError, ImportError, AttributeError, LookupError, TypeError, ValueError)

_LOCK = threading.RLock()  # of numba's settings, and of the first call of a kernel


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that Python calls, when it is called first, or load what an earlier process compiled.

    It runs without the GIL. All calls have the same types of arguments; another type is another kernel.
    """
    return Kernel(function)


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function that kernels call, as a part of each."""
    return numba.njit(**OPTIONS)(function)


class Kernel:
    """A compiled function; `py_func` is the function in Python."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._run: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled function."""
        run = self._run
        return self._start(arguments)(*arguments) if run is None else run(*arguments)

    @property
    def signatures(self) -> list[Any]:
        """The types of arguments that it was compiled for."""
        return getattr(self._run, "signatures", [])

    def __reduce__(self) -> str:
        return self.__qualname__

    def _start(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        """Return the function compiled for these arguments."""
        with _LOCK, _noting():
            if self._run is None:
                folder = find_folder()
                try:
                    self._run = _compile(self.py_func, arguments, folder)
                except BROKEN:
                    if folder is None:
                        raise
                    shutil.rmtree(folder, ignore_errors=True)
                    self._run = _compile(self.py_func, arguments, None)
            return self._run


def _compile(function: Callable[..., Any], arguments: tuple[Any, ...], folder: Path | None) -> Callable[..., Any]:
    """Return a function compiled for some arguments, which is saved in a folder if there is one."""
    if numba.config.DISABLE_JIT:
        return function
    if folder is None:
        compiled: Any = numba.njit(**OPTIONS)(function)
    else:
        copy: Any = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
        copy.__qualname__ = f"{function.__qualname__}_{digest()}"
        chosen, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            compiled = numba.njit(**OPTIONS, cache=True)(copy)
        finally:
            numba.config.CACHE_DIR = chosen
    compiled.compile(tuple(map(numba.typeof, arguments)))
    return compiled  # type: ignore[no-any-return]


@cache
def digest() -> str:
    """Return a digest of what compiled code depends on: the sources of kernels, versions, processor and settings."""
    found = hashlib.blake2b(digest_size=8)
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        found.update(str(path).encode(errors="surrogateescape") + path.read_bytes())
    machine = llvmlite.binding.get_process_triple(), llvmlite.binding.get_host_cpu_name()
    versions = numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.cache_tag
    settings = {name: value for name, value in vars(numba.config).items() if name.isupper() and name not in INDIFFERENT}
    found.update(repr((machine, versions, sorted(settings.items(), key=lambda item: item[0]))).encode())
    return found.hexdigest()


@cache
def find_folder() -> Path | None:
    """Return the folder for compiled kernels, which only this user can write, or None."""
    try:
        folder = _parent() / f"xmceval-{digest()}"
        is_new = not folder.exists()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(folder):
            return None
        os.utime(folder)
    except OSError:
        return None
    if is_new:
        _remove_old(folder)
    return folder


def _parent() -> Path:
    """Return NUMBA_CACHE_DIR, or the folder of the user's caches."""
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR).absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return chosen if chosen.is_absolute() else Path.home() / ".cache"


def _is_private(folder: Path) -> bool:
    """Whether only this user owns and may write a folder, which is no link, as far as the system knows."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or not os.access(folder, os.W_OK):
        return False
    return not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and not found.st_mode & 0o022)


def _remove_old(folder: Path) -> None:
    """Remove folders of other versions that nobody used for long."""
    for other in folder.parent.glob("xmceval-*"):
        with suppress(OSError):
            if other != folder and _is_private(other) and time.time() - other.stat().st_mtime > KEPT:
                shutil.rmtree(other, ignore_errors=True)


# The note that something is compiled.

_show: Callable[[str], None] | None = None
_spent = 0.0  # seconds of first calls
_is_noted = False


def show_notes(show: Callable[[str], None]) -> None:
    """Let a command show the note that kernels are compiled; otherwise it appears on a terminal or in a notebook."""
    global _show  # noqa: PLW0603 - there is one command in a process
    _show = show


@contextmanager
def _noting() -> Iterator[None]:
    """Show a note once first calls have taken longer than PATIENCE."""
    global _spent  # noqa: PLW0603
    begin = time.monotonic()
    timer = threading.Timer(max(PATIENCE - _spent, 0.0), _note)
    timer.daemon = True
    if not _is_noted:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _spent += time.monotonic() - begin


def _note() -> None:
    global _is_noted  # noqa: PLW0603
    _is_noted = True
    note = COMPILING if find_folder() is not None else UNSAVED
    if _show is not None:
        _show(note)
    elif sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules):
        print(f"xmceval: {note}", file=sys.stderr)  # noqa: T201
