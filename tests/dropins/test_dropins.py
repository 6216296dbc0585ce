"""Drop-in functions and points of curves against scikit-learn: signatures, values, warnings, errors, and memory."""

from __future__ import annotations

import inspect
import itertools
import math
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

import xmceval
from xmceval import DataError

sk = pytest.importorskip("sklearn.metrics")

RANKING = ("coverage_error", "label_ranking_average_precision_score", "label_ranking_loss")
GAINS = ("ndcg_score", "dcg_score")
CURVES = ("roc_auc_score", "average_precision_score")
POINTS = ("roc_curve", "precision_recall_curve")
AVERAGES = (None, "micro", "macro", "weighted", "samples")
FORMS = {
    "dense": np.asarray,
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_matrix,
    "lil": sparse.lil_matrix,
}
EXACT = {"rtol": 1e-12, "atol": 1e-12, "equal_nan": True}
every_curve = pytest.mark.parametrize("name", POINTS)


def as_column(values):
    return np.reshape(values, (-1, 1))


def outcome(function, *args, **options):
    """Return the value, or "error", and the categories of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function(*args, **options)
        except (ValueError, ZeroDivisionError, TypeError):
            return "error", []
    return value, [warning.category.__name__ for warning in caught]


def check(name, y_true, y_other, forms=("dense",), **options):
    """Compare with scikit-learn's value, which is computed once, in each form of the data."""
    expected, their_warnings = outcome(getattr(sk, name), y_true, y_other, **options)
    if name == "label_ranking_average_precision_score" and isinstance(expected, float) and math.isnan(expected):
        expected = "error"  # weights that sum to zero: scikit-learn divides by it
    for form in forms:
        took = [np.asarray, as_column] if form == "column" else [FORMS[form]] * 2
        value, our_warnings = outcome(getattr(xmceval, name), took[0](y_true), took[1](y_other), **options)
        case = f"{name} of {form}, {options}: {value}, not {expected}"
        assert isinstance(value, str) == isinstance(expected, str), case
        if isinstance(expected, str):
            continue
        # Of areas, scikit-learn warns once per label.
        assert our_warnings == their_warnings or (name not in POINTS and our_warnings and their_warnings), case
        for ours, theirs in zip(value, expected, strict=True) if name in POINTS else [(value, expected)]:
            assert np.shape(ours) == np.shape(theirs), case
            np.testing.assert_allclose(ours, theirs, **EXACT, err_msg=case)
            if isinstance(theirs, np.ndarray):
                assert isinstance(ours, np.ndarray), case
                assert ours.dtype == theirs.dtype, case
            else:
                assert type(ours) is float, case


