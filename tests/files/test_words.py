"""Words: names are numbered in the order in which they appear, and sorted as bytes."""

import random
import time

import numpy as np
import pytest

from xmceval.files.text.words import LONG, Words


def numbered(names):
    words = Words()
    blob = b"".join(names)
    lengths = np.array([len(name) for name in names], dtype=np.int64)
    ends = np.cumsum(lengths)
    numbers = words.number(np.frombuffer(blob + bytes(8), np.uint8), ends - lengths, ends)
    return words, numbers.tolist()


def test_words_are_numbered_in_the_order_in_which_they_appear():
    rng = random.Random(0)
    names = ["".join(rng.choices("ab\0", k=rng.randint(1, 20))).encode() for _ in range(20_000)]
    names += [b"clueweb09-" + bytes(rng.choices(range(256), k=rng.randint(0, 100))) for _ in range(500)]
    words, numbers = numbered(names)
    distinct = {name: number for number, name in enumerate(dict.fromkeys(names))}
    assert words.tolist() == list(distinct)
    assert numbers == [distinct[name] for name in names]
    assert [list(distinct)[i] for i in words.in_order().tolist()] == sorted(distinct)


@pytest.mark.parametrize("names", [[], [b""], [b"a"], [b"ab", b"a"], [b"x" * 64 + b"b", b"x" * 64 + b"a", b"x" * 64]])
def test_few_words_are_put_in_order(names):
    assert numbered(names)[0].in_order().tolist() == sorted(range(len(names)), key=names.__getitem__)


def test_long_words_are_put_in_order_by_all_of_their_bytes():
    rng = random.Random(1)
    heads = [b"x" * LONG, b"x" * (LONG - 1) + b"y", b"x" * (LONG - 3)]
    names = list({rng.choice(heads) + bytes(rng.choices(b"\0a\xff", k=rng.randint(0, 20))) for _ in range(2000)})
    names += [b"", b"x", b"z" * 3 * LONG]
    assert numbered(names)[0].in_order().tolist() == sorted(range(len(names)), key=names.__getitem__)


def test_a_word_of_megabytes_is_put_in_order_at_once():
    """It took a pass over the words for every eight of its bytes: 18 s."""
    words, _ = numbered([b"b" * 3_000_000, b"c", b"a"])
    start = time.process_time()
    assert words.in_order().tolist() == [2, 0, 1]
    assert time.process_time() - start < 2


def test_plain_numbers_are_those_without_leading_zeros_that_a_label_can_be():
    names = [b"0", b"7", b"07", b"00", b"9" * 18, b"%d" % (2**63 - 2), b"%d" % (2**63 - 1), b"9" * 20, b"-1", b"1a"]
    expected = [0, 7, -1, -1, 10**18 - 1, 2**63 - 2, -1, -1, -1, -1]
    assert numbered(names)[0].plain_numbers().tolist() == expected
