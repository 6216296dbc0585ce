"""Pairs kernel: rows of `id:value` pairs in text, with their errors."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile import helper, kernel
from xmceval.kernels.text.bytes import line_end, n_digits, number_of, word_at
from xmceval.kernels.text.lines import (
    BAD_ID,
    COMMENT,
    DIGIT,
    HARD_FULL,
    ID_TOO_LARGE,
    KINDS,
    LARGEST,
    LINE_END,
    NEWLINE,
    NO_COLON,
    NO_VALUE,
    NOT_NOTICED,
    ONLY_ONES,
    PAIRS,
    ROWS,
    SPACE,
    TOO_LARGE,
    Bytes,
    Floats,
    Ints,
    parse_id,
)
from xmceval.kernels.text.numbers import UNDECIDED, parse_decimal, parse_number

MINUS, COLON, BLANK, TAB = b"-: \t"

# With an int literal numba turns uint64 into int64, and signed indices pay for Python's negative ones.
U0, U1 = np.uint64(0), np.uint64(1)


@kernel
def parse_pairs(
    text: Bytes, start: int, stop: int, indptr: Ints, indices: Ints, values: Floats, hard: Ints, status: Ints
) -> None:
    """Parse rows of `id:value` pairs, up to the first error.

    `hard`, int64 [n, 3], gets (position in values, begin, end) of each number that is left to the caller. `text` is
    uint8 [n_bytes], `status` int64 [STATUS_SIZE].
    """
    status[:] = 0
    at, end = np.uint64(start), np.uint64(stop)
    row, n = U0, U0
    last, largest = np.int64(-1), np.int64(-1)
    falls, others = 0, 0  # labels not above the one before it in the row, or NaN; values other than 1
    indptr[0] = 0
    while at < end:
        word = word_at(text, at)
        digits = n_digits(word)
        colon = at + digits
        is_usual = digits != U0 and text[colon] == COLON
        if is_usual:
            negative = text[colon + U1] == MINUS
            begin = colon + U1 + np.uint64(negative)
            value, _, stop_of_value = parse_decimal(text, begin)
            is_usual = stop_of_value != begin
            if is_usual and KINDS[text[stop_of_value]] < LINE_END:  # such as an exponent
                while KINDS[text[stop_of_value]] < LINE_END:
                    stop_of_value += U1
                value, code = parse_number(text, begin, stop_of_value)
                is_usual = code == 0 and KINDS[text[begin]] == DIGIT
            if is_usual:
                label = np.int64(number_of(word, digits))
                value = -value if negative else value
                falls += (label <= last) | (value != value)
                others += value != 1.0
                indices[n], values[n] = label, value
                n += U1
                last = label
                at = stop_of_value
                if KINDS[text[at]] != LINE_END:
                    at += U1
                    continue
        if text[at] == NEWLINE:
            row += U1
            indptr[row] = np.int64(n)
            largest = max(largest, last)
            last = np.int64(-1)
            at += U1
        elif not is_usual:
            if digits == U0 and KINDS[text[at]] == SPACE:
                at += U1
                continue
            falls += 1
            at, row, n = _parse_line(text, at, row, indptr, n, indices, values, hard, status)
            last = np.int64(-1)
            if status[1] != 0:
                break
    status[LARGEST] = largest if falls == 0 else NOT_NOTICED
    status[ONLY_ONES] = others == 0
    status[ROWS], status[PAIRS] = np.int64(row), np.int64(n)


@helper
def _parse_line(text, at, row, indptr, n, indices, values, hard, status):
    """Parse the rest of a line by the full grammar, with its errors; return the offset after it, rows and pairs."""
    while True:
        while KINDS[text[at]] == SPACE:
            at += U1
        begin = at
        if KINDS[text[at]] >= COMMENT:
            if text[at] == NEWLINE or n > np.uint64(indptr[row]):
                row += U1
                indptr[row] = np.int64(n)
            return line_end(text, at), row, n
        code = 0
        label, at = parse_id(text, at)
        if text[at] != COLON or at == begin:
            code = NO_COLON if at > begin and KINDS[text[at]] >= LINE_END else BAD_ID
        if label == TOO_LARGE:
            code = ID_TOO_LARGE
        number = at + U1
        while KINDS[text[at]] < LINE_END:
            at += U1
        if code == 0:
            if at == number:
                code = NO_VALUE
            else:
                indices[n] = np.int64(label)
                values[n], code = parse_number(text, number, at)
                if code == UNDECIDED:
                    code = HARD_FULL
                    count = status[0]
                    if count < hard.shape[0]:
                        hard[count, 0] = np.int64(n)
                        hard[count, 1] = np.int64(number)
                        hard[count, 2] = np.int64(at)
                        status[0] = count + 1
                        code = 0
        if code != 0:
            status[1] = code
            status[2] = np.int64(begin)
            status[3] = np.int64(row)
            status[4] = np.int64(at)
            return at, row, n
        n += U1


@kernel
def write_as_pairs(text: Bytes, start: int, stop: int, copy: Bytes) -> int:
    """Write [start, stop) of text to the same place of a copy, with colons for blanks, and blanks for tabs.

    Returns the end.
    """
    for at in range(np.uint64(start), np.uint64(stop)):
        byte = text[at]
        copy[at] = np.uint8(COLON) if byte == BLANK else np.uint8(BLANK) if byte == TAB else byte
    return stop
