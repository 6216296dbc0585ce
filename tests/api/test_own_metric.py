"""A user's own metric: one that repeats a metric of the table is that metric, wherever metrics are shown."""

import pickle

import numpy as np
import pytest
from numba import njit

import xmceval
from xmceval.errors import DataError, UsageError
from xmceval.files.saved.rowvalues import read_row_values
from xmceval.metrics import names

N_ROWS, N_LABELS = 70, 14


@pytest.fixture(autouse=True)
def no_own_metrics(monkeypatch):
    monkeypatch.setattr(names, "_OWN", {})


@pytest.fixture(name="data")
def make_data():
    rng = np.random.default_rng(8)
    truth = (rng.random((N_ROWS, N_LABELS)) < 0.15).astype(float)
    return truth, [np.where(each > 0.8, each + 0.3 * truth, -np.inf) for each in rng.random((3, N_ROWS, N_LABELS))]


def own_recall(hits, n_true):
    """Hits by true labels."""
    return hits.sum() / n_true if n_true else 0


def own_abandonment(hits, n_true):
    return not hits.any()


@njit
def own_precision(hits, n_true):
    return hits.sum() / hits.size


TWINS = {"OwnP": "P", "OwnR": "R", "OwnA": "Abandonment"}


@pytest.fixture(name="own")
def make_own():
    xmceval.metric(own_precision, name="OwnP")
    xmceval.metric(own_recall, name="OwnR")
    xmceval.metric(own_abandonment, name="OwnA", higher_is_better=False)


def in_twins(text):
    for own, twin in TWINS.items():
        text = text.replace(own, twin)
    return text


@pytest.mark.parametrize("options", [{}, {"empty_rows": "drop", "sample_weight": np.arange(N_ROWS) % 3 / 2}])
@pytest.mark.usefixtures("own")
def test_it_has_the_values_intervals_and_rows_of_its_twin(options, data, tmp_path):
    truth, scores = data
    found = [
        xmceval.score(truth, scores[0], metrics=list(kind), rows=True, save_rows=tmp_path / f"{i}.npz", **options)
        for i, kind in enumerate((TWINS, TWINS.values()))
    ]
    for name, value in found[0].items():
        assert value == pytest.approx(found[1][in_twins(name)], rel=1e-12)
        assert found[0].interval(name) == pytest.approx(found[1].interval(in_twins(name)))
        np.testing.assert_allclose(found[0].rows[name], found[1].rows[in_twins(name)])
    own, twin = (read_row_values(tmp_path / f"{i}.npz").values for i in range(2))
    np.testing.assert_allclose(own, twin)


@pytest.mark.usefixtures("own")
def test_it_is_compared_shown_and_read_back_as_its_twin(data, tmp_path):
    truth, scores = data
    systems = {"a": scores[0], "b": scores[1]}
    own, twin = (xmceval.compare(truth, systems, metrics=list(kind), rows=True) for kind in (TWINS, TWINS.values()))
    for key, each in own.items():
        other = twin[(in_twins(key[0]), *key[1:])]
        assert (each.wins, each.losses, each.mark) == (other.wins, other.losses, other.mark)
        assert each.p == pytest.approx(other.p)
    assert xmceval.Comparison.from_dict(own.to_dict()).to_json() == own.to_json()
    added = own.add({"c": scores[2]})
    assert added.to_json() == xmceval.compare(truth, {**systems, "c": scores[2]}, metrics=list(TWINS)).to_json()
    assert "Hits by true labels; mean over instances" in own.to_html()
    assert "lower is better: OwnA" in str(own)
    assert own["ownr@3", "b", "a"] == own["OwnR@3", "b", "a"]
    own.results[0].to_frame(), own.to_latex(), own.to_csv(tmp_path / "a.csv")


@pytest.mark.usefixtures("own")
def test_an_evaluator_has_the_same_bits_and_survives_being_pickled_and_saved(data, tmp_path):
    truth, [y_score, *_] = data
    evaluator = xmceval.Evaluator(metrics=list(TWINS), n_labels=N_LABELS)
    evaluator.update(truth[:23], y_score[:23])
    evaluator = pickle.loads(pickle.dumps(evaluator))
    evaluator.update(truth[23:], y_score[23:])
    evaluator.save(tmp_path / "state.npz")
    expected = dict(xmceval.score(truth, y_score, metrics=list(TWINS)))
    assert dict(evaluator.compute()) == dict(xmceval.Evaluator.load(tmp_path / "state.npz").compute()) == expected


