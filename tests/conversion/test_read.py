"""Read: truth and predictions of every format as a sparse matrix, exactly."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support.files import write

import xmceval
from xmceval import DataError, UsageError, XmcevalWarning


@pytest.fixture(autouse=True)
def names():
    write("names", "a\nb\nc\nd\n")


def save(name, content):
    Path(name).write_text(content)


def test_what_is_read_scores_as_the_file_does(rng):
    scores, truth = sparse.random(80, 30, 0.3, "csr", random_state=rng), sparse.random(80, 30, 0.1, random_state=rng)
    truth.data[:] = 1
    sparse.save_npz("s.npz", scores)
    sparse.save_npz("t.npz", truth)
    options = {"metrics": ["P", "nDCG", "LRAP"], "k": [1, 3]}
    expected = dict(xmceval.score("t.npz", "s.npz", **options))
    assert dict(xmceval.score(xmceval.read("t.npz"), xmceval.read("s.npz"), **options)) == expected
    assert (xmceval.read("s.npz", threads=1) != scores).nnz == 0


def test_entries_stay_in_the_order_of_the_file_and_zeros_of_scores_are_stored():
    save("s", "1 5\n4:0.5 1:0 3:2\n")
    matrix = xmceval.read("s", kind="scores")
    assert (matrix.indices.tolist(), matrix.data.tolist()) == ([4, 1, 3], [0.5, 0, 2])
    save("t", "1 5\n4:1 1:0 3:2\n")
    matrix = xmceval.read("t", kind="truth")
    assert (matrix.indices.tolist(), matrix.data.tolist()) == ([3, 4], [2, 1])


def test_the_number_of_labels_is_the_declared_one_or_the_least():
    save("s", "2 2\n3:0.5 1:2\n7:1\n")
    assert xmceval.read("s").shape == (2, 8)
    save("s", "2 20\n3:0.5 1:2\n7:1\n")
    assert xmceval.read("s").shape == (2, 20)
    assert xmceval.read("s", n_labels=9).shape == (2, 9)
    with pytest.raises(DataError, match=r"s:3: label 7 is outside 0\.\.6"):
        xmceval.read("s", n_labels=7)


def test_lists_that_may_be_truth_or_rankings_are_refused_without_their_kind():
    save("lists", "2,0\n1\n")
    with pytest.raises(UsageError) as error:
        xmceval.read("lists")
    assert str(error.value) == (
        "lists: lists of labels may be true labels or rankings (hint: pass kind='truth' or kind='scores')"
    )
    assert xmceval.read("lists", kind="truth").toarray().tolist() == [[1, 0, 1], [0, 1, 0]]
    scores = xmceval.read("lists", kind="scores").toarray()
    assert scores[0, 2] > scores[0, 0] > 0


def test_a_run_is_read_with_its_qrels():
    save("qrels", "q1 0 d9 1\nq3 0 d1 2\n")
    save("run", "q3 Q0 d7 1 5 tag\nq1 Q0 d9 1 2 tag\nq1 Q0 d1 2 1 tag\n")
    truth = xmceval.read("qrels")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XmcevalWarning)
        run = xmceval.read("run", truth="qrels")
        same = dict(xmceval.score("qrels", "run", metrics="P@1"))
    assert (truth.shape, run.shape) == ((2, 2), (2, 3))  # d7 is not judged
    truth.resize(run.shape)
    assert dict(xmceval.score(truth, run, metrics="P@1", grades=True)) == same
    with pytest.raises(DataError, match="is a TREC run, so the truth must be TREC qrels"):
        xmceval.read("run")
    with pytest.raises(UsageError, match="qrels: is to be read as truth, so it has no truth of its own"):
        xmceval.read("qrels", truth="qrels", kind="truth")


def test_rows_with_ids_are_read_in_the_order_of_the_truth():
    """They were read in the order of the file, so that they belonged to other rows of the truth."""
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rows = pandas.DataFrame({"id": [f"row{i}" for i in range(12)], "labels": [[i] for i in range(12)]})
    rows.to_parquet("t.parquet")
    rows.iloc[::-1].to_parquet("p.parquet", index=False)
    assert xmceval.read("p.parquet", truth="t.parquet").toarray().tolist() == np.eye(12).tolist()
    assert xmceval.score("t.parquet", "p.parquet", metrics="P@1")["P@1"] == 1


def test_a_label_beyond_the_truth_is_refused_with_what_declares_their_number():
    save("t", "1 4\n0:1\n")
    save("s", "4:0.5 1:0.25\n")
    with pytest.raises(DataError, match=r"s:1: label 4 is outside 0\.\.3 \(t has 4 labels; labels are 0-based\)"):
        xmceval.read("s", truth="t")
    with pytest.raises(DataError, match=r"s:1: label 4 is outside 0\.\.3 \(names has 4 labels; labels are 0-based\)"):
        xmceval.read("s", labels="names")


def test_what_was_noticed_is_a_warning():
    sparse.save_npz("s.npz", sparse.csr_matrix([[0.5, 0, 1], [0, 1, 0]]))
    with pytest.warns(XmcevalWarning, match="dropped 1 entry in extra column 2"):
        assert xmceval.read("s.npz", n_labels=2).toarray().tolist() == [[0.5, 0], [0, 1]]


@pytest.mark.parametrize("compressed", [True, False])
def test_numbers_that_would_be_rounded_are_refused(compressed):
    values = np.array([2**53 + 1, 5, 6])
    sparse.save_npz("wide.npz", sparse.csr_matrix((values, [0, 1, 2], [0, 1, 2, 3])), compressed=compressed)
    np.save("wide.npy", np.diag(values))
    for name in ("wide.npz", "wide.npy"):
        with pytest.raises(DataError, match=rf"{name}: has values that float64 would round \(int64\)"):
            xmceval.read(name, kind="scores", n_labels=3)
    sparse.save_npz("whole.npz", sparse.csr_matrix((values - 1, [0, 1, 2], [0, 1, 2, 3])), compressed=compressed)
    assert xmceval.read("whole.npz").data.tolist() == [2**53, 4, 5]


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_whole_numbers_of_no_entry_are_not_rounded(compressed, dtype):
    sparse.save_npz("none.npz", sparse.csr_matrix((2, 3), dtype=dtype), compressed=compressed)
    for kind in ("truth", "scores"):
        assert xmceval.read("none.npz", kind=kind).toarray().tolist() == [[0, 0, 0]] * 2
