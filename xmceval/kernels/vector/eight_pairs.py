"""Instructions that convert eight pairs of text at once: ids, and values of several forms."""

from __future__ import annotations

from functools import partialmethod

from llvmlite import ir

from xmceval.kernels.vector.instructions import (
    BLOCK,
    BYTE,
    FLOATS,
    HALF,
    HALVES,
    LANES,
    SHORT,
    SHORTS,
    WORD,
    load,
    make_instruction,
    store,
)

MINUS = ord("-")


class _Lanes:
    """Numbers side by side; what is computed with them becomes vector instructions."""

    def __init__(self, builder, value):
        self.builder, self.value, self.kind = builder, value, value.type

    def _apply(self, name, other):
        if not isinstance(other, _Lanes):
            other = _constant(self.builder, other, self.kind)
        return _Lanes(self.builder, getattr(self.builder, name)(self.value, other.value))

    __add__ = partialmethod(_apply, "add")
    __mul__, __truediv__ = partialmethod(_apply, "mul"), partialmethod(_apply, "fdiv")
    __and__, __or__ = partialmethod(_apply, "and_"), partialmethod(_apply, "or_")
    __lshift__, __rshift__ = partialmethod(_apply, "shl"), partialmethod(_apply, "lshr")

    def __sub__(self, other):
        return self._apply("fsub" if self.kind == FLOATS else "sub", other)

    def compare(self, relation, number):
        other = _constant(self.builder, number, self.kind)
        return _Lanes(self.builder, self.builder.icmp_unsigned(relation, self.value, other.value))

    def seen_as(self, kind):
        return _Lanes(self.builder, self.builder.bitcast(self.value, kind))

    def widened(self):
        return _Lanes(self.builder, self.builder.zext(self.value, LANES))

    def as_floats(self):
        # Numbers below 2^52 are the last bits of floats from 2^52 on; to convert words is slow without AVX-512.
        return (self | 0x433 << 52).seen_as(FLOATS) - 2.0**52

    def or_zero(self, condition):
        return _Lanes(self.builder, self.builder.select(condition.value, self.value, ir.Constant(self.kind, None)))


def _constant(builder, number, kind=None):
    kind = kind or LANES
    numbers = number if isinstance(number, list) else [number] * kind.count
    return _Lanes(builder, ir.Constant(kind, numbers))


def _first_bytes(builder, size):
    # A mask of the first bytes of words: of 1 to 8.
    return _constant(builder, 2**64 - 1) >> ((_constant(builder, 8) - size & 7) << 3)


def _emit_numbers(digits):
    # The numbers of eight digits each, as _eight_digits, without multiplying words.
    digits = (digits & 0x0F0F0F0F0F0F0F0F).seen_as(SHORTS)
    digits = (digits * (10 << 8 | 1) >> 8) * ([100, 1] * 16)
    digits = digits.seen_as(HALVES)
    digits = (digits + (digits >> 16) & 0xFFFF).seen_as(LANES)
    return (digits & 0xFFFFFFFF) * 10000 + (digits >> 32)


