"""Compile ahead: numba compiles one kernel at a time in a process, so a second process compiles others meanwhile."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).absolute().parents[1]

# Files of the user in the current directory may be named like modules: nothing is imported from there. Sources of
# xmceval that lie there are found by their path. When the first process ends, however that happens, so does the pipe
# that is the standard input of this one.
CODE = """
import gc, importlib.util, json, os, signal, sys, threading

gc.disable()  # it finds nothing here, and takes a tenth of the time

signal.signal(signal.SIGINT, signal.SIG_IGN)  # that is for the first process, which then ends this one

def end_with_input():
    os.read(0, 1)
    if "xmceval.kernels.cache" in sys.modules:
        sys.modules["xmceval.kernels.cache"].remove_unfinished()
    os._exit(1)

threading.Thread(target=end_with_input, daemon=True).start()
given = json.loads(sys.argv[1])
sys.path[:], sys.dont_write_bytecode, sys.pycache_prefix = given["path"], given["dont_write"], given["prefix"]
spec = importlib.util.spec_from_file_location("xmceval", os.path.join(given["package"], "__init__.py"))
sys.modules["xmceval"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["xmceval"])

from xmceval.kernels import start_quickly
from xmceval.scoring.warmup import compile_ahead

start_quickly()
compile_ahead()
os._exit(0)
"""

_processes: list[subprocess.Popen[bytes]] = []
_locks: list[Any] = []


def start_ahead() -> None:
    """Start the second process, unless another command has one at work, or no cache can be shared with it."""
    from xmceval.kernels.cache import folder_to_write
    from xmceval.kernels.locks import take_lock

    folder = folder_to_write()
    if folder is None:
        return
    lock = take_lock(f"{folder}: ahead", patience=0)
    if lock is None:
        return
    _locks.append(lock)
    with suppress(OSError):
        process = subprocess.Popen(  # noqa: S603
            command(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _processes.append(process)
        atexit.register(stop_ahead)


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
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    while _locks:
        _locks.pop().release()
