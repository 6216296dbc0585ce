"""Every hint in the package is listed: tried, with what it says to do, or with the reason why it is not.

A trial, in tried_hints.txt, is what leads to the hint, and the same done as the hint says, which gives a value or the
next true message.
"""
# ruff: noqa: F401 - trials use what is imported here

import ast
import os
import re
import shlex
import subprocess
import sys
import threading
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from click.testing import CliRunner
from support.files import PREDS, QRELS, RUN, TRUTH, write
from support.processes import cli
from support.states import forge

import xmceval
from xmceval import METRICS, XmcevalError, convert, merge, score, score_all

PACKAGE = Path(xmceval.__file__).parent
Y = np.array([[1, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 1], [1, 0, 0, 0, 1]])
S = np.random.default_rng(0).random(Y.shape)
P1 = {"metrics": "P", "k": 1}


def collect():
    """Return the hints in the source: the file and the words, with {} for what is filled in."""
    hints = set()
    for path in PACKAGE.rglob("*.py"):
        nodes = [ast.parse(path.read_text(encoding="utf-8"))]
        while nodes:
            node = nodes.pop()
            text = text_of(node)
            if "hint: " in text and "(?P<" not in text:
                words = re.sub(r"\)?\Z", "", text.partition("hint: ")[2])
                hints.add(f"{path.relative_to(PACKAGE).as_posix()}: {words}")
            elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):  # no docstrings
                nodes += ast.iter_child_nodes(node)
    return hints


def text_of(node):
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def two_named():
    """Save the totals of two shards that were scored under different names, and return the files."""
    for name in ("plt", "br"):
        write("p.txt", PREDS)
        state_file = ("--save-state", f"{name}.npz", "--force")
        command("score", write("t.txt", TRUTH), f"{name}=p.txt", "-mP", "-k1", "-q", *state_file)
    return ["plt.npz", "br.npz"]


def state(name="a.state.npz", **options):
    score(Y, S, **P1, save_state=name, force=True, **options)
    return name


def saved_rows(name, n_shards, ids=()):
    """Save the values of rows of each shard, and return the pattern of the files."""
    for number, rows in enumerate(np.array_split(np.arange(len(Y)), n_shards)):
        named = {"row_ids": [ids[row] for row in rows]} if ids else {}
        score(Y[rows], S[rows], **P1, **named, save_rows=f"{name}-{number}.rows.npz")
    return f"{name}-*.rows.npz"


def evaluator(y=Y, s=S, **options):
    total = xmceval.Evaluator(**P1, **options)
    total.update(y, s)
    return total


def flat():
    return score(Y, S, metrics=["P@1", "nDCG(gain=exp)@1"])


def tensors(*arrays):
    torch = pytest.importorskip("torch")
    return tuple(map(torch.tensor, arrays))


def wide():
    return np.where(S > 0.5, 2**60 + 1, 2**60)


class Client:
    """As that of Dask."""

    def get_executor(self):
        return ThreadPoolExecutor(1)


class Quantity:
    """No array, and nothing that numpy can make one of."""

    def __array__(self, *args, **kwargs):
        raise TypeError


def text(content, name="x.txt"):
    return write(name, content)


LISTS = [[(2, 0.9), (4, 0.5)], [(3, 0.8), (1, 0.7)], [(4, 0.6), (0, 0.1)], [(0, 0.5), (1, 0.4)]]
PADDED = np.array([[0, 2, -1], [1, -1, -1], [3, 4, -1], [0, 4, -1]])
FIVE = np.full(5, 0.3)
HALVES = np.where(Y, 3.5, 0)
BY_NAME = {"r0": {"spam": 1}, "r1": {"ham": 1}}
RUNS = {"q1": {"d1": 0.9, "d2": 0.4}, "q2": {"d2": 0.8, "d1": 0.7}}
GRADES = {"q1": {"d1": 1}, "q2": {"d1": 1}}
BY_COLUMN = {str(column): {str(line): int(line == column) for line in range(3)} for column in range(3)}
ROW = np.arange(12)
TRUE = (np.random.default_rng(1).random((12, 5)) < 0.4).astype(int)
SCORES = np.random.default_rng(2).random((12, 5))
NAMES = [f"r{row}" for row in ROW]
RATINGS = np.array([[0, 2, 1], [0, 1, 3], [1, 0, 2], [2, 2, 5.0]])
PREDICTED = np.array([[0, 2, 0.7], [0, 1, 0.2], [1, 0, 0.5], [2, 1, 0.9]])
VOTES = np.array([[0, 1, 2], [3, 1, 1], [0, 2, 2]])  # the first row may be ids


