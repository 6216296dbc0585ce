"""The command compare: whole outputs on the sample, and what it answers to bad input."""

import io
import json
import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import save_npz
from support.approved import check
from support.files import write_qrels
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
WHOLE = {
    "compare-default": (*PLAIN, "--train", TRAIN, "-m", "P,PSP", "-k", "1,3"),
    "compare-against": (*PLAIN, "--against", MODEL_B, "-m", "P", "-k", 1),
    "compare-randomization": (*PLAIN, "--test", "randomization", "--seed", 7, "--train", TRAIN, "-m", "PSP@3"),
    "compare-unadjusted": (*PLAIN, "-q", "--adjust", "none", "--places", 1, "-m", "P,nDCG", "-k", 3),
    "compare-same-file": (TRUTH, MODEL_A, MODEL_A, "-m", "P", "-k", 1),
    "compare-csv": (*PLAIN, "-m", "P", "-k", 3, "-q", "-o", "csv"),
    "compare-json": (*PLAIN, "-m", "P", "-k", 3, "-q", "-o", "json", "--adjust", "none"),
}


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


@pytest.mark.parametrize("name", WHOLE)
def test_an_output_is_whole_as_it_was_approved(run, name):
    code, out, err = run(*WHOLE[name])
    out = re.sub(r"\d\.\d{11,}", lambda number: f"{float(number[0]):.10g}", out.replace(xmceval.__version__, "VERSION"))
    check(__file__, f"{name}.txt", f"{out}{err}exit code {code}\n")


def test_rows_of_a_csv_are_compared_with_a_warning_which_strict_refuses(run, rows):
    a, b = rows("a.rows.npz", MODEL_A, "P@1,R@3"), rows("b.rows.csv", MODEL_B, "P@1,R@3")
    unknown = f"{b}: cannot check that the instances have the same truth\n"
    code, out, err = run(a, b)
    assert (code, err) == (0, f"doubt: {unknown}")
    check(__file__, "compare-rows.txt", out)
    assert run(a, b, "--strict") == (1, "", f"Error: {unknown}with --strict doubts are errors\n")


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


def test_the_names_of_a_pair_of_files_are_the_same_system(run, tmp_path):
    """A pair may be passed by its stem or by either file, which is no path that exists for the stem."""
    np.save(tmp_path / "m-labels.npy", np.zeros((500, 1), dtype=np.int64))
    np.save(tmp_path / "m-scores.npy", np.ones((500, 1)))
    code, out, err = run(TRUTH, tmp_path / "m", tmp_path / "m-labels.npy", tmp_path / "m", "-m", "P", "-k", 1)
    assert code == 0
    assert "\nm (1) " in out
    assert "doubt: m (1) and m-labels are the same file: they tie on every instance\n" in err


def test_notes_name_each_file_once(run):
    _, _, err = run(*PLAIN, "-m", "P", "-k", 1, "-v")
    notes = [line for line in err.splitlines() if line.startswith("note: ")]
    how = "text, rows of idx:value, header '500 300'; rows by position, labels by number"
    assert notes == [f"note: {each}: {how}" for each in (TRUTH, MODEL_A, MODEL_B)]


def test_the_largest_seed_is_taken(run):
    options = ("-m", "P", "-k", 1, "--test", "randomization", "--seed", 2**63 - 1, "--resamples", 100)
    code, out, _ = run(*PLAIN, *options)
    assert (code, f"seed {2**63 - 1}" in out) == (0, True)


def test_other_numbers_of_rows_and_other_metrics_are_refused(run, rows, tmp_path):
    head, *lines = Path(MODEL_B).read_text().splitlines(keepends=True)
    short = tmp_path / "short.txt"
    short.write_text("".join([head.replace("500", "399"), *lines[:399]]))
    message = f"Error: tst_X_Y.txt has 500 rows, {short} has 399 rows; they must be of the same instances\n"
    assert run(TRUTH, MODEL_A, short) == (1, "", message)
    a, b = rows("a.rows.npz", MODEL_A, "P@1,R@3"), rows("b.rows.csv", MODEL_B, "P@1,nDCG@3")
    message = f"Error: {a} and {b} have different metrics: only one of them has R@3, nDCG@3\n"
    assert run(a, b) == (1, "", message)


