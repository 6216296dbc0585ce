"""Find the true cells and best labels of each row of a dense matrix, without copying it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.rows import dense as kernels
from xmceval.rows.block import Int64, Rows, Scratch, Selected
from xmceval.rows.matrices.storage import BFloat16Matrix, Matrix, comparable, notice_order, stored_rows
from xmceval.rows.matrices.tensors import DEVICE_ENTRIES, DeviceMatrix

SELECT_ENTRIES = 1 << 24  # per block of scores that are not copied: enough to outweigh its setup
TRUTH_ENTRIES = 1 << 22  # per block of truth: if all cells are true, labels and values take 64 MiB
LOWEST_ENTRIES = 1 << 18  # at a time, when searching the lowest scores of rows
SPARE = 64  # room for candidates beyond twice the depth
LANES = 32  # maxima of scores, from which the first bound of a row is found, come in multiples of this

READ_DIRECTLY = frozenset(map(np.dtype, ("f2", "f4", "f8")))  # by kernels

FLOAT16_INFINITY, BFLOAT16_INFINITY = 0x7C00, 0x7F80  # as bits


@dataclass(frozen=True)
class Dense(Matrix):
    """A dense matrix [n_rows, n_labels]: in scores -inf means not predicted, in truth 0 means not true."""

    values: Any  # as `as_values` returns them
    are_scores: bool

    def copy_rows(self, start: int, stop: int, scratch: Scratch) -> Rows:
        """Copy rows into the scratch arrays, as int64 and float64."""
        values = self.values[start:stop]
        if self.are_scores:
            is_stored = values != -np.inf
            values = comparable(values)
            if is_stored.all():
                rows = scratch.rows(len(values), values.size)
                np.multiply(np.arange(len(values) + 1), values.shape[1], out=rows.indptr)
                rows.indices.reshape(values.shape)[:] = np.arange(values.shape[1])
                rows.values.reshape(values.shape)[:] = values
                return rows
            rows, places = stored_rows(scratch, is_stored)
            rows.values[:] = values.ravel()[places]
            return rows
        rows, places = stored_rows(scratch, values)
        rows.values[:] = values.ravel()[places]
        return notice_order(rows)

    def entries_at_once(self, usual: int, *, are_selected: bool) -> int:
        """Return the entries per block: more if kernels read the memory of the matrix directly."""
        values = self.values
        memory = values.bits if isinstance(values, BFloat16Matrix) else values
        is_in_memory = isinstance(memory, np.ndarray)
        if not are_selected:
            if is_in_memory and not self.are_scores:
                return TRUTH_ENTRIES
            return usual
        if not is_in_memory:
            return DEVICE_ENTRIES
        is_known = memory is not values or memory.dtype in READ_DIRECTLY
        if is_known and _has_rows(memory):
            return SELECT_ENTRIES
        return usual


def select(values: Any, rows: slice, depth: int, truth: Rows, scratch: Scratch, first_nan: Int64) -> Selected:
    """Select the `depth` best labels, at least 2, of dense rows, and the true labels that tie with the last.

    `truth` has the same rows. `first_nan`, int64 [2], becomes the row, counted from the first of `rows`, and
    the label of the first NaN, if there is one.
    """
    if isinstance(values, DeviceMatrix):
        return values.select(rows, depth, first_nan)
    part, infinity = _readable(values, rows)
    flat, step = _flatten(part)
    n_rows, n_labels = part.shape
    lanes = min(8 * depth, n_labels // 16)  # the first bound is found from them; few for narrow rows
    n_maxima = max(lanes, depth) // LANES * LANES + LANES
    limits, space = scratch.held("selection", (depth, n_maxima, flat.dtype, infinity), _make_space)
    best = scratch.rows(n_rows, n_rows * min(depth, n_labels) + int(truth.indptr[-1]))
    ends = scratch.array("ends", n_rows + 1, np.int64)
    omitted = scratch.array("omitted", n_rows, np.int64)
    what = flat, step, n_labels, depth, (truth.indptr, truth.indices), limits, space
    if flat.dtype == np.int16:
        chunk = scratch.array("chunk", kernels.CHUNK, np.int16)
        kernels.select_best_halves(*what, chunk, tuple(best), ends, omitted, first_nan)
        if first_nan[0] < 0:  # convert keys back to scores
            used = slice(0, int(best.indptr[-1]))
            keys = best.values[used].astype(np.int16)
            bits = np.where(keys < 0, -keys.astype(np.int32) | 0x8000, keys).astype(np.uint16)
            if infinity == BFLOAT16_INFINITY:
                best.values[used] = BFloat16Matrix.widen(bits)
            else:
                best.values[used] = bits.view(np.float16)
    else:
        kernel = kernels.select_best if flat.dtype == np.float64 else kernels.select_best_floats
        kernel(*what, tuple(best), ends, omitted, first_nan)
    return Selected(best, ends, omitted)


def lowest_labels(values: Any, rows: slice) -> Int64:
    """Return the label with the lowest score above -inf in each row, some rows at a time, without copying."""
    if isinstance(values, DeviceMatrix):
        return values.lowest_labels(rows)
    lowest = np.empty(rows.stop - rows.start, dtype=np.int64)
    step = max(LOWEST_ENTRIES // values.shape[1], 1)
    for start in range(rows.start, rows.stop, step):
        part = values[start : min(start + step, rows.stop)]
        labels = np.argmin(part, axis=1)
        is_masked = part[np.arange(labels.size), labels] == -np.inf
        if is_masked.any():
            labels[is_masked] = np.argmin(np.where(part[is_masked] == -np.inf, np.inf, part[is_masked]), axis=1)
        lowest[start - rows.start :][: labels.size] = labels
    return lowest


def _has_rows(values: NDArray[Any]) -> bool:
    """Return whether each row of a matrix [n_rows, n_labels] is contiguous."""
    size = values.dtype.itemsize
    step, stride = values.strides
    is_native = values.flags.aligned and values.dtype.isnative
    return bool(is_native and values.size and (stride == size or values.shape[1] == 1) and step >= 0 == step % size)


def _flatten(values: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return the memory of a matrix as a vector, and the number of elements between rows."""
    if not _has_rows(values):
        values = np.array(values, dtype=values.dtype.newbyteorder("="), order="C")
    n_rows, n_labels = values.shape
    if values.flags.c_contiguous:
        return values.reshape(-1), n_labels
    size = values.dtype.itemsize
    step = n_labels
    n = 0
    if values.size:
        step = values.strides[0] // size
        n = (n_rows - 1) * step + n_labels
    return np.lib.stride_tricks.as_strided(values, (n,), (size,), writeable=False), step


