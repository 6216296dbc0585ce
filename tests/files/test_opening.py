"""Opening: what a file is recognised as, in words, whatever the names of files are."""

import numpy as np
import pytest
import scipy.sparse as sp
from support.files import LEGACY, PREDS, QRELS, RUN, TRUTH, matrix, rows_in, scored, write

import xmceval
from xmceval.files.open import SIGNED

FILES = {
    "text": lambda: write("p", PREDS),
    "ids": lambda: write("p", "0 1\n1 2\n3\n4 3\n"),
    "npz": lambda: sp.save_npz("p.npz", matrix()) or "p.npz",
    "npz CSC": lambda: sp.save_npz("p.npz", matrix().tocsc()) or "p.npz",
    "dense npy": lambda: np.save("p.npy", matrix().toarray()) or "p.npy",
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize(
    "name", ["names.txt", "held in memory.txt", "copied to a temporary file; ranked by their order"]
)
def test_only_rows_that_are_held_in_memory_are_said_to_be(kind, name):
    write("t.txt", TRUTH)
    described = scored(preds=FILES[kind](), labels=write(name, "zero\none\ntwo\nthree\nfour\n")).inputs[1]
    facts = described.replace(f"label names from {name}", "").partition("; ")[0]
    assert ("held in memory" in facts) == (kind == "npz CSC")
    assert "copied" not in facts


def test_names_that_are_held_are_not_rows_that_are_held():
    np.save("p-labels.npy", np.array([["a", "b"], ["b", "a"]], dtype=object))
    np.save("p-scores.npy", np.array([[0.9, 0.1], [0.8, 0.2]]))
    write("held in memory.txt", "a\nb\n")
    truth, scores = scored(write("t", "a b\nb\n"), "p", labels="held in memory.txt").inputs
    assert truth.startswith("t: text, lists of label names, no header, label names from held in memory.txt; rows")
    assert scores.startswith("p: npy pair, label names and scores, names held in memory; rows by")


def test_a_list_is_described_as_ranked_only_where_it_is_predictions():
    write("x", "0 1\n1\n")
    lists, how = "x: text, lists of label ids, no header", "; rows by position, labels by number"
    assert scored("x", "x").inputs == (lists + how, f"{lists}; ranked by their order, best first{how}")


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
    assert xmceval.inspect(write("x", text), kind=kind).files[0].kind == role


WRONG = {  # as what a file is read, and how that is refused
    "rows of labels": (LEGACY, "scores", "x: looks like truth (text, rows of label,label feature:value"),
    "labels and scores": ("1 0.5\t2 0.25\n", "truth", "x: looks like predictions (text, rows of tab-separated 'label"),
    "a run": (RUN, "truth", "x: is a TREC run, which holds predictions; expected truth"),
    "a run alone": (RUN, "scores", "x: is a TREC run, so the truth must be TREC qrels"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_cannot_be_opened_as_asked_is_refused(name):
    text, kind, message = WRONG[name]
    with pytest.raises(xmceval.DataError) as caught:
        xmceval.read(write("x", text), kind=kind)
    assert str(caught.value).startswith(message)


def test_a_run_is_joined_to_judgments():
    rows = rows_in(write("r", RUN), truth=write("q", QRELS))
    assert [[label for label, _ in row] for row in rows] == [[0, 1], [3, 2]]  # d9 was not judged


NAMES = {
    "a\nb\na\n": "n: labels 0 and 2 have the same name, 'a'; names must differ",
    "a\n\nb\n\nc\n": "n:2: 2 lines without a name; expected one label name per line",
    "a\0b\n": "n: expected text with one label name per line",
}


@pytest.mark.parametrize("text", NAMES)
def test_wrong_label_names_are_reported(text):
    with pytest.raises(xmceval.DataError) as caught:
        xmceval.read(write("x", "0 1\n"), kind="truth", labels=write("n", text))
    assert str(caught.value) == NAMES[text]


def test_no_signature_hides_another():
    assert not [(a, b) for a in SIGNED for b in SIGNED if a is not b and a.startswith(b)]
