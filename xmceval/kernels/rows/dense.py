"""Kernels that find the true cells and the best labels of dense rows in one pass."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.rows.order import sort_entries

BLOCK = 256  # scores compared with the bound at once, in vector registers
PART = 32  # the same within a block that has a better score
MOST_RUNS = 32  # runs of consecutive scores that give the first bound of a row
TOGETHER = 64  # cells tested together: hardly any is true
CHUNK = 4096  # half-precision scores converted to keys at once, in the processor's cache

# Slots of `state`: number of candidates, of dropped labels that tie with the bound, and of labels without a
# score; the label of the first NaN, or -1.
COUNT, TIED, MISSING, WRONG = 0, 1, 2, 3

ROW, LABEL = 0, 1  # slots of `first_nan`


@helper
def _find_true(cells, bits, n_columns, places, indptr, columns):
    n, size = np.uint64(cells.size), np.uint64(TOGETHER)
    count, first = np.uint64(0), np.uint64(0)
    while first < n:
        last = first + size
        if last <= n:
            has_true = np.int32(0)
            for i in range(size):
                has_true = np.int32(has_true | np.int32((cells[first + i] & bits) != 0))
            if has_true == 0:
                first = last
                continue
        for place in range(first, min(last, n)):
            if (cells[place] & bits) != 0:
                places[count] = place
                count += np.uint64(1)
        first = last
    row, start, stop = 0, 0, n_columns  # and the places where the row begins and ends
    indptr[0] = 0
    for entry in range(np.int64(count)):
        while places[entry] >= stop:
            row, start, stop = row + 1, stop, stop + n_columns
            indptr[row] = entry
        columns[entry] = places[entry] - start
    for end in range(row + 1, indptr.size):
        indptr[end] = np.int64(count)
    return count


@kernel("u1[:]", "u1", "i8", "i8[:]", "i8[:]", "i8[:]", returns="u8")
def find_true_bytes(cells, bits, n_columns, places, indptr, columns):
    """Write the positions of the cells of a matrix with any bit set, in order; return their number.

    `cells` are uint8 [n_rows * n_columns], read-only, and `bits` is a uint8. Output are `places`, the positions in
    `cells`, `indptr` and `columns`, int64 [n_rows * n_columns], [n_rows + 1] and [n_rows * n_columns].
    """
    return _find_true(cells, bits, n_columns, places, indptr, columns)


@kernel("u4[:]", "u4", "i8", "i8[:]", "i8[:]", "i8[:]", returns="u8")
def find_true_words(cells, bits, n_columns, places, indptr, columns):
    """Do the same for uint32."""
    return _find_true(cells, bits, n_columns, places, indptr, columns)


@kernel("u8[:]", "u8", "i8", "i8[:]", "i8[:]", "i8[:]", returns="u8")
def find_true_long_words(cells, bits, n_columns, places, indptr, columns):
    """Do the same for uint64."""
    return _find_true(cells, bits, n_columns, places, indptr, columns)


@helper
def _select(work, count, depth):
    """Return the `depth`-th largest of `count` values, counted from 1; `work` is reordered."""
    low, high, target = 0, count - 1, depth - 1
    seed = 1
    while low < high:  # a pseudo-random pivot (Park and Miller, CACM 1988): no order of scores is slow
        seed = seed * 48271 % (2**31 - 1)
        pivot = work[low + seed % (high - low + 1)]
        i, j = low, high
        while i <= j:
            while work[i] > pivot:
                i += 1
            while work[j] < pivot:
                j -= 1
            if i <= j:
                work[i], work[j] = work[j], work[i]
                i += 1
                j -= 1
        if target <= j:
            high = j
        elif target >= i:
            low = i
        else:
            break
    return work[target]


@helper
def _lay_runs(n_labels, size):
    """Return the number of runs of `size` scores in a row, and the distance between their starts.

    The last run ends at the end of the row, so that rising scores are not slower than others.
    """
    n_runs = min(n_labels // size, MOST_RUNS)
    return n_runs, (n_labels - size) // max(n_runs - 1, 1)


@helper
def _add_to_maxima(values, start, maxima):
    """Raise each maximum to the score at its position, counted from `start`; ignore NaN."""
    first = np.uint64(start)
    for i in range(np.uint64(maxima.size)):
        value, old = values[first + i], maxima[i]
        maxima[i] = value if value > old else old


@helper
def _first_bound(maxima, depth, lowest):
    """Return a value below at least `depth` maxima, and hence scores, or the lowest; reorders the maxima."""
    last = _select(maxima, maxima.size, depth)
    bound = lowest
    for i in range(maxima.size):
        if bound < maxima[i] < last:
            bound = maxima[i]
    return bound


@helper
def _drop_worst(depth, scores, labels, work, bounds, state):
    """Keep the `depth` best candidates, lower labels first among ties, and raise the bound to the last one."""
    count = state[COUNT]
    for i in range(count):
        work[i] = scores[i]
    bound = _select(work, count, depth)
    above = 0
    for i in range(count):
        above += scores[i] > bound
    n_equal = depth - above
    if bound > bounds[0]:
        state[TIED] = 0
    kept = 0
    for i in range(count):
        score = scores[i]
        if score > bound or (score == bound and n_equal > 0):
            n_equal -= score == bound
            scores[kept], labels[kept] = score, labels[i]
            kept += 1
        else:
            state[TIED] += score == bound
    state[COUNT] = kept
    bounds[0] = bound


@helper
def _scan(values, start, stop, first_label, highest, depth, scores, labels, work, bounds, state):
    """Add the labels of values[start:stop] to the candidates; the first label is `first_label`.

    Blocks in which all scores are below the bound are skipped, which are nearly all. A NaN is never below the
    bound, so it is noticed.
    """
    lowest, bound = bounds[1], bounds[0]
    at, n_tied, n_missing = start, 0, 0
    while at < stop:
        end = at + BLOCK
        if end <= stop:
            first, is_odd = np.uint64(at), np.int32(0)
            for i in range(np.uint64(BLOCK)):
                value = values[first + i]
                is_odd = np.int32(is_odd | np.int32(not ((value < bound) & (value > lowest))))
            if is_odd == 0:
                at = end
                continue
        end = end if end < stop else stop
        while at < end:
            last = at + PART
            if last <= end:
                first = np.uint64(at)
                is_odd, above, equal, missing = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
                for i in range(np.uint64(PART)):
                    value = values[first + i]
                    is_odd = np.int32(is_odd | np.int32(not ((value < bound) & (value > lowest))))
                    above = np.int32(above | np.int32(not (value <= bound)))
                    equal = np.int32(equal + np.int32(value == bound))
                    missing = np.int32(missing + np.int32(value == lowest))
                if is_odd == 0:
                    at = last
                    continue
                if above == 0:
                    n_missing += missing
                    n_tied += equal
                    at = last
                    continue
            last = last if last < end else end
            for i in range(at, last):
                value = values[i]
                if lowest < value < bound:
                    continue
                if not (value <= highest):
                    state[WRONG] = first_label + i - start
                    return
                n_missing += value == lowest
                if value > bound:
                    scores[state[COUNT]], labels[state[COUNT]] = value, first_label + i - start
                    state[COUNT] += 1
                    if state[COUNT] == scores.size:
                        state[TIED] += n_tied
                        _drop_worst(depth, scores, labels, work, bounds, state)
                        bound, n_tied = bounds[0], 0
                elif value == bound:
                    n_tied += 1
            at = last
    state[TIED] += n_tied
    state[MISSING] += n_missing


@helper
def _write_best(row, n_labels, depth, space, rows, ends, omitted):
    """Write the best candidates of a row in order; return whether dropped labels tie with the last two."""
    scores, labels, work, bounds, _, state = space
    indptr, indices, best = rows
    is_full = state[COUNT] >= depth
    if is_full:
        _drop_worst(depth, scores, labels, work, bounds, state)
    sort_entries(labels, scores, 0, state[COUNT], depth > 0)
    at = indptr[row]
    for j in range(state[COUNT]):
        indices[at], best[at] = labels[j], scores[j]
        at += 1
    indptr[row + 1] = at
    ends[row + 1], omitted[row] = ends[row] + n_labels - state[MISSING], 0
    return is_full and scores[depth - 1] == scores[depth - 2] and state[TIED] > 0


@helper
def _select_best(values, step, n_labels, depth, truth, limits, space, rows, ends, omitted, first_nan):
    truth_indptr, truth_indices = truth
    scores, labels, work, bounds, maxima, state = space
    indptr, indices, best = rows
    indptr[0] = ends[0] = 0
    n_runs, gap = _lay_runs(n_labels, maxima.size)
    for row in range(truth_indptr.size - 1):
        state[COUNT], state[TIED], state[MISSING], state[WRONG] = 0, 0, 0, -1
        bounds[0], bounds[1] = limits[0], limits[0]
        start = row * step
        if n_runs > 1:
            maxima[:] = limits[0]
            for run in range(n_runs):
                _add_to_maxima(values, start + run * gap, maxima)
            bounds[0] = _first_bound(maxima, depth, limits[0])
        _scan(values, start, start + n_labels, np.int64(0), limits[1], depth, scores, labels, work, bounds, state)
        if state[WRONG] >= 0:
            first_nan[ROW], first_nan[LABEL] = row, state[WRONG]
            return
        if _write_best(row, n_labels, depth, space, rows, ends, omitted):
            last, at = labels[state[COUNT] - 1], indptr[row + 1]
            for i in range(truth_indptr[row], truth_indptr[row + 1]):
                label = truth_indices[i]
                if last < label < n_labels and values[start + label] == bounds[0]:
                    indices[at], best[at] = label, bounds[0]
                    at += 1
            omitted[row] = state[TIED] - (at - indptr[row + 1])
            indptr[row + 1] = at


@kernel(
    "f8[:]",
    "i8",
    "i8",
    "i8",
    ("i8[:]", "i8[:]"),
    "f8[:]",
    ("f8[:]", "i8[:]", "f8[:]", "f8[:]", "f8[:]", "i8[:]"),
    ("i8[:]", "i8[:]", "f8[:]"),
    "i8[:]",
    "i8[:]",
    "i8[:]",
)
def select_best(values, step, n_labels, depth, truth, limits, space, rows, ends, omitted, first_nan):
    """Write the best labels of each row, best first, and the true labels that tie with the last of them.

    Parameters
    ----------
    values : float64, read-only
        The memory of the matrix; a row starts `step` elements after the one before.
    step, n_labels : int
    depth : int
        The number of labels to select, at least 2.
    truth : indptr, indices
        The true labels, ascending within a row.
    limits : the type of `values` [2]
        The value that means no score, and the largest valid number.
    space : scores, labels, work, bounds, maxima, state
        Scratch space: the first three have the same size above `depth`, preferably twice as large; bounds has 2
        elements, maxima more than `depth`, and state is int64 [4].
    rows : indptr, indices, scores
        Output: the best labels. If the last two of them tie, further true labels with that score follow.
    ends : int64 [n_rows + 1]
        Output: 0, and the cumulative sum of the numbers of labels that have a score.
    omitted : int64 [n_rows]
        Output: if the last two tie, the number of false labels with that score that do not follow.
    first_nan : int64 [2]
        Output if a score is NaN: its row and label.
    """
    _select_best(values, step, n_labels, depth, truth, limits, space, rows, ends, omitted, first_nan)


@kernel(
    "f4[:]",
    "i8",
    "i8",
    "i8",
    ("i8[:]", "i8[:]"),
    "f4[:]",
    ("f4[:]", "i8[:]", "f4[:]", "f4[:]", "f4[:]", "i8[:]"),
    ("i8[:]", "i8[:]", "f8[:]"),
    "i8[:]",
    "i8[:]",
    "i8[:]",
)
def select_best_floats(values, step, n_labels, depth, truth, limits, space, rows, ends, omitted, first_nan):
    """Do the same for float32."""
    _select_best(values, step, n_labels, depth, truth, limits, space, rows, ends, omitted, first_nan)


@helper
def _key(bits, highest):
    """Map the bits of a half-precision number to an ordered integer: both zeros are 0, NaN exceeds infinity."""
    magnitude = np.int16(bits & 0x7FFF)
    return magnitude if bits >= 0 or magnitude > highest else np.int16(-magnitude)


@kernel(
    "i2[:]",
    "i8",
    "i8",
    "i8",
    ("i8[:]", "i8[:]"),
    "i2[:]",
    ("i2[:]", "i8[:]", "i2[:]", "i2[:]", "i2[:]", "i8[:]"),
    "i2[:]",
    ("i8[:]", "i8[:]", "f8[:]"),
    "i8[:]",
    "i8[:]",
    "i8[:]",
)
def select_best_halves(values, step, n_labels, depth, truth, limits, space, chunk, rows, ends, omitted, first_nan):
    """Do the same for the bits of float16 or bfloat16 as int16; the scores written are their keys (see `_key`).

    `chunk` is scratch space of CHUNK int16.
    """
    truth_indptr, truth_indices = truth
    scores, labels, work, bounds, maxima, state = space
    indptr, indices, best = rows
    highest = limits[1]
    indptr[0] = ends[0] = 0
    n_runs, gap = _lay_runs(n_labels, maxima.size)
    for row in range(truth_indptr.size - 1):
        state[COUNT], state[TIED], state[MISSING], state[WRONG] = 0, 0, 0, -1
        bounds[0], bounds[1] = limits[0], limits[0]
        start = row * step
        if n_runs > 1:
            maxima[:] = limits[0]
            for run in range(n_runs):
                here = np.uint64(start + run * gap)
                for i in range(np.uint64(maxima.size)):
                    key, old = _key(values[here + i], highest), maxima[i]
                    maxima[i] = key if old < key <= highest else old
            bounds[0] = _first_bound(maxima, depth, limits[0])
        for first in range(0, n_labels, CHUNK):
            size = CHUNK if first + CHUNK < n_labels else n_labels - first
            here = np.uint64(start + first)
            for i in range(np.uint64(size)):
                chunk[i] = _key(values[here + i], highest)
            _scan(chunk, np.int64(0), size, first, highest, depth, scores, labels, work, bounds, state)
            if state[WRONG] >= 0:
                first_nan[ROW], first_nan[LABEL] = row, state[WRONG]
                return
        if _write_best(row, n_labels, depth, space, rows, ends, omitted):
            last, at = labels[state[COUNT] - 1], indptr[row + 1]
            for i in range(truth_indptr[row], truth_indptr[row + 1]):
                label = truth_indices[i]
                if last < label < n_labels and _key(values[start + label], highest) == bounds[0]:
                    indices[at], best[at] = label, bounds[0]
                    at += 1
            omitted[row] = state[TIED] - (at - indptr[row + 1])
            indptr[row + 1] = at
