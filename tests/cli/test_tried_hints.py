"""Every hint in the package is listed: tried, with what it says to do, or with the reason why it is not.

A trial, in tried_hints.txt, is what leads to the hint, and the same done as the hint says, which gives a value or the
next true message.
"""
# ruff: noqa: F401 - trials use what is imported here

import ast
import re
import shlex
import warnings
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from support.files import PREDS, QRELS, RUN, TRUTH, write
from support.processes import cli

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


def state(name="a.state.npz", y=Y, **options):
    score(y, S[: len(y)], **P1, save_state=name, force=True, **options)
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
    """Return what an error, or the warnings, of a line say."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        try:
            result = do(line)
        except XmcevalError as error:
            return [f"hint: {line}" for line in error.hint.splitlines()]
    return [
        *(str(warning.message) for warning in issued),
        *getattr(result, "facts", ()),
        *getattr(result, "warnings", ()),
    ]


@pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
@pytest.mark.parametrize("hint", TRIALS)
def test_a_hint_leads_to_a_value(hint):
    wrong, mended = TRIALS[hint]
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
