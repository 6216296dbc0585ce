"""Decide whether numbers [n_rows, n_columns] as predictions are label ids, best first, or scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from xmceval.errors import AmbiguousError, Doubt
from xmceval.rows.block import AnyArray

CELLS = 1 << 16  # to look at together


class Numbers(Protocol):
    """A matrix of numbers, in memory or in a file, whose rows can be read in parts."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""

    def parts(self) -> Iterable[AnyArray]:
        """Yield the rows in parts."""


class InMemory:
    """A matrix whose slices of rows are arrays."""

    def __init__(self, values: Any) -> None:
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def parts(self) -> Iterator[AnyArray]:
        """Yield the rows in parts: first a single one, which mostly is enough to decide."""
        n_rows, step = self.shape[0], max(CELLS // max(self.shape[1], 1), 1)
        if n_rows:
            yield self.values[:1]
        for start in range(1, n_rows, step):
            yield self.values[start : start + step]


def are_ids(numbers: Numbers, name: str, n_labels: int | None = None) -> bool:
    """Return whether predictions are label ids, best first, instead of scores.

    Whole numbers are ids, unless the number of labels is known to be that of the columns, or they are nothing but 0
    and 1 in three or more columns, as decisions are. Whole numbers that could be either are refused.
    """
    n_columns = numbers.shape[1]
    if numbers.dtype.kind not in "iu":
        return False
    if n_columns > 2 and all(rows.min() >= 0 and rows.max() <= 1 for rows in numbers.parts()):
        return False
    is_known = n_labels == n_columns
    found = ""
    if is_known and n_columns > 2 and are_rankings(numbers):
        found = f"every row has different numbers of 0..{n_columns - 1}"
    elif n_labels is None and n_columns > 1 and are_rankings(numbers, are_whole=True):
        found = f"every row is a permutation of 0..{n_columns - 1}, and the number of labels is not known"
    if found:
        raise AmbiguousError(
            f"{name}: {found}: ids of labels, or scores? (hint: .tolist() if these are ids, .astype(float) if scores)"
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
