"""The guide of recipes: each runs as it stands there, and gives the values that xmceval itself gave before.

The values were recorded with commit 4eaca550, the last one that had these features, on the same files.
"""

import doctest
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
from scipy import sparse
from support.recipes import GUIDES, find_code, find_imports, run, split_parts

import xmceval

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "datasets" / "sample"


def find_recipes():
    """Return by heading the Python of a recipe, after what its part and the guide begin with, and its other code."""
    beginning, parts = split_parts(GUIDES["recipes"])
    recipes = {}
    for part in parts.values():
        start, pieces = split_parts(part, "###")
        for heading, text in pieces.items():
            python = find_code(text)
            before = find_code(beginning) + find_code(start)
            recipes[heading] = (python and before + python, find_code(text, "sh"))
    return recipes


RECIPES = find_recipes()


def read_sample(name):
    return sparse.csr_array(xmceval.read(SAMPLE / name))


def write_files(folder):
    """Write the files that recipes read."""
    truth, scores = read_sample("tst_X_Y.txt"), read_sample("model_a.txt")
    rng = np.random.default_rng(1)
    scipy.io.savemat(folder / "scores.mat", {"score_mat": sparse.csc_matrix(scores.T)})
    scipy.io.mmwrite(folder / "scores.mtx", sparse.coo_matrix(scores))
    lists = [{"target_ind": row.tolist()} for row in np.split(truth.indices, truth.indptr[1:-1])]
    (folder / "truth.json").write_text(json.dumps(lists, indent=1))
    cells = scores.tocoo()
    frame = pd.DataFrame({"row": cells.row, "label": cells.col, "score": cells.data})
    frame.to_json(folder / "scores.json", orient="records")
    sizes = rng.integers(1, 9, 20)
    lines = [f"{rng.integers(0, 3)} qid:{query} 1:0.5" for query, size in enumerate(sizes, 1) for _ in range(size)]
    (folder / "test.letor").write_text("\n".join(lines) + "\n")
    np.savetxt(folder / "documents.txt", rng.random(len(lines)), fmt="%.6f")
    for name, seed in (("old", 2), ("new", 3)):
        random = np.random.default_rng(seed)
        lines = [
            f"{metric:22}\tq{i}\t{random.integers(0, 6) / 5:.4f}\n" for i in range(40) for metric in ("map", "P_5")
        ]
        (folder / f"{name}.eval").write_text("".join(lines) + "map                   \tall\t0.5\n")
    judgments = truth.tolil()
    for row, label in np.ndindex(500, 300):
        if row % 3 == 0 and label in {97, 218} and not judgments[row, label]:
            judgments[row, label] = -1
    sparse.save_npz(folder / "judgments.npz", sparse.csr_matrix(judgments))
    for part, rows in ((1, slice(0, 200)), (2, slice(200, 500))):
        sparse.save_npz(folder / f"truth-{part}.npz", sparse.csr_matrix(truth[rows]))
        sparse.save_npz(folder / f"preds-{part}.npz", sparse.csr_matrix(scores[rows]))


# What the features that these recipes stand for gave: by recipe, an expression over its names, and its value.
RECORDED = json.loads(Path(__file__).with_name("recipes.json").read_text(encoding="utf-8"))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Work in the folder of the recipes' files, with the command on the path."""
    shutil.copytree(SAMPLE, tmp_path / "datasets" / "sample")
    write_files(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    return tmp_path


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # of pandas 2.1, where a table has nan
@pytest.mark.parametrize("heading", RECORDED)
def test_recipe_gives_the_recorded_values(heading, files):
    for library in find_imports(RECIPES[heading][0]):
        pytest.importorskip(library)  # only ray and pyspark lack where the extra `test` is installed
    names = run(RECIPES[heading][0])
    for expression, value in RECORDED[heading].items():
        assert eval(expression, names) == pytest.approx(value, rel=EXACT, abs=1e-12), expression


# The quantiles of t of SciPy 1.11 have eight digits.
EXACT = 1e-8 if scipy.__version__.startswith("1.11.") else 1e-9

TAKE_MATRICES = [
    heading
    for heading, (python, _) in RECIPES.items()
    if re.search(r"\b(truth|train)[],.[]", python.rpartition("= truth.shape\n")[2])
    and "range(200)" not in python  # the draws take long, and see what the start has made of the matrices
]


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # of pandas 2.1, where a table has nan
@pytest.mark.parametrize("heading", TAKE_MATRICES)
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array.toarray], ids=["csr_matrix", "dense"])
def test_recipe_takes_any_matrix(heading, make, files, monkeypatch):
    read = xmceval.read
    monkeypatch.setattr(xmceval, "read", lambda path: make(read(path)))
    names = run(RECIPES[heading][0])
    for expression, value in RECORDED[heading].items():
        assert eval(expression, names) == pytest.approx(value, rel=EXACT, abs=1e-12), expression


