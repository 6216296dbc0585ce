"""Containers in memory: each is read as the plain matrix that it holds, or refused, also if it has two readings."""

# ruff: noqa: F401 - lines use what is imported here

import io
import re
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy
import scipy.sparse as sp
from support.approved import check_lines

import xmceval
from xmceval import DataError

Y_TRUE = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
Y_SCORE = np.array([[0.9, 0.1, 0.3], [0.2, 0.5, 0.4], [0.6, 0.8, 0.1], [0.3, 0.7, 0.2]])


FIRST = {"metrics": "P", "k": 1}
first = partial(xmceval.score, **FIRST)


def evaluate(y_true, y_score, **options):
    evaluator = xmceval.Evaluator(**options)
    evaluator.update(y_true, y_score)
    return evaluator.result()["P@1"]


CALLS = {
    "score": lambda *inputs, **options: first(*inputs, **options)["P@1"],
    "compare": lambda y_true, y_score, **options: xmceval.compare(
        y_true, {"a": y_score, "b": Y_SCORE if len(y_true) == len(Y_TRUE) else y_true + 0.5}, **FIRST, **options
    ).results[0]["P@1"],
    "Evaluator": lambda *inputs, **options: evaluate(*inputs, **FIRST, **options),
    "at k": lambda *inputs, **options: xmceval.precision_at_k(*inputs, k=1, **options),
}


@pytest.fixture(params=CALLS)
def precision(request):
    return CALLS[request.param]


def masked(values):
    mask = np.zeros(np.shape(values), dtype=bool)
    mask[1] = True
    return np.ma.array(values, mask=mask)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("make", [np.matrix, np.ma.array, memoryview, lambda values: [*map(np.ma.array, values)]])
def test_arrays_of_subclasses_are_plain_arrays(precision, make):
    assert precision(make(Y_TRUE), make(Y_SCORE)) == 0.75


wide = sp.csr_matrix(([1.0, 1.0], ([0, 1], [0, 1])), shape=(2, 2**40))
THREE = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]])
LISTS = [[0, 2], [1]]
LONG = pd.DataFrame([(0, 0, 1), (0, 2, 1), (1, 1, 1)], columns=["row", "label", "score"])


def refused_by(call, *inputs):
    with pytest.raises(DataError) as error:
        call(*inputs)
    return str(error.value)


@pytest.mark.filterwarnings("ignore:Exporting an unversioned DLPack capsule:DeprecationWarning")
def test_what_cannot_be_read_is_refused_in_these_words():
    def refused(*inputs):
        """Return the messages of all calls, each once."""
        return "\n".join(dict.fromkeys(refused_by(call, *inputs) for call in CALLS.values()))

    check_lines(__file__, "containers.txt", globals() | locals())


@pytest.mark.parametrize("n_labels", [2, 3, 5])
@pytest.mark.parametrize("constant", [(), (0,), (0, 1)])
@pytest.mark.parametrize(
    "function", [CALLS["at k"], CALLS["Evaluator"], xmceval.label_ranking_average_precision_score, xmceval.ndcg_score]
)
def test_the_hint_at_arrays_of_a_forest_holds(function, constant, n_labels):
    rng = np.random.default_rng(n_labels)
    features, y_true = rng.random((30, 3)), rng.integers(0, 2, (30, n_labels))
    y_true[:, list(constant)] = (
        constant  # a label that is never true, and one that always is, have arrays of one column
    )
    forests = pytest.importorskip("sklearn.ensemble")
    model = forests.RandomForestClassifier(5, random_state=0).fit(features, y_true)
    y_score = model.predict_proba(features)
    assert {part.shape[1] for part in y_score} <= {1, 2}
    with pytest.raises(DataError) as refused:
        function(y_true, y_score)
    (hint,) = re.findall(r"predict_proba of a model returns, pass (.*)\)$", str(refused.value))
    passed = eval(hint, {"numpy": np, "y_score": y_score, "model": model})
    expected = np.zeros(y_true.shape)
    for label, (part, classes) in enumerate(zip(y_score, model.classes_, strict=True)):
        if 1 in classes:
            expected[:, label] = part[:, list(classes).index(1)]
    assert (passed == expected).all()
    assert 0 < function(y_true, passed) <= 1


# Sparse matrices whose arrays were changed behind scipy's back


def damaged(form, part, index):
    """Return scores in a form of scipy, of which one index is wrong."""
    matrix = getattr(sp, f"{form}_matrix")(Y_SCORE)
    if form == "lil":
        matrix.rows[0][0] = index
    elif form == "dok":
        dict.__setitem__(getattr(matrix, "_dict", matrix), (index, 0), 1.0)  # an older scipy's matrix is itself a dict
    else:
        getattr(matrix, part)[1 if part == "indptr" else 0] = index
    return matrix


