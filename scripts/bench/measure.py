"""What to measure, and what its figures are worth: whole processes in turns, their spread, the machine, revisions.

Nothing here imports numpy: on Linux a child's peak memory begins at that of the process that started it.
"""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

SCRIPTS = Path(__file__).resolve().parents[1]
ROOT = SCRIPTS.parent
MADE = Path(tempfile.gettempdir()) / "xmceval-bench"  # files that are made once
LONG = 15.0  # seconds
WHOLE = "whole process"  # works of which that is measured
PRINTED = 1 << 20  # bytes that are read of what a command prints: `cat` would fill the memory of this process
LEAST = 0.01  # a smaller difference than this is not reported, however consistent
KEYS = ("wall", "cpu", "peak")
CUTS = (1, 3, 5)

Figures = dict[str, Any]


class Command(NamedTuple):
    """What to run, and what to change in its environment."""

    argv: tuple[str, ...]
    env: Mapping[str, str] | None = None


class Usage(NamedTuple):
    """Seconds of wall clock, seconds of processor (user and system), and the peak of memory in MB."""

    wall: float
    cpu: float | None = None
    peak: float | None = None


Measured = Mapping[str, Sequence[Usage]]  # of each contestant, one for each turn


def measure(command: Command) -> tuple[Usage, str]:
    """Run a command and return what it used and what it printed."""
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(command.argv, env=os.environ | (command.env or {}), stdout=output, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        for stream in (errors, output):
            stream.seek(0)
        if process.returncode:
            sys.exit(f"{' '.join(command.argv)}\nfailed:\n{errors.read().decode(errors='replace')[-2000:]}")
        printed = output.read(PRINTED).decode(errors="replace")
        return Usage(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3), printed


def alternate(commands: Mapping[str, Command], runs: int) -> tuple[dict[str, list[Usage]], dict[str, str]]:
    """Measure A B C A B C ..., and return what was printed too. Ours are warm; what takes LONG has one turn."""
    found: dict[str, list[Usage]] = {name: [] for name in commands}
    printed = {}
    for command in commands.values():
        if any(word.startswith("xmceval") for word in command.argv):
            measure(command)
    for _ in range(runs):
        for name, command in commands.items():
            if not (found[name] and found[name][0].wall > LONG):
                usage, printed[name] = measure(command)
                found[name].append(usage)
    return found, printed


def score_of(paths: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arguments of the score that is measured."""
    return ("score", paths["truth"], paths["preds"], "--train", paths["train"], "-k", "1,3,5", "-o", "json")


def xmceval(*arguments: str, tree: Path | None = None) -> Command:
    """Return the command that runs xmceval: that of this interpreter, or that of a source tree with its own cache."""
    argv = (sys.executable, "-m", "xmceval", *arguments)
    if tree is None:
        return Command(argv, {"PYTHONSAFEPATH": "1"})  # not what is in the current directory
    cache = MADE / "kernels" / tree.as_posix().strip("/").replace("/", "-")
    compiled = {"PYTHONPYCACHEPREFIX": str(cache), "PYTHONDONTWRITEBYTECODE": ""}  # as modules are once installed
    return Command(argv, {"PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1", "NUMBA_CACHE_DIR": str(cache), **compiled})


def module(name: str, *arguments: str, python: str = sys.executable, tree: Path | None = None) -> Command:
    """Return the command that runs a module of this folder, with the xmceval of a tree if given."""
    env = dict(xmceval(tree=tree).env or {})
    env["PYTHONPATH"] = os.pathsep.join([*([str(tree)] if tree else []), str(SCRIPTS)])
    return Command((python, "-m", f"bench.{name}", *arguments), env)


def figures_of(name: str, *arguments: str, python: str = sys.executable, tree: Path | None = None) -> Any:
    """Run a module of this folder in a process of its own, print its lines, and return the JSON in the last one."""
    command = module(name, *arguments, python=python, tree=tree)
    done = subprocess.run(command.argv, env=os.environ | command.env, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"bench.{name} failed")
    *lines, last = done.stdout.splitlines()
    print(*lines, sep="\n", end="\n" if lines else "")
    return json.loads(last)


def tree_of(name: str) -> Path:
    """Return a source tree: a folder that has one, or the files of a revision, which are kept."""
    if (Path(name) / "xmceval").is_dir():
        return Path(name).resolve()
    run = partial(subprocess.run, cwd=ROOT, stdout=subprocess.PIPE)
    found = run(["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"], check=False)
    if found.returncode:
        sys.exit(f"{name} is neither a checkout nor a revision of {ROOT}")
    home = MADE / "revisions" / found.stdout.decode()[:16]
    if not home.exists():
        part = home.with_suffix(".part")
        part.mkdir(parents=True, exist_ok=True)
        run(["tar", "-x", "-C", str(part)], check=True, input=run(["git", "archive", home.name], check=True).stdout)
        part.rename(home)
    return home


def spread(values: Sequence[float | None]) -> Figures | None:
    """Return median, range and interval in six digits, or None where a value is missing."""
    numbers = [float(f"{value:.6g}") for value in values if value is not None]
    if len(numbers) < len(values):
        return None
    limits = {"min": min(numbers), "max": max(numbers), "interval": interval(numbers)}
    return {"median": statistics.median(numbers), **limits}


def interval(numbers: Sequence[float]) -> list[float] | None:
    """Return the 95 % interval of the median that assumes no distribution, or None of fewer than six numbers."""
    n, below = len(numbers), 0
    while 2 * sum(math.comb(n, i) for i in range(below + 1)) <= 0.05 * 2**n:
        below += 1
    return [sorted(numbers)[below - 1], sorted(numbers)[n - below]] if below else None


def entries(subject: str, measured: Measured) -> Iterator[Figures]:
    """Yield what each contestant used."""
    for name, usages in measured.items():
        spreads = {key: spread([getattr(usage, key) for usage in usages]) for key in KEYS}
        yield {"subject": subject, "contestant": name, "runs": len(usages), **spreads}


def verdict(ratio: Figures) -> str:
    """Say in words what the ratios of one figure show."""
    if ratio["interval"] is None:
        return f"too few runs to tell ({ratio['min']:.2f} to {ratio['max']:.2f})"
    (low, high), middle = ratio["interval"], ratio["median"]
    if low <= 1 <= high or abs(middle - 1) < LEAST:
        return f"no difference beyond noise ({middle:.3f} times, {low:.3f} to {high:.3f})"
    if middle > 1:
        return f"{middle:.2f} times slower ({low:.2f} to {high:.2f})"
    return f"{1 / middle:.2f} times faster ({1 / high:.2f} to {1 / low:.2f})"


def table(title: str, measured: Sequence[Figures]) -> str:
    """Return entries as a table for a terminal."""
    lines = [f"{title:<44}{'wall ms':>10}{'cpu ms':>10}{'MB':>7}"]
    for entry in measured:
        wall, cpu, peak = (entry[key] and entry[key]["median"] for key in KEYS)
        memory = f"{peak:>7.0f}" if peak is not None else ""
        lines.append(f"  {entry['contestant']:<42}{1e3 * wall:>10.3f}{1e3 * cpu:>10.3f}{memory}")
    return "\n".join(lines)


def provenance() -> Figures:
    """Return when, on what machine and with which versions something was measured."""
    versions = {"python": platform.python_version(), **versions_of(("numpy", "scipy", "numba", "llvmlite", "xmceval"))}
    return {"date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "machine": machine(), "versions": versions}


def machine() -> Figures:
    """Return what the figures depend on that is not software."""
    lines = (line.partition(":") for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines())
    processor = {name.strip(): value.strip() for name, _, value in lines}
    return {
        "processor": processor.get("model name", platform.machine()),
        "processors": len(os.sched_getaffinity(0)),
        "virtual": "hypervisor" in processor.get("flags", "").split(),
    }


def write(path: Path, figures: Figures) -> None:
    """Write figures as JSON."""
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of the packages that this interpreter has."""
    found = {}
    for name in packages:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
