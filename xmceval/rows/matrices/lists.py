"""Read lists of label ids, one per row, and pairs of label and score arrays in either order."""

from __future__ import annotations

from collections.abc import Sequence, ValuesView
from itertools import chain, zip_longest
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from xmceval.errors import AmbiguousError, DataError, argument, counted
from xmceval.rows.block import AnyArray
from xmceval.rows.matrices.storage import BY_NAME, Csr, check_dtype
from xmceval.rows.matrices.tensors import as_array, shape_of

_ROW_TYPES = (list, tuple, set, frozenset, range)


class Pair(NamedTuple):
    """Labels and their scores [n_rows, any width], with names for messages."""

    labels: Any
    scores: Any
    labels_name: str
    scores_name: str


def as_list(rows: Any) -> Any:
    """Convert other containers of rows to a list: an array of objects, a column of a data set, a dict's values.

    Anything else is returned unchanged.
    """
    if isinstance(rows, np.ndarray):
        is_list = rows.dtype == np.object_ and rows.ndim == 1
    else:
        is_list = isinstance(rows, (Sequence, ValuesView)) and not isinstance(
            rows, (list, tuple, str, bytes, range, memoryview)
        )
    if not is_list:
        return rows
    return list(rows)


def refuse_dicts(rows: Any, name: str, *, are_scores: bool) -> None:
    """Refuse a dict, or a list of dicts, per row; scores by label id can be read."""
    if not isinstance(rows, (list, tuple)):
        return
    first = next((row for row in rows if isinstance(row, (list, tuple, dict)) and row), ())
    is_nested = isinstance(first, (list, tuple)) and len(first) > 0 and isinstance(first[0], dict)
    record = first[0] if is_nested else first
    if not isinstance(record, dict):
        return
    keys = ", ".join(repr(key)[:20] for key in list(record)[:3])
    if is_nested:
        expected = "(label, score) in their place" if are_scores else "labels in their place"
        raise DataError(f"{name}: is a list of lists of dicts with keys such as {keys}; expected {expected}{BY_NAME}")
    if not (are_scores and all(isinstance(label, Integral) for label in record)):
        raise DataError(f"{name}: is a list of dicts with keys such as {keys} (hint: pass pandas.DataFrame({name}))")


def find_pair(values: Any, name: str) -> Pair | None:
    """Find out which of two arrays has the labels and which the scores, if the values are such a pair.

    The tuple that ``torch.topk`` returns names its parts; otherwise the array of integers has the labels. If
    both have integers, numpy arrays are labels and scores in this order. Rows of (label, score), or of {label:
    score}, are such a pair too.
    """
    if (parts := _split_scored(values)) is not None:
        return Pair(*parts, name, name)
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        return None
    if hasattr(values, "values") and hasattr(values, "indices"):
        return Pair(values.indices, values.values, f"{name}.indices", f"{name}.values")
    first, second = (_is_integer(value) for value in values)
    are_plain = all(isinstance(value, (np.ndarray, list, tuple)) for value in values)
    if isinstance(values, list):
        shape, other = map(shape_of, values)
        are_alike = shape == other and len(shape) == 2
        says_which = (first or second) and not (first and second and are_plain)
        if not are_alike or not says_which:
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


def _split_scored(rows: Any) -> tuple[list[Any], list[Any]] | None:
    """Return the labels and the scores of each row, if rows are lists of (label, score) or dicts of scores by label."""
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, (list, tuple, dict)) for row in rows):
        return None
    first = next((row for row in rows if row), ())
    if not isinstance(first, dict) and not (first and isinstance(first[0], (list, tuple))):
        return None
    pairs = [row.items() if isinstance(row, dict) else row for row in rows]
    if any(not isinstance(pair, (list, tuple)) or len(pair) != 2 for row in pairs for pair in row):
        return None
    labels, scores = ([[pair[part] for pair in row] for row in pairs] for part in (0, 1))
    if not all(isinstance(label, (Integral, str)) for row in labels for label in row):
        return None
    if not all(isinstance(score, Real) for row in scores for score in row):
        return None
    # A pair of nested lists, two labels and two scores per row, has the same shape as two rows of pairs.
    is_clear = isinstance(first, dict) or any(not isinstance(score, Integral) for row in scores for score in row)
    if not is_clear:
        return None
    return labels, scores


def join_lists(pair: Pair) -> Csr | None:
    """Join the labels and scores of rows that need not have the same length; None of arrays. Label -1 is padding."""
    lengths = _lengths(pair.labels)
    others = _lengths(pair.scores)
    if lengths is None or others is None:
        return None
    if len({*lengths, *others}) < 2 and pair.labels_name != pair.scores_name:
        return None
    for row, (n_labels, n_scores) in enumerate(zip_longest(lengths, others, fillvalue=0)):
        if n_labels != n_scores:
            raise DataError(
                f"{pair.labels_name}[{row}] has {counted(n_labels, 'label')}, but {pair.scores_name}[{row}] has "
                f"{counted(n_scores, 'score')}; expected a score for each label"
            )
    labels = _concatenate(pair.labels, pair.labels_name)
    scores = _concatenate(pair.scores, pair.scores_name)
    if labels is None or scores is None:
        return None
    check_dtype(labels.dtype, pair.labels_name)
    check_dtype(scores.dtype, pair.scores_name)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    is_kept = labels != -1
    indptr = np.searchsorted(owners[is_kept], np.arange(len(lengths) + 1))
    return Csr(indptr, as_ids(labels, pair.labels_name)[is_kept], scores[is_kept], are_scores=True)


