"""A result records how it was made: options that are not the default, the truth, in the table, JSON and CSV."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from support.files import PREDS, TRUTH

import xmceval
from xmceval.metrics.table import METRICS
from xmceval.scoring.options import Options, specs

# For each option a value that is not the default, as the command takes it, and how reports record it.
VALUES = {
    "k": ("1-2", [1, 2]),
    "metrics": (["P@1,PSP@2"], ["P@1", "PSP@2"]),
    "train": ("sub/train.txt", "train.txt"),
    "counts": ("sub/counts.txt", "counts.txt"),
    "n_train": (9, 9),
    "inverse_propensities": ("sub/inverse.txt", "inverse.txt"),
    "dataset": ("Bibtex", "Bibtex"),
    "a": (0.5, 0.5),
    "b": (2.0, 2.0),
    "n_labels": (5, 5),
    "labels": ("sub/labels.txt", "labels.txt"),
    "duplicates": ("max", "max"),
    "sample_weight": ("sub/weights.txt", "weights.txt"),
    "missing": ("drop", "drop"),
    "filter": ("sub/filter.txt", "filter.txt"),
    "only_labels": ("sub/kept.txt", "kept.txt"),
    "unknown_labels": ("miss", "miss"),
    "filter_truth": (True, True),
    "grades": (True, True),
    "empty_rows": ("drop", "drop"),
    "unscored": ("zero", "zero"),
    "ties": ("expected", "expected"),
    "threshold": (0.3, 0.3),
    "by_frequency": ("head,tail", "head,tail"),
    "by_group": ("sub/groups.txt", "groups.txt"),
    "ceiling": (True, True),
}
# What another option must accompany or exclude.
WITH = {
    "counts": {"n_train": 9},
    "n_train": {"counts": "sub/counts.txt"},
    "filter_truth": {"filter": "sub/filter.txt"},
    "unknown_labels": {"labels": "sub/labels.txt"},
}


FILES = {
    "truth.txt": TRUTH,
    "preds.txt": PREDS,
    "sub/train.txt": TRUTH,
    "sub/counts.txt": "3\n2\n1\n1\n1\n",
    "sub/inverse.txt": "1\n2\n3\n4\n5\n",
    "sub/labels.txt": "a\nb\nc\nd\ne\n",
    "sub/weights.txt": "1\n2\n1\n1\n",
    "sub/filter.txt": "0 1\n",
    "sub/kept.txt": "4\n3\n2\n1\n0\n",
    "sub/groups.txt": "en\nde\nen\nde\n",
}


@pytest.fixture
def score(run):
    """Return a function that scores the files by the command, and returns what it prints."""
    Path("sub").mkdir()
    for name, text in FILES.items():
        Path(name).write_text(text)

    def score(*args, preds="preds.txt"):
        code, out, err = run("score", "truth.txt", preds, *args, "-q")
        assert code == 0, err
        return out

    return score


def test_every_option_that_may_change_a_number_is_tried():
    assert {*VALUES} == specs().keys() - {"threads", "max_line", "row_ids"}


def test_options_are_recorded_as_data_unless_they_are_the_default():
    assert Options().changed() == {}
    assert Options(k=[1, 3, 5], ties="label", filter_truth=False, threads=7).changed() == {}
    for name, (value, recorded) in VALUES.items():
        changed = Options(**{name: value, **WITH.get(name, {})}).changed()
        assert changed == {name: recorded} | {other: VALUES[other][1] for other in WITH.get(name, {})}
        json.dumps(changed, allow_nan=False)


def test_arrays_paths_and_odd_numbers_are_recorded_as_json_has_them():
    options = Options(
        train=sp.eye(3),
        sample_weight=np.ones(3),
        filter=Path("somewhere") / "pairs.txt",
        labels="-",
        threshold=np.float32("-inf"),
        n_labels=np.int64(3),
        by_frequency=np.array([2, 10]),
        k=np.array([1, 2]),
    )
    assert options.changed() == {
        "k": [1, 2],
        "train": "array",
        "n_labels": 3,
        "labels": "-",
        "sample_weight": "array",
        "filter": "pairs.txt",
        "threshold": "-inf",
        "by_frequency": [2, 10],
    }
    json.dumps(options.changed(), allow_nan=False)


def test_python_records_the_same_and_arrays_as_such(score):
    y_true, y_score = np.eye(3, 4), np.eye(3, 4)
    result = xmceval.score(y_true, y_score, metrics="P", k=1, sample_weight=[1, 2, 1], ties="best")
    document = result.to_dict()
    assert (document["truth"], document["systems"][0]["scores"]) == ("array", "array")
    assert document["options"] == {"k": [1], "metrics": ["P@1"], "sample_weight": "array", "ties": "best"}
    assert "\noptions: sample_weight=array · ties=best\n" in str(result)
    assert result == xmceval.score(y_true, y_score, metrics="P", k=1, sample_weight=[1, 2, 1])  # of the same numbers
    from_files = xmceval.score("truth.txt", Path("preds.txt"), metrics="P@1-2", ties="best")
    command = json.loads(score("-m", "P@1-2", "--ties", "best", "-o", "json"))
    assert from_files.to_dict()["options"] == command["options"]


def test_only_metrics_within_0_and_1_are_shares_and_in_percent():
    assert {metric.unit for metric in METRICS.values() if metric.bounds[1] > 1} == {"gain", "count", "cells"}
    assert {metric.unit for metric in METRICS.values() if metric.bounds[1] <= 1} == {"share"}
    y_true = np.array([[1, 1, 0], [0, 1, 0]])
    result = xmceval.score(y_true, y_true + 0.5, metrics="DCG@3,PSDCG@3", inverse_propensities=[1, 1, 1])
    assert result.units == {"DCG@3": "gain", "PSDCG@3": "gain"}
    lines = [line.split() for line in str(result).splitlines()]
    assert all([name, "1.32", "±4.01"] in lines for name in ("DCG", "PSDCG"))