def test_what_is_beside_values_per_instance_is_named_by_what_it_is(run, rows, tmp_path):
    a = rows("a.rows.npz", MODEL_A, "P@1")
    hint = f"(hint: leave out {TRUTH})"
    message = f"Error: {a}: per-instance values are compared without TRUTH {hint}\n"
    assert run(TRUTH, a) == (2, "", message)
    missing = tmp_path / "b.rows.npz"
    assert run(missing, a) == (1, "", f"Error: {missing}: no such file\n")
    assert run(a, missing) == (1, "", f"Error: {missing}: no such file\n")


def test_queries_that_one_file_of_values_lacks_are_refused_unless_missing_says_what_they_are(run, tmp_path):
    (tmp_path / "a.csv").write_text("query,P@1\na,1\nb,0\nc,1\n")
    (tmp_path / "b.csv").write_text("query,P@1\na,1\nb,1\n")
    files = tmp_path / "a.csv", tmp_path / "b.csv"
    code, out, err = run(*files, "-q")
    assert (code, out) == (1, "")
    assert err.startswith(f"Error: {files[1]}: lacks 1 row of 3, such as 'c'")
    for missing, differ in (("drop", "1 query differs"), ("zero", "2 queries differ")):
        assert differ in run(*files, "-q", "--missing", missing)[1]


def test_labels_with_the_names_of_metrics_are_no_values_per_instance(run, tmp_path):
    for name, text in (("t.txt", "AP\nR\n"), ("a.txt", "AP\nR\n"), ("b.txt", "R\nAP\n"), ("names.txt", "AP\nR\n")):
        (tmp_path / name).write_text(text)
    files = [tmp_path / f"{name}.txt" for name in "tab"]
    assert run(*files, "--labels", tmp_path / "names.txt", "-m", "P", "-k", 1, "-q")[0] == 0


def test_text_of_carriage_returns_is_no_values_per_instance(run, tmp_path):
    path = tmp_path / "old.txt"
    path.write_bytes(b"2 3\r0:1\r1:1\r")
    message = f"Error: {path}: its lines end with carriage returns only; expected newlines\n"
    assert run(path, MODEL_A, MODEL_B) == (1, "", message)


def test_an_output_that_is_not_utf8_has_plain_marks(run, monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "latin-1"))
    assert run(*PLAIN, "--against", MODEL_B, "-qk1", "-mP")[0] == 0
    sys.stdout.flush()
    text = sys.stdout.buffer.getvalue().decode("latin-1")
    assert "model_a   68.60 ±4.08 +\n" in text
    assert "+ significantly better, - significantly worse than model_b\n" in text


@pytest.mark.parametrize("against", ["model_b", "model_b.txt", "../sample/model_b.txt"])
def test_the_baseline_is_meant_by_its_name_its_file_or_its_path(run, against):
    code, out, _ = run(TRUTH, MODEL_A, "../sample/model_b.txt", "-m", "P@1", "--against", against, "-q")
    assert (code, "every system was tested against model_b only" in out) == (0, True)


def test_the_baseline_is_meant_by_the_tag_of_its_run(run, tmp_path):
    truth = write_qrels(tmp_path / "qrels", {"q1": {"d1": 1}, "q2": {"d2": 1}})
    for name, tag in (("one.trec", "bm25"), ("two.trec", "dense")):
        (tmp_path / name).write_text(f"q1 Q0 d1 1 2.0 {tag}\nq2 Q0 d1 1 1.0 {tag}\n")
    code, out, _ = run(truth, tmp_path / "one.trec", tmp_path / "two.trec", "-m", "RR@1", "--against", "bm25", "-q")
    assert (code, "every system was tested against one only" in out) == (0, True)
