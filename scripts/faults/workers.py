"""Workers of a cluster that are lost: what the tests of Dask try, with processes that are killed at each stage."""

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
    options = ["-vv", "-m", "thorough or not thorough", "-k", "die or killed or dead", "-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", *options, "tests/api/test_dask.py"]
    ended = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, check=False
    )
    if "::" not in ended.stdout:
        raise RuntimeError(ended.stdout[-500:] + ended.stderr[-500:])
    for line in ended.stdout.splitlines():
        name, _, outcome = line.partition("::")[2].partition(" ")
        if outcome.startswith(("PASSED", "FAILED", "ERROR")):
            what = name.removeprefix("test_").replace("_", " ")
            yield Tried(what, EXPECTED, outcome.split()[0].lower(), outcome.startswith("PASSED"))


CASES = (lost_workers,)
