"""Validate the inputs of the drop-in functions: indicator matrices, classes, scores and weights."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from xmceval.errors import DataError, counted
from xmceval.rows.block import AnyArray, Float64, Rows, Scratch
from xmceval.rows.matrices.dense import Dense
from xmceval.rows.matrices.frames import Wide, aligned, is_frame, read_wide, rows_of, to_numbers
from xmceval.rows.matrices.source import is_sparse
from xmceval.rows.matrices.sparse import csr_arrays
from xmceval.rows.matrices.storage import Csr, Matrix, check_dtype, comparable
from xmceval.rows.matrices.tensors import as_array as take_array
from xmceval.rows.names import Axis, find_order, first_named
from xmceval.rows.width import OF_CLASSES

BLOCK_CELLS = 1 << 18  # cells of a block; its arrays take up to 20 MB


# scikit-learn's warning class if it is loaded, so that its filters apply here; else our own
UndefinedMetricWarning: type[UserWarning] = getattr(
    sys.modules.get("sklearn.exceptions"), "UndefinedMetricWarning", None
) or type(
    "UndefinedMetricWarning",
    (UserWarning,),
    {
        "__doc__": "A metric is not defined on this data; it was set to a conventional value.",
        "__module__": __name__,
    },
)


def in_one_order(y_true: Any, y_score: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return truth, scores and weights in the order of the truth, aligning pandas or polars objects by name."""
    truth = _split(y_true, "y_true")
    scores = _split(y_score, "y_score")
    weights = _split(sample_weight, "sample_weight")
    if not truth.rows.is_named:
        first_named(scores.rows, weights.rows, "y_true")
    columns = find_order(truth.labels, scores.labels)
    ordered = scores.values
    if columns is not None:
        ordered = ordered[:, columns]
    weighted = None
    if sample_weight is not None:
        weighted = aligned(truth.rows, weights.values, weights.rows)
    return truth.values, aligned(truth.rows, ordered, scores.rows), weighted


def _split(values: Any, name: str) -> Wide:
    """Return values with the names of their rows and labels, if they have any."""
    if is_frame(values) and len(values.columns) > 1:
        return read_wide(values, name)
    return Wide(values, rows_of(values, name), Axis(name, "label"))


def is_matrix(values: Any) -> bool:
    """Return whether values have at least two columns; rows of different lengths are refused later."""
    try:
        shape = values.shape if hasattr(values, "shape") else np.shape(values)
    except (ValueError, RuntimeError):  # a nested tensor has no shape
        return False
    return len(shape) == 2 and shape[1] > 1


def as_array(values: Any, name: str, finite: str) -> AnyArray:
    """Return an array of numbers or strings with one or two dimensions and at least one row."""
    if isinstance(values, (list, tuple)) and any(getattr(part, "ndim", 0) == 2 for part in values):
        raise DataError(f"{name}: is a list of matrices; expected one matrix{OF_CLASSES}")
    array = take_array(values, name, "a matrix")
    if array.dtype == object and hasattr(values, "to_numpy"):
        array = to_numbers(values)
    if array.dtype == object and all(isinstance(value, str) for value in array.flat):
        array = array.astype(str)
    if array.dtype.kind not in "biufU":
        raise DataError(f"{name}: expected numbers or strings, got dtype {array.dtype}")
    if array.ndim not in (1, 2):
        raise DataError(f"{name}: expected one or two dimensions, got shape {array.shape}")
    if array.shape[0] == 0:
        raise DataError(f"{name}: has no rows; expected at least one")
    for find, what, expected in ((np.isnan, "a NaN", "numbers"), (np.isinf, "an infinity", finite)):
        if array.dtype.kind == "f" and find(array).any():
            first = np.argwhere(find(array))[0].tolist()
            place = ", ".join(f"{axis} {i}" for axis, i in zip(("row", "column"), first, strict=False))
            raise DataError(f"{name}: has {what} at {place}; expected {expected}")
    return array


