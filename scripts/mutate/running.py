"""Tests in forks of one process: which lines of the package each test runs, and whether one notices a mutant.

pytest collects once, in this process, which imports all that tests need. What runs is a fork: of a file of tests, to
learn their lines, or with the code of one function replaced. A fork has the kernels as plain Python, a folder of its
own for files, and a limit of processor time.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
import shutil
import signal
import tempfile
import time
import traceback
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mutate.mutants import ROOT, Mutant, lines_of

KEPT = ROOT / "build" / "mutate"  # what was learnt and tried, so that a run can be continued
MOST_SECONDS = 3.0  # of a single test: what takes longer as plain Python is left out
WAITED = 20.0  # real time of a single test: one that a limit interrupts may leave a lock behind, on which others wait
MOST_OF_FIXTURE = 12.0  # of a fixture of many tests, all of which fail where it takes longer
MOST_OF_FILE = 40.0  # of a file of tests, of which the rest is left out
MOST_OF_MUTANT = 5.0  # of the tests of one mutant, as they took when they were learnt
ENDLESS = 30.0  # processor time beyond that of its tests, after which a mutant counts as noticed
STUCK = 150.0  # real time after which a fork is killed: not noticed, as it may only have waited
# Tests whose work other processes do, which have no mutant; of what is not mutated; of the project and real data.
OTHERS = (
    "tests/project/test_agreement.py",
    "tests/project/test_bench.py",
    "tests/project/test_docstrings.py",
    "tests/project/test_faults.py",
    "tests/project/test_house.py",
    "tests/project/test_packaging.py",
    "tests/project/test_types.py",
    "tests/realdata/",
    "tests/kernels/test_cache.py",
    "tests/cli/test_processes.py",
    "tests/cli/test_streams.py",
    "tests/cli/test_completion.py",
    "tests/files/test_bombs.py",
    "tests/files/test_full_disk.py",
    "tests/files/test_remote.py",
    "tests/files/test_pipes.py",
    "tests/api/test_dask.py",
    "tests/api/test_same_bits.py",
    "tests/api/test_torchmetric.py",
    "tests/report/test_pictures.py",
    "tests/report/test_page.py",
)
LAST = "tests/api/", "tests/cli/", "tests/project/"  # learnt after those of rooms, which take less
SURVIVED, NOTICED, ENDED, STUCK_CODE, ABSENT = range(5)


class TooLongError(BaseException):
    """A test takes too long; no Exception, for which hypothesis would look for a simpler example."""


class Reports:
    """A plugin of pytest that keeps which tests failed, and how long each took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()
        self.passed: set[str] = set()

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.passed and report.when == "call":
            self.passed.add(report.nodeid)


class Fixtures:
    """A plugin of pytest that counts what a fixture of many tests does for each of them, and gives it more time."""

    def __init__(self, switch: Callable[[str], None]) -> None:
        self._switch = switch
        self.test = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Any:
        if fixturedef.scope == "function":
            return (yield)
        self._switch(f"fixture {fixturedef.argname}")
        left, _ = signal.setitimer(signal.ITIMER_VIRTUAL, MOST_OF_FIXTURE)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, left)
            self._switch(self.test)


class Session:
    """A plugin of pytest that does some work in place of running what it collected."""

    def __init__(self, work: Callable[[list[Any]], None]) -> None:
        self._work = work

    def pytest_runtestloop(self, session: Any) -> bool:
        self._work(session.items)
        return True


def collect(paths: list[str], work: Callable[[list[Any]], None], *, ignored: Iterable[str]) -> int:
    """Collect tests in this process, but not those of ignored files and folders, and do some work with them."""
    # As plain Python, kernels have numpy's numbers, which warn of what is meant: words without their overflow, and
    # infinities.
    options = [
        "-q",
        "-s",
        "--no-header",
        "--no-summary",
        "--tb=native",  # others need the line of each frame, which one that a limit of time interrupts may not have
        "-p",
        "no:xdist",
        *(f"-Wignore:{what} encountered in scalar" for what in ("overflow", "invalid value", "divide by zero")),
    ]
    return int(pytest.main([*options, *(f"--ignore={each}" for each in ignored), *paths], [Session(work)]))


