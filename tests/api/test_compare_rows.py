"""Saved values of rows: written by score and compare, read back with the same digits; other tools' per-query files."""

import json
from pathlib import Path

import numpy as np
import pytest

import xmceval
from xmceval.cli import main
from xmceval.errors import DataError, UsageError
from xmceval.files.rowvalues import read_row_values
from xmceval.rows import matrices

METRICS = ["P@1,3", "PSP@3", "LRAP", "GAUC", "AUC", "f1_score"]


@pytest.fixture
def made(rng):
    truth = rng.random((90, 12)) < 0.2
    scores = {name: np.where((s := truth * rng.random() + rng.random((90, 12))) > 0.4, s, -np.inf) for name in "ab"}
    return truth, scores, {"metrics": METRICS, "inverse_propensities": 1 + rng.random(12)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("form", ["npz", "csv", "jsonl"])
@pytest.mark.parametrize("weighted", [False, True])
def test_saved_rows_give_the_same_digits(made, form, weighted, rng, monkeypatch):
    truth, scores, options = made
    options["sample_weight"] = rng.integers(0, 3, 90) if weighted else None
    monkeypatch.setattr(matrices, "BLOCK_ENTRIES", 50)
    together = xmceval.compare(truth, scores, **options, save_rows=f"both.rows.{form}", threads=2)
    for name, each in scores.items():
        xmceval.score(truth, each, **options, save_rows=f"{name}.rows.{form}")
    for files, names in (([f"both.rows.{form}"], ()), ([f"a.rows.{form}", f"b.rows.{form}"], ("a", "b"))):
        found = xmceval.compare_rows(files, names=names)
        for key, difference in together.items():
            other = found[key]
            assert (other.difference, other.low, other.high) == (difference.difference, difference.low, difference.high)
            assert (other.p, other.wins, other.ties, other.losses) == (
                *(difference.p, difference.wins, difference.ties, difference.losses),
            )


def test_rows_are_in_order_and_are_those_of_the_judge(made, monkeypatch):
    truth, scores, _ = made
    monkeypatch.setattr(matrices, "BLOCK_ENTRIES", 7)
    result = xmceval.score(truth, scores["a"], metrics="P", k=1, save_rows="a.rows.csv", threads=3)
    table = read_row_values("a.rows.csv")
    assert table.rows == tuple(map(str, range(90)))
    best = np.where(scores["a"].max(axis=1) > -np.inf, scores["a"].argmax(axis=1), -1)
    hits = [float(label >= 0 and truth[row, label]) for row, label in enumerate(best)]
    assert table.values[:, 0, 0, 0].tolist() == hits
    assert np.mean(hits) == pytest.approx(result["P@1"])


def test_rows_of_another_truth_are_refused_by_digest(made):
    truth, scores, options = made
    xmceval.score(truth, scores["a"], **options, save_rows="a.rows.npz")
    other = truth.copy()
    other[3, 5] ^= True
    xmceval.score(other, scores["b"], **options, save_rows="b.rows.npz")
    with pytest.raises(DataError, match=r"a.rows.npz and b.rows.npz are of different truths"):
        xmceval.compare_rows(["a.rows.npz", "b.rows.npz"])


def test_files_with_other_metrics_or_rows_are_refused(made):
    truth, scores, _ = made
    xmceval.score(truth, scores["a"], metrics=["P@1", "R@3"], save_rows="a.rows.npz")
    xmceval.score(truth, scores["b"], metrics=["P@1"], save_rows="b.rows.npz")
    xmceval.score(truth[:80], scores["b"][:80], metrics=["P@1", "R@3"], save_rows="c.rows.csv")
    with pytest.raises(DataError, match=r"have different metrics: only one of them has R@3"):
        xmceval.compare_rows(["a.rows.npz", "b.rows.npz"])
    with pytest.raises(DataError, match=r"c.rows.csv lacks 10 rows that the other has; the first is row 80"):
        xmceval.compare_rows(["a.rows.npz", "c.rows.csv"])


TREC_EVAL = "map\t301\t0.5\nmap\t302\t0.25\nP_5\t301\t0.4\nP_5\t302\t0.2\nmap\tall\t0.375\nP_5\tall\t0.3\n"
IR_MEASURES = "301\tAP\t0.5\n301\tP@5\t0.4\n302\tAP\t0.25\n302\tP@5\t0.2\n"
LONG = "query_id,measure,value\n301,AP,0.5\n301,P@5,0.4\n302,AP,0.25\n302,P@5,0.2\n"
WIDE = "query,AP,P@5\n301,0.5,0.4\n302,0.25,0.2\n"


@pytest.mark.parametrize("text", [TREC_EVAL, IR_MEASURES, LONG, WIDE])
def test_per_query_files_of_other_tools_are_read(text):
    Path("a.txt").write_text(text)
    table = read_row_values("a.txt")
    assert table.rows == ("301", "302")
    assert sorted(table.values[:, 0, :, 0].ravel().tolist()) == [0.2, 0.25, 0.4, 0.5]
    Path("b.txt").write_text(text.replace("0.25", "0.5"))
    comparison = xmceval.compare_rows(["a.txt", "b.txt"])
    assert {each.measure.metric.name for each in comparison.values()} == {"AP", "P"}
    assert max(each.difference for each in comparison.values()) == 0.125


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("query,AP\n301,0.5\n302,x\n", "a.txt:3: expected a number, found 'x'"),
        ("query,AP\n301,0.5,3\n", "a.txt:2: expected 2 cells, got 3"),
        ("query,AP\n301,0.5\n301,0.5\n", "a.txt:3: row '301' appears twice"),
        ("query_id,measure,value\n301,AP,0.5\n301,RR,0.5\n302,AP,1\n", "row '302' has no value of RR"),
        ("1,2,3,4\n5,6,7,8\n", "expected values of rows: a header"),
        ('{"row": 0}\n', "its last line has no 'meta'"),
        ('{"row": 0\n', "a.txt:1: expected a JSON object"),
    ],
)
def test_broken_files_are_refused_with_their_place(text, message):
    Path("a.txt").write_text(text)
    with pytest.raises(DataError, match=message):
        read_row_values("a.txt")


def test_an_npz_of_something_else_is_refused(made):
    np.savez("a.rows.npz", data=np.ones(3))
    with pytest.raises(DataError, match="has no values of rows"):
        read_row_values("a.rows.npz")


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("a.txt", {}, "values of rows are written as .npz, .csv, .jsonl"),
        ("a.rows.npz", {"metrics": "macroF1@3"}, "none of the metrics has values of rows"),
    ],
)
def test_what_cannot_be_saved_is_refused(made, path, options, message):
    truth, scores, _ = made
    with pytest.raises(UsageError, match=message):
        xmceval.score(truth, scores["a"], **options, save_rows=path)
    assert not Path(path).exists()


def test_the_command_compares_rows(made, capsys):
    truth, scores, options = made
    xmceval.compare(truth, scores, **options, save_rows="both.rows.npz")
    with pytest.raises(SystemExit, match="0"):
        main(["compare", "both.rows.npz", "-o", "json"])
    found = json.loads(capsys.readouterr().out)
    assert {each["metric"] for each in found["comparisons"]} == {
        "P@1",
        "P@3",
        "PSP@3",
        "LRAP",
        "GAUC",
        "AUC",
        "f1_score",
    }
