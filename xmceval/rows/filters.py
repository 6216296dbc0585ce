"""Filters: pairs of row and label that are taken out of the predictions before they are ranked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted
from xmceval.rows.block import Int64, Rows
from xmceval.rows.width import UNKNOWN, Width


@dataclass(frozen=True)
class Farthest:
    """The pair with the largest row, or label, and where it stands: the only ones that can be out of range."""

    value: int = -1
    place: str = ""


@dataclass(frozen=True)
class Filter:
    """Distinct pairs, ordered by row and then by label.

    Attributes
    ----------
    name : str
        Where they come from, for messages.
    rows, labels : int64 array [n_pairs]
        Each pair once.
    repeated : int
        Pairs that stand there more than once, beyond the first time.
    last_row, last_label : Farthest
        What is held against the numbers of rows and labels.
    """

    name: str
    rows: Int64
    labels: Int64
    repeated: int = 0
    last_row: Farthest = Farthest()
    last_label: Farthest = Farthest()

    @property
    def n_rows(self) -> int:
        """Rows that have a pair."""
        return int(np.count_nonzero(np.diff(self.rows))) + 1 if self.rows.size else 0

    def check_rows(self, n_rows: int, said_by: str) -> None:
        """Refuse a row that is not there.

        Raises
        ------
        DataError
            A row out of range, with its place.
        """
        if self.last_row.value >= n_rows:
            raise DataError(
                f"{self.last_row.place}: row {self.last_row.value} is outside 0..{n_rows - 1} "
                f"({said_by} has {counted(n_rows, 'row')}; rows are 0-based; is this the filter of another split?)"
            )

    def check_labels(self, width: Width) -> None:
        """Refuse a label that is not there.

        Raises
        ------
        DataError
            A label out of range, with its place.
        """
        if width.n_labels != UNKNOWN and self.last_label.value >= width.n_labels:
            raise DataError(
                f"{self.last_label.place}: label {self.last_label.value} is outside 0..{width.n_labels - 1} "
                f"({width.said_by} {counted(width.n_labels, 'label')}; a line is 'row label', both 0-based)"
            )

    def apply(self, first_row: int, rows: Rows, *, remove: bool = True) -> tuple[int, int]:
        """Find the pairs in a block of rows, in place, and take them out: return the entries and rows concerned."""
        from xmceval.kernels.filters import drop_pairs

        n_rows = rows.indptr.size - 1
        start, stop = (int(at) for at in np.searchsorted(self.rows, [first_row, first_row + n_rows]))
        if start == stop:
            return 0, 0
        found = np.zeros(2, dtype=np.int64)
        drop_pairs(*rows, first_row, self.rows[start:stop], self.labels[start:stop], remove, found)
        return int(found[0]), int(found[1])


@dataclass(frozen=True)
class FilterReport:
    """What a filter did.

    Attributes
    ----------
    source : str
        Where the pairs come from.
    pairs, rows : int
        Distinct pairs, and the rows that have one.
    removed, rows_changed : int
        Predictions taken out, and the rows they stood in.
    in_truth : int
        Pairs that are true labels.
    filter_truth : bool
        Whether those were taken out of the truth too.
    """

    source: str
    pairs: int
    rows: int
    removed: int
    rows_changed: int
    in_truth: int
    filter_truth: bool = False

    def __str__(self) -> str:
        if self.pairs == 0:
            return f"filter: no pairs in {self.source}"
        truth = "none is in the truth"
        if self.in_truth:
            done = "are taken out of it too" if self.filter_truth else "stay in it"
            truth = f"{self.in_truth:,} in the truth {done}"
        return (
            f"filter: {counted(self.pairs, 'pair')} in {counted(self.rows, 'row')} from {self.source}, "
            f"{counted(self.removed, 'prediction')} removed from {counted(self.rows_changed, 'row')}, {truth}"
        )


def as_filter(pairs: Any, name: str = "filter") -> Filter:
    """Take pairs from an array [n_pairs, 2] of rows and labels, whole numbers in any order.

    Raises
    ------
    DataError
        Another shape, or a number that is not whole or negative.
    """
    array = np.asarray(pairs)
    if array.size == 0 and array.dtype.kind in "biuf":
        array = array.reshape(0, 2)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iuf":
        raise DataError(f"{name}: expected pairs of row and label, got shape {array.shape} of {array.dtype}")
    wrong = first_wrong(array)
    if wrong is not None:
        raise DataError(f"{name}[{wrong}]: expected row and label, whole numbers from 0, got {array[wrong].tolist()}")
    whole = array.astype(np.int64)
    last = []
    for column in whole.T if whole.size else ():
        at = int(np.argmax(column))
        last.append(Farthest(int(column[at]), f"{name}[{at}]"))
    return ordered(name, whole[:, 0], whole[:, 1], *last)


def first_wrong(pairs: NDArray[Any]) -> int | None:
    """Return the place of the first pair that is not of whole numbers from 0 to 2^53, if there is one."""
    wrong = ~((pairs >= 0) & (pairs <= 2**53)).all(axis=1)
    if pairs.dtype.kind == "f":
        wrong |= (pairs != np.floor(pairs)).any(axis=1)
    return int(np.argmax(wrong)) if wrong.any() else None


def ordered(
    name: str, rows: Int64, labels: Int64, last_row: Farthest = Farthest(), last_label: Farthest = Farthest()
) -> Filter:
    """Order pairs and keep each once."""
    if not np.all((rows[1:] > rows[:-1]) | ((rows[1:] == rows[:-1]) & (labels[1:] > labels[:-1]))):
        order = np.lexsort((labels, rows))
        rows, labels = rows[order], labels[order]
    new = np.ones(rows.size, dtype=np.bool_)
    new[1:] = (rows[1:] != rows[:-1]) | (labels[1:] != labels[:-1])
    kept = int(np.count_nonzero(new))
    if kept < rows.size:
        return Filter(name, rows[new], labels[new], rows.size - kept, last_row, last_label)
    return Filter(name, np.ascontiguousarray(rows), np.ascontiguousarray(labels), 0, last_row, last_label)