def run_forks(
    jobs: Iterable[tuple[Any, Callable[[], int]]], at_once: int, deadline: float = float("inf")
) -> Iterator[tuple[Any, int]]:
    """Run each job in a fork of this process, some at once; yields its name and what it returned.

    Raises
    ------
    UnfinishedError
        There are jobs left at a point of time; those that had begun are yielded before.
    """
    running: dict[int, tuple[Any, float, str]] = {}

    def wait() -> Iterator[tuple[Any, int]]:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid:
                name, _, folder = running.pop(pid)
                shutil.rmtree(folder, ignore_errors=True)
                code = os.waitstatus_to_exitcode(status)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)  # what it may have started
                yield name, ENDED if code in {-signal.SIGPROF, -signal.SIGXCPU} else STUCK_CODE if code < 0 else code
                return
            for each, (_, start, _) in running.items():
                if time.monotonic() - start > STUCK:
                    os.killpg(each, signal.SIGKILL)
            time.sleep(0.005)

    unfinished = False
    for name, job in jobs:
        if time.monotonic() > deadline:
            unfinished = True
            break
        folder = tempfile.mkdtemp(prefix="mutant-")
        pid = os.fork()
        if pid == 0:
            _be_child(folder, job)
        running[pid] = name, time.monotonic(), folder
        if len(running) >= at_once:
            yield from wait()
    while running:
        yield from wait()
    if unfinished:
        raise UnfinishedError


def _be_child(folder: str, job: Callable[[], int]) -> None:
    code = NOTICED
    try:
        os.setsid()
        os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.tempdir = folder
        os.environ["TMPDIR"] = folder
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        code = job()
    except BaseException:  # whatever the change does, this is the child
        (KEPT / "traceback.txt").write_text(traceback.format_exc(), encoding="utf-8")
    finally:
        os._exit(code)


def _run(items: list[Any]) -> Iterator[str]:
    """Run tests, one at a time: each runs when the next name is asked for."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        yield item.nodeid
        with contextlib.suppress(TooLongError):  # of a limit that was reached between two of its parts
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


# Lines


def learn_file(items: list[Any], target: Path, digest: str) -> int:
    """Run the tests of a file, and write which lines of the package each runs."""
    import coverage

    coverer = coverage.Coverage(data_file=None, include=[str(ROOT / "xmceval" / "*")], config_file=False)
    reports = Reports()
    fixtures = Fixtures(coverer.switch_context)
    config = items[0].config
    config.pluginmanager.register(reports)
    config.pluginmanager.register(fixtures)
    slow: set[str] = set()

    def take_too_long(*_: object) -> None:
        slow.add(fixtures.test)
        raise TooLongError

    def prepare(name: str) -> None:
        fixtures.test = name
        coverer.switch_context(name)
        signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, WAITED)

    signal.signal(signal.SIGVTALRM, take_too_long)
    signal.signal(signal.SIGALRM, take_too_long)
    start = time.monotonic()
    coverer.start()
    for name in _run(items):
        if time.process_time() > MOST_OF_FILE or time.monotonic() - start > STUCK / 2:
            slow.update(item.nodeid for item in items if item.nodeid not in reports.seconds)
            break
        prepare(name)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    coverer.stop()
    coverer.set_option("run:disable_warnings", ["no-data-collected"])
    data = coverer.get_data()
    good = [item for item in items if item.nodeid in reports.passed - reports.failed - slow]
    places = {item.nodeid: [at] for at, item in enumerate(good)}
    for at, item in enumerate(good):
        for name in item.fixturenames:
            places.setdefault(f"fixture {name}", []).append(at)
    lines, of_slow = {}, {}
    for file in data.measured_files():
        by_line = data.contexts_by_lineno(file)
        name = os.path.relpath(file, ROOT)
        lines[name] = {
            line: sorted({at for context in contexts for at in places.get(context, [])})
            for line, contexts in by_line.items()
        }
        of_slow[name] = sorted(line for line, contexts in by_line.items() if not slow.isdisjoint(contexts))
    learnt = {
        "digest": digest,
        "tests": [[item.nodeid, round(reports.seconds[item.nodeid], 4)] for item in good],
        "failed": sorted(reports.failed - slow),
        "slow": sorted(slow),
        "lines": lines,
        "lines_of_slow": of_slow,
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(learnt), encoding="utf-8")
    return 0


def digest_of(*paths: Path) -> str:
    """Return a digest of files."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def learn(items: list[Any], at_once: int, deadline: float, folder: Path) -> list[Path]:
    """Learn the lines of the tests of all files that changed since; returns what was learnt, by file, in a folder."""
    by_file: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        by_file[item.nodeid.partition("::")[0]].append(item)

    def target_of(file: str) -> Path:
        return folder / (file.replace("/", ".") + ".json")

    def jobs() -> Iterator[tuple[str, Callable[[], int]]]:
        for file, own in sorted(by_file.items(), key=lambda each: each[0].startswith(LAST)):
            target, digest = target_of(file), digest_of(ROOT / file)
            if target.exists() and json.loads(target.read_text(encoding="utf-8"))["digest"] == digest:
                continue
            yield file, lambda own=own, target=target, digest=digest: learn_file(own, target, digest)

    for file, code in run_forks(jobs(), at_once, deadline):
        say(f"{file}: {'learnt' if code == 0 else f'nothing learnt ({code})'}")
        if code:  # it ended in a way of its own: its tests are left out
            target_of(file).parent.mkdir(parents=True, exist_ok=True)
            nothing = {"digest": digest_of(ROOT / file), "tests": [], "failed": [file], "slow": []}
            nothing |= {"lines": {}, "lines_of_slow": {}}
            target_of(file).write_text(json.dumps(nothing), encoding="utf-8")
    return [target_of(file) for file in by_file]


