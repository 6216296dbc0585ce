"""Single instructions that kernels use: what stands in compiled code for the functions of the same names."""

from __future__ import annotations

from inspect import signature

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic



BIT, BYTE, SHORT, HALF, WORD, WIDE = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64, 128))
BLOCK, LANES = ir.VectorType(BYTE, 64), ir.VectorType(WORD, 8)
FLAGS = ir.VectorType(BIT, 64)
DOUBLE, COLUMNS = ir.DoubleType(), 16
SHORTS, HALVES, FLOATS = ir.VectorType(SHORT, 32), ir.VectorType(HALF, 16), ir.VectorType(DOUBLE, 8)

_FEATURES = llvm.get_host_cpu_features().flatten()
COMPRESSES, SHUFFLES = "+avx512vbmi2" in _FEATURES, "+ssse3" in _FEATURES
# For each byte as a mask: the positions of its bits, one in each byte of a word, from the lowest on.
POSITIONS = [sum(at << 8 * i for i, at in enumerate(at for at in range(8) if mask >> at & 1)) for mask in range(256)]


def make_instruction(result=types.uint64):
    """Make a function of arrays, uint64 and numbers from one that emits its code from pointers and words.

    Arrays must be contiguous.
    """

    def decorate(emit):
        def resolve(_typing, *arguments):
            if any(isinstance(a, types.Array) and a.layout != "C" for a in arguments):
                return None
            return result(*(types.uint64 if isinstance(a, types.Integer) else a for a in arguments)), generate

        def generate(context, builder, kinds, arguments):
            words = [
                context.make_array(kind)(context, builder, argument).data if isinstance(kind, types.Array) else argument
                for kind, argument in zip(kinds.args, arguments, strict=True)
            ]
            value = emit(builder, *words)
            return context.get_dummy_value() if value is None else value

        resolve.__signature__ = signature(emit)
        return intrinsic(resolve)

    return decorate


def _place(builder, array, at, kind):
    return builder.bitcast(builder.gep(array, [at]), kind.as_pointer())


def load(builder, array, at, kind):
    """Emit a load from an array, at any address."""
    value = builder.load(_place(builder, array, at, kind))
    value.align = 1
    return value


def store(builder, value, array, at):
    """Emit a store to an array, at any address."""
    builder.store(value, _place(builder, array, at, value.type)).align = 1


def _broadcast(builder, value, kind):
    one = builder.insert_element(ir.Constant(kind, [0] * kind.count), value, HALF(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(HALF, kind.count), [0] * kind.count))


@make_instruction()
def equal_mask(builder, text, at, byte):
    """Return which of the 64 bytes of text at an offset are equal to one, as bits."""
    wanted = _broadcast(builder, builder.trunc(byte, BYTE), BLOCK)
    return builder.bitcast(builder.icmp_unsigned("==", load(builder, text, at, BLOCK), wanted), WORD)


@make_instruction()
def below_mask(builder, text, at, byte):
    """Return which of the 64 bytes of text at an offset are below one, as bits."""
    limit = _broadcast(builder, builder.trunc(byte, BYTE), BLOCK)
    return builder.bitcast(builder.icmp_unsigned("<", load(builder, text, at, BLOCK), limit), WORD)


@make_instruction()
def non_digit_mask(builder, text, at):
    """Return which of the 64 bytes of text at an offset are no digits, as bits."""
    digits = builder.sub(load(builder, text, at, BLOCK), ir.Constant(BLOCK, [ord("0")] * 64))
    return builder.bitcast(builder.icmp_unsigned(">", digits, ir.Constant(BLOCK, [9] * 64)), WORD)


@make_instruction(types.void)
def compress(builder, text, at, mask, base, marks, stops, count):
    """Write the offset from `base` of each marked one of 64 bytes to `marks`, and the byte to `stops`, at `count`."""
    # One instruction packs the marked bytes, another their positions, which are then widened.
    kind = ir.FunctionType(BLOCK, [BLOCK, BLOCK, FLAGS])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx512.mask.compress.v64i8")
    zeros, flags = ir.Constant(BLOCK, [0] * 64), builder.bitcast(mask, FLAGS)
    store(builder, builder.call(function, [load(builder, text, at, BLOCK), zeros, flags]), stops, count)
    places = builder.call(function, [ir.Constant(BLOCK, [*range(64)]), zeros, flags])
    shift = _broadcast(builder, builder.trunc(builder.sub(at, base), SHORT), SHORTS)
    size = builder.ctpop(mask)
    for first in (0, 32):
        with builder.if_then(builder.icmp_unsigned(">=", size, WORD(first))):
            lanes = ir.Constant(ir.VectorType(HALF, 32), [*range(first, first + 32)])
            half = builder.zext(builder.shuffle_vector(places, places, lanes), SHORTS)
            store(builder, builder.add(half, shift), marks, builder.add(count, WORD(first)))


