"""Leave out pairs of row and label, or all labels but some, before ranking."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, agreeing, counted
from xmceval.kernels.rows.repairs import drop_pairs
from xmceval.rows.block import AnyArray, Int64, Rows, keep_entries
from xmceval.rows.matrices.source import is_sparse
from xmceval.rows.matrices.tensors import as_array
from xmceval.rows.width import BEYOND, Width

LONGEST_TABLE = 1 << 27  # labels; a table of more would take too much memory


@dataclass(frozen=True)
class Largest:
    """The largest row, or label, of all pairs and its place: if any is out of range, this is."""

    value: int = -1
    place: str = ""

    def check_label(self, width: Width, hint: str) -> None:
        """Refuse it as a label that is out of range."""
        if width.is_known and self.value >= width.n_labels:
            raise DataError(f"{self.place}: label {self.value} is outside 0..{width.n_labels - 1} ({width}; {hint})")


@dataclass(frozen=True, eq=False)
class LabelSubset:
    """The labels that count; metrics see them as 0, 1, ... in this order, which keeps the order of tied labels."""

    ids: Int64  # int64 [n]; ascending
    source: str  # their origin, for messages
    last: Largest

    @property
    def width(self) -> Width:
        """Their number."""
        return Width(self.ids.size, f"{self.source} has")

    @property
    def digest(self) -> int:
        """A number that differs for other labels."""
        return int.from_bytes(hashlib.blake2b(self.ids.tobytes(), digest_size=8).digest())

    def check(self, width: Width) -> None:
        """Refuse a label that is out of range."""
        self.last.check_label(width, "labels are 0-based")

    @cached_property
    def _table(self) -> AnyArray:
        """The place of each label in `ids`, or -1; the last entry stands for all larger labels."""
        table = np.full(int(self.ids[-1]) + 2, -1, dtype=np.int32)
        table[self.ids] = np.arange(self.ids.size)
        return table

    def find(self, labels: Int64) -> AnyArray:
        """Return the place of each label [n] in `ids`, or -1."""
        if self.ids[-1] < LONGEST_TABLE:
            return self._table[np.minimum(labels, self._table.size - 1)]
        places = np.searchsorted(self.ids[:-1], labels)
        return np.where(self.ids[places] == labels, places, -1)

    def cut(self, rows: Rows) -> Rows:
        """Drop all other labels of valid rows in place, and number these; names that are no label stay."""
        labels = rows.indices[: rows.indptr[-1]]
        labels[:] = np.where(labels < BEYOND, self.find(labels), labels)
        return keep_entries(rows, labels >= 0)


@dataclass(frozen=True)
class Filter:
    """Distinct pairs, sorted by row and then by label."""

    name: str  # their origin, for messages
    n_pairs: int  # the numbers of pairs, and of rows with a pair
    n_rows: int
    # int64 array [n_pairs]; empty if the rows were scored elsewhere, so that only their numbers are known
    rows: Int64 = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    labels: Int64 = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    last_row: Largest = Largest()  # to check against the numbers of rows and labels
    last_label: Largest = Largest()

    def without_pairs(self) -> Filter:
        """Return the filter with only the numbers of its pairs and rows."""
        return Filter(self.name, self.n_pairs, self.n_rows)

    def merge(self, other: Filter) -> Filter:
        """Add up the numbers of pairs and rows of two filters that have lost their pairs."""
        name = self.name
        if other.name != name:
            name = f"{name.removesuffix(' and more')} and more"
        return Filter(name, self.n_pairs + other.n_pairs, self.n_rows + other.n_rows)

    def within(self, subset: LabelSubset | None) -> Filter:
        """Return the pairs of the labels that count, by their new numbers; all pairs if all labels do."""
        if subset is None:
            return self
        places = subset.find(self.labels).astype(np.int64)
        is_inside = places >= 0
        return ordered(self.name, self.rows[is_inside], places[is_inside], self.last_row, self.last_label)

    def check_rows(self, n_rows: int, name: str) -> None:
        """Refuse a row that the truth `name` lacks."""
        if self.last_row.value >= n_rows:
            raise DataError(
                f"{self.last_row.place}: row {self.last_row.value} is outside 0..{n_rows - 1} "
                f"({name} has {counted(n_rows, 'row')}; rows are 0-based; is this the filter of another split?)"
            )

    def check_labels(self, width: Width) -> None:
        """Refuse a label that is out of range."""
        self.last_label.check_label(width, "a line is 'row label', both 0-based")

    def apply(self, first_row: int, rows: Rows, *, remove: bool = True) -> tuple[int, int]:
        """Find pairs in a block of rows and remove them in place; return the numbers of entries and rows."""
        of_rows, of_labels = self.between(first_row, first_row + rows.indptr.size - 1)
        if not of_rows.size:
            return 0, 0
        matched = np.zeros(2, dtype=np.int64)
        drop_pairs(*rows, first_row, of_rows, of_labels, remove, matched)
        return int(matched[0]), int(matched[1])

    def between(self, first_row: int, stop_row: int) -> tuple[Int64, Int64]:
        """Return the rows and the labels of the pairs in a range of rows."""
        inside = slice(*np.searchsorted(self.rows, [first_row, stop_row]).tolist())
        return self.rows[inside], self.labels[inside]


@dataclass(frozen=True)
class FilterReport:
    """The effect of a filter."""

    source: str  # the origin of the pairs
    pairs: int  # the numbers of distinct pairs, and of rows with a pair
    rows: int
    removed: int  # the numbers of removed predictions, and of their rows
    rows_changed: int
    in_truth: int  # pairs that are true labels
    filter_truth: bool = False  # whether they were also removed from the truth

    def __str__(self) -> str:
        if self.pairs == 0:
            return f"filter: no pairs in {self.source}"
        truth = "none is in the truth"
        if self.in_truth:
            verb = agreeing(self.in_truth, "is", "are")
            then = "kept there"
            if self.filter_truth:
                then = "removed from it too"
            truth = f"{self.in_truth:,} {verb} in the truth and {then}"
        return (
            f"filter: {counted(self.pairs, 'pair')} in {counted(self.rows, 'row')} from {self.source}, "
            f"{counted(self.removed, 'prediction')} removed from {counted(self.rows_changed, 'row')}, {truth}"
        )


def as_filter(pairs: Any, name: str = "filter", place: Callable[[int], str] | None = None) -> Filter:
    """Make a filter from an array [n_pairs, 2] of rows and labels, whole numbers in any order.

    `place` returns the place of a pair, for messages; without it, pairs are named as items of the array.
    """
    if place is None:
        place = partial("{}[{}]".format, name)
    array = as_array(pairs, name)
    if array.size == 0 and array.dtype.kind in "biuf":
        array = array.reshape(0, 2)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iuf":
        hint = ""
        if is_sparse(pairs):
            hint = " (hint: for a sparse matrix, pass numpy.column_stack(matrix.nonzero()))"
        raise DataError(f"{name}: expected pairs of row and label, got shape {array.shape} of {array.dtype}{hint}")
    wrong = first_wrong(array)
    if wrong is not None:
        raise DataError(f"{place(wrong)}: expected row and label, whole numbers from 0, got {array[wrong].tolist()}")
    rows, labels = array.astype(np.int64).T
    largest = list[Largest]()
    if rows.size:
        for column in (rows, labels):
            at = int(np.argmax(column))
            largest.append(Largest(int(column[at]), place(at)))
    return ordered(name, rows, labels, *largest)


def first_wrong(pairs: NDArray[Any]) -> int | None:
    """Return the first position in pairs [n_pairs, 2] without two whole numbers from 0 to 2^53, or None."""
    wrong = ~((pairs >= 0) & (pairs <= 2**53)).all(axis=1)
    if pairs.dtype.kind == "f":
        wrong |= (pairs != np.floor(pairs)).any(axis=1)
    if not wrong.any():
        return None
    return int(np.argmax(wrong))


def ordered(
    name: str, rows: Int64, labels: Int64, last_row: Largest = Largest(), last_label: Largest = Largest()
) -> Filter:
    """Sort pairs, int64 arrays [n_pairs] of rows and of labels, and drop repeats."""
    if not np.all((rows[1:] > rows[:-1]) | ((rows[1:] == rows[:-1]) & (labels[1:] > labels[:-1]))):
        order = np.lexsort((labels, rows))
        rows = rows[order]
        labels = labels[order]
    new = np.ones(rows.size, dtype=np.bool_)
    new[1:] = (rows[1:] != rows[:-1]) | (labels[1:] != labels[:-1])
    rows = np.ascontiguousarray(rows[new])
    labels = np.ascontiguousarray(labels[new])
    n_rows = 0
    if rows.size:
        n_rows = int(np.count_nonzero(np.diff(rows))) + 1
    return Filter(name, rows.size, n_rows, rows, labels, last_row, last_label)
