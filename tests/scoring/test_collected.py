"""What pictures need is counted while systems are scored: the same as counted one row at a time, for any blocks."""

import numpy as np
import pytest

import xmceval
from xmceval.errors import DataError, UsageError

K = 3


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(11)
    y_true = (rng.random((80, 15)) < np.linspace(0.4, 0.02, 15)).astype(float)
    y_true[[0, 7]] = 0
    scores = {name: rng.random(y_true.shape).round(3) for name in ("a", "b")}
    weights = rng.integers(0, 4, 80).astype(float)
    return y_true, scores, weights


def best(y_score):
    """The K best labels of each row, the lower label first among equals."""
    return np.argsort(-y_score, axis=1, kind="stable")[:, :K]


@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
def test_rows_are_counted_by_the_values_of_both_systems(data, empty_rows, tmp_path):
    y_true, scores, _ = data
    found = xmceval.compare(
        y_true, scores, k=K, metrics=["P", "nDCG", "PSP", "DCG", "Hit"], train=y_true,
        plots="rows", empty_rows=empty_rows, save_rows=tmp_path / "x.rows.npz",
    )  # fmt: skip
    densities = {each.measure.name: each for each in found.densities}
    assert list(densities) == ["P@3", "nDCG@3", "PSP@3", "Hit@3"], "DCG is no share"
    hits = {
        name: np.take_along_axis(y_true, best(each), axis=1).sum(axis=1).astype(int) for name, each in scores.items()
    }
    expected = np.zeros((K + 1, K + 1), dtype=int)
    for a, b, n in zip(hits["a"], hits["b"], y_true.sum(axis=1), strict=True):
        expected[a, b] += bool(n) or empty_rows == "zero"
    np.testing.assert_array_equal(densities["P@3"].counts, expected)
    assert densities["P@3"].is_exact
    assert densities["Hit@3"].counts.shape == (2, 2)
    assert not densities["nDCG@3"].is_exact
    assert densities["nDCG@3"].counts.sum() == expected.sum()
    assert densities["PSP@3"].counts.sum() == 78, "a row without truth has no ratio"
    saved = xmceval.compare_rows([tmp_path / "x.rows.npz"], plots="rows")
    for own, its in zip(found.densities, saved.densities, strict=True):
        np.testing.assert_array_equal(own.counts, its.counts)


@pytest.mark.parametrize("has_weights", [False, True])
def test_hits_are_counted_by_training_frequency(data, has_weights):
    y_true, scores, weights = data
    train = y_true[:40].copy()
    train[:, -2:] = 0
    result = xmceval.score(
        y_true, scores["a"], metrics="P", k=[1, K], train=train, plots=["gain", "curves"],
        sample_weight=weights if has_weights else None,
    )  # fmt: skip
    w = weights if has_weights else np.ones(80)
    counts = train.sum(axis=0).astype(int)
    is_best = np.zeros(y_true.shape)
    np.put_along_axis(is_best, best(scores["a"]), 1, axis=1)
    expected = [
        (n, (counts == n).sum(), (w @ y_true)[counts == n].sum(), (w @ (y_true * is_best))[counts == n].sum())
        for n in sorted(set(counts.tolist()), reverse=True)
    ]
    gain = result.gain
    assert (gain.k, gain.from_truth) == (K, False)
    assert [*zip(gain.counts, gain.n_labels, gain.true, gain.hits, strict=True)] == expected


def test_nothing_is_collected_unless_it_is_asked_for(data):
    y_true, scores, _ = data
    found = xmceval.compare(y_true, scores, k=1, metrics="P")
    assert found.densities == ()
    assert [each.gain for each in found.results] == [None] * 2


def test_the_number_of_threads_changes_nothing(data, tmp_path):
    y_true, scores, _ = data
    many = [xmceval.score(np.tile(y_true, (60, 1)), np.tile(scores["a"], (60, 1)), k=K, metrics="P", train=y_true,
                          plots="gain", threads=n) for n in (1, 3)]  # fmt: skip
    np.testing.assert_array_equal(many[0].gain.hits, many[1].gain.hits)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"plots": "gain", "metrics": "AUC"}, UsageError, "'gain' needs a metric with a cutoff"),
        ({"plots": "gain", "inverse_propensities": np.ones(15)}, DataError, "'gain' needs training counts"),
        ({"plots": "rows"}, UsageError, "'rows' needs a comparison .hint: use compare"),
        ({"plots": "pie"}, UsageError, "must be one of curves, bins, gain, got 'pie'"),
    ],
)
def test_what_cannot_be_collected_is_refused(data, options, error, message):
    y_true, scores, _ = data
    with pytest.raises(error, match=message):
        xmceval.score(y_true, scores["a"], **{"k": K, "metrics": "P", **options})


def test_rows_need_shares_and_systems_of_one_run(data):
    y_true, scores, _ = data
    with pytest.raises(UsageError, match="'rows' needs a metric with per-instance values from 0 to 1"):
        xmceval.compare(y_true, scores, k=K, metrics="DCG", plots="rows")
    with pytest.raises(UsageError, match="not available for systems with several runs"):
        xmceval.compare(y_true, {"a": list(scores.values()), "b": 1 - scores["b"]}, k=K, metrics="P", plots="rows")
