"""Kernel that splits lines of text into fields: two names and a number."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.text.bytes import next_blank
from xmceval.kernels.text.lines import HASH, NEWLINE, Bytes, Floats, Ints
from xmceval.kernels.text.numbers import parse_number
from xmceval.kernels.text.words import is_same

TAB, SPACE, RETURN = b"\t \r"

# Slots of the status: the numbers of runs, rows and lines, the number of values left to the caller, and the
# beginning of a line with other fields that ended parsing, or -1.
RUNS, ROWS, LINES, HARD, WRONG = range(5)
STATUS_SIZE = 5

U0, U1 = np.uint64(0), np.uint64(1)


@helper
def is_blank(byte):
    """Return whether bytes.split() splits at a byte."""
    return byte == SPACE or (byte >= TAB and byte <= RETURN)


@kernel("u1[:]", "i8", "i8", "i8[:]", "i8[:,:]", "i8[:,:]", "f8[:]", "i8[:,:]", "i8[:]")
def split_fields(
    text: Bytes,
    start: int,
    stop: int,
    columns: Ints,
    runs: Ints,
    fields: Ints,
    values: Floats,
    hard: Ints,
    status: Ints,
) -> None:
    """Find two names and a number in each line of [start, stop), except blank ones and those that begin with a hash.

    Fields are separated by blanks, or by single tabs with optional blanks around them.

    Parameters
    ----------
    text : uint8 [n_bytes]
    columns : int64 [5]
        The positions of the first name, the second name and the number; the number of fields; and whether only
        tabs separate them.
    runs : int64 [3, at least n_runs]
        For each run of rows with the same first name: begin and end of the name, and the first row.
    fields : int64 [2, at least n_rows]
        Begin and end of the second name.
    values : float64 [at least n_rows]
    hard : int64 [at least n_rows, 4]
        Row, line, begin and end of each value left to the caller: invalid numbers and NaN.
    status : int64 [STATUS_SIZE]
    """
    only_tabs = columns[4] != 0
    one, two, three, n_columns = columns[0], columns[1], columns[2], columns[3]
    at, end = np.uint64(start), np.uint64(stop)
    begin, line_begin = at, at
    run, row, line, n_hard, column = -1, 0, 0, 0, 0
    is_filled = False
    name_begin, name_end, run_begin, run_end, number_begin, number_end = U0, U0, U0, U0, U0, U0
    status[WRONG] = -1
    while at < end:
        mark = next_blank(text, at)
        at = mark + U1
        byte = text[mark]
        if only_tabs and byte != TAB and byte != NEWLINE:
            continue
        if not is_blank(byte):
            continue
        last = mark
        if only_tabs:
            while last > begin and is_blank(text[last - U1]):
                last -= U1
            while begin < last and is_blank(text[begin]):
                begin += U1
        is_filled |= last > begin
        if last == begin and only_tabs and (text[mark] == TAB or column > 0):
            column += n_columns + 1
        elif last > begin:
            if column == one:
                name_begin, name_end = begin, last
            elif column == two:
                fields[0, row], fields[1, row] = begin, last
            elif column == three:
                number_begin, number_end = begin, last
            column += 1
        begin = mark + U1
        if text[mark] == NEWLINE:
            if is_filled and text[line_begin] != HASH:
                if column != n_columns:
                    status[WRONG] = np.int64(line_begin)
                    break
                if run < 0 or not is_same(text, name_begin, name_end, text, run_begin, run_end):
                    run += 1
                    runs[0, run], runs[1, run], runs[2, run] = name_begin, name_end, row
                    run_begin, run_end = name_begin, name_end
                values[row], code = parse_number(text, number_begin, number_end)
                if code != 0 or np.isnan(values[row]):
                    hard[n_hard, 0], hard[n_hard, 1] = row, line
                    hard[n_hard, 2], hard[n_hard, 3] = np.int64(number_begin), np.int64(number_end)
                    n_hard += 1
                row += 1
            line += 1
            column, is_filled, line_begin = 0, False, begin
    status[RUNS], status[ROWS], status[LINES], status[HARD] = run + 1, row, line, n_hard
