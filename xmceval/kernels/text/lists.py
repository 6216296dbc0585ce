"""Kernels that parse lists of ids or names, without values, into arrays, and look names up."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import PLAIN, helper, kernel
from xmceval.kernels.text.lines import BAD_LABEL, ID_TOO_LARGE, TOO_LARGE, line_end, parse_id

UNKNOWN_NAME = 8  # a code in status[1], beside those of any text

HASH, NEWLINE, COMMA, DIGIT_0 = b"#\n,0"
# Kinds of bytes: where an id may begin, LINE_END and COMMENT end the row; after an id, COMMENT and OTHER are wrong.
LINE_END, COMMENT, OTHER, DIGIT, SEPARATOR, SPACE = range(6)
KINDS = np.full(256, OTHER, np.uint8)
KINDS[DIGIT_0 : DIGIT_0 + 10] = DIGIT
KINDS[COMMA] = SEPARATOR
KINDS[[*b" \t\r"]] = SPACE
KINDS[NEWLINE] = LINE_END
KINDS[HASH] = COMMENT
TAB, RETURN = b"\t\r"

BLANKS, TABS, COMMAS = 0, 1, 2  # what separates names: blanks, tabs only, or blanks and commas

# With an int literal numba turns uint64 into int64, and signed indices pay for Python's negative ones.
U0, U1, U2, U6, U7, U10, U12, U63 = (np.uint64(i) for i in (0, 1, 2, 6, 7, 10, 12, 63))
FNV_START, FNV_PRIME, MIX = np.uint64(14695981039346656037), np.uint64(1099511628211), np.uint64(32)
FREE = -1


@kernel
def parse_ids(text, start, stop, indptr, indices, values, status):
    """Parse rows of ids between blanks or single commas; values fall from the length of the row to 1."""
    status[0] = 0
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
            status[1] = code
            status[2] = np.int64(begin)
            status[3] = np.int64(row)
            status[4] = np.int64(at)
            return int(row)
        for entry in range(first, n):
            values[entry] = np.float64(n - entry)
        row += U1
        indptr[row] = np.int64(n)
        at = line_end(text, at)
    return int(row)


@helper
def _hash(text, begin, end):
    code = FNV_START
    for at in range(begin, end):
        code = (code ^ np.uint64(text[at])) * FNV_PRIME
    return code ^ code >> MIX


if PLAIN:  # numpy warns of words that overflow

    def _hash(text, begin, end):
        code = int(FNV_START)
        for byte in text[int(begin) : int(end)].tolist():
            code = (code ^ byte) * int(FNV_PRIME) & (2**64 - 1)
        return np.uint64(code ^ code >> int(MIX))


@helper
def _find(text, begin, end, blob, offsets, table):
    """Return the slot of a name, or the free one where it belongs."""
    mask = np.uint64(table.size) - U1
    slot = _hash(text, begin, end) & mask
    size = np.int64(end) - np.int64(begin)
    while table[slot] != FREE:
        name = table[slot]
        if offsets[name + 1] - offsets[name] == size:
            place = np.uint64(offsets[name])
            at = begin
            while at < end and text[at] == blob[place]:
                at += U1
                place += U1
            if at == end:
                break
        slot = (slot + U1) & mask
    return slot


@kernel
def index_names(blob, offsets, table, same):
    """Insert all names into an empty hash table; `same` gets the first two labels that share a name, if any.

    `blob` is uint8 [n_bytes + 1], `offsets` int64 [n_names + 1], `table` int64 [n_slots], `same` int64 [2].
    """
    for name in range(offsets.size - 1):
        begin, end = np.uint64(offsets[name]), np.uint64(offsets[name + 1])
        slot = _find(blob, begin, end, blob, offsets, table)
        if table[slot] != FREE:
            same[0], same[1] = table[slot], name
            return
        table[slot] = name


@kernel
def parse_names(text, start, stop, separator, prefix, blob, offsets, table, indptr, indices, values, status):
    """Parse rows of names between blanks, tabs or commas; values fall from the length of the row to 1.

    With a `prefix`, names are the words that begin with it, wherever they are in the row.
    """
    status[0] = 0
    status[1] = 0
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
            while text[at] != NEWLINE and (text[at] != TAB if separator == TABS else KINDS[text[at]] != SPACE):
                if separator == COMMAS and text[at] == COMMA:
                    break
                at += U1
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
            name = table[_find(text, begin + length, last, blob, offsets, table)]
            if name == FREE:
                status[1] = UNKNOWN_NAME
                status[2] = np.int64(begin)
                status[3] = np.int64(row)
                status[4] = np.int64(last)
                return int(row)
            indices[n] = name
            n += U1
        for entry in range(first, n):
            values[entry] = np.float64(n - entry)
        row += U1
        indptr[row] = np.int64(n)
        at = line_end(text, at)
    return int(row)


@kernel
def find_unicode(letters, blob, offsets, table, space, labels):
    """Look up the labels of names in UTF-32 [n, width], padded with 0; -1 for unknown and for empty names.

    `space` holds one name in UTF-8. Return the index of the first unknown name, or -1.
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
        labels[i] = table[_find(space, U0, size, blob, offsets, table)] if size > U0 else FREE
        if size > U0 and labels[i] == FREE and unknown < 0:
            unknown = i
    return unknown
