"""Instructions that add values and products of them to exact sums: of one row, or of eight rows at once.

A value is cut off to a whole number of 2^-60. Eight are split into digits so small that a float holds their products,
and the sums of these over many rows, without rounding.
"""

from __future__ import annotations

from itertools import product

from llvmlite import ir
from numba.core import cgutils

from xmceval.kernels.vector.instructions import (
    BYTE,
    DOUBLE,
    FLOATS,
    HALF,
    LANES,
    WIDE,
    WORD,
    load,
    make_instruction,
    store,
)

UNIT = 2.0**60
BITS, WORDS, MOMENTS = 60, 4, 8  # of a word, of a sum, of an output
TOP = 1 << 61  # of a sum's last word
LARGEST_PRODUCT = 2.0 ** (180 + 61)
WIDER, NUMBER = ir.IntType(192), ir.IntType(256)
FRACTION, EXPONENT = 52, 0x7FF

KEPT = 4  # rows of an output that gain most, and rows that lose most

DIGIT = 23  # bits
DIGITS = 5  # of a product; a value has three
MOST_ROWS = 1024  # of which each lane sums an eighth
BOUND = 2.0**8  # of values: no digit is above 2^22, no sum of products in a row above 2^46, none over all above 2^53
NEAREST = 1.5 * 2.0**52  # so large that adding it rounds to a whole number

PAIR, PAIR_OF_WORDS = ir.VectorType(DOUBLE, 2), ir.VectorType(WORD, 2)
ALL = ir.Constant(LANES, [*range(8)])


def _add(builder, sums, place, number):
    """Emit the addition of a number to a sum; return its last word."""
    carry = WORD(0)
    for w in range(WORDS):
        at = builder.add(place, WORD(w))
        part = builder.trunc(builder.ashr(number, NUMBER(w * BITS)), WORD)
        last = w == WORDS - 1
        part = part if last else builder.and_(part, WORD(2**BITS - 1))
        word = builder.add(builder.add(load(builder, sums, at, WORD), part), carry)
        carry = builder.ashr(word, WORD(BITS))
        store(builder, word if last else builder.and_(word, WORD(2**BITS - 1)), sums, at)
    return word


def _is_within(builder, word, top):
    return builder.icmp_unsigned("<", builder.add(word, WORD(top - 1)), WORD(2 * top - 1))


@make_instruction()
def add_product(builder, sums, place, x, y):
    """Add the product of two values, each cut off, to the sum at a place; return whether it fits."""
    fits, memory = cgutils.alloca_once(builder, WORD), cgutils.alloca_once(builder, LANES)
    x, y = (_call(builder, "trunc", builder.fmul(value, DOUBLE(UNIT))) for value in (x, y))
    rounded = builder.fmul(x, y)
    is_small = builder.fcmp_ordered("<", _call(builder, "fabs", rounded), DOUBLE(LARGEST_PRODUCT))
    builder.store(builder.zext(is_small, WORD), fits)
    with builder.if_then(builder.and_(is_small, builder.fcmp_ordered("!=", rounded, DOUBLE(0.0)))):
        fractions, shift = WIDE(1), WORD(128 - 2 * (1023 + FRACTION))
        for value in (x, y):
            bits = builder.bitcast(value, WORD)
            fraction = builder.or_(builder.and_(bits, WORD(2**FRACTION - 1)), WORD(2**FRACTION))
            fractions = builder.mul(fractions, builder.zext(fraction, WIDE))
            shift = builder.add(shift, builder.and_(builder.lshr(bits, WORD(FRACTION)), WORD(EXPONENT)))
        # Shifted by whole words in memory, where the third is the lowest of the product.
        builder.store(ir.Constant(LANES, None), memory)
        shifted = builder.shl(builder.zext(fractions, WIDER), builder.zext(builder.and_(shift, WORD(63)), WIDER))
        words = builder.bitcast(memory, WORD.as_pointer())
        store(builder, shifted, words, builder.lshr(shift, WORD(6)))
        number = load(builder, words, WORD(2), NUMBER)
        is_negative = builder.fcmp_ordered("<", rounded, DOUBLE(0.0))
        last = _add(builder, sums, place, builder.select(is_negative, builder.neg(number), number))
        builder.store(builder.zext(_is_within(builder, last, TOP), WORD), fits)
    return builder.load(fits)


def _call(builder, name, *values):
    kind = values[0].type
    signature = ir.FunctionType(kind, [kind] * len(values))
    suffix = "f64" if kind is DOUBLE else "v8f64"
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, f"llvm.{name}.{suffix}"), values)


def _constant(number):
    return ir.Constant(FLOATS, [number] * 8)


def _shuffle(builder, a, b, lanes):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(HALF, len(lanes)), lanes))