def as_csr(matrix: Any, name: str) -> Any:
    """Return a sparse matrix as canonical CSR without explicit zeros; the caller's matrix is not changed."""
    indptr, indices, values = csr_arrays(matrix, name)
    check_dtype(matrix.dtype, name)
    if matrix.shape[0] == 0:
        raise DataError(f"{name}: has no rows; expected at least one")
    wrong = np.flatnonzero((indices < 0) | (indices >= matrix.shape[1]))
    if wrong.size:
        columns = counted(matrix.shape[1], "column")
        raise DataError(f"{name}: has {columns}, but a stored entry is in column {indices[wrong[0]]}")
    dtype = values.dtype.newbyteorder("=")
    if dtype == np.float16:  # which scipy lacks
        dtype = np.dtype(np.float32)
    values = values.astype(dtype, copy=False)
    csr = sparse.csr_matrix((values, indices, indptr), shape=matrix.shape, copy=False)
    if not csr.has_canonical_format or np.any(csr.data == 0):
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    if csr.data.dtype.kind == "f" and not np.isfinite(csr.data).all():
        raise DataError(f"{name}: stores a NaN or an infinity; expected finite numbers")
    return csr


def as_indicator(y_true: Any, *, one_column: bool = False) -> tuple[Any, float]:
    """Return an indicator matrix, dense or sparse, as canonical CSR of ones, and the caller's value for 1."""
    if is_sparse(y_true):
        csr = as_csr(y_true, "y_true")
    else:
        array = as_array(y_true, "y_true", "0 or 1")
        if array.ndim != 2 or array.dtype.kind == "U":
            raise DataError(f"y_true: expected an indicator matrix [n_rows, n_labels], got shape {array.shape}")
        rows = Dense(array, are_scores=False).copy_rows(0, array.shape[0], Scratch())
        csr = sparse.csr_matrix((rows.values, rows.indices, rows.indptr), shape=array.shape)
    if csr.shape[1] < 2 and not one_column:
        raise DataError(
            f"y_true: expected an indicator matrix of at least two columns, got {csr.shape[1]}; binary is not supported"
        )
    value = 1.0
    if csr.data.size:
        value = float(csr.data[0])
    others = csr.data[csr.data != csr.data[:1]]
    if others.size or value != np.floor(value):
        wrong = value
        if others.size:
            wrong = others[0]
        raise DataError(
            f"y_true: expected an indicator matrix of 0 and one whole value, found {value:g} and {wrong:g} "
            "(multioutput targets and -1/1 are not supported; hint: pass y > 0)"
        )
    ones = np.ones(csr.data.size, dtype=np.int8)
    return sparse.csr_matrix((ones, csr.indices, csr.indptr), shape=csr.shape), value


def as_classes(y_true: Any) -> AnyArray:
    """Return one class per row, whole numbers, bools or strings; an array or one column, dense or sparse."""
    if is_sparse(y_true):
        csr = as_csr(y_true, "y_true")
        if csr.shape[1] != 1:
            raise DataError(
                f"y_true: expected one column or an indicator matrix of at least two columns, got shape {csr.shape}"
            )
        y_true = csr.toarray()
    array = as_array(y_true, "y_true", "classes")
    if array.ndim == 2 and array.shape[1] != 1:
        raise DataError(f"y_true: expected one class per row, got shape {array.shape}")
    array = array.reshape(-1)
    if array.dtype.kind == "f" and not np.array_equal(array, np.floor(array)):
        raise DataError(
            "y_true: expected classes, found fractions: continuous is not supported (hint: pass y >= threshold)"
        )
    return array


