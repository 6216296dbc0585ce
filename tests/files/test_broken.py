"""Every broken file ends in one message with its place, the cause and a hint, which is approved as a whole."""
# ruff: noqa: F401 - lines use what is imported here

import gzip
import pickle
from pathlib import Path

import numpy as np
import pytest
from support.approved import check_answers
from support.files import LABELS, LEGACY, PREDS, RUN, SCORES, TRUTH, scored, write
from support.pieces import read_in_pieces

import xmceval

NPZ = {
    "shape": np.array([4, 5]),
    "data": np.ones(2),
    "indices": np.array([0, 1]),
    "indptr": np.array([0, 1, 2, 2, 2]),
    "format": np.array(b"csr"),
}


def npz(**changes):
    """Save parts of a CSR matrix, some of them changed."""
    return saved("m.npz", **{**NPZ, **changes})


def saved(name, *arrays, **named):
    if name.endswith(".npz"):
        np.savez(name, *arrays, **named)
    else:
        np.save(name, *arrays)
    return name


def pair(labels, scores):
    saved("r-labels.npy", labels)
    saved("r-scores.npy", scores)
    return "r"


@pytest.mark.parametrize("size", [32, 1 << 20])
def test_broken_files_are_refused_in_these_words(size, monkeypatch):
    """The other file is good."""
    read_in_pieces(monkeypatch, text=size)

    def answer(line):
        write("t.txt", TRUTH)
        write("p.txt", PREDS)
        with pytest.raises(xmceval.DataError) as error:
            eval(line)
        return str(error.value).splitlines()

    check_answers(__file__, "broken.txt", answer)


def test_fasttext_ranks_are_labels_only():
    truth, preds = write("y", "1002 5\n" + "0:1\n" * 1002), write("x", "__label__0\n" * 1001 + "__label__1 0.5\n")
    with pytest.raises(xmceval.DataError, match=r"x:1002: expected only __label__name.* found '0.5'"):
        scored(truth, preds)


@pytest.mark.parametrize("which", ["t.txt", "p.txt"])
def test_blank_lines_are_refused_also_beyond_the_bytes_that_the_format_is_detected_by(which, monkeypatch):
    read_in_pieces(monkeypatch, head=8)
    contents = {"t.txt": "0:1\n" * 20, "p.txt": "0:.5\n" * 20}
    for rest in "", "0:1\n":
        for name, content in {**contents, which: "\n" * (20 - bool(rest)) + rest}.items():
            write(name, content)
        if rest:
            scored("t.txt", "p.txt", n_labels=5)
        else:
            with pytest.raises(xmceval.DataError, match=f"^{which}: has only blank lines; expected rows of idx:value$"):
                scored("t.txt", "p.txt", n_labels=5)


def test_a_truncated_npz_is_reported():
    np.savez_compressed("m.npz", **{**NPZ, "data": np.random.default_rng(1).random(2)})
    whole = Path("m.npz").read_bytes()
    write("m.npz", whole[: len(whole) // 2])
    message = r"^m.npz: cannot be read as an npz file; is it damaged or truncated\? \(it is no whole zip archive\)$"
    with pytest.raises(xmceval.DataError, match=message):
        scored(write("t.txt", TRUTH), "m.npz")
