"""Kernels that find the first words of lines, of which the rest is not looked at."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import kernel
from xmceval.kernels.text.fields import is_blank
from xmceval.kernels.text.lines import DIGIT_0, HASH, KINDS, NEWLINE, SPACE, Bytes, Floats, Ints, line_end
from xmceval.kernels.text.numbers import FAST, MINUS, parse_decimal, parse_number

U1 = np.uint64(1)
LONGEST_PLACE = 18  # digits

# Slots of the status: how many rows and lines there are.
ROWS, LINES = range(2)


@kernel
def split_first_words(
    text: Bytes,
    start: int,
    stop: int,
    number: int,
    words: Ints,
    counts: Ints,
    lines: Ints,
    values: Floats,
    are_hard: Bytes,
    status: Ints,
) -> None:
    """Find the first words of each line of [start, stop) that has any; what follows a # where a word may begin is none.

    Parameters
    ----------
    text : uint8 [n_bytes]
        The last byte before `stop` ends a line.
    number : int
        Which of the words is a number; -1 for the last one of each line.
    words : int64 [n_words, 2, at least n_rows]
        Begin and end of each, which are equal where a line has fewer.
    counts : int64 [at least n_rows]
        How many words a line has, at most n_words + 1, which stands for more.
    lines : int64 [at least n_rows]
        The number of the line, from 0 on.
    values : float64 [at least n_rows]
        The number of each line, 0 where there is none.
    are_hard : uint8 [at least n_rows]
        1 where that word has to be read by the caller: what is no number, or NaN.
    status : int64 [2]
    """
    n_words = words.shape[0]
    at, end = np.uint64(start), np.uint64(stop)
    row, line = 0, 0
    while at < end:
        begin, count = at, 0
        if FAST and number < 0:  # a line that is a number needs no search for words
            first = at + U1 if text[at] == MINUS else at
            value, _, last = parse_decimal(text, first)
            if last != first and last < end and text[last] == NEWLINE:
                words[0, 0, row], words[0, 1, row] = at, last
                for missing in range(1, n_words):
                    words[missing, 0, row], words[missing, 1, row] = last, last
                counts[row], lines[row], are_hard[row] = 1, line, 0
                values[row] = -value if first != at else value
                row += 1
                line += 1
                at = last + U1
                continue
        while count <= n_words:
            while is_blank(text[at]) and text[at] != NEWLINE:
                at += U1
            is_comment = text[at] == HASH and (at == begin or KINDS[text[at - U1]] == SPACE)
            if text[at] == NEWLINE or is_comment:
                break
            if count < n_words:
                words[count, 0, row] = at
                while not is_blank(text[at]):
                    at += U1
                words[count, 1, row] = at
            count += 1
        if count > 0:
            for missing in range(count, n_words):
                words[missing, 0, row], words[missing, 1, row] = at, at
            counts[row], lines[row], values[row], are_hard[row] = count, line, 0.0, 0
            which = number if number >= 0 else count - 1
            if which < min(count, n_words):
                value, code = parse_number(text, np.uint64(words[which, 0, row]), np.uint64(words[which, 1, row]))
                values[row], are_hard[row] = value, np.uint8(code != 0 or np.isnan(value))
            row += 1
        at = line_end(text, at)
        line += 1
    status[ROWS], status[LINES] = row, line


@kernel
def parse_places(text: Bytes, begins: Ints, ends: Ints, places: Ints) -> None:
    """Write the whole number from 0 on that each word is, or -1 for other words and above 18 digits."""
    for row in range(begins.size):
        place, begin, end = np.int64(0), np.uint64(begins[row]), np.uint64(ends[row])
        is_place = begin < end and np.int64(end - begin) <= LONGEST_PLACE
        for at in range(begin, end if is_place else begin):
            digit = np.int64(text[at]) - DIGIT_0
            is_place &= digit >= 0 and digit <= 9
            place = 10 * place + digit
        places[row] = place if is_place else -1
