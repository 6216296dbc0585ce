"""Pairs kernel: rows of usual `id:value` pairs in text, eight pairs at a time."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np

from xmceval.kernels.compile import helper, kernel
from xmceval.kernels.vector import instruction
from xmceval.kernels.text.lines import (
    EXPONENT,
    KINDS,
    LARGEST,
    LINE_END,
    NEWLINE,
    NOT_NOTICED,
    ONLY_ONES,
    PAIRS,
    ROWS,
    Bytes,
    Floats,
    Ints,
    count_ones,
    equal_mask,
    lowest_one,
)
from xmceval.kernels.text.numbers import FAST, SCALES, eight_digits, join_digits, to_float

PLUS, MINUS, POINT, COLON, BLANK, TAB = b"+-.: \t"

# With an int literal numba turns uint64 into int64, and signed indices pay for Python's negative ones.
U0, U1, U2, U8, U15, U16, U24, U32, U63, U64 = (np.uint64(i) for i in (0, 1, 2, 8, 15, 16, 24, 32, 63, 64))
ALL_BITS = np.uint64(2**64 - 1)

CHUNK = np.uint64(8192)  # so little text that its marks stay in the innermost cache
# Sizes and types of the working space of `parse_pairs`: marks and stops.
PAIR_SPACE = ((int(CHUNK + U64 + U64), np.uint16), (int(CHUNK + U64 + U64), np.uint8))
LOOKAHEAD = np.uint64(4)  # the marks a pair may have after its colon: point, e, sign, end
PATTERNS = np.frombuffer(b": " * 32 + (b":. " * 22)[:64], np.uint8)  # the marks of pairs in one line
EIGHT_OF_TWO, EIGHT_OF_THREE = (np.uint64(sum(1 << step * i for i in range(8))) for step in (2, 3))
COMPRESSES, SHUFFLES = instruction("COMPRESSES"), instruction("SHUFFLES")
_non_digit_mask, _word_at = instruction("non_digit_mask"), instruction("word_at")
_compress, _compress_eights = instruction("compress"), instruction("compress_eights")
_ids_of_wholes, _ids_of_decimals, _digits = map(instruction, ("ids_of_wholes", "ids_of_decimals", "digits"))
_short, _long, _longest = map(instruction, ("short", "long", "longest"))
_same_mask, _falls, _others = map(instruction, ("same_mask", "falls", "others"))


@helper
def _find_marks(text, at, end, marks, stops):
    """Write the offset and byte of each non-digit, except a minus after a colon; return their number."""
    base = at - U1
    marks[0] = 0
    count = U1
    carry = U0
    mask = U0
    while at < end:
        mask = _non_digit_mask(text, at)
        colons = equal_mask(text, at, COLON)
        mask &= ~(equal_mask(text, at, MINUS) & (colons << U1 | carry))
        carry = colons >> U63
        if COMPRESSES:
            _compress(text, at, mask, base, marks, stops, count)
        elif SHUFFLES:
            _compress_eights(text, at, mask, base, marks, stops, count)
        else:
            # Eight at a time, the last of them surplus: a branch per mark would be mispredicted.
            left = mask
            place = count
            while left != U0:
                for i in range(8):
                    mark = at + (lowest_one(left) & U63)
                    marks[place + np.uint64(i)] = mark - base
                    stops[place + np.uint64(i)] = text[mark]
                    left &= left - U1
                place += U8
        count += count_ones(mask)
        at += U64
    return count - count_ones(mask >> U1 >> (U63 - (at - end)))  # without what is beyond the end


@kernel
def parse_pairs(
    text: Bytes, start: int, stop: int, indptr: Ints, indices: Ints, values: Floats, status: Ints, space: Any
) -> int:
    """Parse rows of usual `id:value` pairs; return the offset where `parse_lines` has to go on, or `stop`.

    `status`, int64 [STATUS_SIZE], tells how much was parsed before. `space` is working space, as PAIR_SPACE has it.
    """
    at = np.uint64(start)
    end = np.uint64(stop)
    row = np.uint64(status[ROWS])
    n = np.uint64(status[PAIRS])
    indptr[0] = 0
    marks, stops = space
    mark = U0
    safe = U0
    base = at
    patience = U16
    last = np.int64(-1)
    largest = np.int64(-1)
    starts = U1  # which of the next eight pairs begin a row
    falls = row + n  # nonzero once a label is not above the one before it in its row, or may not be
    others = U0
    while FAST and at < end:
        if mark >= safe:
            mark = U1
            base = at - U1
            safe = _find_marks(text, at, min(end, at + CHUNK), marks, stops)
            if end - at > CHUNK:
                safe = safe - LOOKAHEAD if safe > LOOKAHEAD else U1
        # Eight pairs at a time, as long as they all have the same marks.
        first = n
        wholes = stops[mark + U1] != POINT
        pattern = U0 if wholes else U64
        colons = EIGHT_OF_TWO if wholes else EIGHT_OF_THREE
        last_each = colons << (U1 if wholes else U2)
        step = U16 if wholes else U24
        surplus = ALL_BITS << step
        while mark + step <= safe:
            ends = equal_mask(stops, mark, NEWLINE) & last_each
            if _same_mask(stops, mark, PATTERNS, pattern) | ends | surplus != ALL_BITS:
                break
            if wholes:
                if _ids_of_wholes(text, base, marks, mark, indices, n) != U0:
                    break
                if _digits(text, base, marks, mark, values, n) != U0:
                    break
            else:
                if _ids_of_decimals(text, base, marks, mark, indices, n) != U0:
                    break
                if (
                    _short(text, base, marks, mark, values, n) != U0
                    and _long(text, base, marks, mark, values, n) != U0
                    and _longest(text, base, marks, mark, values, n) != U0
                ):
                    break
            while ends != U0:
                row += U1
                count = count_ones(colons & (ends - U1))
                indptr[row] = np.int64(n + count)
                largest = max(largest, indices[n + count - U1])
                starts |= U1 << count
                ends &= ends - U1
            falls |= _falls(indices, n, last) & ~starts
            others |= _others(values, n)
            starts >>= U8
            n += U8
            last = indices[n - U1]
            mark += step
        if n != first:
            at = base + np.uint64(marks[mark - U1]) + U1
            patience = U16
        else:
            patience = min(patience + patience, CHUNK)
        limit = min(safe, mark + patience)
        while mark < limit:
            colon = base + np.uint64(marks[mark])
            id_digits = colon - at
            if stops[mark] != COLON:
                kind = KINDS[stops[mark]]
                if id_digits != U0 or kind < LINE_END:
                    break
                at += U1
                mark += U1
            else:
                negative = np.uint64(text[colon + U1] == MINUS)
                begin = colon + U1 + negative
                mark_end = mark + U1
                point = base + np.uint64(marks[mark_end])
                pointed = U0
                if stops[mark_end] == POINT:
                    pointed = U1
                    mark_end = mark + U2
                token_end = base + np.uint64(marks[mark_end])
                whole = point - begin
                digits = token_end - begin - pointed
                kind = KINDS[stops[mark_end]]
                if id_digits - U1 >= U8 or whole >= U8 or digits - U1 >= U24:
                    break
                mantissa = join_digits(text, begin, whole, digits)
                if mantissa == ALL_BITS:
                    break
                if digits <= U15 and kind >= LINE_END:
                    value = np.float64(np.int64(mantissa)) / SCALES[digits - whole + negative * U32]
                else:
                    power = np.int64(whole) - np.int64(digits)
                    if kind == EXPONENT:
                        begin = token_end + U1
                        mark_end += U1
                        below = text[begin] == MINUS
                        if base + np.uint64(marks[mark_end]) == begin and (below or text[begin] == PLUS):
                            begin += U1
                            mark_end += U1
                        token_end = base + np.uint64(marks[mark_end])
                        kind = KINDS[stops[mark_end]]
                        digits = token_end - begin
                        if digits - U1 >= U8:
                            break
                        exponent = np.int64(eight_digits(_word_at(text, begin) << (U8 - digits) * U8))
                        power += -exponent if below else exponent
                    value = to_float(mantissa, power)
                    if np.isnan(value):
                        break
                    if negative != U0:
                        value = -value
                if kind < LINE_END:
                    break
                label = np.int64(eight_digits(_word_at(text, at) << (U8 - id_digits) * U8))
                if label <= last:
                    falls |= starts ^ U1
                if value != 1.0:
                    others = U1
                starts = U0
                last = label
                indices[n] = label
                values[n] = value
                n += U1
                at = token_end + U1
                mark = mark_end + U1
            if kind == LINE_END:
                row += U1
                indptr[row] = np.int64(n)
                largest = max(largest, last)
                starts = U1
        if mark < limit or safe <= U1:
            break
    status[LARGEST] = largest if falls == U0 else NOT_NOTICED
    status[ONLY_ONES] = others == U0
    status[ROWS] = np.int64(row)
    status[PAIRS] = np.int64(n)
    return int(at)


@kernel
def write_as_pairs(text: Bytes, start: int, stop: int, copy: Bytes) -> int:
    """Write [start, stop) of text to the same place of a copy, with colons for blanks, and blanks for tabs.

    Returns the end.
    """
    for at in range(np.uint64(start), np.uint64(stop)):
        byte = text[at]
        copy[at] = np.uint8(COLON) if byte == BLANK else np.uint8(BLANK) if byte == TAB else byte
    return stop