@make_instruction(types.void)
def compress_eights(builder, text, at, mask, base, marks, stops, count):
    """Do what `compress` does with one table for each eight bytes; up to eight more entries are written."""
    eight, sixteen, shorts = ir.VectorType(BYTE, 8), ir.VectorType(BYTE, 16), ir.VectorType(SHORT, 8)
    table = cgutils.global_constant(
        builder, "xmceval_positions", ir.Constant(ir.ArrayType(WORD, 256), [WORD(word) for word in POSITIONS])
    )
    kind = ir.FunctionType(sixteen, [sixteen, sixteen])
    shuffle = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.ssse3.pshuf.b.128")
    both = ir.Constant(ir.VectorType(HALF, 16), [*range(8), *range(8)])
    first = ir.Constant(ir.VectorType(HALF, 8), [*range(8)])
    offset = builder.trunc(builder.sub(at, base), SHORT)
    for step in range(0, 64, 8):
        own = builder.and_(builder.lshr(mask, WORD(step)), WORD(255))
        word = builder.load(builder.gep(table, [HALF(0), own]))
        places = builder.bitcast(word, eight)
        near = load(builder, text, builder.add(at, WORD(step)), eight)
        near = builder.shuffle_vector(near, near, both)
        found = builder.call(shuffle, [near, builder.shuffle_vector(places, places, both)])
        store(builder, builder.shuffle_vector(found, found, first), stops, count)
        shift = _broadcast(builder, builder.add(offset, SHORT(step)), shorts)
        store(builder, builder.add(builder.zext(places, shorts), shift), marks, count)
        count = builder.add(count, builder.ctpop(own))


@make_instruction()
def has_ones(builder, words, at, mask):
    """Return whether any of 64 elements of an array from an offset on has a bit of a mask."""
    item = words.type.pointee
    kind = ir.VectorType(item, 64)
    wanted = _broadcast(builder, mask if item == WORD else builder.trunc(mask, item), kind)
    found = builder.icmp_unsigned("!=", builder.and_(load(builder, words, at, kind), wanted), ir.Constant(kind, None))
    return builder.zext(builder.icmp_unsigned("!=", builder.bitcast(found, WORD), WORD(0)), WORD)


@make_instruction()
def word_at(builder, text, at):
    """Return eight bytes of an array."""
    return load(builder, text, at, WORD)


@make_instruction()
def high_product(builder, a, b):
    """Return the upper half of a product."""
    product = builder.mul(builder.zext(a, WIDE), builder.zext(b, WIDE))
    return builder.trunc(builder.lshr(product, WIDE(64)), WORD)


@make_instruction()
def count_ones(builder, word):
    """Return the number of bits that are set."""
    return builder.ctpop(word)


@make_instruction()
def lowest_one(builder, word):
    """Return how many zeros are below the lowest bit that is set; 64 where none is."""
    return builder.cttz(word, BIT(0))


@make_instruction()
def leading_zeros(builder, word):
    """Return how many zeros are above the highest bit that is set; 64 where none is."""
    return builder.ctlz(word, BIT(0))


@make_instruction(types.float64)
def bound(builder, scores, start, stop, depth):
    """Return the depth-th largest of the maxima of 16 columns of scores."""
    kind, columns = ir.VectorType(DOUBLE, COLUMNS), ir.VectorType(HALF, COLUMNS)
    maxima = cgutils.alloca_once_value(builder, ir.Constant(kind, [float("-inf")] * COLUMNS))
    with cgutils.for_range_slice(builder, start, stop, WORD(COLUMNS), intp=WORD) as (at, _):
        new, old = load(builder, scores, at, kind), builder.load(maxima)
        builder.store(builder.select(builder.fcmp_ordered(">", new, old), new, old), maxima)
    best, above = builder.load(maxima), ir.Constant(columns, [0] * COLUMNS)
    for column in range(COLUMNS):
        score = builder.shuffle_vector(best, best, ir.Constant(columns, [column] * COLUMNS))
        above = builder.add(above, builder.zext(builder.fcmp_ordered(">", score, best), columns))
    is_best = builder.icmp_signed("<", above, _broadcast(builder, builder.trunc(depth, HALF), columns))
    least, half = builder.select(is_best, best, ir.Constant(kind, [float("inf")] * COLUMNS)), COLUMNS // 2
    while half:
        turned = ir.Constant(columns, [(column + half) % COLUMNS for column in range(COLUMNS)])
        other = builder.shuffle_vector(least, least, turned)
        least, half = builder.select(builder.fcmp_ordered("<", other, least), other, least), half // 2
    return builder.extract_element(least, HALF(0))


@make_instruction()
def at_least(builder, scores, at, bound):
    """Return which of 32 scores are at least `bound`, as bits."""
    kind = ir.VectorType(DOUBLE, 32)
    mask = builder.fcmp_ordered(">=", load(builder, scores, at, kind), _broadcast(builder, bound, kind))
    return builder.zext(builder.bitcast(mask, HALF), WORD)


