"""Parse decimal numbers in text, rounded exactly as float() does."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np

from xmceval.kernels.load import helper
from xmceval.kernels.text.bytes import n_digits, number_of, word_at
from xmceval.kernels.text.lines import BAD_NUMBER, DIGIT, DIGIT_0, KINDS

UNDECIDED = -1

PLUS, MINUS, POINT = b"+-."
LOWER, LOWER_A, LOWER_E, LOWER_Z = b" aez"  # a letter | LOWER is lower case

# With an int literal numba turns uint64 into int64, and signed indices pay for Python's negative ones.
U0, U1, U3, U5, U8, U9, U10, U11, U15, U19, U31, U32, U63, U64 = (
    np.uint64(i) for i in (0, 1, 3, 5, 8, 9, 10, 11, 15, 19, 31, 32, 63, 64)
)
STEPS = tuple(np.uint64(i) for i in (32, 16, 8, 4, 2, 1))
LOWER_HALF = np.uint64(2**32 - 1)
ALL_BITS = np.uint64(2**64 - 1)
EXACT_MAX = np.uint64(2**53)
HIDDEN_BIT = np.uint64(2**52)
EXPONENT_MAX = 2**40  # beyond any relevant exponent, and safe to multiply by ten

LEAST_POWER, MOST_POWER = -342, 308

POW10 = np.array([10**i for i in range(20)], np.uint64)
SCALES = np.array([float(10**i) for i in range(23)])  # all exact


def _powers_of_five() -> np.ndarray[Any, np.dtype[np.uint64]]:
    # The leading 128 bits of 5**q as (high, low); small negative powers are rounded up to reveal exact ties.
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


@helper
def _high_product(a, b):
    """Return the upper half of the product of two words."""
    a_high, a_low, b_high, b_low = a >> U32, a & LOWER_HALF, b >> U32, b & LOWER_HALF
    middle = a_high * b_low + (a_low * b_low >> U32)
    return a_high * b_high + (middle >> U32) + ((a_low * b_high + (middle & LOWER_HALF)) >> U32)


@helper
def _leading_zeros(word):
    """Return the number of leading zero bits of a non-zero word."""
    zeros = U0
    for step in STEPS:
        if word >> (U64 - step) == U0:
            word <<= step
            zeros += step
    return zeros


@helper
def to_float(mantissa, power):
    """Return mantissa * 10**power as float() rounds it, or nan if undecided."""
    if mantissa == U0 or power < LEAST_POWER:
        return 0.0
    if power > MOST_POWER:
        return np.inf
    # The Eisel-Lemire algorithm: 128 bits of the power suffice, with very rare exceptions.
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
    fraction = high >> (top + U9)  # 54 bits, the last one for rounding
    exponent = ((217706 * power) >> 16) + 1086 + np.int64(top) - np.int64(zeros)
    if exponent <= 0:
        if exponent <= -63:
            return 0.0
        fraction >>= np.uint64(1 - exponent)
        return np.uint64((fraction + (fraction & U1)) >> U1).view(np.float64)
    if low <= U1 and -4 <= power <= 23 and fraction & U3 == U1 and fraction << (top + U9) == high:
        fraction -= U1  # exactly halfway: round to even
    fraction = (fraction + (fraction & U1)) >> U1
    if fraction == EXACT_MAX:
        fraction = HIDDEN_BIT
        exponent += 1
    if exponent >= 2047:
        return np.inf
    return np.uint64((fraction - HIDDEN_BIT) | np.uint64(exponent) << np.uint64(52)).view(np.float64)


def _name(letters):
    return np.uint64(sum((byte & 31) << 5 * i for i, byte in enumerate(reversed(letters))))


INF, INFINITY, NAN = _name(b"inf"), _name(b"infinity"), _name(b"nan")


@helper
def parse_decimal(text, at):
    """Parse up to 7 digits and a fraction; return the number, its digits before the point, and its end.

    The end is `at` for other numbers, or those with more than 19 significant digits. Also return the integer
    formed by all digits, and the number of digits after the point.
    """
    after = U0
    if KINDS[text[at]] == DIGIT and KINDS[text[at + U1]] != DIGIT:  # nearly always
        mantissa, whole, end = np.uint64(text[at] - DIGIT_0), U1, at + U1
    else:
        word = word_at(text, at)
        whole = n_digits(word)
        if whole == U8:
            return 0.0, whole, at, U0, after
        mantissa, end = number_of(word, whole) if whole > U0 else U0, at + whole
    if text[end] == POINT:
        end += U1
        word = word_at(text, end)
        more = n_digits(word)
        while more == U8:
            if whole + after + U8 > U15 and (mantissa >= POW10[U11] or after > U15):
                return 0.0, whole, at, U0, after
            mantissa = mantissa * POW10[U8] + number_of(word, U8)
            end += U8
            after += U8
            word = word_at(text, end)
            more = n_digits(word)
        if more > U0:
            if whole + after + more > U15 and mantissa >= POW10[U19 - more]:
                return 0.0, whole, at, U0, after
            mantissa = mantissa * POW10[more] + number_of(word, more)
            end += more
            after += more
    if whole + after == U0:
        return 0.0, whole, at, U0, after
    if whole + after <= U15:
        return np.float64(np.int64(mantissa)) / SCALES[after], whole, end, mantissa, after
    value = to_float(mantissa, -np.int64(after))
    return value, whole, at if np.isnan(value) else end, mantissa, after


@helper
def parse_number(text, at, end):
    """Parse a number as float() does; return it and 0, UNDECIDED or BAD_NUMBER."""
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += U1
    value, _, last, mantissa, after = parse_decimal(text, at)
    if last == end and last != at:
        return (-value if negative else value), 0
    power, is_cut = -np.int64(after), False
    if last != at:
        at = last
    else:
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
        mantissa, power, is_cut, last = _join_many_digits(text, at, end)
        if last == at:
            return value, BAD_NUMBER
        at = last
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


@helper
def _join_many_digits(text, at, end):
    """Join digits and a point; return 19 significant digits, the power of ten, whether more count, the end."""
    first = at
    mantissa = U0
    power = np.int64(0)
    digits = U0  # significant digits; the mantissa holds up to 19
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
    return mantissa, power, is_cut, at if has_digits else first
