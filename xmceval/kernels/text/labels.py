"""Kernel that parses lists of label ids before features."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import kernel
from xmceval.kernels.text.bytes import line_end
from xmceval.kernels.text.lines import (
    BAD_LABEL,
    ID_TOO_LARGE,
    KINDS,
    LINE_END,
    SPACE,
    TOO_LARGE,
    Bytes,
    Ints,
    is_comment,
    parse_id,
    write_error,
)

COMMA, COLON = b",:"

U0, U1 = np.uint64(0), np.uint64(1)


@kernel("u1[:]", "i8", "i8", "i8[:]", "i8[:]", "i8[:]", returns="i8")
def parse_label_lists(text: Bytes, start: int, stop: int, indptr: Ints, indices: Ints, status: Ints) -> int:
    """Parse the labels before the features of each row; return the number of rows, or of rows before an error.

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
                write_error(status, code, begin, row, at)
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
