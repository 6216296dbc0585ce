"""Matrices and lists in memory: every kind gives the same bits, none is written to, and errors have their place."""
# ruff: noqa: F401 - lines use what is imported here

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from judge import naive
from support.approved import check_lines
from support.judged import estimates
from support.pieces import read_in_pieces
from support.strategies import to_rows

import xmceval
from xmceval import DataError

compare_graded = partial(xmceval.compare, grades=True)
score_graded = partial(xmceval.score, grades=True)
first = partial(score_graded, metrics="P", k=1)
N_ROWS, N_LABELS, K = 12, 9, 3
CPU, CUDA = 1, 2  # DLPack's numbers


def judged(truth, scores):
    """Return the same of dense arrays, compared with the judge."""
    found, rows = estimates(truth, scores), (to_rows(truth), to_rows(scores))
    inverse = naive.inverse_propensities(naive.label_counts(rows[0], N_LABELS), N_ROWS, 0.55, 1.5)
    for name, estimate in found.items():
        metric, _, k = name.partition("@")
        expected = naive.evaluate(metric, int(k), {}, *rows, inverse)
        assert estimate.value == pytest.approx(expected, rel=1e-12), name
    return found


def unsorted(matrix):
    """The same rows as CSR, each backwards."""
    csr = sp.csr_matrix(matrix)
    order = np.concatenate([np.arange(i, j)[::-1] for i, j in zip(csr.indptr[:-1], csr.indptr[1:], strict=True)])
    return sp.csr_matrix((csr.data[order], csr.indices[order], csr.indptr), shape=csr.shape)


def wide_indices(matrix, dtype):
    csr = sp.csr_matrix(matrix)
    csr.indptr, csr.indices = csr.indptr.astype(dtype), csr.indices.astype(dtype)
    return csr


def read_only(matrix):
    for array in (matrix.data, matrix.indices, matrix.indptr) if sp.issparse(matrix) else (matrix,):
        array.flags.writeable = False
    return matrix


class DLPack:
    """What another library's array looks like."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class OnDevice:
    """What an array of CuPy looks like: DLPack of another device, `get`, and no silent conversion."""

    def __init__(self, array, *, is_gone=False):
        self._array, self._is_gone = array, is_gone
        self.shape, self.dtype = array.shape, array.dtype
        self.copied = []

    def __dlpack__(self, **options):
        raise BufferError("cannot export memory of a CUDA device")

    def __dlpack_device__(self):
        return CUDA, 0

    def __array__(self, *args, **options):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __getitem__(self, rows):
        part = OnDevice(self._array[rows], is_gone=self._is_gone)
        part.copied = self.copied
        return part

    def get(self):
        if self._is_gone:
            raise RuntimeError("cudaErrorDevicesUnavailable: the device is gone\nmore lines")
        self.copied.append(len(self._array))
        return self._array


class OnlyArray(OnDevice):
    """What an array of JAX on a device looks like: it converts to numpy."""

    get = property()

    def __array__(self, *args, **options):
        return self._array


class Exporter:
    """An array in memory that numpy cannot take through DLPack, such as one of bfloat16."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        raise BufferError("Unsupported dtype in DLTensor.")

    def __dlpack_device__(self):
        return CPU, 0

    def __array__(self, *args, **options):
        return self._array


def as_pairs(scores, width=N_LABELS):
    """Return labels by score, in an order of their own, and the scores, padded with -1."""
    labels = np.argsort(-scores, axis=1, kind="stable")[:, ::-1]
    values = np.take_along_axis(scores, labels, axis=1)
    padding = ((0, 0), (0, width - scores.shape[1]))
    return np.pad(labels, padding, constant_values=-1), np.pad(values, padding, constant_values=np.nan)


def rank(scores):
    return np.argsort(-scores, axis=1, kind="stable")


def test_every_kind_of_matrix_gives_the_same_bits(truth, scores, alike):
    assert judged(truth, scores)
    check_lines(__file__, "matrices alike.txt", globals() | {"alike": alike})


