"""Cells: truth and scores of a matrix pair side by side, stored ones only, in the order that kernels ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from xmceval.api.dropins.targets import AnyArray, as_array, as_csr, is_sparse
from xmceval.errors import DataError

BLOCK_CELLS = 1 << 21

Int64 = NDArray[np.int64]

Float64 = NDArray[np.float64]


class Cells(NamedTuple):
    """Entries of groups (rows, labels): group g has ``starts[g] : starts[g + 1]``, best score first."""

    starts: Int64
    labels: AnyArray  # the entry's place in its group, before it was sorted
    truth: Float64
    scores: Float64
    order: AnyArray  # where each entry stood in the matrix before it was sorted


def as_scores(values: Any, name: str = "y_score") -> Any:
    """Take finite scores as CSR or a dense array; integers that float64 would round become their order."""
    matrix: Any = as_csr(values, name) if is_sparse(values) else as_array(values, name)
    data: AnyArray = matrix.data if is_sparse(matrix) else matrix
    if data.dtype.kind == "U":
        raise DataError(f"{name}: expected numbers, got strings")
    if data.dtype.kind == "f" and not np.isfinite(data).all():
        raise DataError(f"{name}: has an infinity; expected finite numbers, as scikit-learn does")
    wide = data.dtype.kind in "iu" and data.dtype.itemsize == 8 and data.size
    wide = bool(wide) and bool((data.max() > 2**53) or (data.min() < -(2**53)))
    if not wide and not (data.dtype.kind == "f" and data.dtype.itemsize > 8):
        return matrix
    distinct, places = np.unique(np.append(data.ravel(), data.dtype.type(0)), return_inverse=True)
    places = places.reshape(-1)[:-1] - np.searchsorted(distinct, 0)
    if is_sparse(matrix):
        return sparse.csr_matrix((places, matrix.indices, matrix.indptr), shape=matrix.shape)
    return places.reshape(data.shape)


def row_pairs(truth: Any, scores: Any) -> Iterator[tuple[int, int, Any, Any]]:
    """Yield (first row, last row + 1, truth, scores) by blocks of rows, both as CSR."""
    n_rows, n_labels = scores.shape
    held = n_rows * n_labels if not is_sparse(scores) else int(scores.nnz)
    held += int(truth.nnz)
    step = max(1, min(n_rows, BLOCK_CELLS * n_rows // max(held, 1)))
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        yield start, stop, truth[start:stop], sparse.csr_matrix(scores[start:stop])


def row_blocks(truth: Any, scores: Any) -> Iterator[tuple[int, int, Any]]:
    """Yield (first row, last row + 1, both matrices as one complex CSR: truth + i score) by blocks of rows.

    One sum of two sparse matrices is the union of their cells; a cell that is 0 in both is left out, as it should be.
    """
    for start, stop, real, imaginary in row_pairs(truth, scores):
        shifted = imaginary.astype(np.complex128)
        shifted.data *= 1j
        both = (real.astype(np.complex128) + shifted).tocsr()
        both.sort_indices()
        yield start, stop, both


def sort_cells(matrix: Any, *, by_label: bool = False) -> Cells:
    """Sort the entries of each row (of each column, in CSC) by descending score.

    Equal scores come in any order, or, `by_label`, the larger label first.
    """
    groups = np.repeat(np.arange(matrix.indptr.size - 1, dtype=np.uint32), np.diff(matrix.indptr))
    truth, scores = matrix.data.real, matrix.data.imag
    if by_label:
        order = scores.size - 1 - np.argsort(-scores[::-1], kind="stable")
    else:
        order = np.argsort(-scores)
    for half in (groups & 0xFFFF, groups >> 16):  # 16 bits at a time: numpy then sorts by radix, in linear time
        if half.any():
            order = order[np.argsort(half.astype(np.uint16)[order], kind="stable")]
    return Cells(matrix.indptr.astype(np.int64), matrix.indices[order], truth[order], scores[order], order)
