"""Number helpers: decimal numbers in text, rounded as float() rounds them."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np

from xmceval.kernels.compile import helper
from xmceval.kernels.vector import PLAIN, instruction
from xmceval.kernels.text.lines import BAD_NUMBER, DIGIT, DIGIT_0, KINDS, lowest_one

FAST = not PLAIN  # plain Python parses byte by byte, as numpy warns of words that overflow

UNDECIDED = -1

PLUS, MINUS, POINT = b"+-."
LOWER, LOWER_A, LOWER_E, LOWER_Z = b" aez"  # a letter | LOWER is lower case

# With an int literal numba turns uint64 into int64, and signed indices pay for Python's negative ones.
U0, U1, U3, U5, U8, U9, U10, U15, U16, U17, U19, U24, U31, U32, U63 = (
    np.uint64(i) for i in (0, 1, 3, 5, 8, 9, 10, 15, 16, 17, 19, 24, 31, 32, 63)
)
ALL_BITS = np.uint64(2**64 - 1)
EXACT_MAX = np.uint64(2**53)
HIDDEN_BIT = np.uint64(2**52)
EXPONENT_MAX = 2**40  # beyond any that matters, and safe to multiply by ten

LEAST_POWER, MOST_POWER = -342, 308

POW10 = np.array([10**i for i in range(20)], np.uint64)
SCALES = np.array([sign * float(10**i) for sign in (1, -1) for i in range(32)])  # 10**22 is the last exact one


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

_high_product, _leading_zeros, _as_float = map(instruction, ("high_product", "leading_zeros", "as_float"))
_non_digit_mask, _word_at = map(instruction, ("non_digit_mask", "word_at"))


@helper
def eight_digits(word):
    """Return the number of eight ASCII digits, the first one in the lowest byte; zero bytes are digits 0."""
    word &= np.uint64(0x0F0F0F0F0F0F0F0F)
    word = (word * np.uint64(10 << 8 | 1) >> U8) & np.uint64(0x00FF00FF00FF00FF)
    word = (word * np.uint64(100 << 16 | 1) >> U16) & np.uint64(0x0000FFFF0000FFFF)
    return word * np.uint64(10000 << 32 | 1) >> U32


@helper
def to_float(mantissa, power):
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


if PLAIN:

    def to_float(mantissa, power):
        """Return it as float() does."""
        return float(f"{mantissa}e{power}")


def _name(letters):
    return np.uint64(sum((byte & 31) << 5 * i for i, byte in enumerate(reversed(letters))))


INF, INFINITY, NAN = _name(b"inf"), _name(b"infinity"), _name(b"nan")


@helper
def join_digits(text, begin, whole, digits):
    """Return the number of 1 to 24 digits, of which at most 7 are before a point; ALL_BITS from 10**19 on.

    The point is not looked at: what follows the whole digits is.
    """
    before = (U1 << whole * U8) - U1
    head = (_word_at(text, begin) & before) | (_word_at(text, begin + U1) & ~before)
    mantissa = U0
    rest = digits
    if rest > U8:
        mantissa = eight_digits(head)
        head = _word_at(text, begin + U9)
        rest -= U8
        if rest > U8:
            mantissa = mantissa * POW10[U8] + eight_digits(head)
            head = _word_at(text, begin + U17)
            rest -= U8
            if mantissa >= POW10[U19 - rest]:
                return ALL_BITS
    return mantissa * POW10[rest] + eight_digits(head << (U8 - rest) * U8)


@helper
def parse_decimal(text, at):
    """Parse digits, up to 7 and more after a point; return the number, how many are before it, and the offset after it.

    That offset is `at` where the digits are others or too many.
    """
    value = 0.0
    marks = _non_digit_mask(text, at)
    whole = lowest_one(marks)
    end, digits = at + whole, whole
    if text[end] == POINT:
        end = at + lowest_one(marks & (marks - U1))
        digits = end - at - U1
    if whole >= U8 or digits - U1 >= U24:
        return value, whole, at
    mantissa = join_digits(text, at, whole, digits)
    if mantissa == ALL_BITS:
        return value, whole, at
    if digits <= U15:
        return np.float64(np.int64(mantissa)) / SCALES[digits - whole], whole, end
    value = to_float(mantissa, np.int64(whole) - np.int64(digits))
    return value, whole, at if np.isnan(value) else end


@helper
def parse_number(text, at, end):
    """Parse a number as float() does; return it and 0, UNDECIDED or BAD_NUMBER. 64 bytes follow in the text."""
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += U1
    value = 0.0
    if FAST:
        value, _, last = parse_decimal(text, at)
        if last == end and last != at:
            return (-value if negative else value), 0
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
    value = to_float(mantissa, power)
    if np.isnan(value) or (is_cut and value != to_float(mantissa + U1, power)):
        return value, UNDECIDED
    return (-value if negative else value), 0
