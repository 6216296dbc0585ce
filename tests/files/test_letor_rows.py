"""LETOR lines and the scores of their documents as a reader that splits them in Python reads them."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from xmceval.errors import DataError
from xmceval.files.io import chunks
from xmceval.files.io.streams import quote
from xmceval.files.opened import Request
from xmceval.files.ranking.judgments import Judgments
from xmceval.files.ranking.letor import open_letor, open_score_column

COMMENT = re.compile(rb"(?:\A|(?<=[ \t\r]))#.*")

PLAIN_NUMBERS = ["1", "0", "2", "-0.5", "1e3", "+7", ".5", "0.25", "-0.0"]
ODD_NUMBERS = ["5.", "nan", "-inf", "Infinity", "1E-400", "1e999", "1" * 400, "0.1234567890123456789012"]
BAD_NUMBERS = ["x", "1_0", "٣", "0x1", "1e", "2#1", "#", "1\0"]
QUERIES = ["qid:1", "qid:2", "qid:10", "qid:é", "qid:", "qid:1#x"]
BAD_QUERIES = ["Qid:1", "7", "qid", "#qid:1", "1:0.5"]
RESTS = ["", " 1:0.5 2:3", " 1:x", " # GX01 qid:9", "\t#", " 7", "".join(f" {i}:0.{i}" for i in range(60)), "\r"]
BLANKS = ["", " ", "\t\v", "# a comment", " # 1 qid:5", "#", "#1 qid:7", "\v# x y"]

settings.register_profile("letor", suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
fuzzed = settings(settings.get_profile("letor"), max_examples=100)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def rarely(draw, usual, *rare):
    """Draw one of the usual words, seldom one of the others."""
    return draw(st.sampled_from(usual if draw(st.integers(0, 19)) else [word for words in rare for word in words]))


def number(draw):
    return rarely(draw, PLAIN_NUMBERS * 3 + ODD_NUMBERS, BAD_NUMBERS)


def ended(draw, lines):
    """Return lines with blank ones between them, in whatever way they end."""
    text = "\ufeff" if draw(st.booleans()) else ""
    for line in lines:
        text += rarely(draw, [""], [blank + "\n" for blank in BLANKS])
        text += (
            draw(st.sampled_from(["", "", "", " ", "\t"])) + line + draw(st.sampled_from(["\n", "\n", "\r\n", " \n"]))
        )
    return (text if draw(st.booleans()) else text.removesuffix("\n")).encode()


def joined(draw, words):
    return draw(st.sampled_from([" ", " ", "\t", "  ", " \r", "\v", "\f"])).join(words)


@st.composite
def letor_texts(draw):
    lines = []
    for query in draw(st.lists(st.sampled_from(QUERIES), unique=draw(st.integers(0, 9)) > 0, max_size=6)):
        for _ in range(draw(st.integers(1, 5))):
            words = [number(draw), rarely(draw, [query], BAD_QUERIES)]
            lines.append(joined(draw, words) + draw(st.sampled_from(RESTS)))
    return ended(draw, lines)


SIZES = {b"qid:1": 3, b"qid:b": 1, b"qid:22": 4}
JUDGED = Judgments("l", {query: row for row, query in enumerate(SIZES)}, np.array([0, 3, 4, 8]))


@st.composite
def column_texts(draw):
    n = draw(st.sampled_from([8, 8, 8, 7, 9, 0]))
    return ended(draw, [rarely(draw, [number(draw)], ["1 2", "1 0 3", "0.5 # c", "0.5 #"]) for _ in range(n)])


@st.composite
def ranklib_texts(draw):
    pairs = [(query.decode()[4:], str(i)) for query, size in SIZES.items() for i in range(size)]
    lines = []
    for query, document in draw(st.permutations(pairs)) if draw(st.booleans()) else pairs:
        words = [
            rarely(draw, [query, "qid:" + query], ["3", "1#", "qid:qid:1"]),
            rarely(draw, [document, document, "0" + document], ["9", "-1", "GX00", "#1", "1" * 30, "1"]),
            number(draw),
        ]
        lines.append(joined(draw, words) + rarely(draw, [""], [" # c", " 7", " #"]))
    return ended(draw, rarely(draw, [lines], [lines[:-1], [*lines, "0.5"], [*lines, lines[0]]]))


def split(content):
    for place, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        words = COMMENT.sub(b"", line, count=1).split()
        if words:
            yield place, words


def to_float(place, word):
    try:
        return float(word.decode("ascii").replace("_", "x"))
    except ValueError:
        raise DataError(f"{place}: expected a number, found") from None


def read_letor(content):
    """Return the queries with their grades."""
    found, last = {}, None
    for place, words in split(content):
        if len(words) < 2 or not words[1].startswith(b"qid:"):
            raise DataError(f"{place}: expected 'grade qid:n ...', found")
        if words[1] != last and words[1] in found:
            raise DataError(f"{place}: {quote(words[1])} appears in two places")
        last = words[1]
        found.setdefault(last, []).append(to_float(place, words[0]))
    return found


def read_scores(content):
    """Return the scores in the order of JUDGED."""
    found, n_lines, n_words = {}, 0, 0
    places = [(query[4:], i) for query, size in SIZES.items() for i in range(size)]
    for place, words in split(content):
        if len(words) not in {1, 3} or n_words not in {0, len(words)}:
            raise DataError(f"{place}: expected one score per line, or")
        n_words, at = len(words), n_lines
        if n_words == 3:
            query = words[0].removeprefix(b"qid:")
            if b"qid:" + query not in SIZES:
                raise DataError(f"{place}: query {quote(query)} is not in l")
            is_place = words[1].isdigit() and (query, int(words[1])) in places
            if not is_place:
                raise DataError(f"{place}: expected the document's position within query '{query.decode()}', from 0")
            at = places.index((query, int(words[1])))
            if at in found:
                raise DataError(f"{place}: document '{words[1].decode()}' of query")
        if at < len(places):
            found[at] = to_float(place, words[-1])
        n_lines += 1
    if n_lines != len(places):
        raise DataError(f" has {n_lines} score{'s' if n_lines != 1 else ''} for the 8 documents of l")
    return [found[at] for at in range(len(places))]


def outcome(read, argument):
    """Return what is read, or its error."""
    try:
        return read(argument)
    except DataError as error:
        return error


def check(plain, read, content, chunk_bytes, monkeypatch, *, is_packed=False):
    """Compare what is read, or the beginning of the message of its error."""
    monkeypatch.setattr(chunks, "CHUNK_BYTES", chunk_bytes)
    content = content or b"\n"  # an empty file is refused when it is opened
    Path("x").write_bytes(gzip.compress(content) if is_packed else content)
    expected = outcome(plain, content)
    found = outcome(read, Path("x"))
    if isinstance(expected, DataError):
        assert isinstance(found, DataError)
        assert str(found).startswith(f"x:{expected}")
    else:
        assert repr(found) == repr(expected)  # tells -0.0 from 0.0, and NaN is NaN


def opened_letor(path):
    opened = open_letor(path, Request("truth"))
    csr, judgments = opened.source.pieces[0], opened.judgments
    assert csr.indptr.tolist() == judgments.indptr.tolist()
    assert csr.indices.tolist() == [i for size in np.diff(csr.indptr).tolist() for i in range(size)]
    return {
        query: csr.values[csr.indptr[row] : csr.indptr[row + 1]].tolist() for query, row in judgments.queries.items()
    }


def opened_scores(path):
    return open_score_column(path, JUDGED).source.pieces[0].values.tolist()


sizes = st.sampled_from([1, 7, 50, 300, chunks.CHUNK_BYTES])


@fuzzed
@given(letor_texts(), sizes, st.booleans())
def test_letor_lines_are_read_as_if_split_in_python(monkeypatch, content, size, is_packed):
    check(read_letor, opened_letor, content, size, monkeypatch, is_packed=is_packed)


@fuzzed
@given(column_texts() | ranklib_texts(), sizes, st.booleans())
def test_scores_are_read_as_if_split_in_python(monkeypatch, content, size, is_packed):
    check(read_scores, opened_scores, content, size, monkeypatch, is_packed=is_packed)


CLEAN = "".join(
    f"{i % 5} qid:{i // 7} " + " ".join(f"{j}:0.{i}" for j in range(i % 40)) + "\n" for i in range(120)
).encode()
SCORES = b"".join(b"%s\t%d\t%d.5\n" % (query[4:], i, i) for query, size in SIZES.items() for i in range(size))


@pytest.mark.parametrize("width", range(70))
def test_lines_may_end_anywhere_in_a_block_of_bytes(width, monkeypatch):
    content = b" " * width + CLEAN
    check(read_letor, opened_letor, content, chunks.CHUNK_BYTES, monkeypatch)
    check(read_letor, opened_letor, content, 1 + width, monkeypatch)


@pytest.mark.parametrize("size", range(1, 80))
def test_scores_may_be_cut_anywhere(size, monkeypatch):
    check(read_scores, opened_scores, SCORES, size, monkeypatch)
    check(read_scores, opened_scores, b"0.1\n-2\n\n# a\n3e5\n4\n5\n6\n 7\r\n8", size, monkeypatch)
