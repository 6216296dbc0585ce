"""Dense matrices: true cells and best labels of each row, found in the matrix where it is, without a copy of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.rows.block import Int64, Rows, Scratch, Selected, SortedRows
from xmceval.rows.matrices.storage import BFLOAT16, BFloat16Matrix, Values, comparable, full_rows, stored_rows
from xmceval.rows.matrices.tensors import DEVICE_ENTRIES, DeviceMatrix

SELECT_ENTRIES = 1 << 24  # per block, of scores that are not copied: enough for the work to outweigh its preparation
TRUTH_ENTRIES = 1 << 22  # per block, of truth: if all of them are true, their labels and values take 64 MiB
LOWEST_ENTRIES = 1 << 18  # at a time, of rows whose lowest scores are looked for
SPARE = 64  # candidates beyond twice the labels that are wanted

WORD_OF_SIZE = {size: np.dtype(f"u{size}").type for size in (1, 2, 4, 8)}
FLOAT16_INFINITY, BFLOAT16_INFINITY, BFLOAT16_ONE = 0x7C00, 0x7F80, 0x3F80  # as bits


@dataclass(frozen=True)
class Dense:
    """A dense matrix [n_rows, n_labels]: in scores, -inf is not predicted; in truth, 0 is not true."""

    values: Values
    are_scores: bool

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.values.shape[0])

    def stop_after(self, start: int, n_entries: int) -> int:
        """Return the row that ends a run of about `n_entries` entries from `start` on."""
        return start + n_entries // max(int(self.values.shape[1]), 1)

    def copy_rows(self, start: int, stop: int, scratch: Scratch) -> Rows:
        """Copy rows into the scratch arrays, as int64 and float64."""
        cells = None if self.are_scores else _cells(self.values, slice(start, stop))
        if cells is not None:
            return _copy_true(cells, scratch)
        values = self.values[start:stop]
        if self.are_scores:
            is_stored, values = values != -np.inf, comparable(values)
            if is_stored.all():
                rows = full_rows(values.shape, scratch)
                rows.indices.reshape(values.shape)[:] = np.arange(values.shape[1])
                rows.values.reshape(values.shape)[:] = values
                return rows
        else:
            is_stored = values != 0
        rows, places = stored_rows(scratch, is_stored)
        np.subtract(
            places, np.repeat(np.arange(stop - start) * values.shape[1], np.diff(rows.indptr)), out=rows.indices
        )
        rows.values[:] = values.ravel()[places]
        return rows

    def entries_at_once(self, usual: int, *, are_selected: bool) -> int:
        """Return how many entries make a block: more where kernels read the memory of the matrix as it is."""
        if are_selected:
            return entries_at_once(self.values, usual)
        return usual if self.are_scores or _memory_of_cells(self.values) is None else TRUTH_ENTRIES

    def sliced(self, start: int, stop: int) -> Dense:
        """Return some rows."""
        return Dense(self.values[start:stop], self.are_scores)


def entries_at_once(values: Any, usual: int) -> int:
    """Return how many entries make a block: most where kernels can read the memory of the matrix as it is."""
    memory = values.bits if isinstance(values, BFloat16Matrix) else values
    if not isinstance(memory, np.ndarray):
        return DEVICE_ENTRIES
    is_known = memory is not values or memory.dtype in {np.dtype("f2"), np.dtype("f4"), np.dtype("f8")}
    return SELECT_ENTRIES if is_known and _has_rows(memory) else usual


def select(values: Any, rows: slice, depth: int, truth: Rows, scratch: Scratch, found: Int64) -> Selected:
    """Select the best labels of some rows, and the true labels that tie with the last.

    Parameters
    ----------
    values : Values
        The dense matrix [n_rows, n_labels], on any device.
    rows : slice
    depth : int
        How many labels per row, at least 2.
    truth : Rows
        Of the same rows.
    scratch : Scratch
    found : int64 array [2]
        Becomes the row, counted from the first of `rows`, and the label of the first NaN, if there is one.
    """
    if isinstance(values, DeviceMatrix):
        return values.select(rows, depth, found)
    return _select(values, rows, depth, truth, scratch, found)


def lowest_labels(values: Any, rows: slice) -> Int64:
    """Return the label with the lowest score of each row that is not -inf; of some rows at a time, without a copy."""
    if isinstance(values, DeviceMatrix):
        return values.lowest_labels(rows)
    lowest, step = np.empty(rows.stop - rows.start, dtype=np.int64), max(LOWEST_ENTRIES // values.shape[1], 1)
    for start in range(rows.start, rows.stop, step):
        part = values[start : min(start + step, rows.stop)]
        labels = np.argmin(part, axis=1)
        is_masked = part[np.arange(labels.size), labels] == -np.inf
        if is_masked.any():
            labels[is_masked] = np.argmin(np.where(part[is_masked] == -np.inf, np.inf, part[is_masked]), axis=1)
        lowest[start - rows.start :][: labels.size] = labels
    return lowest


class _Cells(NamedTuple):
    """Dense truth in memory: bits [n_rows, n_labels] as unsigned integers, those that count, those of 1, its type."""

    bits: NDArray[Any]
    mask: np.unsignedinteger[Any]
    one: np.unsignedinteger[Any]
    dtype: np.dtype[Any]


def _cells(values: Values, rows: slice) -> _Cells | None:
    """Return the bits of rows, or None where kernels cannot read the memory as it is."""
    memory = _memory_of_cells(values)
    if memory is None:
        return None
    words = _words_of(values.dtype)
    return _Cells(memory[rows].view(words[0].dtype), *words, values.dtype)


@cache
def _words_of(dtype: np.dtype[Any]) -> tuple[np.unsignedinteger[Any], np.unsignedinteger[Any]]:
    """Return the bits that count of the numbers of a type, all but the sign since -0.0 is zero, and those of its 1."""
    is_float, stored = dtype.kind in "fV", np.dtype(np.uint16) if dtype == BFLOAT16 else dtype
    word = WORD_OF_SIZE[stored.itemsize]
    one = word(BFLOAT16_ONE) if dtype == BFLOAT16 else np.ones(1, dtype=dtype).view(word)[0]
    return word((1 << 8 * stored.itemsize - is_float) - 1), one


def _memory_of_cells(values: Values) -> NDArray[Any] | None:
    """Return the memory of a truth [n_rows, n_labels], or None where kernels cannot read it as it is."""
    memory = values.bits if isinstance(values, BFloat16Matrix) else values
    if not isinstance(memory, np.ndarray) or memory.dtype.kind not in "biuf" or memory.itemsize > 8:
        return None
    return memory if _has_rows(memory) else None


def _copy_true(cells: _Cells, scratch: Scratch) -> Rows:
    """Copy the cells that are not zero into the scratch arrays."""
    from xmceval.kernels.rows.cells import CHUNK, NO_ROOM, find_cells

    flat, step = _flatten(cells.bits)
    n_rows, n_labels = cells.bits.shape
    starts, size = scratch.array("indptr", n_rows + 1, np.int64), 16 * n_rows + CHUNK
    while True:
        labels = scratch.whole("indices", size, np.int64)
        found = scratch.whole(flat.dtype.str, size, flat.dtype.type)
        size = min(labels.size, found.size)  # one may have grown for something else
        labels, found = labels[:size], found[:size]
        largest, are_ones = find_cells(flat, step, n_labels, cells.mask, cells.one, starts, labels, found)
        if largest != NO_ROOM:
            break
        size *= 4
    n_found = int(starts[-1])
    rows, stored = scratch.rows(n_rows, n_found), found[:n_found]
    rows.values[:] = BFloat16Matrix.widen(stored) if cells.dtype == BFLOAT16 else stored.view(cells.dtype)
    return SortedRows.of(rows, largest, has_only_ones=True) if are_ones else rows


def _has_rows(values: NDArray[Any]) -> bool:
    """Return whether each row of a matrix [n_rows, n_labels] is contiguous."""
    size, (step, stride) = values.dtype.itemsize, values.strides
    is_native = values.flags.aligned and values.dtype.isnative
    return bool(is_native and values.size and (stride == size or values.shape[1] == 1) and step >= 0 == step % size)


class _Memory:
    """The memory of a matrix as one dimension, which numpy does not regard as read-only: kernels know one type only."""

    def __init__(self, values: NDArray[Any], size: int) -> None:
        self._values = values
        address = values.__array_interface__["data"][0]
        self.__array_interface__ = {
            "version": 3, "data": (address, False), "typestr": values.dtype.str, "shape": (size,)
        }  # fmt: skip


def _flatten(values: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return the memory of a matrix as one dimension, and the number of elements from one row to the next."""
    if not _has_rows(values):
        values = np.array(values, dtype=values.dtype.newbyteorder("="), order="C")
    n_rows, n_labels = values.shape
    if values.flags.carray:  # contiguous, aligned and writeable: a plain view takes a tenth of the time
        return values.reshape(-1), n_labels
    step = values.strides[0] // values.dtype.itemsize if values.size else n_labels
    size = (n_rows - 1) * step + n_labels if values.size else 0
    return np.asarray(_Memory(values, size)), step


