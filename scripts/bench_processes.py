"""Whole processes, measured in turns: what to run, and the seconds and memory that it used.

Nothing here imports numpy: on Linux a child's peak memory begins at that of the process that started it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Command:
    """What to run: one or more processes at the same time, and what to change in their environment."""

    argvs: tuple[tuple[str, ...], ...]
    env: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Usage:
    """Seconds of wall clock, seconds of processor (user and system), and the largest process's peak in MB."""

    wall: float
    cpu: float | None = None
    peak: float | None = None


def measure(command: Command, printed: Path | None = None) -> Usage:
    """Run the processes of a command side by side, and tell what they used; what they print may go to a file."""
    with tempfile.TemporaryFile() as errors, open(printed or os.devnull, "wb") as output:
        env = {**os.environ, **(command.env or {})}
        start = time.perf_counter()
        running = [subprocess.Popen(a, env=env, stdout=output, stderr=errors) for a in command.argvs]
        used = [os.wait4(process.pid, 0) for process in running]
        wall = time.perf_counter() - start
        for process, argv, (_, status, _) in zip(running, command.argvs, used, strict=True):
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                sys.exit(f"{' '.join(argv)}\nfailed:\n{errors.read().decode(errors='replace')[-2000:]}")
    unit = 1e6 if sys.platform == "darwin" else 1e3  # ru_maxrss is in bytes there, in KiB elsewhere
    cpu = sum(usage.ru_utime + usage.ru_stime for _, _, usage in used)
    return Usage(wall, cpu, max(usage.ru_maxrss for _, _, usage in used) / unit)


def alternate(commands: Mapping[str, Command], runs: int) -> dict[str, list[Usage]]:
    """Measure A B C A B C ..., after one round that warms files and compiled kernels."""
    found: dict[str, list[Usage]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            progress(f"{turn}/{runs} {name}")
            usage = measure(command)
            if turn:
                found[name].append(usage)
    progress("")
    return found


def progress(text: str) -> None:
    """Show what is going on, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def program() -> str:
    """Return the xmceval that is installed beside this interpreter."""
    path = Path(sys.executable).parent / "xmceval"
    return str(path) if path.exists() else sys.exit(f"{path} is not there: install xmceval, or use that python")


def score(paths: Mapping[str, str], threads: int | None = None, command: str | None = None) -> tuple[str, ...]:
    """Return the command line that is measured."""
    limit = () if threads is None else ("--threads", str(threads))
    files = (paths["truth"], paths["preds"], "--train", paths["train"])
    return (command or program(), "score", *files, "-k", "1,3,5", "-o", "json", *limit)
