"""LETOR lines, columns of scores and RankLib's scores in chunks of any size, against a plain reader of lines."""

import re
from pathlib import Path

import numpy as np
import pytest
from support.files import write

import xmceval
from xmceval.files.io import chunks
from xmceval.files.opening import open_scores, open_truth

RNG = np.random.default_rng(23)
SIZES = RNG.integers(1, 9, 40)
ROWS = np.repeat(np.arange(40), SIZES)
GRADES, SCORES = RNG.integers(0, 5, ROWS.size), np.round(RNG.normal(size=ROWS.size), 3)
NAMES = [f"{'x' * (row % 11)}{row}" for row in range(40)]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=[64, 300, chunks.CHUNK_BYTES])
def _chunk_bytes(request, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_BYTES", request.param)


def letor(values):
    """Return lines with features and comments of any length, blank lines and both ends of lines."""
    lines = ["\ufeff# made by a test", ""]
    for row, value in zip(ROWS.tolist(), values.tolist(), strict=True):
        features = " ".join(f"{i}:{i / 7:.3g}" for i in range(1, int(RNG.integers(1, 40))))
        blank = " \t"[row % 2]
        lines.append(
            f"{value}{blank}qid:{NAMES[row]}{blank}{features}{' # docid = 7 # 8' * (row % 3)}{chr(13) * (row % 2)}"
        )
        lines += [""] * (row % 7 == 0)
    return "\n".join(lines)


def rows_of(opened):
    [csr] = opened.source.pieces
    return csr.indptr.tolist(), csr.indices[:].tolist(), csr.values[:].tolist()


def expected(values):
    labels = np.concatenate([np.arange(size) for size in SIZES])
    return np.r_[0, np.cumsum(SIZES)].tolist(), labels.tolist(), values.astype(float).tolist()


@pytest.mark.usefixtures("_chunk_bytes")
def test_lines_are_rows_of_their_queries():
    truth = open_truth(Path(write("l", letor(GRADES))))
    assert rows_of(truth) == expected(GRADES)
    assert list(truth.judgments.queries) == [f"qid:{name}".encode() for name in NAMES]
    assert rows_of(open_scores(Path(write("s", letor(SCORES))), judgments=truth.judgments)) == expected(SCORES)


@pytest.mark.usefixtures("_chunk_bytes")
@pytest.mark.parametrize("form", ["column", "ranklib", "ranklib with qid", "ranklib in any order"])
def test_scores_are_those_of_their_lines(form):
    truth = open_truth(Path(write("l", letor(GRADES))))
    words = [[f"{score}"] for score in SCORES]
    if form != "column":
        places, prefix = expected(GRADES)[1], "qid:" * (form == "ranklib with qid")
        words = [[prefix + NAMES[row], f"{place}", *word] for row, place, word in zip(ROWS, places, words, strict=True)]
    if form == "ranklib in any order":
        words = [words[i] for i in RNG.permutation(len(words))]
    lines = "".join("\t".join(word) + "\n" * (1 + i % 2) for i, word in enumerate(words))
    assert rows_of(open_scores(Path(write("s", lines)), judgments=truth.judgments)) == expected(SCORES)


@pytest.mark.usefixtures("_chunk_bytes")
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("1", "expected 'grade qid:n ...', found '1'"),
        ("1 q:3 1:0.5", "expected 'grade qid:n ...', found '1 q:3 1:0.5'"),
        ("1 #qid:3", "expected 'grade qid:n ...', found '1'"),
        (f"1 qid:{NAMES[0]} 1:0.5", "'qid:0' appears in two places; the lines of a query must be consecutive"),
        ("1_0 qid:new 1:0.5", "expected a number, found '1_0'"),
        ("0,5 qid:new 1:0.5", "expected a number, found '0,5'"),
    ],
)
def test_the_first_wrong_line_is_named(wrong, message):
    lines = letor(GRADES).split("\n")
    for at in (40, len(lines) - 3):
        text = "\n".join([*lines[:at], wrong, *lines[at:], "also wrong"])
        with pytest.raises(xmceval.DataError, match=f"^l:{at + 1}: {re.escape(message)}"):
            open_truth(Path(write("l", text)))


@pytest.mark.usefixtures("_chunk_bytes")
def test_numbers_that_only_python_reads_are_read():
    text = "1e400 qid:1\n-1e-400 qid:1\n+0.1 qid:1\n123456789012345678901234567890 qid:2\nInfinity qid:2\n"
    assert rows_of(open_scores(Path(write("s", text)), judgments=open_truth(Path(write("l", text))).judgments))[2] == [
        *(float("inf"), -0.0, 0.1, 123456789012345678901234567890.0, float("inf"))
    ]
