"""Queries that only one of truth and run has, and saved rows that some lack: refused, counted as 0, or left out."""

import random
import warnings

import numpy as np
import pytest
from support.files import write_qrels, write_run

import xmceval
from xmceval import METRICS, DataError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore")
NAMES = [f"d{i}" for i in range(40)]


def draw(seed=1, n_queries=40):
    """Return judgments and two runs that lack queries, and have some that are not judged."""
    rng = random.Random(seed)
    qrels = {f"q{i}": {d: rng.choice([0, 1, 1, 2]) for d in rng.sample(NAMES, 9)} for i in range(n_queries)}
    runs = {
        name: {f"q{i}": {d: round(rng.random(), 1) for d in rng.sample([*NAMES, "z"], 15)} for i in queries}
        for name, queries in (("a", range(35)), ("b", range(4, n_queries + 3)))
    }
    return qrels, runs


def common(qrels, runs):
    """Return judgments and runs without the queries that one of them lacks."""
    kept = [query for query in qrels if all(query in run for run in runs.values())]
    return {q: qrels[q] for q in kept}, {name: {q: run[q] for q in kept} for name, run in runs.items()}


def outcome(qrels, runs, **options):
    """Return all values and intervals, or the error."""
    try:
        results = xmceval.score_all(qrels, runs, **options)
    except (DataError, UsageError) as error:
        return type(error), str(error)
    return {name: result.estimates for name, result in results.items()}


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_dropped_might_as_well_not_be_there(metric):
    qrels, runs = draw()
    options = {"metrics": metric, "n_labels": 60}
    assert outcome(qrels, runs, missing="drop", **options) == outcome(*common(qrels, runs), **options)


@pytest.mark.parametrize("seed", range(4))
def test_differences_are_those_of_the_queries_that_all_have(seed):
    qrels, runs = draw(seed)
    options = {"metrics": "P,nDCG,AP,PSP", "k": [1, 5]}
    found = xmceval.compare(qrels, runs, missing="drop", **options)
    expected = xmceval.compare(*common(qrels, runs), **options)
    assert [vars(each) for each in found.differences] == [vars(each) for each in expected.differences]


def test_queries_that_any_run_of_a_system_lacks_are_left_out():
    qrels, runs = draw()
    kept, same = common(qrels, runs)
    options = {"metrics": "P,nDCG", "k": [1, 5]}
    systems = [{"ours": [own["a"], own["b"]], "theirs": [dict(own["b"])]} for own in (runs, same)]
    found, expected = (
        xmceval.compare(qrels, systems[0], missing="drop", **options),
        xmceval.compare(kept, systems[1], **options),
    )
    assert [dict(result) for result in found.results] == [dict(result) for result in expected.results]
    assert any(line.startswith("ours (1): lacks 5 of the 40 queries") for line in found.results[0].warnings)


def test_files_are_read_as_dicts_are():
    qrels, runs = draw()
    truth = write_qrels("q.txt", qrels)
    paths = {name: write_run(f"{name}.txt", run) for name, run in runs.items()}
    options = {"metrics": "P,nDCG", "k": [1, 5], "missing": "drop"}
    assert outcome(truth, paths, **options) == outcome(qrels, runs, **options)


def test_a_query_that_is_left_out_for_another_run_is_not_reported_as_one_that_the_truth_lacks():
    qrels, runs = draw()
    results = xmceval.score_all(qrels, runs, metrics="P", k=1, missing="drop")
    kept = xmceval.score_all(*common(qrels, runs), metrics="P", k=1)
    lost = (
        "a: lacks 5 of the 40 queries of y_true, such as 'q35', 'q36', 'q37'",
        "b: lacks 4 of the 40 queries of y_true, such as 'q0', 'q1', 'q2'",
        "9 queries that a run lacks are left out, for all systems",
    )
    unjudged = "y_score: ignored 3 queries not in y_true, such as 'q40', 'q41', 'q42'"
    assert results["a"].warnings == (*lost, *kept["a"].warnings)
    assert results["b"].warnings == (*lost, unjudged, *kept["b"].warnings)
    for name, result in results.items():
        assert (result.estimates, result.counts) == (kept[name].estimates, kept[name].counts)
        assert (result.notes, result.inputs) == (kept[name].notes, kept[name].inputs)


