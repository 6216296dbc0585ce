"""What is refused: each line of the approved files, Python or a command, has its whole error below it.

A command has a $ before it, and its exit code before what it writes to stderr. Commands leave no file, and change none.
After a line was added, XMCEVAL_APPROVE=1 writes its error below it.
"""
# ruff: noqa: F401 - lines use what is imported here

import json
import shlex
from concurrent.futures import Executor, ThreadPoolExecutor
from math import inf, nan
from pathlib import Path

import matplotlib.figure
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from support.approved import check_answers
from support.files import write
from support.sample import SAMPLE

import xmceval
import xmceval.report.pictures
from xmceval import Evaluator, Shards, check_worse, compare, compare_rows, inverse_propensity, merge, score, score_all

FOLDER = Path(__file__).parent / "approved"
eye = np.eye(3)
systems = {"a": np.eye(6), "b": np.eye(6)[::-1]}
truth, scores = np.eye(20, 9), np.eye(20, 9)
qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2, "d1": 1}}
run_of_two = {"q2": {"d1": 0.5, "d9": 0.25}, "q1": {"d2": 0.75, "d1": 0.5}}
colours = ["red", "blue", "green", "teal"]
by_row = "row,system,weight,P@1\n"  # the head of values of rows
META = {"schema": "xmceval/rows/1", "systems": ["a"], "metrics": ["P@1"], "has_ideal": [False]}


def frame(columns, *rows):
    return pd.DataFrame(rows, columns=columns.split())


def named(matrix, columns="abc", index="xyz"):
    return pd.DataFrame(matrix, list(index), list(columns))


def lines(*rows):
    return write("p.json", "".join(f"{json.dumps(row)}\n" for row in rows))


words = frame("labels", (["red", "blue"],), (["green"],), (["teal"],))


def saved(text):
    """Compare values of rows in a file of this text."""
    return compare_rows([write("a.txt", text)] * 2)


def saved_arrays(meta=META, **arrays):
    """Compare values of rows in an npz with these arrays."""
    default = {"rows": np.arange(3), "weights": np.ones(3), "values": np.ones((3, 1, 1, 2))}
    np.savez("a.rows.npz", meta=np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8), **(default | arrays))
    return compare_rows(["a.rows.npz"] * 2)


def update(max_weight, weights):
    return Evaluator(metrics="P", k=1, max_weight=max_weight).update(eye, eye, weights)


def rows(path, y_true=truth, **options):
    """Score a truth by itself, save the values of its rows in a file, and return its name."""
    score(y_true, y_true, **{"metrics": "P@1", **options}, save_rows=path, force=True)
    return path


def state(path, y_true=truth, **options):
    """Score a truth by itself, save its state in a file, and return its name."""
    score(y_true, y_true, **{"metrics": "P@1", **options}, save_state=path, force=True)
    return path


def evaluated(*batches, **options):
    """Return an Evaluator of batches."""
    evaluator = Evaluator(**{"metrics": "P@1", **options})
    for batch in batches:
        evaluator.update(*batch)
    return evaluator


def of_two():
    return compare(eye, {"old": eye[::-1], "new": eye}, k=(1, 3), metrics=["P", "nDCG"])


def plot(kind, metrics=None, of="P@1,AUC"):
    return score(eye[:2, :2], [[0.5, 0.2], [0.1, 0.2]], metrics=of.split(",")).plot(kind, metrics=metrics)


@pytest.fixture(autouse=True)
def files():
    for path in SAMPLE.glob("*.txt"):
        Path(path.name).symlink_to(path)
    for name in ("old.html", "old.state", "b.rows.npz"):
        Path(name).write_text("old")
    Path("folder.svg").mkdir()


def contents():
    return {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.txt")))
def test_what_is_refused_is_said_in_these_words(name, run):
    def answer(line):
        if line.startswith("$ "):
            before = contents()
            code, out, err = run(*shlex.split(line[2:]))
            assert (out, contents()) == ("", before)
            text = f"{code} {err}"
        else:
            with pytest.raises((xmceval.XmcevalError, TypeError, LookupError, AttributeError)) as error:
                eval(line)
            text = f"{type(error.value).__name__}: {error.value}"
        return text.replace(str(Path.cwd()), ".").splitlines()

    check_answers(__file__, name, answer)
    assert not list(Path().glob("refused*")), "what is refused leaves no file"
