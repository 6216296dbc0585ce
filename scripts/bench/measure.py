"""What to measure, and what its figures are worth: whole processes in turns, their spread, the machine, revisions.

Nothing here imports numpy: on Linux a child's peak memory begins at that of the process that started it. Another
revision is installed apart from all else, into a folder for PYTHONPATH, so that both run in the same interpreter with
the same numpy, scipy and numba; nothing of the environment is changed. Uncommitted changes belong to this tree. An
installation is kept under the made data, by revision, and for this tree by its contents.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Command:
    """What to run: one or more processes at the same time, and what to change in their environment."""

    argvs: tuple[tuple[str, ...], ...]
    env: Mapping[str, str] | None = None

    @property
    def environ(self) -> dict[str, str]:
        """The whole environment."""
        return {**os.environ, **(self.env or {})}


@dataclass(frozen=True)
class Usage:
    """Seconds of wall clock, seconds of processor (user and system), and the largest process's peak in MB."""

    wall: float
    cpu: float | None = None
    peak: float | None = None


def measure(command: Command, printed: Path | None = None) -> Usage:
    """Run the processes of a command side by side, and tell what they used; what they print may go to a file."""
    with tempfile.TemporaryFile() as errors, open(printed or os.devnull, "wb") as output:
        env = command.environ
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
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
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


def module(name: str, *arguments: str, python: str = sys.executable, tree: Path | None = None) -> Command:
    """Return the command that runs a module of this folder, with the xmceval of a tree if given."""
    places = [str(SCRIPTS)] if tree is None else [str(tree), str(SCRIPTS)]
    env = {"PYTHONPATH": os.pathsep.join(places), "PYTHONSAFEPATH": "1"}  # not what is in the current directory
    return Command(((python, "-m", f"bench.{name}", *arguments),), env)


def figures_of(name: str, *arguments: str, python: str = sys.executable, tree: Path | None = None) -> Any:
    """Run a module of this folder in a process of its own, and return the JSON in its last line."""
    command = module(name, *arguments, python=python, tree=tree)
    last = ""
    with subprocess.Popen(command.argvs[0], env=command.environ, stdout=subprocess.PIPE, text=True) as done:
        for line in done.stdout or ():
            if last:
                print(last, end="", flush=True)
            last = line
    if done.returncode:
        sys.exit(f"bench.{name} failed")
    return json.loads(last)


SCRIPTS = Path(__file__).resolve().parents[1]
ROOT = SCRIPTS.parent
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "xmceval", "datasets")  # what an installation is made from
LEAST = 0.01  # a smaller difference than this is not reported, however consistent


def command_of(installed: Path, arguments: tuple[str, ...]) -> Command:
    """Return the command that runs an installation; its compiled kernels are its own."""
    env = {"PYTHONPATH": str(installed), "NUMBA_CACHE_DIR": str(installed / "kernels")}
    return Command(((str(installed / "bin" / "xmceval"), *arguments),), env)


def install_revision(name: str, folder: Path) -> Path:
    """Install a revision of this repository, unless that was done before, and return where."""
    commit = git(ROOT, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if commit is None:
        sys.exit(f"{name} is not a revision of {ROOT}")
    home = folder / f"{commit[:16]}-{interpreter()}"
    if not home.exists():
        archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit], check=True, stdout=subprocess.PIPE).stdout
        with tempfile.TemporaryDirectory() as source:
            with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                tar.extractall(source, filter="data")
            install(Path(source), home)
    return home


def install_tree(folder: Path) -> Path:
    """Install this tree as it is now, unless that was done before, and return where."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    home = folder / f"tree-{digest.hexdigest()[:16]}-{interpreter()}"
    if not home.exists():
        with tempfile.TemporaryDirectory() as source:
            for path in sources():
                copy = Path(source) / path.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())
            install(Path(source), home)
    return home


def sources() -> Iterator[Path]:
    """Yield the files of this tree that an installation is made from."""
    for name in SOURCES:
        path = ROOT / name
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (each for each in found if each.is_file() and "__pycache__" not in each.parts)


def interpreter() -> str:
    """Return a word for this interpreter: an installation names it in its first line."""
    return hashlib.sha256(sys.executable.encode()).hexdigest()[:6]


def install(source: Path, home: Path) -> None:
    """Install a source tree, without what it depends on, into a folder that appears when it is whole."""
    print(f"installing into {home}", file=sys.stderr)
    part = home.with_name(f"{home.name}.{os.getpid()}")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--target", str(part), str(source)], check=True, stdout=sys.stderr)
    part.rename(home)


def verdict(ratio: dict[str, Any]) -> str:
    """Say in words what the ratios of one figure show."""
    if ratio["interval"] is None:
        return f"too few runs to tell ({ratio['min']:.2f} to {ratio['max']:.2f})"
    (low, high), middle = ratio["interval"], ratio["median"]
    if low <= 1 <= high or abs(middle - 1) < LEAST:
        return f"no difference beyond noise ({middle:.3f} times, {low:.3f} to {high:.3f})"
    if middle > 1:
        return f"{middle:.2f} times slower ({low:.2f} to {high:.2f})"
    return f"{1 / middle:.2f} times faster ({1 / high:.2f} to {1 / low:.2f})"
