"""Inputs of the drop-in functions: indicators, classes and weights, validated."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from xmceval.errors import DataError, UsageError, counted, listed
from xmceval.rows.block import Float64, Scratch
from xmceval.rows.matrices.arrays import as_array as take_array
from xmceval.rows.matrices.dense import Dense
from xmceval.rows.matrices.frames import aligned, check_rows, find_id_columns, split_ids, to_numbers
from xmceval.rows.matrices.sparse import csr_arrays

AnyArray = NDArray[Any]

MatrixAverage = Literal["micro", "macro", "weighted", "samples"]


def _find_warning() -> type[UserWarning]:
    """Return scikit-learn's warning where it is loaded, so that filters of it hold here too; else one of our own."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), "UndefinedMetricWarning", None)
    if isinstance(theirs, type) and issubclass(theirs, UserWarning):
        return theirs

    class UndefinedMetricWarning(UserWarning):
        """A metric is not defined on this data; it was set to a conventional value."""

    UndefinedMetricWarning.__qualname__ = "UndefinedMetricWarning"
    return UndefinedMetricWarning


UndefinedMetricWarning: type[UserWarning] = _find_warning()


@dataclass(frozen=True)
class Indicator:
    """A 0/1 matrix as canonical CSR of ones; `value` is what the caller has for 1."""

    ones: Any
    value: float


def in_one_order(y_true: Any, y_score: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return truth, scores and weights in the order of the truth, where objects of pandas or polars name theirs."""
    ids = find_id_columns(y_true, [y_score])
    (y_true, ours), (y_score, theirs) = (
        split_ids(values, ids, name) for values, name in ((y_true, "y_true"), (y_score, "y_score"))
    )
    check_rows(y_true, y_score=y_score, sample_weight=sample_weight)
    scores = aligned(y_true, y_score, "y_score", (ours, theirs))
    return y_true, scores, aligned(y_true, sample_weight, "sample_weight", (ours, None), in_columns=False)


def is_sparse(matrix: Any) -> bool:
    """Return whether this is a scipy.sparse matrix or array."""
    return bool(sparse.issparse(matrix))


def as_array(values: Any, name: str) -> AnyArray:
    """Return an array of numbers or strings, of one or two dimensions and at least one row, without NaN."""
    array = take_array(values, name)
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
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise DataError(f"{name}: has a NaN at {_first(np.isnan(array))}; expected numbers")
    return array


def _first(mask: AnyArray) -> str:
    """Return the place of the first True."""
    return ", ".join(f"{axis} {int(at)}" for axis, at in zip(("row", "column"), np.argwhere(mask)[0], strict=False))


def as_csr(matrix: Any, name: str) -> Any:
    """Return a sparse matrix as canonical CSR without explicit zeros; the caller's matrix is not changed."""
    indptr, indices, values = csr_arrays(matrix, name)
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"{name}: expected numbers, got dtype {matrix.dtype}")
    if matrix.shape[0] == 0:
        raise DataError(f"{name}: has no rows; expected at least one")
    wrong = np.flatnonzero((indices < 0) | (indices >= matrix.shape[1]))
    if wrong.size:
        columns = counted(matrix.shape[1], "column")
        raise DataError(f"{name}: has {columns}, but a stored entry is in column {indices[wrong[0]]}")
    dtype = values.dtype.newbyteorder("=")
    values = values.astype(np.float32 if dtype == np.float16 else dtype, copy=False)  # as scipy's constructor asks
    csr = sparse.csr_matrix((values, indices, indptr), shape=matrix.shape, copy=False)
    if not csr.has_canonical_format or np.any(csr.data == 0):
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    if csr.data.dtype.kind == "f" and not np.isfinite(csr.data).all():
        raise DataError(f"{name}: stores a NaN or an infinity; expected finite numbers")
    return csr


def dense_to_csr(array: AnyArray) -> Any:
    """Return a dense matrix as canonical CSR of float64."""
    rows = Dense(array, are_scores=False).copy_rows(0, array.shape[0], Scratch())
    return sparse.csr_matrix((rows.values, rows.indices, rows.indptr), shape=array.shape)


def as_indicator(values: Any, name: str, *, one_column: bool = False) -> Indicator:
    """Return an indicator matrix, dense or sparse, as an Indicator."""
    if is_sparse(values):
        csr = as_csr(values, name)
    else:
        array = as_array(values, name)
        if array.ndim != 2 or array.dtype.kind == "U":
            raise DataError(f"{name}: expected an indicator matrix [n_rows, n_labels], got shape {array.shape}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise DataError(f"{name}: has an infinity at {_first(~np.isfinite(array))}; expected 0 or 1")
        csr = dense_to_csr(array)
    if csr.shape[1] < 2 and not one_column:
        raise DataError(
            f"{name}: expected an indicator matrix of at least two columns, got {csr.shape[1]}; binary is not supported"
        )
    value = float(csr.data[0]) if csr.data.size else 1.0
    other = csr.data != csr.data[:1]
    if other.any() or value != np.floor(value):
        wrong = csr.data[other][0] if other.any() else value
        raise DataError(
            f"{name}: expected an indicator matrix of 0 and one whole value, found {value:g} and {wrong:g} "
            "(multioutput targets and -1/1 are not supported; hint: pass y > 0)"
        )
    ones = sparse.csr_matrix((np.ones(csr.data.size, dtype=np.int8), csr.indices, csr.indptr), shape=csr.shape)
    return Indicator(ones, value)


def as_classes(values: Any, name: str) -> AnyArray:
    """Return one class per row, whole numbers, bools or strings; an array or one column, dense or sparse."""
    if is_sparse(values):
        csr = as_csr(values, name)
        if csr.shape[1] != 1:
            raise DataError(
                f"{name}: expected one column or an indicator matrix of at least two columns, got shape {csr.shape}"
            )
        values = csr.toarray()
    array = as_array(values, name)
    if array.ndim == 2 and array.shape[1] != 1:
        raise DataError(f"{name}: expected one class per row, got shape {array.shape}")
    array = array.reshape(-1)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise DataError(f"{name}: has an infinity at {_first(~np.isfinite(array))}; expected classes")
    if array.dtype.kind == "f" and not np.array_equal(array, np.floor(array)):
        raise DataError(
            f"{name}: expected classes, found fractions: continuous is not supported (hint: pass y >= threshold)"
        )
    return array


def is_matrix(values: Any) -> bool:
    """Return whether this has at least two columns; rows of different lengths are refused where they are read."""
    try:
        shape = values.shape if hasattr(values, "shape") else np.shape(values)
    except (ValueError, RuntimeError):  # a nested tensor has no shape
        return False
    return len(shape) == 2 and shape[1] > 1


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
    return weight


def mean(values: Any, weight: Any) -> float:
    """Average rows."""
    if weight is not None and weight.sum() == 0:
        raise DataError("sample_weight: the weights sum to zero")
    return float(np.average(values, weights=weight))


def check_choice(value: Any, name: str, choices: Iterable[Any]) -> None:
    """Refuse a value that is not one of the choices."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise UsageError(f"{name} must be one of {listed(map(repr, choices))}, got {value!r}")


def check_shapes(true: Any, other: Any, name: str) -> None:
    """Refuse two matrices or arrays of different shapes."""
    if true.shape[0] != other.shape[0]:
        raise DataError(f"y_true has {counted(true.shape[0], 'row')}, but {name} has {counted(other.shape[0], 'row')}")
    if true.shape != other.shape:
        raise DataError(f"y_true has shape {true.shape}, but {name} has {other.shape}; they must be the same")