def is_pair(values: Any, name: str) -> bool:
    """Return whether values are labels and their scores, rather than two matrices of scores."""
    are_arrays = isinstance(values, (tuple, list)) and all(len(shape_of(value)) == 2 for value in values)
    return are_arrays and find_pair(values, name) is not None and any(_is_integer(value) for value in values)


def find_lists(rows: Any, name: str, n_labels: int | None, *, are_scores: bool, has_grades: bool = False) -> Csr | None:
    """Take lists of label ids, one per row: sets, arrays or tensors too; None for rows of a matrix.

    As scores they fall along each row. -1 is padding. Rows of equal length make a matrix if they hold floats
    or bools, nothing but 0 and 1 in three or more places, or grades.
    """
    lengths = _lengths(rows)
    if lengths is None:
        return None
    labels = _concatenate(rows, name)
    if labels is None:
        return None
    are_sets = any(isinstance(row, (set, frozenset)) for row in rows)
    if not are_sets and any(lengths) and len(set(lengths)) == 1:
        if has_grades or _are_cells(rows, labels):
            return None
        if lengths[0] == 2 and n_labels in {None, 2} and labels.min() >= 0 and labels.max() <= 1:
            raise AmbiguousError(
                f"{name}: its lists have two numbers each, all 0 or 1: a matrix of two labels, or ids? (hint: pass "
                f"numpy.array({name}) for a matrix, sets or {argument('n_labels')} for ids)"
            )
    if labels.dtype.kind in "iu":
        is_padding = labels == -1
        n_padding = np.bincount(np.repeat(np.arange(len(rows)), lengths)[is_padding], minlength=len(rows))
        n_kept = np.array(lengths, dtype=np.int64) - n_padding
        kept = labels[~is_padding]
        indptr = np.concatenate([[0], np.cumsum(n_kept)])
        values = np.ones(kept.size)
        if are_scores:
            values = (np.repeat(indptr[1:], n_kept) - np.arange(kept.size)).astype(np.float64)
        return Csr(indptr, kept, values, are_scores)
    rows_are = "sets"
    other = next((length for length in lengths if length != lengths[0]), None)
    if other is not None:
        rows_are = f"rows of different lengths, {lengths[0]} and {other},"
    hint = ""
    if labels.dtype.kind == "U":
        hint = BY_NAME
    raise DataError(
        f"{name}: expected a matrix, or lists of labels, whose ids are integers; got {rows_are} of {labels.dtype}{hint}"
    )


def _are_cells(rows: Any, values: AnyArray) -> bool:
    """Return whether rows of equal length, with these values, make a matrix: ids are never 0 and 1 alone."""
    if values.dtype.kind not in "iu" or bool in set(map(type, chain.from_iterable(rows))):
        return True
    return len(rows[0]) > 2 and bool(values.min() >= 0 and values.max() <= 1)


def refuse_sets(rows: Any, name: str) -> None:
    """Refuse predictions that are sets of several labels, since sets have no order."""
    row = next((i for i, row in enumerate(rows) if isinstance(row, (set, frozenset)) and len(row) > 1), None)
    if row is not None:
        raise DataError(
            f"{name}[{row}]: is a set, and predicted labels have an order "
            "(hint: pass lists, the best label first, or a pair of labels and scores)"
        )


def as_ids(labels: AnyArray, name: str) -> AnyArray:
    """Return label ids of any shape as integers; floats must be whole."""
    if labels.dtype.kind in "iu":
        return labels
    ids = labels.astype(np.int64)
    if (ids != labels).any():
        raise DataError(f"{name}: is read as ids of labels, but some are fractions; expected whole numbers")
    return ids


def _concatenate(rows: Any, name: str) -> AnyArray | None:
    """Return the labels of all rows [n_entries], or None if a row is not a list of scalars."""
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
    if not filled:
        return np.empty(0, dtype=np.int64)
    return np.concatenate(filled)


def _lengths(rows: Any) -> list[int] | None:
    """Return the lengths of rows, if these are lists, sets, arrays or tensors of one dimension."""
    if not isinstance(rows, (list, tuple)):
        return None
    if not all(isinstance(row, _ROW_TYPES) or len(shape_of(row)) == 1 for row in rows):
        return None
    return [len(row) for row in rows]


def _is_integer(values: Any) -> bool:
    """Return whether an array of any library holds integers."""
    try:
        dtype = values.dtype if hasattr(values, "dtype") else np.asarray(values).dtype
    except ValueError:  # rows of different lengths
        joined = _concatenate(values, "")
        return joined is not None and joined.dtype.kind in "iu"
    if isinstance(dtype, np.dtype):
        return dtype.kind in "iu"
    return "int" in str(dtype)