def test_boolean_truth_and_scores_are_numbers(truth, scores):
    assert estimates(truth > 0, scores) == judged((truth > 0).astype(int), scores)
    stored = (scores > 20).astype(float)
    assert estimates(truth, scores > 20) == estimates(truth, stored)
    hits = np.take_along_axis(truth > 0, np.argsort(-stored, axis=1, kind="stable")[:, :K], axis=1)
    assert estimates(truth, scores > 20)[f"P@{K}"].value == pytest.approx(hits.mean())


@pytest.mark.parametrize("block_entries", [1, 1 << 17])
@pytest.mark.parametrize("dtype", ["i8", "u8", "g"])
def test_scores_that_float64_would_round_keep_their_order(monkeypatch, dtype, block_entries):
    read_in_pieces(monkeypatch, entries=block_entries)
    if dtype == "g" and np.finfo("g").nmant <= 52:
        pytest.skip("long double is double here")
    top = np.array(2**62, dtype=dtype)
    steps = np.array([[0, 1, 2], [2, 1, 0], [1, 2, 0]], dtype=dtype)
    wide, truth = top + steps, np.eye(3, dtype=int)
    for make in (np.asarray, sp.csr_matrix) if dtype != "g" else (np.asarray,):
        found = estimates(truth, make(wide))
        assert found == estimates(truth, steps.astype(float) + 1)
        assert (found["P@1"].value, found["P@3"].value) == pytest.approx((0.0, 1 / 3))
        assert not any(first(truth, make(wide)).counts.tied_rows.values())
    if dtype == "i8":
        assert estimates(truth, -wide) == estimates(truth, -steps.astype(float))


def test_rows_leave_a_device_block_by_block(truth, scores, monkeypatch):
    read_in_pieces(monkeypatch, copied=3 * N_LABELS)
    device = OnDevice(scores)
    assert estimates(truth, device) == estimates(truth, scores)
    assert sum(device.copied) == N_ROWS + 2  # one to find out the type, and one that could be a ranking
    assert max(device.copied) == 3


def test_the_error_of_a_device_that_is_gone_has_its_cause(truth, scores):
    with pytest.raises(DataError) as error:
        first(truth, OnDevice(scores, is_gone=True))
    assert str(error.value.__cause__).startswith("cudaErrorDevicesUnavailable: the device is gone\n")


@pytest.mark.parametrize("width", [N_LABELS, N_LABELS + 4])
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
def test_pairs_give_the_same_bits_in_either_order_and_are_not_written_to(truth, scores, dtype, width):
    labels, values = as_pairs(scores, width)
    labels, expected = labels.astype(dtype), judged(truth, scores)
    before = labels.tobytes(), values.tobytes()
    assert estimates(truth, (labels, values)) == estimates(truth, (values, labels)) == expected
    assert estimates(truth, (values.tolist(), labels.tolist())) == expected
    assert estimates(truth, (np.asfortranarray(labels), DLPack(values.copy()))) == expected
    assert estimates(truth, tuple(np.roll(each, 4, axis=1) for each in (labels, values))) == expected
    assert (labels.tobytes(), values.tobytes()) == before


def test_labels_of_pairs_may_be_unsigned_and_scores_whole(truth, scores):
    labels, values = as_pairs(scores)
    assert estimates(truth, (labels.astype("u8"), values)) == judged(truth, scores)
    assert estimates(truth, (labels, values.astype(int))) == judged(truth, scores)  # labels and scores


def test_a_pair_is_one_system_of_a_comparison_and_two_matrices_are_two_runs(truth, scores):
    labels, values = as_pairs(scores)
    for pair in ((labels, values), (values, labels), [values, labels]):
        compared = compare_graded(truth, {"A": pair, "B": scores}, k=1, metrics="P")
        assert [system.name for system in compared.results] == ["A", "B"]
        assert compared.results[0]["P@1"] == compared.results[1]["P@1"]
    compared = compare_graded(truth, {"A": [scores, -scores], "B": 2 * scores}, k=1, metrics="P")
    assert [system.name for system in compared.results] == ["A (1)", "A (2)", "B"]


def test_stored_zeros_are_predictions_and_minus_infinity_in_a_dense_row_is_none(truth, scores):
    scores[:, 4] = 0
    stored = sp.csr_matrix(scores + 1)
    stored.data -= 1
    assert stored.nnz == scores.size
    assert estimates(truth, stored) == estimates(truth, scores)
    scores[:, 4] = -np.inf
    assert score_graded(truth, scores, metrics="P").counts.n_predictions == N_ROWS * (N_LABELS - 1)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.lil_matrix, unsorted, np.asarray])
