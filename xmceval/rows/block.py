"""Blocks of consecutive rows, the unit in which truth and scores are read, checked and scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import Fault, counted

Held = TypeVar("Held")

Int64 = NDArray[np.int64]
AnyArray = NDArray[Any]
Float64 = NDArray[np.float64]


class Rows(NamedTuple):
    """Some rows in CSR: the only form that kernels see."""

    indptr: Int64  # int64 array [n_rows + 1]; where the entries of each row begin and end; the first is 0
    indices: Int64  # int64 array [at least indptr[-1]]; the labels
    values: Float64  # float64 array [at least indptr[-1]]; their scores, or grades


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view; kernels take constant arrays as read-only, even if they are writable."""
    view = array.view()
    view.flags.writeable = False
    return view


class SortedRows(Rows):
    """Rows known from parsing to have strictly ascending labels, and no NaN among their values."""

    largest_label: int  # -1 without any; none is negative
    has_only_ones: bool  # whether all values are 1

    @classmethod
    def of(cls, rows: Rows, largest_label: int, *, has_only_ones: bool) -> SortedRows:
        """Return the same rows with the facts noticed about them."""
        noticed = cls(*rows)
        noticed.largest_label, noticed.has_only_ones = largest_label, has_only_ones
        return noticed


class Selected(NamedTuple):
    """The part of the scores of some rows that metrics at cutoffs need."""

    # the best labels of each row, best first. Where the last two of them tie, all further true labels with the same
    # score follow.
    rows: Rows
    ends: Int64  # int64 array [n_rows + 1]; 0, and the running sum of the numbers of labels that have a score
    # int64 array [n_rows]; where the last two tie, how many labels with the same score are not in `rows`; none of
    # them is true
    omitted: Int64


