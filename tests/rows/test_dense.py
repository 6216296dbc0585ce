"""Dense scores: selecting the best labels where the matrix is gives the same bits as looking at whole rows."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from numba import config
from support.approved import check_lines
from support.pieces import read_in_pieces

import xmceval
from xmceval import DataError
from xmceval.rows.block import Rows, Scratch, SortedRows
from xmceval.rows.matrices import source as matrices
from xmceval.rows.matrices.dense import Dense, select
from xmceval.rows.matrices.storage import BFLOAT16, BFloat16Matrix, rounded
from xmceval.scoring.evaluate import selecting

score_graded = partial(xmceval.score, grades=True)
METRICS = ["P", "nDCG", "PSP", "AP", "RR", "microF1", "P(rel=2)@1", "nDCG(gain=exp)"]
LARGE = () if config.DISABLE_JIT else ((5000, 60),)
DTYPES = ["f4", "f8", "f2", "bfloat16", "i1", "i8", "g"]


def halves(scores):
    """The upper halves of float32 numbers."""
    return BFloat16Matrix((scores.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16))


@pytest.fixture
def stored_as(monkeypatch):
    """Return a function that gives scores a type, bfloat16 too, which numpy alone cannot make."""
    taken = matrices.as_values
    monkeypatch.setattr(matrices, "as_values", lambda v, name: v if isinstance(v, BFloat16Matrix) else taken(v, name))
    return lambda scores, dtype: halves(scores) if dtype == "bfloat16" else scores.astype(dtype)


@pytest.fixture
def whole(monkeypatch):
    """Score without selecting."""

    def score(*args, **options):
        with monkeypatch.context() as patch:
            patch.setattr("xmceval.scoring.evaluate.selecting", lambda source, _: source)
            return content(score_graded(*args, **options))

    return score


def content(result):
    return repr((dict(result), result.estimates, result.counts, result.slices, result.warnings))


def levels(rng, shape, n):
    return rng.integers(-n, n + 1, shape).astype(np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ties", ["label", "expected", "worst"])
def test_selecting_gives_the_same_bits_as_whole_rows(rng, stored_as, whole, dtype, ties):
    for n_labels, n_levels in ((1, 1), (7, 1), (70, 2), (300, 4), (300, 120), *LARGE):
        truth = (rng.random((9, n_labels)) < 0.1) * rng.integers(1, 4, (9, n_labels))
        scores = levels(rng, (9, n_labels), n_levels)
        if not dtype.startswith("i"):
            scores[rng.random(scores.shape) < 0.2] = -np.inf
            scores[0], scores[1, ::2], scores[2] = -np.inf, np.inf, np.inf
            scores[3] = np.where(scores[3] == 0, -0.0, scores[3])
        scores[4], scores[5], scores[6] = 1, np.sort(scores[5]), -np.sort(-scores[6])
        given = stored_as(scores, dtype)
        options = {
            "k": sorted({1, min(5, n_labels), min(60, n_labels)}),
            "metrics": METRICS,
            "ties": ties,
            "grades": True,
        }
        assert content(score_graded(truth, given, **options)) == whole(truth, given, **options)


def test_options_that_act_on_rows_give_the_same_bits(rng, whole):
    truth, scores = sp.csr_array(rng.random((40, 30)) < 0.2).astype(int), levels(rng, (40, 30), 6)
    weights, pairs = rng.integers(0, 3, 40), np.argwhere(rng.random((40, 30)) < 0.1)
    for changes in (
        {"sample_weight": weights},
        {"sample_weight": weights, "ties": "expected"},
        {"by_frequency": 3, "ceiling": True, "empty_rows": "drop"},
        {"filter": pairs},
        {"filter": pairs, "filter_truth": True},
        {"metrics": ["P", "LRAP"]},
        {"metrics": ["P", "macroF1", "coverage"]},
        {"metrics": ["P", "F1_score"], "threshold": 2.0},
        {"duplicates": "max"},
        {"threads": 1},
    ):
        options = {"k": [1, 3], "metrics": METRICS, **changes}
        assert content(score_graded(truth, scores, **options)) == whole(truth, scores, **options)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("ties", ["label", "worst"])
def test_true_labels_in_a_tie_at_the_last_cutoff_are_neither_lost_nor_counted_twice(whole, stored_as, dtype, ties):
    truth = np.array([[0, 0, 0, 1, 0, 1, 1], [0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0]])
    scores = stored_as(np.array([[5.0, 2, 2, 2, 2, 1, 2], [5, 2, 2, 2, 2, 1, 2], [2, 2, 2, 2, 2, 2, 2]]), dtype)
    options = {"k": [1, 3], "metrics": ["P", "nDCG"], "ties": ties}
    found = score_graded(truth, scores, **options)
    assert content(found) == whole(truth, scores, **options)
    assert found.tie_bounds("P@3") == (pytest.approx((0 + 1 / 3 + 0) / 3), pytest.approx((2 / 3 + 2 / 3 + 1) / 3))


@pytest.mark.parametrize("dtype", ["f4", "f2", "bfloat16"])
def test_scores_of_every_row_are_read_as_the_numbers_they_are(rng, stored_as, dtype):
    truth, scores = rng.random((9, 300)) < 0.1, rng.integers(0, 129, (9, 300)) / 128
    options = {"k": [1, 3], "metrics": ["RR@all", "microF1"], "threshold": 0.9}
    assert dict(score_graded(truth, stored_as(scores, dtype), **options)) == dict(
        score_graded(truth, scores, **options)
    )


class Guarded(Scratch):
    """Working arrays that show where a kernel wrote beyond one."""

    def __init__(self):
        super().__init__()
        self.guards = []

    def array(self, name, size, dtype, fill=None):
        array = np.full(size + 4096, 77).astype(dtype)
        self.guards.append(array[size:])
        return array[:size]


def test_true_cells_stay_within_their_arrays(rng):
    scratch, truth = Guarded(), rng.random((3, 2000)) < 0.5
    rows = Dense(truth, are_scores=False).copy_rows(0, 3, scratch)
    assert [*zip(np.repeat(np.arange(3), np.diff(rows.indptr)), rows.indices, strict=True)] == [
        *zip(*np.nonzero(truth), strict=True)
    ]
    assert len(scratch.guards) > 2
    assert all((guard == np.full(1, 77).astype(guard.dtype)).all() for guard in scratch.guards)


def test_dense_shards_of_several_types_are_as_one(rng):
    truth, scores = rng.random((8, 3000)) < 0.4, rng.random((8, 3000))
    parts = [truth[:4], truth[4:].astype(np.int64)]
    found = score_graded(parts, [scores[:4], scores[4:]], k=3, metrics="P", threads=1)
    assert dict(found) == dict(score_graded(truth, scores, k=3, metrics="P"))


def test_labels_omitted_at_the_last_cutoff_are_not_in_an_earlier_tie(whole):
    scores = np.array([[5.0, 5, 5, *[3] * 40]])
    truth = np.array([[2, 2, 2, *[0] * 40]])
    for ties in ("label", "expected", "worst"):
        options = {"k": 5, "metrics": ["P", "P(rel=2)@1"], "ties": ties}
        found = score_graded(truth, scores, **options)
        assert content(found) == whole(truth, scores, **options)
        assert found.tie_bounds("P(rel=2)@1") == (1.0, 1.0)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_every_layout_gives_the_same_bits(rng, dtype):
    truth, scores = rng.random((6, 400)) < 0.1, levels(rng, (6, 400), 50).astype(dtype)

    def same(layout):
        options, given = {"k": [1, 20], "metrics": ["P", "nDCG"]}, layout(scores)
        expected = content(score_graded(truth, np.array(given, dtype), **options))
        assert content(score_graded(truth, given, **options)) == expected

    check_lines(__file__, "layouts.txt", globals() | {"same": same})


def test_read_only_scores_are_scored_like_others(rng):
    truth, scores = rng.random((3, 50)) < 0.2, levels(rng, (3, 50), 9).astype(np.float32)
    expected = score_graded(truth, scores, k=3)
    scores.flags.writeable = False
    assert score_graded(truth, scores, k=3) == expected


def test_a_dense_file_is_read_by_the_same_kernel(rng, whole):
    truth, scores = (rng.random((30, 900)) < 0.02).astype(int), levels(rng, (30, 900), 30).astype(np.float32)
    np.save("dense.npy", scores)
    found = score_graded(truth, "dense.npy", k=[1, 5], metrics=["P", "nDCG"])
    assert content(found) == whole(truth, "dense.npy", k=[1, 5], metrics=["P", "nDCG"])
    assert dict(found) == dict(score_graded(truth, scores, k=[1, 5], metrics=["P", "nDCG"]))


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "bfloat16"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("label", [0, 3, 255, 256, 4200, 4999])
def test_nan_has_its_place(rng, stored_as, dtype, label, sign):
    scores = levels(rng, (5, 5000), 100)
    scores[3, [label, 4999]] = np.copysign(np.nan, sign)
    with pytest.raises(
        DataError, match=rf"^y_score row 3: the score value of label {label} is NaN; expected a number$"
    ):
        score_graded(np.ones((5, 5000), np.int8), stored_as(scores, dtype), k=5, metrics="P")


def test_every_faulty_row_is_reported(rng):
    scores = levels(rng, (5, 50), 100)
    scores[1, 4] = scores[3, 9] = np.nan
    with pytest.raises(DataError, match=r"(?s)row 1: .* of label 4 is NaN.*\ny_score row 3: .* of label 9 is NaN"):
        score_graded(np.ones((5, 50), int), scores, k=5, metrics="P")


def test_the_matrix_is_not_copied(rng):
    truth, scores = sp.eye(64, 50_000, format="csr"), rng.random((64, 50_000), np.float32)
    score_graded(truth, scores, k=5, metrics="P")
    tracemalloc.start()
    score_graded(truth, scores, k=5, metrics="P")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < scores.nbytes / 8


def test_the_best_of_many_are_selected_from_scores_in_any_order():
    n_labels, depth = 6_000 if config.DISABLE_JIT else 60_000, 500
    rising = np.arange(n_labels, dtype=np.float64)
    orders = {
        "rising": rising,
        "falling": -rising,
        "equal": np.ones(n_labels),
        "organ pipe": -np.abs(rising - n_labels / 2),
        "two values": rising % 2,
        "one too many": np.where(np.abs(rising - n_labels + depth) <= 1, n_labels - depth, rising),
        "falling, with gaps": np.where(rising % 3 < 2, -rising, -np.inf),
    }
    scores, ends = np.stack([*orders.values()]), np.arange(len(orders) + 1) * depth
    none = Rows(np.zeros_like(ends), np.empty(0, np.int64), np.empty(0))
    (indptr, labels, values), n_scored, omitted = select(scores, slice(0, 7), depth, none, Scratch(), np.full(2, -1))
    assert indptr.tolist() == ends.tolist()
    assert np.diff(n_scored).tolist() == np.count_nonzero(scores > -np.inf, axis=1).tolist()
    for order, row, start, n_omitted in zip(orders, scores, ends, omitted, strict=False):
        best = np.argsort(-row, kind="stable")[:depth]
        assert labels[start:][:depth].tolist() == best.tolist(), order
        assert values[start:][:depth].tolist() == row[best].tolist(), order
        last = row[best[-1]]
        n_tied = np.count_nonzero(row == last) - np.count_nonzero(row[best] == last)
        assert n_omitted == (n_tied if row[best[-2]] == last else 0), order


def test_large_blocks_are_split_evenly(rng, monkeypatch):
    truth, scores = rng.random((50, 20)) < 0.2, levels(rng, (50, 20), 9)
    expected = content(score_graded(truth, scores, k=3, metrics=["P", "nDCG"]))
    read_in_pieces(monkeypatch, selected=60)
    assert content(score_graded(truth, scores, k=3, metrics=["P", "nDCG"])) == expected


def test_scores_make_more_than_a_usual_block_where_they_are_read_without_a_copy(monkeypatch):
    read_in_pieces(monkeypatch, entries=5)
    as_they_are = np.zeros((6, 5)), np.zeros((6, 8))[:, :5], np.zeros((5, 6)).T[:, :1], np.zeros((12, 5))[::2]
    copied = np.zeros((5, 6)).T, np.zeros((6, 10))[:, ::2], np.zeros((6, 5))[::-1], np.zeros((6, 5), dtype=">f8")
    for n_blocks, layouts in ((1, as_they_are), (6, copied)):
        for values in layouts:
            assert len([*selecting(matrices.as_scores(values), 2).blocks()]) == n_blocks


@pytest.mark.parametrize(
    ("number", "expected"),  # the second is halfway: the even one
    [(0.7, 0.69921875), (1.00390625, 1.0), (1.01171875, 1.015625), (-np.inf, -np.inf), (1e300, np.inf)],
)
def test_a_threshold_is_rounded_as_bfloat16_is(number, expected):
    assert rounded(number, BFLOAT16) == expected


TRUTH_DTYPES = ("bool", "int8", "uint16", "int64", "float16", "float32", "float64")


@pytest.mark.parametrize("dtype", TRUTH_DTYPES)
@pytest.mark.parametrize("width", [1, 63, 64, 200])
def test_true_cells_are_those_that_are_not_zero(rng, dtype, width):
    values = (rng.random((30, width)) < rng.choice([0.02, 0.5, 1])).astype(dtype)
    if values.dtype.kind == "f":
        values[values == 0] = rng.choice([0.0, -0.0], int((values == 0).sum()))
        values[3, 0] = np.nan
    if dtype != "bool":
        values[values == 1] *= np.dtype(dtype).type(3)
    for layout in (values, values[::2], np.asfortranarray(values), np.pad(values, ((0, 0), (2, 1)))[:, 2:-1]):
        found, expected = (
            Dense(layout, are_scores=False).copy_rows(1, len(layout), Scratch()),
            sp.csr_matrix(layout[1:] != 0),
        )
        assert (found.indptr == expected.indptr).all()
        assert (found.indices == expected.indices).all()
        stored = layout[1:][np.nonzero(layout[1:])]
        assert np.array_equal(found.values, stored.astype(float), equal_nan=True)
        if layout is values:
            assert isinstance(found, SortedRows) == bool((stored == stored).all())  # not NaN
            assert not isinstance(found, SortedRows) or found.has_only_ones == bool((stored == 1).all())


def test_room_for_true_cells_grows_and_stays():
    scratch, full = Scratch(), Dense(np.ones((50, 300), dtype=np.int32), are_scores=False)
    for _ in range(2):
        assert (full.copy_rows(0, 50, scratch).indices == np.tile(np.arange(300), 50)).all()
