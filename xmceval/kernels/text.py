"""Kernels that turn bytes of text, rows of `id:value` pairs or of labels, into arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]

kernel: Callable[..., Any] = njit(nogil=True, cache=True, error_model="numpy")

# status[1] after an error; status[2:5] are then the begin of the token, its row in the region, the end of the token.
NO_COLON = 1  # an id without a colon
BAD_ID = 2  # what stands where an id should is not made of ASCII digits
ID_TOO_LARGE = 3  # an id or label beyond 2**63 - 1
NO_VALUE = 4  # nothing follows the colon
BAD_NUMBER = 5  # what follows the colon is not a number
BAD_LABEL = 6  # a label list that is not digits separated by single commas
HARD_FULL = 7  # `hard` is too short: not the fault of the text, which can be parsed again with a longer one

UNDECIDED = -1

HASH, NEWLINE, PLUS, COMMA, MINUS, POINT, DIGIT_0, COLON = b"#\n+,-.0:"
LOWER, LOWER_A, LOWER_E, LOWER_Z = b" aez"  # a letter | LOWER is a small one
DIGIT, EXPONENT, SPACE, LINE_END, COMMENT = 1, 2, 3, 4, 5  # kinds of bytes; SPACE and more end a token
KINDS = np.zeros(256, np.uint8)
KINDS[[*b"eE"]] = EXPONENT
KINDS[DIGIT_0:COLON] = DIGIT
KINDS[[*b" \t\r"]] = SPACE
KINDS[NEWLINE] = LINE_END
KINDS[HASH] = COMMENT

# Numba makes uint64 and an int literal int64, and signed indices pay for Python's negative ones.
U0, U1, U2, U3, U5, U8, U9, U10, U15, U16, U17, U19, U24, U31, U32, U63, U64 = (
    np.uint64(i) for i in (0, 1, 2, 3, 5, 8, 9, 10, 15, 16, 17, 19, 24, 31, 32, 63, 64)
)
ALL_BITS = np.uint64(2**64 - 1)
TOO_LARGE = np.uint64(2**63)
EXACT_MAX = np.uint64(2**53)
HIDDEN_BIT = np.uint64(2**52)
EXPONENT_MAX = 2**40  # beyond any that matters, and safe to multiply by ten

CHUNK = np.uint64(8192)  # as much text as keeps its marks in the innermost cache
PAIRS = CHUNK // np.uint64(4) + U8
LOOKAHEAD = np.uint64(4)  # the marks a pair may have after its colon: point, e, sign, end
POW10 = np.array([10**i for i in range(20)], np.uint64)
EXACT_POW10 = np.array([float(10**i) for i in range(23)])

SCALES = np.array([sign * float(10**i) for sign in (1, -1) for i in range(32)])

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

if config.DISABLE_JIT:
    FAST = False  # words wrap around on purpose: as plain Python only the byte-by-byte path is taken

    def _equal_mask(text, offset, byte):
        return np.uint64(sum(int(b == byte) << i for i, b in enumerate(text[int(offset) : int(offset) + 64])))

    def _count_ones(word):
        return np.uint64(int(word).bit_count())

    def _lowest_one(word):
        return np.uint64((int(word) & -int(word)).bit_length() - 1)

    _non_digit_mask = _word_at = _high_product = _leading_zeros = _as_float = None
else:
    FAST = True

    def _address(context, builder, text_type, text, offset):
        return builder.gep(context.make_array(text_type)(context, builder, text).data, [offset])

    def _block(context, builder, text_type, text, offset):
        pointer = _address(context, builder, text_type, text, offset)
        block = builder.load(builder.bitcast(pointer, ir.VectorType(ir.IntType(8), 64).as_pointer()))
        block.align = 1
        return block

    def _every(byte):
        return ir.Constant(ir.VectorType(ir.IntType(8), 64), [byte] * 64)

    def _splat(builder, byte):
        one = builder.insert_element(_every(0), builder.trunc(byte, ir.IntType(8)), ir.IntType(32)(0))
        return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64))

    @intrinsic
    def _equal_mask(_typing, _text, _offset, _byte):
        def generate(context, builder, signature, args):
            block = _block(context, builder, signature.args[0], *args[:2])
            return builder.bitcast(builder.icmp_unsigned("==", block, _splat(builder, args[2])), ir.IntType(64))

        return types.uint64(_text, types.uint64, types.uint64), generate

    @intrinsic
    def _non_digit_mask(_typing, _text, _offset):
        def generate(context, builder, signature, args):
            shifted = builder.sub(_block(context, builder, signature.args[0], *args), _every(DIGIT_0))
            return builder.bitcast(builder.icmp_unsigned(">", shifted, _every(9)), ir.IntType(64))

        return types.uint64(_text, types.uint64), generate

    def _compresses(context):
        return "+avx512vbmi2" in str(context.codegen().magic_tuple())

    @intrinsic
    def _can_compress(_typing):
        def generate(context, _builder, _signature, _args):
            return ir.IntType(1)(int(_compresses(context)))

        return types.boolean(), generate

    @intrinsic
    def _compress(_typing, _text, _at, _mask, _marks, _stops, _count):
        # One instruction moves the marked bytes together, or their places, which are widened eight by eight.
        def generate(context, builder, signature, args):
            if not _compresses(context):
                return context.get_dummy_value()
            text, at, mask, marks, stops, count = args
            text_type, _, _, marks_type, stops_type, _ = signature.args
            byte, bit, lane = ir.IntType(8), ir.IntType(1), ir.IntType(64)
            block, lanes = ir.VectorType(byte, 64), ir.VectorType(lane, 8)
            flags = ir.VectorType(bit, 64)
            compress = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(block, [block, block, flags]),
                "llvm.x86.avx512.mask.compress.v64i8",
            )
            places = ir.Constant(block, list(range(64)))
            zeros, mask_flags = ir.Constant(block, [0] * 64), builder.bitcast(mask, flags)
            bytes_ = _block(context, builder, text_type, text, at)
            slot = _address(context, builder, stops_type, stops, count)
            packed = builder.call(compress, [bytes_, zeros, mask_flags])
            builder.store(packed, builder.bitcast(slot, block.as_pointer())).align = 1
            packed = builder.call(compress, [places, zeros, mask_flags])
            base = builder.insert_element(ir.Constant(lanes, [0] * 8), at, ir.IntType(32)(0))
            base = builder.shuffle_vector(base, base, ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8))
            size = builder.ctpop(mask)

            def store(first):
                index = ir.Constant(ir.VectorType(ir.IntType(32), 8), list(range(first, first + 8)))
                eight = builder.add(builder.zext(builder.shuffle_vector(packed, packed, index), lanes), base)
                slot = _address(context, builder, marks_type, marks, builder.add(count, lane(first)))
                builder.store(eight, builder.bitcast(slot, lanes.as_pointer())).align = 1

            store(0)
            store(8)
            for first in (16, 32, 48):
                with builder.if_then(builder.icmp_unsigned(">", size, lane(first))):
                    store(first)
                    store(first + 8)
            return context.get_dummy_value()

        return types.void(_text, types.uint64, types.uint64, _marks, _stops, types.uint64), generate

    @intrinsic
    def _word_at(_typing, _text, _offset):
        def generate(context, builder, signature, args):
            pointer = _address(context, builder, signature.args[0], *args)
            word = builder.load(builder.bitcast(pointer, ir.IntType(64).as_pointer()))
            word.align = 1
            return word

        return types.uint64(_text, types.uint64), generate

    @intrinsic
    def _count_ones(_typing, _word):
        return types.uint64(types.uint64), lambda _context, builder, _signature, args: builder.ctpop(args[0])

    @intrinsic
    def _lowest_one(_typing, _word):
        def generate(_context, builder, _signature, args):
            return builder.cttz(args[0], ir.IntType(1)(0))

        return types.uint64(types.uint64), generate

    @intrinsic
    def _leading_zeros(_typing, _word):
        def generate(_context, builder, _signature, args):
            return builder.ctlz(args[0], ir.IntType(1)(0))

        return types.uint64(types.uint64), generate

    @intrinsic
    def _high_product(_typing, _a, _b):
        def generate(_context, builder, _signature, args):
            wide = ir.IntType(128)
            product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
            return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

        return types.uint64(types.uint64, types.uint64), generate

    @intrinsic
    def _as_float(_typing, _bits):
        def generate(_context, builder, _signature, args):
            return builder.bitcast(args[0], ir.DoubleType())

        return types.float64(types.uint64), generate


@kernel
def _line_end(text, at):
    """Return the offset after the newline that ends the line."""
    mask = _equal_mask(text, at, NEWLINE)
    while mask == U0:
        at += U64
        mask = _equal_mask(text, at, NEWLINE)
    return at + _lowest_one(mask) + U1


@kernel
def _is_comment(text, at):
    """Whether the first byte that is no blank is a hash."""
    while KINDS[text[at]] == SPACE:
        at += U1
    return text[at] == HASH


@kernel
def count_rows(text: Bytes, start: int, stop: int) -> int:
    """Count the lines of [start, stop) that are not comment lines."""
    at = np.uint64(start)
    end = np.uint64(stop)
    rows = U0
    hashes = U0
    while at + U64 <= end:
        rows += _count_ones(_equal_mask(text, at, NEWLINE))
        hashes |= _equal_mask(text, at, HASH)
        at += U64
    if at < end:
        inside = ALL_BITS >> (U64 - (end - at))
        rows += _count_ones(_equal_mask(text, at, NEWLINE) & inside)
        hashes |= _equal_mask(text, at, HASH) & inside
    if hashes != U0:
        rows = U0
        at = np.uint64(start)
        while at < end:
            if not _is_comment(text, at):
                rows += U1
            at = _line_end(text, at)
    return np.int64(rows)


@kernel
def skip_rows(text: Bytes, start: int, stop: int, n: int) -> int:
    """Return the offset after the n-th row, or `stop` if there are fewer; comment lines are passed over."""
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
            return np.int64(at) if at < end else stop
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
    return np.int64(at)


@kernel
def _parse_id(text, at):
    """Read digits; returns the number, no more than TOO_LARGE, and the offset after them."""
    number = U0
    while KINDS[text[at]] == DIGIT:
        digit = np.uint64(text[at] - DIGIT_0)
        if number <= (TOO_LARGE - U1 - digit) // U10:
            number = number * U10 + digit
        else:
            number = TOO_LARGE
        at += U1
    return number, at


@kernel
def _eight_digits(word):
    """Return the number spelled by eight ASCII bytes, the first one lowest; zero bytes are digits 0."""
    word &= np.uint64(0x0F0F0F0F0F0F0F0F)
    word = (word * np.uint64(10 << 8 | 1) >> U8) & np.uint64(0x00FF00FF00FF00FF)
    word = (word * np.uint64(100 << 16 | 1) >> U16) & np.uint64(0x0000FFFF0000FFFF)
    return word * np.uint64(10000 << 32 | 1) >> U32


@kernel
def _to_float(mantissa, power):
    """Return mantissa * 10**power as float() rounds it, or nan if undecided."""
    if mantissa == U0 or power < LEAST_POWER:
        return 0.0
    if power > MOST_POWER:
        return np.inf
    if mantissa <= EXACT_MAX and power >= -22 and power <= 22:
        exact = np.float64(np.int64(mantissa))
        if power < 0:
            return exact / EXACT_POW10[np.uint64(-power)]
        return exact * EXACT_POW10[np.uint64(power)]
    if not FAST:
        return np.nan
    # The method of Eisel and Lemire: 128 bits of the power decide, with exceedingly few exceptions.
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
    if low == ALL_BITS and (power < -27 or power > 55):
        return np.nan
    top = high >> U63
    fraction = high >> (top + U9)  # 54 bits, one of them to round by
    exponent = ((217706 * power) >> 16) + 1086 + np.int64(top) - np.int64(zeros)
    if exponent <= 0:
        if exponent <= -63:
            return 0.0
        fraction >>= np.uint64(1 - exponent)
        return _as_float((fraction + (fraction & U1)) >> U1)
    if low <= U1 and power >= -4 and power <= 23 and fraction & U3 == U1 and fraction << (top + U9) == high:
        fraction -= U1  # exactly half way: to even
    fraction = (fraction + (fraction & U1)) >> U1
    if fraction == EXACT_MAX:
        fraction = HIDDEN_BIT
        exponent += 1
    if exponent >= 2047:
        return np.inf
    return _as_float((fraction - HIDDEN_BIT) | np.uint64(exponent) << np.uint64(52))


def _name(letters):
    return np.uint64(sum((byte & 31) << 5 * i for i, byte in enumerate(reversed(letters))))


INF, INFINITY, NAN = _name(b"inf"), _name(b"infinity"), _name(b"nan")


@kernel
def _parse_number(text, at, end):
    """Read what float() reads; returns the number and 0, UNDECIDED or BAD_NUMBER."""
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
        elif name == INF or name == INFINITY:  # noqa: PLR1714  (a tuple takes longer to compile)
            value = np.inf
        else:
            return value, BAD_NUMBER
        return (-value if negative else value), 0
    mantissa = U0
    power = 0
    digits = U0  # significant ones; the mantissa holds up to 19
    cut = False
    seen = False
    point = False
    while at < end:
        byte = text[at]
        if KINDS[byte] == DIGIT:
            seen = True
            if digits < U19:
                mantissa = mantissa * U10 + np.uint64(byte - DIGIT_0)
                if mantissa != U0:
                    digits += U1
                power -= point
            else:
                cut |= byte != DIGIT_0
                power += not point
        elif byte == POINT and not point:
            point = True
        else:
            break
        at += U1
    if not seen:
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
                exponent = exponent * 10 + np.int64(text[at] - DIGIT_0)
            at += U1
        power += -exponent if below else exponent
    value = _to_float(mantissa, power)
    if np.isnan(value) or (cut and value != _to_float(mantissa + U1, power)):
        return value, UNDECIDED
    return (-value if negative else value), 0


@kernel
def _parse_line(text, at, row, indptr, n, indices, values, hard, status):
    """Read the rest of a line by the whole grammar and report its errors; returns what follows it, rows and pairs."""
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


@kernel
def _find_marks(text, at, end, marks, stops):
    """Write offset and byte of all that is not a digit, without a minus after a colon; returns how many."""
    count = U0
    carry = U0
    while at < end:
        mask = _non_digit_mask(text, at)
        if end - at < U64:
            mask &= (U1 << (end - at)) - U1
        colons = _equal_mask(text, at, COLON)
        mask &= ~(_equal_mask(text, at, MINUS) & (colons << U1 | carry))
        carry = colons >> U63
        following = count + _count_ones(mask)
        if _can_compress():
            _compress(text, at, mask, marks, stops, count)
        else:
            # Eight at a time, some of them too many: a branch per mark would be mispredicted.
            while count < following:
                for i in range(8):
                    mark = at + (_lowest_one(mask) & U63)
                    marks[count + np.uint64(i)] = mark
                    stops[count + np.uint64(i)] = text[mark]
                    mask &= mask - U1
                count += U8
        count = following
        at += U64
    return count


@kernel
def _convert(heads, tails, shifts, scales, size, first, indices, values):
    """Turn words of digits into ids and values, several at once by vector instructions."""
    for i in range(size):
        indices[first + i] = np.int64(_eight_digits(np.uint64(indices[first + i])))
    for i in range(size):
        mantissa = _eight_digits(heads[i]) * shifts[i] + _eight_digits(tails[i])
        value = np.float64(np.int64(mantissa)) / scales[i]
        values[first + i] = scales[i] if shifts[i] == U0 else value


@kernel
def parse_pairs(
    text: Bytes, start: int, stop: int, indptr: Ints, indices: Ints, values: Floats, hard: Ints, status: Ints
) -> int:
    """Read rows of `id:value` pairs and return their number; on an error, the number of rows before it.

    `hard` receives (position in values, begin, end) of the numbers left to the caller, status[0] of them.
    """
    status[0] = 0
    status[1] = 0
    indptr[0] = 0
    at = np.uint64(start)
    end = np.uint64(stop)
    row = U0
    n = U0
    marks = np.empty(CHUNK + U64, np.uint64)
    stops = np.empty(CHUNK + U64, np.uint8)
    heads = np.empty(PAIRS, np.uint64)
    tails = np.empty(PAIRS, np.uint64)
    shifts = np.empty(PAIRS, np.uint64)
    scales = np.empty(PAIRS)
    mark = U0
    safe = U0
    while at < end:
        if FAST and mark >= safe:
            mark = U0
            if end - at <= CHUNK:
                safe = _find_marks(text, at, end, marks, stops)
            else:
                safe = _find_marks(text, at, at + CHUNK, marks, stops)
                safe = safe - LOOKAHEAD if safe > LOOKAHEAD else U0
        pending = U0
        while mark < safe:
            colon = marks[mark]
            id_digits = colon - at
            if stops[mark] != COLON:
                kind = KINDS[stops[mark]]
                if id_digits != U0 or (kind != SPACE and kind != LINE_END):
                    break
                at += U1
                mark += U1
            else:
                negative = np.uint64(text[colon + U1] == MINUS)
                begin = colon + U1 + negative
                mark_end = mark + U1
                point = marks[mark_end]
                pointed = U0
                if stops[mark_end] == POINT:
                    pointed = U1
                    mark_end = mark + U2
                token_end = marks[mark_end]
                whole = point - begin
                digits = token_end - begin - pointed
                kind = KINDS[stops[mark_end]]
                if id_digits - U1 >= U8 or whole >= U8 or digits - U1 >= U24:
                    break
                # The digits before the point and those after it, closed up.
                before = (U1 << whole * U8) - U1
                head = (_word_at(text, begin) & before) | (_word_at(text, begin + U1) & ~before)
                if digits <= U15 and kind >= SPACE:
                    if digits <= U8:
                        heads[pending] = head << (U8 - digits) * U8
                        tails[pending] = U0
                        shifts[pending] = U1
                    else:
                        heads[pending] = head
                        tails[pending] = _word_at(text, begin + U9) << (U16 - digits) * U8
                        shifts[pending] = POW10[digits - U8]
                    scales[pending] = SCALES[digits - whole + negative * U32]
                else:
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
                    power = np.int64(whole) - np.int64(digits)
                    if kind == EXPONENT:
                        begin = token_end + U1
                        mark_end += U1
                        below = text[begin] == MINUS
                        if marks[mark_end] == begin and (below or text[begin] == PLUS):
                            begin += U1
                            mark_end += U1
                        token_end = marks[mark_end]
                        kind = KINDS[stops[mark_end]]
                        digits = token_end - begin
                        if digits - U1 >= U8:
                            break
                        exponent = np.int64(_eight_digits(_word_at(text, begin) << (U8 - digits) * U8))
                        power += -exponent if below else exponent
                    value = _to_float(mantissa, power)
                    if np.isnan(value):
                        break
                    shifts[pending] = U0
                    scales[pending] = value if negative == U0 else -value
                if kind != SPACE and kind != LINE_END:
                    break
                indices[n] = np.int64(_word_at(text, at) << (U8 - id_digits) * U8)
                pending += U1
                n += U1
                at = token_end + U1
                mark = mark_end + U1
            if kind == LINE_END:
                row += U1
                indptr[row] = np.int64(n)
        if pending > U0:
            _convert(heads, tails, shifts, scales, pending, n - pending, indices, values)
        if mark < safe or safe == U0:
            at, row, n = _parse_line(text, at, row, indptr, n, indices, values, hard, status)
            if status[1] != 0:
                break
            while mark < safe and marks[mark] < at:
                mark += U1
    return np.int64(row)


@kernel
def parse_label_lists(text: Bytes, start: int, stop: int, indptr: Ints, indices: Ints, status: Ints) -> int:
    """Read the labels before the first blank of each row and return the rows; on an error, the rows before it."""
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
                return np.int64(row)
            if not feature:
                indices[n] = np.int64(label)
                n += U1
            at += np.uint64(more)
        row += U1
        indptr[row] = np.int64(n)
        at = _line_end(text, at)
    return np.int64(row)
