"""The Evaluator: what it takes, refuses and keeps; that it gives the bits of one score is in test_ways."""

import itertools
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from support import graded
from support.graded import N_LABELS, SOME, TRAINING, graded_rows
from support.pieces import read_in_pieces
from support.states import forge, unpack

import xmceval
from xmceval import DataError, UsageError

EYE = np.eye(3)


def update_all(evaluator, matrices, ends):
    for start, stop in itertools.pairwise(ends):
        evaluator.update(*(matrix[start:stop] for matrix in matrices))
    return evaluator


def copied(evaluator):
    return pickle.loads(pickle.dumps(evaluator))


def test_a_file_is_replaced_and_says_what_it_is_of(tmp_path):
    graded.Evaluator(metrics="P").save("a.state")
    case, options = graded_rows(5, 30), {"metrics": SOME, **TRAINING}
    evaluator = update_all(graded.Evaluator(**options), case, [0, 4, 11])
    evaluator.save("a.state")
    assert [path.name for path in tmp_path.iterdir()] == ["a.state"]
    head, _ = unpack(Path("a.state").read_bytes())
    assert (head["schema"], head["version"], head["n_labels"]) == ("xmceval/state/7", xmceval.__version__, N_LABELS)
    for copy in (copied(evaluator), xmceval.Evaluator.load("a.state")):
        assert copy.result() == evaluator.result()
        assert update_all(copy, case, [11, 30]).result() == graded.score(*case, **options)
    assert evaluator.result().counts.n_instances == 11


FILTER = np.array([[3, 4], [17, 7], [29, 1]])


def test_rows_of_a_filter_are_counted_over_all_batches_and_files_do_not_have_its_pairs():
    case, options = graded_rows(7, 30), {"metrics": ["P", "LRAP"], "filter": FILTER, "filter_truth": True}
    whole, path = graded.score(*case, **options), "a.state"
    evaluator = update_all(graded.Evaluator(**options), case, [0, 10, 10, 20])  # the second batch is empty
    with pytest.raises(DataError, match=r"filter\[2\]: row 29 is outside 0\.\.19"):
        evaluator.result()
    evaluator = copied(evaluator)
    assert update_all(evaluator, case, [20, 30]).result() == whole
    evaluator.save(path)
    loaded = xmceval.Evaluator.load(path)
    assert loaded.result() == whole
    assert loaded.merge(xmceval.Evaluator.load(path)).result().counts.n_instances == 60


def test_duplicates_are_counted_over_all_batches():
    labels, scores = np.array([[1, 1, 2], [0, 2, -1], [3, 3, 3]]), np.array([[0.5, 0.7, 0.6], [1, 2, 0], [1, 2, 3]])
    truth, options = np.eye(3, 5), {"metrics": "P", "k": 1, "duplicates": "max"}
    evaluator = graded.Evaluator(**options)
    for i in range(3):
        evaluator.update(truth[i : i + 1], (labels[i : i + 1], scores[i : i + 1]))
    whole = graded.score(truth, (labels, scores), **options)
    assert any("3 duplicate entries" in warning for warning in whole.warnings)
    expected = [each.replace("y_score[0]", "y_score") for each in whole.warnings]
    assert expected == list(evaluator.result().warnings)
    other = graded.Evaluator(**options).merge(evaluator)
    assert expected == list(copied(other).result().warnings)


