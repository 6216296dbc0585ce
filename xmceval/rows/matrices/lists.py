"""Read lists of label ids, one per row, and pairs of label and score arrays in either order."""

from __future__ import annotations

from collections.abc import Sequence, ValuesView
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from xmceval.errors import DataError
from xmceval.rows.block import AnyArray
from xmceval.rows.matrices.storage import BY_NAME, Csr
from xmceval.rows.matrices.tensors import as_array

_ROW_TYPES = (list, tuple, set, frozenset, range)


class Pair(NamedTuple):
    """Labels and their scores [n_rows, any width], and how messages call each."""

    labels: Any
    scores: Any
    labels_name: str
    scores_name: str


def as_list(rows: Any) -> Any:
    """Return rows in another container as a list: an array of objects, a column of a data set, the values of a dict.

    Anything else is returned as it is.
    """
    if isinstance(rows, np.ndarray):
        is_list = rows.dtype == np.object_ and rows.ndim == 1
    else:
        is_list = isinstance(rows, (Sequence, ValuesView)) and not isinstance(
            rows, (list, tuple, str, bytes, range, memoryview)
        )
    return list(rows) if is_list else rows


def find_pair(values: Any, name: str) -> Pair | None:
    """Find out which of two arrays has the labels and which their scores, if the values are such a pair.

    The tuple that ``torch.topk`` returns names its parts; of others the one with integers has the labels. Where both
    have integers, arrays of numpy are labels and scores in this order.
    """
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        return None
    if hasattr(values, "values") and hasattr(values, "indices"):
        return Pair(values.indices, values.values, f"{name}.indices", f"{name}.values")
    first, second = (_is_integer(value) for value in values)
    are_plain = all(isinstance(value, (np.ndarray, list, tuple)) for value in values)
    if isinstance(values, list):
        shape, other = map(_shape, values)
        if shape != other or len(shape) != 2 or not (first or second) or (first and second and are_plain):
            return None
    names = f"{name}[0]", f"{name}[1]"
    if second and not first:
        return Pair(values[1], values[0], names[1], names[0])
    if first and second and not are_plain:
        raise DataError(
            f"{name}: both arrays of the pair have integers, so which one has the labels is not known "
            "(hint: pass (labels, scores) with scores as floats, or what topk returned as it is)"
        )
    return Pair(values[0], values[1], *names)


def is_pair(values: Any, name: str) -> bool:
    """Return whether values are labels and their scores, and not two matrices of scores."""
    are_arrays = isinstance(values, (tuple, list)) and all(len(_shape(value)) == 2 for value in values)
    return are_arrays and find_pair(values, name) is not None and any(_is_integer(value) for value in values)


def find_lists(rows: Any, name: str, n_labels: int | None, *, are_scores: bool) -> Csr | None:
    """Take lists of labels, one per row, if the rows are such lists: sets, arrays or tensors too.

    As scores they fall along each row. Rows of integers are the ids of labels where they have different lengths, or
    another one than `n_labels`; else they are a dense matrix. -1 is padding. No rows at all, and rows that are all
    empty, are lists too.
    """
    if not isinstance(rows, (list, tuple)):
        return None
    if not all(isinstance(row, _ROW_TYPES) or len(_shape(row)) == 1 for row in rows):
        return None
    lengths = [len(row) for row in rows]
    are_sets = any(isinstance(row, (set, frozenset)) for row in rows)
    if any(lengths) and not are_sets and len(set(lengths)) == 1 and n_labels in {None, lengths[0]}:
        return None
    labels = _concatenate(rows, name)
    if labels is not None and labels.dtype.kind in "iu":
        is_padding = labels == -1
        n_padding = np.bincount(np.repeat(np.arange(len(rows)), lengths)[is_padding], minlength=len(rows))
        n_kept, kept = np.array(lengths, dtype=np.int64) - n_padding, labels[~is_padding]
        indptr = np.concatenate([[0], np.cumsum(n_kept)])
        values = np.repeat(indptr[1:], n_kept) - np.arange(kept.size) if are_scores else np.ones(kept.size)
        return Csr(indptr, kept, values.astype(np.float64), are_scores)
    if labels is None or (len(set(lengths)) == 1 and not are_sets):
        return None
    other = next((length for length in lengths if length != lengths[0]), None)
    rows_are = "sets" if other is None else f"rows of different lengths, {lengths[0]} and {other},"
    raise DataError(
        f"{name}: expected a matrix, or lists of labels, whose ids are integers; got {rows_are} of {labels.dtype}"
        + (BY_NAME if labels.dtype.kind == "U" else "")
    )


def refuse_sets(rows: Any, name: str) -> None:
    """Refuse predictions that are sets of several labels, as these have no order."""
    row = next((i for i, row in enumerate(rows) if isinstance(row, (set, frozenset)) and len(row) > 1), None)
    if row is not None:
        raise DataError(
            f"{name}[{row}]: is a set, and predicted labels have an order "
            "(hint: pass lists, the best label first, or a pair of labels and scores)"
        )


def as_ids(labels: AnyArray, name: str) -> AnyArray:
    """Return ids of labels of any shape as integers; those of a float type must be whole."""
    if labels.dtype.kind in "iu":
        return labels
    ids = labels.astype(np.int64)
    if (ids != labels).any():
        raise DataError(f"{name}: is read as ids of labels, but some are fractions; expected whole numbers")
    return ids


def _concatenate(rows: Any, name: str) -> AnyArray | None:
    """Return the labels of all rows [n_entries], or None where a row is no list of single values."""
    try:
        if all(isinstance(row, _ROW_TYPES) for row in rows):
            arrays = [np.array(list(chain.from_iterable(rows)))]
        else:
            arrays = [as_array(row, f"{name}[{i}]") for i, row in enumerate(rows)]
    except ValueError:  # rows of lists
        return None
    filled = [array.astype(np.int64) if array.dtype.kind in "iu" else array for array in arrays if array.size]
    if any(array.ndim != 1 for array in filled):
        return None
    return np.concatenate(filled) if filled else np.empty(0, dtype=np.int64)


def _is_integer(values: Any) -> bool:
    """Return whether an array of any library has integers."""
    try:
        dtype = values.dtype if hasattr(values, "dtype") else np.asarray(values).dtype
    except ValueError:  # rows of different lengths
        return False
    return dtype.kind in "iu" if isinstance(dtype, np.dtype) else "int" in str(dtype)


def _shape(values: Any) -> tuple[int, ...]:
    try:
        return tuple(getattr(values, "shape", ()))
    except RuntimeError:  # a nested tensor has none
        return ()