class _Rows:
    """Eight rows of an array, `step` elements from each other, and their weights."""

    def __init__(self, builder, array, at, step, weights):
        self._builder, self._array, self._weights = builder, array, weights
        self._places = [at]
        for _ in range(7):
            self._places.append(builder.add(self._places[-1], step))

    def _pairs(self, slot, kind):
        return [load(self._builder, self._array, self._builder.add(at, WORD(slot)), kind) for at in self._places]

    def columns(self, slot):
        """Return two neighbouring columns, weighted."""
        builder, pairs = self._builder, self._pairs(slot, PAIR)
        even, odd = pairs[0::2], pairs[1::2]
        while len(even) > 1:
            even, odd = (
                [_shuffle(builder, *rows[i : i + 2], [*range(2 * rows[0].type.count)]) for i in range(0, len(rows), 2)]
                for rows in (even, odd)
            )
        both = ([lane + first for i in range(0, 8, 2) for lane in (i, i + 8)] for first in (0, 1))
        return [builder.fmul(_shuffle(builder, *even, *odd, lanes), self._weights) for lanes in both]

    def any_in(self, slot):
        """Return whether any number in two neighbouring columns has a bit set."""
        seen, *others = self._pairs(slot, PAIR_OF_WORDS)
        for other in others:
            seen = self._builder.or_(seen, other)
        either = self._builder.or_(*(self._builder.extract_element(seen, HALF(i)) for i in (0, 1)))
        return self._builder.icmp_unsigned("!=", either, WORD(0))