def test_arguments_are_not_written_to(truth, scores, make):
    truth[0, :2] = 0
    given = [make(truth), make(scores)]
    arrays = [
        array
        for matrix in given
        for array in (
            [v for v in vars(matrix).values() if isinstance(v, np.ndarray)] if sp.issparse(matrix) else [matrix]
        )
    ]
    assert arrays
    before = [array.tobytes() for array in arrays]
    flags = [getattr(each, "has_sorted_indices", None) for each in given]
    estimates(*given)
    assert [array.tobytes() for array in arrays] == before
    assert [getattr(each, "has_sorted_indices", None) for each in given] == flags


# Lists


ROWS = {
    "lists": list,
    "tuples": tuple,
    "sets": set,
    "arrays": lambda row: np.array(row, dtype=np.int32),
    "exporters": lambda row: np.array(row, dtype=np.uint16),
}


@pytest.mark.parametrize("kind", ROWS)
def test_lists_of_labels_are_truth(truth, scores, kind):
    labels = [np.flatnonzero(row).tolist() for row in truth]
    expected = estimates(truth > 0, scores)
    assert estimates([ROWS[kind](row) for row in labels], scores, n_labels=N_LABELS) == expected
    assert estimates([ROWS[kind](row) for row in labels], scores) == expected
    assert estimates(truth, scores, train=labels) == estimates(truth, scores, train=truth > 0)


def test_lists_of_one_length_are_labels_where_the_width_is_another(scores):
    labels = [[i % N_LABELS, (i + 4) % N_LABELS] for i in range(N_ROWS)]
    matrix = np.zeros((N_ROWS, N_LABELS), dtype=int)
    matrix[np.arange(N_ROWS)[:, None], labels] = 1
    assert estimates(labels, scores, n_labels=N_LABELS, grades=False) == estimates(matrix, scores)
    assert estimates(matrix.tolist(), scores, n_labels=N_LABELS) == estimates(matrix, scores)
    padded = [[*row, -1, -1][: 2 + i % 3] for i, row in enumerate(labels)]
    assert estimates(padded, scores, grades=False) == estimates(matrix, scores)


def test_no_labels_at_all_are_lists_too(scores):
    assert estimates([[]] * N_ROWS, scores, n_labels=N_LABELS, metrics="P")["P@1"].value == 0
    assert estimates([[], *[[3]] * (N_ROWS - 1)], scores, metrics="R")["R@3"].value > 0


def test_ranked_labels_are_predictions(truth, scores):
    order = rank(scores)
    best, expected = order[:, :5], estimates(truth, (order[:, :5], np.tile(np.arange(5.0, 0, -1), (N_ROWS, 1))))
    for ranked in (best, best.tolist(), [row.astype(np.int16) for row in best], *map(best.astype, ("u1", "u4", "u8"))):
        assert estimates(truth, ranked) == expected
    np.save("ranked.npy", best.astype("u4"))
    assert estimates(truth, "ranked.npy") == expected
    ragged = [row[: i % 6].tolist() for i, row in enumerate(order)]
    padded = np.array([[*row, *[-1] * (6 - len(row))] for row in ragged])
    assert estimates(truth, ragged) == estimates(truth, padded)


def test_arrays_of_jax_give_the_same_bits(truth, scores):
    jax, scores = pytest.importorskip("jax"), scores // 4 + 1  # which float8 holds
    expected, array = estimates(truth, scores), jax.numpy.asarray(scores)
    for dtype in ("float32", "float16", "bfloat16", "float8_e4m3fn", "int32", "int8"):
        assert estimates(truth, jax.numpy.asarray(scores, dtype=dtype)) == expected, dtype
        assert estimates(jax.numpy.asarray(truth, dtype=dtype), scores) == expected, dtype
    for dtype in ("float32", "bfloat16"):
        top = jax.lax.top_k(jax.numpy.asarray(scores, dtype=dtype), N_LABELS)
        assert estimates(truth, top) == estimates(truth, tuple(top)) == expected
    assert estimates(truth, list(array)) == expected
    assert estimates([jax.numpy.asarray(np.flatnonzero(row)) for row in truth], scores) == estimates(truth > 0, scores)
    with pytest.raises(DataError, match="y_score row 3: the score value of label 4 is NaN"):
        estimates(truth, jax.numpy.asarray(scores, dtype="bfloat16").at[3, 4].set(np.nan))
    with pytest.raises(DataError, match="y_score: expected numbers, got dtype complex64"):
        estimates(truth, array.astype("complex64"))
    with pytest.raises(DataError, match="both arrays of the pair have integers"):
        estimates(truth, jax.lax.top_k(array.astype("int32"), 3))


