"""Matrices: every in-memory input as blocks of rows; nothing of the caller's is ever written to."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.rows.block import Block, Rows, Scratch, Source

BLOCK_ENTRIES = 1 << 17  # so many entries make a block, which then stays in the processor's cache

AnyArray = NDArray[Any]


class Matrix(Protocol):
    """One kind of matrix: how many entries lie before a row, and how rows become CSR."""

    def stop_after(self, start: int, entries: int) -> int:
        """Return the row before which about so many entries lie."""

    def fill(self, start: int, stop: int, scratch: Scratch) -> Rows:
        """Copy some rows into the scratch arrays."""


@dataclass
class MatrixBlock:
    """Rows `first_row` .. `first_row + n_rows` of a matrix in memory."""

    source: MatrixSource
    first_row: int
    n_rows: int

    def take(self, n_rows: int) -> MatrixBlock:
        """Cut off and return the first rows."""
        head = MatrixBlock(self.source, self.first_row, n_rows)
        self.first_row += n_rows
        self.n_rows -= n_rows
        return head

    def rows(self, scratch: Scratch) -> Rows:
        """Copy the rows into the scratch arrays, as int64 and float64."""
        return self.source.matrix.fill(self.first_row, self.first_row + self.n_rows, scratch)

    def place(self, row: int) -> str:
        """Say where a row stands."""
        return f"{self.source.name} row {self.first_row + row}"

    def blank_from(self) -> int:
        """A matrix has no blank lines: all of its rows count."""
        return self.n_rows


@dataclass(frozen=True)
class MatrixSource:
    """A matrix in memory as a source of blocks."""

    name: str
    n_rows: int
    n_labels: int | None
    matrix: Matrix
    is_exact: bool = True
    warnings: list[str] = field(default_factory=list)
    may_have_extra: bool = False  # whether one column more than there are labels is known of such files

    def blocks(self) -> Generator[Block, None, None]:
        """Yield blocks of about BLOCK_ENTRIES entries."""
        start = 0
        while start < self.n_rows:
            stop = min(max(self.matrix.stop_after(start, BLOCK_ENTRIES), start + 1), self.n_rows)
            yield MatrixBlock(self, start, stop - start)
            start = stop


@dataclass(frozen=True)
class Csr:
    """The three arrays of a CSR matrix, or of some of its rows."""

    indptr: AnyArray
    indices: AnyArray
    values: AnyArray
    are_scores: bool

    def stop_after(self, start: int, entries: int) -> int:
        """Return the row before which about so many entries lie."""
        return int(np.searchsorted(self.indptr, self.indptr[start] + entries, side="right")) - 1

    def fill(self, start: int, stop: int, scratch: Scratch) -> Rows:
        """Copy some rows into the scratch arrays."""
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        rows = scratch.rows(stop - start, last - first)
        np.subtract(self.indptr[start : stop + 1], first, out=rows.indptr, casting="unsafe")
        rows.indices[:] = self.indices[first:last]
        values = self.values[first:last]
        rows.values[:] = comparable(values) if self.are_scores else values
        return rows


@dataclass(frozen=True)
class Dense:
    """A dense matrix: in scores -inf is not predicted, in truth 0 is not true."""

    values: AnyArray
    are_scores: bool

    def stop_after(self, start: int, entries: int) -> int:
        """Return the row before which about so many entries lie."""
        return start + entries // max(int(self.values.shape[1]), 1)

    def fill(self, start: int, stop: int, scratch: Scratch) -> Rows:
        """Copy some rows into the scratch arrays."""
        values = self.values[start:stop]
        if self.are_scores:
            kept, values = values != -np.inf, comparable(values)
        else:
            kept = values != 0
        return _masked(scratch, kept, np.nonzero(kept)[1], values[kept])


@dataclass(frozen=True)
class Pairs:
    """Labels and their scores, row by row; label -1 is padding."""

    labels: AnyArray
    scores: AnyArray

    def stop_after(self, start: int, entries: int) -> int:
        """Return the row before which about so many entries lie."""
        return start + entries // max(int(self.labels.shape[1]), 1)

    def fill(self, start: int, stop: int, scratch: Scratch) -> Rows:
        """Copy some rows into the scratch arrays."""
        labels, scores = self.labels[start:stop], comparable(self.scores[start:stop])
        kept = labels != -1
        return _masked(scratch, kept, labels[kept], scores[kept])


def _masked(scratch: Scratch, kept: AnyArray, indices: AnyArray, values: AnyArray) -> Rows:
    """Return the kept cells of a dense block as rows."""
    rows = scratch.rows(kept.shape[0], indices.size)
    rows.indptr[0] = 0
    np.cumsum(np.count_nonzero(kept, axis=1), out=rows.indptr[1:])
    rows.indices[:], rows.values[:] = indices, values
    return rows


def comparable(values: AnyArray) -> AnyArray:
    """Return values that float64 holds without loss of order.

    Wide integers and long doubles that float64 would round become their order within the block, 0 staying 0.
    """
    if not is_wide(values) or (values.dtype.kind == "f" and np.isnan(values).any()):
        return values
    every, order = np.unique(np.append(values.ravel(), values.dtype.type(0)), return_inverse=True)
    zero = int(np.searchsorted(every, values.dtype.type(0)))
    return (order[:-1] - zero).reshape(values.shape)


def is_wide(values: AnyArray) -> bool:
    """Whether float64 would round some of these numbers."""
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size:
        return bool(np.max(values) > 2**53) or bool(np.min(values) < -(2**53))
    return values.dtype.kind == "f" and values.dtype.itemsize > 8


def as_truth(y_true: Any, name: str = "y_true") -> Source:
    """Take a truth matrix: any scipy.sparse matrix or array, or a dense indicator [n_rows, n_labels].

    Raises
    ------
    DataError
        Another shape or a dtype without order.
    """
    if _is_sparse(y_true):
        return _sparse(y_true, name, are_scores=False)
    values = _array(y_true, name)
    return MatrixSource(name, values.shape[0], values.shape[1], Dense(values, are_scores=False))


def as_scores(y_score: Any, name: str = "y_score") -> Source:
    """Take a score matrix.

    Any scipy.sparse matrix or array (stored entries are the predictions, zeros too); a dense array
    [n_rows, n_labels], in which -inf means not predicted; or a pair of arrays ``(labels, scores)``, both
    [n_rows, any width], in which label -1 is padding.

    Raises
    ------
    DataError
        Another shape or a dtype without order.
    """
    if _is_sparse(y_score):
        return _sparse(y_score, name, are_scores=True)
    if isinstance(y_score, tuple) and len(y_score) == 2:
        return pairs(y_score[0], y_score[1], f"{name}[0]", f"{name}[1]")
    values = _array(y_score, name)
    return MatrixSource(name, values.shape[0], values.shape[1], Dense(values, are_scores=True))


def pairs(labels: Any, scores: Any, labels_name: str, scores_name: str) -> Source:
    """Take predictions as labels and their scores, row by row; -1 is padding."""
    ids, values = _array(labels, labels_name), _array(scores, scores_name)
    if ids.dtype.kind not in "iu":
        raise DataError(f"{labels_name}: labels must be integers, got dtype {ids.dtype}")
    if ids.shape != values.shape:
        raise DataError(f"{labels_name} has shape {ids.shape} and {scores_name} {values.shape}; they must be the same")
    return MatrixSource(labels_name, ids.shape[0], None, Pairs(ids, values), is_exact=False)


def _is_sparse(matrix: Any) -> bool:
    return hasattr(matrix, "tocsr") and hasattr(matrix, "nnz")


def _sparse(matrix: Any, name: str, are_scores: bool) -> Source:
    if matrix.ndim != 2:
        raise DataError(f"{name}: expected a matrix [n_rows, n_labels], got {matrix.ndim} dimension(s)")
    _check_dtype(matrix.dtype, name)
    csr = matrix.tocsr()  # scipy gives the matrix itself where it is CSR already; nothing here writes to it
    if matrix.format == "coo" and csr.nnz < matrix.nnz:  # scipy adds duplicates up
        _refuse_duplicates(matrix.row, matrix.col, name, "score" if are_scores else "truth")
    return csr_source(csr.indptr, csr.indices, csr.data, csr.shape, name, are_scores=are_scores)


def _refuse_duplicates(rows: AnyArray, labels: AnyArray, name: str, what: str) -> None:
    """Say where a label first appears twice in a row."""
    order = np.lexsort((labels, rows))
    rows, labels = rows[order], labels[order]
    at = int(np.argmax((rows[1:] == rows[:-1]) & (labels[1:] == labels[:-1])))
    raise DataError(f"{name} row {rows[at]}: label {labels[at]} appears twice in this row; a label has one {what}")


def csr_source(
    indptr: AnyArray, indices: AnyArray, values: AnyArray, shape: tuple[int, int], name: str, *, are_scores: bool
) -> Source:
    """Take the three arrays of a CSR matrix."""
    _check_dtype(values.dtype, name)
    ends = indptr.size == shape[0] + 1 and indptr[0] == 0 and indptr[-1] <= min(indices.size, values.size)
    if not ends or np.any(indptr[1:] < indptr[:-1]):
        raise DataError(f"{name}: its indptr does not describe {shape[0]:,} rows of {indices.size:,} stored entries")
    return MatrixSource(name, int(shape[0]), int(shape[1]), Csr(indptr, indices, values, are_scores))


def _array(values: Any, name: str) -> AnyArray:
    """Take anything that numpy or DLPack can see as a matrix of numbers, without a copy where there is a way."""
    if not isinstance(values, np.ndarray) and hasattr(values, "__dlpack__"):
        if hasattr(values, "detach"):
            values = values.detach().cpu()
        values = np.from_dlpack(values)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name}: expected a matrix, got rows of different lengths ({error})") from None
    if array.ndim != 2:
        raise DataError(f"{name}: expected a matrix [n_rows, n_labels], got shape {array.shape}")
    _check_dtype(array.dtype, name)
    return array


def _check_dtype(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind not in "biuf":
        raise DataError(f"{name}: expected numbers, got dtype {dtype}")