class UnfinishedError(Exception):
    """The time that a run had is over."""


def say(text: str) -> None:
    """Write a line to stderr, whatever pytest has done to it."""
    os.write(2, f"{text}\n".encode())


# Mutants


class Tests:
    """Tests by the lines that they run."""

    def __init__(self, items: list[Any], learnt: list[Path], most_seconds: float = MOST_OF_MUTANT) -> None:
        self._items = {item.nodeid: item for item in items}
        self._functions = Functions()
        self._most_seconds = most_seconds
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self.slow: list[str] = []
        self.lines: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        self.lines_of_slow: dict[str, set[int]] = defaultdict(set)
        self.alone: dict[str, bool] = {}  # whether a test passes by itself, without a mutant
        for path in learnt:
            each = json.loads(path.read_text(encoding="utf-8"))
            names = [name for name, _ in each["tests"]]
            self.seconds.update(each["tests"])
            self.failed += each["failed"]
            self.slow += each["slow"]
            for file, lines in each["lines"].items():
                for line, tests in lines.items():
                    self.lines[file][int(line)] += [names[at] for at in tests]
            for file, lines_of_slow in each["lines_of_slow"].items():
                self.lines_of_slow[file] |= set(lines_of_slow)

    def all_lines(self) -> dict[str, set[int]]:
        """Return the lines that any test runs, also the slow ones until they are ended, by file."""
        files = self.lines.keys() | self.lines_of_slow.keys()
        return {
            file: {line for line, tests in self.lines[file].items() if tests} | self.lines_of_slow[file]
            for file in files
        }

    def of(self, mutant: Mutant) -> list[str]:
        """Return tests that run the statement of a mutant: fast ones first, and few of a function before many."""
        lines = self.lines[mutant.file]
        names = {name for line in lines_of(mutant.statement) for name in lines.get(line, ()) if name in self._items}
        turns: dict[str, int] = defaultdict(int)
        ordered = []
        for name in sorted(names, key=lambda name: (self.seconds[name], name)):
            if self.alone.get(name, True):
                function = name.partition("[")[0]
                turns[function] += 1
                ordered.append((turns[function] * self.seconds[name], name))
        left, chosen = self._most_seconds, []
        for _, name in sorted(ordered):
            left -= self.seconds[name]
            if left < 0 and chosen:
                break
            chosen.append(name)
        return chosen

    def try_mutant(self, mutant: Mutant | None, names: list[str], noticed: Path) -> int:
        """Run tests, with a mutant or without, in this process, which is a fork; writes the name of one that fails."""
        allowed = ENDLESS + 3 * sum(self.seconds[name] for name in names)
        signal.setitimer(signal.ITIMER_PROF, allowed)
        if mutant and not self._functions.replace(mutant):
            return ABSENT
        reports = Reports()
        items = [self._items[name] for name in names]
        items[0].config.pluginmanager.register(reports)
        for _ in _run(items):
            if reports.failed:
                break
        for name in reports.failed:
            noticed.write_text(name, encoding="utf-8")
        return NOTICED if reports.failed else SURVIVED


class Functions:
    """The functions of the package that this process has, wherever they are."""

    def __init__(self) -> None:
        import_package()
        self._by_place: dict[tuple[str, str, int], list[types.FunctionType]] = defaultdict(list)
        for each in gc.get_objects():
            if type(each) is types.FunctionType:  # isinstance asks some objects of PyTorch, which warn
                self._by_place[_place(each.__code__)].append(each)
        gc.freeze()  # forks share what is there

    def replace(self, mutant: Mutant) -> bool:
        """Give a function the code of a mutant, and those that it made before theirs; whether there is such a one."""
        pending, is_found = [mutant.code()], False
        while pending:
            code = pending.pop()
            pending.extend(each for each in code.co_consts if isinstance(each, types.CodeType))
            for each in self._by_place.get(_place(code), []):
                each.__code__ = code
                is_found = True
        return is_found


def _place(code: types.CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def import_package() -> None:
    """Import all modules of the package that can be imported, so that their functions are there."""
    import importlib
    import pkgutil

    import xmceval

    for module in pkgutil.walk_packages(xmceval.__path__, "xmceval."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
