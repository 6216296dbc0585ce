"""Metrics of whole rows and along whole lists: against scikit-learn, the judge, and what tools say of real data."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judge import naive, naive_rows
from scipy.sparse import csr_matrix
from support import graded
from support.close import close
from support.judged import check_judged
from support.strategies import cases, shuffled, to_csr, to_rows
from support.wholerows import OPTIONS, name_of

SKLEARN = ("LRAP", "coverage_error", "ranking_loss", "AUC")


def random_rows(rng, n_rows, n_labels, scores, density=0.4):
    """Return truth and scores as CSR; scores are drawn from `scores`, and some rows have none, some all labels true."""
    truth = rng.random((n_rows, n_labels)) < rng.random((n_rows, 1)) * 0.6
    truth[rng.random(n_rows) < 0.03] = True
    truth[rng.random(n_rows) < 0.03] = False
    stored = rng.random((n_rows, n_labels)) < density
    stored[rng.random(n_rows) < 0.05] = False
    stored[rng.random(n_rows) < 0.05] = True
    values = rng.choice(scores, (n_rows, n_labels))
    indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
    return truth, csr_matrix((values[stored], np.nonzero(stored)[1], indptr), shape=stored.shape), stored


def mismatches(truth, scores, dense, **options):
    """Return rows and metrics whose value is not that of scikit-learn, which has no AUC of rows of one class."""
    metrics, wrong = pytest.importorskip("sklearn.metrics"), []
    functions = {
        "LRAP": metrics.label_ranking_average_precision_score,
        "coverage_error": metrics.coverage_error,
        "ranking_loss": metrics.label_ranking_loss,
    }
    result = graded.score(truth, scores, metrics=SKLEARN, rows=True, **options)
    for row, (y, s) in enumerate(zip(truth, dense, strict=True)):
        expected = {name: function(y[None], s[None]) for name, function in functions.items()}
        if y.any() and not y.all():
            expected["AUC"] = metrics.roc_auc_score(y, s)
        values = {name: result.rows[name][row] for name in expected}
        wrong += [
            (row, name) for name in expected if abs(values[name] - expected[name]) > 1e-12 * max(1, expected[name])
        ]
    return wrong


def test_rows_are_scikit_learns_on_dense_copies(rng):
    for scores in ([-1.0, -0.5, 0.0, 0.5, 1.0], rng.normal(size=200)):
        truth, sparse, _ = random_rows(rng, 150, 9, scores)
        assert mismatches(truth, sparse, sparse.toarray(), unscored="zero") == []


def test_unscored_labels_stand_below_all_others(rng):
    truth, sparse, stored = random_rows(rng, 200, 9, [-1.0, -0.5, 0.0, 0.5, 1.0])
    dense = np.where(stored, sparse.toarray(), -2.0)
    assert mismatches(truth, sparse, dense) == []


def test_means_are_scikit_learns(rng):
    metrics = pytest.importorskip("sklearn.metrics")
    truth, sparse, _ = random_rows(rng, 300, 12, rng.normal(size=50))
    dense, two = sparse.toarray(), truth.any(axis=1) & ~truth.all(axis=1)
    weights = rng.integers(0, 4, truth.shape[0]) * 0.7
    for weight in (None, weights):
        result = graded.score(truth, sparse, metrics=SKLEARN, unscored="zero", sample_weight=weight)
        at = {"sample_weight": weight}
        assert result["LRAP"] == pytest.approx(metrics.label_ranking_average_precision_score(truth, dense, **at))
        assert result["coverage_error"] == pytest.approx(metrics.coverage_error(truth, dense, **at))
        assert result["ranking_loss"] == pytest.approx(metrics.label_ranking_loss(truth, dense, **at))
        each = [metrics.roc_auc_score(y, s) for y, s in zip(truth[two], dense[two], strict=True)]
        assert result["AUC"] == pytest.approx(np.average(each, weights=None if weight is None else weight[two]))


def test_full_lists_are_scikit_learns_where_nothing_ties(rng):
    metrics = pytest.importorskip("sklearn.metrics")
    grades = rng.integers(0, 4, (300, 15)) * (rng.random((300, 15)) < 0.4)
    scores = rng.normal(size=(300, 15))
    result = graded.score(grades, scores, metrics=["nDCG@all", "DCG@all", "AP@all"])
    assert result["nDCG@all"] == close(metrics.ndcg_score(grades, scores))
    assert result["DCG@all"] == close(metrics.dcg_score(grades, scores))
    kept = grades.any(axis=1)
    expected = metrics.average_precision_score(grades[kept] > 0, scores[kept], average="samples")
    dropped = graded.score(grades, scores, metrics="AP@all", empty_rows="drop")
    assert dropped["AP@all"] == close(expected)


UNBOUNDED = "AP(norm=hits)"  # it falls where a hit is added at a low rank
ALONG = [
    name
    for name in naive_rows.METRICS
    if ("@all" in name or name in {"R@n", "microR@n", "ERR", "RBP", "IPrec"}) and not name.startswith(UNBOUNDED)
]


@given(case=cases(graded=True, max_rows=3, max_labels=6), data=st.data())
def test_tie_bounds_along_the_list_are_the_judges(case, data):
    k = data.draw(st.integers(1, case.n_labels))
    names = {name_of(name, k): name for name in ALONG}
    truth, scores = to_csr(case.truth, case.n_labels), to_csr(case.scores, case.n_labels, np.float64)
    result = graded.score(truth, scores, metrics=list(names))
    for shown, name in names.items():
        bounds = []
        for y, s in zip(case.truth, case.scores, strict=True):
            orders = [{label: -place for place, label in enumerate(order)} for order in naive.orders(s)]
            wholes = [naive_rows.Whole(y, order, [], k, OPTIONS.get(name, {})) for order in orders]
            pairs = sorted(naive_rows.METRICS[name](whole) for whole in wholes)
            bounds.append((pairs[0], pairs[-1]))
        expected = [naive.ratio([pair[end] for pair in bounds]) for end in (0, 1)]
        assert result.tie_bounds(shown) == close(expected), shown


# Worked examples


@pytest.mark.parametrize(
    ("truth", "scores", "expected"),
    [
        (  # of scikit-learn's documentation
            *([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]]),
            {"LRAP": 5 / 12, "coverage_error": 2.5, "ranking_loss": 0.75},
        ),
        ([[1, 0, 0], [0, 0, 1]], [[1.0, 0.1, 0.2], [0.1, 0.2, 0.9]], {"ranking_loss": 0}),
        ([1, 1, 0, 0, 1], [5, 3, 4, 2, 1], {"R@n": 2 / 3, "microR@n": 2 / 3}),
        ([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], {"AUC": 0.75, "GAUC": 0.75}),
        ([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8], {"AUC": 0.875}),
        ([1, 0, 1, 0, 0, 1, 0], [7, 6, 6, 6, 1, 7, 0], {"AUC": 11 / 12}),
        # Chapelle et al.: s = 7/8, 0, 3/8 at ranks 1, 2, 3 with a scale up to grade 3.
        ([3, 0, 2], [3, 2, 1], {"ERR(max=3)@3": 7 / 8 + 1 / 8 * 3 / 8 / 3}),
        ([1, 0, 1], [3, 2, 1], {"RBP@3": 0.2 * (1 + 0.64), "RBP(p=0.5)@3": 0.5 * 1.25}),
        ([1, 0, 1, 0], [4, 3, 2, 1], {"AUC@4": 3 / 4, "AUC@1": 0, "AUC@2": 1}),
    ],
)
def test_worked_examples(truth, scores, expected):
    result = graded.score(np.atleast_2d(truth), np.atleast_2d(scores), metrics=list(expected))
    assert {name: result[name] for name in expected} == pytest.approx(expected, rel=1e-14)


def test_gauc_weighs_rows_by_their_candidates():
    truth = csr_matrix([[1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]])
    scores = csr_matrix([[2.0, 1.0, 0, 0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 0, 0]])
    result = graded.score(truth, scores, metrics="GAUC")
    assert result["GAUC"] == pytest.approx((2 * 1 + 4 * 0) / 6)
    assert result.counts.left_out == {"GAUC": 1}


def test_average_precision_of_hits_has_no_tie_bounds():
    result = graded.score(np.array([[1, 0, 1, 0, 1, 1]]), np.ones((1, 6)), metrics="AP(norm=hits)@3")
    assert np.isnan(result.tie_bounds("AP(norm=hits)@3")).all()


def test_rbp_and_err_of_whole_lists_go_on_below_every_cutoff():
    truth, scores = np.zeros((1, 300)), np.arange(300, 0, -1)[None].astype(float)
    truth[0, [0, 299]] = 1
    result = graded.score(truth, scores, metrics=["RBP@all", "ERR@all"])
    assert [*result.values()] == pytest.approx([0.2 * (1 + 0.8**299), 0.5 + 0.25 / 300], rel=1e-15)


# Weights


EVERY = ["P", "PSP", "nDCG@3,all", "LRAP", "coverage_error", "AUC", "GAUC", "microR@n", "AP@all", "ERR@3", "RBP@3"]


def test_the_unit_of_weights_is_irrelevant_to_the_bit(rng):
    truth, sparse, _ = random_rows(rng, 50, 9, rng.normal(size=50))
    weights = rng.random(50)
    results = [graded.score(truth, sparse, metrics=EVERY[2:], sample_weight=weights * unit) for unit in (1, 2.0**-90)]
    assert results[0].estimates == results[1].estimates
    check_judged(results[0], to_rows(truth), sparse, weights=weights, least=6)


def test_equal_weights_leave_intervals_alone(rng):
    truth, sparse, _ = random_rows(rng, 50, 9, rng.normal(size=50))
    plain, weighted = (
        graded.score(truth, sparse, metrics=EVERY[2:], sample_weight=w) for w in (None, np.full(50, 3.0))
    )
    check_judged(plain, to_rows(truth), sparse, least=6)
    for name in plain:
        assert weighted.interval(name) == pytest.approx(plain.interval(name), rel=1e-9)


def test_long_rows_are_scikit_learns(rng):
    metrics = pytest.importorskip("sklearn.metrics")
    truth = rng.random((3, 20_000)) < 0.3
    scores = np.round(rng.normal(size=(3, 20_000)), 2)
    result = graded.score(truth, scores, metrics=SKLEARN)
    assert result["LRAP"] == close(metrics.label_ranking_average_precision_score(truth, scores))
    assert result["ranking_loss"] == close(metrics.label_ranking_loss(truth, scores))
    assert result["AUC"] == close(metrics.roc_auc_score(truth, scores, average="samples"))


def test_the_auc_of_nothing_is_marked_as_undefined():
    result = graded.score(np.zeros((3, 4)), np.ones((3, 4)), metrics=["AUC", "LRAP"])
    assert (result["AUC"], result.estimates["AUC"].undefined) == (0.0, True)
    metrics = json.loads(result._render("json"))["systems"][0]["metrics"]
    assert (metrics["AUC"]["undefined"], metrics["LRAP"]["undefined"]) == (True, False)


# Rows with few and with many hits, which are counted in two ways

FEW = 64  # hits, up to which the row is searched for each of them
WIDE = 3 * FEW


def rows_of(rng, scores):
    """Return truth and scores of rows with up to 2 FEW hits, among them just below, at and above FEW."""
    truth, predicted = [], []
    for n_hits in (0, 1, FEW - 1, FEW, FEW + 1, 2 * FEW):
        labels = rng.permutation(WIDE)
        true = labels[: n_hits + int(rng.integers(0, 9))]
        stored = [*labels[:n_hits], *labels[true.size :][: int(rng.integers(1, FEW // 2))]]
        truth.append({int(label): float(rng.integers(1, 5)) for label in true})
        predicted.append({int(label): float(rng.choice(scores)) for label in stored})
    return truth, predicted


@pytest.mark.parametrize(
    "scores", [[0.5], [-1.0, 0.0, 0.5, 1.0], np.linspace(-1, 1, 1000)], ids=["tied", "some", "few"]
)
@pytest.mark.parametrize("unscored", ["bottom", "zero"])
def test_values_of_rows_with_many_hits_are_the_judges_in_any_order_of_labels(rng, scores, unscored):
    truth, predicted = rows_of(rng, scores)
    names = [name_of(name, 5) for name in naive_rows.METRICS]
    y_true, y_score = to_csr(truth, WIDE), to_csr(predicted, WIDE, np.float64)
    result = graded.score(y_true, y_score, metrics=names, unscored=unscored)
    check_judged(result, truth, predicted, unscored=unscored, least=len(names))
    for name in names:
        assert graded.score(y_true, y_score, metrics=name, unscored=unscored).estimates[name] == result.estimates[name]
    for _ in range(3):
        again = graded.score(y_true, shuffled(rng, y_score), metrics=names, unscored=unscored)
        assert again.estimates == result.estimates