def saved(name="a.rows.npz", y="t.txt", s="p.txt", **options):
    """Save the values of rows."""
    score(y, s, **{**P1, **options}, save_rows=name, force=True)
    return name


def two_systems():
    score_all("t.txt", {"a": "p.txt", "b": "p.txt"}, **P1, save_rows="two.rows.npz", force=True)
    return "two.rows.npz"


def bench(**parts):
    return xmceval.benchmark({"datasets": {"p": {"truth": "t.txt"}}, "systems": {"b": "p.txt"}, "k": 1} | parts)


def several():
    return score(Y, S, metrics=["P", "nDCG"], k=[1, 2, 3])


def axes():
    return pytest.importorskip("matplotlib.pyplot").figure().subplots()


def picture(testing=None, **options):
    """Return the words in a picture of differences."""
    matplotlib = pytest.importorskip("matplotlib")
    systems = {str(i): S for i in range(9)}
    compared = xmceval.compare(Y, systems, metrics=["P", "nDCG"], k=[1, 2, 3, 4, 5], **(testing or {}))
    return [word.get_text() for word in compared.plot(kind="differences", **options).findobj(matplotlib.text.Text)]


def measure(*args, **options):
    pytest.importorskip("ir_measures")
    from xmceval.dropins.ir_measures import measure

    return measure(*args, **options)


def metric(**options):
    pytest.importorskip("torchmetrics")
    from xmceval.loops.torch import Metric

    return Metric(metrics="LRAP", **options)


def of_many_ranks():
    from xmceval.dropins import ranking

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "MOST_RANKS", 4)
        xmceval.ndcg_score(Y, S)


def on_small_machine(content):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "sysconf", lambda name: 1)
        return score([{0}, {1}], text(content, "x.csv"), **P1, n_labels=2)


def npy(array, name="x.npy"):
    np.save(name, array)
    return name


def zipped():
    with zipfile.ZipFile("x.npz", "w") as archive:
        archive.write("p.txt")
    return "x.npz"


def unpruned(*, prune=False):
    matrix = sp.csr_matrix(S)
    matrix.data, matrix.indices = np.append(matrix.data, 9), np.append(matrix.indices, 0)
    if prune:
        matrix.prune()
    sp.save_npz("x.npz", matrix)
    return "x.npz"


def pipe(content):
    os.mkfifo("pipe")
    threading.Thread(target=Path("pipe").write_text, args=[content], daemon=True).start()
    return "pipe"


def in_memory():
    """Write to the file system of fsspec that is in memory."""
    with pytest.importorskip("fsspec").open("memory://p.txt", "w") as file:
        file.write(PREDS)
    return "memory://p.txt"


def shell(line):
    subprocess.run(line, shell=True, check=True)


def arrow():
    return pytest.importorskip("pyarrow")


def pandas():
    arrow()
    return pytest.importorskip("pandas")


def frame(values, **options):
    return pandas().DataFrame(values, **options)


def wide_frame(values, **options):
    return frame(values, columns=[*"abcde"], **options)


def long(**more):
    return frame({"row": [0, 1], "label": [0, 1], **more})


def in_words(**more):
    return frame({"row": [0, 1], "label": ["spam", "ham"], **more})


class Lazy:
    """As a data frame of polars that is not computed."""

    columns = ()

    def collect(self):
        return long(score=[1.0, 0.5])


def with_ids_in_z(ids=ROW):
    return wide_frame(TRUE).assign(z=ids), wide_frame(SCORES).assign(z=ids)


def lists_and_wide():
    lists = [np.flatnonzero(row).tolist() for row in TRUE]
    return frame({"labels": lists, "z": ROW + 900}), frame(SCORES).assign(z=ROW[::-1] + 900)


def lists_with_ids():
    true = [[900 + i, *np.flatnonzero(row).tolist()] for i, row in enumerate(TRUE)]
    return true, [[900 + i, *np.argsort(-row)[: 2 + i % 3].tolist()] for i, row in enumerate(SCORES)]


def two_ids():
    ids, titles = ([f"{letter}{row}" for row in ROW] for letter in "it")
    table = frame({"id": ids, "title": titles, "labels": [[row % 5] for row in ROW]})
    return table, table.assign(id=ids[::-1])


def halves():
    """Return truth and predictions as two tables each, whose rows are counted through both."""
    return [[table[:20], table[20:]] for table in counted_on()]


