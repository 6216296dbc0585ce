"""Conversion of COO and CSC arrays to CSR; unlike scipy's, it does not add duplicates up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted
from xmceval.rows.block import Int64

AnyArray = NDArray[Any]


def csc_to_csr(
    name: str, indptr: AnyArray, indices: AnyArray, values: AnyArray, shape: tuple[int, int]
) -> tuple[Int64, AnyArray, AnyArray]:
    """Return indptr [n_rows + 1], indices and values [n_stored] of rows, given those of the columns of a CSC matrix."""
    ends = indptr.astype(np.int64)
    lengths = ends[1:] - ends[:-1]
    if lengths.size != shape[1] or np.any(lengths < 0) or indptr[:1].tolist() != [0] or indptr[-1] > indices.size:
        raise DataError(f"{name}: its indptr does not describe {counted(shape[1], 'column')}")
    if indptr[-1] < indices.size:
        raise early_end_error(name, int(indptr[-1]), indices.size)
    return coo_to_csr(name, indices, np.repeat(np.arange(shape[1]), lengths), values, shape[0])


def early_end_error(name: str, end: int, n_stored: int) -> DataError:
    """Return the error for an indptr that leaves out the last stored entries; in memory scipy's matrices have such."""
    return DataError(
        f"{name}: its indptr ends at {end:,}, but there are {counted(n_stored, 'stored entry')} "
        "(hint: call its prune() before scipy.sparse.save_npz)"
    )


def coo_to_csr(
    name: str, rows: AnyArray, columns: AnyArray, values: AnyArray, n_rows: int
) -> tuple[Int64, AnyArray, AnyArray]:
    """Return indptr [n_rows + 1], indices and values [n_stored] of rows from the entries [n_stored] of a COO matrix."""
    from xmceval.kernels.rows.repairs import count_entries, order_entries

    if not rows.size == columns.size == values.size:
        raise DataError(f"{name}: its arrays of rows, columns and data have different lengths")
    if n_rows > max(rows.size * 2**10, 2**22):
        raise DataError(f"{name}: its shape declares {counted(n_rows, 'row')} for {counted(rows.size, 'stored entry')}")
    rows = rows.astype(np.int64, copy=False)
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    wrong = int(count_entries(rows, indptr))
    if wrong >= 0:
        raise DataError(f"{name}: has an entry in row {rows[wrong]}, but its shape has {counted(n_rows, 'row')}")
    order = np.empty(rows.size, dtype=np.int64)
    order_entries(rows, indptr.copy(), order)
    return indptr, columns[order], values[order]