# Shapes


@pytest.mark.parametrize("make", [np.zeros, sp.csr_matrix], ids=["dense", "sparse"])
def test_no_rows_give_no_interval(make):
    result = first(make((0, 5)), make((0, 5)))
    assert result.counts.n_instances == 0
    assert np.isnan(result.interval("P@1")).all()


# What is wrong


def with_(matrix, row, label, value):
    changed = np.array(matrix, dtype=np.float64)
    changed[row, label] = value
    return changed


def coo_in_row(row):
    coo = sp.coo_matrix((np.ones(4), ([0, 0, 2, 2], [3, 1, 0, 1])), shape=(3, 4))
    coo.row[1] = row
    return coo


@pytest.mark.parametrize("block_entries", [1, 1 << 17])
def test_what_is_wrong_is_reported_with_place_cause_and_hint(monkeypatch, truth, scores, block_entries):
    read_in_pieces(monkeypatch, entries=block_entries)

    def y_true(make):
        changed = make(truth)
        return first(changed, scores, n_labels=N_LABELS if isinstance(changed, list) else None)

    def y_score(make):
        changed = make(scores)
        return first(truth, changed, n_labels=N_LABELS if isinstance(changed, list) else None)

    def both(make):
        with pytest.raises(DataError) as of_truth:
            y_true(make)
        with pytest.raises(DataError) as of_scores:
            y_score(make)
        return f"{of_truth.value}\n{of_scores.value}"

    check_lines(__file__, "matrices.txt", globals() | locals())


def test_a_sparse_array_of_one_dimension_is_refused(truth, scores):
    row = sp.coo_array(scores[0])
    if row.ndim == 2:
        pytest.skip("scipy before 1.13 has none")
    for inputs in ((row, scores), (truth, row)):
        with pytest.raises(DataError, match=r"expected a matrix .*got 1 dimension"):
            first(*inputs)


@pytest.mark.parametrize("k", [2, 2.0, "2", np.int64(2), np.array(2), [2], (2,), {2}, np.array([2]), range(2, 3)])
def test_a_whole_number_of_any_type_is_a_cutoff(truth, scores, k):
    assert list(score_graded(truth, scores, metrics="P", k=k)) == ["P@2"]


def test_wide_integers_keep_their_sign():
    wide = np.array([[-(2**60) - 1, -(2**60), -5, 0], [2**60 + 1, 2**60, 0, 5]], np.int64)
    y_true, options = (
        np.array([[0, 1, 0, 1], [1, 0, 0, 0]]),
        {"metrics": ["LRAP", "coverage_error"], "unscored": "zero"},
    )
    result = score_graded(y_true, sp.csr_array(wide), **options)
    assert (result["LRAP"], result["coverage_error"]) == pytest.approx((11 / 12, 2.0))


@pytest.mark.parametrize(
    ("metric", "weight", "is_named"),
    [("P", 1e-10, 1), ("P", 1e-8, 0), ("macroF1", 1e-8, 1), ("macroAUC", 1e-8, 1), ("macroF1", 1e-5, 0)],
)
def test_weights_that_are_lost_beside_the_largest_are_named(metric, weight, is_named):
    result = score_graded(np.eye(3), np.eye(3), k=1, metrics=metric, sample_weight=[1, weight, 1])
    expected = f"the smallest weight is {weight:.1g} of the largest"
    assert any(expected in warning for warning in result.warnings) == is_named


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda scores: (np.tile([0, 1], (2, 1)), scores)])
def test_a_score_of_any_type_is_at_least_itself(dtype, form):
    scores = np.array([[0.7, 0.2], [0.1, 0.7]], dtype=dtype)
    for number in (0.7, 0.1, 1e300, -1e300):
        with np.errstate(over="ignore"):
            expected = np.trace(scores >= np.asarray(number).astype(dtype)) / 2
        found = score_graded(np.eye(2), form(scores), threshold=number, metrics="recall_score")
        assert found["recall_score"] == expected


