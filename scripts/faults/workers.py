"""Workers of a cluster that are lost, and servers that lie: what the tests of Dask and of remote files try."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

from faults.harness import ROOT, Tried

EXPECTED = "the result of one process"


def lost_workers() -> Iterator[Tried]:
    """Kill workers while they are asked, count, score and merge."""
    if find_spec("distributed") is None or find_spec("pytest") is None:
        yield Tried("a worker killed at each stage", EXPECTED, "dask or pytest is not installed", None)
        return
    yield from _run_tests("tests/api/test_dask.py", "die or killed or dead", EXPECTED)


def servers_that_lie() -> Iterator[Tried]:
    """Read from servers that hang up, fall silent, send other bytes than asked for, or change a file meanwhile."""
    expected = "the result of a local file, or refused, as the name says"
    if find_spec("aiohttp") is None or find_spec("fsspec") is None or find_spec("pytest") is None:
        yield Tried("servers that lie", expected, "fsspec, aiohttp or pytest is not installed", None)
        return
    named = "(server or lost_connections or changes_while or ends_early or does_not_fit or grows or sends_more)"
    named += " and not put_on and not asked_once"
    for each in _run_tests("tests/files/test_remote.py", named, expected):
        yield each._replace(what=each.what.partition("[")[0])


def _run_tests(path: str, named: str, expected: str) -> Iterator[Tried]:
    """Run tests by words of their names."""
    options = ["-vv", "-m", "thorough or not thorough", "-k", named, "-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", *options, path]
    ended = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, check=False
    )
    if "::" not in ended.stdout:
        raise RuntimeError(ended.stdout[-500:] + ended.stderr[-500:])
    for line in ended.stdout.splitlines():
        name, _, outcome = line.partition("::")[2].partition(" ")
        if outcome.startswith(("PASSED", "FAILED", "ERROR")):
            what = name.removeprefix("test_").replace("_", " ")
            yield Tried(what, expected, outcome.split()[0].lower(), outcome.startswith("PASSED"))


CASES = (lost_workers, servers_that_lie)
