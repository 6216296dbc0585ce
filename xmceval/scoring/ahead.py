"""Compile ahead: numba compiles one kernel at a time in a process, so a second process compiles others meanwhile."""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

PACKAGE = Path(__file__).absolute().parents[1]
TASKS = Path("/proc/self/task")  # the threads of this process, where the system lists them

# Files of the user in the current directory may be named like modules: nothing is imported from there. Sources of
# xmceval that lie there are found by their path.
CODE = """
import gc, importlib.util, json, os, sys

gc.disable()
given = json.loads(sys.argv[1])
sys.path[:], sys.dont_write_bytecode, sys.pycache_prefix = given["path"], given["dont_write"], given["prefix"]
spec = importlib.util.spec_from_file_location("xmceval", os.path.join(given["package"], "__init__.py"))
sys.modules["xmceval"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["xmceval"])

from xmceval.scoring.ahead import work
from xmceval.kernels import start_quickly

start_quickly()
work()
"""


class Process(Protocol):
    """The second process."""

    def end(self) -> None:
        """Close its standard input, with which it ends."""

    def wait(self, timeout: float) -> int:
        """Wait for its end; raise TimeoutExpired after some seconds."""

    def kill(self) -> None:
        """End it at once."""


class Started(subprocess.Popen[bytes]):
    """A process with an interpreter of its own."""

    def end(self) -> None:
        """Close its standard input."""
        if self.stdin is not None:
            self.stdin.close()


class Forked:
    """A copy of this process."""

    def __init__(self, number: int, writer: int) -> None:
        self._number = number
        self._writer = writer

    def end(self) -> None:
        """Close its standard input."""
        os.close(self._writer)

    def wait(self, timeout: float) -> int:
        """Wait for its end."""
        deadline = time.monotonic() + timeout
        while os.waitpid(self._number, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("fork", timeout)
            time.sleep(0.001)
        return 0

    def kill(self) -> None:
        """End it at once."""
        os.kill(self._number, signal.SIGKILL)


_processes: list[Process] = []
_locks: list[Any] = []


def fork_ahead() -> None:
    """Make the second process a copy of this one, once numba is loaded, if nothing runs here that it would lack."""
    if not TASKS.is_dir() or len(os.listdir(TASKS)) > 1:  # a copy has one thread only, and locks that others held
        return
    with _only_one() as is_free:
        if not is_free:
            return
        from xmceval.kernels.compile.entries import load_dispatchers

        load_dispatchers().load_numba()
        reader, writer = os.pipe()
        number = os.fork()
        if number == 0:
            with suppress(BaseException):
                os.close(writer)
                for standard in (0, 1, 2):  # which cannot be written to
                    os.dup2(reader, standard)
                work()
            os._exit(1)
        os.close(reader)
        _processes.append(Forked(number, writer))


def start_ahead() -> None:
    """Start the second process, unless there is one."""
    with _only_one() as is_free, suppress(OSError):
        if is_free:
            _processes.append(
                Started(command(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )


@contextmanager
def _only_one() -> Iterator[bool]:
    """Yield whether to start one: there is a second processor, a shared cache, and no other command has one at work."""
    from xmceval.kernels.compile.cache import folder_to_write
    from xmceval.kernels.compile.locks import take_lock
    from xmceval.rows.threads import default_threads

    folder = folder_to_write()
    lock = None if folder is None or default_threads() < 2 else take_lock(f"{folder}: ahead", patience=0)
    if lock is not None:
        _locks.append(lock)
        atexit.register(stop_ahead)
    yield lock is not None


def work() -> None:
    """Do what the second process does, and end it: at the latest with the first, however that ends.

    Then the pipe that is the standard input of this one ends too.
    """
    from xmceval.kernels.compile import cache

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # these are for the first process, which then ends this one
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    gc.disable()  # it finds nothing here
    cache.forget_reports()
    threading.Thread(target=_end_with_input, daemon=True).start()
    from xmceval.scoring.warmup import compile_ahead

    compile_ahead()
    os._exit(0)


def _end_with_input() -> None:
    from xmceval.kernels.compile.cache import remove_unfinished

    os.read(0, 1)
    remove_unfinished()
    os._exit(1)


def command() -> list[str]:
    """Return the command of the second process: isolated, with the path of this one, less the current directory."""
    here = Path.cwd().resolve()
    path = [entry for entry in sys.path if Path(entry).is_absolute() and Path(entry).resolve() != here]
    given = {
        "path": path,
        "dont_write": sys.dont_write_bytecode,
        "prefix": sys.pycache_prefix,
        "package": str(PACKAGE),
    }
    return [sys.executable, "-I", "-c", CODE, json.dumps(given)]


def stop_ahead() -> None:
    """End the second process, if there is one: nobody wants more of its kernels."""
    while _processes:
        process = _processes.pop()
        process.end()
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(1.0)
    while _locks:
        _locks.pop().release()
