"""Values of rows in memory are those that are saved; files are whole or not there."""

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from support.asked import refused

import xmceval

N_ROWS, N_LABELS = 90, 16
METRICS = ["P@1,3", "PSP@3", "R@3", "RR@3", "microP@3", "AUC", "GAUC", "macroF1@3"]

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")


@pytest.fixture(name="data")
def make_data():
    rng = np.random.default_rng(24)
    truth = (rng.random((N_ROWS, N_LABELS)) < 0.12).astype(float)
    scores = [np.round(each + 0.3 * truth, 2) for each in rng.random((8, N_ROWS, N_LABELS))]
    return truth, scores, {"train": truth[::-1].copy(), "metrics": METRICS}


HELD = {
    "plain": {},
    "weights and ids": {"sample_weight": np.arange(N_ROWS) % 3 / 2, "row_ids": [f"q{i}" for i in range(N_ROWS)]},
    "drop": {"empty_rows": "drop", "threshold": 0.8, "metrics": [*METRICS, "F1", "microF1"]},
}


@pytest.mark.parametrize("case", HELD)
def test_rows_are_those_that_are_saved_and_give_the_metric(case, data):
    truth, scores, options = data
    result = xmceval.score(truth, scores[0], rows=True, save_rows="a.npz", **{**options, **HELD[case]})
    rows, saved = result.rows, dict(np.load("a.npz"))
    meta = json.loads(saved["meta"].tobytes())
    places = np.flatnonzero(rows.weights)
    names = tuple(map(str, places)) if rows.ids is None else tuple(rows.ids[i] for i in places)
    assert (tuple(map(str, saved["rows"])), meta["metrics"]) == (names, list(rows))
    np.testing.assert_array_equal(rows.weights[places], saved["weights"])
    for m, (name, has_ideal) in enumerate(zip(rows, meta["has_ideal"], strict=True)):
        values = rows[name]
        assert (values.dtype, values.shape) == (np.float64, (N_ROWS,))
        np.testing.assert_array_equal(values[places], saved["values"][:, 0, m, 0])
        assert np.isnan(np.delete(values, places)).all()
        assert (name in rows.ideals) == has_ideal
        counts = ~np.isnan(values)
        assert np.isnan(rows.ideals.get(name, values)[~counts]).all()
        ideals = rows.ideals[name][counts] if has_ideal else np.ones(counts.sum())
        weights = rows.weights[counts]
        assert values[counts] @ weights / (ideals @ weights) == pytest.approx(result[name])


def test_each_of_several_systems_and_runs_has_its_own_rows(data):
    truth, scores, options = data
    alone = [xmceval.score(truth, each, rows=True, **options).rows for each in scores[:3]]
    together = xmceval.score_all(truth, {"a": scores[0], "b": scores[1]}, rows=True, **options)
    compared = xmceval.compare(truth, {"a": scores[0], "b": scores[1:3]}, rows=True, **options)
    for own, others in zip(alone, itertools.zip_longest(together.values(), compared.results), strict=True):
        for other in filter(None, others):
            np.testing.assert_array_equal(other.rows["PSP"], own["PSP@3"])
            np.testing.assert_array_equal(other.rows.ideals["PSP@3"], own.ideals["PSP@3"])


def test_rows_are_a_frame_with_ids_and_ideals(data):
    truth, scores, options = data
    ids = [f"q{i}" for i in range(N_ROWS)]
    rows = xmceval.score(truth, scores[0], rows=True, row_ids=ids, **options).rows
    frame = rows.to_frame()
    assert (list(frame.index), frame.index.name) == (ids, "row")
    assert list(frame) == [*rows, *(f"ideal of {name}" for name in rows.ideals)]
    for name in rows:
        np.testing.assert_array_equal(frame[name], rows[name])
    np.testing.assert_array_equal(frame["ideal of PSP@3"], rows.ideals["PSP@3"])
    numbered = xmceval.score(truth, scores[0], rows=True, **options).rows.to_frame()
    assert list(numbered.index) == list(range(N_ROWS))
    qrels, run = {"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 2.0, "d2": 1.0}}
    of_queries = xmceval.score(qrels, run, metrics="RR", rows=True).rows.to_frame()
    assert of_queries["RR@all"].to_dict() == {"q1": 1.0, "q2": 0.5}


def test_rows_need_pandas_to_be_a_frame(data, monkeypatch):
    truth, scores, options = data
    rows = xmceval.score(truth, scores[0], rows=True, **options).rows
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(xmceval.DataError, match=r"to_frame\(\) needs the package pandas"):
        rows.to_frame()


def test_a_comparison_has_the_rows_of_each_system_and_run(data):
    truth, scores, options = data
    comparison = xmceval.compare(truth, {"a": scores[0], "b": scores[1:3]}, rows=True, **options)
    assert list(comparison.rows) == [result.name for result in comparison.results]
    assert all(comparison.rows[result.name] is result.rows for result in comparison.results)


def test_a_truth_without_rows_has_no_values_of_rows():
    none = np.zeros((0, 3))
    with pytest.warns(xmceval.XmcevalWarning, match="no instance has a true label"):
        result = xmceval.score(none, none, k=1, metrics="P", rows=True)
    assert result.rows["P@1"].shape == (0,)


@pytest.mark.parametrize(
    "kept", [{"save_rows": "x.rows.csv"}, {"save_labels": "x.csv"}, {"save_state": "x.state"}], ids=str
)
def test_files_are_whole_or_not_there(kept):
    rng = np.random.default_rng(5)
    truth, scores = (rng.random((30, 8)) < 0.3).astype(float), rng.random((30, 8))
    refused("NaN", truth, np.where(scores > 0.9, np.nan, scores), metrics="P,macroF1", k=2, **kept)
    assert list(Path().iterdir()) == []
    xmceval.score(truth, scores, metrics="P,macroF1", k=2, **kept)
    [path] = Path().iterdir()
    if "save_state" not in kept:
        assert len(path.read_text().splitlines()) == 1 + (30 if "save_rows" in kept else 8)
    else:
        assert xmceval.merge([path]).counts.n_instances == 30
