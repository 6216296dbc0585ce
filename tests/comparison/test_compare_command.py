"""The command compare: whole outputs on the sample, and what it answers to bad input."""

import io
import json
import sys
from functools import partial

import numpy as np
import pytest
from scipy.sparse import save_npz
from support.sample import MODEL_A, MODEL_B, TRAIN, TRUTH

import xmceval
from xmceval.report.sheet import LONGEST

pytestmark = pytest.mark.usefixtures("in_sample")


@pytest.fixture
def run(run):
    return partial(run, "compare")


@pytest.fixture
def rows(tmp_path, run):
    """Return a function that scores a file, saves its rows, and returns their path."""

    def rows(name, preds, metrics):
        assert run.func("score", TRUTH, preds, "-q", "-m", metrics, "--save-rows", tmp_path / name)[0] == 0
        return tmp_path / name

    return rows


# What is printed.


PLAIN = (TRUTH, MODEL_A, MODEL_B)


NAMES = ["attentionxml", "bonsai", "dismec", "parabel", "pecos", "slice", "xreg", "lightxml"]


@pytest.mark.parametrize(("n_systems", "most"), [(2, 20), (3, 20), (8, 30)])
def test_a_comparison_takes_few_lines(run, tmp_path, n_systems, most):
    old, new = (xmceval.read(path) for path in (MODEL_A, MODEL_B))
    for i, name in enumerate(NAMES[:n_systems]):
        save_npz(tmp_path / f"{name}.npz", (1 - i / 10) * old + i / 10 * new)
    systems = [tmp_path / f"{name}.npz" for name in NAMES[:n_systems]]
    code, out, _ = run(TRUTH, *systems, "-q", "--train", TRAIN, "-m", "P,PSP", "-k", "1,5")
    assert (code, out.count("\n(h) ")) == (0, int(n_systems == 8))  # the table is in one piece
    assert out.count("\n") <= most
    assert max(map(len, out.splitlines())) <= LONGEST


def test_a_pattern_of_runs_means_its_files_in_natural_order(run, tmp_path):
    model = xmceval.read(MODEL_A)
    files = [tmp_path / f"seed{number}.npz" for number in (1, 2, 10)]
    for i, file in enumerate(files):
        model.data = np.roll(model.data, i)
        save_npz(file, model)
    asked = ("-qmP", "-o", "json", TRUTH, MODEL_B)
    code, out, err = run(*asked, "--runs", f"a={tmp_path}/seed*.npz")
    assert (code, err) == (0, "")
    assert out == run(*asked, "--runs", f"a={','.join(map(str, files))}")[1]
    expected = xmceval.compare(TRUTH, {"model_b": MODEL_B, "a": files}, metrics="P")
    assert json.loads(out)["runs"] == expected.to_dict()["runs"]
    assert [system["name"] for system in json.loads(out)["systems"]] == ["model_b", "a (1)", "a (2)", "a (3)"]
    code, _, err = run(*asked, "--runs", f"a={tmp_path}/seed10*.npz")
    assert code == 2
    assert err.endswith("expected at least two files (hint: a single one is a system without --runs)\n")


def test_a_table_of_runs_is_that_of_a_paper(run, tmp_path):
    """Mean and sample standard deviation are numpy's, of values that are scored one by one."""
    model = xmceval.read(MODEL_A)
    rng = np.random.default_rng(5)
    for i in range(3):
        model.data = rng.permutation(model.data)
        save_npz(tmp_path / f"seed{i}.npz", model)
    values = [xmceval.score(TRUTH, tmp_path / f"seed{i}.npz", metrics="P@1")["P@1"] for i in range(3)]
    mean, sd = 100 * np.mean(values), 100 * np.std(values, ddof=1)
    asked = (TRUTH, f"b={MODEL_B}", "--runs", f"a={tmp_path}/seed*.npz", "-qmP@1,nDCG@1")
    written = {form: run(*asked, "-o", form)[1] for form in ("table", "md", "latex")}
    assert f"{mean:.2f} ± {sd:.2f}" in written["table"]
    assert f"{mean:.2f} ± {sd:.2f}" in written["md"]
    assert rf"{mean:.2f}~{{\scriptsize $\pm$ {sd:.2f}}}" in written["latex"]
    print_ = written["latex"].partition(r"\parbox")[2]
    for note in (r"mean $\pm$ sd over 3 runs of a", "paired t test over instances (n = 500), p $<$ 0.05, not adjusted"):
        assert note in print_
    assert " ±" not in next(line for line in written["table"].splitlines() if line.startswith("b  "))
    assert f"{mean:.1f} ± {sd:.1f}" in run(*asked, "--places", 1)[1]
    assert f"{mean / 100:.4f} ± {sd / 100:.4f}" in run(*asked, "--fraction")[1]


def test_the_cost_of_long_resampling_is_written_before_it_starts(run, monkeypatch):
    args = (TRUTH, MODEL_A, MODEL_B, MODEL_A, "-m", "P", "-k", "1,3", "--test", "randomization", "--resamples", 200)
    cost = "note: randomization: 6 tests of 200 resamples of 500 instances\n"
    assert cost not in run(*args)[2]
    monkeypatch.setattr("xmceval.cli.inputs.LONG", 6 * 200 * 500)
    assert run(*args)[2].startswith(cost)
    assert cost not in run(*args, "-q")[2]
    assert "tests of" not in run(*args[:-4])[2]


@pytest.mark.parametrize("names", [("a.npz", "b.npz"), ("a.csv", "b.npz"), ("a.npz", "b.csv")], ids=str)
def test_values_per_instance_are_known_by_their_content(run, rows, tmp_path, names):
    a, b = (rows(name, model, "P@1,R@3") for name, model in zip(names, (MODEL_A, MODEL_B), strict=True))
    picture = tmp_path / "differences.svg"
    code, out, _ = run(a, f"old={b}", "-q", "-o", "json", "--plot", picture)
    assert code == 0
    assert {found["metric"] for found in json.loads(out)["comparisons"]} == {"P@1", "R@3"}
    assert picture.read_text().startswith("<?xml")


# Bad input.


def test_an_output_that_is_not_utf8_has_plain_marks(run, monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "latin-1"))
    assert run(*PLAIN, "--against", MODEL_B, "-qk1", "-mP")[0] == 0
    sys.stdout.flush()
    text = sys.stdout.buffer.getvalue().decode("latin-1")
    assert "model_a   68.60 ±4.08 +\n" in text
    assert "+ significantly better, - significantly worse than model_b\n" in text
