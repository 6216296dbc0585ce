"""Kernels that parse lists of ids or names without values, and look up the labels of names."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.text.bytes import line_end, next_blank
from xmceval.kernels.text.lines import BAD_LABEL, ID_TOO_LARGE, TOO_LARGE, parse_id, write_error
from xmceval.kernels.text.words import FREE, find_number, hash_word

UNKNOWN_NAME = 8  # a code in status[1], in addition to those of all text

HASH, NEWLINE, COMMA, DIGIT_0 = b"#\n,0"
# Kinds of bytes: where an id may begin, LINE_END and COMMENT end the row; after an id, COMMENT and OTHER are wrong.
LINE_END, COMMENT, OTHER, DIGIT, SEPARATOR, SPACE = range(6)
KINDS = np.full(256, OTHER, np.uint8)
KINDS[DIGIT_0 : DIGIT_0 + 10] = DIGIT
KINDS[COMMA] = SEPARATOR
KINDS[[*b" \t\r"]] = SPACE
KINDS[NEWLINE] = LINE_END
KINDS[HASH] = COMMENT
TAB, RETURN, BLANK = b"\t\r "

BLANKS, TABS, COMMAS = 0, 1, 2  # separators of names: blanks, only tabs, or blanks and commas

# With an int literal numba turns uint64 into int64, and signed indices pay for Python's negative ones.
U0, U1, U2, U6, U7, U12, U63 = (np.uint64(i) for i in (0, 1, 2, 6, 7, 12, 63))


@kernel("u1[:]", "i8", "i8", "i8[:]", "i8[:]", "f8[:]", "i8[:]", returns="i8")
def parse_ids(text, start, stop, indptr, indices, values, status):
    """Parse rows of ids separated by blanks or single commas; values fall from the length of the row to 1."""
    status[1] = 0
    indptr[0] = 0
    at, end = np.uint64(start), np.uint64(stop)
    row, n = U0, U0
    while at < end:
        while KINDS[text[at]] == SPACE:
            at += U1
        if text[at] == HASH:
            at = line_end(text, at)
            continue
        first = n
        needs_id = False  # after a comma
        code = 0
        begin = at
        while KINDS[text[at]] > COMMENT:
            begin = at
            label, at = parse_id(text, at)
            if at == begin or (KINDS[text[at]] <= OTHER and text[at] != NEWLINE):
                code = BAD_LABEL
                break
            if label == TOO_LARGE:
                code = ID_TOO_LARGE
                break
            indices[n] = np.int64(label)
            n += U1
            while KINDS[text[at]] == SPACE:
                at += U1
            needs_id = text[at] == COMMA
            if needs_id:
                at += U1
                while KINDS[text[at]] == SPACE:
                    at += U1
        if needs_id and code == 0:
            code = BAD_LABEL
        if code != 0:
            while text[at] != NEWLINE and KINDS[text[at]] != SPACE:
                at += U1
            write_error(status, code, begin, row, at)
            return int(row)
        for entry in range(first, n):
            values[entry] = np.float64(n - entry)
        row += U1
        indptr[row] = np.int64(n)
        at = line_end(text, at)
    return int(row)


@helper
def _name_end(text, at, separator):
    """Return the offset of the next byte that separates names or rows."""
    while True:
        if separator == COMMAS:
            while text[at] > BLANK and text[at] != COMMA:
                at += U1
        else:
            at = next_blank(text, at)
        byte = text[at]
        if byte == NEWLINE or byte == TAB or (separator != TABS and (byte == BLANK or byte == RETURN)):
            return at
        if separator == COMMAS and byte == COMMA:
            return at
        at += U1


@kernel("u1[:]", "i8", "i8", "i8", "u1[:]", "i8[:]", "i8[:]", "i8[:]", "f8[:]")
def split_names(text, start, stop, separator, prefix, indptr, begins, ends, values):
    """Find the names in each row, separated by blanks, tabs or commas; values fall from the row's length to 1.

    With a `prefix`, names are the rest of words that begin with it, anywhere in the row. `begins`
    and `ends` are int64, `values` float64 [at least indptr[-1]].
    """
    indptr[0] = 0
    at, end = np.uint64(start), np.uint64(stop)
    length = np.uint64(prefix.size)
    row, n = U0, U0
    while at < end:
        first = n
        while True:
            while KINDS[text[at]] == SPACE or (separator == COMMAS and text[at] == COMMA):
                at += U1
            begin = at
            at = _name_end(text, at, separator)
            last = at
            while last > begin and KINDS[text[last - U1]] == SPACE:
                last -= U1
            if last == begin:
                break
            if length > U0:
                size = U0
                while size < length and begin + size < last and text[begin + size] == prefix[size]:
                    size += U1
                if size < length:
                    continue
            begins[n], ends[n] = np.int64(begin + length), np.int64(last)
            n += U1
        for entry in range(first, n):
            values[entry] = np.float64(n - entry)
        row += U1
        indptr[row] = np.int64(n)
        at = line_end(text, at)


@kernel("u4[:,:]", "i8[:]", "i8[:]", "u1[:]", "u1[:]", "i8[:]", returns="i8")
def find_unicode(letters, slots, ends, blob, space, labels):
    """Look up the labels of names in UTF-32 [n, width], padded with 0; -1 for unknown and empty names.

    `space` has room for one name in UTF-8 and PADDING bytes. Return the index of the first unknown name, or -1.
    """
    unknown = -1
    for i in range(letters.shape[0]):
        size = U0
        width = letters.shape[1]
        while width > 0 and letters[i, width - 1] == 0:
            width -= 1
        for j in range(width):
            letter = np.uint64(letters[i, j])
            if letter < np.uint64(0x80):
                space[size] = np.uint8(letter)
                size += U1
            elif letter < np.uint64(0x800):
                space[size] = np.uint8(np.uint64(0xC0) | letter >> U6)
                space[size + U1] = np.uint8(np.uint64(0x80) | (letter & U63))
                size += U2
            elif letter < np.uint64(0x10000):
                space[size] = np.uint8(np.uint64(0xE0) | letter >> U12)
                space[size + U1] = np.uint8(np.uint64(0x80) | (letter >> U6 & U63))
                space[size + U2] = np.uint8(np.uint64(0x80) | (letter & U63))
                size += U2 + U1
            else:
                space[size] = np.uint8(np.uint64(0xF0) | (letter >> (U12 + U6) & U7))
                space[size + U1] = np.uint8(np.uint64(0x80) | (letter >> U12 & U63))
                space[size + U2] = np.uint8(np.uint64(0x80) | (letter >> U6 & U63))
                space[size + U2 + U1] = np.uint8(np.uint64(0x80) | (letter & U63))
                size += U2 + U2
        labels[i] = find_number(space, U0, size, hash_word(space, U0, size), slots, ends, blob) if size > U0 else FREE
        if size > U0 and labels[i] == FREE and unknown < 0:
            unknown = i
    return unknown
