"""Remove pairs of row and label from the predictions before ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted
from xmceval.kernels.rows.repairs import drop_pairs
from xmceval.rows.block import Int64, Rows
from xmceval.rows.matrices.source import is_sparse
from xmceval.rows.matrices.tensors import as_array
from xmceval.rows.width import Width


@dataclass(frozen=True)
class Largest:
    """The largest row, or label, of all pairs and its place: if any is out of range, this one is."""

    value: int = -1
    place: str = ""


@dataclass(frozen=True)
class Filter:
    """Distinct pairs, ordered by row and then by label."""

    name: str  # where they come from, for messages
    # int64 array [n_pairs]; each pair once; empty where the rows were scored elsewhere, and only the numbers of pairs
    # and rows are known
    rows: Int64
    labels: Int64
    n_pairs: int  # pairs, and rows that have one
    n_rows: int
    last_row: Largest = Largest()  # checked against the numbers of rows and labels
    last_label: Largest = Largest()

    @classmethod
    def of_numbers(cls, name: str, n_pairs: int, n_rows: int) -> Filter:
        """Return a filter that knows only the numbers of pairs and rows."""
        return cls(name, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), n_pairs, n_rows)

    def without_pairs(self) -> Filter:
        """Return the filter with the numbers of its pairs and rows only."""
        return Filter.of_numbers(self.name, self.n_pairs, self.n_rows)

    def merge(self, other: Filter) -> Filter:
        """Return the filter with the numbers of pairs and rows of both; neither has its pairs."""
        name = self.name if other.name == self.name else f"{self.name.removesuffix(' and more')} and more"
        return Filter.of_numbers(name, self.n_pairs + other.n_pairs, self.n_rows + other.n_rows)

    @property
    def has_lost_pairs(self) -> bool:
        """Whether only the numbers of pairs and rows are known."""
        return self.n_pairs > 0 and not self.rows.size

    def check_rows(self, n_rows: int, name: str) -> None:
        """Refuse a row that the truth `name` does not have."""
        if self.last_row.value >= n_rows:
            raise DataError(
                f"{self.last_row.place}: row {self.last_row.value} is outside 0..{n_rows - 1} "
                f"({name} has {counted(n_rows, 'row')}; rows are 0-based; is this the filter of another split?)"
            )

    def check_labels(self, width: Width) -> None:
        """Refuse a label that is out of range."""
        if width.is_known and self.last_label.value >= width.n_labels:
            raise DataError(
                f"{self.last_label.place}: label {self.last_label.value} is outside 0..{width.n_labels - 1} "
                f"({width}; a line is 'row label', both 0-based)"
            )

    def apply(self, first_row: int, rows: Rows, *, remove: bool = True) -> tuple[int, int]:
        """Find the pairs in a block of rows and remove them in place; return how many entries and rows there were."""
        n_rows = rows.indptr.size - 1
        start, stop = (int(at) for at in np.searchsorted(self.rows, [first_row, first_row + n_rows]))
        if start == stop:
            return 0, 0
        matched = np.zeros(2, dtype=np.int64)
        drop_pairs(*rows, first_row, self.rows[start:stop], self.labels[start:stop], remove, matched)
        return int(matched[0]), int(matched[1])


@dataclass(frozen=True)
class FilterReport:
    """The effect of a filter."""

    source: str  # where the pairs come from
    pairs: int  # distinct pairs, and the rows that have one
    rows: int
    removed: int  # predictions removed, and the rows they were in
    rows_changed: int
    in_truth: int  # pairs that are true labels
    filter_truth: bool = False  # whether those were removed from the truth too

    def __str__(self) -> str:
        if self.pairs == 0:
            return f"filter: no pairs in {self.source}"
        truth = "none is in the truth"
        if self.in_truth:
            verb = "is" if self.in_truth == 1 else "are"
            then = "removed from it too" if self.filter_truth else "kept there"
            truth = f"{self.in_truth:,} {verb} in the truth and {then}"
        return (
            f"filter: {counted(self.pairs, 'pair')} in {counted(self.rows, 'row')} from {self.source}, "
            f"{counted(self.removed, 'prediction')} removed from {counted(self.rows_changed, 'row')}, {truth}"
        )


def as_filter(pairs: Any, name: str = "filter") -> Filter:
    """Take pairs from an array [n_pairs, 2] of rows and labels, whole numbers in any order."""
    array = as_array(pairs, name)
    if array.size == 0 and array.dtype.kind in "biuf":
        array = array.reshape(0, 2)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iuf":
        of_matrix = " (hint: of a sparse matrix, pass numpy.column_stack(matrix.nonzero()))"
        raise DataError(
            f"{name}: expected pairs of row and label, got shape {array.shape} of {array.dtype}"
            + (of_matrix if is_sparse(pairs) else "")
        )
    wrong = first_wrong(array)
    if wrong is not None:
        raise DataError(f"{name}[{wrong}]: expected row and label, whole numbers from 0, got {array[wrong].tolist()}")
    whole = array.astype(np.int64)
    last = []
    for column in whole.T if whole.size else ():
        at = int(np.argmax(column))
        last.append(Largest(int(column[at]), f"{name}[{at}]"))
    return ordered(name, whole[:, 0], whole[:, 1], *last)


def first_wrong(pairs: NDArray[Any]) -> int | None:
    """Return the place of the first of some pairs [n_pairs, 2] that are not whole numbers from 0 to 2^53, if any is."""
    wrong = ~((pairs >= 0) & (pairs <= 2**53)).all(axis=1)
    if pairs.dtype.kind == "f":
        wrong |= (pairs != np.floor(pairs)).any(axis=1)
    return int(np.argmax(wrong)) if wrong.any() else None


def ordered(
    name: str, rows: Int64, labels: Int64, last_row: Largest = Largest(), last_label: Largest = Largest()
) -> Filter:
    """Order pairs, int64 arrays [n_pairs] of rows and of labels, and keep each once."""
    if not np.all((rows[1:] > rows[:-1]) | ((rows[1:] == rows[:-1]) & (labels[1:] > labels[:-1]))):
        order = np.lexsort((labels, rows))
        rows, labels = rows[order], labels[order]
    new = np.ones(rows.size, dtype=np.bool_)
    new[1:] = (rows[1:] != rows[:-1]) | (labels[1:] != labels[:-1])
    rows, labels = np.ascontiguousarray(rows[new]), np.ascontiguousarray(labels[new])
    n_rows = int(np.count_nonzero(np.diff(rows))) + 1 if rows.size else 0
    return Filter(name, rows, labels, rows.size, n_rows, last_row, last_label)
