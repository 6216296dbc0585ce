"""Opening: the facts that the content of a file gives, and its rows as blocks of any size."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from support.files import LEGACY, PREDS, QRELS, RUN, TRUTH, matrix, open_scores, write

from xmceval.errors import DataError
from xmceval.files.open import SIGNED, open_either, open_truth
from xmceval.files.sidecars.label_names import read_names
from xmceval.rows.block import Scratch


def rows_of(source):
    """Return the rows of a source as lists of (label, value), and the first row and size of each block."""
    rows, blocks = [], []
    for block in source.blocks():
        blocks.append((block.first_row, block.n_rows))
        indptr, indices, values = block.rows(Scratch())
        for start, stop in pairwise(indptr):
            rows.append(list(zip(indices[start:stop].tolist(), values[start:stop].tolist(), strict=True)))
    return rows, blocks


def save(name, array):
    np.save(name, array)
    return name


def save_npz(name, array, form="csr"):
    sp.save_npz(name, array.asformat(form))
    return name


FILES = {
    "text": lambda: write("p.txt", PREDS),
    "ids": lambda: write("p.txt", "0 1\n1 2\n3\n4 3\n"),
    "npz": lambda: save_npz("p.npz", matrix()),
    "npz CSC": lambda: save_npz("p.npz", matrix(), "csc"),
    "dense npy": lambda: save("p.npy", matrix().toarray()),
}
RANKED = {"ids"}
WIDER = {"npz", "npz CSC"}


HELD = {"npz CSC"}


@pytest.mark.parametrize("kind", FILES)
def test_rows_are_held_in_memory_where_the_format_says_so_whatever_the_names_of_files(kind):
    for name in ("names.txt", "held in memory.txt", "copied to a temporary file; ranked by their order.txt"):
        opened = open_scores(FILES[kind](), names=read_names(write(name, "zero\none\ntwo\nthree\nfour\n")))
        assert opened.is_held == (kind in HELD)
        assert not opened.is_copied
    words = write("words.txt", "zero one\ntwo\n")
    opened = open_truth(words, names=read_names("held in memory.txt"))
    assert not opened.is_held
    assert opened.description == "text, lists of label names, no header, label names from held in memory.txt"


def test_names_that_are_held_are_not_rows_that_are_held():
    np.save("p-labels.npy", np.array([["a", "b"], ["b", "a"]], dtype=object))
    np.save("p-scores.npy", np.array([[0.9, 0.1], [0.8, 0.2]]))
    opened = open_scores("p", names=read_names(write("names.txt", "a\nb\n")))
    assert opened.description == "npy pair, label names and scores, names held in memory"
    assert not opened.is_held


def test_a_list_is_described_as_ranked_only_where_it_is_predictions():
    path = write("x", "0 1\n1\n")
    assert open_scores(path).description == "text, lists of label ids, no header; ranked by their order, best first"
    assert open_truth(path).description == "text, lists of label ids, no header"


EITHER = {
    "pairs": (PREDS, None, "scores"),
    "pairs as truth": (TRUTH, "truth", "truth"),
    "labels and features": (LEGACY, None, "truth"),
    "JSON lines of truth": ('{"target_ind": [1]}\n', None, "truth"),
    "JSON lines of predictions": ('{"data": [[1, 0.5]]}\n', None, "scores"),
    "qrels": (QRELS, None, "truth"),
}


@pytest.mark.parametrize("name", EITHER)
def test_a_file_is_opened_as_what_it_can_be(name):
    text, kind, role = EITHER[name]
    assert open_either(write("x", text), kind).role == role


def test_a_file_that_cannot_be_opened_as_asked_is_refused():
    with pytest.raises(DataError, match=r"^x: looks like truth \(text, rows of label,label feature:value"):
        open_either(write("x", LEGACY), "scores")
    with pytest.raises(DataError, match=r"^x: looks like predictions \(text, rows of tab-separated 'label score'"):
        open_truth(write("x", "1 0.5\t2 0.25\n"))


def test_a_run_is_joined_to_judgments_and_refused_without_them():
    judgments = open_truth(write("q", QRELS)).judgments
    rows, _ = rows_of(open_scores(write("r", RUN), judgments=judgments).source)
    assert [[label for label, _ in row] for row in rows] == [[0, 1], [3, 2]]  # d9 was not judged
    with pytest.raises(DataError, match="the truth must be TREC qrels"):
        open_scores("r")
    with pytest.raises(DataError, match=r"^r: is a TREC run, which holds predictions; expected truth"):
        open_truth("r")


def test_no_signature_hides_another():
    assert not [(a, b) for a in SIGNED for b in SIGNED if a is not b and a.startswith(b)]


NAMES = {
    "a\nb\na\n": "n: labels 0 and 2 have the same name, 'a'; names must differ",
    "a\n\nb\n\nc\n": "n:2: 2 lines without a name; expected one label name per line",
    "a\0b\n": "n: expected text with one label name per line",
}


@pytest.mark.parametrize("text", NAMES)
def test_wrong_label_names_are_reported(text):
    with pytest.raises(DataError) as caught:
        read_names(write("n", text))
    assert str(caught.value) == NAMES[text]


def test_names_that_begin_with_a_hash_are_no_comments_even_where_all_do():
    names = read_names(write("n", "#a\n#b\n"))
    rows, _ = rows_of(open_truth(write("x", "#a #b\n#b"), names=names).source)
    assert rows == [[(0, 1.0), (1, 1.0)], [(1, 1.0)]]
