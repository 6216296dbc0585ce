"""Kernels that parse text into arrays: rows of `id:value` pairs, or of labels before features."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np

from xmceval.kernels.decorators import PLAIN, helper, instruction, kernel

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]


# Codes in status[1] after an error; status[2:5] are the begin of the token, its row in the region, and its end.
# status[0] is the number of values that are left to the caller.
NO_COLON = 1  # an id without a colon
BAD_ID = 2  # an id that is not made of ASCII digits
ID_TOO_LARGE = 3  # an id or label above 2**63 - 1
NO_VALUE = 4  # nothing follows the colon
BAD_NUMBER = 5  # what follows the colon is not a number
BAD_LABEL = 6  # a label list other than ids separated by single commas
HARD_FULL = 7  # `hard` is too short; the text can be parsed again with a longer one

# Further slots of `status` for pairs.
LARGEST = 5  # the largest label, -1 without any, if it was noticed that labels ascend in each row and no value is NaN
ONLY_ONES = 6  # then: whether all values are 1
ROWS, PAIRS = 7, 8  # numbers of what was parsed so far
STATUS_SIZE = 9
NOT_NOTICED = -2  # instead of the largest label

UNDECIDED = -1

HASH, NEWLINE, BLANK, PLUS, COMMA, MINUS, POINT, DIGIT_0, COLON = b"#\n +,-.0:"
LOWER, LOWER_A, LOWER_E, LOWER_Z = b" aez"  # a letter | LOWER is lower case
DIGIT, EXPONENT, SPACE, LINE_END, COMMENT = 1, 2, 3, 4, 5  # kinds of bytes; SPACE and those above end a token
KINDS = np.zeros(256, np.uint8)
KINDS[[*b"eE"]] = EXPONENT
KINDS[DIGIT_0:COLON] = DIGIT
KINDS[[*b" \t\r"]] = SPACE
KINDS[NEWLINE] = LINE_END
KINDS[HASH] = COMMENT

# With an int literal numba turns uint64 into int64, and signed indices pay for Python's negative ones.
U0, U1, U2, U3, U5, U8, U9, U10, U15, U16, U17, U19, U24, U31, U32, U63, U64 = (
    np.uint64(i) for i in (0, 1, 2, 3, 5, 8, 9, 10, 15, 16, 17, 19, 24, 31, 32, 63, 64)
)
ALL_BITS = np.uint64(2**64 - 1)
TOO_LARGE = np.uint64(2**63)
EXACT_MAX = np.uint64(2**53)
HIDDEN_BIT = np.uint64(2**52)
EXPONENT_MAX = 2**40  # beyond any that matters, and safe to multiply by ten

CHUNK = np.uint64(8192)  # so little text that its marks stay in the innermost cache
# Sizes and types of the working space of `parse_pairs`: marks and stops.
PAIR_SPACE = ((int(CHUNK + U64 + U64), np.uint16), (int(CHUNK + U64 + U64), np.uint8))
LOOKAHEAD = np.uint64(4)  # the marks a pair may have after its colon: point, e, sign, end
PATTERNS = np.frombuffer(b": " * 32 + (b":. " * 22)[:64], np.uint8)  # the marks of pairs in one line
EIGHT_OF_TWO, EIGHT_OF_THREE = (np.uint64(sum(1 << step * i for i in range(8))) for step in (2, 3))
POW10 = np.array([10**i for i in range(20)], np.uint64)
SCALES = np.array([sign * float(10**i) for sign in (1, -1) for i in range(32)])  # 10**22 is the last exact one

LEAST_POWER, MOST_POWER = -342, 308


def _powers_of_five() -> np.ndarray[Any, np.dtype[np.uint64]]:
    # The leading 128 bits of 5**q, as (high, low); small negative powers are rounded up, so that exact ties show.
    words = []
    for q in range(LEAST_POWER, MOST_POWER + 1):
        power = 5 ** abs(q)
        bits = power.bit_length()
        if q < 0:
            power = (1 << (bits + 127)) // power + (q >= -27)
        else:
            power = power << (128 - bits) if bits < 128 else power >> (bits - 128)
        words.append((power >> 64, power & (2**64 - 1)))
    return np.array(words, np.uint64)


POWERS_OF_FIVE = _powers_of_five()

FAST = not PLAIN  # plain Python parses byte by byte, as numpy warns of words that overflow


# What is compiled has the instructions of these names instead.


@instruction
def _equal_mask(text, at, byte):
    """Return which of 64 bytes are equal to one."""
    return np.uint64(sum(int(b == byte) << i for i, b in enumerate(text[int(at) : int(at) + 64])))


@instruction
def _count_ones(word):
    return np.uint64(int(word).bit_count())


@instruction
def _lowest_one(word):
    return np.uint64((int(word) & -int(word)).bit_length() - 1)


COMPRESSES = instruction("COMPRESSES")
_non_digit_mask, _compress, _word_at = map(instruction, ("non_digit_mask", "compress", "word_at"))
_ids_of_wholes, _ids_of_decimals, _digits = map(instruction, ("ids_of_wholes", "ids_of_decimals", "digits"))
_short, _long, _longest = map(instruction, ("short", "long", "longest"))
_same_mask, _falls, _others = map(instruction, ("same_mask", "falls", "others"))
_high_product, _leading_zeros, _as_float = map(instruction, ("high_product", "leading_zeros", "as_float"))


@helper
def _line_end(text, at):
    """Return the offset after the newline that ends the line."""
    mask = _equal_mask(text, at, NEWLINE)
    while mask == U0:
        at += U64
        mask = _equal_mask(text, at, NEWLINE)
    return at + _lowest_one(mask) + U1


@helper
def _is_comment(text, at):
    """Return whether the first byte that is not blank is a hash."""
    while KINDS[text[at]] == SPACE:
        at += U1
    return text[at] == HASH


@kernel
def count_rows(text: Bytes, start: int, stop: int) -> tuple[int, int]:
    """Count the lines of [start, stop) that are not comment lines, and all of them."""
    at = np.uint64(start)
    end = np.uint64(stop)
    lines = U0
    hashes = U0
    while at + U64 <= end:
        lines += _count_ones(_equal_mask(text, at, NEWLINE))
        hashes |= _equal_mask(text, at, HASH)
        at += U64
    if at < end:
        inside = ALL_BITS >> (U64 - (end - at))
        lines += _count_ones(_equal_mask(text, at, NEWLINE) & inside)
        hashes |= _equal_mask(text, at, HASH) & inside
    rows = lines
    if hashes != U0:
        rows = U0
        at = np.uint64(start)
        while at < end:
            if not _is_comment(text, at):
                rows += U1
            at = _line_end(text, at)
    return int(rows), int(lines)


@kernel
def skip_rows(text: Bytes, start: int, stop: int, n: int) -> int:
    """Return the offset after the n-th row, or `stop` if there are fewer; comment lines are skipped."""
    at = np.uint64(start)
    end = np.uint64(stop)
    left = np.uint64(n)
    if n == 0:
        return start
    while at < end:
        if _equal_mask(text, at, HASH) != U0:
            break
        mask = _equal_mask(text, at, NEWLINE)
        rows = _count_ones(mask)
        if rows >= left:
            while left > U1:
                mask &= mask - U1
                left -= U1
            at += _lowest_one(mask) + U1
            return int(at) if at < end else stop
        left -= rows
        at += U64
    if at >= end:
        return stop
    at = np.uint64(start)
    left = np.uint64(n)
    while at < end and left > U0:
        if not _is_comment(text, at):
            left -= U1
        at = _line_end(text, at)
    return int(at)


@helper
def _parse_id(text, at):
    """Parse digits; return the number, at most TOO_LARGE, and the offset after them."""
    number = U0
    while KINDS[text[at]] == DIGIT:
        digit = np.uint64(text[at] - DIGIT_0)
        if number <= (TOO_LARGE - U1 - digit) // U10:
            number = number * U10 + digit
        else:
            number = TOO_LARGE
        at += U1
    return number, at


@helper
def _eight_digits(word):
    """Return the number of eight ASCII digits, the first one in the lowest byte; zero bytes are digits 0."""
    word &= np.uint64(0x0F0F0F0F0F0F0F0F)
    word = (word * np.uint64(10 << 8 | 1) >> U8) & np.uint64(0x00FF00FF00FF00FF)
    word = (word * np.uint64(100 << 16 | 1) >> U16) & np.uint64(0x0000FFFF0000FFFF)
    return word * np.uint64(10000 << 32 | 1) >> U32


@helper
def _to_float(mantissa, power):
    """Return mantissa * 10**power as float() rounds it, or nan if undecided."""
    if mantissa == U0 or power < LEAST_POWER:
        return 0.0
    if power > MOST_POWER:
        return np.inf
    # The method of Eisel and Lemire: 128 bits of the power decide, with very rare exceptions.
    zeros = _leading_zeros(mantissa)
    scaled = mantissa << zeros
    index = np.uint64(power - LEAST_POWER)
    high = _high_product(scaled, POWERS_OF_FIVE[index, U0])
    low = scaled * POWERS_OF_FIVE[index, U0]
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        carry = _high_product(scaled, POWERS_OF_FIVE[index, U1])
        low += carry
        if low < carry:
            high += U1
    if low == ALL_BITS and not -27 <= power <= 55:
        return np.nan
    top = high >> U63
    fraction = high >> (top + U9)  # 54 bits, one of them to round by
    exponent = ((217706 * power) >> 16) + 1086 + np.int64(top) - np.int64(zeros)
    if exponent <= 0:
        if exponent <= -63:
            return 0.0
        fraction >>= np.uint64(1 - exponent)
        return _as_float((fraction + (fraction & U1)) >> U1)
    if low <= U1 and -4 <= power <= 23 and fraction & U3 == U1 and fraction << (top + U9) == high:
        fraction -= U1  # exactly half way: to even
    fraction = (fraction + (fraction & U1)) >> U1
    if fraction == EXACT_MAX:
        fraction = HIDDEN_BIT
        exponent += 1
    if exponent >= 2047:
        return np.inf
    return _as_float((fraction - HIDDEN_BIT) | np.uint64(exponent) << np.uint64(52))


if not FAST:

    def _to_float(mantissa, power):
        return float(f"{mantissa}e{power}")


def _name(letters):
    return np.uint64(sum((byte & 31) << 5 * i for i, byte in enumerate(reversed(letters))))


INF, INFINITY, NAN = _name(b"inf"), _name(b"infinity"), _name(b"nan")


@helper
def _parse_number(text, at, end):
    """Parse a number as float() does; return it and 0, UNDECIDED or BAD_NUMBER."""
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += U1
    value = 0.0
    letter = text[at] | LOWER
    if letter >= LOWER_A and letter <= LOWER_Z:
        name = U0
        while at < end and name < np.uint64(1 << 40):
            letter = text[at] | LOWER
            if letter < LOWER_A or letter > LOWER_Z:
                return value, BAD_NUMBER
            name = name << U5 | (np.uint64(letter) & U31)
            at += U1
        if name == NAN:
            value = np.nan
        elif name == INF or name == INFINITY:
            value = np.inf
        else:
            return value, BAD_NUMBER
        return (-value if negative else value), 0
    mantissa = U0
    power = 0
    digits = U0  # significant ones; the mantissa holds up to 19
    is_cut = False
    has_digits = False
    point = False
    while at < end:
        byte = text[at]
        if KINDS[byte] == DIGIT:
            has_digits = True
            if digits < U19:
                mantissa = mantissa * U10 + np.uint64(byte - DIGIT_0)
                if mantissa != U0:
                    digits += U1
                power -= point
            else:
                is_cut |= byte != DIGIT_0
                power += not point
        elif byte == POINT and not point:
            point = True
        else:
            break
        at += U1
    if not has_digits:
        return value, BAD_NUMBER
    if at < end:
        if text[at] | LOWER != LOWER_E:
            return value, BAD_NUMBER
        at += U1
        below = text[at] == MINUS
        if below or text[at] == PLUS:
            at += U1
        if at == end:
            return value, BAD_NUMBER
        exponent = 0
        while at < end:
            if KINDS[text[at]] != DIGIT:
                return value, BAD_NUMBER
            if exponent < EXPONENT_MAX:
                exponent = exponent * 10 + int(text[at] - DIGIT_0)
            at += U1
        power += -exponent if below else exponent
    value = _to_float(mantissa, power)
    if np.isnan(value) or (is_cut and value != _to_float(mantissa + U1, power)):
        return value, UNDECIDED
    return (-value if negative else value), 0


@helper
def _parse_line(text, at, row, indptr, n, indices, values, hard, status):
    """Parse the rest of a line by the full grammar, with its errors; return the offset after it, rows and pairs."""
    while True:
        while KINDS[text[at]] == SPACE:
            at += U1
        begin = at
        if KINDS[text[at]] >= LINE_END:
            if text[at] == NEWLINE or n > np.uint64(indptr[row]):
                row += U1
                indptr[row] = np.int64(n)
            return _line_end(text, at), row, n
        code = 0
        label, at = _parse_id(text, at)
        if text[at] != COLON or at == begin:
            code = NO_COLON if at > begin and KINDS[text[at]] >= SPACE else BAD_ID
        if label == TOO_LARGE:
            code = ID_TOO_LARGE
        number = at + U1
        while KINDS[text[at]] < SPACE:
            at += U1
        if code == 0:
            if at == number:
                code = NO_VALUE
            else:
                indices[n] = np.int64(label)
                values[n], code = _parse_number(text, number, at)
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
        colons = _equal_mask(text, at, COLON)
        mask &= ~(_equal_mask(text, at, MINUS) & (colons << U1 | carry))
        carry = colons >> U63
        if COMPRESSES:
            _compress(text, at, mask, base, marks, stops, count)
        else:
            # Eight at a time, the last of them surplus: a branch per mark would be mispredicted.
            left = mask
            place = count
            while left != U0:
                for i in range(8):
                    mark = at + (_lowest_one(left) & U63)
                    marks[place + np.uint64(i)] = mark - base
                    stops[place + np.uint64(i)] = text[mark]
                    left &= left - U1
                place += U8
        count += _count_ones(mask)
        at += U64
    return count - _count_ones(mask >> U1 >> (U63 - (at - end)))  # without what is beyond the end


@kernel
def parse_pairs(
    text: Bytes, start: int, stop: int, indptr: Ints, indices: Ints, values: Floats, status: Ints, space: Any
) -> int:
    """Parse rows of usual `id:value` pairs; return the offset where `parse_lines` has to go on, or `stop`.

    `status` tells how much was parsed before. `space` is working space.
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
            ends = _equal_mask(stops, mark, NEWLINE) & last_each
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
                count = _count_ones(colons & (ends - U1))
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
                if id_digits != U0 or not SPACE <= kind <= LINE_END:
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
                # The digits before and after the point, without it.
                before = (U1 << whole * U8) - U1
                head = (_word_at(text, begin) & before) | (_word_at(text, begin + U1) & ~before)
                mantissa = U0
                rest = digits
                if rest > U8:
                    mantissa = _eight_digits(head)
                    head = _word_at(text, begin + U9)
                    rest -= U8
                    if rest > U8:
                        mantissa = mantissa * POW10[U8] + _eight_digits(head)
                        head = _word_at(text, begin + U17)
                        rest -= U8
                        if mantissa >= POW10[U19 - rest]:
                            break
                mantissa = mantissa * POW10[rest] + _eight_digits(head << (U8 - rest) * U8)
                if digits <= U15 and kind >= SPACE:
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
                        exponent = np.int64(_eight_digits(_word_at(text, begin) << (U8 - digits) * U8))
                        power += -exponent if below else exponent
                    value = _to_float(mantissa, power)
                    if np.isnan(value):
                        break
                    if negative != U0:
                        value = -value
                if not SPACE <= kind <= LINE_END:
                    break
                label = np.int64(_eight_digits(_word_at(text, at) << (U8 - id_digits) * U8))
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

    `hard` gets (position in values, begin, end) of each number that is left to the caller.
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
    """Parse the labels before the first blank of each row; return the number of rows, on an error those before it."""
    status[0] = 0
    status[1] = 0
    indptr[0] = 0
    at = np.uint64(start)
    end = np.uint64(stop)
    row = U0
    n = U0
    while at < end:
        if _is_comment(text, at):
            at = _line_end(text, at)
            continue
        begin = at
        first = n
        more = KINDS[text[at]] < SPACE
        while more:
            label_begin = at
            label, at = _parse_id(text, at)
            more = text[at] == COMMA
            feature = text[at] == COLON and n == first
            code = ID_TOO_LARGE if label == TOO_LARGE else 0
            if at == label_begin or not (more or feature or KINDS[text[at]] >= SPACE):
                code = BAD_LABEL
            if code != 0:
                while KINDS[text[at]] < SPACE:
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
        row += U1
        indptr[row] = np.int64(n)
        at = _line_end(text, at)
    return int(row)
