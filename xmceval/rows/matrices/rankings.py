"""Decide whether numbers [n_rows, n_columns] as predictions are label ids, best first, or scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from xmceval.errors import AmbiguousError, Doubt
from xmceval.rows.block import AnyArray

CELLS = 1 << 16  # to look at together


class Numbers(NamedTuple):
    """A matrix of numbers, in memory or in a file."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    parts: Callable[[], Iterable[AnyArray]]  # yields the rows in parts


def in_memory(values: Any) -> Numbers:
    """Return a matrix whose slices of rows are arrays."""
    return Numbers(values.shape, values.dtype, partial(_split, values))


def _split(values: Any) -> Iterator[AnyArray]:
    """Yield the rows in parts: first a single one, which mostly is enough to decide."""
    n_rows = values.shape[0]
    step = max(CELLS // max(values.shape[1], 1), 1)
    if n_rows:
        yield values[:1]
    for start in range(1, n_rows, step):
        yield values[start : start + step]


def are_ids(numbers: Numbers, name: str, n_labels: int | None = None) -> bool:
    """Return whether predictions are label ids, best first, instead of scores.

    Whole numbers are ids, unless the number of labels is known to equal the columns, or they are nothing but 0
    and 1 in three or more columns, as decisions are. Whole numbers that could be either are refused.
    """
    n_columns = numbers.shape[1]
    if numbers.dtype.kind not in "iu":
        return False
    if n_columns > 2 and all(rows.min() >= 0 and rows.max() <= 1 for rows in numbers.parts()):
        return False
    is_known = n_labels == n_columns
    reason = ""
    if is_known and n_columns > 2 and are_rankings(numbers):
        reason = f"every row has different numbers of 0..{n_columns - 1}"
    elif n_labels is None and n_columns > 1 and are_rankings(numbers, are_whole=True):
        reason = f"every row is a permutation of 0..{n_columns - 1}, and the number of labels is not known"
    if reason:
        raise AmbiguousError(
            f"{name}: {reason}: ids of labels, or scores? (hint: .tolist() if these are ids, .astype(float) if scores)"
        )
    return not is_known


def doubt_ids(numbers: Numbers, name: str) -> list[str]:
    """Return the doubt that fractions, which are read as scores, are label ids."""
    n_columns = numbers.shape[1]
    if numbers.dtype.kind != "f" or n_columns < 3 or not are_rankings(numbers):
        return []
    return [
        Doubt(
            f"{name}: every row has different whole numbers of 0..{n_columns - 1}, read as scores: are these ids of "
            "labels? (hint: .astype(int).tolist() for ids)"
        )
    ]


def are_rankings(numbers: Numbers, *, are_whole: bool = False) -> bool:
    """Return whether each row has different numbers of 0..n_columns-1, and at most -1 after them.

    With `are_whole`, each row has all of these numbers.
    """
    n_rows, n_columns = numbers.shape
    least = 0 if are_whole else -1
    for rows in numbers.parts():
        is_whole = float(rows[0, 0]).is_integer() and (rows == np.floor(rows)).all()  # the first one mostly decides
        if not (is_whole and rows.min() >= least and rows.max() < n_columns):
            return False
        ordered = np.sort(rows, axis=1)
        is_repeated = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
        is_label = rows >= 0
        if is_repeated.any() or (is_label[:, 1:] > is_label[:, :-1]).any():
            return False
    return n_rows > 0
