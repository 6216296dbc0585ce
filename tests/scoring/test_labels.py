"""Label-wise metrics and decisions against the judge, scikit-learn and the values of other tools."""

import warnings

import numpy as np
import pytest
from judge import naive_labels
from numba import config
from scipy.sparse import csr_matrix

import xmceval
from xmceval import DataError, UsageError
from xmceval.metrics.confusion import AVERAGES, OVER, ZEROS
from xmceval.metrics.rates import RATES
from xmceval.rows.block import Rows, Scratch
from xmceval.rows.checks import validated_scores, validated_truth
from xmceval.rows.matrices import source as matrices
from xmceval.rows.width import UNKNOWN, Width
from xmceval.scoring.batch import find_decided
from xmceval.scoring.tasks import label_counts, label_means as labelmeans

sk = pytest.importorskip("sklearn.metrics")

N_ROWS = 100 if config.DISABLE_JIT else 3000
CLOSE = {"rel": 1e-12, "abs": 1e-12}


def random_problem(rng, n_labels=40):
    """Return truth and scores with every degenerate row and label."""
    truth = (rng.random((N_ROWS, n_labels)) < rng.random(n_labels) * 0.2).astype(int)
    scores = np.round(rng.normal(size=truth.shape) + truth, 1) * (rng.random(truth.shape) < 0.5)
    truth[:, 0], truth[:, 1], scores[:, 2], truth[:5], scores[3:8] = 0, 1, 0, 0, 0
    return truth, scores


@pytest.mark.parametrize("zero", ZEROS)
@pytest.mark.parametrize("average", AVERAGES)
def test_decisions_are_scikit_learns(rng, average, zero):
    truth, scores = random_problem(rng)
    decided = (scores >= 0.5).astype(int)
    division = {"average": average, "zero_division": np.nan if zero == "skip" else float(zero)}
    expected = {
        f"precision_score(average={average},zero={zero})": sk.precision_score(truth, decided, **division),
        f"recall_score(average={average},zero={zero})": sk.recall_score(truth, decided, **division),
        f"f1_score(average={average},zero={zero})": sk.f1_score(truth, decided, **division),
        f"f1_score(average={average},beta=2,zero={zero})": sk.fbeta_score(truth, decided, beta=2, **division),
    }
    if zero != "skip":
        expected[f"Jaccard(average={average},zero={zero})"] = sk.jaccard_score(truth, decided, **division)
    result = xmceval.score(truth, csr_matrix(scores), metrics=list(expected), threshold=0.5)
    for name, value in expected.items():
        assert result[name] == pytest.approx(value, **CLOSE), name


