"""Ranking kernels: the best labels of each row, best first, and equal scores in the order of the labels."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from inspect import signature

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from xmceval.kernels.cache import cached

kernel = cached(njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True))

# The wrappers that Python and C would call take longer to compile than a small function.
helper = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True, forceinline=True)

LANES = 16  # a row is read as so many columns; the depth-th largest of their maxima bounds the best scores from below
FEW = 64  # candidates: so many are ranked by comparing all pairs, without a branch that is mispredicted
SHALLOW, SHORT = LANES, 256  # `top_k` is meant for rankings of so many labels, or rows that are that short
GROUP = 32  # scores that are compared with the bound at once
ROOM = FEW + GROUP
RUN = 32  # labels that are sorted by insertion, before runs are merged

FAST = not config.DISABLE_JIT

if FAST:
    DOUBLE, WORD, HALF = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
    LOWEST, HIGHEST = float("-inf"), float("inf")

    def _instruction(emit, result):
        """Make a function of arrays and numbers from one that emits its code from pointers and numbers."""

        def resolve(_typing, *arguments):
            return result(*(types.int64 if isinstance(a, types.Integer) else a for a in arguments)), generate

        def generate(context, builder, kinds, arguments):
            value = emit(
                builder,
                *(
                    context.make_array(kind)(context, builder, argument).data
                    if isinstance(kind, types.Array)
                    else argument
                    for kind, argument in zip(kinds.args, arguments, strict=True)
                ),
            )
            return context.get_dummy_value() if value is None else value

        resolve.__signature__ = signature(emit)  # type: ignore[attr-defined]
        return intrinsic(resolve)

    def _place(builder, array, at, kind):
        return builder.bitcast(builder.gep(array, [at]), kind.as_pointer())

    def _load(builder, array, at, kind):
        value = builder.load(_place(builder, array, at, kind))
        value.align = 8
        return value

    def _spread(builder, vector, lane):
        lanes = ir.VectorType(HALF, vector.type.count)
        return builder.shuffle_vector(vector, vector, ir.Constant(lanes, [lane] * lanes.count))

    def _fill(builder, value, kind):
        return _spread(builder, builder.insert_element(ir.Constant(kind, [0] * kind.count), value, HALF(0)), 0)

    def _emit_bound(builder, scores, start, stop, depth):
        kind, lanes = ir.VectorType(DOUBLE, LANES), ir.VectorType(HALF, LANES)
        maxima = cgutils.alloca_once_value(builder, ir.Constant(kind, [LOWEST] * LANES))
        with cgutils.for_range_slice(builder, start, stop, WORD(LANES), intp=WORD) as (at, _):
            new, old = _load(builder, scores, at, kind), builder.load(maxima)
            builder.store(builder.select(builder.fcmp_ordered(">", new, old), new, old), maxima)
        best, above = builder.load(maxima), ir.Constant(lanes, [0] * LANES)
        for lane in range(LANES):
            above = builder.add(
                above, builder.zext(builder.fcmp_ordered(">", _spread(builder, best, lane), best), lanes)
            )
        is_best = builder.icmp_signed("<", above, _fill(builder, builder.trunc(depth, HALF), lanes))
        least, half = builder.select(is_best, best, ir.Constant(kind, [HIGHEST] * LANES)), LANES // 2
        while half:
            turned = builder.shuffle_vector(
                least, least, ir.Constant(lanes, [(lane + half) % LANES for lane in range(LANES)])
            )
            least = builder.select(builder.fcmp_ordered("<", turned, least), turned, least)
            half //= 2
        return builder.extract_element(least, HALF(0))

    def _emit_at_least(builder, scores, at, bound):
        kind = ir.VectorType(DOUBLE, GROUP)
        mask = builder.fcmp_ordered(">=", _load(builder, scores, at, kind), _fill(builder, bound, kind))
        return builder.zext(builder.bitcast(mask, ir.IntType(GROUP)), WORD)

    # The depth-th largest of the maxima of LANES columns of scores; stop - start is a multiple of LANES.
    _bound = _instruction(_emit_bound, types.float64)

    # The scores of a group that are at least `bound`, as bits.
    _at_least = _instruction(_emit_at_least, types.int64)

    _lowest_one = _instruction(lambda builder, word: builder.cttz(word, ir.IntType(1)(0)), types.int64)


@helper
def _find_candidates(indices, scores, start, stop, depth, labels, values):
    """Copy the scores that may be among the best, and return their number; more than FEW if these are too many."""
    n = 0
    if stop - start < GROUP:
        for entry in range(start, stop):
            labels[n], values[n] = indices[entry], scores[entry]
            n += 1
        return n
    if depth > LANES:
        return FEW + 1
    bound = _bound(scores, start, start + (stop - start) // LANES * LANES, depth)
    for begin in range(start, stop, GROUP):
        at = min(begin, stop - GROUP)
        mask = _at_least(scores, at, bound) >> (begin - at)
        while mask != 0:
            entry = begin + _lowest_one(mask)
            labels[n], values[n] = indices[entry], scores[entry]
            mask &= mask - 1
            n += 1
        if n > FEW:
            break
    return n


@kernel
def top_k(rows, ranking, space):
    """Write the best labels of each row; return the number of rows with a tie among them.

    Parameters
    ----------
    rows : indptr, indices, scores
    ranking : ranked labels [n_rows, depth], their scores [n_rows, depth], and their number [n_rows]
    space : int64 and float64 [ROOM]
        Working space.
    """
    indptr, indices, scores = rows
    ranked, ranked_scores, n_ranked = ranking
    labels, values = space
    depth = ranked.shape[1]
    n_tied = 0
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        n = FEW + 1
        if FAST:
            n = _find_candidates(indices, scores, start, stop, depth, labels, values)
        count = 0
        if n <= FEW:
            for i in range(n):
                label, score = labels[i], values[i]
                place = 0
                for j in range(n):
                    place += (values[j] > score) | ((values[j] == score) & (labels[j] < label))
                if place < depth:
                    ranked[row, place], ranked_scores[row, place] = label, score
            count = n if n < depth else depth
        else:
            worst = -np.inf
            for entry in range(start, stop):
                score = scores[entry]
                if count == depth and score < worst:
                    continue
                label = indices[entry]
                if count == depth and score == worst and label > ranked[row, depth - 1]:
                    continue
                j = count if count < depth else depth - 1  # j: rank - 1
                while j > 0 and (
                    score > ranked_scores[row, j - 1]
                    or (score == ranked_scores[row, j - 1] and label < ranked[row, j - 1])
                ):
                    ranked[row, j] = ranked[row, j - 1]
                    ranked_scores[row, j] = ranked_scores[row, j - 1]
                    j -= 1
                ranked[row, j] = label
                ranked_scores[row, j] = score
                count += count < depth
                worst = ranked_scores[row, count - 1]
        n_ranked[row] = count
        ties = 0
        for j in range(1, count):
            ties += ranked_scores[row, j] == ranked_scores[row, j - 1]
        n_tied += ties > 0
    return n_tied


@helper
def _sort(labels, scores, begin, n):
    """Sort the `n` labels from `begin` on by score, descending, and by label; return where they begin then.

    Both arrays have room for them at 0 and at half their length.
    """
    wrong = 0
    for i in range(begin + 1, begin + n):
        wrong += (scores[i] > scores[i - 1]) | ((scores[i] == scores[i - 1]) & (labels[i] < labels[i - 1]))
    if wrong == 0:
        return begin
    for first in range(begin, begin + n, RUN):
        for i in range(first + 1, min(first + RUN, begin + n)):
            label, score = labels[i], scores[i]
            j = i
            while j > first and (score > scores[j - 1] or (score == scores[j - 1] and label < labels[j - 1])):
                labels[j], scores[j] = labels[j - 1], scores[j - 1]
                j -= 1
            labels[j], scores[j] = label, score
    width = RUN
    while width < n:
        to = labels.size // 2 - begin
        end, begin = begin + n, to
        for first in range(end - n, end, 2 * width):
            i, middle, stop = first, min(first + width, end), min(first + 2 * width, end)
            j = middle
            while i < middle and j < stop:  # without a branch that depends on what is compared
                after = np.int64((scores[j] > scores[i]) | ((scores[j] == scores[i]) & (labels[j] < labels[i])))
                place = i + after * (j - i)
                labels[to], scores[to] = labels[place], scores[place]
                j += after
                i += 1 - after
                to += 1
            for place in range(i, middle):
                labels[to], scores[to] = labels[place], scores[place]
                to += 1
            for place in range(j, stop):
                labels[to], scores[to] = labels[place], scores[place]
                to += 1
        width *= 2
    return begin


@kernel
def top_many(rows, ranking, space):
    """Write the best labels of each row, as `top_k` does; made for deep rankings of long rows.

    Labels that may be among the best are collected; when twice as many as needed are there, they are sorted, and the
    worst of those that are kept bounds what is collected then: n log k comparisons in any order of the scores. The
    working space has room for 4 * depth labels.
    """
    indptr, indices, scores = rows
    ranked, ranked_scores, n_ranked = ranking
    labels, values = space
    depth = ranked.shape[1]
    room = labels.size // 2
    begin = n_tied = 0
    for row in range(indptr.size - 1):
        stop = indptr[row + 1]
        n = 0
        worst = -np.inf
        for entry in range(indptr[row], stop):
            labels[begin + n], values[begin + n] = indices[entry], scores[entry]
            n += scores[entry] >= worst
            if n == room or entry == stop - 1:
                begin = _sort(labels, values, begin, n)
                if n > depth:
                    n = depth
                    worst = values[begin + depth - 1]
        ties = 0
        for j in range(n):
            ranked[row, j], ranked_scores[row, j] = labels[begin + j], values[begin + j]
            if j > 0:
                ties += values[begin + j] == values[begin + j - 1]
        n_ranked[row] = n
        n_tied += ties > 0
    return n_tied
