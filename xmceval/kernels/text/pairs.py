"""Kernel that parses rows of ``id:value`` pairs in text, and reports their errors."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.text.bytes import blank_marks, first_place, line_end, n_digits, number_of, word_at
from xmceval.kernels.text.lines import (
    BAD_ID,
    COMMENT,
    DIGIT_0,
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
    write_error,
)
from xmceval.kernels.text.numbers import POINT, POW10, SCALES, UNDECIDED, parse_decimal, parse_number

MINUS, COLON, BLANK, TAB = b"-: \t"

# With an int literal numba turns uint64 into int64, and signed indices pay for Python's negative ones.
U0, U1, U2, U8, U9, ZERO = (np.uint64(i) for i in (0, 1, 2, 8, 9, DIGIT_0))


@kernel("u1[:]", "i8", "i8", "i8[:]", "i8[:]", "f8[:]", "i8[:,:]", "i8[:]")
def parse_pairs(
    text: Bytes, start: int, stop: int, indptr: Ints, indices: Ints, values: Floats, hard: Ints, status: Ints
) -> None:
    """Parse rows of `id:value` pairs, up to the first error.

    `hard`, int64 [n, 3], receives (position in values, begin, end) of each number left to the caller. `text` is
    uint8 [n_bytes], `status` int64 [STATUS_SIZE].
    """
    status[:] = 0
    at, end = np.uint64(start), np.uint64(stop)
    row, n = U0, U0
    last, largest = np.int64(-1), np.int64(-1)
    falls, others = 0, 0  # labels not above the previous one in their row, or NaN; values that are not 1
    indptr[0] = 0
    while at < end:
        # Nearly all pairs are an id of up to 8 digits and a decimal number.
        word = word_at(text, at)
        digits = n_digits(word)
        colon = at + digits
        if digits != U0 and text[colon] == COLON:
            begin, sign = colon + U1, 1.0
            if text[begin] == MINUS:
                begin, sign = begin + U1, -1.0
            whole, after = np.uint64(text[begin]) - ZERO, begin + U1
            if whole <= U9 and KINDS[text[after]] >= LINE_END:
                value = np.float64(np.int64(whole))
            else:
                # The end of up to 17 bytes is found separately, so that the next pair can begin before this
                # number is computed.
                near = first_place(blank_marks(word_at(text, at + U1)))
                far = first_place(blank_marks(word_at(text, at + U9)))
                after = at + U1 + near + (far if near == U8 else U0)
                places, tail = after - begin - U2, word_at(text, begin + U2)
                is_usual = whole <= U9 and text[begin + U1] == POINT and KINDS[text[after]] >= LINE_END
                if is_usual and places - U1 < U8 and n_digits(tail) == places:
                    value = np.float64(np.int64(whole * POW10[places] + number_of(tail, places))) / SCALES[places]
                else:
                    value, _, after, _, _ = parse_decimal(text, begin)
            if after != begin and KINDS[text[after]] >= LINE_END:
                label, value = np.int64(number_of(word, digits)), sign * value
                indices[n], values[n] = label, value
                falls += label <= last
                others += value != 1.0
                n += U1
                last = label
                at = after + U1
                if text[after] == NEWLINE:
                    row += U1
                    indptr[row] = np.int64(n)
                    largest, last = max(largest, last), np.int64(-1)
                continue
        kind = KINDS[text[at]]
        if kind == SPACE:
            at += U1
        elif kind >= COMMENT:  # a comment line is not a row
            if kind == LINE_END or n > np.uint64(indptr[row]):
                row += U1
                indptr[row] = np.int64(n)
                largest, last = max(largest, last), np.int64(-1)
            at = line_end(text, at)
        else:
            label, value, code, after = _parse_pair(text, at, n, hard, status)
            if code != 0:
                write_error(status, code, at, row, after)
                break
            indices[n], values[n] = label, value
            falls += (label <= last) | (value != value)
            others += value != 1.0
            n += U1
            last = label
            at = after
    status[LARGEST] = largest if falls == 0 else NOT_NOTICED
    status[ONLY_ONES] = others == 0
    status[ROWS], status[PAIRS] = np.int64(row), np.int64(n)


@helper
def _parse_pair(text, at, n, hard, status):
    """Parse any pair; return the label, the value, an error code or 0, and the offset after it."""
    begin = at
    label, at = parse_id(text, at)
    code = 0
    if text[at] != COLON or at == begin:
        code = NO_COLON if at > begin and KINDS[text[at]] >= LINE_END else BAD_ID
    if label == TOO_LARGE:
        code = ID_TOO_LARGE
    number = at + U1
    while KINDS[text[at]] < LINE_END:
        at += U1
    value = np.nan
    if code == 0 and at == number:
        code = NO_VALUE
    elif code == 0:
        value, code = parse_number(text, number, at)
        if code == UNDECIDED:
            count = status[0]
            code = HARD_FULL
            if count < hard.shape[0]:
                hard[count, 0], hard[count, 1], hard[count, 2] = np.int64(n), np.int64(number), np.int64(at)
                status[0] = count + 1
                value, code = np.nan, 0
    return np.int64(label), value, code, at


@kernel("u1[:]", "i8", "i8", "u1[:]", returns="i8")
def write_as_pairs(text: Bytes, start: int, stop: int, copy: Bytes) -> int:
    """Copy [start, stop) of text to the same position of `copy`, with colons for blanks and blanks for tabs.

    Return the end.
    """
    for at in range(np.uint64(start), np.uint64(stop)):
        byte = text[at]
        copy[at] = np.uint8(COLON) if byte == BLANK else np.uint8(BLANK) if byte == TAB else byte
    return stop
