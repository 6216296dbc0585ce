"""The number of labels is declared, never inferred from predictions: no value depends on another system."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from support.asked import refused
from support.files import write
from support.measures import named
from support.written import to_long

import xmceval
from xmceval.metrics.names import parse
from xmceval.metrics.table import METRICS

TRUTH = [[0], [1, 2], [3], [0, 4], [2]]
A = ([[0, 1], [2, 5], [3], [4, 0], [1]], [[0.9, 0.2], [0.8, 0.1], [0.7], [0.6, 0.5], [0.4]])
B = ([[0, 99], [2, 5], [3], [4, 0], [71]], A[1])
OVER = [
    named(metric, {option: choice}, 1)
    for metric in METRICS.values()
    for option in ("average", "over")
    for choice in metric.options.get(option, ())
    if choice != "train" and not (option == "over" and metric.family == "confusion")
]
MACRO = [
    "f1_score(average=macro,over=truth)",
    "MCC(average=macro,over=seen)",
    "specificity(average=macro,over=largest)",
]
SKIPPED = ["macroF1(zero=skip)@1", "macroP(zero=skip)@1", "precision_score(average=macro,zero=skip)"]
NAMES = [measure.name for measure in parse([*METRICS, *OVER, *MACRO, *SKIPPED], [1])]
NEEDING = {measure.name for measure in parse(NAMES, [1]) if measure.needs_labels}


def rows_of(pair):
    return [[*zip(*row, strict=True)] for row in zip(*pair, strict=True)]


def as_text(pair, name):
    return write(name, "".join(" ".join(f"{label}:{value}" for label, value in row) + "\n" for row in rows_of(pair)))


def as_dicts(pair, name):
    return {f"q{i}": {f"d{label:03}": value for label, value in row} for i, row in enumerate(rows_of(pair))}


FORMS = {
    "lists": lambda pair, name: pair,
    "text": as_text,
    "dicts": as_dicts,
    "table": lambda pair, name: to_long(rows_of(pair)),
}
ONES = (TRUTH, [[1] * len(row) for row in TRUTH])


@pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
@pytest.mark.parametrize("form", FORMS)
def test_no_value_depends_on_the_other_systems(form):
    truth = TRUTH if form == "lists" else FORMS[form](ONES, "t.txt")
    a, b = FORMS[form](A, "a.txt"), FORMS[form](B, "b.txt")
    names = [name for name in NAMES if name not in NEEDING]
    if form == "dicts":  # documents have no numbers
        names = [name for name in names if "over=largest" not in name]
    alone = dict(xmceval.score(truth, a, metrics=names))
    for systems in ({"a": a, "b": b}, {"b": b, "a": a}):
        assert dict(xmceval.score_all(truth, systems, metrics=names)["a"]) == alone
    compared = [name for name in names if METRICS[parse(name)[0].metric.name].family != "column"]
    results = xmceval.compare(truth, {"b": b, "a": a}, metrics=compared).results
    assert dict(results[1]) == {name: alone[name] for name in compared}
    for name in NEEDING:
        refused(r"declares the number of \w+, which is needed \(hint: pass n_labels", truth, a, metrics=name)


@pytest.mark.parametrize("n_labels", [5, 8, 200])
def test_what_declares_the_number_of_labels_is_the_divisor(n_labels):
    a = A if n_labels > 5 else ([[0, 1], *A[0][2:3] * 4], [[0.9, 0.2], *A[1][2:3] * 4])
    rows = np.repeat(np.arange(5), [len(row) for row in TRUTH])
    cells = rows, np.concatenate(TRUTH)
    truth = sparse.csr_array((np.ones(rows.size), cells), shape=(5, n_labels))
    expected = xmceval.score(truth, a, metrics="macroF1@1,f1_score(average=macro)")
    write("train.txt", f"3 {n_labels}\n0:1\n1:1\n2:1\n")
    write("labels.txt", "".join(f"label {i}\n" for i in range(n_labels)))
    for options in (
        {"n_labels": n_labels},
        {"labels": "labels.txt"},
        {"train": "train.txt"},
        {"counts": np.ones(n_labels), "n_train": 9},
    ):
        found = xmceval.score(TRUTH, a, metrics="macroF1@1,f1_score(average=macro)", **options)
        assert dict(found) == dict(expected), options


def test_matrices_of_predictions_beside_lists_declare_the_number_of_labels_where_it_matters():
    narrow, wide = np.eye(5)[[0, 1, 3, 4, 2]] + 0.5, np.eye(5, 7) + 0.5
    alone = xmceval.score(TRUTH, narrow, metrics="macroF1@1")
    assert dict(xmceval.score_all(TRUTH, {"a": narrow, "b": narrow * 2}, metrics="macroF1@1")["a"]) == dict(alone)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = xmceval.score_all(TRUTH, {"a": narrow, "b": wide}, metrics="P@1,macroF1(over=truth)@1")
    assert both["a"]["P@1"] == 1
