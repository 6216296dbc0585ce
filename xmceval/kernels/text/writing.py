"""Kernels that format rows as text, and order the entries of rows."""

from __future__ import annotations

import ctypes

import numpy as np

from xmceval.kernels.compile.decorators import helper, instruction, kernel
from xmceval.kernels.rows.order import is_before, sort_entries

ENTRY_BYTES = 20 + 25 + 2  # for an id, a number as long as -1.2345678901234567e-308, and two separators

EXTRA_BYTES = 32  # bytes beyond the last one that a kernel may write to

FEW = 32  # up to so many best entries, insertion is faster than sorting the row

TAB, NEWLINE, PLUS, MINUS, POINT, DIGIT_0, DIGIT_9, LETTER_E = b"\t\n+-.09e"

U0, U1, U2, U3, U4, U6, U7, U8, U10, U40, U63, U64 = (np.uint64(i) for i in (0, 1, 2, 3, 4, 6, 7, 8, 10, 40, 63, 64))

TEN_4, TEN_8, TEN_9, TEN_16 = (np.uint64(10**i) for i in (4, 8, 9, 16))

HIDDEN_BIT = np.uint64(2**52)

POW10 = np.array([10**i for i in range(20)], np.uint64)

FOUR_DIGITS = np.array([sum(int(digit) << 8 * j for j, digit in enumerate(f"{i:04}")) for i in range(10000)], np.uint32)

NAMES = np.frombuffer(b"inf nan ", np.uint8)

# Most scores have at most eight or nine decimals: a double that is nearest to a multiple of 10**-9, of up to 15 digits,
# has that multiple as its shortest text. Eight digits are one word.
SCALE, SHORT_SCALE, LEAST_FIXED, MOST_SCALED = 1e9, 1e8, 1e-4, 1e6

ZEROS = np.uint64(0x3030303030303030)  # eight digits 0 in ASCII

LEAST_POWER, MOST_POWER = -292, 324