def made(seed, n_rows, n_labels):
    """An indicator and scores with ties, zeros, negative values, and rows and columns of one kind."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((n_rows, n_labels)) < 0.3).astype(int)
    scores = np.round(rng.normal(size=(n_rows, n_labels)), 1) * (rng.random((n_rows, n_labels)) < 0.6)
    for row, value in zip(range(0, n_rows, 7), itertools.cycle((0, 1)), strict=False):
        truth[row] = value
    scores[1::11] = 0
    return truth, scores, rng.integers(0, 4, n_rows).astype(float), rng.random(n_rows)


@st.composite
def matrices(draw):
    n_rows, n_labels = draw(st.integers(1, 6)), draw(st.integers(2, 5))
    cells = n_rows * n_labels

    def filled(values):
        return np.array(draw(st.lists(values, min_size=cells, max_size=cells))).reshape(n_rows, n_labels)

    weight = draw(st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n_rows, max_size=n_rows))
    dtype = draw(st.sampled_from([int, bool, float, np.uint8]))
    truth = filled(st.integers(0, 1)).astype(dtype)
    scores = filled(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0, 1e300, 5e-324]))
    return truth, scores, weight


@pytest.mark.parametrize("name", [*RANKING, *GAINS, *CURVES, *POINTS])
def test_the_signature_is_scikit_learns(name):
    ours = inspect.signature(getattr(xmceval, name)).parameters.values()
    theirs = inspect.signature(getattr(sk, name)).parameters.values()
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


@given(matrices(), st.integers(1, 6) | st.none(), st.booleans())
def test_rankings_of_small_matrices_are_scikit_learns(drawn, k, ignore_ties):
    truth, scores, weight = drawn
    for name in RANKING:
        check(name, truth, scores, ("dense", "csr"), sample_weight=weight)
    for name in GAINS:
        check(name, truth, scores, ("dense", "csr"), sample_weight=weight, k=k)
        if ignore_ties:  # equal scores have no order in scikit-learn
            apart = scores + np.arange(scores.shape[1]) * 1e-3
            check(name, truth, apart, ("dense", "csc"), sample_weight=weight, k=k, ignore_ties=True)


@given(matrices(), st.sampled_from(AVERAGES), st.sampled_from([None, 0.1, 0.5, 1.0]))
def test_curves_of_small_matrices_are_scikit_learns(drawn, average, max_fpr):
    truth, scores, weight = drawn
    if weight is not None and not any(weight):
        weight = None  # all zero is always refused here, by scikit-learn only where a label has both classes
    if weight is not None and max_fpr not in (None, 1.0) and not np.all(weight):
        max_fpr = None  # with one class left by weights scikit-learn fails on a curve of one point
    check("roc_auc_score", truth, scores, ("dense", "coo"), average=average, sample_weight=weight, max_fpr=max_fpr)
    check("average_precision_score", truth, scores, ("dense", "lil"), average=average, sample_weight=weight)


@pytest.mark.parametrize(("seed", "n_rows", "n_labels"), [(1, 80, 5), (2, 80, 30), (3, 80, 200)])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_of_random_rows_are_scikit_learns(seed, n_rows, n_labels, weighted):
    truth, scores, whole, real = made(seed, n_rows, n_labels)
    apart = scores + np.arange(n_labels) * 1e-6 * (scores != 0) + (scores == 0) * np.arange(n_labels) * 1e-9
    for weight in (whole, real) if weighted else (None,):
        for name in RANKING:
            check(name, truth, scores, ("dense", "csr"), sample_weight=weight)
        for name, k in itertools.product(GAINS, (None, 1, 3, n_labels + 5)):
            check(name, truth * 3, scores, ("dense", "csr"), sample_weight=weight, k=k)
            check(name, truth * 2.5, apart, ("dense",), sample_weight=weight, k=k, ignore_ties=True)
        for name, average in itertools.product(CURVES, AVERAGES):
            check(name, truth[:, :60], scores[:, :60], ("dense", "csr"), average=average, sample_weight=weight)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("max_fpr", [0.01, 0.3, 0.999, 1])
def test_partial_areas_are_scikit_learns(average, max_fpr):
    truth, scores, _, real = made(5, 200, 9)
    for weight in (None, real):
        check("roc_auc_score", truth, scores, ("dense", "csr"), average=average, max_fpr=max_fpr, sample_weight=weight)


@pytest.mark.parametrize("n_gains", [3, 64, 65, 150, 200])
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, np.float16])
def test_rows_of_few_gains_and_of_many_have_scikit_learns_values(n_gains, dtype):
    rng = np.random.default_rng(n_gains)
    gains = np.zeros((8, 200), dtype)
    for row in gains:
        row[rng.choice(200, n_gains, replace=False)] = rng.integers(1, 5, n_gains)
    coarse, fine = np.round(rng.normal(size=gains.shape)), rng.permuted(np.linspace(-1, 1, gains.size)).reshape(8, -1)
    for scores, k, ignore_ties in ((coarse, None, False), (coarse, 7, False), (fine, None, True), (fine, 7, True)):
        for name in GAINS:
            check(name, gains, scores, k=k, ignore_ties=ignore_ties)
            if dtype != np.float16:  # scipy has no such matrices
                forms = [
                    getattr(xmceval, name)(take(gains), take(scores), k=k, ignore_ties=ignore_ties)
                    for take in (np.asarray, sparse.csr_matrix)
                ]
                assert forms[0] == forms[1]
    assert xmceval.ndcg_score(gains, gains + 1e-9 * fine, k=k) == 1


@pytest.mark.parametrize("dtype", ["?", "u1", "i8", "f4", ">f8"])
def test_dense_and_sparse_matrices_have_the_same_bits(dtype):
    truth, scores, _, _ = made(9, 40, 150)
    gains = truth.astype(dtype)
    wide = np.zeros((40, 300), dtype=gains.dtype)
    wide[:, ::2] = gains
    for dense in (gains, np.asfortranarray(gains), wide[:, ::2]):
        for name in (*RANKING, *GAINS):
            function = getattr(xmceval, name)
            expected = function(sparse.csr_matrix(truth), sparse.csr_matrix(scores))
            assert function(dense, scores) == function(sparse.csr_matrix(truth), scores) == expected
            assert function(dense, np.asfortranarray(scores)) == expected


@pytest.mark.parametrize("log_base", [2, math.e, 10, 0.5, 0, -1])
def test_the_base_of_the_logarithm_is_scikit_learns(log_base):
    truth, scores, _, _ = made(6, 50, 8)
    check("dcg_score", truth * 1.5 - 0.25, scores, log_base=log_base)
    check("dcg_score", truth, scores, ("csr", "coo"), log_base=log_base, k=3)


@pytest.mark.parametrize(
    "y_true", [[0, 1, 1, 0, 1], [-1, 1, 1, -1, 1], [3, 7, 7, 3, 3], list("abbab"), [1] * 5, [0] * 5]
)
def test_curves_of_two_classes_are_scikit_learns(y_true):
    scores = np.array([0.1, 0.7, 0.1, 0.4, 0.4])
    for weight in (None, [1, 2, 0, 1, 0.5], [0] * 5, [1, 2]):
        if weight in ([0] * 5, [1, 2]) and len(set(y_true)) == 1:
            continue  # refused here; scikit-learn does not look at weights then
        for max_fpr in (None, 0.4, 0, 2, 1):
            check("roc_auc_score", y_true, scores, ("dense", "column"), sample_weight=weight, max_fpr=max_fpr)
        for pos_label in (1, 0, 7, "b"):
            if isinstance(pos_label, str) == isinstance(y_true[0], str):
                check("average_precision_score", y_true, scores, sample_weight=weight, pos_label=pos_label)


def test_one_class_is_nan_with_our_warning():
    with pytest.warns(xmceval.UndefinedMetricWarning, match="one class"):
        assert math.isnan(xmceval.roc_auc_score([1, 1], [0.2, 0.3]))
    with pytest.warns(xmceval.UndefinedMetricWarning, match="no positive") as caught:
        assert xmceval.average_precision_score([0, 0], [0.2, 0.3]) == 0
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", RANKING)
@pytest.mark.parametrize("value", [2, -3, 0.5, np.inf])
def test_a_dense_truth_of_other_values_is_taken_as_a_sparse_one_is(rng, name, value):
    truth = rng.choice([0, 0, 1], size=(50, 7)) * 1.0
    truth[truth > 0] = value
    scores = rng.random(truth.shape)

    def value_or_place(y_true):
        try:
            return getattr(xmceval, name)(y_true, scores)
        except DataError as error:
            return str(error).partition(":")[0]

    assert value_or_place(truth) == value_or_place(sparse.csr_matrix(truth))
    truth[40, np.flatnonzero(truth[40])[:1]] = 1
    truth[41, :2] = value, 1
    assert value_or_place(truth) == value_or_place(sparse.csr_matrix(truth)) == "y_true"


def test_labels_of_equal_score_are_in_descending_order_where_ties_are_ignored():
    truth = sparse.csr_matrix([[0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0]])
    scores = sparse.csr_matrix([[0.5, 0, 0, 0, 0, -1], [0, 0, 3, 0, 0, 0], [0, 0, 0, 0, -1, -2]])
    expected = [np.log(2) / np.log(4), np.log(2) / np.log(3) + np.log(2) / np.log(7), np.log(2) / np.log(4)]
    for row, value in enumerate(expected):
        got = [
            xmceval.dcg_score(take(truth[[row]]), take(scores[[row]]), ignore_ties=True)
            for take in (lambda m: m, lambda m: m.toarray())
        ]
        assert got == pytest.approx([value, value], abs=1e-12)


def test_rows_without_scores_have_their_labels_in_descending_order_whatever_the_next_row_has():
    truth = sparse.csr_matrix([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    scores = sparse.csr_matrix([[0.0, 0, 0], [0.5, 0, 0], [0, 0, 0]])
    got = xmceval.dcg_score(truth, scores, ignore_ties=True)
    assert got == pytest.approx((1 + 1 + np.log(2) / np.log(3)) / 3, abs=1e-12)


def test_duplicates_and_explicit_zeros_mean_what_densifying_makes_of_them_and_nothing_is_written():
    data, indices, indptr = np.array([0.5, 0.25, 0.0, -0.5, 0.5]), np.array([2, 2, 0, 1, 1]), np.array([0, 3, 5])
    scores = sparse.csr_matrix((data.copy(), indices.copy(), indptr.copy()), shape=(2, 3))
    truth = sparse.csr_matrix((np.array([1, 0, 1]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    dense = scores.toarray()
    for name in (*RANKING, *GAINS):
        expected = getattr(sk, name)(truth.toarray(), dense)
        assert getattr(xmceval, name)(truth, scores) == pytest.approx(expected, abs=1e-12)
    assert scores.nnz == 5
    np.testing.assert_array_equal(scores.data, data)
    np.testing.assert_array_equal(scores.indices, indices)


def test_wide_integers_are_compared_as_integers():
    scores = np.array([[2**62 + 1, 2**62, 0, -5]])
    assert xmceval.label_ranking_loss([[1, 0, 0, 0]], scores) == 0
    assert xmceval.label_ranking_loss([[0, 1, 0, 0]], sparse.csr_matrix(scores)) == pytest.approx(1 / 3)


def test_50k_rows_of_a_million_labels_take_memory_by_what_is_stored():
    n_rows, n_labels, per_row = 50_000, 1_000_000, 5
    rng = np.random.default_rng(0)
    indptr = np.arange(n_rows + 1) * per_row
    indices = np.sort(
        rng.integers(0, n_labels // per_row, (n_rows, per_row)) + np.arange(per_row) * (n_labels // per_row)
    )
    shape = (n_rows, n_labels)
    truth = sparse.csr_matrix((np.ones(indices.size, dtype=np.int8), indices.ravel(), indptr), shape=shape)
    scores = sparse.csr_matrix((rng.random(indices.size) + 0.1, (indices + 1).ravel() % n_labels, indptr), shape=shape)
    xmceval.coverage_error(truth[:2], scores[:2])
    tracemalloc.start()
    for name in (*RANKING, *GAINS):
        getattr(xmceval, name)(truth, scores)
    for average in ("micro", "samples"):
        xmceval.roc_auc_score(truth, scores, average=average)
        xmceval.average_precision_score(truth, scores, average=average)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150e6  # dense it would be 4e11


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_one_sparse_column_is_taken_as_the_dense_one_is(form):
    truth, scores = [[1], [0], [0], [1], [1]], [[0.5], [0.0], [-1.0], [0.25], [2.0]]
    for name in ("roc_auc_score", "average_precision_score"):
        function = getattr(xmceval, name)
        assert function(form(truth), form(scores)) == function(truth, scores) == function(np.ravel(truth), form(scores))


@every_curve
@given(data=st.data())
def test_points_are_scikit_learns(name, data):
    n = data.draw(st.integers(1, 12))

    def drawn(values):
        return data.draw(st.lists(values, min_size=n, max_size=n))

    classes = data.draw(st.sampled_from([(0, 1), (-1, 1), (0,), (1,), (2, 5), (0, 1, 2), (False, True), ("a", "b")]))
    y_true, y_score = drawn(st.sampled_from(classes)), drawn(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 2.0, 1e300]))
    weight = data.draw(st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n))
    if weight is not None and not any(weight):
        return  # refused here; scikit-learn fails on no rows
    for pos_label, drop in itertools.product((None, 1, 0, 5, "b"), (True, False)):
        if pos_label is None or isinstance(pos_label, str) == isinstance(classes[0], str):
            options = {"pos_label": pos_label, "sample_weight": weight, "drop_intermediate": drop}
            check(name, np.array(y_true), np.array(y_score), **options)


@every_curve
def test_long_lists_are_scikit_learns(name, rng):
    truth, scores = rng.integers(0, 2, 1000), np.round(rng.normal(size=1000), 2)
    for score in (scores, scores.astype(np.float32), (100 * scores).astype(np.int64), scores > 0):
        for weight, drop in itertools.product((None, rng.random(1000)), (True, False)):
            check(name, truth, score, sample_weight=weight, drop_intermediate=drop)
            check(name, truth.reshape(-1, 1), score.reshape(-1, 1), sample_weight=weight, drop_intermediate=drop)


@every_curve
def test_thresholds_are_the_scores_themselves_where_float64_would_round_them(name):
    wide = np.array([2**62, 2**62 + 1, 5])
    points = getattr(xmceval, name)([0, 1, 1], wide, drop_intermediate=False)
    assert points[2].size == (4 if name == "roc_curve" else 3)
    if name == "precision_recall_curve":
        assert points[2].tolist() == [5, 2**62, 2**62 + 1]


@pytest.mark.parametrize("name", [*POINTS, *CURVES])
def test_infinite_classes_are_refused_as_scikit_learn_does(name):
    check(name, np.array([np.inf, 1.0]), np.array([0.0, 1.0]))


PROBE = """
import warnings
{first}
import xmceval
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    xmceval.roc_auc_score([1, 1], [0.2, 0.3])
print(caught[0].category.__module__, caught[0].category is xmceval.UndefinedMetricWarning)
"""


@pytest.mark.parametrize(
    ("first", "module"), [("import sklearn.exceptions", "sklearn.exceptions"), ("", "xmceval.dropins.inputs")]
)
def test_undefined_metrics_warn_with_scikit_learns_class_where_it_is_loaded(first, module):
    run = subprocess.run([sys.executable, "-c", PROBE.format(first=first)], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [module, "True"]
