"""The kernel of first words against Python's own split() and float()."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.examples import examples

from xmceval.files.io.lines import without_comment
from xmceval.kernels.text import firstwords as kernel

PIECES = [
    b" ",
    b"\t",
    b"\r",
    b"\x0b",
    b"\n",
    b"#",
    b"-0.5",
    b"0.25\n",
    b"qid:7",
    b"1",
    b"0.5",
    b"-2e3",
    b"nan",
    b"inf",
    b"1_0",
    b"x",
    b"9" * 30,
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join)


def split(text, n_words, number):
    block = np.frombuffer(b"x\n" + text + b"y#\n" * 40, dtype=np.uint8)
    most = len(text) // 2 + 1
    words = np.full((n_words, 2, most), -1, dtype=np.int64)
    counts, lines = np.full((2, most), -1, dtype=np.int64)
    values, are_hard, status = np.full(most, 7.0), np.full(most, 9, dtype=np.uint8), np.full(2, -1, dtype=np.int64)
    kernel.split_first_words(block, 2, 2 + len(text), number, words, counts, lines, values, are_hard, status)
    n_rows, n_lines = status.tolist()
    found = []
    for row in range(n_rows):
        own = [block[begin:end].tobytes() for begin, end in words[:, :, row].tolist()]
        assert all(own[: counts[row]])
        assert not any(own[counts[row] :])
        found.append((lines[row], min(counts[row], n_words + 1), own[: counts[row]], values[row], bool(are_hard[row])))
    return found, n_lines


def is_plain(word):
    """Whether a word is a number that is not NaN, without an underscore."""
    try:
        return b"_" not in word and float(word) == float(word)
    except ValueError:
        return False


@examples(4)
@given(TEXTS, st.sampled_from([(1, 0), (2, 0), (3, 2), (3, -1)]))
def test_first_words_of_any_text_are_those_of_split(text, how):
    n_words, number = how
    text += b"\n"
    found, n_lines = split(text, n_words, number)
    rows = iter(found)
    for line, content in enumerate(text.split(b"\n")[:-1]):
        words = without_comment(content).split()
        if not words:
            continue
        at, count, own, value, is_hard = next(rows)
        assert (at, count, own) == (line, min(len(words), n_words + 1), words[:n_words])
        which = number if number >= 0 else len(words) - 1
        word = words[which] if which < min(len(words), n_words) else b"0"
        assert is_hard or value == float(word)
        assert not is_hard or len(word) > 19 or not is_plain(word)
    assert next(rows, None) is None
    assert n_lines == text.count(b"\n")


@pytest.mark.parametrize("lead", range(60, 70))
def test_a_comment_or_newline_is_found_at_every_place(lead):
    text = b"1 qid:1" + b" " * lead + b"# a comment of many bytes " * 9 + b"\n2 qid:2\n"
    found, n_lines = split(text, 2, 0)
    assert ([row[2] for row in found], n_lines) == ([[b"1", b"qid:1"], [b"2", b"qid:2"]], 2)


def test_places_are_whole_numbers():
    words = [b"0", b"17", b"007", b"9" * 18, b"9" * 19, b"", b"-1", b"+1", b"1.0", b"1a", b" 1"]
    ends = np.cumsum([len(word) for word in words])
    places = np.empty(len(words), dtype=np.int64)
    kernel.parse_places(np.frombuffer(b"".join(words) + bytes(64), dtype=np.uint8), np.r_[0, ends[:-1]], ends, places)
    assert places.tolist() == [0, 17, 7, 10**18 - 1, -1, -1, -1, -1, -1, -1, -1]
