"""Saved values of rows that only some systems have: refused, counted as 0, or left out for all."""

import warnings

import numpy as np
import pytest

import xmceval
from xmceval import DataError, UsageError

METRICS = "P@1,PSP@3,GAUC"
IDS = [f"q{i}" for i in range(60)]


@pytest.fixture
def made(rng):
    """Return truth and scores of all rows, and save the values of some rows of each system."""
    truth = (rng.random((60, 12)) < 0.3).astype(int)
    truth[7] = 0
    scores = {name: truth * rng.random() + rng.random((60, 12)) for name in "ab"}
    options = {"metrics": METRICS, "inverse_propensities": 1 + rng.random(12)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, rows in (("a", np.arange(50)), ("b", np.arange(5, 60))):
            saved = {"row_ids": [IDS[i] for i in rows], "save_rows": f"{name}.rows.csv"}
            xmceval.score(truth[rows], scores[name][rows], **saved, **options)
        yield truth, scores, options


def values_of(comparison):
    return [(each.measure.name, each.difference, each.low, each.high, each.p) for each in comparison.differences]


def test_rows_that_all_have_are_compared(made):
    truth, scores, options = made
    found = xmceval.compare_rows(["a.rows.csv", "b.rows.csv"], names=["a", "b"], missing="drop")
    rows = np.arange(5, 50)
    expected = xmceval.compare(truth[rows], {name: each[rows] for name, each in scores.items()}, **options)
    assert values_of(found) == values_of(expected)
    assert any(line.startswith("a.rows.csv: lacks 10 rows of 60, such as 'q50', ") for line in found.warnings)
    assert any("b.rows.csv: lacks 5 rows of 60" in line and "left out for all" in line for line in found.warnings)


def test_rows_that_are_missing_may_count_as_0(made):
    truth, scores, options = made
    found = xmceval.compare_rows(["a.rows.csv", "b.rows.csv"], names=["a", "b"], missing="zero")
    shown = {"a": scores["a"].copy(), "b": scores["b"].copy()}
    shown["a"][50:], shown["b"][:5] = -np.inf, -np.inf
    options = {**options, "metrics": "P@1,PSP@3"}  # of GAUC a row without predictions is not worth 0
    expected = values_of(xmceval.compare(truth, shown, **options))
    assert values_of(found)[:2] == [(name, *map(pytest.approx, numbers)) for name, *numbers in expected]


def test_by_default_they_are_refused_with_what_helps(made, run):
    with pytest.raises(DataError, match=r"b.rows.csv: lacks 5 rows of 60, .* \(hint: pass missing='zero'"):
        xmceval.compare_rows(["a.rows.csv", "b.rows.csv"])
    code, _, err = run("compare", "a.rows.csv", "b.rows.csv")
    assert (code, "hint: pass --missing zero or --missing drop" in err) == (1, True)
    assert run("compare", "a.rows.csv", "b.rows.csv", "--missing", "drop")[0] == 0


def test_wrong_rules_and_nothing_in_common_are_refused(made, tmp_path):
    with pytest.raises(UsageError, match="missing must be one of error, zero, drop, got 'skip'"):
        xmceval.compare_rows(["a.rows.csv", "b.rows.csv"], missing="skip")
    text = (tmp_path / "b.rows.csv").read_text().replace("q", "x")
    (tmp_path / "c.rows.csv").write_text(text)
    with pytest.raises(DataError, match=r"no row is in all of a\.rows\.csv, c\.rows\.csv"):
        xmceval.compare_rows(["a.rows.csv", "c.rows.csv"], missing="drop")