def from_1():
    table = frame({"row": np.arange(1, 21), "label": np.arange(20) % 5})
    return table, table.assign(score=0.5)


def as_sets():
    return [sorted(np.argsort(-row)[:4].tolist()) for row in np.tile(SCORES, (4, 1))]


def in_shards(votes):
    return score([np.eye(3)[:1], np.eye(3)[1:]], [votes[:1], votes[1:]], **P1, n_labels=3)


def bibtex(n_rows):
    """Return a matrix of the size of Bibtex."""
    return sp.csr_matrix((np.ones(n_rows), (np.arange(n_rows), np.arange(n_rows) % 159)), shape=(n_rows, 159))


def quantized():
    torch = pytest.importorskip("torch")
    return torch.quantize_per_tensor(torch.tensor(S, dtype=torch.float32), 0.01, 0, torch.quint8)


def weighted():
    total = xmceval.Evaluator(**P1, max_weight=4)
    total.update(Y, S, sample_weight=[1.0, 2, 3, 4])
    return total


def merged(name, total):
    total.save("b.npz")
    return merge([name, "b.npz"])


def without(package, call):
    """Call as if a package were not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, package, None)
        return call()


def changed_state(change):
    name = state()
    Path(name).write_bytes(change(Path(name).read_bytes()))
    return name


class Elsewhere:
    """As an array of CuPy whose device fails."""

    shape = (4, 5)

    def __dlpack_device__(self):
        return 2, 0

    def __getitem__(self, rows):
        return self

    def get(self):
        raise RuntimeError


def counted_on():
    table = frame({"row": np.arange(40), "label": np.arange(40) % 5})
    return table, table.assign(score=0.5)


def first(table):
    return {"q1": table["q1"]}


def printed(*arguments):
    """Return what a command prints, with its lines unwrapped."""
    return [CliRunner().invoke(cli, list(arguments)).output.replace("\n  ", " ")]


HERE = Path(__file__).parent


def read_trials():
    """Return by hint what leads to it, and what is done then."""
    _, *blocks = (HERE / "tried_hints.txt").read_text(encoding="utf-8").rstrip().split("\n\n")
    trials = {}
    for block in blocks:
        hint, wrong, *mended = block.split("\n  ")
        trials[hint] = wrong, mended
    return trials


TRIALS = read_trials()
# Hints that are not tried, below the reason why not.
UNTRIED = (HERE / "untried_hints.txt").read_text(encoding="utf-8").splitlines()
NAMED = {line for line in UNTRIED if line and not line.startswith("#")}


def do(line):
    """Run a line, which is a command or Python."""
    return command(*shlex.split(line[2:])) if line.startswith("$ ") else eval(line)


def command(*arguments):
    """Run a command; what it writes to stderr is the message of an error."""
    ended = CliRunner().invoke(cli, list(arguments))
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    if ended.exit_code:
        raise XmcevalError(*[line for line in ended.stderr.splitlines() if "hint: " in line][:1])
    return True


@pytest.fixture(autouse=True)
def _in_a_folder():
    write("t.txt", TRUTH)
    write("p.txt", PREDS)
    Path("data").mkdir()
    write("data/test.txt", TRUTH)
    write("data/preds.txt", PREDS)
    Path("shards").mkdir()
    write("shards/1.txt", PREDS)


def messages_of(line):
    """Return what an error, the warnings or the result of a line say; a list has lines that are shown."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        try:
            result = do(line)
        except XmcevalError as error:
            return [f"hint: {line}" for line in error.hint.splitlines()]
    return [
        *([str(shown) for shown in result] if isinstance(result, list) else ()),
        *(str(warning.message) for warning in issued),
        *getattr(result, "facts", ()),
        *getattr(result, "warnings", ()),
    ]


@pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
@pytest.mark.parametrize("hint", TRIALS)
def test_a_hint_leads_to_a_value(hint):
    wrong, mended = TRIALS[hint]
    if mended[0].startswith("hint: "):  # its words are made elsewhere
        hint, *mended = mended
    words = re.escape(hint.partition(": ")[2]).replace(r"\{\}", ".*")
    said = messages_of(wrong)
    assert any(re.search(rf"hint: {words}", line) for line in said), said
    for line in mended:
        do(line)


def test_every_hint_is_tried_or_named_with_the_reason_why_not():
    hints = collect()
    assert hints - set(TRIALS) - NAMED == set(), "new hints: try them"
    assert (set(TRIALS) | NAMED) - hints == set(), "hints that are gone"
    assert set(TRIALS) & NAMED == set()
