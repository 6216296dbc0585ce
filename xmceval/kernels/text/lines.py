"""Kernels that classify the bytes of text and find where its lines and rows begin."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.text.bytes import line_end, n_digits, number_of, word_at

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]

# Codes in status[1] after an error; status[2:5] are the beginning of the token, its row in the region, and its
# end. status[0] is the number of values left to the caller.
NO_COLON = 1  # an id without a colon
BAD_ID = 2  # an id that is not made of ASCII digits
ID_TOO_LARGE = 3  # an id or label above 2**63 - 1
NO_VALUE = 4  # nothing after the colon
BAD_NUMBER = 5  # not a number after the colon
BAD_LABEL = 6  # a label list other than ids separated by single commas
HARD_FULL = 7  # `hard` is too short; the text can be parsed again with a longer one

# Further slots of `status` for pairs.
LARGEST = 5  # the largest label, or -1 without labels, if labels ascend in each row and no value is NaN
ONLY_ONES = 6  # in this case: whether all values are 1
ROWS, PAIRS = 7, 8  # numbers of rows and entries parsed so far
STATUS_SIZE = 9
NOT_NOTICED = -2  # instead of the largest label

HASH, NEWLINE, DIGIT_0 = b"#\n0"
# Kinds of bytes: LINE_END and higher kinds end a token; where a token may begin, COMMENT and LINE_END end the
# row.
DIGIT, EXPONENT, COMMENT, LINE_END, SPACE = 1, 2, 3, 4, 5
KINDS = np.zeros(256, np.uint8)
KINDS[[*b"eE"]] = EXPONENT
KINDS[DIGIT_0 : DIGIT_0 + 10] = DIGIT
KINDS[[*b" \t\r"]] = SPACE
KINDS[NEWLINE] = LINE_END
KINDS[HASH] = COMMENT

# With an int literal numba turns uint64 into int64, and signed indices pay for Python's negative ones.
U0, U1, U8, U10 = (np.uint64(i) for i in (0, 1, 8, 10))
TOO_LARGE = np.uint64(2**63)
AT_ONCE = np.uint64(4096)  # bytes in which lines are counted with 16 bits


@helper
def is_comment(text, at):
    """Return whether the first non-blank byte is a hash."""
    while KINDS[text[at]] == SPACE:
        at += U1
    return text[at] == HASH


@helper
def write_error(status, code, begin, row, end):
    """Write the code of an error, the bounds of its token, and its row."""
    status[1], status[2], status[3], status[4] = code, np.int64(begin), np.int64(row), np.int64(end)


@kernel("u1[:]", "i8", "i8", "i8[:]")
def count_rows(text: Bytes, start: int, stop: int, counts: Ints) -> None:
    """Count the lines in [start, stop) of text, uint8 [n_bytes]: without comment lines, and in all.

    `counts` is int64 [2].
    """
    lines = hashes = rows = 0
    at, end = np.uint64(start), np.uint64(stop)
    while at < end:
        last = min(at + AT_ONCE, end)
        few_lines = few_hashes = np.uint16(0)  # narrow counters: many fit into a vector register
        for i in range(at, last):
            few_lines = np.uint16(few_lines + np.uint16(text[i] == NEWLINE))
            few_hashes = np.uint16(few_hashes + np.uint16(text[i] == HASH))
        lines += np.int64(few_lines)
        hashes += np.int64(few_hashes)
        at = last
    if hashes == 0:
        counts[0], counts[1] = lines, lines
        return
    at = np.uint64(start)
    while at < end:
        rows += not is_comment(text, at)
        at = line_end(text, at)
    counts[0], counts[1] = rows, lines


@kernel("u1[:]", "i8", "i8", "i8", returns="i8")
def skip_rows(text: Bytes, start: int, stop: int, n: int) -> int:
    """Return the offset after the n-th row, or `stop` if there are fewer; skip comment lines."""
    at, end = np.uint64(start), np.uint64(stop)
    left = n
    while at < end and left > 0:
        left -= not is_comment(text, at)
        at = line_end(text, at)
    return int(at)


@helper
def parse_id(text, at):
    """Parse digits; return the number, at most TOO_LARGE, and the offset after them."""
    word = word_at(text, at)
    digits = n_digits(word)
    number = number_of(word, digits) if digits > U0 else U0
    at += digits
    if digits == U8:
        while KINDS[text[at]] == DIGIT:
            digit = np.uint64(text[at] - DIGIT_0)
            number = number * U10 + digit if number <= (TOO_LARGE - U1 - digit) // U10 else TOO_LARGE
            at += U1
    return number, at
