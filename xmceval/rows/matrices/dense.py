"""Dense scores: the best labels of each row, selected from the matrix where it is, without a copy of it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import Fault
from xmceval.rows.block import Block, Int64, Rows, Scratch, Selected, Source
from xmceval.rows.matrices.matrices import BLOCK_ENTRIES, BLOCK_ROWS, MatrixBlock, MatrixSource
from xmceval.rows.matrices.storage import BFloat16Matrix, Dense, comparable
from xmceval.rows.matrices.tensors import DEVICE_ENTRIES

SELECT_ENTRIES = 1 << 24  # per block, of scores that are not copied: enough for the work to outweigh its preparation
SPARE = 64  # candidates beyond twice the labels that are wanted

FLOAT16_INFINITY, BFLOAT16_INFINITY = 0x7C00, 0x7F80  # as bits


@dataclass
class SelectingBlock(MatrixBlock):
    """Some rows of a dense matrix, from which the `depth` best labels per row are selected."""

    depth: int = 2

    def take(self, n_rows: int) -> SelectingBlock:
        """Split off and return the first rows."""
        head = super().take(n_rows)
        return SelectingBlock(head.name, head.piece, head.start, head.first_row, head.n_rows, self.depth)

    def select(self, truth: Rows, scratch: Scratch) -> Selected:
        """Select the best labels of each row, and the true labels that tie with the last.

        Raises
        ------
        Fault
            A score that is NaN.
        """
        values = cast(Dense, self.piece).values
        found = np.full(2, -1, dtype=np.int64)
        rows = slice(self.start, self.start + self.n_rows)
        if hasattr(values, "select"):
            selected = values.select(rows, self.depth, found)
        else:
            selected = _select(values, rows, self.depth, truth, scratch, found)
        row, label = (int(number) for number in found)
        if row >= 0:
            problem = f"the score value of label {label} is NaN; expected a number"
            raise Fault(self.first_row + row, f"{self.place(row)}: {problem}")
        return cast(Selected, selected)


@dataclass(frozen=True)
class SelectingSource:
    """A dense source in blocks from which the `depth` best labels per row are selected."""

    source: MatrixSource
    depth: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def blocks(self) -> Generator[Block, None, None]:
        """Yield blocks; those of scores that need no copy have many more entries than others."""
        first_row = self.source.first_row
        for piece in self.source.pieces:
            values = cast(Dense, piece).values
            n_entries = _entries_at_once(values)
            n = min(max(n_entries // max(values.shape[1], 1), 1), BLOCK_ROWS)
            for start in range(0, piece.n_rows, n):
                n_rows = min(n, piece.n_rows - start)
                yield SelectingBlock(self.source.name, piece, start, first_row + start, n_rows, self.depth)
            first_row += piece.n_rows


def selecting(source: Source, depth: int) -> Source:
    """Return a source that selects the `depth` best labels per row, at least 2, if the scores are dense."""
    if isinstance(source, MatrixSource) and source.is_dense:
        return cast(Source, SelectingSource(source, depth))
    return source


def _entries_at_once(values: Any) -> int:
    """Return how many entries make a block: most where kernels can read the memory of the matrix as it is."""
    memory = values.bits if isinstance(values, BFloat16Matrix) else values
    if not isinstance(memory, np.ndarray):
        return DEVICE_ENTRIES
    is_known = memory is not values or memory.dtype in {np.dtype("f2"), np.dtype("f4"), np.dtype("f8")}
    return SELECT_ENTRIES if is_known and _has_rows(memory) else BLOCK_ENTRIES


def _has_rows(values: NDArray[Any]) -> bool:
    """Return whether each row is contiguous."""
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
    """Return the memory of a matrix, and the number of elements from one row to the next."""
    if not _has_rows(values):
        values = np.array(values, dtype=values.dtype.newbyteorder("="), order="C")
    n_rows, n_labels = values.shape
    step = values.strides[0] // values.dtype.itemsize if values.size else n_labels
    size = (n_rows - 1) * step + n_labels if values.size else 0
    return np.asarray(_Memory(values, size)), step


def _readable(values: Any, rows: slice) -> tuple[NDArray[Any], float]:
    """Return rows in a type that a kernel reads, and the infinity of that type."""
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
    """Select the best labels of rows in memory."""
    from xmceval.kernels.rows import dense as kernels

    part, infinity = _readable(values, rows)
    flat, step = _flatten(part)
    n_rows, n_labels = part.shape
    limits, size, kind = np.array([-infinity, infinity], dtype=flat.dtype), 2 * depth + SPARE, flat.dtype.str
    space = (
        scratch.array(f"best {kind}", size, flat.dtype.type),
        scratch.array("best labels", size, np.int64),
        scratch.array(f"work {kind}", size, flat.dtype.type),
        np.empty(2, dtype=flat.dtype),
        scratch.array(f"sample {kind}", 8 * depth + SPARE, flat.dtype.type),
    )
    best = scratch.rows(n_rows, n_rows * min(depth, n_labels) + int(truth.indptr[-1]))
    lengths, omitted = np.zeros(n_rows, dtype=np.int64), scratch.array("omitted", n_rows, np.int64)
    what = flat, step, n_labels, depth, (truth.indptr, truth.indices), limits, space
    if flat.dtype == np.int16:
        chunk = scratch.array("chunk", kernels.CHUNK, np.int16)
        kernels.select_best_halves(*what, chunk, tuple(best), lengths, omitted, found)
        _turn_keys_into_scores(best, infinity, found)
    else:
        kernels.select_best(*what, tuple(best), lengths, omitted, found)
    return Selected(best, np.concatenate([[0], np.cumsum(lengths)]), omitted)


def _turn_keys_into_scores(best: Rows, infinity: float, found: Int64) -> None:
    """Replace the keys of half-precision scores by the scores."""
    if found[0] >= 0:
        return
    used = slice(0, int(best.indptr[-1]))
    keys = best.values[used].astype(np.int16)
    bits = np.where(keys < 0, -keys.astype(np.int32) | 0x8000, keys).astype(np.uint16)
    best.values[used] = BFloat16Matrix.widen(bits) if infinity == BFLOAT16_INFINITY else bits.view(np.float16)
