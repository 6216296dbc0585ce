"""Sparse matrices of scipy, in any storage, as CSR: every stored entry is kept, and no index is trusted."""

from __future__ import annotations

from typing import Any

import numpy as np

from xmceval.errors import DataError, counted
from xmceval.rows.matrices.storage import AnyArray


def is_sparse(matrix: Any) -> bool:
    """Whether it is a sparse matrix, of scipy or with the same attributes."""
    return hasattr(matrix, "tocsr") and hasattr(matrix, "nnz")


def csr_arrays(matrix: Any, name: str) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return indptr [n_rows + 1], indices and values [n_stored] of CSR, with duplicates too.

    Rows are checked, because scipy's conversions write wherever a wrong index says; columns are not.
    """
    if matrix.ndim != 2:
        raise DataError(f"{name}: expected a matrix [n_rows, n_labels], got {counted(matrix.ndim, 'dimension')}")
    n_rows, n_columns = matrix.shape
    if matrix.format == "csc":
        check_indptr(matrix.indptr, matrix.indices, matrix.data, n_columns, name, noun="column")
        _check_rows(matrix.indices, n_rows, name)
    try:
        # The constructors of DOK and BSR check their indices, and COO of them has every stored entry.
        stored = matrix.tocoo(copy=False) if matrix.format in {"bsr", "dok"} else matrix
        csr = None if stored.format == "coo" else stored.tocsr()
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise DataError(
            f"{name}: its arrays in {matrix.format} form do not describe a matrix of shape {matrix.shape} ({error})"
        ) from None
    if csr is None:
        return _group_by_row(stored, name)
    check_indptr(csr.indptr, csr.indices, csr.data, n_rows, name)
    return csr.indptr, csr.indices, csr.data


def check_indptr(
    indptr: AnyArray, indices: AnyArray, values: AnyArray, n_rows: int, name: str, *, noun: str = "row"
) -> None:
    """Refuse an indptr that does not divide the stored entries among the rows, or the columns of CSC."""
    n_stored = min(indices.size, values.size)
    ends = indptr.size == n_rows + 1 and indptr[0] == 0 and indptr[-1] <= n_stored
    if not ends or (indptr[1:] < indptr[:-1]).any():
        raise indptr_error(name, n_rows, n_stored, noun)


def indptr_error(name: str, n_rows: int, n_stored: int, noun: str = "row") -> DataError:
    """Return the error for an indptr that does not fit the rows and stored entries."""
    return DataError(
        f"{name}: its indptr does not describe {counted(n_rows, noun)} with {counted(n_stored, 'stored entry')}"
    )


def _check_rows(rows: AnyArray, n_rows: int, name: str) -> None:
    """Refuse stored entries, given by their rows, outside of the matrix."""
    if rows.size and not 0 <= rows.min() <= rows.max() < n_rows:
        row = int(rows.min() if rows.min() < 0 else rows.max())
        raise DataError(f"{name}: has {counted(n_rows, 'row')}, but a stored entry is in row {row}")


def _group_by_row(coo: Any, name: str) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return indptr [n_rows + 1], indices and values [n_stored] of CSR, with every entry of COO."""
    if not coo.row.size == coo.col.size == coo.data.size:
        raise DataError(f"{name}: its arrays of rows, columns and data have different lengths")
    starts = np.append(0, np.flatnonzero(coo.row[1:] != coo.row[:-1]) + 1)[: coo.row.size]  # of entries of one row
    rows = coo.row[starts]
    _check_rows(rows, coo.shape[0], name)
    if (rows[1:] > rows[:-1]).all():
        lengths = np.zeros(coo.shape[0] + 1, dtype=np.int64)
        lengths[1:][rows] = np.diff(starts, append=coo.row.size)
        return np.cumsum(lengths), coo.col, coo.data
    csr = coo.tocsr()
    if csr.nnz == coo.nnz:  # otherwise scipy added duplicates up
        return csr.indptr, csr.indices, csr.data
    order = np.argsort(coo.row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(coo.row, minlength=coo.shape[0]))])
    return indptr, coo.col[order], coo.data[order]