def as_scores(y_score: Any, truth: Any) -> Any:
    """Return finite scores, CSR or dense, with the shape of the truth.

    In a matrix, numbers that float64 would round are replaced by their order; scores [n_rows] are unchanged.
    """
    if is_sparse(y_score):
        scores = as_csr(y_score, "y_score")
    else:
        scores = as_array(y_score, "y_score", "finite numbers, as scikit-learn does")
        if scores.dtype.kind == "U":
            raise DataError("y_score: expected numbers, got strings")
    if truth.ndim == 1:
        if scores.ndim == 2 and scores.shape[1] != 1:
            raise DataError(
                f"y_score: expected one score per row, as y_true has one class per row; got shape {scores.shape}"
            )
        if is_sparse(scores):
            scores = scores.toarray()
        scores = scores.reshape(-1)
    if truth.shape[0] != scores.shape[0]:
        rows = counted(truth.shape[0], "row"), counted(scores.shape[0], "row")
        raise DataError(f"y_true has {rows[0]}, but y_score has {rows[1]}")
    if truth.shape != scores.shape:
        raise DataError(f"y_true has shape {truth.shape}, but y_score has {scores.shape}; they must be the same")
    if truth.ndim == 1:
        return scores
    if not is_sparse(scores):
        return comparable(scores)
    return sparse.csr_matrix((comparable(scores.data), scores.indices, scores.indptr), shape=scores.shape)


def as_weight(sample_weight: Any, n_rows: int, *, allow_zero: bool = False) -> Float64 | None:
    """Return one weight per row; all of them may be zero only with `allow_zero`."""
    if sample_weight is None:
        return None
    weight = take_array(sample_weight, "sample_weight")
    if weight.ndim != 1 or weight.dtype.kind not in "biuf":
        raise DataError(f"sample_weight: expected one number per row, got shape {weight.shape} of {weight.dtype}")
    if weight.size != n_rows:
        raise DataError(f"sample_weight has {counted(weight.size, 'row')}, but y_true has {counted(n_rows, 'row')}")
    if not np.isfinite(weight).all():
        raise DataError(f"sample_weight: is NaN or infinite at row {int(np.argmax(~np.isfinite(weight)))}")
    if not allow_zero and not weight.any():
        raise DataError("sample_weight: all weights are zero; expected at least one that is not")
    return weight.astype(np.float64)


def mean(values: Float64, weight: Any) -> float:
    """Average the values with a weight above 0; the others may be NaN."""
    if weight is None:
        return float(np.average(values))
    if weight.sum() == 0:
        raise DataError("sample_weight: the weights sum to zero")
    return float(np.average(np.where(weight == 0, 0, values), weights=weight))


def iterate_rows(truth: Any, scores: Any) -> Iterator[tuple[slice, Rows, Rows]]:
    """Yield a slice of rows with their truth and scores, both without zeros; arrays live until the next slice.

    Each is CSR or dense; -0.0 is a zero.
    """
    n_rows = scores.shape[0]
    n_cells = 1
    stored = list[tuple[Matrix, Scratch]]()
    for matrix in (truth, scores):
        if is_sparse(matrix):
            n_cells = max(n_cells, matrix.data.size)
            stored.append((Csr(matrix.indptr, matrix.indices, matrix.data, are_scores=False), Scratch()))
        else:  # zeros are left out, as if they were not stored
            n_cells = max(n_cells, matrix.size)
            stored.append((Dense(matrix, are_scores=False), Scratch()))
    step = max(1, min(n_rows, BLOCK_CELLS * n_rows // n_cells))
    for start in range(0, max(n_rows, 1), step):
        stop = min(start + step, n_rows)
        true, scored = (rows.copy_rows(start, stop, scratch) for rows, scratch in stored)
        yield slice(start, stop), true, scored


def iterate_cells(truth: Any, scores: Any) -> Iterator[Any]:
    """Yield both matrices as one complex CSR, truth + i score, by blocks of rows.

    The sum of two sparse matrices has the union of their cells, without those that are 0 in both.
    """
    for rows, true, scored in iterate_rows(truth, scores):
        shape = rows.stop - rows.start, scores.shape[1]
        imaginary = np.zeros(scored.values.size, dtype=np.complex128)
        imaginary.imag = scored.values  # multiplying infinity by 1j would give NaN
        shifted = sparse.csr_matrix((imaginary, scored.indices, scored.indptr), shape=shape)
        cells = (sparse.csr_matrix((true.values, true.indices, true.indptr), shape=shape) + shifted).tocsr()
        cells.sort_indices()
        yield cells