def test_a_pickled_metric_is_learned_by_a_process_that_does_not_know_it(data, own, monkeypatch):
    truth, [y_score, *_] = data
    text = pickle.dumps(xmceval.score(truth, y_score, metrics="OwnA@1"))
    monkeypatch.setattr(names, "_OWN", {})
    names.restore_measure.cache_clear()
    names._parse_name.cache_clear()
    assert not pickle.loads(text).figures[0].measure.metric.higher_is_better
    assert xmceval.score(truth, y_score, metrics="OwnA@1")["OwnA"] > 0


def test_the_last_function_of_a_name_counts(data):
    truth, [y_score, *_] = data
    for value in (0.25, 0.75):
        xmceval.metric(lambda hits, n_true, value=value: value, name="Mine")
        assert xmceval.score(truth, y_score, metrics="Mine@2")["Mine@2"] == value


@pytest.mark.parametrize(
    ("function", "options", "problem"),
    [
        (lambda hits, n_true: 1 / n_true, {}, r"row 4: Mine@2 of \[\d, \d\] and n_true 0: .* raised ZeroDivisionError"),
        (lambda hits, n_true: 2, {"bounds": (-1, 1.5)}, r"row 0: Mine@2 .* is 2; expected a number from -1 to 1.5"),
        (lambda hits, n_true: float("nan"), {"bounds": (0, np.inf)}, r"row 0: Mine@2 .* is nan"),
        (lambda hits, n_true: "a", {}, r"row 0: .* raised ValueError"),
    ],
)
def test_what_goes_wrong_in_a_row_names_it(function, options, problem, data):
    truth, [y_score, *_] = data
    truth[:4, 0], truth[4:] = 1, 0
    xmceval.metric(function, name="Mine", **options)
    with pytest.raises(DataError, match=problem):
        xmceval.score(truth, y_score, metrics="Mine@2")


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ({"name": "precision"}, "name: precision is already that of P"),
        ({"name": "psp"}, "name: psp is already that of PSP"),
        ({"name": "confusion"}, "name: confusion is already that of tp, fp, fn, tn"),
        ({"name": "Mine@3"}, "name must be a letter and further letters, .* without a cutoff"),
        ({"name": "Mine_3"}, "name must be a letter and further letters, .* without a cutoff, .* got 'Mine_3'"),
        ({"name": "né"}, "name must be a letter and further letters, digits, blanks, _ or -, .* got 'né'"),
        ({"name": None}, "name must be a letter and further letters, .* got None"),
        ({"name": "Mine", "bounds": (1, 0)}, r"bounds must be two numbers that ascend, got \(1, 0\)"),
        ({"name": "Mine", "function": "P"}, "expected a function of hits and n_true, got str"),
    ],
)
def test_a_name_that_is_taken_and_bounds_that_are_none_are_refused(call, problem):
    with pytest.raises(UsageError, match=problem):
        xmceval.metric(**{"function": own_recall, **call})


@pytest.mark.usefixtures("own")
def test_a_benchmark_and_other_ties_are_refused(data, tmp_path):
    truth, [y_score, *_] = data
    with pytest.raises(UsageError, match=r"ties=best applies to metrics of the k best labels; .* OwnP@1"):
        xmceval.score(truth, y_score, metrics="OwnP@1", ties="best")
    np.save(tmp_path / "t.npy", truth)
    np.save(tmp_path / "p.npy", y_score)
    (tmp_path / "b.toml").write_text(
        'metrics = "OwnP"\n[datasets.d]\ntruth = "t.npy"\n[systems.a]\npredictions = {d = "p.npy"}\n', encoding="utf-8"
    )
    with pytest.raises(DataError, match=r"b.toml:1: OwnP@1: benchmark does not take own metrics"):
        xmceval.benchmark(tmp_path / "b.toml")


def test_a_metric_is_asked_for_by_its_name(data):
    metric = xmceval.metric(own_recall, name="Mine")
    for metrics in (metric, ["P", metric]):
        with pytest.raises(UsageError, match=r"got a Metric \(hint: pass its name, 'Mine'\)"):
            xmceval.score(data[0], data[1][0], metrics=metrics)


def test_only_values_from_0_to_1_are_shares():
    for bounds, is_share in (((0, 1), True), ((-1, 1), False), ((0, 2), False)):
        name = f"Own{bounds[0] + 1}To{bounds[1]}"
        xmceval.metric(own_recall, name=name, bounds=bounds)
        units = xmceval.score(np.eye(3), np.eye(3), metrics=name, k=1).units
        assert (units[f"{name}@1"] == "share") == is_share