def test_bootstrap_interval_is_that_of_other_draws(files):
    # The standard deviation of B draws has a relative standard error of about 1 / sqrt(2 B): 5% of the 200 draws here,
    # 0.7% of the 10,000 that were recorded. So 20% is four of them.
    names = run(RECIPES["Intervals of macro means"][0])
    margin = names["high"] - names["value"]
    assert margin == pytest.approx(0.007882203158469527, rel=0.2)
    assert margin == pytest.approx(names["value"] - names["low"])


def test_recipes_take_dense_scores_and_other_sizes(files):
    scores = "a = np.where(a.toarray() == 0, -1, a.toarray())[:100]\n"
    code = RECIPES["A threshold for micro F1, or for each label"][0]
    dense = f">>> truth, b = truth[:100], b[:100]\n>>> {scores}"
    examples = doctest.DocTestParser().get_examples(code.replace(">>> n_rows,", f"{dense}>>> n_rows,"))
    names = {}
    for example in examples:
        if not example.want:
            exec(example.source, names)
    whole = np.where(names["a"] >= names["thresholds"], names["a"], -np.inf)
    best = xmceval.score(names["truth"], whole, metrics="f1_score(average=macro)", threshold=-1)
    assert names["macro"]["f1_score(average=macro)"] == pytest.approx(best["f1_score(average=macro)"], rel=1e-12)


def shell(code, folder, **variables):
    """Run lines of a shell and return what they print."""
    done = subprocess.run(
        ["sh", "-e"], input=code, cwd=folder, env=os.environ | variables, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_history_lists_the_values_of_commits_and_the_page_has_those_of_a_leaderboard(files):
    folder = files / "datasets" / "sample"
    person = {"NAME": "a", "EMAIL": "a@b"}
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    shell("git init -q", folder)
    for name in ("model_a.txt", "model_b.txt"):
        shutil.copy(folder / name, folder / "preds.txt")
        printed = shell(RECIPES["JSON results, their history, and a page"][1], folder, **who)
    assert printed.split() == ["0.4036", "0.374"]
    page = (folder / "RESULTS.md").read_text(encoding="utf-8").rpartition("|")[0]
    # two data sets, then means over them
    recorded = (
        "68.60 37.40 38.92 55.00 40.36 50.34 79.50 43.70 53.76 73.50 50.50 71.91 74.05 40.55 46.34 64.25 45.43 61.12"
    )
    assert re.findall(r"\b\d\d\.\d\d\b", page) == recorded.split()


def test_tasks_of_slurm_save_states_that_merge(files):
    for task in ("1", "2"):
        shell(RECIPES["Ray, Spark and Slurm"][1], files, SLURM_ARRAY_TASK_ID=task)
    merged = shell("xmceval merge part-*.state.npz -o json", files)
    values = {name: each["value"] for name, each in json.loads(merged)["systems"][0]["metrics"].items()}
    assert values == pytest.approx({"P@5": 0.374, "macroF1@5": 0.10749295856753821}, rel=1e-9)


def test_every_recipe_is_run():
    this = Path(__file__).read_text(encoding="utf-8")
    for heading, (python, *others) in RECIPES.items():
        assert bool(python) == (heading in RECORDED), heading
        for place, code in enumerate(others, 1):
            assert bool(code) == (f'RECIPES["{heading}"][{place}]' in this), heading