def calls_of(scores):
    """Return what reads a matrix as scores, as truth and as training labels; each may be asked once."""
    return {
        "score": lambda: first(Y_TRUE, scores()),
        "truth": lambda: first(scores(), Y_SCORE),
        "train": lambda: xmceval.score(Y_TRUE, Y_SCORE, metrics="PSP", k=1, train=scores()),
        "Evaluator": lambda: evaluate(Y_TRUE, scores(), **FIRST),
        "drop-in of rankings": lambda: xmceval.ndcg_score(Y_TRUE, scores()),
        "drop-in of areas": lambda: xmceval.roc_auc_score(Y_TRUE, scores()),
        "drop-in of indicators": lambda: xmceval.label_ranking_average_precision_score(scores(), Y_SCORE),
    }


def refused(scores, message, *names):
    calls = calls_of(scores)
    for name in names or calls:
        with pytest.raises(DataError, match=message):
            calls[name]()


WRONG = [
    *((form, "indices", index) for form in ("csr", "csc", "bsr") for index in (-1, 4, 10**8)),
    *((form, part, index) for form, part in (("coo", "row"), ("coo", "col"), ("lil", "")) for index in (-1, 4, 10**8)),
    *((form, "indptr", index) for form in ("csr", "csc", "bsr") for index in (-1, 10**8)),
    *(("dok", "", index) for index in (-1, 4, 10**8, 10**12)),
]


@pytest.mark.filterwarnings("ignore:NumPy will stop allowing conversion:DeprecationWarning")  # numpy 1, of 10^12
@pytest.mark.parametrize(("form", "part", "index"), WRONG)
def test_a_wrong_index_of_a_sparse_matrix_is_refused(form, part, index):
    message = r"stored entr|do not describe|is negative|is outside"
    refused(lambda: damaged(form, part, index), message, "score", "truth", "train", "Evaluator", "drop-in of areas")
    if form in {"csr", "csc", "coo"}:
        matrix, names = (
            damaged(form, part, index),
            ("row", "col", "data") if form == "coo" else ("indptr", "indices", "data"),
        )
        arrays = {name: getattr(matrix, name) for name in names}
        np.savez("scores.npz", **arrays, shape=matrix.shape, format=form.encode())
        with pytest.raises(DataError):
            first(Y_TRUE, "scores.npz")


def changed(form, **arrays):
    """Return scores in a form of scipy, of which whole arrays or the shape are others."""
    matrix = getattr(sp, f"{form}_matrix")(Y_SCORE)
    for name, array in arrays.items():
        if not hasattr(matrix, name):
            pytest.skip(f"scipy {scipy.__version__} keeps no {name}")
        setattr(matrix, name, array)
    return matrix


def objects(*rows):
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