@make_instruction(types.float64)
def as_float(builder, word):
    """Return the number that has these bits."""
    return builder.bitcast(word, DOUBLE)


@make_instruction(types.void)
def find(builder, ranked, start, count, indices, first, n, places):
    """Write for each of `count` ranked labels its place among `n` ascending labels, or -1; 8 are looked for at once."""
    last = builder.sub(count, WORD(1))
    with cgutils.for_range_slice(builder, WORD(0), count, WORD(LANES.count), intp=WORD) as (group, _):
        wanted = ir.Constant(LANES, ir.Undefined)
        for lane in range(LANES.count):  # beyond the last, the last again
            j = builder.add(group, WORD(lane))
            j = builder.select(builder.icmp_unsigned("<", j, last), j, last)
            label = load(builder, ranked, builder.add(start, j), WORD)
            wanted = builder.insert_element(wanted, label, HALF(lane))
        found = cgutils.alloca_once_value(builder, ir.Constant(LANES, [-1] * LANES.count))
        with cgutils.for_range(builder, n, intp=WORD) as loop:
            label = _broadcast(builder, load(builder, indices, builder.add(first, loop.index), WORD), LANES)
            place = _broadcast(builder, loop.index, LANES)
            is_here = builder.icmp_unsigned("==", label, wanted)
            builder.store(builder.select(is_here, place, builder.load(found)), found)
        store(builder, builder.load(found), places, group)


@make_instruction(types.void)
def sort_least(builder, keys, n):
    """Bring the least 16 of `n` keys from 0 to 2^31 - 1 to the front, in order."""
    largest, least = (ir.Constant(HALVES, [key] * HALVES.count) for key in (2**31 - 1, -1))
    down = ir.Constant(HALVES, [HALVES.count, *range(HALVES.count - 1)])
    best = cgutils.alloca_once_value(builder, largest)
    with cgutils.for_range(builder, n, intp=WORD) as loop:
        old = builder.load(best)
        key = _broadcast(builder, builder.trunc(load(builder, keys, loop.index, WORD), HALF), HALVES)
        moved = builder.shuffle_vector(old, least, down)
        moved = builder.select(builder.icmp_signed(">", moved, key), moved, key)
        builder.store(builder.select(builder.icmp_signed("<", moved, old), moved, old), best)
    store(builder, builder.zext(builder.load(best), ir.VectorType(WORD, HALVES.count)), keys, WORD(0))


@make_instruction(types.void)
def prefetch(builder, array, at):
    """Bring an element near before it is needed."""
    kind = ir.FunctionType(ir.VoidType(), [BYTE.as_pointer(), HALF, HALF, HALF])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch")
    builder.call(function, [_place(builder, array, at, BYTE), HALF(0), HALF(3), HALF(1)])


@make_instruction()
def copy_sixteens(builder, indices, values, stop, labels, numbers):
    """Copy 16 entries at a time as int64 and float64, from the second on.

    Returns how many labels are not above the one before, in units of 4; + 2 if a value is NaN, + 1 if one is not 1.
    """
    label, number = indices.type.pointee, values.type.pointee
    words, flags = ir.VectorType(WORD, 16), ir.VectorType(BIT, 16)
    falls = cgutils.alloca_once_value(builder, WORD(0))
    nans, others = (cgutils.alloca_once_value(builder, ir.Constant(flags, None)) for _ in range(2))
    with cgutils.for_range_slice(builder, WORD(1), stop, WORD(16), intp=WORD) as (entry, _):
        ids = load(builder, indices, entry, ir.VectorType(label, 16))
        before = load(builder, indices, builder.sub(entry, WORD(1)), ids.type)
        fell = builder.ctpop(builder.bitcast(builder.icmp_signed("<=", ids, before), SHORT))
        builder.store(builder.add(builder.load(falls), builder.zext(fell, WORD)), falls)
        store(builder, ids if label == WORD else builder.sext(ids, words), labels, entry)
        scores = load(builder, values, entry, ir.VectorType(number, 16))
        ones = ir.Constant(scores.type, [1.0] * 16)
        for seen, relation in ((nans, "uno"), (others, "!=")):
            wrong = builder.fcmp_unordered(relation, scores, ones)
            builder.store(builder.or_(builder.load(seen), wrong), seen)
        scores = scores if number == DOUBLE else builder.fpext(scores, ir.VectorType(DOUBLE, 16))
        store(builder, scores, numbers, entry)
    found = builder.shl(builder.load(falls), WORD(2))
    for seen, bit in ((nans, 2), (others, 1)):
        is_any = builder.icmp_unsigned("!=", builder.bitcast(builder.load(seen), SHORT), SHORT(0))
        found = builder.or_(found, builder.select(is_any, WORD(bit), WORD(0)))
    return found