class _EightPairs:
    """Eight pairs with `step` marks each: words of their text."""

    def __init__(self, step, builder, text, base, marks, mark):
        self._step, self._builder, self._text, self._base = step, builder, text, base
        self._marks, self._mark = marks, mark

    def lengths(self, first):
        """Return the bytes from a mark of each pair to the next mark; -1 is the last mark before it."""
        builder = self._builder
        near, following = (
            load(builder, self._marks, builder.add(self._mark, WORD(mark)), SHORTS) for mark in (first, first + 1)
        )
        lengths = builder.sub(following, near)
        lanes = ir.Constant(ir.VectorType(HALF, 8), [self._step * i for i in range(8)])
        return _Lanes(builder, builder.zext(builder.shuffle_vector(lengths, lengths, lanes), LANES))

    def words(self, first, shift):
        """Return the words of text at so many bytes after a mark of each pair.

        Words are to be loaded before lengths: else LLVM takes the offsets out of the vectors of marks, which is slow.
        """
        builder, base = self._builder, self._builder.add(self._base, WORD(shift))
        words = []
        for i in range(8):
            mark = builder.add(self._mark, WORD(first + self._step * i))
            place = builder.add(base, builder.zext(load(builder, self._marks, mark, SHORT), WORD))
            words.append(load(builder, self._text, place, ir.VectorType(WORD, 1)))
        while len(words) > 1:  # by twos: to insert them one by one takes more instructions
            lanes = ir.Constant(ir.VectorType(HALF, 16 // len(words)), [*range(16 // len(words))])
            words = [builder.shuffle_vector(*pair, lanes) for pair in zip(words[::2], words[1::2], strict=True)]
        return _Lanes(builder, words[0])


def _conversion(step, convert):
    """Make a function that stores what is converted from eight pairs; it returns flags of the unusual ones."""

    def emit(builder, text, base, marks, mark, results, n):
        numbers, wrong = convert(builder, _EightPairs(step, builder, text, base, marks, mark))
        store(builder, numbers.value, results, n)
        return builder.zext(wrong.seen_as(BYTE).value, WORD)

    return make_instruction()(emit)


def _convert_ids(builder, pairs):
    words = pairs.words(-1, 1)
    missing = _constant(builder, 9) - pairs.lengths(-1)  # of eight digits
    digits = words << (missing << 3)
    return _emit_numbers(digits), missing.compare(">=", 8)


def _convert_digits(_builder, pairs):
    # Values of one digit: bytes of digits have bit 16, a minus does not.
    words = pairs.words(0, 1)
    wrong = pairs.lengths(0).compare("!=", 2)
    return (words & 15).as_floats(), wrong | (words & 16).compare("==", 0)


def _convert_short(builder, pairs):
    # Values of a digit, a point and up to six digits.
    words = pairs.words(0, 1)
    after = pairs.lengths(1)  # digits after the point + 1
    wrong = pairs.lengths(0).compare("!=", 2) | (words & 16).compare("==", 0)
    digits = (words & 255) << 8 | (words & _first_bytes(builder, after + 1) & (2**64 - 2**16))
    return _emit_numbers(digits).as_floats() / 1e6, wrong | (after - 2).compare(">=", 6)


def _convert_long(builder, pairs):
    # Values of up to seven digits, a point and up to eight digits, perhaps with a minus.
    words, rest = pairs.words(0, 1), pairs.words(1, 1)
    sign = (words & 255).compare("==", MINUS).widened()
    missing = sign + 9 - pairs.lengths(0)  # of eight digits before the point
    after = pairs.lengths(1) - 1
    head = _emit_numbers(words >> (sign << 3) << ((missing & 7) << 3))
    tail = _emit_numbers(rest & _first_bytes(builder, after))
    values = ((head & 0xFFFFFFFF) * 10**8 + tail).as_floats() / 1e8
    wrong = (missing - 1).compare(">=", 7) | (after - 1).compare(">=", 8)
    return values.seen_as(LANES) | sign << 63, wrong


def _convert_longest(builder, pairs):
    # Values of a digit, a point and up to fourteen digits, perhaps with a minus.
    words, head, rest = pairs.words(0, 1), pairs.words(1, 0), pairs.words(1, 7)
    sign = (words & 255).compare("==", MINUS).widened()
    after = pairs.lengths(1) - 1
    is_long = after.compare(">", 7)
    head = head & (_first_bytes(builder, after + 1) | _constant(builder, 2**64 - 1).or_zero(is_long))
    head = _emit_numbers(head & (2**64 - 2**8) | (words >> (sign << 3) & 255))
    tail = rest & _first_bytes(builder, after - 6).or_zero(is_long) & (2**64 - 2**8)
    values = ((head & 0xFFFFFFFF) * 10**7 + _emit_numbers(tail)).as_floats() / 1e14
    wrong = (pairs.lengths(0) - sign).compare("!=", 2) | (after - 1).compare(">=", 14)
    return values.seen_as(LANES) | sign << 63, wrong


ids_of_wholes, ids_of_decimals = _conversion(2, _convert_ids), _conversion(3, _convert_ids)
digits = _conversion(2, _convert_digits)
short, long, longest = (_conversion(3, convert) for convert in (_convert_short, _convert_long, _convert_longest))


@make_instruction()
def same_mask(builder, these, at, others, there):
    """Return which of 64 bytes of two arrays are the same, as bits."""
    pair = load(builder, these, at, BLOCK), load(builder, others, there, BLOCK)
    return builder.bitcast(builder.icmp_unsigned("==", *pair), WORD)


@make_instruction()
def falls(builder, ids, n, last):
    """Return which of the eight ids at `n` are not above the one before them, as bits; `last` is before the first."""
    new = load(builder, ids, n, LANES)
    last = builder.insert_element(ir.Constant(LANES, ir.Undefined), last, HALF(7))
    before = builder.shuffle_vector(last, new, ir.Constant(ir.VectorType(HALF, 8), [*range(7, 15)]))
    return builder.zext(builder.bitcast(builder.icmp_unsigned("<=", new, before), BYTE), WORD)


@make_instruction()
def others(builder, values, n):
    """Return which of the eight values at `n` are not 1, as bits."""
    ones = ir.Constant(FLOATS, [1.0] * 8)
    is_other = builder.fcmp_unordered("!=", load(builder, values, n, FLOATS), ones)
    return builder.zext(builder.bitcast(is_other, BYTE), WORD)
