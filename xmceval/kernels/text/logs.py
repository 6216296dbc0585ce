"""Kernels that parse the lines of ``group,label,score`` files, and number the groups that are not integers."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import kernel

# Bits that `parse_lines` sets in `kind` for what it leaves to Python.
PLAIN, ODD_GROUP, SAME_GROUP, ODD_LABEL, ODD_SCORE, WRONG = 0, 1, 2, 4, 8, 16

SCORE_BYTES = 32  # bytes of a score that are returned unparsed

NEWLINE, RETURN, QUOTE, COMMA, DOT, BLANK, TAB = 10, 13, 34, 44, 46, 32, 9

PLUS, MINUS, ZERO, NINE, LOWER_E, UPPER_E = 43, 45, 48, 57, 101, 69

POWERS_OF_TEN = tuple(float(10**power) for power in range(23))  # exact in float64

LARGEST_EXACT = 2**53


@kernel
def count_lines(text, start, stop):
    """Count the newlines in [start, stop) of text, uint8 [n_bytes]."""
    n = 0
    for at in range(np.uint64(start), np.uint64(stop)):
        n += text[at] == NEWLINE
    return n


@kernel
def parse_lines(text, start, stop, groups, labels, scores, kind, fields, raw):
    """Parse lines of ``group,label,score``; return their number.

    Parsed here are groups of at most 18 digits without a leading zero, labels 0 and 1, and scores that one operation
    on float64 gives exactly. Anything else is marked in `kind`; the bounds of the fields (start, first comma, second
    comma, end) are in `fields`, and the bytes of such a score in `raw`. `groups` are int64, `labels` bool, `scores`
    float64 and `kind` uint8 [n_lines], `fields` int64 [n_lines, 4], `raw` uint8 [n_lines, SCORE_BYTES].
    """
    row = 0
    at = np.uint64(start)
    end = np.uint64(stop)
    one = np.uint64(1)
    has_last = False  # whether the line before has a group
    last_start, last_stop = at, at
    while at < end:
        begin = at
        first = end
        second = end
        n_commas = 0
        quoted = False
        while at < end and text[at] != NEWLINE:
            byte = text[at]
            if byte == COMMA:
                n_commas += 1
                if n_commas == 1:
                    first = at
                elif n_commas == 2:
                    second = at
            elif byte == QUOTE:
                quoted = True
            at += one
        line_end = at
        at += one
        if line_end > begin and text[line_end - one] == RETURN:
            line_end -= one
        fields[row, 0], fields[row, 1], fields[row, 2], fields[row, 3] = begin, first, second, line_end
        if n_commas != 2 or quoted:
            kind[row] = WRONG
            has_last = False
            row += 1
            continue
        marks = PLAIN

        length = first - begin
        same = has_last and length == last_stop - last_start
        if same:
            for i in range(length):
                if text[begin + np.uint64(i)] != text[last_start + np.uint64(i)]:
                    same = False
                    break
        if same:
            marks |= SAME_GROUP
        else:
            number = np.int64(0)
            plain = 0 < length <= 18 and (text[begin] != ZERO or length == 1)
            for i in range(begin, first if plain else begin):
                byte = text[np.uint64(i)]
                if byte < ZERO or byte > NINE:
                    plain = False
                    break
                number = number * 10 + np.int64(byte - ZERO)
            groups[row] = number
            if not plain:
                marks |= ODD_GROUP
        has_last = True
        last_start, last_stop = begin, first

        if second - first == 2 and (text[first + one] == ZERO or text[first + one] == ZERO + 1):
            labels[row] = text[first + one] == ZERO + 1
        else:
            marks |= ODD_LABEL

        i = second + one
        minus = False
        if i < line_end and (text[i] == MINUS or text[i] == PLUS):
            minus = text[i] == MINUS
            i += one
        digits, n_digits, places = np.int64(0), 0, 0
        after_dot = False
        while i < line_end and n_digits < 18:
            byte = text[i]
            if ZERO <= byte <= NINE:
                digits = digits * 10 + np.int64(byte - ZERO)
                n_digits += 1
                places += after_dot
            elif byte == DOT and not after_dot:
                after_dot = True
            else:
                break
            i += one
        exponent, exact = 0, n_digits > 0
        if exact and i < line_end and (text[i] == LOWER_E or text[i] == UPPER_E):
            i += one
            down = False
            if i < line_end and (text[i] == MINUS or text[i] == PLUS):
                down = text[i] == MINUS
                i += one
            exact = i < line_end
            while i < line_end and ZERO <= text[i] <= NINE and exponent < 1000:
                exponent = exponent * 10 + np.int64(text[i] - ZERO)
                i += one
            exponent = -exponent if down else exponent
        exponent -= places
        if exact and i == line_end and digits <= LARGEST_EXACT and -22 <= exponent <= 22:
            score = np.float64(digits)
            score = score / POWERS_OF_TEN[-exponent] if exponent < 0 else score * POWERS_OF_TEN[exponent]
            scores[row] = -score if minus else score
        else:
            marks |= ODD_SCORE
            for j in range(SCORE_BYTES):
                here = second + one + np.uint64(j)
                raw[row, j] = text[here] if here < line_end else 0
        kind[row] = marks
        row += 1
    return row


@kernel
def select_fields(text, start, stop, columns, bounds, out):
    """Write three fields of each line of [start, stop) to `out`, in the order of `columns`, as a line of its own.

    Fields are separated by commas; one in quotes is written with them. A blank line stays one. Returns the number of
    bytes written, and the first line, from 0 on, that has not `n_columns` fields, or -1. `columns` are int64 [3],
    `bounds` is working space, int64 [2, n_columns], `out` is uint8 [stop - start].
    """
    n_columns = bounds.shape[1]
    at, written, line = start, 0, 0
    while at < stop:
        end = at
        while end < stop and text[end] != NEWLINE:
            end += 1
        last = end - 1 if end > at and text[end - 1] == RETURN else end
        is_blank = True
        for i in range(at, last):
            if text[i] != BLANK and text[i] != TAB:
                is_blank = False
                break
        if not is_blank:
            n_fields, i = 0, at
            while True:
                first = i
                if i < last and text[i] == QUOTE:
                    i += 1
                    while i < last and (text[i] != QUOTE or (i + 1 < last and text[i + 1] == QUOTE)):
                        i += 1 if text[i] != QUOTE else 2
                while i < last and text[i] != COMMA:
                    i += 1
                if n_fields < n_columns:
                    bounds[0, n_fields], bounds[1, n_fields] = first, i
                n_fields += 1
                if i >= last:
                    break
                i += 1
            if n_fields != n_columns:
                return written, line
            for j in range(columns.size):
                if j:
                    out[written] = COMMA
                    written += 1
                for i in range(bounds[0, columns[j]], bounds[1, columns[j]]):
                    out[written] = text[i]
                    written += 1
        out[written] = NEWLINE
        written += 1
        at = end + 1
        line += 1
    return written, -1


@kernel
def intern_groups(text, fields, kind, groups, slots, hashes, ends, arena, n_groups):
    """Number the groups of lines whose `kind` has ODD_GROUP: -1 for the first one met, -2 for the second.

    `slots` is a hash table of group indices (-1: free); its size is a power of two, and it is never full. The bytes of
    group i are ``arena[ends[i]:ends[i + 1]]``. Returns the number of groups.
    """
    mask = np.uint64(slots.size - 1)
    for row in range(kind.size):
        if kind[row] & (ODD_GROUP | WRONG) != ODD_GROUP:
            continue
        start, stop = fields[row, 0], fields[row, 1]
        hashed = np.uint64(2166136261)  # FNV-1a of 32 bits, which plain Python computes alike
        for at in range(start, stop):
            hashed = ((hashed ^ np.uint64(text[at])) * np.uint64(16777619)) & np.uint64(0xFFFFFFFF)
        hashed ^= hashed >> np.uint64(15)
        slot = hashed & mask
        while True:
            index = slots[slot]
            if index < 0:
                slots[slot] = n_groups
                hashes[n_groups] = hashed
                end = ends[n_groups]
                for at in range(start, stop):
                    arena[end] = text[at]
                    end += 1
                n_groups += 1
                ends[n_groups] = end
                index = n_groups - 1
                break
            if hashes[index] == hashed and ends[index + 1] - ends[index] == stop - start:
                begin, same = ends[index], True
                for at in range(start, stop):
                    if arena[begin + at - start] != text[at]:
                        same = False
                        break
                if same:
                    break
            slot = (slot + np.uint64(1)) & mask
        groups[row] = -1 - index
    return n_groups


@kernel
def fill_slots(hashes, n_groups, slots):
    """Insert all groups, by `hashes`, uint64 [at least n_groups], into a new hash table, int64 [n_slots] of -1."""
    mask = np.uint64(slots.size - 1)
    for index in range(n_groups):
        slot = hashes[index] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = index
