"""Compile kernels with numba, and cache the compiled code in a folder that only this user can write.

Numba's cache checks the file of a kernel, but not the files of its helpers, and it unpickles the cached files.
The folder is therefore named after a digest of all kernel files, and used only if no other user can write to
it. Without such a folder every process compiles its own kernels. Damaged files, and those of other kernels, are
replaced; damaged machine code is not detected.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, update_wrapper
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np

OPTIONS = {"nogil": True, "error_model": "numpy"}

MAX_AGE = 30 * 24 * 3600  # seconds without use after which a folder is removed

PATIENCE = 1.0  # seconds of compiling before a note appears
COMPILING = "compiling kernels for this kind of run, once; this takes a few seconds"
UNSAVED = (
    "compiling kernels takes a few seconds in every process, as no folder for them can be made that only this user "
    "can write (hint: set NUMBA_CACHE_DIR)"
)

# Held during the first call of a kernel, when numba's settings are changed. A fork waits for it: if another
# thread held it, or numba's lock, the forked process would wait forever.
_LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


def kernel(function: Callable[..., Any]) -> Kernel:
    """Compile a function for calls from Python, at its first call or in an earlier process.

    It runs without the GIL. Arguments must have the same types in every call: other types need another kernel.
    """
    return Kernel(function)


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function as part of each kernel that calls it."""
    return numba.njit(**OPTIONS)(function)


class Kernel:
    """A compiled function; `py_func` is the original."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._run: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled function."""
        if self._run is None:
            self._start(arguments)
        return self._run(*arguments)

    @property
    def signatures(self) -> list[Any]:
        """Argument types for which the function is compiled."""
        return list(getattr(self._run, "signatures", ()))

    def __reduce__(self) -> str:
        return self.__qualname__

    def _start(self, arguments: tuple[Any, ...]) -> None:
        with _LOCK:
            if self._run is None:
                self._run = self.py_func if numba.config.DISABLE_JIT else _prepare(self.py_func, arguments)


def _prepare(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Load or compile a function for the types of these arguments; show a note if compiling takes long."""
    types = tuple(map(numba.typeof, arguments))
    folder = find_folder()
    is_saved = folder is not None and any(folder.glob(f"*/*.{function.__name__}_*.nbi"))  # numba's index file
    begin = time.monotonic()
    timer = threading.Timer(_note.patience, _note.appear, [COMPILING if folder else UNSAVED])
    timer.daemon = True
    if not is_saved:
        timer.start()
    try:
        run = _load(function, types, folder) if folder else None
        return _compile(function, types) if run is None else run
    finally:
        timer.cancel()
        if not is_saved:
            _note.patience = max(_note.patience - (time.monotonic() - begin), 0.0)


def _compile(function: Callable[..., Any], types: tuple[Any, ...]) -> Any:
    """Compile a function for argument types without saving it."""
    compiled = numba.njit(**OPTIONS)(function)
    compiled.compile(types)
    return compiled


def _load(function: Callable[..., Any], types: tuple[Any, ...], folder: Path) -> Any:
    """Load a compiled function from a folder, or compile and save it; return None if the folder is unusable."""
    function.__qualname__ = f"{function.__name__}_{digest()}"
    chosen, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
    try:
        compiled = numba.njit(**OPTIONS, cache=True)(function)
    except (OSError, RuntimeError):  # RuntimeError from numba if it cannot write anywhere
        return None
    finally:
        numba.config.CACHE_DIR = chosen
    if Path(compiled.stats.cache_path).parent != folder:  # numba chose another folder
        return None
    try:
        compiled.compile(types)
    except Exception:  # unpickling damaged files may raise anything
        if not compiled.signatures:
            shutil.rmtree(folder, ignore_errors=True)
            return None
        # If it was compiled, only saving failed.
    loaded = compiled.overloads.get(types)
    if loaded is None or loaded.fndesc.qualname != function.__qualname__:  # the file is that of another kernel
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return compiled


# The folder.


def digest_files(folder: Path) -> str:
    """Return a digest of all Python files in a folder, or "" if there are none (as in a zip archive)."""
    paths = sorted(folder.rglob("*.py"))
    files = hashlib.blake2b()
    for path in paths:
        content = path.read_bytes()
        files.update(f"{path.relative_to(folder)} {len(content)}\n".encode() + content)
    return files.hexdigest() if paths else ""


# Computed before any kernel is imported, so that no kernel is older than the digest it is saved under.
SOURCES = digest_files(Path(__file__).parent)


@cache
def digest() -> str:
    """Return a digest of everything that compiled code depends on."""
    config, machine = numba.config, llvmlite.binding
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.cache_tag)
    processor = (machine.get_process_triple(), machine.get_host_cpu_name(), machine.get_host_cpu_features().flatten())
    target = (config.CPU_NAME, config.CPU_FEATURES, config.ENABLE_AVX, config.DISABLE_INTEL_SVML)
    optimization = (str(config.OPT), config.LOOP_VECTORIZE, config.SLP_VECTORIZE, config.LLVM_REFPRUNE_FLAGS)
    debugging = (config.BOUNDSCHECK, config.DEBUGINFO_DEFAULT, config.EXTEND_VARIABLE_LIFETIMES, config.DEBUG_NRT)
    parts = (SOURCES, versions, processor, target, optimization, debugging)
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def find_folder() -> Path | None:
    """Return the folder for compiled kernels, or None if no folder is writable only by this user."""
    if not SOURCES:
        return None
    try:
        folder = _cache_home() / f"xmceval-{digest()}"
        is_new = not folder.exists()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(folder):
            return None
        os.utime(folder)
        if is_new:
            _remove_old(folder.parent)
    except (OSError, RuntimeError):  # RuntimeError if the user has no home
        return None
    return folder


def _cache_home() -> Path:
    """Return NUMBA_CACHE_DIR, or the folder of the user's caches."""
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR).absolute()
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return chosen if chosen.is_absolute() else Path.home() / ".cache"


def _is_private(folder: Path) -> bool:
    """Whether a folder is not a link, belongs to this user, and is not writable by others."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or not os.access(folder, os.W_OK):
        return False
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def _remove_old(home: Path) -> None:
    """Remove folders that have not been used for a long time."""
    for folder in home.glob("xmceval-" + 16 * "[0-9a-f]"):
        with suppress(OSError):
            if _is_private(folder) and time.time() - folder.stat().st_mtime > MAX_AGE:
                shutil.rmtree(folder, ignore_errors=True)


# The note.


class _Note:
    """The note that kernels are being compiled, shown once, after a second of compiling."""

    def __init__(self) -> None:
        self.show: Callable[[str], None] = _print_for_people
        self.patience = PATIENCE
        self.is_shown = False

    def appear(self, text: str) -> None:
        """Show the note, unless it has appeared before."""
        if not self.is_shown:
            self.is_shown = True
            with suppress(Exception):  # stderr may be closed, and a note must not cause a failure
                self.show(text)


def _print_for_people(text: str) -> None:
    """Print a note if stderr is a terminal or belongs to a notebook."""
    if sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules):
        print(f"xmceval: {text}", file=sys.stderr)  # noqa: T201 - logging and warnings would reach programs


def show_notes(show: Callable[[str], None]) -> None:
    """Choose how the note about compiling is shown; by default only on a terminal or in a notebook."""
    _note.show = show


_note = _Note()
