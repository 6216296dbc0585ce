"""Lists of labels in memory: the ids of each row, and pairs of arrays with labels and scores in either order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from xmceval.errors import DataError
from xmceval.rows.arrays import as_array
from xmceval.rows.block import Float64, Int64
from xmceval.rows.storage import AnyArray

_ROW_TYPES = (list, tuple, set, frozenset, range)


class LabelLists(NamedTuple):
    """The labels of each row in CSR, with scores that fall along each row."""

    indptr: Int64
    labels: Int64
    scores: Float64


class Pair(NamedTuple):
    """Labels and their scores [n_rows, any width], and how messages call each."""

    labels: Any
    scores: Any
    labels_name: str
    scores_name: str


def find_pair(values: Any, name: str) -> Pair | None:
    """Find out which of two arrays has the labels and which their scores, if the values are such a pair.

    The tuple that ``torch.topk`` returns names its parts; of others the one with integers has the labels. Where both
    have integers, arrays of numpy are labels and scores in this order.

    Raises
    ------
    DataError
        Two tensors of integers.
    """
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        return None
    if hasattr(values, "values") and hasattr(values, "indices"):
        return Pair(values.indices, values.values, f"{name}.indices", f"{name}.values")
    first, second = (_is_integer(each) for each in values)
    are_plain = all(isinstance(each, (np.ndarray, list, tuple)) for each in values)
    if isinstance(values, list) and not _have_same_shape(*values):
        return None
    if isinstance(values, list) and (not (first or second) or (first and second and are_plain)):
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
    are_arrays = isinstance(values, (tuple, list)) and all(len(getattr(each, "shape", ())) == 2 for each in values)
    return are_arrays and find_pair(values, name) is not None and any(_is_integer(each) for each in values)


def find_lists(rows: Any, name: str, n_labels: int | None) -> LabelLists | None:
    """Take lists of labels, one per row, if the rows are such lists: sets, arrays or tensors too.

    Rows of integers are the ids of labels where they have different lengths, or another one than `n_labels`; else they
    are a dense matrix. -1 is padding.

    Raises
    ------
    DataError
        Rows of different lengths that are not integers.
    """
    if not isinstance(rows, (list, tuple)) or not rows or not all(_is_row(row) for row in rows):
        return None
    arrays = [as_array(list(row) if isinstance(row, _ROW_TYPES) else row, f"{name}[{i}]") for i, row in enumerate(rows)]
    lengths = {array.size for array in arrays}
    are_sets = any(isinstance(row, (set, frozenset)) for row in rows)
    if any(array.ndim != 1 for array in arrays):
        return None
    wrong = next((i for i, array in enumerate(arrays) if array.size and array.dtype.kind not in "iu"), None)
    if not are_sets and len(lengths) == 1 and (n_labels in {None, *lengths} or wrong is not None):
        return None
    if wrong is not None:
        raise DataError(
            f"{name}[{wrong}]: expected a matrix, or lists of labels, whose ids are integers; got rows of different "
            f"lengths, this one of {arrays[wrong].dtype}"
        )
    return _join([array[array != -1] for array in arrays])


def are_ranked_lists(labels: AnyArray, n_labels: int | None = None) -> bool:
    """Return whether rows of integers can be lists of different labels, with -1 for padding."""
    ordered = np.sort(labels, axis=1)
    is_same = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    largest = int(ordered.max(initial=-1))
    is_within = int(ordered.min(initial=0)) >= -1 and largest >= 0 and (n_labels is None or largest < n_labels)
    return is_within and not is_same.any()


def _join(arrays: Sequence[AnyArray]) -> LabelLists:
    lengths = np.array([array.size for array in arrays], dtype=np.int64)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    labels = np.concatenate([array.astype(np.int64) for array in arrays])
    places = np.arange(labels.size) - np.repeat(indptr[:-1], lengths)
    return LabelLists(indptr, labels, (np.repeat(lengths, lengths) - places).astype(np.float64))


def _is_row(row: Any) -> bool:
    """Return whether a value can be the labels of one row."""
    if isinstance(row, _ROW_TYPES):
        return all(isinstance(label, (int, np.integer)) for label in row) or isinstance(row, list)
    return len(getattr(row, "shape", ())) == 1


def _is_integer(values: Any) -> bool:
    """Return whether an array of any library has integers."""
    dtype = str(values.dtype) if hasattr(values, "dtype") else str(np.asarray(values).dtype)
    return "int" in dtype and "qint" not in dtype


def _have_same_shape(first: Any, second: Any) -> bool:
    shapes = [tuple(getattr(each, "shape", ())) for each in (first, second)]
    return shapes[0] == shapes[1] and len(shapes[0]) == 2
