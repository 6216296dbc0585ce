"""Text kernels: any line of `id:value` pairs, with its errors, and lists of labels before features."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile import helper, kernel
from xmceval.kernels.text.lines import (
    BAD_ID,
    BAD_LABEL,
    COMMENT,
    HARD_FULL,
    ID_TOO_LARGE,
    KINDS,
    LARGEST,
    LINE_END,
    NEWLINE,
    NO_COLON,
    NO_VALUE,
    NOT_NOTICED,
    PAIRS,
    ROWS,
    SPACE,
    TOO_LARGE,
    Bytes,
    Floats,
    Ints,
    is_comment,
    line_end,
    parse_id,
)
from xmceval.kernels.text.numbers import UNDECIDED, parse_number

COMMA, COLON = b",:"

U0, U1 = np.uint64(0), np.uint64(1)


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
def parse_lines(
    text: Bytes,
    start: int,
    stop: int,
    n_lines: int,
    indptr: Ints,
    indices: Ints,
    values: Floats,
    hard: Ints,
    status: Ints,
) -> int:
    """Parse so many lines of `id:value` pairs, the first from anywhere on; return the offset after them.

    `hard`, int64 [n, 3], gets (position in values, begin, end) of each number that is left to the caller. `text` is
    uint8 [n_bytes], `status` int64 [STATUS_SIZE].
    """
    at = np.uint64(start)
    row = np.uint64(status[ROWS])
    n = np.uint64(status[PAIRS])
    left = n_lines
    while left > 0 and at < np.uint64(stop) and status[1] == 0:
        at, row, n = _parse_line(text, at, row, indptr, n, indices, values, hard, status)
        left -= 1
    status[LARGEST] = NOT_NOTICED
    status[ROWS] = np.int64(row)
    status[PAIRS] = np.int64(n)
    return int(at)


@kernel
def parse_label_lists(text: Bytes, start: int, stop: int, indptr: Ints, indices: Ints, status: Ints) -> int:
    """Parse the labels before the features of each row; return the number of rows, on an error those before it.

    `text` is uint8 [n_bytes], `indptr` int64 [n_rows + 1], `indices` int64 [at least indptr[-1]], `status` int64 [8].
    """
    status[1] = 0
    indptr[0] = 0
    at = np.uint64(start)
    end = np.uint64(stop)
    row = U0
    n = U0
    while at < end:
        if is_comment(text, at):
            at = line_end(text, at)
            continue
        begin = at
        first = n
        more = KINDS[text[at]] < LINE_END
        while more:
            label_begin = at
            label, at = parse_id(text, at)
            comma = at
            while KINDS[text[comma]] == SPACE:
                comma += U1
            more = text[comma] == COMMA
            at = comma if more else at
            feature = text[at] == COLON and n == first
            code = ID_TOO_LARGE if label == TOO_LARGE else 0
            if at == label_begin or not (more or feature or KINDS[text[at]] >= LINE_END):
                code = BAD_LABEL
            if code != 0:
                while KINDS[text[at]] < LINE_END:
                    at += U1
                status[1] = code
                status[2] = np.int64(begin)
                status[3] = np.int64(row)
                status[4] = np.int64(at)
                return int(row)
            if not feature:
                indices[n] = np.int64(label)
                n += U1
            at += np.uint64(more)
            while more and KINDS[text[at]] == SPACE:
                at += U1
        row += U1
        indptr[row] = np.int64(n)
        at = line_end(text, at)
    return int(row)
