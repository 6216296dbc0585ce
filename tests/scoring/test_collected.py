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
@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
def test_scores_are_compared_with_hits_as_ece_and_brier_do(data, has_weights, empty_rows):
    y_true, scores, weights = data
    result = xmceval.score(
        y_true, scores["a"], metrics=["P@5", "ECE(bins=10)@3", "Brier@3"], plots="calibration",
        empty_rows=empty_rows, sample_weight=weights if has_weights else None,
    )  # fmt: skip
    found = result.reliability
    assert (found.k, found.ece, found.brier) == (K, result["ECE(bins=10)@3"], result["Brier@3"])
    kept = y_true.any(axis=1) | (empty_rows == "zero")
    labels = best(scores["a"])
    p, hit = (np.take_along_axis(each, labels, axis=1)[kept].ravel() for each in (scores["a"], y_true))
    w = np.repeat((weights if has_weights else np.ones(80))[kept], K)
    places = np.minimum((p * 10).astype(int), 9)
    for each in found.bins:
        of_bin = w * (places == round(each.low * 10))
        assert each.weight == of_bin.sum()
        assert each.mean_score == pytest.approx((of_bin * p).sum() / of_bin.sum(), abs=1e-12)
        assert each.hit_rate == pytest.approx((of_bin * hit).sum() / of_bin.sum(), abs=1e-12)
    assert sum(each.weight for each in found.bins) == w.sum()


@pytest.mark.parametrize("has_weights", [False, True])
def test_scores_are_compared_with_hits_within_bins_of_labels_and_groups_of_rows(data, has_weights):
    y_true, scores, weights = data
    of_rows = np.arange(80) % 3
    bins, groups = (
        xmceval.score(
            y_true,
            scores["a"],
            metrics=["P@5", "ECE(bins=10)@3"],
            plots="calibration",
            train=y_true,
            **own,
            sample_weight=weights if has_weights else None,
            threads=2,
        ).slices
        for own in ({"by_frequency": 2}, {"by_group": of_rows.tolist()})
    )
    labels, w = best(scores["a"]), weights if has_weights else np.ones(80)
    p, hit = (np.take_along_axis(each, labels, axis=1) for each in (scores["a"], y_true))
    counts = y_true.sum(axis=0)[labels]
    are_inside = [(counts >= each.bin.low) & (counts <= each.bin.high) for each in bins]
    are_inside += [np.tile((of_rows == number)[:, None], (1, K)) for number in range(3)]
    for part, is_inside in zip([*bins, *groups], are_inside, strict=True):
        own = w[:, None] * is_inside
        found, places = part.reliability, np.minimum((p * 10).astype(int), 9)
        gaps = [abs((own * (p - hit))[places == place].sum()) for place in range(10)]
        assert found.ece == pytest.approx(sum(gaps) / own.sum(), abs=1e-12)
        assert found.brier == pytest.approx((own * (p - hit) ** 2).sum() / own.sum(), abs=1e-12)
        assert sum(each.weight for each in found.bins) == pytest.approx(own.sum())
    for part in groups:
        assert part.reliability.ece == part.estimates["ECE(bins=10)@3"].value


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
    assert [(each.gain, each.reliability) for each in found.results] == [(None, None)] * 2


def test_the_number_of_threads_changes_nothing(data, tmp_path):
    y_true, scores, _ = data
    many = [xmceval.score(np.tile(y_true, (60, 1)), np.tile(scores["a"], (60, 1)), k=K, metrics="P", train=y_true,
                          plots=["gain", "calibration"], threads=n) for n in (1, 3)]  # fmt: skip
    assert many[0].reliability == many[1].reliability
    np.testing.assert_array_equal(many[0].gain.hits, many[1].gain.hits)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"plots": "gain", "metrics": "AUC"}, UsageError, "'gain' needs a metric with a cutoff"),
        ({"plots": "calibration", "metrics": "AUC"}, UsageError, "'calibration' needs a metric with a cutoff"),
        ({"plots": "gain", "inverse_propensities": np.ones(15)}, DataError, "'gain' needs training counts"),
        ({"plots": "rows"}, UsageError, "'rows' needs a comparison .hint: use compare"),
        ({"plots": ["roc"]}, UsageError, "'roc' needs a log .hint: use auc"),
        ({"plots": "pie"}, UsageError, "must be one of curves, bins, gain, calibration, got 'pie'"),
    ],
)
def test_what_cannot_be_collected_is_refused(data, options, error, message):
    y_true, scores, _ = data
    with pytest.raises(error, match=message):
        xmceval.score(y_true, scores["a"], **{"k": K, "metrics": "P", **options})


def test_scores_that_are_no_probabilities_are_refused_with_their_place(data):
    y_true, scores, _ = data
    logits = scores["a"].copy()
    logits[4, 2] = 1.5
    with pytest.raises(DataError, match=r"row 4, counted from 0: label 2 has score 1\.5; .* expected probabilities"):
        xmceval.score(y_true, logits, k=K, metrics="P", plots="calibration")


def test_rows_need_shares_and_systems_of_one_run(data):
    y_true, scores, _ = data
    with pytest.raises(UsageError, match="'rows' needs a metric with per-instance values from 0 to 1"):
        xmceval.compare(y_true, scores, k=K, metrics="DCG", plots="rows")
    with pytest.raises(UsageError, match="not available for systems with several runs"):
        xmceval.compare(y_true, {"a": list(scores.values()), "b": 1 - scores["b"]}, k=K, metrics="P", plots="rows")