def test_weights_and_groups_are_by_id_or_of_the_queries_that_are_left():
    qrels, runs = draw()
    groups = {query: int(query[1:]) % 3 for query in qrels}
    found = outcome(qrels, runs, metrics="P", k=1, missing="drop", by_group=groups)
    assert found == outcome(*common(qrels, runs), metrics="P", k=1, by_group=groups)


def test_all_that_is_missing_counts_as_0_by_default():
    qrels, runs = draw()
    values = xmceval.score(qrels, runs["a"], metrics="P", k=5)
    kept, own = common(qrels, {"a": runs["a"]})
    assert values["P@5"] == pytest.approx(xmceval.score(kept, own["a"], metrics="P", k=5)["P@5"] * 35 / 40)
    assert dict(xmceval.score(qrels, runs["a"], metrics="P", k=5, missing="zero")) == dict(values)


def test_pytrec_eval_leaves_out_what_its_run_lacks():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, runs = draw()
    values = pytrec_eval.RelevanceEvaluator(qrels, {"map", "P_5"}).evaluate(runs["a"])
    found = xmceval.score(qrels, runs["a"], metrics="AP@all,P@5", missing="drop")
    for own, theirs in (("AP@all", "map"), ("P@5", "P_5")):
        assert found[own] == pytest.approx(np.mean([each[theirs] for each in values.values()]), abs=1e-12)


def test_nothing_is_told_where_nothing_is_missing():
    qrels, runs = common(*draw())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for missing in ("error", "drop"):
            result = xmceval.score(qrels, runs["a"], metrics="P", k=1, missing=missing)
            assert not any("lack" in line or "left out" in line for line in result.warnings)


@pytest.mark.parametrize("missing", ["zero", "drop"])
def test_saved_values_of_runs_that_lack_different_queries_are_compared(tmp_path, missing):
    qrels, runs = draw()
    paths = [tmp_path / f"{name}.rows.npz" for name in runs]
    for path, run in zip(paths, runs.values(), strict=True):
        xmceval.score(qrels, run, metrics="P,AP", k=5, missing="drop", save_rows=path)
    found = xmceval.compare_rows(paths, names=list(runs), missing=missing)
    expected = xmceval.compare(qrels, runs, metrics="P,AP", k=5, missing=missing)
    assert [vars(each) for each in found.differences] == [vars(each) for each in expected.differences]
    assert any("cannot check that the instances have the same truth" in line for line in found.warnings)


def test_saved_values_of_the_same_queries_are_checked_by_their_digests(tmp_path):
    qrels, runs = draw()
    paths = [tmp_path / f"{number}.rows.npz" for number in range(2)]
    other = {query: {**row, "d0": 1 - min(row.get("d0", 0), 1)} for query, row in qrels.items()}
    for path, truth in zip(paths, (qrels, other), strict=True):
        xmceval.score(truth, runs["a"], metrics="P", k=5, missing="drop", save_rows=path)
    with pytest.raises(DataError, match="of different truths"):
        xmceval.compare_rows(paths, missing="drop")


# Saved values of rows that only some systems have.

OF_ROWS = "P@1,PSP@3,GAUC"
IDS = [f"q{i}" for i in range(60)]


@pytest.fixture
def made(rng):
    """Return truth and scores of all rows, and save the values of some rows of each system."""
    truth = (rng.random((60, 12)) < 0.3).astype(int)
    truth[7] = 0
    scores = {name: truth * rng.random() + rng.random((60, 12)) for name in "ab"}
    options = {"metrics": OF_ROWS, "inverse_propensities": 1 + rng.random(12)}
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


def test_the_command_takes_the_rule(made, run):
    assert run("compare", "a.rows.csv", "b.rows.csv", "--missing", "drop")[0] == 0
