"""Functions of one metric: their values are those of score, and they warn as it does."""

import warnings
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_matrix

import xmceval
from xmceval import XmcevalWarning

TRUTH, SCORES = (
    np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]]),
    np.array([[0.9, 0.8, 0.1], [0.2, 0.7, 0.4], [0.1, 0.3, 0.2]]),
)
NAMES = {
    "precision_at_k": "P",
    "recall_at_k": "R",
    "f1_at_k": "F1",
    "hit_at_k": "Hit",
    "ndcg_at_k": "nDCG",
    "psp_at_k": "PSP",
    "psr_at_k": "PSR",
    "psndcg_at_k": "PSnDCG",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_warns_where_it_is_called_and_its_cutoff_is_5_unless_passed(name, rng):
    function = getattr(xmceval, name)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        assert function(TRUTH, SCORES, k=2) == xmceval.score(TRUTH, SCORES, k=2, metrics=NAMES[name])[NAMES[name]]
    assert {each.filename for each in issued} <= {__file__}
    assert len(issued) == 2 * any("not comparable with published" in str(each.message) for each in issued)
    assert bool(issued) == name.startswith("ps")
    truth, scores = rng.random((6, 8)) < 0.3, rng.random((6, 8))
    options = {"inverse_propensities": 1 + rng.random(8)} if name.startswith("ps") else {}
    expected = xmceval.score(truth, scores, metrics=NAMES[name], k=[1, 5], **options)
    values = function(truth, scores, k=1, **options), function(truth, scores, **options)
    assert values == tuple(expected.values())


def unsorted(matrix):
    """Return CSR whose rows have their best score first."""
    csr = csr_matrix(matrix)
    for start, stop in pairwise(csr.indptr.tolist()):
        order = start + np.argsort(-csr.data[start:stop], kind="stable")
        csr.indices[start:stop], csr.data[start:stop] = csr.indices[order], csr.data[order]
    return csr


def with_minus_infinity(matrix):
    matrix = matrix.copy()
    matrix[::2, 1:] = -np.inf
    return matrix


FORMS = {
    "dense": np.asarray,
    "float32": lambda matrix: matrix.astype(np.float32),
    "float16": lambda matrix: matrix.astype(np.float16),
    "csr": csr_matrix,
    "coo": coo_array,
    "csc": csc_array,
    "best first": unsorted,
    "best last": lambda matrix: unsorted(-matrix) * -1,
    "tied": lambda matrix: np.round(matrix, 1),
    "all equal": lambda matrix: csr_matrix(np.ceil(matrix)),
    "-inf": with_minus_infinity,
    "stored -inf": lambda matrix: csr_matrix(with_minus_infinity(matrix)),
    "lowest": lambda matrix: np.where(matrix < 0.5, np.finfo(np.float64).min, matrix),
    "nan": lambda matrix: np.where(matrix > 0.99, np.nan, matrix),
    "ranked": lambda matrix: np.argsort(-matrix, axis=1)[:, :3],
    "another width": lambda matrix: matrix[:, 1:],
    "one row less": lambda matrix: matrix[1:],
}


def value_or_error(name, y_true, y_score, k, **options):
    """Return the value that a function gives or how it fails, and what it warns of."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        try:
            found = getattr(xmceval, name)(y_true, y_score, k=k, **options)
            found = found if isinstance(found, float) else found[f"{options['metrics']}@{k}"]
        except xmceval.XmcevalError as error:
            found = f"{type(error).__name__}: {error}"
    return found, [str(each.message) for each in issued]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_rows", [12, 300])
def test_small_matrices_of_any_form_have_the_bits_the_warnings_and_the_errors_of_score(form, n_rows, rng):
    truth, scores = (rng.random((n_rows, 9)) < 0.2).astype(float), rng.random((n_rows, 9))
    good = np.where(truth > 0, 1 + scores, scores)
    truths = [truth, csr_matrix(truth), truth * rng.integers(1, 4, truth.shape), unsorted(truth), np.zeros_like(truth)]
    orders = [scores, good, np.roll(good, 1, axis=1), -good, good[rng.permutation(n_rows)]]
    n_warned = 0
    pairs = product(truths, orders) if n_rows == 12 else zip(truths, orders, strict=True)  # of many rows, each once
    for y_true, order in pairs:
        y_score = FORMS[form](order)
        for name, k in (("precision_at_k", 1), ("ndcg_at_k", 3), ("recall_at_k", 10)):
            expected, issued = value_or_error("score", y_true, y_score, k, metrics=NAMES[name])
            assert value_or_error(name, y_true, y_score, k) == (expected, issued)
            n_warned += bool(issued)
    assert n_warned or form in {"nan", "another width", "one row less"}


@pytest.mark.parametrize("form", [list, tuple])
@pytest.mark.parametrize("scores", [np.asarray, csr_matrix])
def test_lists_of_ids_of_equal_length_take_the_number_of_labels_from_the_scores(form, scores):
    matrix = np.random.default_rng(0).random((3, 10))
    ids = form([form([0, 1]), form([2, 3]), form([9, 5])])
    truth = np.zeros((3, 10))
    truth[[0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 9, 5]] = 1
    for name in NAMES:
        function = getattr(xmceval, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", XmcevalWarning)  # of propensities from the truth
            assert function(ids, scores(matrix), k=3) == function(truth, scores(matrix), k=3)


def test_lists_of_two_zeros_and_ones_are_ids_beside_a_matrix_of_another_width():
    matrix = np.random.default_rng(0).random((2, 3))
    found = xmceval.precision_at_k([[0, 1], [1, 0]], matrix, k=3)
    assert found == xmceval.precision_at_k([{0, 1}, {1, 0}], matrix, k=3) == pytest.approx(2 / 3)
    graded = np.array([[0, 1, 2], [1, 0, 0]])
    assert xmceval.ndcg_at_k(graded.tolist(), matrix, k=3, grades=True) == xmceval.ndcg_at_k(
        graded, matrix, k=3, grades=True
    )
