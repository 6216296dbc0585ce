"""Arrays of other libraries through DLPack, on devices too, and lists of labels in memory."""

import numpy as np
import pytest
from support.judged import METRICS, estimates

import xmceval
from xmceval import DataError

N_ROWS, N_LABELS = 12, 9
CPU, CUDA = 1, 2  # DLPack's numbers


@pytest.fixture
def scores(rng):
    return rng.permuted(np.tile(np.arange(1.0, N_LABELS + 1), (N_ROWS, 1)), axis=1)


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


@pytest.mark.parametrize("kind", [OnDevice, OnlyArray, Exporter])
@pytest.mark.parametrize("metrics", [METRICS, ["LRAP", "AUC"]])
def test_arrays_of_other_libraries_give_the_same_bits(truth, scores, kind, metrics):
    expected = estimates(truth, scores, metrics=metrics)
    assert estimates(kind(truth), scores, metrics=metrics) == expected
    assert estimates(truth, kind(scores), metrics=metrics) == expected
    labels = np.argsort(-scores, axis=1, kind="stable")
    values = np.take_along_axis(scores, labels, axis=1)
    if metrics == METRICS:
        assert estimates(truth, (kind(labels), kind(values))) == expected
        weights = np.arange(1.0, N_ROWS + 1)
        assert estimates(truth, scores, sample_weight=kind(weights)) == estimates(truth, scores, sample_weight=weights)


def test_rows_leave_a_device_block_by_block(truth, scores, monkeypatch):
    monkeypatch.setattr("xmceval.rows.matrices.dense.DEVICE_ENTRIES", 3 * N_LABELS)
    device = OnDevice(scores)
    assert estimates(truth, device) == estimates(truth, scores)
    assert sum(device.copied) == N_ROWS + 2  # one to find out the type, and one that could be a ranking
    assert max(device.copied) == 3


def test_a_device_that_is_gone_is_an_error_of_the_input(truth, scores):
    with pytest.raises(DataError) as error:
        estimates(truth, OnDevice(scores, is_gone=True))
    assert str(error.value) == (
        "y_score: cannot be copied from its device (cudaErrorDevicesUnavailable: the device is gone) "
        "(hint: pass it as an array of numpy)"
    )


def test_pairs_are_read_in_either_order(truth, scores):
    labels = np.argsort(-scores, axis=1, kind="stable")
    values = np.take_along_axis(scores, labels, axis=1)
    expected = estimates(truth, scores)
    assert estimates(truth, (labels, values)) == estimates(truth, (values, labels)) == expected
    assert estimates(truth, (values.tolist(), labels.tolist())) == expected
    assert estimates(truth, (labels, values.astype(int))) == expected  # integers twice: labels and scores
    with pytest.raises(DataError, match=r"y_score: both arrays of the pair have integers"):
        estimates(truth, (Exporter(labels), Exporter(values.astype(int))))


def test_a_pair_is_one_system_of_a_comparison_and_two_matrices_are_two_runs(truth, scores):
    labels = np.argsort(-scores, axis=1, kind="stable")
    values = np.take_along_axis(scores, labels, axis=1)
    for pair in ((labels, values), (values, labels), [values, labels]):
        compared = xmceval.compare(truth, {"A": pair, "B": scores}, k=1, metrics="P")
        assert [system.name for system in compared.results] == ["A", "B"]
        assert compared.results[0]["P@1"] == compared.results[1]["P@1"]
    compared = xmceval.compare(truth, {"A": [scores, -scores], "B": 2 * scores}, k=1, metrics="P")
    assert [system.name for system in compared.results] == ["A (1)", "A (2)", "B"]


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
    assert estimates(labels, scores, n_labels=N_LABELS) == estimates(matrix, scores)
    assert estimates(matrix.tolist(), scores, n_labels=N_LABELS) == estimates(matrix, scores)
    padded = [[*row, -1, -1][: 2 + i % 3] for i, row in enumerate(labels)]
    assert estimates(padded, scores) == estimates(matrix, scores)


def test_no_labels_at_all_are_lists_too(scores):
    assert estimates([[]] * N_ROWS, scores, n_labels=N_LABELS, metrics="P")["P@1"].value == 0
    assert estimates([[], *[[3]] * (N_ROWS - 1)], scores, metrics="R")["R@3"].value > 0


def test_ranked_labels_are_predictions(truth, scores):
    order = np.argsort(-scores, axis=1, kind="stable")
    falling = np.tile(np.arange(5.0, 0, -1), (N_ROWS, 1))
    expected = estimates(truth, (order[:, :5], falling))
    assert estimates(truth, order[:, :5]) == expected
    assert estimates(truth, order[:, :5].tolist()) == expected
    assert estimates(truth, [row[:5].astype(np.int16) for row in order]) == expected
    ragged = [row[: i % 6].tolist() for i, row in enumerate(order)]
    padded = np.array([[*row, *[-1] * (6 - len(row))] for row in ragged])
    assert estimates(truth, ragged) == estimates(truth, padded)


@pytest.mark.parametrize("dtype", ["u1", "u4", "u8"])
def test_ids_of_labels_may_be_unsigned(truth, scores, dtype, tmp_path):
    order = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    np.save(tmp_path / "ranked.npy", order.astype(dtype))
    expected = estimates(truth, order)
    assert estimates(truth, order.astype(dtype)) == expected
    assert estimates(truth, tmp_path / "ranked.npy") == expected


WRONG = {
    "fractions": ([[0.5, 1], [1], *[[0]] * 10], r"y_true: expected a matrix, or lists of labels, .* of float64"),
    "words": ([["a", "b"], ["c"], *[["d"]] * 10], r"y_true: expected a matrix, or lists of labels, .* of <U1"),
    "a negative label": ([[0, -2], [1], *[[0]] * 10], "y_true row 0: label -2 is negative"),
    "a label too large": ([[0, 1], [9], *[[0]] * 10], "y_true row 1: label 9 is outside 0..8"),
    "a label twice": ([[0, 1], [2, 2], *[[0]] * 10], "y_true row 1: label 2 appears twice"),
    "too few rows": ([[0, 1], [2]], "y_true has 2 rows, y_score has 12 rows"),
    "matrices in lists": ([[[0, 1]], [[2]], *[[[0]]] * 10], "y_true"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_lists_are_refused_with_place_and_cause(scores, wrong):
    lists, message = WRONG[wrong]
    with pytest.raises(DataError, match=message):
        estimates(lists, scores, metrics="P", n_labels=N_LABELS)


def test_integers_that_cannot_be_labels_are_scores_of_another_width(truth):
    for wrong in (np.ones((N_ROWS, 5), dtype=int), np.full((N_ROWS, 5), 40) + np.arange(5)):
        with pytest.raises(DataError, match="y_score has 5 columns, but y_true has 9 labels"):
            estimates(truth, wrong)


def test_arrays_of_jax_give_the_same_bits(truth, scores):
    jax = pytest.importorskip("jax")
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