class Scratch:
    """Arrays of one thread, used again for block after block: first touch of fresh memory is slow."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[str, type], NDArray[Any]] = {}
        self._held: dict[str, tuple[tuple[Any, ...], Any]] = {}

    @property
    def n_bytes(self) -> int:
        """The size of the arrays."""
        return sum([array.nbytes for array in self._arrays.values()])

    def array(self, name: str, size: int, dtype: type, fill: int | None = None) -> NDArray[Any]:
        """Return an array [size], with the elements as they were left; a new one is filled with `fill`, if given."""
        key = name, dtype
        array = self._arrays.get(key)
        if array is None or array.size < size:
            array = np.empty(size + size // 4, dtype=dtype)
            if fill is not None:
                array.fill(fill)
            self._arrays[key] = array
        return array[:size]

    def held(self, name: str, sizes: tuple[Any, ...], make: Callable[..., Held]) -> Held:
        """Return the object made by `make` for some sizes, in its last state; a new one only if the sizes change."""
        held = self._held.get(name)
        if held is None or held[0] != sizes:
            held = self._held[name] = sizes, make(self, *sizes)
        made: Held = held[1]
        return made

    def rows(self, n_rows: int, n_entries: int) -> Rows:
        """Return arrays for a number of rows and entries."""
        return Rows(
            self.array("indptr", n_rows + 1, np.int64),
            self.array("indices", n_entries, np.int64),
            self.array("values", n_entries, np.float64),
        )


class EntryNames(NamedTuple):
    """How messages name the entries of a label in a row: their places, the label and the row."""

    places: Sequence[str]
    label: str
    row: str


class StoredRows(ABC):
    """Some consecutive rows as a source stores them, such as lines of text or a part of a matrix; they do not change.

    Rows are counted from the first of these, in arguments and in faults.
    """

    n_rows: int

    @property
    def n_columns(self) -> int | None:
        """The number of columns of dense rows, which have a number in each; None of others."""
        return None

    @abstractmethod
    def split(self, n_rows: int) -> tuple[StoredRows, StoredRows]:
        """Return the first rows, and the rest."""

    @abstractmethod
    def parse(self, scratch: Scratch) -> Rows:
        """Parse, in any thread; the arrays live in `scratch` until its next use."""

    @abstractmethod
    def place(self, row: int) -> str:
        """Return where a row is, for a message."""

    def entry_names(self, row: int, label: int) -> EntryNames:
        """Return how messages name the entries of a label in a row."""
        return EntryNames([self.place(row)], f"label {label}", "in this row")

    def blank_from(self) -> int:
        """Return the row from which on all rows are blank lines; `n_rows` where there are none."""
        return self.n_rows

    def lowest_labels(self, n_rows: int) -> Int64 | None:  # noqa: ARG002 - for those that select
        """Return the label with the lowest score of each of the first rows; None where `select` returns None."""
        return None

    def select(self, truth: Rows, scratch: Scratch) -> Selected | None:  # noqa: ARG002 - for those that can
        """Select the best labels of each row, and the true labels that tie with the last; None where all are parsed."""
        return None


@dataclass
class Block:
    """Some consecutive rows of a source, not yet parsed."""

    stored: StoredRows
    first_row: int  # the number of the first row in the whole; the source may be a part of it
    prefix: str = ""  # what the places of rows begin with
    repairs: tuple[Callable[[Rows, Scratch], None], ...] = ()  # each changes parsed rows in place
    # the most entries that a row may have after that, where the header of a part declares fewer columns than others
    longest: int | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.stored.n_rows

    def shifted(self, by: int, prefix: str = "") -> Block:
        """Return the block of a part in the whole: `by` rows further down, with places that begin with `prefix`."""
        return Block(self.stored, self.first_row + by, prefix + self.prefix, self.repairs, self.longest)

    def mapped(self, repair: Callable[[Rows, Scratch], None]) -> Block:
        """Return the block with a further repair of its rows."""
        return replace(self, repairs=(*self.repairs, repair))

    def limited(self, longest: int | None) -> Block:
        """Return the block with a limit to the entries of a row."""
        return replace(self, longest=longest)

    def take(self, n_rows: int) -> Block:
        """Remove the first rows from this block and return them."""
        first, rest = self.stored.split(n_rows)
        head = Block(first, self.first_row, self.prefix, self.repairs, self.longest)
        self.stored, self.first_row = rest, self.first_row + n_rows
        return head

    def rows(self, scratch: Scratch) -> Rows:
        """Parse, in any thread; the arrays live in `scratch` until its next use. Values may be changed in place."""
        try:
            rows = self.stored.parse(scratch)
        except Fault as fault:
            raise self._in_whole(fault) from None
        for repair in self.repairs:
            rows = Rows(*rows)  # facts noticed about them may no longer hold
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
        """Select the best labels of each row, and the true labels that tie with the last; None where all are parsed."""
        if self.repairs or self.longest is not None:
            return None
        try:
            return self.stored.select(truth, scratch)
        except Fault as fault:
            raise self._in_whole(fault) from None

    def place(self, row: int) -> str:
        """Return where a row of this block is, for a message."""
        return f"{self.prefix}{self.stored.place(row)}"

    def entry_names(self, row: int, label: int) -> EntryNames:
        """Return how messages name the entries of a label in a row of this block."""
        places, *words = self.stored.entry_names(row, label)
        return EntryNames([f"{self.prefix}{place}" for place in places], *words)

    def _in_whole(self, fault: Fault) -> Fault:
        return Fault(self.first_row + fault.row, f"{self.prefix}{fault.message}", fault.doubt)


class Source(Protocol):
    """A matrix that comes as blocks of rows, in order."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is declared before the first of them."""

    @property
    def n_labels(self) -> int | None:
        """The number of columns, if it is declared before the first row."""

    @property
    def is_exact(self) -> bool:
        """Whether that can only be the number of labels; a text header may also be `rows k`."""

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The type in which the values are stored; None for text, whose numbers are read as float64."""

    @property
    def warnings(self) -> list[str]:
        """Problems that were found while its blocks were read."""

    def files(self) -> tuple[Path, ...]:
        """Return the files that reading its rows opens, each once; none where they are in memory."""

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks from the first row on, each time again; one thread at a time may draw the next."""
