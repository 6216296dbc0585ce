"""Every hint in the package is listed here: tried, with what it says to do, or with the reason why it is not.

A trial is what leads to the hint, and the same done as the hint says, which gives a value or the next true message.
"""

import ast
import re
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

# Of each hint: what leads to it, and what is done then.
TRIALS = {
    "api/score.py: call update first": (lambda: xmceval.Evaluator(**P1).result(), lambda: evaluator().result()),
    "api/score.py: score_all takes several systems by name; a pair of labels and scores is a tuple; "
    "a run is {query: {document: score}}": (lambda: score(Y, {"a": S}, **P1), lambda: score_all(Y, {"a": S}, **P1)),
    "benchmarks/command.py: xmceval benchmark --init . writes one": (
        lambda: command("benchmark"),
        lambda: command("benchmark", "--init", "data") and command("benchmark", "data/benchmark.toml"),
    ),
    "cli/inputs.py: of cutoffs pass -m {},{}": (
        lambda: command("score", "t.txt", "p.txt", "-m", "P@1", "@3"),
        lambda: command("score", "t.txt", "p.txt", "-m", "P@1,3"),
    ),
    "cli/options.py: -o {} > {}": (
        lambda: command("score", "t.txt", "p.txt", "-o", "out.csv"),
        lambda: command("score", "t.txt", "p.txt", "-o", "csv"),
    ),
    "cli/options.py: --page FILE.html": (
        lambda: command("score", "t.txt", "p.txt", "-o", "html"),
        lambda: command("score", "t.txt", "p.txt", "--page", "FILE.html"),
    ),
    "cli/options.py: pass -o {}": (
        lambda: command("score", "t.txt", "p.txt", "-o", "csv", "--places", "3"),
        lambda: command("score", "t.txt", "p.txt", "-o", "table", "--places", "3"),
    ),
    "cli/outputs.py: pass --plot FILE": (
        lambda: command("score", "t.txt", "p.txt", "-q", "--plot-kind", "curves"),
        lambda: command("score", "t.txt", "p.txt", "-q", "--plot-kind", "curves", "--plot", "x.svg"),
    ),
    "conversion/convert.py: pass {} or {}": (
        lambda: convert("p.txt", "x.npy"),
        lambda: convert("p.txt", "x.npy", kind="scores"),
    ),
    "conversion/convert.py: use a name ending in .txt, .npz or .npy": (
        lambda: convert("p.txt", "x.csv"),
        lambda: convert("p.txt", "x.npz"),
    ),
    "conversion/convert.py: choose another name": (
        lambda: convert("p.txt", "x-labels.npy", kind="scores"),
        lambda: convert("p.txt", "x.npy", kind="scores"),
    ),
    "conversion/read.py: pass {} or {}": (
        lambda: xmceval.read(text("0 2\n1\n9\n")),
        lambda: xmceval.read("x.txt", kind="truth"),
    ),
    "dropins/curves.py: pass y > 0": (
        lambda: xmceval.average_precision_score(2 * Y, S),
        lambda: xmceval.average_precision_score(2 * Y > 0, S),
    ),
    "files/io/write.py: pass {} to overwrite": (
        lambda: convert("p.txt", "t.txt"),
        lambda: convert("p.txt", "other.txt", force=True),
    ),
    "files/io/write.py: choose another name": (
        lambda: convert("p.txt", "p.txt", force=True),
        lambda: convert("p.txt", "other.txt"),
    ),
    "files/io/chunks.py: remove them, for example with sed 's/%//g'": (
        lambda: score("t.txt", text(PREDS.replace("0.9", "90%"))),
        lambda: score("t.txt", text(PREDS.replace("0.9", "90"))),
    ),
    "files/ranking/dicts.py: use str({})": (
        lambda: score({0: {"a": 1}}, {0: {"a": 1.0}}),
        lambda: score({"0": {"a": 1}}, {"0": {"a": 1.0}}),
    ),
    "files/ranking/runs.py: their lines are {}": (
        lambda: score("t.txt", text(RUN)),
        lambda: score(text(QRELS, "qrels"), text(RUN)),
    ),
    "files/tables/open.py: rename the columns": (
        lambda: score("t.txt", text("query_id,docs,mark\n1,2,3\n2,3,4\n")),
        lambda: score({"1": {"2": 1}}, text("query_id,doc_id,score\n1,2,3\n2,3,4\n")),
    ),
    "files/text/foreign.py: save it with numpy.save": (
        lambda: score(text("1 0 1\n0 1 0\n1 0 0\n"), S[:3, :3]),
        lambda: score(np.loadtxt("x.txt"), S[:3, :3], **P1),
    ),
    "files/text/source.py: leave {} out if these are label ids": (
        lambda: score(text("0 spam\n1\n"), "p.txt", labels=text("spam\nham\n", "names")),
        lambda: score(text("0 1\n1\n1\n2\n"), "p.txt"),
    ),
    "files/open.py: {}": (
        lambda: score(text("spam ham\nham\n"), S[:2, :2]),
        lambda: score("x.txt", S[:2, :2], **P1, labels=text("spam\nham\n", "names")),
    ),
    "labels/bins.py: pass {} or {}": (
        lambda: evaluator(by_frequency=2).result(),
        lambda: score(Y, S, **P1, by_frequency=2, train=Y),
    ),
    "loops/evaluator.py: xmceval.score takes files": (
        lambda: evaluator("t.txt", "p.txt"),
        lambda: score("t.txt", "p.txt"),
    ),
    "loops/merge.py: pass a list, or a pattern such as '*.state.npz'": (
        lambda: merge(state()),
        lambda: [merge([state()]), merge("*.state.npz"), merge(glob("*.state.npz"))],
    ),
    "metrics/names.py: metrics={}": (
        lambda: score(Y, S, metrics={"P": 5}),
        lambda: score(Y, S, metrics=["P@5"]),
    ),
    "metrics/names.py: name the metric with it: P@all": (
        lambda: score(Y, S, metrics="P", k="all"),
        lambda: score(Y, S, metrics="P@all"),
    ),
    "metrics/names.py: {} all": (lambda: score(Y, S, metrics="nonsense"), lambda: command("metrics")),
    "metrics/names.py: separate metrics by commas: {}": (
        lambda: score(Y, S, metrics="P nDCG"),
        lambda: score(Y, S, metrics="P,nDCG"),
    ),
    "report/cautions.py: pass {}": (
        lambda: score(Y, sp.csr_matrix(S), metrics="f1_score"),
        lambda: score(Y, sp.csr_matrix(S), metrics="f1_score", threshold=0.5),
    ),
    "rows/checks.py: of ratings in half stars pass twice the rating, which leaves nDCG as it is, or only those of 4 "
    "and more": (
        lambda: score(HALVES, S, metrics="nDCG", k=1),
        lambda: [score(2 * HALVES, S, metrics="nDCG", k=1), score(HALVES >= 3, S, metrics="nDCG", k=1)],
    ),
    "rows/checks.py: pass {} to count its largest value": (
        lambda: score("t.txt", text(PREDS.replace("4:.5", "3:.5"))),
        lambda: score("t.txt", "x.txt", duplicates="max"),
    ),
    "rows/checks.py: drop the padding": (
        lambda: score([[0, -100], [1, 3]], S[:2], n_labels=5),
        lambda: score([[0], [1, 3]], S[:2], n_labels=5),
    ),
    "rows/filters.py: of a sparse matrix, pass numpy.column_stack(matrix.nonzero())": (
        lambda: score(Y, S, **P1, filter=sp.csr_matrix(Y[:, ::-1])),
        lambda: score(Y, S, **P1, filter=np.column_stack(sp.csr_matrix(Y[:, ::-1]).nonzero())),
    ),
    "rows/matrices/lists.py: pass lists, the best label first, or a pair of labels and scores": (
        lambda: score(Y, [{0, 1}, {1, 2}, {3, 4}, {0, 2}], **P1),
        lambda: score(Y, [[0, 1], [1, 2], [3, 4], [0, 2]], **P1),
    ),
    "rows/matrices/source.py: pass sets if they are ids of labels": (
        lambda: score([[0, 1], [1, 1], [1, 0], [0, 1]], S, **P1),
        lambda: score([{0, 1}, {1}, {1, 0}, {0, 1}], S, **P1),
    ),
    "rows/matrices/storage.py: labels by name are {row: {name: value}} in memory, or files with labels=FILE": (
        lambda: score([["spam"], ["ham"]], S[:2, :2]),
        lambda: [
            score(BY_NAME, {"r0": {"spam": 0.9, "ham": 0.3}, "r1": {"ham": 0.8}}),
            score(text("spam\nham\n"), S[:2, :2], **P1, labels=text("spam\nham\n", "names")),
        ],
    ),
    "rows/matrices/storage.py: fill masked cells; in scores .filled(-numpy.inf) means not predicted": (
        lambda: score(Y, np.ma.masked_less(S, 0.2), **P1),
        lambda: score(Y, np.ma.masked_less(S, 0.2).filled(-np.inf), **P1),
    ),
    "rows/matrices/tensors.py: of one label id per row pass [{label} for label in {}]": (
        lambda: score(np.array([0, 1, 2, 3]), S, **P1),
        lambda: score([{label} for label in np.array([0, 1, 2, 3])], S, **P1),
    ),
    "rows/matrices/tensors.py: of a label and its score in each pass ({}[..., 0].astype(int), {}[..., 1])": (
        lambda: score(Y, np.array(LISTS), **P1),
        lambda: score(Y, (np.array(LISTS)[..., 0].astype(int), np.array(LISTS)[..., 1]), **P1),
    ),
    "rows/matrices/tensors.py: these can be lists of label ids, and as predictions lists of (label, score)": (
        lambda: score(Y, [[[1], [2, 3]], [[1]], [[1]], [[1]]], **P1),
        lambda: [score(Y, LISTS, **P1), score(Y, [[1, 2, 3], [1], [1], [1]], **P1)],
    ),
    "rows/matrices/tensors.py: pass an array of numpy": (
        lambda: score(Y, Quantity(), **P1),
        lambda: score(Y, np.asarray(S), **P1),
    ),
    "rows/readings.py: their padding is -1, as in numpy.maximum({}, -1)": (
        lambda: score(Y, np.where(PADDED < 0, -100, PADDED), **P1),
        lambda: score(Y, np.maximum(np.where(PADDED < 0, -100, PADDED), -1), **P1),
    ),
    "rows/readings.py: {} says that they are ids; of scores pass {}": (
        lambda: score(Y, np.argsort(-S), **P1),
        lambda: [score(Y, np.argsort(-S), **P1, n_labels=5), score(Y, 1 + np.argsort(-S), **P1)],
    ),
    "rows/readings.py: of ids {}; of grades pass scipy.sparse.csr_array({})": (
        lambda: score(np.array([[3], [1], [2], [0]]), S, **P1),
        lambda: score([set(row) for row in np.array([[3], [1], [2], [0]]).tolist()], S, **P1),
    ),
    "rows/width.py: of arrays of label and score pass ([row[:, 0].astype(int) for row in y_score], [row[:, 1] for row "
    "in y_score])": (
        lambda: score(Y, [np.array(row) for row in LISTS], **P1),
        lambda: score(Y, ([np.array(r)[:, 0].astype(int) for r in LISTS], [np.array(r)[:, 1] for r in LISTS]), **P1),
    ),
    "rows/width.py: of the list of arrays [n_rows, 2] that predict_proba returns, pass numpy.column_stack([p[:, 1] for "
    "p in y_score])": (
        lambda: score(Y, [np.column_stack([1 - p, p]) for p in S.T], **P1),
        lambda: score(Y, np.column_stack([q[:, 1] for q in [np.column_stack([1 - p, p]) for p in S.T]]), **P1),
    ),
    "scoring/compile.py: add average=macro": (
        lambda: score(Y, S > 0.5, metrics="f1_score(over=seen)"),
        lambda: score(Y, S > 0.5, metrics="f1_score(average=macro,over=seen)"),
    ),
    "scoring/evaluate.py: pass {}, or finite scores": (
        lambda: score(Y, np.where(S < 0.3, -np.inf, S), metrics="LRAP", unscored="zero"),
        lambda: score(Y, np.where(S < 0.3, -np.inf, S), metrics="LRAP", unscored="bottom"),
    ),
    "scoring/evaluate.py: pass {} for probabilities, {} for logits, or a sparse matrix of the predicted labels": (
        lambda: score(Y, S, metrics="f1_score"),
        lambda: [score(Y, S, metrics="f1_score", threshold=0.5), score(Y, sp.csr_array(S > 0.5), metrics="f1_score")],
    ),
    "scoring/options.py: of one per label drop the scores below them, see the recipe for a threshold for each label in "
    "the guide recipes.md": (
        lambda: score(Y, S, metrics="f1_score", threshold=FIVE),
        lambda: score(Y, sp.csr_array(np.where(S >= FIVE, S, 0)), metrics="f1_score(average=macro)"),
    ),
    "scoring/setup/truth.py: pass client.get_executor()": (
        lambda: score("t.txt", "p.txt", executor=Client()),
        lambda: score("t.txt", "p.txt", executor=Client().get_executor()),
    ),
    "scoring/setup/truth.py: pass {}": (
        lambda: score(Y, S, metrics="PSP"),
        lambda: score(Y, S, metrics="PSP", train=Y),
    ),
    "scoring/state_file.py: score with {} writes one": (lambda: merge(["t.txt"]), lambda: merge([state()])),
    "scoring/tasks/wholerow.py: pass the greatest grade of the scale, such as ERR(max=4)@5": (
        lambda: score(3 * Y, S, metrics="ERR@1"),
        lambda: score(3 * Y, S, metrics="ERR(max=4)@1"),
    ),
    "api/saving.py: pass {} with all training labels, or other metrics, such as P,nDCG": (
        lambda: score(Y, S, metrics="PSP", k=1, save_state="s.npz"),
        lambda: [
            score(Y, S, metrics="PSP", k=1, save_state="s.npz", train=Y),
            score(Y, S, metrics="P,nDCG", k=1, save_state="s.npz", force=True),
        ],
    ),
    'benchmarks/plan.py: [datasets.NAME] with truth = "FILE"': (
        lambda: xmceval.benchmark({}),
        lambda: xmceval.benchmark({"datasets": {"a": {"truth": "t.txt"}}, "systems": {"b": "p.txt"}, "k": 1}),
    ),
    'benchmarks/plan.py: truth = "FILE"': (
        lambda: xmceval.benchmark({"datasets": {"a": {}}, "systems": {"b": "p.txt"}, "k": 1}),
        lambda: xmceval.benchmark({"datasets": {"a": {"truth": "t.txt"}}, "systems": {"b": "p.txt"}, "k": 1}),
    ),
    "comparison/compare_rows.py: score both in the same shards, or with {}": (
        lambda: xmceval.compare_rows([saved_rows("a", 2), saved_rows("b", 4)]),
        lambda: [
            xmceval.compare_rows(["a-*.rows.npz", saved_rows("c", 2)]),
            xmceval.compare_rows([saved_rows("d", 2, ids="wxyz"), saved_rows("e", 4, ids="wxyz")]),
        ],
    ),
    "comparison/options.py: pass {}": (
        lambda: xmceval.compare(Y, {"a": S, "b": 1 - S}, **P1, resamples=100),
        lambda: xmceval.compare(Y, {"a": S, "b": 1 - S}, **P1, resamples=100, test="randomization"),
    ),
    "conversion/convert.py: pass {}": (
        lambda: convert(text("0 1\n2\n"), "x.npy", kind="truth"),
        lambda: convert("x.txt", "y.npy", kind="truth", n_labels=3),
    ),
    "dropins/curves.py: pass pos_label": (
        lambda: xmceval.roc_curve([0, 2, 2], S[0, :3]),
        lambda: xmceval.roc_curve([0, 2, 2], S[0, :3], pos_label=2),
    ),
    "files/arrays/npz.py: {}": (
        lambda: score("t.txt", np.savez("x.npz", S) or "x.npz", **P1),
        lambda: score("t.txt", np.save("x.npy", S) or "x.npy", **P1),
    ),
    "files/shards.py: pass a pattern such as 'shards/*', to take its files as shards": (
        lambda: score("t.txt", "shards", **P1),
        lambda: score("t.txt", "shards/*", **P1),
    ),
    "files/text/foreign.py: leave numbers of rows out; above lists write how many rows and labels there are": (
        lambda: score(text("0 1 2\n1 3\n2 4\n"), S[:3], **P1),
        lambda: [score(text(lists), S[:3], **P1) for lists in ("1 2\n3\n4\n", "3 5\n0 1 2\n1 3\n2 4\n")],
    ),
    "files/text/foreign.py: save a matrix with numpy.save; above lists write how many rows and labels there are": (
        lambda: score(text("0 1\n1 0\n0 1\n"), S[:3, :2], **P1),
        lambda: [
            score(np.save("x.npy", np.array([[0, 1], [1, 0], [0, 1]])) or "x.npy", S[:3, :2], **P1),
            score(text("3 2\n0 1\n1 0\n0 1\n"), S[:3, :2], **P1),
        ],
    ),
    "files/text/foreign.py: name the columns in a first line such as 'row,label,score' or 'user_id,item_id,rating', "
    "with commas or tabs between columns": (
        lambda: score(Y[:2], text("0,2,0.5\n1,1,0.4\n"), **P1),
        lambda: score(Y[:2], text("row,label,score\n0,2,0.5\n1,1,0.4\n"), **P1),
    ),
    "files/tables/columns.py: rename the columns": (
        lambda: score(Y[:2], text("row,label,strange\n0,2,0.5\n1,1,0.4\n"), **P1),
        lambda: score(Y[:2], text("row,label,score\n0,2,0.5\n1,1,0.4\n"), **P1),
    ),
    "loops/evaluator.py: pass n_labels": (
        lambda: xmceval.Evaluator(metrics="LRAP").update([{0}, {1}], [[0, 1], [1]]),
        lambda: xmceval.Evaluator(metrics="LRAP", n_labels=2).update([{0}, {1}], [[0, 1], [1]]),
    ),
    "loops/merge.py: pass {} if they are parts of one": (
        lambda: merge(two_named()),
        lambda: merge(two_named(), name="both"),
    ),
    "loops/merge.py: merge all of them, or pass {} to merge the rest later": (
        lambda: merge([state(shard="1/2")]),
        lambda: [merge(["a.state.npz"], save_state="m.npz"), merge(["a.state.npz", state("b.npz", shard="2/2")])],
    ),
    "metrics/names.py: pass its name, {}": (
        lambda: score(Y, S, metrics=[METRICS["P"]], k=1),
        lambda: score(Y, S, metrics=["P"], k=1),
    ),
    "report/gates.py: pass {}, or --fraction": (
        lambda: command("score", "t.txt", "p.txt", "-m", "P@1", "--require", "P@1>=0.1"),
        lambda: [
            command("score", "t.txt", "p.txt", "-m", "P@1", "--require", "P@1>=10"),
            command("score", "t.txt", "p.txt", "-m", "P@1", "--require", "P@1>=0.1", "--fraction"),
        ],
    ),
    "report/gates.py: pass {}%, or --percent": (
        lambda: command("score", "t.txt", "p.txt", "-m", "P@1", "--fraction", "--require", "P@1>=10"),
        lambda: [
            command("score", "t.txt", "p.txt", "-m", "P@1", "--fraction", "--require", "P@1>=10%"),
            command("score", "t.txt", "p.txt", "-m", "P@1", "--percent", "--require", "P@1>=10"),
        ],
    ),
    "report/pictures/__init__.py: use compare": (
        lambda: flat().plot(kind="differences"),
        lambda: xmceval.compare(Y, {"a": S, "b": 1 - S}, **P1).plot(kind="differences"),
    ),
    "report/pictures/__init__.py: pass {} or {}": (
        lambda: flat().plot(kind="bins"),
        lambda: score(Y, S, **P1, train=Y, by_frequency=[2]).plot(kind="bins"),
    ),
    "rows/matrices/lists.py: pass (labels, scores) with scores as floats, or what topk returned as it is": (
        lambda: score(Y, tensors([[0, 1]] * 4, [[3, 2]] * 4), **P1),
        lambda: score(Y, tensors([[0, 1]] * 4, [[3.0, 2.0]] * 4), **P1),
    ),
    "rows/matrices/source.py: scale them, or pass float64": (
        lambda: score(Y, wide(), metrics="f1_score", threshold=0.5),
        lambda: [
            score(Y, wide() / 2**60, metrics="f1_score", threshold=0.5),
            score(Y, wide().astype(float), metrics="f1_score", threshold=0.5),
        ],
    ),
    "rows/matrices/tensors.py: pass the real tensor": (
        lambda: score(Y, tensors(S)[0].to("meta"), **P1),
        lambda: score(Y, tensors(S)[0], **P1),
    ),
    "scoring/options.py: pass {}": (
        lambda: score(Y, S, **P1, filter_truth=True),
        lambda: score(Y, S, **P1, filter_truth=True, filter=np.array([[0, 1]])),
    ),
    "scoring/setup/truth.py: pass {} or {}": (
        lambda: score(Y, S, metrics="macroF1(over=train)@1"),
        lambda: score(Y, S, metrics="macroF1(over=train)@1", train=Y),
    ),
}

# Hints that are not tried here, below the reason why not.
UNTRIED = (Path(__file__).parent / "untried_hints.txt").read_text(encoding="utf-8").splitlines()
NAMED = {line for line in UNTRIED if line and not line.startswith("#")}


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


def messages_of(call):
    """Return what an error, or the warnings, of a call say."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        try:
            result = call()
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
    mended()


def test_every_hint_is_tried_or_named_with_the_reason_why_not():
    hints = collect()
    assert hints - set(TRIALS) - NAMED == set(), "new hints: try them"
    assert (set(TRIALS) | NAMED) - hints == set(), "hints that are gone"
    assert set(TRIALS) & NAMED == set()
