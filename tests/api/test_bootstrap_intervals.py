"""Intervals by the bootstrap, beside rows that are really drawn again."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

import xmceval
from xmceval.errors import UsageError
from xmceval.kernels.metrics.resampling import count_draws
from xmceval.rows.matrices import matrices
from xmceval.scoring.per_label import labelcounters

pytestmark = pytest.mark.filterwarnings("ignore")
N_ROWS, N_LABELS, N_RESAMPLES = 80, 12, 100
METRICS = [
    *("macroP@3", "macroR@3", "macroF1@3", "weightedF1@3", "macroF1(over=truth)@3", "coverage@2"),
    *("macroAUC", "microAUC", "macroAP", "ECE@3", "MCC", "balanced_accuracy"),
]


@pytest.fixture
def made(rng):
    truth = (rng.random((N_ROWS, N_LABELS)) < 0.25).astype(int)
    truth[5] = 0
    return truth, ((truth * 0.4 + rng.random((N_ROWS, N_LABELS))) / 1.5).round(2)


def draws(n, n_resamples=N_RESAMPLES):
    """Return how often each row is drawn, by resample."""
    counts = np.empty((n_resamples, n), dtype=np.int64)
    for resample, own in enumerate(counts):
        count_draws(0, resample, own)
    return counts


def half_widths(values, n):
    return stats.t.ppf(0.975, n - 1) * np.std(values, ddof=1)


@pytest.mark.parametrize("metric", METRICS)
def test_intervals_are_those_of_rows_that_are_drawn(made, metric):
    truth, scores = made
    options = {"threshold": 0.5} if metric in {"MCC", "balanced_accuracy"} else {}
    result = xmceval.score(truth, scores, metrics=metric, bootstrap=N_RESAMPLES, **options)
    values = []
    for counts in draws(N_ROWS):
        rows = np.repeat(np.arange(N_ROWS), counts)
        values.append(xmceval.score(truth[rows], scores[rows], metrics=metric, **options)[metric])
    low, high = result.interval(metric)
    assert (high - low) / 2 == pytest.approx(half_widths(values, N_ROWS), rel=1e-9)
    assert (high + low) / 2 == pytest.approx(result[metric], rel=1e-12)
    assert result[metric] == xmceval.score(truth, scores, metrics=metric, **options)[metric]


@pytest.mark.parametrize("metric", ["macroR(over=truth)@3", "coverage@3", "macroAUC"])
def test_labels_that_vanish_from_a_resample_count_0(made, metric):
    truth, scores = made
    truth[1:, 0] = 0
    truth[0, 0] = 1
    scores[0, 0] = 1.0
    result = xmceval.score(truth, scores, metrics=metric, bootstrap=N_RESAMPLES)
    values = []
    for counts in draws(N_ROWS):
        rows = np.repeat(np.arange(N_ROWS), counts)
        has_label = truth[rows].any(axis=0)
        found = xmceval.score(truth[rows], scores[rows], metrics=metric)
        values.append(found[metric] * np.count_nonzero(has_label) / np.count_nonzero(truth.any(axis=0)))
    low, high = result.interval(metric)
    assert (high - low) / 2 == pytest.approx(half_widths(values, N_ROWS), rel=1e-9)


def test_blocks_threads_weights_and_stored_zeros_do_not_matter(made, monkeypatch):
    truth, scores = made
    options = {"metrics": "macroF1@3,macroAUC,P@3", "bootstrap": 100}
    expected = xmceval.score(truth, scores, threads=1, **options)
    monkeypatch.setattr(matrices, "BLOCK_ENTRIES", 40)
    sparse = sp.csr_matrix(truth), sp.csr_matrix(scores)
    assert xmceval.score(truth, scores, threads=2, **options).estimates == expected.estimates
    assert xmceval.score(sparse[0], scores, threads=2, **options).estimates == expected.estimates
    twice = xmceval.score(truth, scores, sample_weight=np.full(N_ROWS, 2.0), **options)
    assert twice.interval("macroF1@3") == pytest.approx(expected.interval("macroF1@3"), rel=1e-12)


def test_rows_that_are_drawn_weigh_less_than_all_rows(made, monkeypatch):
    expected = xmceval.score(*made, metrics="macroF1@3", bootstrap=100).estimates
    monkeypatch.setattr(labelcounters, "MOST_WEIGHT", 8)  # a tenth of the rows
    assert xmceval.score(*made, metrics="macroF1@3", bootstrap=100).estimates == expected


def test_what_has_an_interval_keeps_it(made):
    truth, scores = made
    plain = xmceval.score(truth, scores, metrics="P@3,macroF1@3")
    found = xmceval.score(truth, scores, metrics="P@3,macroF1@3", bootstrap=100)
    assert found.estimates["P@3"] == plain.estimates["P@3"]
    assert plain.estimates["macroF1@3"].low is None
    assert found.to_dict()["options"]["bootstrap"] == 100
    assert any("are from 100 bootstrap resamples" in note for note in found.notes)


def test_clusters_are_drawn_whole(made):
    truth, scores = made
    options = {"metrics": "macroF1@3", "bootstrap": 100}
    alone = xmceval.score(truth, scores, cluster_rows=np.arange(N_ROWS), **options)
    assert alone.interval("macroF1@3") == xmceval.score(truth, scores, **options).interval("macroF1@3")
    clusters = np.arange(N_ROWS) // 4
    found = xmceval.score(truth, scores, cluster_rows=clusters, **options)
    values = []
    for counts in draws(N_ROWS // 4):
        rows = np.repeat(np.arange(N_ROWS), counts[clusters])
        values.append(xmceval.score(truth[rows], scores[rows], metrics="macroF1@3")["macroF1@3"])
    low, high = found.interval("macroF1@3")
    assert (high - low) / 2 == pytest.approx(half_widths(values, N_ROWS // 4), rel=1e-9)


def test_clusters_without_a_row_that_counts_are_not_counted(made):
    truth, scores = made
    truth[20:24] = 0
    clusters = np.arange(N_ROWS) // 4
    weights = (clusters < 9).astype(float)
    options = {"metrics": "ECE@3", "bootstrap": N_RESAMPLES, "cluster_rows": clusters, "empty_rows": "drop"}
    low, high = xmceval.score(truth, scores, sample_weight=weights, **options).interval("ECE@3")
    values = [
        xmceval.score(truth, scores, metrics="ECE@3", sample_weight=weights * counts[clusters], empty_rows="drop")[
            "ECE@3"
        ]
        for counts in draws(N_ROWS // 4)
    ]
    assert (high - low) / 2 == pytest.approx(half_widths(values, 8), rel=1e-9)


def test_several_systems_have_their_own(made):
    truth, scores = made
    systems = {"a": scores, "b": 1 - scores}
    results = xmceval.score_all(truth, systems, metrics="macroF1@3", bootstrap=100)
    for name, result in results.items():
        alone = xmceval.score(truth, systems[name], metrics="macroF1@3", bootstrap=100)
        assert result.interval("macroF1@3") == alone.interval("macroF1@3")


def test_values_that_cannot_move_have_none(made):
    truth, scores = made
    result = xmceval.score(np.ones((40, 3)), np.ones((40, 3)), metrics="coverage@3", k=3, bootstrap=100)
    assert result.estimates["coverage@3"].low is None
    assert xmceval.score(truth[:12], scores[:12], metrics="macroF1@3", bootstrap=100).estimates["macroF1@3"].caution


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": "P@3"}, "bootstrap has no effect: P@3 has an interval without it"),
        ({"bootstrap": 3}, "bootstrap must be a whole number of at least 100"),
        ({"bootstrap": "many"}, "bootstrap must be a whole number"),
        ({"save_state": "a.state"}, "bootstrap is not available for states"),
    ],
)
def test_wrong_uses_are_refused(made, change, message):
    with pytest.raises(UsageError, match=message):
        xmceval.score(*made, **{"metrics": "macroF1@3", "bootstrap": 100, **change})


def test_loops_refuse_it():
    with pytest.raises(UsageError, match="bootstrap is not available for Evaluator"):
        xmceval.Evaluator(metrics="macroF1", k=1, n_labels=3, bootstrap=100)


def test_differences_are_tested_in_the_same_resamples(made, rng):
    truth, scores = made
    other = (scores + rng.random(scores.shape) / 3).round(2) / 2
    comparison = xmceval.compare(truth, {"a": scores, "b": other}, metrics="macroF1@3,P@3", bootstrap=N_RESAMPLES)
    values = []
    for counts in draws(N_ROWS):
        rows = np.repeat(np.arange(N_ROWS), counts)
        own, its = (
            xmceval.score(truth[rows], each[rows], metrics="macroF1@3")["macroF1@3"] for each in (other, scores)
        )
        values.append(own - its)
    found = comparison["macroF1@3", "b", "a"]
    error = np.std(values, ddof=1)
    assert found.error == pytest.approx(error, rel=1e-9)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.difference) / error, N_ROWS - 1), rel=1e-9)
    assert (found.high - found.low) / 2 == pytest.approx(half_widths(values, N_ROWS), rel=1e-9)
    assert found.p_adjusted == found.p
    plain = xmceval.compare(truth, {"a": scores, "b": other}, metrics="macroF1@3,P@3")
    assert vars(comparison["P@3", "b", "a"]) == vars(plain["P@3", "b", "a"])
    assert plain["macroF1@3", "b", "a"].p is None


def test_systems_of_several_runs_are_compared_by_runs(made):
    truth, scores = made
    systems = {name: [np.roll(scores, i, axis=1) for i in runs] for name, runs in (("a", range(3)), ("b", range(3, 6)))}
    found = xmceval.compare(truth, systems, metrics="macroF1@3", bootstrap=100)
    assert found["macroF1@3", "b", "a"].unit == "run"
