"""Convert sparse matrices to CSR, keeping every entry and validating every array."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from xmceval.errors import DataError, counted
from xmceval.rows.block import AnyArray, Int64
from xmceval.rows.matrices.storage import as_plain

PARTS = {  # the arrays of each format, values first
    **dict.fromkeys(("csr", "csc", "bsr"), ("data", "indices", "indptr")),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
MANY_ROWS = 1 << 27  # an indptr of 1 GiB, too large to allocate because of a wrong shape alone


def csr_arrays(matrix: Any, name: str) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return indptr [n_rows + 1], indices and values [n_stored] of CSR, including duplicates.

    Arrays are checked, since scipy's conversions access invalid memory given wrong lengths or rows; columns are
    not checked.
    """
    scipy_sparse = sys.modules.get("scipy.sparse")  # already loaded if this is one of its matrices
    if scipy_sparse is None or not scipy_sparse.issparse(matrix):
        matrix = matrix.tocsr()
    if matrix.ndim != 2:
        raise DataError(f"{name}: expected a matrix [n_rows, n_labels], got {counted(matrix.ndim, 'dimension')}")
    form = matrix.format
    n_rows, n_columns = matrix.shape
    contradiction = "{}: its arrays in {} form do not describe a matrix of shape {}"
    try:
        arrays = [getattr(matrix, part) for part in PARTS.get(form, ())]
        if n_rows < 0 or n_columns < 0 or not _fit_together(matrix, form, *arrays):
            raise DataError(contradiction.format(name, form, matrix.shape))
        if np.ma.MaskedArray in map(type, arrays):
            for part, array in zip(PARTS[form], arrays, strict=True):
                as_plain(array, f"{name}.{part}")  # refuses masked cells
        if form in {"coo", "csc", "dia", "dok"}:  # indptr does not exist yet
            n_stored = len(matrix.keys()) if form == "dok" else matrix.data.size
            if n_rows > max(MANY_ROWS, 16 * n_stored):
                raise DataError(
                    f"{name}: its shape declares {counted(n_rows, 'row')} for {counted(n_stored, 'stored entry')}"
                )
        if form == "csc":
            check_indptr(matrix.indptr, min(matrix.indices.size, matrix.data.size), n_columns, name, noun="column")
            _check_rows(matrix.indices[: matrix.indptr[-1]], n_rows, name)
        elif form == "bsr":
            n_blocks = min(matrix.indices.size, len(matrix.data))
            check_indptr(matrix.indptr, n_blocks, n_rows // matrix.data.shape[1], name, noun="block row")
        # The constructors of DOK and BSR check their indices, and COO of them has every stored entry.
        if form in {"bsr", "dok", "coo"}:
            return _group_by_row(matrix.tocoo(copy=False), name)
        if form != "csr":
            csr = matrix.tocsr()
            arrays = [csr.data, csr.indices, csr.indptr]
    except DataError:
        raise
    except (ValueError, TypeError, IndexError, OverflowError, AttributeError) as error:
        raise DataError(contradiction.format(name, form, matrix.shape)) from error
    values, indices, indptr = map(np.asarray, arrays)
    check_indptr(indptr, min(indices.size, values.size), n_rows, name)
    n_stored = int(indptr[-1])  # scipy's arrays may have room for more entries
    return indptr, indices[:n_stored], values[:n_stored]


def check_indptr(indptr: AnyArray, n_stored: int, n_rows: int, name: str, *, noun: str = "row") -> None:
    """Refuse an indptr that does not partition the stored entries into rows, or columns for CSC."""
    ends = indptr.size == n_rows + 1 and indptr[0] == 0 and indptr[-1] <= n_stored
    if not ends or np.count_nonzero(indptr[1:] < indptr[:-1]):
        raise indptr_error(name, n_rows, n_stored, noun)


def indptr_error(name: str, n_rows: int, n_stored: int, noun: str = "row") -> DataError:
    """Return the error for an indptr that does not fit the rows and stored entries."""
    return DataError(
        f"{name}: its indptr does not describe {counted(n_rows, noun)} with {counted(n_stored, 'stored entry')}"
    )


def _fit_together(matrix: Any, form: str, *arrays: AnyArray) -> bool:
    """Return whether the arrays of a matrix, values first, have the dimensions, types and lengths of its form."""
    n_rows, n_columns = matrix.shape
    indices = arrays[1:]
    for array in indices:
        if array.ndim != 1 or array.dtype.kind not in "iu":
            return False
    match form:
        case "csr" | "csc":
            return arrays[0].ndim == 1
        case "bsr":
            if matrix.data.ndim != 3:
                return False
            height, width = matrix.data.shape[1:]
            return bool(min(height, width) > 0 and n_rows % height == n_columns % width == 0)
        case "coo":
            return all(array.shape == arrays[0].shape for array in indices)
        case "dia":
            return bool(matrix.data.ndim == 2 and len(matrix.data) == matrix.offsets.size)
        case "dok":
            return set(map(len, matrix.keys())) <= {2}
    lengths = [len(row) for row in matrix.rows]  # LIL
    has_rows = matrix.rows.shape == matrix.data.shape == (n_rows,)
    # scipy drops the entries of a matrix without columns
    return has_rows and lengths == [len(row) for row in matrix.data] and (n_columns > 0 or not any(lengths))


def _check_rows(rows: AnyArray, n_rows: int, name: str) -> None:
    """Refuse stored entries with rows outside the matrix."""
    if rows.size and not 0 <= rows.min() <= rows.max() < n_rows:
        row = int(rows.max())
        if rows.min() < 0:
            row = int(rows.min())
        raise DataError(f"{name}: has {counted(n_rows, 'row')}, but a stored entry is in row {row}")


def _group_by_row(coo: Any, name: str) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return indptr [n_rows + 1], indices and values [n_stored] of CSR, with every entry of COO."""
    starts = np.append(0, np.flatnonzero(coo.row[1:] != coo.row[:-1]) + 1)[: coo.row.size]  # of runs in one row
    rows = coo.row[starts]
    _check_rows(rows, coo.shape[0], name)
    if (rows[1:] > rows[:-1]).all():
        lengths = np.zeros(coo.shape[0] + 1, dtype=np.int64)
        lengths[1:][rows] = np.diff(starts, append=coo.row.size)
        return np.cumsum(lengths, out=lengths), np.asarray(coo.col), np.asarray(coo.data)
    csr = coo.tocsr()
    if csr.nnz == coo.nnz:  # otherwise scipy has summed duplicates
        return np.asarray(csr.indptr), np.asarray(csr.indices), np.asarray(csr.data)
    return coo_to_csr(name, coo.row, np.asarray(coo.col), np.asarray(coo.data), coo.shape[0])


def csc_to_csr(
    name: str, indptr: AnyArray, indices: AnyArray, values: AnyArray, shape: tuple[int, int]
) -> tuple[Int64, AnyArray, AnyArray]:
    """Return indptr [n_rows + 1], indices and values [n_stored] of CSR, given the arrays of a CSC matrix."""
    ends = indptr.astype(np.int64)
    lengths = ends[1:] - ends[:-1]
    if lengths.size != shape[1] or np.any(lengths < 0) or indptr[:1].tolist() != [0] or indptr[-1] > indices.size:
        raise DataError(f"{name}: its indptr does not describe {counted(shape[1], 'column')}")
    if indptr[-1] < indices.size:
        raise early_end_error(name, int(indptr[-1]), indices.size)
    return coo_to_csr(name, indices, np.repeat(np.arange(shape[1]), lengths), values, shape[0])


def early_end_error(name: str, end: int, n_stored: int) -> DataError:
    """Return the error for an indptr that ends before the last stored entry, which scipy allows in memory."""
    return DataError(
        f"{name}: its indptr ends at {end:,}, but there are {counted(n_stored, 'stored entry')} "
        "(hint: call its prune() before scipy.sparse.save_npz)"
    )


def coo_to_csr(
    name: str, rows: AnyArray, columns: AnyArray, values: AnyArray, n_rows: int
) -> tuple[Int64, AnyArray, AnyArray]:
    """Return indptr [n_rows + 1], indices and values [n_stored] of CSR, given the entries of a COO matrix."""
    from xmceval.kernels.rows.repairs import count_entries, order_entries

    if not rows.size == columns.size == values.size:
        raise DataError(f"{name}: its arrays of rows, columns and data have different lengths")
    if n_rows > max(rows.size * 2**10, 2**22):
        raise DataError(f"{name}: its shape declares {counted(n_rows, 'row')} for {counted(rows.size, 'stored entry')}")
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    wrong = int(count_entries(rows, indptr))
    if wrong >= 0:
        raise DataError(f"{name}: has an entry in row {rows[wrong]}, but its shape has {counted(n_rows, 'row')}")
    order = np.empty(rows.size, dtype=np.int64)
    order_entries(rows, indptr.copy(), order)
    return indptr, columns[order], values[order]
