"""What the figures of a run are worth: their spread, the machine and the versions, in one form for all subcommands."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench_processes import Usage

Figures = dict[str, Any]
Measured = Mapping[str, Sequence[Usage]]  # of each contestant, one for each turn

KEYS = ("wall", "cpu", "peak")

FORM = """\
The file that --json writes has one form for all subcommands:
  format                   "xmceval-bench 1"
  command, options, date   what was asked for, and when (UTC)
  machine                  processor, processors (that this process may use), virtual, memory_gb, system
  versions                 python, numpy, scipy, numba, llvmlite, xmceval; revision: of git, where xmceval is installed
                           from a checkout, with "+" where files differ from it
  measured                 a list: subject (such as a shape), contestant, runs; wall, cpu (seconds) and peak (MB), each
                           as median, min, max, quartiles, and interval (of 95 %, for the median; null for fewer than
                           six runs), or null where it was not measured
  ratios                   a list: subject, contestant, to (another contestant); wall, cpu and peak as above, of the
                           ratios of runs in the same turn
Beside these stands what a subcommand alone has.
"""


def spread(values: Sequence[float | None]) -> Figures | None:
    """Return median, range and quartiles, or None where a value is missing."""
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return None
    low, middle, high = statistics.quantiles(numbers, n=4, method="inclusive") if len(numbers) > 1 else numbers * 3
    figures = {"median": middle, "min": min(numbers), "max": max(numbers), "quartiles": [low, high]}
    return figures | {"interval": interval(numbers)}


def interval(numbers: Sequence[float]) -> list[float] | None:
    """Return the 95 % interval of the median that assumes no distribution, or None of fewer than six numbers."""
    n, below = len(numbers), 0
    while 2 * sum(math.comb(n, i) for i in range(below + 1)) <= 0.05 * 2**n:
        below += 1
    return [sorted(numbers)[below - 1], sorted(numbers)[n - below]] if below else None


def entries(subject: str, measured: Measured) -> list[Figures]:
    """Return one entry of `measured` for each contestant."""
    return [
        {
            "subject": subject,
            "contestant": name,
            "runs": len(usages),
            **{key: spread([getattr(usage, key) for usage in usages]) for key in KEYS},
        }
        for name, usages in measured.items()
    ]


def ratios(subject: str, measured: Measured, base: str) -> list[Figures]:
    """Return one entry of `ratios` for each contestant but the base: its runs against those of the same turn."""
    found = []
    for name, usages in measured.items():
        if name != base:
            pairs = list(zip(usages, measured[base], strict=True))
            each = {key: spread([ratio(getattr(a, key), getattr(b, key)) for a, b in pairs]) for key in KEYS}
            found.append({"subject": subject, "contestant": name, "to": base, **each})
    return found


def ratio(value: float | None, base: float | None) -> float | None:
    """Divide, unless one was not measured or the base is too short to be one."""
    return value / base if value is not None and base else None


def table(title: str, measured: Sequence[Figures], compared: Sequence[Figures] = ()) -> str:
    """Return entries as a table for a terminal."""
    beside = {entry["contestant"]: entry for entry in compared}
    head = f"{'':<28}{'wall s':>9}{'min..max':>17}{'cpu s':>9}{'peak MB':>9}"
    lines = [title, head + (f"   wall, cpu : {compared[0]['to']}" if compared else "")]
    for entry in measured:
        wall, cpu, peak = entry["wall"], entry["cpu"], entry["peak"]
        span = f"{wall['min']:.2f}..{wall['max']:.2f}"
        text = f"{entry['contestant']:<28}{wall['median']:>9.3f}{span:>17}"
        text += f"{cpu['median']:>9.3f}" if cpu else f"{'':>9}"
        text += f"{peak['median']:>9.0f}" if peak else f"{'':>9}"
        for figures in (beside[entry["contestant"]][key] for key in KEYS[:2] if entry["contestant"] in beside):
            text += f"{figures['median']:>9.3f}" if figures else ""
        lines.append(text.rstrip())
    return "\n".join(lines)


def record(command: str, options: Mapping[str, Any], figures: Mapping[str, Any]) -> Figures:
    """Return the whole of what a subcommand found, as FORM says."""
    return {
        "format": "xmceval-bench 1",
        "command": command,
        "options": dict(options),
        **provenance(),
        "measured": [],
        "ratios": [],
        **figures,
    }


def provenance() -> Figures:
    """Return when and on what something was measured."""
    date = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"date": date, "machine": machine(), "versions": versions()}


def write(path: Path, whole: Mapping[str, Any]) -> None:
    """Write a record; six digits of a figure are more than can be measured."""
    path.write_text(json.dumps(rounded(whole), indent=1) + "\n", encoding="utf-8")


def rounded(figures: Any) -> Any:
    """Return figures with six digits."""
    if isinstance(figures, Mapping):
        return {name: rounded(each) for name, each in figures.items()}
    if isinstance(figures, (list, tuple)):
        return [rounded(each) for each in figures]
    return float(f"{figures:.6g}") if isinstance(figures, float) else figures


def machine() -> Figures:
    """Return what the figures depend on that is not software."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    system = f"{platform.system()} {platform.release().partition('-')[0]} {platform.machine()}"
    known = processor()
    return {
        "processor": known.get("model name", platform.processor() or platform.machine()),
        "processors": usable,
        "virtual": "hypervisor" in known.get("flags", "").split(),
        "memory_gb": round(memory / 1e9, 1),
        "system": system,
    }


def processor() -> dict[str, str]:
    """Return what the system says of its last processor, where it is Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in lines)
    return {name.strip(): value.strip() for name, _, value in pairs}


def versions() -> Figures:
    """Return the versions of what is measured, in this interpreter."""
    found: Figures = {"python": platform.python_version()}
    for name in ("numpy", "scipy", "numba", "llvmlite", "xmceval"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found | {"revision": installed_revision()}


def installed_revision() -> str | None:
    """Return the revision of the installed xmceval, where it is a git checkout."""
    spec = importlib.util.find_spec("xmceval")
    if spec is None or spec.origin is None:
        return None
    package = Path(spec.origin).parent
    is_tracked = git(package, "ls-files", "--error-unmatch", "__init__.py") is not None
    return revision(package) if is_tracked else None


def revision(folder: Path) -> str | None:
    """Return the short revision of a checkout, with "+" where files differ from it."""
    name = git(folder, "rev-parse", "--short=10", "HEAD")
    return name and name + ("+" if git(folder, "status", "--porcelain") else "")


def git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints, or None where it fails."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def python(script: str, *arguments: str) -> Any:
    """Run a script that stands beside this one in a process of its own, and return the JSON in its last line."""
    argv = [sys.executable, str(Path(__file__).resolve().parent / script), *arguments]
    done = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    last = ""
    for line in done.stdout or ():
        if last:
            print(last, end="", flush=True)
        last = line
    if done.wait():
        sys.exit(f"{script} failed")
    return json.loads(last)