NO_PART = {
    "empty": np.empty(0, int),
    "of two dimensions": np.zeros((12, 1), int),
    "a list": [0] * 12,
    "words": np.array(["a"] * 12),
}
CONTRADICTIONS = {
    "lil, short rows": ("lil", {"rows": objects([0], [0, 1, 2], [0], [0, 1, 2])}),
    "lil, long rows": ("lil", {"rows": objects(*[list(range(3)) * 9] * 4)}),
    "lil, a row less": ("lil", {"rows": objects(*[[0, 1, 2]] * 3)}),
    "lil, no lists": ("lil", {"data": objects(1, 2, 3, 4)}),
    "lil, words": ("lil", {"data": objects(*[["a", "b", "c"]] * 4)}),
    "lil, no columns": ("lil", {"_shape": (4, 0)}),
    "coo, short data": ("coo", {"data": np.ones(11)}),
    "coo, short coordinates": ("coo", {"coords": (np.zeros(12, int), np.zeros(11, int))}),
    "coo, no columns": ("coo", {"coords": (np.zeros(12, int),)}),
    "coo, fractions": ("coo", {"coords": (np.zeros(12), np.zeros(12))}),
    "coo, two dimensions": ("coo", {"data": np.ones((12, 1))}),
    "coo, a list": ("coo", {"data": [1.0] * 12}),
    **{
        f"{form}, {part} {what}": (form, {part: array})
        for form in ("csr", "csc", "bsr")
        for part in ("indptr", "indices", "data")
        for what, array in NO_PART.items()
        if (part, what) != ("data", "words")
    },
    "bsr, blocks too high": ("bsr", {"data": np.ones((12, 3, 1))}),
    "bsr, blocks of nothing": ("bsr", {"data": np.ones((12, 0, 1))}),
    "dia, an offset less": ("dia", {"offsets": np.array([0])}),
    "dia, one dimension": ("dia", {"data": np.ones(6)}),
    "dok, three coordinates": ("dok", {"_dict": {(0, 0, 0): 1.0, (1, 1): 1.0}}),
    "dok, a word": ("dok", {"_dict": {(0, 0): "a"}}),
    **{
        f"{form}, {shape}": (form, {"_shape": shape})
        for form in ("csr", "csc", "bsr", "coo", "lil", "dia", "dok")
        for shape in ((2**31, 3), (2**40, 3), (-4, 3))
    },
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_a_sparse_matrix_whose_arrays_contradict_each_other_is_refused(case):
    form, arrays = CONTRADICTIONS[case]
    scores = changed(form, **arrays)
    refused(lambda: scores, r"do(es)? not describe|for [\d,]+ stored entr")


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr"])
def test_masked_arrays_of_a_sparse_matrix_are_read_where_nothing_is_masked(form):
    plain, masked_one, unmasked = (changed(form) for _ in range(3))
    unmasked.data = np.ma.array(unmasked.data)
    masked_one.data = np.ma.array(masked_one.data, mask=masked_one.data == 0.5)
    assert first(Y_TRUE, unmasked)["P@1"] == 0.75
    assert xmceval.ndcg_score(Y_TRUE, unmasked) == xmceval.ndcg_score(Y_TRUE, plain)
    message = r"y_\w+\.data: is an array with 1 masked cell, whose value is not known"
    refused(lambda: masked_one, message, "score", "truth", "drop-in of rankings")


@pytest.mark.parametrize("dtype", [np.float16, ">f2", ">f4", ">f8", np.longdouble])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_values_of_types_that_scipy_does_not_make_are_read_by_all(form, dtype):
    matrix = changed(form)
    matrix.data = matrix.data.astype(dtype)
    rounded = Y_SCORE.astype(dtype).astype(float)
    assert first(Y_TRUE, matrix)["P@1"] == 0.75
    assert xmceval.ndcg_score(Y_TRUE, matrix) == xmceval.ndcg_score(Y_TRUE, rounded)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_room_behind_the_stored_entries_is_not_read(form):
    matrix = getattr(sp, f"{form}_matrix")(Y_SCORE)
    matrix.data, matrix.indices = np.append(matrix.data, [9.0, np.nan]), np.append(matrix.indices, -7)
    assert first(Y_TRUE, matrix)["P@1"] == 0.75
    assert xmceval.ndcg_score(Y_TRUE, matrix) == xmceval.ndcg_score(Y_TRUE, Y_SCORE)


def test_rows_without_entries_are_legal_in_any_number_that_memory_holds():
    truth = sp.coo_matrix(([1.0], ([0], [1])), shape=(10**6, 3))
    assert first(truth, truth.tocsc())["P@1"] == 1e-6


def nested():
    torch = pytest.importorskip("torch")
    return torch.nested.nested_tensor([torch.tensor([1, 2]), torch.tensor([3])])


def with_short_indptr(matrix):
    matrix.indptr = matrix.indptr[:-1]
    return matrix


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
@pytest.mark.filterwarnings("ignore:Exporting an unversioned DLPack capsule:DeprecationWarning")
def test_no_words_of_torch_reach_the_caller():
    message = "is a nested tensor, whose rows differ in length; expected an array"
    with pytest.raises(DataError, match=f"^y_score: {message}"):
        xmceval.coverage_error(THREE, nested())
    with pytest.raises(DataError, match=f"^by_group: {message}"):
        first(THREE, THREE, by_group=nested())
    with pytest.raises(DataError, match="y_true has 0 rows, y_score has 3 rows"):
        first(pytest.importorskip("torch").zeros(0, 3), THREE)


def test_rows_without_a_name_are_joined_by_position():
    truth, scores = pd.DataFrame(np.eye(3)), np.eye(3)[::-1].copy()
    unnamed = pd.DataFrame(scores, index=[pd.NA, 0, 1])
    assert first(truth, unnamed) == first(truth, scores)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_a_nested_tensor_beside_ids_is_read_as_its_rows():
    truth = pd.DataFrame(np.eye(2, 4, dtype=int)).assign(asin=["a", "b"])
    lists = [[1, 2], [3]]
    with pytest.raises(xmceval.XmcevalError) as expected:
        first(truth, lists)
    with pytest.raises(xmceval.XmcevalError) as error:
        first(truth, nested())
    assert str(error.value) == str(expected.value)


# Whole numbers as wide as the truth


@pytest.mark.parametrize("n_labels", [None, 3])
@pytest.mark.parametrize("y_score", [[[0, 1, 0], [1, 0, 0]], [[0, 3, 1], [2, 0, 1]], [[0, 1, 2], [2, 2, 0]]])
def test_other_integers_as_wide_as_the_truth_are_scores(y_score, n_labels):
    y_true = np.eye(3, dtype=int)[:2]
    assert first(y_true, np.array(y_score), n_labels=n_labels) == first(y_true, np.array(y_score, dtype=float) + 0.5)


@pytest.mark.parametrize("make", [list, tuple])
def test_a_list_of_labels_and_scores_is_a_pair_as_a_tuple_is(make):
    true = [[1, 4, 7], [2, 5, 8], [3, 6, 9], [0, 1, 2]] * 5
    pair = np.array(true), np.tile([0.9, 0.5, 0.1], (20, 1))
    for both in (pair, pair[::-1]):
        assert first(true, make(both))["P@1"] == 1.0