def _readable(values: Any, rows: slice) -> tuple[NDArray[Any], float]:
    """Return rows [n, n_labels] as int16, float32 or float64, which kernels read, and the infinity of that type."""
    if isinstance(values, BFloat16Matrix):
        return values.bits[rows].view(np.int16), BFLOAT16_INFINITY
    part = values[rows]
    if part.dtype == np.float16:
        native = part if part.dtype.isnative else part.astype(np.float16)
        return (native if _has_rows(native) else np.ascontiguousarray(native)).view(np.int16), FLOAT16_INFINITY
    if part.dtype.kind == "f" and part.dtype.itemsize in {4, 8}:
        return part, np.inf
    numbers = comparable(part).astype(np.float64)
    if part.dtype.kind == "f":
        numbers[part == -np.inf] = -np.inf
    return numbers, np.inf


def _select(values: Any, rows: slice, depth: int, truth: Rows, scratch: Scratch, found: Int64) -> Selected:
    """Select the best labels of rows in memory; see `select`."""
    from xmceval.kernels.rows import dense as kernels

    part, infinity = _readable(values, rows)
    flat, step = _flatten(part)
    n_rows, n_labels = part.shape
    limits, space = scratch.held("selection", (depth, flat.dtype, infinity), _make_space)
    best = scratch.rows(n_rows, n_rows * min(depth, n_labels) + int(truth.indptr[-1]))
    ends, omitted = scratch.array("ends", n_rows + 1, np.int64), scratch.array("omitted", n_rows, np.int64)
    what = flat, step, n_labels, depth, (truth.indptr, truth.indices), limits, space
    if flat.dtype == np.int16:
        chunk = scratch.array("chunk", kernels.CHUNK, np.int16)
        kernels.select_best_halves(*what, chunk, tuple(best), ends, omitted, found)
        _turn_keys_into_scores(best, infinity, found)
    else:
        kernels.select_best(*what, tuple(best), ends, omitted, found)
    return Selected(best, ends, omitted)


def _make_space(_: Scratch, depth: int, dtype: np.dtype[Any], infinity: float) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Return the limits of the scores of a type, and the working space in which their best labels are selected."""
    size = 2 * depth + SPARE
    space = (
        *(np.empty(size, dtype=dtype), np.empty(size, dtype=np.int64), np.empty(size, dtype=dtype)),
        *(np.empty(2, dtype=dtype), np.empty(8 * depth // 32 * 32 + 32, dtype=dtype), np.empty(4, dtype=np.int64)),
    )
    return np.array([-infinity, infinity], dtype=dtype), tuple(space)


def _turn_keys_into_scores(best: Rows, infinity: float, found: Int64) -> None:
    """Replace the keys of half-precision scores by the scores, unless `found`, int64 [2], has a NaN."""
    if found[0] >= 0:
        return
    used = slice(0, int(best.indptr[-1]))
    keys = best.values[used].astype(np.int16)
    bits = np.where(keys < 0, -keys.astype(np.int32) | 0x8000, keys).astype(np.uint16)
    best.values[used] = BFloat16Matrix.widen(bits) if infinity == BFLOAT16_INFINITY else bits.view(np.float16)
