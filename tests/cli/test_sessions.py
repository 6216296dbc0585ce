"""Sessions of the command: below each line with a $ of the approved files is what it prints, and its exit code.

What goes to stderr has a ! before it; below a line with $! is that alone. Lines with a # say what the commands below
them show, lines with >>> are Python that changes files, and below a < with a name is that file. After a line was added,
XMCEVAL_APPROVE=1 writes what it prints below it.
"""
# ruff: noqa: F401 - lines use what is imported here

import os
import re
import shlex
import shutil
from pathlib import Path

import fsspec
import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz
from support.approved import check_answers
from support.files import write, write_qrels, write_run
from support.sample import SAMPLE

import xmceval

SESSIONS = Path(__file__).parent / "approved" / "sessions"
QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1, "d1": 1}, "q3": {"d4": 0}}
BEST = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d1": 0.75, "d3": 0.5, "d9": 0.25}, "q3": {"d4": 1.0}}
WORSE = {"q1": {"d2": 0.75, "d1": 0.5}, "q2": {"d9": 1.0}}
BENCHMARK = """\
metrics = "P@1,3"
against = "a"
[datasets.one]
truth = "one/truth.npz"
[datasets.two]
truth = "two/truth.npz"
[systems]
a = "{dataset}/a.npz"
b = "{dataset}/b.npz"
"""
LINES = (SAMPLE / "trn_X_Y.txt").read_text().splitlines()[1:]
# What differs: seconds, and the usage that click shows before an error.
DIFFERING = re.compile(r" · \d+\.\d+ s$|\AUsage: .*?\n\n(?=Error)", re.MULTILINE | re.DOTALL)


def make_home(name):
    """Make a folder of two data sets with features, training labels and predictions, for which a file is proposed."""
    rng = np.random.default_rng(20260)
    for folder, n_rows in (("one", 20), ("two", 30)):
        home = Path(name, folder)
        home.mkdir(parents=True)
        truth = rng.random((n_rows, 8)) < 0.4
        arrays = {"Y.tst": truth * 1.0, "X.tst": rng.random((n_rows, 5)), "Y.trn": (rng.random((50, 8)) < 0.4) * 1.0}
        arrays |= {system: truth + rng.random(truth.shape) for system in "ab"}
        for file, array in arrays.items():
            save_npz(home / f"{file}.npz", csr_matrix(array))


def name_files(names):
    """Write files of one row with these names."""
    for name in names.split():
        with fsspec.open(name, "w", auto_mkdir=True) as file:
            file.write("1 2\n0:1\n")


def move(pattern, into):
    """Move files to a path with their {folder}, {name} or {stem}."""
    for path in sorted(Path().glob(pattern)):
        target = Path(into.format(folder=path.parent.name, name=path.name, stem=path.stem))
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)


@pytest.fixture(autouse=True)
def files():
    for path in SAMPLE.glob("*.txt"):
        Path(path.name).symlink_to(path)
    write_qrels("qrels.txt", QRELS)
    write_run("best.txt", BEST)
    write_run("worse.txt", WORSE)
    for name, n_rows in (("one", 40), ("two", 60)):  # of a benchmark: a is right in all rows, b in some
        Path(name).mkdir()
        truth, some = np.eye(12)[np.arange(n_rows) % 12], np.arange(n_rows)[:, None] % 3 == 0
        save_npz(f"{name}/truth.npz", csr_matrix(truth))
        save_npz(f"{name}/a.npz", csr_matrix(truth + np.arange(12) / 100))
        save_npz(f"{name}/b.npz", csr_matrix(some * truth + np.arange(12) / 100))
    write("benchmark.toml", BENCHMARK)


@pytest.mark.parametrize("name", sorted(path.name for path in SESSIONS.glob("*.txt")))
def test_commands_print_what_was_approved(name, run):
    def answer(line):
        if line.startswith(">>> "):
            exec(line[4:], globals())
        if line.startswith("< "):
            return Path(line[2:]).read_text(encoding="utf-8").splitlines()
        if not line.startswith(("$ ", "$! ")):
            return []
        mark, *words = shlex.split(line)
        code, out, err = run(*words)
        text = out * (mark == "$") + "".join(f"! {said}\n" for said in DIFFERING.sub("", err).splitlines())
        text = re.sub(r"\d\.\d{11,}", lambda number: f"{float(number[0]):.10g}", text)
        text = text.replace(str(Path.cwd()), ".").replace(xmceval.__version__, "VERSION")
        return [*text.splitlines(), *[f"exit code {code}"] * bool(code)]

    check_answers(__file__, f"sessions/{name}", answer)
