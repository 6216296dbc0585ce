"""Kernels for lines of ``group,label,score`` files."""

from __future__ import annotations

import numba
import numpy as np

kernel = numba.njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)

# What `parse` writes into `kind` for what it leaves to Python.
PLAIN, ODD_GROUP, SAME_GROUP, ODD_LABEL, ODD_SCORE, WRONG = 0, 1, 2, 4, 8, 16

WIDTH = 32  # bytes of a score that are handed on as they are

TAB, NEWLINE, RETURN, SPACE, QUOTE, COMMA, DOT = 9, 10, 13, 32, 34, 44, 46

PLUS, MINUS, ZERO, NINE, LOWER_E, UPPER_E = 43, 45, 48, 57, 101, 69

POWERS = tuple(10.0**power for power in range(23))  # exact in float64

LARGEST = 2**53


@kernel
def count_lines(text, start, stop):
    """Count the newlines."""
    n = 0
    for at in range(np.uint64(start), np.uint64(stop)):
        n += text[at] == NEWLINE
    return n


@kernel
def parse(text, start, stop, groups, labels, scores, kind, fields, raw):
    """Parse lines of ``group,label,score``; return their number.

    A group of at most 18 digits, without a leading zero, is its number; labels 0 and 1 and scores that float64 holds
    exactly in one step are parsed here. All else is marked in `kind`, with the bounds of its fields in `fields`
    (start, first comma, second comma, end), and the bytes of a score in `raw`.
    """
    row = 0
    at = np.uint64(start)
    end = np.uint64(stop)
    one = np.uint64(1)
    known = False  # whether the line before had a group
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
            known = False
            row += 1
            continue
        marks = PLAIN

        length = first - begin
        same = known and length == last_stop - last_start
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
        known = True
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
        if exact and i == line_end and digits <= LARGEST and -22 <= exponent <= 22:
            score = np.float64(digits)
            score = score / POWERS[-exponent] if exponent < 0 else score * POWERS[exponent]
            scores[row] = -score if minus else score
        else:
            marks |= ODD_SCORE
            for j in range(WIDTH):
                here = second + one + np.uint64(j)
                raw[row, j] = text[here] if here < line_end else 0
        kind[row] = marks
        row += 1
    return row


@kernel
def intern_groups(text, fields, kind, groups, slots, hashes, ends, arena, n_known):
    """Number the groups of lines whose `kind` is ODD_GROUP: -1 for the first ever seen, -2 for the next.

    `slots` is a hash table, a power of two in size and never full, of the numbers of known groups (-1: free); their
    bytes stand one after the other in `arena`, those of group i up to ``ends[i + 1]``. Returns how many are known.
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
            number = slots[slot]
            if number < 0:
                slots[slot] = n_known
                hashes[n_known] = hashed
                end = ends[n_known]
                for at in range(start, stop):
                    arena[end] = text[at]
                    end += 1
                n_known += 1
                ends[n_known] = end
                number = n_known - 1
                break
            if hashes[number] == hashed and ends[number + 1] - ends[number] == stop - start:
                begin, same = ends[number], True
                for at in range(start, stop):
                    if arena[begin + at - start] != text[at]:
                        same = False
                        break
                if same:
                    break
            slot = (slot + np.uint64(1)) & mask
        groups[row] = -1 - number
    return n_known


@kernel
def fill_slots(hashes, n_known, slots):
    """Put the known groups into a new hash table."""
    mask = np.uint64(slots.size - 1)
    for number in range(n_known):
        slot = hashes[number] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = number