def test_counts_and_rates_of_decisions_are_scikit_learns(rng):
    truth, scores = random_problem(rng)
    decided = (scores >= 0.5).astype(int)
    flat = truth.ravel(), decided.ravel()
    (tn, fp), (fn, tp) = sk.multilabel_confusion_matrix(truth, decided).sum(axis=0)
    columns = list(zip(truth.T, decided.T, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        balanced = [sk.balanced_accuracy_score(*column) for column in columns]
    expected = {
        "hamming_loss": sk.hamming_loss(truth, decided),
        "subset_accuracy": sk.accuracy_score(truth, decided),
        "accuracy": sk.accuracy_score(*flat),
        "MCC": sk.matthews_corrcoef(*flat),
        "MCC(average=macro)": np.mean([sk.matthews_corrcoef(*column) for column in columns]),
        "balanced_accuracy": sk.balanced_accuracy_score(*flat),
        "balanced_accuracy(average=macro,zero=skip)": np.mean(balanced),
        "specificity": tn / (tn + fp),
        "FPR": fp / (tn + fp),
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "tn": tn,
    }
    result = xmceval.score(truth, csr_matrix(scores), metrics=list(expected), threshold=0.5)
    assert dict(result) == pytest.approx(expected, **CLOSE)


def test_sample_weights_are_scikit_learns(rng):
    truth, scores = random_problem(rng)
    decided, weights = (scores >= 0.5).astype(int), rng.random(len(truth)) + 0.01
    names = {f"f1_score(average={average})": average for average in AVERAGES}
    result = xmceval.score(truth, csr_matrix(scores), metrics=list(names), threshold=0.5, sample_weight=weights)
    for name, average in names.items():
        expected = sk.f1_score(truth, decided, average=average, sample_weight=weights, zero_division=0)
        assert result[name] == pytest.approx(expected, rel=1e-9), name


SAME_BITS = [
    *("macroP", "macroR(over=truth)", "macroF1(beta=2,over=seen,zero=skip)", "macroBA", "macroJaccard(zero=1)"),
    *("weightedP", "weightedR", "weightedF1", "coverage", "coverage(over=ideal)", "microP", "microR", "microF1"),
    *(f"{name}(average={average})" for name in ("f1_score", "Jaccard") for average in AVERAGES),
    *("MCC", "MCC(average=macro)", "balanced_accuracy(average=macro)", "hamming_loss", "accuracy", "confusion"),
]


def counted(truth, scores, n_labels=UNKNOWN, cutoffs=(1, 3), weights=None):
    """Count rows given as CSR, all of them decided on, and the first ranked as they stand."""
    counters = label_counts.LabelCounters(n_labels, len(cutoffs), weighted=weights is not None)
    width = Width(truth.shape[1], "the test")
    given = validated_scores(next(iter(matrices.as_scores(scores).blocks())), Scratch(), width)
    true = validated_truth(next(iter(matrices.as_truth(truth).blocks())), Scratch(), width)[0]
    depth = int(np.diff(given.indptr).max(initial=1))
    ranked = np.zeros((truth.shape[0], depth), dtype=np.int64)
    for row in range(len(ranked)):
        labels = given.indices[given.indptr[row] : given.indptr[row + 1]]
        ranked[row, : labels.size] = labels
    counters.add_ranked(
        true, ranked, np.diff(given.indptr), np.array(cutoffs), np.empty(0) if weights is None else weights
    )
    return counters


def same(left, right):
    pairs = zip(left.arrays().values(), right.arrays().values(), strict=True)
    return all(np.array_equal(*pair) for pair in pairs) and left.table().bits == right.table().bits


any_weights = pytest.mark.parametrize("weighted", [False, True])
any_limit = pytest.mark.parametrize("limit", [1 << 27, 16])


def by_ids(counters, weighted):
    """Return the same counts, of which none is in the array."""
    copied = label_counts.LabelCounters(UNKNOWN, 2, weighted=weighted)
    copied.fill(counters.arrays())
    return copied


@any_weights
@any_limit
@pytest.mark.parametrize("share", [label_counts.COMPACT_SHARE, 1])
def test_totals_of_shards_add_up_in_any_order_in_arrays_and_by_ids(rng, monkeypatch, limit, share, weighted):
    monkeypatch.setattr(label_counts, "DENSE_IDS", limit)
    monkeypatch.setattr(label_counts, "COMPACT_SHARE", share)
    truth, scores = (csr_matrix(matrix[:60]) for matrix in random_problem(rng))
    weights = rng.random(60) if weighted else None
    whole = counted(truth, scores, weights=weights)
    rows = [slice(0, 11), slice(11, 12), slice(12, 60)]
    parts = [counted(truth[p], scores[p], weights=None if weights is None else weights[p]) for p in rows]
    empty = label_counts.LabelCounters(UNKNOWN, 2, weighted=weighted)
    for which in range(8):
        a, b, c = (by_ids(part, weighted) if which >> i & 1 else part for i, part in enumerate(parts))
        assert same(a.merge(b).merge(c), whole)
        assert same(a.merge(c.merge(b)), whole)
        assert same(empty.merge(a), a)
        assert same(a.merge(empty), a)
    with pytest.raises(DataError, match="with and without sample weights"):
        a.merge(label_counts.LabelCounters(UNKNOWN, 2, weighted=not weighted))


@any_weights
@any_limit
def test_counts_kept_by_ids_are_those_of_the_array(rng, monkeypatch, weighted, limit):
    truth, scores = (csr_matrix(each[:60]) for each in random_problem(rng))
    spread = [csr_matrix((each.data, each.indices * 31, each.indptr), shape=(60, 1240)) for each in (truth, scores)]
    given = {"metrics": [*SAME_BITS, "macroP(over=largest)", "macroR(over=train)"], "threshold": 0.0, "by_frequency": 3}
    given |= {"counts": np.arange(1240) % 7, "n_train": 900, "sample_weight": rng.random(60) if weighted else None}
    expected = xmceval.score(*spread, **given)
    monkeypatch.setattr(label_counts, "DENSE_IDS", limit)
    monkeypatch.setattr(label_counts, "COMPACT_ABOVE", 5)
    monkeypatch.setattr(label_counts, "CHUNK", 100)
    found = xmceval.score(*spread, **given)
    assert found.estimates == expected.estimates
    assert [each.estimates for each in found.slices] == [each.estimates for each in expected.slices]
    table = counted(*spread).table()
    assert table.ids.size == len(table.counts) > 0
    assert table.counts.any(axis=1).all()
    assert not (table.ids % 31).any()


EVERY_MEAN = [
    *(f"{name}({option})@{k}" for name in ("macroP", "macroBA") for k in (1, 3, 4) for option in
      ("zero=0", "zero=1", "zero=skip", *(f"over={over}" for over in OVER))),
    *(f"{name}@{k}" for name in ("weightedR", "weightedF1(zero=skip)", "coverage(over=ideal)") for k in (1, 4)),
    *(f"{name}(average=macro)" for name in ("f1_score", "MCC", "FPR", "balanced_accuracy")),
    *("coverage(of=recommended)@3", "coverage(of=recommended,over=all)@3", "MCC", "balanced_accuracy", "tp"),
]  # fmt: skip


@any_weights
@any_limit
def test_how_many_labels_are_taken_at_once_has_no_effect(rng, monkeypatch, weighted, limit):
    monkeypatch.setattr(label_counts, "DENSE_IDS", limit)
    truth, scores = (csr_matrix(each[:60]) for each in random_problem(rng))
    given = {"metrics": EVERY_MEAN, "threshold": 0.0, "by_frequency": 3, "counts": np.arange(40) % 7, "n_train": 900}
    given["sample_weight"] = rng.random(60) if weighted else None
    expected = xmceval.score(truth, scores, **given)
    for n in (1, 7):
        monkeypatch.setattr(labelmeans, "COUNTS_AT_ONCE", 0)
        monkeypatch.setattr(labelmeans, "FEWEST_LABELS", n)
        found = xmceval.score(truth, scores, **given)
        assert found.estimates == expected.estimates
        assert [each.estimates for each in found.slices] == [each.estimates for each in expected.slices]


@pytest.mark.parametrize(("labels", "ids"), [([3_000_000], []), ([7, 9_000_000], [7, 9_000_000])])
def test_counters_grow_past_the_largest_label_and_hold_few_of_many_by_id(labels, ids):
    rows = Rows(np.array([0, len(labels)]), np.array(labels), np.ones(len(labels)))
    counters = label_counts.LabelCounters(UNKNOWN, 1)
    counters.add_decisions(rows, find_decided(rows, rows, 0.5, Scratch()), np.empty(0))
    table = counters.table()
    assert table.ids.tolist() == ids
    assert len(table.counts) == (len(ids) or labels[-1] + 1)
    assert table.counts[-len(labels) :].tolist() == [[1, 1, 1]] * len(labels)


def test_weights_beyond_exact_sums_are_refused(monkeypatch):
    monkeypatch.setattr(label_counts, "MOST_WEIGHT", 4)
    with pytest.raises(DataError, match="sample weights sum to more than 2 times the largest"):
        xmceval.score(np.ones((5, 1)), np.ones((5, 1)), k=1, metrics="macroP", sample_weight=np.ones(5))


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("macroP(over=train)", r"macroP\(over=train\)@1: over=train needs training labels"),
        ("Jaccard(over=truth)", "add average=macro"),
    ],
)
def test_a_choice_of_labels_that_says_nothing_is_refused(metric, message):
    with pytest.raises(UsageError, match=message):
        xmceval.score(np.ones((5, 1)), np.ones((5, 1)), k=1, metrics=metric)


def test_decisions_without_a_threshold_are_told():
    result = xmceval.score(np.ones((5, 2)), csr_matrix(np.ones((5, 2))), metrics="Jaccard")
    assert (
        "Jaccard: without a threshold, every label with a score counts as predicted (hint: pass threshold)"
        in result.warnings
    )
    assert not xmceval.score(np.ones((5, 2)), np.ones((5, 2)), metrics="Jaccard", threshold=0.5).warnings


def test_means_over_labels_have_no_interval_and_micro_ones_have():
    result = xmceval.score(np.eye(5), csr_matrix(np.eye(5)[::-1]), k=1, metrics=["macroP", "microP", "Jaccard", "MCC"])
    assert np.isnan([result.interval("macroP@1"), result.interval("MCC"), result.tie_bounds("macroP@1")]).all()
    assert np.isfinite([result.interval("microP@1"), result.interval("Jaccard")]).all()


def test_every_rate_has_a_judge():
    assert set(RATES) == naive_labels.RATES
