"""Saved values of labels: those of the judge, which add up to the numbers of the report."""

import csv
import json
import math

import numpy as np
import pytest
from judge import naive_labels
from support.strategies import random_case, random_weights, to_csr

import xmceval
from xmceval.cli import main
from xmceval.errors import UsageError
from xmceval.metrics.names import parse
from xmceval.scoring.per_label import labelcounters, labelvalues
from xmceval.scoring.program import compile_program
from xmceval.scoring.tasks.labelwise import Labelwise

RATES = {"precision": naive_labels.precision, "recall": naive_labels.recall, "F1": naive_labels.f_measure}
FORMS = ("csv", "jsonl", "npz")
METRICS = ["P@1,3", "microP@3", "microF1@3", "macroF1@3", "macroR(rel=2)@1", "coverage@3"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def read(path):
    """Return the columns by system, or by system and baseline; numbers, NaN where there is none."""
    if path.endswith("npz"):
        arrays = np.load(path)
        meta = json.loads(arrays["meta"].tobytes())
        own = {name: arrays[name] for name in arrays if name not in {"meta", "names"}}
        return {
            (system, ""): {name: array if array.ndim == 1 else array[:, s] for name, array in own.items()}
            for s, system in enumerate(meta["systems"])
        }
    with open(path, encoding="utf-8") as file:
        lines = list(csv.DictReader(file)) if path.endswith("csv") else [json.loads(line) for line in file]
    tables = {}
    for line in lines:
        if "meta" in line:
            continue
        table = tables.setdefault((line["system"], line["baseline"] or ""), {})
        for name, value in line.items():
            if name not in {"name", "system", "baseline", "bin"}:
                table.setdefault(name, []).append(math.nan if value in {"", None} else float(value))
    return {key: {name: np.array(numbers) for name, numbers in table.items()} for key, table in tables.items()}


def only(path):
    """Return the columns of the only system."""
    [table] = read(path).values()
    return table


def judged(sets, label, weights=None):
    """Return n_true, hits, predicted and the rates of a label."""
    cells = naive_labels.of_label(sets, label, weights)
    rates = [each(cells, 1.0, "skip") for each in RATES.values()]
    return [cells[0] + cells[2], cells[0], cells[0] + cells[1], *(math.nan if rate is None else rate for rate in rates)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weights", [None, [3 * each for each in random_weights(6)]], ids=["plain", "weighted"])
def test_values_of_labels_are_the_judges(form, weights):
    case = random_case(7)
    options = {"sample_weight": weights, "metrics": METRICS, "n_labels": case.n_labels}
    truth, scores = (to_csr(rows, case.n_labels) for rows in (case.truth, case.scores))
    xmceval.score(truth, scores, **options, save_labels=f"a.{form}")
    found = only(f"a.{form}")
    assert found["label"].tolist() == list(range(case.n_labels))
    for rel, k in ((1, 1), (1, 3), (2, 1)):
        suffix = "" if rel == 1 else "(rel=2)"
        rows = [{label: grade for label, grade in row.items() if grade >= rel} for row in case.truth]
        sets = naive_labels.at_cut(rows, case.scores, k)
        names = [f"n_true{suffix}", *(f"{name}{suffix}@{k}" for name in ("hits", "predicted", *RATES))]
        for label in range(case.n_labels):
            expected = judged(sets, label, weights)
            assert [found[name][label] for name in names] == pytest.approx(expected, nan_ok=True), (k, label)
    assert not any(name.endswith("(rel=2)@3") for name in found)  # no metric has it


@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
def test_values_of_labels_add_up_to_the_report_which_does_not_change(empty_rows, rng):
    truth, scores = rng.integers(0, 3, (60, 15)) * (rng.random((60, 15)) < 0.3), rng.random((60, 15))
    train = rng.random((80, 15)) < np.linspace(0.02, 0.5, 15)
    options = {"metrics": METRICS, "train": train, "by_frequency": "head,tail", "empty_rows": empty_rows}
    plain = xmceval.score(truth, scores, **options)
    result = xmceval.score(truth, scores, **options, save_labels="a.csv")
    assert result == plain
    assert (str(result), result.notes) == (str(plain), plain.notes)
    found = only("a.csv")
    assert result["microP@3"] == pytest.approx(found["hits@3"].sum() / found["predicted@3"].sum())
    assert result["P@1"] == pytest.approx(found["hits@1"].sum() / result.counts.n_instances)
    assert result["macroF1@3"] == pytest.approx(np.nan_to_num(found["F1@3"]).mean())
    assert result["coverage@3"] == pytest.approx((found["hits@3"] > 0).sum() / (found["n_true"] > 0).sum())
    assert found["n_true"].sum() == result.counts.n_true
    assert found["n_train"].tolist() == train.sum(axis=0).tolist()
    assert found["inverse_propensity"].tolist() == xmceval.inverse_propensity(train.sum(axis=0), 80).tolist()
    with open("a.csv", encoding="utf-8") as file:
        bins = np.array([line["bin"] for line in csv.DictReader(file)])
    for part in result.slices:
        inside = bins == part.bin.name
        share = found["hits@1"][inside].sum() / result.counts.n_instances
        assert part.estimates["P@1"].value == pytest.approx(share)


def test_decisions_and_areas_have_values_of_labels(rng):
    truth, scores = rng.random((50, 6)) < 0.4, rng.random((50, 6))
    metrics = ["P@2", "f1_score(average=macro)", "balanced_accuracy(average=macro)", "tp", "fp", "fn", "macroAUC"]
    result = xmceval.score(truth, scores, metrics=metrics, threshold=0.6, save_labels="a.npz")
    found = only("a.npz")
    assert [result[name] for name in ("tp", "fp", "fn")] == [found[name].sum() for name in ("tp", "fp", "fn")]
    for name, column in zip(metrics, ("", "F1", "balanced_accuracy", "", "", "", "AUC"), strict=True):
        assert not column or result[name] == pytest.approx(found[column].mean())
    counts = ["n_true", "tp", "fp", "fn"]
    assert [name for name in found if "@" not in name] == [
        *("label", *counts, "precision", "recall", "F1", "balanced_accuracy", "AUC"),
    ]
    assert [name for name in found if "@" in name] == [
        *("hits@2", "predicted@2", "precision@2", "recall@2", "F1@2"),
    ]


def test_labels_are_counted_once():
    measures = parse(["P@1,3", "macroF1@3", "R(rel=2)@5", "f1_score(average=macro)"])
    tasks = [each for each in compile_program(measures).counting_labels().tasks if isinstance(each, Labelwise)]
    assert [(each.rel, each.cutoffs.tolist(), list(map(str, each.measures))) for each in tasks] == [
        (1, [1, 3], ["macroF1@3"]),
        (1, [], ["f1_score(average=macro)"]),
        (2, [5], []),
    ]


def test_metrics_of_columns_alone_have_their_areas(rng):
    truth, scores = rng.random((50, 6)) < 0.4, rng.random((50, 6))
    result = xmceval.score(truth, scores, metrics="macroAP", save_labels="a.jsonl")
    assert result["macroAP"] == pytest.approx(only("a.jsonl")["AP"].mean())


def test_training_rows_are_read_for_labels_where_no_metric_needs_them(rng):
    truth, scores, train = rng.random((20, 6)) < 0.4, rng.random((20, 6)), rng.random((30, 6)) < 0.5
    result = xmceval.score(truth, scores, metrics="P@1", train=train, save_labels="a.npz")
    assert result.propensities is None
    assert only("a.npz")["n_train"].tolist() == train.sum(axis=0).tolist()
    with pytest.warns(UserWarning, match="propensities are estimated from y_true itself"):
        xmceval.score(truth, scores, metrics="PSP@1", save_labels="b.npz")
    found = only("b.npz")
    assert "n_train" not in found  # those are rows of the truth
    assert found["inverse_propensity"].size == 6


def test_labels_beyond_an_array_have_values_where_they_have_counts(monkeypatch):
    monkeypatch.setattr(labelcounters, "DENSE_IDS", 3)
    monkeypatch.setattr(labelvalues, "DENSE_IDS", 3)
    truth = to_csr([{1: 1, 7: 1}, {7: 1}], 10)
    xmceval.score(truth, to_csr([{7: 2.0, 9: 1.0}, {2: 1.0}], 10), metrics="P@1,2", save_labels="a.npz")
    found = only("a.npz")
    assert found["label"].tolist() == [1, 2, 7, 9]
    assert found["n_true"].tolist() == [1, 0, 2, 0]
    assert found["hits@1"].tolist() == [0, 0, 1, 0]
    assert found["predicted@2"].tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("form", FORMS[:2])
def test_pairs_have_differences_by_label(form, rng):
    truth = rng.random((60, 9)) < 0.3
    systems = {name: rng.random((60, 9)) for name in "abc"}
    comparison = xmceval.compare(truth, systems, metrics="P@2", against="a", save_labels=f"a.{form}")
    found = read(f"a.{form}")
    assert list(found) == [("a", ""), ("b", ""), ("c", ""), ("b", "a"), ("c", "a")]
    for wins in comparison.label_wins:
        pair = found[wins.system, wins.baseline]
        for name in ("hits@2", "recall@2", "F1@2"):
            own, other = (found[each, ""][name] for each in (wins.system, wins.baseline))
            assert pair[name] == pytest.approx(own - other, nan_ok=True)
        assert pair["n_true"].tolist() == found["a", ""]["n_true"].tolist()
        assert (wins.column, wins.wins, wins.ties, wins.losses) == (
            "hits@2",
            *(int(np.count_nonzero(each)) for each in (pair["hits@2"] > 0, pair["hits@2"] == 0, pair["hits@2"] < 0)),
        )


def test_differences_of_runs_are_those_of_their_means(rng):
    truth, (a, b, c) = rng.random((60, 9)) < 0.3, rng.random((3, 60, 9))
    xmceval.compare(truth, {"runs": [a, b], "c": c}, metrics="P@2", save_labels="a.csv")
    found = read("a.csv")
    assert list(found) == [("runs (1)", ""), ("runs (2)", ""), ("c", ""), ("c", "runs")]
    mean = (found["runs (1)", ""]["hits@2"] + found["runs (2)", ""]["hits@2"]) / 2
    assert found["c", "runs"]["hits@2"] == pytest.approx(found["c", ""]["hits@2"] - mean)


def test_the_commands_save_names_of_labels_and_report_who_wins(tmp_path, capsys):
    files = {"truth.txt": 'a "b"\nc\n', "x.txt": "c a\nc\n", "y.txt": 'a "b"\na\n', "names.txt": 'a\n"b"\nc\nd\u00e9\n'}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = ["compare", "truth.txt", "x.txt", "y.txt", "--labels", "names.txt", "-m", "P@1", "--save-labels", "l.csv"]
    with pytest.raises(SystemExit) as left:
        main(command)
    assert left.value.code == 0
    assert "l.csv: y has a higher hits@1 than x for 1 label, a lower one for 1, the same for 2" in (
        capsys.readouterr().err
    )
    with open("l.csv", encoding="utf-8") as file:
        names = [line["name"] for line in csv.DictReader(file)]
    assert names[::3] == ["a", '"b"', "c", "d\u00e9"]
    xmceval.score("truth.txt", "x.txt", labels="names.txt", metrics="P@1", save_labels="l.npz")
    assert np.load("l.npz")["names"].tobytes() == (tmp_path / "names.txt").read_bytes()


@pytest.mark.parametrize(
    ("options", "path", "message"),
    [
        ({"metrics": "RR@all"}, "a.csv", r"a.csv: none of the metrics has label counts \(hint: add one at a cutoff"),
        ({"ties": "best"}, "a.csv", "a.csv: counts by label follow the order by label, not ties='best'"),
        ({}, "a.txt", "a.txt: values of labels are written as .npz, .csv, .jsonl"),
        ({"save_rows": "./a.csv"}, "a.csv", "a.csv: values of instances and of labels need two different files"),
        ({}, "old.csv", "old.csv: already exists"),
    ],
)
def test_what_cannot_be_saved_is_refused_before_work(options, path, message, tmp_path):
    (tmp_path / "old.csv").write_text("mine")
    with pytest.raises(UsageError, match=message):
        xmceval.score(np.eye(3), np.eye(3), **{"metrics": "P@1"} | options, save_labels=path)
    assert [each.name for each in tmp_path.iterdir()] == ["old.csv"]


def test_metrics_that_count_no_labels_may_stand_beside_one_that_does(tmp_path):
    xmceval.score(np.eye(3), np.eye(3), metrics=["RR@all", "P@1"], save_labels="a.csv")
    assert (tmp_path / "a.csv").exists()
