"""Cells of truth and scores side by side: only those that are stored, in the order that kernels need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmceval.api.dropins.indicators import AnyArray, as_array, as_csr, is_sparse
from xmceval.errors import DataError
from xmceval.rows.block import Float64, Int64, Rows, Scratch
from xmceval.rows.matrices.dense import Dense
from xmceval.rows.matrices.storage import Csr, comparable
from xmceval.statistics.curves import sort_by_score

BLOCK_CELLS = 1 << 18  # of a block, whose arrays take up to 20 MB


class SortedCells(NamedTuple):
    """Cells of groups (rows or labels): group g has ``starts[g] : starts[g + 1]``, highest score first.

    ``places`` are the cells' places in their group.
    """

    starts: Int64
    places: AnyArray
    truth: Float64
    scores: Float64


def finite_scores(values: Any, name: str = "y_score") -> Any:
    """Return finite scores as CSR or as a dense array; numbers that float64 would round become their order."""
    matrix: Any = as_csr(values, name) if is_sparse(values) else as_array(values, name)
    data: AnyArray = matrix.data if is_sparse(matrix) else matrix
    if data.dtype.kind == "U":
        raise DataError(f"{name}: expected numbers, got strings")
    if data.dtype.kind == "f" and not np.isfinite(data).all():
        raise DataError(f"{name}: has an infinity; expected finite numbers, as scikit-learn does")
    scores = comparable(data)
    if scores is data or not is_sparse(matrix):
        return matrix if scores is data else scores
    return sparse.csr_matrix((scores, matrix.indices, matrix.indptr), shape=matrix.shape)


def iterate_rows(truth: Any, scores: Any) -> Iterator[tuple[slice, Rows, Rows]]:
    """Yield a run of rows, their truth and their scores, both without zeros; the arrays live until the next one.

    Each is CSR or dense; -0.0 is a zero.
    """
    n_rows, n_labels = scores.shape
    n_cells = max(int(matrix.nnz) if is_sparse(matrix) else n_rows * n_labels for matrix in (truth, scores))
    step = max(1, min(n_rows, BLOCK_CELLS * n_rows // max(n_cells, 1)))
    pairs = [(_stored(matrix), Scratch()) for matrix in (truth, scores)]
    for start in range(0, max(n_rows, 1), step):
        stop = min(start + step, n_rows)
        true, scored = (matrix.copy_rows(start, stop, scratch) for matrix, scratch in pairs)
        yield slice(start, stop), true, scored


def _stored(matrix: Any) -> Csr | Dense:
    """Return a matrix as storage whose rows are copied without zeros: dense scores count them as not stored, too."""
    if is_sparse(matrix):
        return Csr(matrix.indptr, matrix.indices, matrix.data, are_scores=False)
    return Dense(matrix, are_scores=False)


def iterate_cells(truth: Any, scores: Any) -> Iterator[tuple[int, int, Any]]:
    """Yield (first row, last row + 1, both matrices as one complex CSR: truth + i score) by blocks of rows.

    The sum of two sparse matrices has the union of their cells, without those that are 0 in both.
    """
    n_labels = scores.shape[1]
    for rows, true, scored in iterate_rows(truth, scores):
        shape = rows.stop - rows.start, n_labels
        imaginary = np.zeros(scored.values.size, dtype=np.complex128)
        imaginary.imag = scored.values  # a product with 1j would make NaN of infinity
        shifted = sparse.csr_matrix((imaginary, scored.indices, scored.indptr), shape=shape)
        cells = (sparse.csr_matrix((true.values, true.indices, true.indptr), shape=shape) + shifted).tocsr()
        cells.sort_indices()
        yield rows.start, rows.stop, cells


def sort_cells(matrix: Any) -> SortedCells:
    """Sort the cells of each row of a complex CSR matrix (of each column, in CSC) by descending score."""
    groups = np.repeat(np.arange(matrix.indptr.size - 1, dtype=np.uint32), np.diff(matrix.indptr))
    truth, scores = matrix.data.real, matrix.data.imag
    order = sort_by_score(scores, groups)
    return SortedCells(matrix.indptr.astype(np.int64), matrix.indices[order], truth[order], scores[order])
