"""The harness of faults: commands in copies of one warm process, so that hundreds of them take seconds, and what is
tried of each.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
XMCEVAL = [sys.executable, "-m", "xmceval"]
SCORE = ["score", "t.txt", "a.txt", "-q", "-m", "P,PSP"]
chosen = random.Random(25)


class Tried(NamedTuple):
    """One try: what was done to what, what is expected, what happened, and whether it held; None: it was not run."""

    what: str
    expected: str
    happened: str
    held: bool | None


class Ended(NamedTuple):
    """How a command ended: its exit code, minus the number of a signal that ended it, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def is_refusal(self) -> bool:
        """Whether it ended with a message, as for wrong data."""
        return self.code == 1 and self.err.lstrip().startswith("Error: ") and "Traceback" not in self.err

    def __str__(self) -> str:
        """Return this in a few words."""
        if self.is_refusal:
            return "refused with a message"
        if self.code < 0:
            return f"ended by {signal.Signals(-self.code).name}"
        return f"exit code {self.code}" + (", traceback" if "Traceback" in self.err else "")


def warm_up() -> None:
    """Load what commands load; kernels are compiled by the first of them."""
    import click  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import scipy.sparse
    import scipy.special  # noqa: F401

    from xmceval.kernels import start_quickly
    from xmceval.kernels.compile.compiler import load_numba

    start_quickly()
    load_numba()


@contextmanager
def sample_folder(folder: Path) -> Iterator[Path]:
    """Go to a new folder with the sample in it, and back."""
    folder.mkdir(parents=True)
    for name, source in (("t", "tst_X_Y"), ("a", "model_a"), ("b", "model_b")):
        shutil.copy(ROOT / f"datasets/sample/{source}.txt", folder / f"{name}.txt")
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)


class Running:
    """A command in a copy of this process.

    Parameters
    ----------
    arguments : list of str
        Those of the command.
    before : callable
        What the copy does first, such as to set a limit.
    """

    def __init__(self, arguments: list[str], before: Callable[[], object] = lambda: None) -> None:
        pipes = os.pipe(), os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            _run_copy(arguments, before, [write_end for _, write_end in pipes])
        for _, write_end in pipes:
            os.close(write_end)
        self._ends = [read_end for read_end, _ in pipes]

    def stop_reading(self) -> None:
        """Close the pipe of its standard output."""
        os.close(self._ends[0])
        self._ends[0] = -1

    def end(self) -> Ended:
        """Wait until it has ended."""
        texts = []
        for read_end in self._ends:
            if read_end < 0:
                texts.append("")
                continue
            with os.fdopen(read_end, "rb") as file:
                texts.append(file.read().decode(errors="replace"))
        return Ended(os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), *texts)


def _run_copy(arguments: list[str], before: Callable[[], object], outputs: list[int]) -> None:
    code = 99
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        for place, number in enumerate((os.open(os.devnull, os.O_RDONLY), *outputs)):
            os.dup2(number, place)
        os.closerange(3, 64)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        sys.argv = ["xmceval", *arguments]
        before()
        from xmceval.__main__ import main

        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                if stream is not None:
                    stream.flush()
            except (OSError, ValueError):
                code = code or 98
        os._exit(code)


def run(*arguments: str, before: Callable[[], object] = lambda: None) -> Ended:
    """Run a command to its end."""
    return Running(list(arguments), before).end()


def time_of(*arguments: str) -> float:
    """Return how many seconds a command takes."""
    begin = time.perf_counter()
    ended = run(*arguments)
    if ended.code:
        raise RuntimeError(f"{arguments}: {ended.err}")
    return time.perf_counter() - begin


@contextmanager
def small_disk(folder: Path, n_bytes: int) -> Iterator[Path | None]:
    """Mount a file system in memory; None where that is not allowed."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def summarize(case: str, tries: Iterable[Tried]) -> list[dict[str, object]]:
    """Return one entry for each thing that a case does: how often, and what happened."""
    groups: dict[tuple[str, str], list[Tried]] = {}
    for each in tries:
        groups.setdefault((each.what, each.expected), []).append(each)
    return [
        {
            "case": case.replace("_", " "),
            "what": what,
            "expected": expected,
            "tries": sum(each.held is not None for each in group),
            "held": sum(each.held is True for each in group),
            "happened": dict(Counter(each.happened for each in group)),
        }
        for (what, expected), group in groups.items()
    ]