def test_a_score_of_a_file_is_at_least_itself():
    scores = np.array([[0.7, 0.2], [0.1, 0.7]], dtype=np.float32)
    np.save("dense.npy", scores)
    sp.save_npz("scores.npz", sp.csr_matrix(scores))
    sp.save_npz("by_label.npz", sp.csc_matrix(scores))
    np.save("X-labels.npy", np.tile([0, 1], (2, 1)))
    np.save("X-scores.npy", scores)
    for name in ("dense.npy", "scores.npz", "by_label.npz", "X"):
        found = score_graded(np.eye(2), name, threshold=0.7, metrics="recall_score", duplicates="max")
        assert found["recall_score"] == 1.0, name


@pytest.mark.parametrize("form", ["coo", "csr", "csc", "bsr"])
@pytest.mark.parametrize("role", ["y_true", "y_score", "train"])
def test_duplicates_of_any_format_keep_their_largest_value(form, role):
    by_row = sp.csr_array(([3.0, 5, 1, 1, 2, 4], [1, 1, 2, 0, 4, 0], [0, 2, 3, 6, 6, 6, 6]), shape=(6, 6))
    twice = by_row.tobsr(blocksize=(1, 1)) if form == "bsr" else by_row.asformat(form)
    if form == "coo":  # not in the order of rows
        twice = sp.coo_array((by_row.data[::-1], (twice.row[::-1], twice.col[::-1])), shape=(6, 6))
    assert twice.nnz == 6
    largest = sp.csr_array(([5.0, 1, 4, 2], ([0, 1, 2, 2], [1, 2, 0, 4])), shape=(6, 6))
    inputs = {"y_true": np.eye(6), "y_score": np.eye(6)[::-1], "train": np.eye(6)}
    options = {"metrics": ["nDCG", "PSP", "AP"], "k": 2}
    with pytest.raises(DataError, match=f"{role} row [02]: label [01] appears twice in this row"):
        score_graded(**{**inputs, role: twice}, **options)
    found = score_graded(**{**inputs, role: twice}, **options, duplicates="max")
    assert dict(found) == dict(score_graded(**{**inputs, role: largest}, **options))


class OlderArrow:
    """An array whose type DLPack lacks, in the way of pyarrow 18."""

    def __init__(self, values, error):
        self.values, self.error = values, error

    def __dlpack_device__(self):
        raise self.error("the type is not supported by DLPack")

    __dlpack__ = __dlpack_device__

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)

    def __len__(self):
        return len(self.values)


@pytest.mark.parametrize("error", [BufferError, RuntimeError, TypeError])
def test_an_array_whose_type_has_no_device_is_read_by_numpy_or_refused(error):
    eye = np.eye(3)
    assert first(eye, OlderArrow(eye, error))["P@1"] == 1.0
    weights = OlderArrow([1.0, 2.0, 3.0], error)
    assert first(eye, eye, sample_weight=weights)["P@1"] == 1.0
    assert xmceval.inverse_propensity(OlderArrow([1, 2], error), 5).tolist() == (
        xmceval.inverse_propensity(np.array([1, 2]), 5).tolist()
    )
    texts = OlderArrow(np.array([["a", "b"]] * 3, dtype=object), error)
    for use in (
        lambda: first(eye, texts),
        lambda: first(texts, eye),
        lambda: xmceval.roc_auc_score(eye, texts),
        lambda: first(eye, eye, sample_weight=texts),
    ):
        with pytest.raises(xmceval.XmcevalError):
            use()


def test_decisions_on_two_labels_are_scores():
    decisions = np.array([[0, 1], [1, 0], [1, 0]])  # each row is also a ranking of both labels
    assert xmceval.score([[1], [0], [1]], decisions, metrics="P", k=1, n_labels=2)["P@1"] == pytest.approx(2 / 3)