def _powers_of_ten():
    # The leading 128 bits of 10**i, rounded up, as (high, low).
    words = []
    for i in range(LEAST_POWER, MOST_POWER + 1):
        power, divisor = (10**i, 1) if i >= 0 else (1, 10**-i)
        shift = 128 - (power.bit_length() - divisor.bit_length())
        for bits in (shift, shift - 1, shift + 1):
            scaled = -(-(power << bits) // divisor) if bits >= 0 else -(-power // (divisor << -bits))
            if scaled.bit_length() == 128:
                break
        words.append((scaled >> 64, scaled & (2**64 - 1)))
    return np.array(words, np.uint64)


POWERS_OF_TEN = _powers_of_ten()

# Text is written to addresses, not into an array: numba counts references for each array that a helper takes, which
# was 20 of 24 ns per entry here.
# What is compiled has the instructions of these names instead.


@instruction
def _put(at, word):
    ctypes.c_uint64.from_address(int(at)).value = int(word)


@instruction
def _put_byte(at, byte):
    ctypes.c_uint8.from_address(int(at)).value = int(byte)


@instruction
def _byte_at(at):
    return np.uint64(ctypes.c_uint8.from_address(int(at)).value)


@instruction
def _high_product(a, b):
    return np.uint64(int(a) * int(b) >> 64)


@instruction
def _lowest_one(word):
    return np.uint64((int(word) & -int(word)).bit_length() - 1 if word else 64)


@instruction
def _leading_zeros(word):
    return np.uint64(64 - int(word).bit_length())


@instruction
def _times(a, b):
    return np.uint64(int(a) * int(b) & (2**64 - 1))


@helper
def _eight_digits(number):
    """Return the eight digits of a number below 10**8, one per byte, the first one in the lowest."""
    # A table is twice as fast as arithmetic on all digits at once.
    high = number // TEN_4
    return np.uint64(FOUR_DIGITS[high]) | np.uint64(FOUR_DIGITS[number - high * TEN_4]) << np.uint64(32)


@helper
def _write_whole(at, number):
    """Write a whole number; return the offset after it."""
    high = number // TEN_8
    if high == U0:
        digits = _eight_digits(number)
        zeros = _lowest_one(digits) >> U3
        zeros = zeros if zeros < U7 else U7
        _put(at, (digits | ZEROS) >> (zeros << U3))
        return at + U8 - zeros
    count = U1
    while count < np.uint64(20) and number >= POW10[count]:
        count += U1
    place = at + count
    while place > at:
        place -= U1
        _put_byte(place, np.uint8(np.uint64(DIGIT_0) + number % U10))
        number //= U10
    return at + count


@helper
def _round_to_odd(high, low, factor):
    """Return factor * (high, low) / 2**128, its last bit set if anything was cut off."""
    carry = _high_product(low, factor)
    middle = _times(high, factor)
    top = _high_product(high, factor)
    total = middle + carry if middle <= ~carry else middle - (~carry + U1)
    top += total < middle
    return top | np.uint64(total > U1)


@helper
def _shortest(bits):
    """Return (digits, power) of the shortest decimal that reads back as a positive double, of several the nearest.

    Raffaele Giulietti, The Schubfach way to render doubles, 2020. Digits may end in zeros.
    """
    fraction = bits & (HIDDEN_BIT - U1)
    exponent = np.int64(bits >> np.uint64(52))
    is_power = np.int64(fraction == U0 and exponent > 1)  # the next double below is nearer than the one above
    if exponent > 0:
        fraction |= HIDDEN_BIT
        q = exponent - 1075
    else:
        q = np.int64(-1074)
    odd = fraction & U1
    middle = fraction << U2
    power = (q * 1262611 - is_power * 524031) >> 22  # floor of log10, of 3/4 of it where the gap below is half
    shift = np.uint64(q + ((-power * 1741647) >> 19) + 1)
    index = np.uint64(-power - LEAST_POWER)
    high, low = POWERS_OF_TEN[index, U0], POWERS_OF_TEN[index, U1]
    lower = _round_to_odd(high, low, (middle - U2 + np.uint64(is_power)) << shift) + odd
    value = _round_to_odd(high, low, middle << shift)
    upper = _round_to_odd(high, low, (middle + U2) << shift) - odd
    digits = value >> U2
    if digits >= U10:
        tens = digits // U10
        below, above = lower <= U40 * tens, U40 * tens + U40 <= upper
        if below != above:
            return tens + np.uint64(above), power + 1
    below, above = lower <= digits << U2, (digits << U2) + U4 <= upper
    if below == above:
        half = (digits << U2) + U2
        above = value > half or (value == half and digits & U1 == U1)
    return digits + np.uint64(above), power


@helper
def _write_digits(at, digits, power):
    """Write digits * 10**power as repr() does, without a final `.0`; return the offset after it."""
    tenth = digits // U10
    while tenth * U10 == digits:
        digits = tenth
        tenth = digits // U10
        power += 1
    count = np.int64(17)
    while digits < POW10[np.uint64(count - 1)]:
        count -= 1
    point = count + power  # the value is 0.digits * 10**point
    is_plain = -4 < point <= 16
    lead = np.uint64(0)
    if is_plain and point <= 0:
        _put(at, np.uint64(0x3030303030302E30))  # "0.000000"
        at += np.uint64(2 - point)
    elif count > 1 and (not is_plain or point < count):
        lead = np.uint64(point) if is_plain else U1
    begin = at + np.uint64(lead > U0)
    aligned = digits * POW10[np.uint64(17 - count)]
    rest = aligned % TEN_16
    _put_byte(begin, np.uint8(np.uint64(DIGIT_0) + aligned // TEN_16))
    _put(begin + U1, _eight_digits(rest // TEN_8) | ZEROS)
    _put(begin + np.uint64(9), _eight_digits(rest % TEN_8) | ZEROS)
    if lead > U0:
        for i in range(lead):
            _put_byte(at + np.uint64(i), _byte_at(begin + np.uint64(i)))
        _put_byte(at + lead, POINT)
    at = begin + np.uint64(count)
    if is_plain:
        for _ in range(point - count):
            _put_byte(at, DIGIT_0)
            at += U1
        return at
    exponent = point - 1
    _put_byte(at, LETTER_E)
    _put_byte(at + U1, MINUS if exponent < 0 else PLUS)
    exponent = abs(exponent)
    at += U2
    if exponent >= 100:
        _put_byte(at, np.uint8(DIGIT_0 + exponent // 100))
        at += U1
    _put_byte(at, np.uint8(DIGIT_0 + exponent // 10 % 10))
    _put_byte(at + U1, np.uint8(DIGIT_0 + exponent % 10))
    return at + U2


@helper
def _write_number(at, value, bits):
    """Write a double; return the offset after it."""
    if LEAST_FIXED <= value < 1.0:
        scaled = np.int64(value * SHORT_SCALE + 0.5)
        if scaled / SHORT_SCALE == value:
            digits = _eight_digits(np.uint64(scaled))
            _put_byte(at, DIGIT_0)
            _put_byte(at + U1, POINT)
            _put(at + U2, digits | ZEROS)
            return at + U10 - (_leading_zeros(digits) >> U3)
    if bits >> U63 != U0 and value == value:
        _put_byte(at, MINUS)
        at += U1
        bits &= ~(U1 << U63)
        value = -value
    if value == 0.0:
        _put_byte(at, DIGIT_0)
        return at + U1
    if not value < np.inf:
        name = U4 if value != value else U0
        for i in range(U3):
            _put_byte(at + np.uint64(i), NAMES[name + np.uint64(i)])
        return at + U3
    if LEAST_FIXED <= value < MOST_SCALED:
        scaled = np.int64(value * SCALE + 0.5)
        if scaled / SCALE == value:
            whole = np.uint64(scaled)
            fraction = whole % TEN_9
            at = _write_whole(at, whole // TEN_9)
            if fraction > U0:
                _put_byte(at, POINT)
                digits = _eight_digits(fraction // U10)
                last = fraction % U10
                _put(at + U1, digits | ZEROS)
                _put_byte(at + np.uint64(9), np.uint8(np.uint64(DIGIT_0) + last))
                at += U10 if last > U0 else np.uint64(9) - (_leading_zeros(digits) >> U3)
            return at
    digits, power = _shortest(bits)
    return _write_digits(at, np.uint64(digits), power)  # numba makes both members of the pair int64


@helper
def _add_point(begin, at):
    """Write `.0` after a number if it has only digits; return the offset after it."""
    begin += np.uint64(_byte_at(begin) == MINUS)
    for i in range(at - begin):
        digit = _byte_at(begin + np.uint64(i))
        if digit < DIGIT_0 or digit > DIGIT_9:
            return at
    _put_byte(at, POINT)
    _put_byte(at + U1, DIGIT_0)
    return at + U2


@kernel
def format_rows(indptr, indices, values, bits, colon, blank, out):
    """Write a line `id:value id:value` for each row; return the number of bytes.

    `bits` are those of `values`; no value is written where `colon` is 0, and whole ones end in `.0` where `blank` is a
    tab. `out`, uint8, has ENTRY_BYTES for each entry, one byte for each row, and EXTRA_BYTES. `indptr` is int64
    [n_rows + 1], `indices` int64, `values` float64 and `bits` uint64 [at least indptr[-1]].
    """
    base = np.uint64(out.ctypes.data)
    at = base
    for row in range(indptr.size - 1):
        begin, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        for entry in range(begin, end):
            at = _write_whole(at, np.uint64(indices[entry]))
            if colon > 0:
                _put_byte(at, colon)
                number = at + U1
                at = _write_number(number, values[entry], bits[entry])
                if blank == TAB:  # 'label value' pairs: a whole number would look like another label
                    at = _add_point(number, at)
            _put_byte(at, blank)
            at += U1
        at -= np.uint64(end > begin)
        _put_byte(at, NEWLINE)
        at += U1
    return np.int64(at - base)


@helper
def _sort(indices, values, start, stop, by_score):
    """Sort a row that is not sorted yet; most are."""
    wrong = 0
    for entry in range(start + 1, stop):
        wrong += is_before(indices[entry], values[entry], indices[entry - 1], values[entry - 1], by_score)
    if wrong > 0:
        sort_entries(indices, values, start, stop, by_score)


@helper
def _select(indices, values, start, stop, last, by_score):
    """Move the best entries of a row to [start, last), sorted; the others are lost."""
    filled = start
    for entry in range(start, stop):
        label, value = indices[entry], values[entry]
        place = filled if filled < last else last - 1
        if filled == last and not is_before(label, value, indices[place], values[place], by_score):
            continue
        while place > start and is_before(label, value, indices[place - 1], values[place - 1], by_score):
            indices[place], values[place] = indices[place - 1], values[place - 1]
            place -= 1
        indices[place], values[place] = label, value
        filled += filled < last


@kernel
def order_rows(indptr, indices, values, top, by_score, by_label):
    """Keep the `top` best entries of each row, in place, and sort them by score or by label, or not at all.

    `indptr` is int64 [n_rows + 1], `indices` int64 and `values` float64 [at least indptr[-1]].
    """
    start, kept = indptr[0], indptr[0]
    for row in range(indptr.size - 1):
        stop = indptr[row + 1]
        last = start + top if stop - start > top else stop
        if last < stop and top <= FEW:
            _select(indices, values, start, stop, last, stop >= start)
        elif by_score or last < stop:
            _sort(indices, values, start, stop, stop >= start)
        if by_label:
            _sort(indices, values, start, last, stop < start)
        for entry in range(start, last):
            indices[kept], values[kept] = indices[entry], values[entry]
            kept += 1
        start = stop
        indptr[row + 1] = kept