class _Sums:
    """Sums in eight lanes, by moment and digit, and the largest value."""

    def __init__(self, builder, products, values):
        self._builder, self._products = builder, products
        used = {**dict.fromkeys(products, range(DIGITS)), **values}
        self._sums = {(m, i): self._new() for m, digits in used.items() for i in digits}
        self._largest = self._new()

    def _new(self):
        return cgutils.alloca_once_value(self._builder, _constant(0.0))

    def split(self, x, shifts=(2 * DIGIT, DIGIT)):
        """Return the digits of each value, lowest first; the others are above so many bits."""
        builder, largest = self._builder, self._builder.load(self._largest)
        size = _call(builder, "fabs", x)
        builder.store(builder.select(builder.fcmp_ordered(">", size, largest), size, largest), self._largest)
        rest, digits = _call(builder, "trunc", builder.fmul(x, _constant(UNIT))), []
        for shift in shifts:
            near = _call(builder, "fmuladd", rest, _constant(2.0**-shift), _constant(NEAREST))
            digits.insert(0, builder.fsub(near, _constant(NEAREST)))
            rest = _call(builder, "fmuladd", digits[0], _constant(-(2.0**shift)), rest)
        return [rest, *digits]

    def add(self, moment, digits, places=(0, 1, 2)):
        """Add a value in each lane."""
        for i, digit in zip(places, digits, strict=True):
            total = self._sums[moment, i]
            self._builder.store(self._builder.fadd(self._builder.load(total), digit), total)

    def add_product(self, moment, a, b):
        """Add the product of two values in each lane."""
        builder = self._builder
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                if a is not b or j >= i:
                    total = self._sums[moment, i + j]
                    both = builder.fadd(y, y) if a is b and j > i else y
                    builder.store(_call(builder, "fmuladd", x, both, builder.load(total)), total)

    def write(self, sums, place):
        """Add the sums of all lanes to others, if no value is too large for that; return whether it is so."""
        builder = self._builder
        lanes = {key: builder.load(total) for key, total in self._sums.items()}
        fits = builder.fcmp_ordered("<", builder.load(self._largest), _constant(BOUND))
        for each in lanes.values():
            fits = builder.and_(fits, builder.fcmp_ordered("ord", each, each))
        fits = builder.icmp_unsigned("==", builder.bitcast(fits, BYTE), BYTE(255))
        for m in self._products:
            top = load(builder, sums, builder.add(place, WORD(m * WORDS + WORDS - 1)), WORD)
            fits = builder.and_(fits, _is_within(builder, top, TOP // 2))
        with builder.if_then(fits):
            for m in dict.fromkeys(m for m, _ in lanes):
                number = NUMBER(0)
                for i in range(DIGITS):
                    if (m, i) in lanes:
                        shift = DIGIT * i + (0 if m in self._products else BITS)
                        digit = builder.sext(self._sum_lanes(lanes[m, i]), NUMBER)
                        number = builder.add(number, builder.shl(digit, NUMBER(shift)))
                _add(builder, sums, builder.add(place, WORD(m * WORDS)), number)
        return builder.zext(fits, WORD)

    def _sum_lanes(self, lanes):
        words, half = self._builder.fptosi(lanes, LANES), 4
        while half:
            turned = _shuffle(self._builder, words, words, [(lane + half) % 8 for lane in range(8)])
            words, half = self._builder.add(words, turned), half // 2
        return self._builder.extract_element(words, HALF(0))


class _Weights:
    """The weights of rows, or ones."""

    def __init__(self, builder, weights, first, is_weighted):
        self._builder = builder
        ones = builder.bitcast(cgutils.alloca_once_value(builder, _constant(1.0)), DOUBLE.as_pointer())
        is_weighted = builder.icmp_unsigned("!=", is_weighted, WORD(0))
        self._step = builder.zext(is_weighted, WORD)
        self._array = builder.select(is_weighted, builder.gep(weights, [first]), ones)

    def of(self, row, n_done):
        """Return the weights of eight rows, 0 for those that are done."""
        builder = self._builder
        weights = load(builder, self._array, builder.mul(row, self._step), FLOATS)
        one = builder.insert_element(ir.Constant(LANES, ir.Undefined), n_done, HALF(0))
        is_new = builder.icmp_unsigned(">=", ALL, _shuffle(builder, one, one, [0] * 8))
        return builder.select(is_new, weights, _constant(0.0))


def _each_eight(builder, n_rows):
    # The last eight rows may begin before the others end.
    with cgutils.for_range_slice(builder, WORD(0), n_rows, WORD(8), intp=WORD) as (row, _):
        last = builder.sub(n_rows, WORD(8))
        first = builder.select(builder.icmp_unsigned("<", row, last), row, last)
        yield first, builder.sub(row, first)


NUM, DEN, SQUARE, CROSS, DEN_SQUARE, BEST, WORST, CEILING = range(MOMENTS)


class _Extremes:
    """The last of the rows that gain most, and of those that lose most; and whether any of eight rows comes before."""

    def __init__(self, builder, extremes, kept):
        self._builder, self._found = builder, cgutils.alloca_once_value(builder, BYTE(0))
        last = builder.add(kept, WORD(2 * (KEPT - 1)))
        sides = (builder.add(last, WORD(2 * KEPT * side)) for side in (0, 1))
        numbers = ([load(builder, extremes, builder.add(at, WORD(i)), DOUBLE) for i in (0, 1)] for at in sides)
        self._least = [[*map(self._all, pair)] for pair in numbers]

    def _all(self, number):
        one = self._builder.insert_element(ir.Constant(FLOATS, ir.Undefined), number, HALF(0))
        return _shuffle(self._builder, one, one, [0] * 8)

    def look(self, num, den):
        """Look at the values of eight rows."""
        builder = self._builder
        loss = builder.fsub(den, num)
        for (first, second), (least, most) in zip(((num, loss), (loss, num)), self._least, strict=True):
            is_tied = builder.fcmp_ordered("==", first, least)
            is_before = builder.and_(is_tied, builder.fcmp_ordered("<", second, most))
            is_before = builder.or_(is_before, builder.fcmp_ordered(">", first, least))
            found = builder.or_(builder.load(self._found), builder.bitcast(is_before, BYTE))
            builder.store(found, self._found)

    def any(self):
        """Return 1 where some row came before, else 0."""
        return self._builder.zext(self._builder.icmp_unsigned("!=", self._builder.load(self._found), BYTE(0)), WORD)


@make_instruction()
def add_eights(builder, values, at, step, n_rows, weights, first_row, is_weighted, sums, place, extremes, kept):
    """Add the values of an output in 8 to MOST_ROWS rows, and products of them.

    Return 0 where that was not possible, 1 where it was, and 3 where some row may have to be kept in `extremes`, those
    of the output from `kept` on.
    """
    whole = dict.fromkeys((BEST, WORST, CEILING), (0, 2))
    most = _Extremes(builder, extremes, kept)
    totals = _Sums(builder, (SQUARE, CROSS, DEN_SQUARE), {NUM: range(3), DEN: range(3), **whole})
    of_rows = _Weights(builder, weights, first_row, is_weighted)
    for row, n_done in _each_eight(builder, n_rows):
        rows = _Rows(builder, values, builder.add(at, builder.mul(row, step)), step, of_rows.of(row, n_done))
        num, den = rows.columns(0)
        most.look(num, den)
        num, den = map(totals.split, (num, den))
        totals.add(NUM, num)
        totals.add(DEN, den)
        totals.add_product(SQUARE, num, num)
        totals.add_product(CROSS, num, den)
        totals.add_product(DEN_SQUARE, den, den)

        def add(moment, value):
            totals.add(moment, totals.split(value, (2 * DIGIT,)), whole[moment])

        with builder.if_then(rows.any_in(2)):
            for moment, value in zip((BEST, WORST), rows.columns(2), strict=True):
                add(moment, value)
        add(CEILING, rows.columns(3)[1])
    fits = totals.write(sums, place)
    return builder.mul(fits, builder.or_(WORD(1), builder.shl(most.any(), WORD(1))))


@make_instruction()
def add_pairs_of_eights(builder, a, b, at, step, n_rows, weights, first_row, is_weighted, sums, place):
    """Add the products of two systems' values in 8 to MOST_ROWS rows; return whether that was possible."""
    totals = _Sums(builder, range(4), {})
    of_rows = _Weights(builder, weights, first_row, is_weighted)
    for row, n_done in _each_eight(builder, n_rows):
        first, weight = builder.add(at, builder.mul(row, step)), of_rows.of(row, n_done)
        of_a, of_b = ([*map(totals.split, _Rows(builder, each, first, step, weight).columns(0))] for each in (a, b))
        for m, (x, y) in enumerate(product(of_a, of_b)):
            totals.add_product(m, x, y)
    return totals.write(sums, place)