def _readable(values: Any, rows: slice) -> tuple[NDArray[Any], float]:
    """Return rows [n, n_labels] as int16, float32 or float64, for kernels, and the infinity of that type."""
    if isinstance(values, BFloat16Matrix):
        return values.bits[rows].view(np.int16), BFLOAT16_INFINITY
    part = values[rows]
    if part.dtype == np.float16:
        if not part.dtype.isnative:
            part = part.astype(np.float16)
        if not _has_rows(part):
            part = np.ascontiguousarray(part)
        return part.view(np.int16), FLOAT16_INFINITY
    if part.dtype.kind == "f" and part.dtype.itemsize in {4, 8}:
        return part, np.inf
    numbers = comparable(part).astype(np.float64)
    if part.dtype.kind == "f":
        numbers[part == -np.inf] = -np.inf
    return numbers, np.inf


def _make_space(
    _: Scratch, depth: int, n_maxima: int, dtype: np.dtype[Any], infinity: float
) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Return the limits of scores of a type, and the scratch space for selecting the best labels."""
    size = 2 * depth + SPARE
    space = (
        np.empty(size, dtype=dtype),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=dtype),
        np.empty(2, dtype=dtype),
        np.empty(n_maxima, dtype=dtype),
        np.empty(4, dtype=np.int64),
    )
    return np.array([-infinity, infinity], dtype=dtype), space