def test_duplicates_in_the_shards_of_a_batch_are_counted():
    twice = sp.csr_matrix((np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    for labels in (None, list("abc")):
        evaluator = xmceval.Evaluator(metrics="P", k=1, duplicates="max", labels=labels)
        for matrix in (twice, [twice, twice], twice):
            evaluator.update(matrix, matrix)
        for name in ("y_true", "y_score"):
            assert any(line.startswith(f"{name}: dropped 8 duplicate entries") for line in evaluator.result().warnings)


def test_a_threshold_is_rounded_to_the_type_of_the_scores_in_every_batch():
    case = np.eye(4), np.where(np.eye(4), 0.7, 0.5).astype(np.float32)
    options = {"metrics": "precision_score,recall_score", "threshold": 0.7}
    evaluator = copied(update_all(graded.Evaluator(**options), case, [0, 1]))
    assert update_all(evaluator, case, [1, 4]).result() == graded.score(*case, **options)
    assert (evaluator.result()["recall_score"], evaluator.result()["precision_score"]) == (1.0, 1.0)


def bad_batches():
    truth, scores = graded_rows(9, 8)
    nan = scores.copy()
    nan.data[-1] = np.nan
    graded = truth * 3
    return {
        "nan": (truth, nan, r"batch 3, y_score row 7: the score value of label \d+ is NaN"),
        "grades": (graded, scores, "batch 3, y_true row .: a grade is above the greatest of ERR"),
        "rows": (truth, scores[:7], "y_true of batch 3 has 8 rows, y_score of batch 3 has 7 rows"),
        "labels": (truth[:, :9], scores[:, :9], "y_true of batch 3 has 9 labels, but counts has 12 labels"),
        "columns": (truth, scores[:, :9], "y_score of batch 3 has 9 columns"),
        "negative": (-1 * truth, scores, "batch 3, y_true row .: the truth value of label"),
        "outside": (truth, (np.full((8, 2), 12), np.ones((8, 2))), r"batch 3, y_score\[0\] row 0: label 12 is outside"),
        "shape": (np.ones((8, 2, 2)), scores, "y_true: expected a matrix"),
    }


@pytest.mark.parametrize("block_entries", [1 << 17, 10])
@pytest.mark.parametrize("what", bad_batches())
def test_after_an_error_nothing_of_a_batch_was_added(monkeypatch, what, block_entries):
    y_true, y_score, message = bad_batches()[what]
    case = graded_rows(10, 20)
    evaluator = graded.Evaluator(metrics=[*SOME, "ERR(max=4)"], k=3, **TRAINING, threads=1)
    update_all(evaluator, case, [0, 9, 20])
    before = pickle.dumps(evaluator)
    read_in_pieces(monkeypatch, entries=block_entries)
    with pytest.raises(DataError, match=message):
        evaluator.update(y_true, y_score)
    assert pickle.dumps(evaluator) == before


def test_a_wrong_first_batch_decides_nothing():
    evaluator = graded.Evaluator(metrics="P,macroF1", k=1)
    with pytest.raises(DataError, match="NaN"):
        evaluator.update(np.eye(3), np.full((3, 3), np.nan))
    evaluator.update(np.eye(2, 5), np.eye(2, 5))
    assert evaluator.result().counts.n_labels == 5


def test_there_is_a_result_of_an_empty_batch_and_none_after_a_reset():
    evaluator = graded.Evaluator(metrics="P", k=1)
    empty = np.empty((0, 4))
    evaluator.update(empty, empty)
    assert evaluator.result() == graded.score(empty, empty, metrics="P", k=1)
    evaluator.reset()
    with pytest.raises(UsageError, match="nothing was scored"):
        evaluator.compute()


def test_a_weight_that_is_far_below_the_largest_is_doubted_in_merged_and_copied_ones_too():
    evaluator = graded.Evaluator(metrics="P", k=1, max_weight=1)
    evaluator.update(EYE, EYE, np.array([0, 1, 1e-12]))
    merged = graded.Evaluator(metrics="P", k=1, max_weight=1, n_labels=3).merge(evaluator)
    for each in (evaluator, merged, copied(merged)):
        assert any("the smallest weight is 1e-12 of the largest" in warning for warning in each.result().warnings)


def test_propensities_are_compared_by_their_values():
    first, same = (
        graded.Evaluator(metrics="PSP@1", inverse_propensities=form([1.0, 2.0])) for form in (list, np.array)
    )
    assert first.merge(same) is first


def test_rows_are_not_added_to_what_another_version_saved():
    path = Path("a.state")
    evaluator = graded.Evaluator(metrics="P@1", n_labels=3)
    evaluator.update(EYE, EYE)
    evaluator.save(path)
    path.write_bytes(forge(path.read_bytes(), version="0.0.9"))
    old = xmceval.Evaluator.load(path)
    assert old.result()["P@1"] == 1.0
    with pytest.raises(UsageError, match=r"a\.state was saved by xmceval 0\.0\.9"):
        old.update(EYE, EYE)
    with pytest.raises(DataError, match=r"differ in version of xmceval: .* and 0\.0\.9$"):
        evaluator.merge(old)
    old.reset()
    old.update(EYE, EYE)


def test_the_number_of_labels_may_be_declared_late():
    evaluator, labels = graded.Evaluator(metrics="P,macroF1(over=seen)", k=1), np.array([[0], [3]])
    evaluator.update([{0}, {1}], (labels, labels * 1.0))
    assert evaluator.result().counts.n_labels == 4
    evaluator.update(np.eye(3, 9), np.eye(3, 9))
    result = evaluator.result()
    assert (result.counts.n_labels, result["P@1"]) == (9, 0.8)
    assert copied(evaluator).result().figures == result.figures


def test_a_ranking_may_follow_matrices_where_the_number_of_labels_is_known(rng):
    truth, scores = rng.random((8, 5)) < 0.4, rng.random((8, 5))
    ranked = np.argsort(-scores[4:], axis=1)[:, :3]
    evaluator = xmceval.Evaluator(metrics=["P", "R"], k=[1, 3], n_labels=5)
    evaluator.update(truth[:4], scores[:4])
    evaluator.update(truth[4:], ranked)
    assert dict(evaluator.result()) == dict(xmceval.score(truth, scores, metrics=["P", "R"], k=[1, 3]))


def test_rows_of_a_copy_are_kept_where_its_next_batch_declares_the_number_of_labels():
    labels = np.array([[3, 1], [0, 2]])
    evaluator = graded.Evaluator(metrics="P,R", k=1)
    evaluator.update([[3], [0, 1]], (labels, labels * 1.0))
    evaluator.save("a.state")
    merged = graded.Evaluator(metrics="P,R", k=1).merge(evaluator)
    for copy in (copied(evaluator), xmceval.Evaluator.load("a.state"), merged):
        copy.update(np.eye(3, 9), np.eye(3, 9))
        assert (copy.result().counts.n_instances, copy.result()["P@1"]) == (5, 0.8)


def test_no_rows_and_rows_without_labels_are_lists_too():
    logits, no_labels = np.arange(8.0).reshape(2, 4), [np.empty(0), np.empty(0)]
    for n_labels in (None, 4):
        evaluator = xmceval.Evaluator(metrics="R", k=1, n_labels=n_labels)
        for y_true in ([[], []], no_labels, [set(), set()], [[3], [0, 3]]):
            evaluator.update(y_true, logits)
            evaluator.update([], logits[:0])
        assert (evaluator.result().counts.n_instances, evaluator.result()["R@1"]) == (8, 1.5 / 8)
    evaluator.update([[3]] * 2, (np.empty((2, 0), dtype=np.int64), np.empty((2, 0))))
    assert (evaluator.result()["R@1"], evaluator.result().counts.n_predictions) == (1.5 / 10, 32)


def test_inputs_are_not_written_to():
    truth, scores = graded_rows(12, 9)
    copies = truth.copy(), scores.copy()
    graded.Evaluator(metrics="P,LRAP", k=1).update(truth, scores)
    assert all((one != two).nnz == 0 for one, two in zip(copies, (truth, scores), strict=True))


def test_what_an_evaluator_holds_does_not_grow_with_the_rows():
    evaluator = graded.Evaluator(metrics=SOME, k=3, **TRAINING)
    sizes = []
    for _ in range(2):
        for _ in range(40):
            evaluator.update(*graded_rows(13, 128))
        sizes.append(len(pickle.dumps(evaluator)))
    assert sizes[1] < 1.01 * sizes[0]


def test_an_evaluator_says_what_it_is_of():
    assert repr(graded.Evaluator(metrics="P,R", k=1)) == "<Evaluator of P@1, R@1: 0 rows>"


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("metrics", ["P,nDCG,macroF1", "P,LRAP"])
def test_dense_scores_are_scored_as_by_score(dtype, metrics):
    rng, options = np.random.default_rng(14), {"metrics": metrics, "k": [1, 3]}
    case = (rng.random((20, 9)) < 0.3).astype(float), rng.integers(0, 6, (20, 9)).astype(dtype)
    evaluator = update_all(graded.Evaluator(**options), case, [0, 7, 7, 20])
    assert evaluator.result() == graded.score(*case, **options)
