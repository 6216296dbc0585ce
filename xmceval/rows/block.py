"""Blocks of consecutive rows, the unit in which truth and scores are read, checked and scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import Fault, counted

Held = TypeVar("Held")

Int64 = NDArray[np.int64]
AnyArray = NDArray[Any]
Float64 = NDArray[np.float64]


class Rows(NamedTuple):
    """Rows in CSR, the only form that kernels see."""

    indptr: Int64  # int64 array [n_rows + 1]; row pointers, the first is 0
    indices: Int64  # int64 array [at least indptr[-1]]; labels
    values: Float64  # float64 array [at least indptr[-1]]; scores or grades


class SortedRows(Rows):
    """Rows known from parsing to have strictly ascending labels, and no NaN among their values."""

    largest_label: int  # -1 without labels; no label is negative
    has_only_ones: bool  # whether all values are 1

    @classmethod
    def of(cls, rows: Rows, largest_label: int, *, has_only_ones: bool) -> SortedRows:
        """Return the same rows with known facts about them."""
        made = cls(*rows)
        made.largest_label = largest_label
        made.has_only_ones = has_only_ones
        return made


def keep_entries(rows: Rows, kept: NDArray[np.bool_]) -> Rows:
    """Drop all entries of rows but those that are `kept`, bool [n_entries], in place."""
    ends = np.concatenate([[0], np.cumsum(kept)])[rows.indptr]
    for array in (rows.indices, rows.values):
        array[: ends[-1]] = array[: kept.size][kept]
    rows.indptr[:] = ends
    return Rows(*rows)


class Selected(NamedTuple):
    """The part of the scores of rows that metrics at cutoffs need."""

    # the best labels of each row, best first. If the last two of them tie, all further true labels with the
    # same score follow.
    rows: Rows
    ends: Int64  # int64 array [n_rows + 1]; 0, and the cumulative numbers of labels with a score
    # int64 array [n_rows]; if the last two tie, the number of labels with the same score that are not in
    # `rows`; none of them is true
    omitted: Int64


class Scratch:
    """Arrays of one thread, reused for every block: the first touch of new memory is slow."""

    def __init__(self) -> None:
        self.n_bytes = 0  # of all arrays
        self._arrays: dict[tuple[str, type], NDArray[Any]] = {}  # by name and dtype
        self._rows: dict[str, Rows] = {}  # by prefix
        self._held: dict[str, tuple[tuple[Any, ...], Any]] = {}

    def array(self, name: str, size: int, dtype: type, fill: int | None = None) -> NDArray[Any]:
        """Return an array [size] with its previous content; a new one is filled with `fill`, if given."""
        key = name, dtype
        array = self._arrays.get(key)
        if array is None or array.size < size:
            if array is not None:
                self.n_bytes -= array.nbytes
            array = np.empty(size + size // 4, dtype=dtype)
            self.n_bytes += array.nbytes
            if fill is not None:
                array.fill(fill)
            self._arrays[key] = array
        return array[:size]

    def held(self, name: str, sizes: tuple[Any, ...], make: Callable[..., Held]) -> Held:
        """Return the object made by `make`, in its last state; make a new one only if the sizes change."""
        held = self._held.get(name)
        if held is None or held[0] != sizes:
            held = self._held[name] = sizes, make(self, *sizes)
        made: Held = held[1]
        return made

    def rows(self, n_rows: int, n_entries: int, prefix: str = "") -> Rows:
        """Return arrays for a number of rows and entries; those with another `prefix` are others."""
        rows = self._rows.get(prefix)
        if rows is None or rows.indptr.size <= n_rows or rows.indices.size < n_entries:
            if rows is not None:
                self.n_bytes -= sum(array.nbytes for array in rows)
            size = n_entries + n_entries // 4
            rows = Rows(
                np.empty(n_rows + 1 + n_rows // 4, dtype=np.int64),
                np.empty(size, dtype=np.int64),
                np.empty(size, dtype=np.float64),
            )
            self.n_bytes += sum(array.nbytes for array in rows)
            self._rows[prefix] = rows
        return Rows(rows.indptr[: n_rows + 1], rows.indices[:n_entries], rows.values[:n_entries])


class EntryNames(NamedTuple):
    """Names for messages of the entries of a label in a row: their places, the label and the row."""

    places: Sequence[str]
    label: str
    row: str
    systems: Callable[[], str] | None = None  # describes two entries that are lines of two systems; else empty


class StoredRows(ABC):
    """Immutable consecutive rows as stored by a source, such as lines of text or a slice of a matrix.

    Arguments and faults count rows from the first of these.
    """

    n_rows: int

    @property
    def n_columns(self) -> int | None:
        """The number of columns of dense rows; None for other rows."""
        return None

    @abstractmethod
    def split(self, n_rows: int) -> tuple[StoredRows, StoredRows]:
        """Split into the first rows and the rest."""

    @abstractmethod
    def parse(self, scratch: Scratch) -> Rows:
        """Parse the rows, in any thread; the arrays live in `scratch` until its next use."""

    @abstractmethod
    def place(self, row: int) -> str:
        """Return the place of a row, for a message."""

    def entry_names(self, row: int, label: int) -> EntryNames:
        """Return how messages name the entries of a label in a row."""
        return EntryNames([self.place(row)], f"label {label}", "in this row")

    def blank_from(self) -> int:
        """Return the row from which all rows are blank lines, or `n_rows`."""
        return self.n_rows

    def lowest_labels(self, n_rows: int) -> Int64 | None:  # noqa: ARG002 - for those that select
        """Return the label with the lowest score in each of the first rows; None if `select` returns None."""
        return None

    def select(self, truth: Rows, scratch: Scratch) -> Selected | None:  # noqa: ARG002 - for those that can
        """Select the best labels of each row, and true labels tied with the last; None if all must be parsed."""
        return None


@dataclass
class Block:
    """Consecutive rows of a source, not yet parsed."""

    stored: StoredRows
    first_row: int  # the number of the first row in the whole matrix; the source may be a part of it
    prefix: str = ""  # prefix of the places of rows
    repairs: tuple[Callable[[Rows, Scratch], None], ...] = ()  # functions that change parsed rows in place
    # limit for the entries of a row after repairs, if the header of a shard declares fewer columns than others
    longest: int | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.stored.n_rows

    def shifted(self, by: int, prefix: str = "") -> Block:
        """Return the block of a shard within the whole: `by` rows further down, with `prefix` before places."""
        return Block(self.stored, self.first_row + by, prefix + self.prefix, self.repairs, self.longest)

    def take(self, n_rows: int) -> Block:
        """Remove the first rows from this block and return them."""
        first, rest = self.stored.split(n_rows)
        head = Block(first, self.first_row, self.prefix, self.repairs, self.longest)
        self.stored = rest
        self.first_row += n_rows
        return head

    def rows(self, scratch: Scratch) -> Rows:
        """Parse the rows, in any thread; the arrays are valid until the next use of `scratch`, and writable."""
        try:
            rows = self.stored.parse(scratch)
        except Fault as fault:
            raise self._in_whole(fault) from None
        for repair in self.repairs:
            rows = Rows(*rows)  # known facts about them may no longer hold
            repair(rows, scratch)
        if self.longest is not None:
            lengths = np.diff(rows.indptr)
            if lengths.max(initial=0) > self.longest:
                row = int(np.argmax(lengths > self.longest))
                raise Fault(
                    self.first_row + row,
                    f"{self.place(row)}: the header declares {counted(self.longest, 'column')}, and this row has "
                    f"{counted(int(lengths[row]), 'prediction')}",
                )
        return rows

    def select(self, truth: Rows, scratch: Scratch) -> Selected | None:
        """Select the best labels of each row, and true labels tied with the last; None if all must be parsed."""
        if self.repairs or self.longest is not None:
            return None
        try:
            return self.stored.select(truth, scratch)
        except Fault as fault:
            raise self._in_whole(fault) from None

    def place(self, row: int) -> str:
        """Return the place of a row of this block, for a message."""
        return f"{self.prefix}{self.stored.place(row)}"

    def entry_names(self, row: int, label: int) -> EntryNames:
        """Return how messages name the entries of a label in a row of this block."""
        names = self.stored.entry_names(row, label)
        return names._replace(places=[f"{self.prefix}{place}" for place in names.places])

    def _in_whole(self, fault: Fault) -> Fault:
        return Fault(self.first_row + fault.row, f"{self.prefix}{fault.message}", fault.doubt)
