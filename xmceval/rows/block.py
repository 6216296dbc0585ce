"""Blocks: runs of rows, the form in which truth and scores are read, checked and scored."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


class Rows(NamedTuple):
    """Some rows in CSR: the only form that kernels see."""

    indptr: Int64
    indices: Int64
    values: Float64


class SortedRows(Rows):
    """Rows of which the parser noticed that labels ascend strictly in each, and that no value is NaN.

    Attributes
    ----------
    largest_label : int
        -1 without any; none is negative.
    has_only_ones : bool
        Whether all values are 1.
    """

    largest_label: int
    has_only_ones: bool

    @classmethod
    def of(cls, rows: Rows, largest_label: int, *, has_only_ones: bool) -> SortedRows:
        """Return the same rows with what was noticed."""
        noticed = cls(*rows)
        noticed.largest_label, noticed.has_only_ones = largest_label, has_only_ones
        return noticed


class Selected(NamedTuple):
    """What the metrics at cutoffs need of the scores of some rows.

    Attributes
    ----------
    rows : Rows
        The best labels of each row, best first. Where the last two of them tie, all further true labels with the same
        score follow.
    ends : int64 array [n_rows + 1]
        0, and the running sum of the numbers of labels that have a score.
    omitted : int64 array [n_rows]
        Where the last two tie, how many labels with the same score are not in `rows`; none of them is true.
    """

    rows: Rows
    ends: Int64
    omitted: Int64


class Scratch:
    """Arrays of one thread, used again for block after block: first touch of fresh memory is slow."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, name: str, size: int, dtype: type, fill: int | None = None) -> NDArray[Any]:
        """Return an array of `size` elements, as they were left; a new array is filled with `fill` if that is given."""
        array = self._arrays.get(name)
        if array is None or array.size < size:
            array = np.empty(size + size // 4, dtype=dtype)
            if fill is not None:
                array.fill(fill)
            self._arrays[name] = array
        return array[:size]

    def rows(self, n_rows: int, n_entries: int) -> Rows:
        """Return arrays for a number of rows and entries."""
        return Rows(
            self.array("indptr", n_rows + 1, np.int64),
            self.array("indices", n_entries, np.int64),
            self.array("values", n_entries, np.float64),
        )


class Block(Protocol):
    """Some consecutive rows of a source, not yet parsed."""

    first_row: int
    n_rows: int

    def take(self, n_rows: int) -> Block:
        """Remove the first rows from this block and return them."""

    def rows(self, scratch: Scratch) -> Rows:
        """Parse, in any thread; the arrays live in `scratch` until its next use. Values may be changed in place."""

    def place(self, row: int) -> str:
        """Return where a row of this block is, for a message."""

    def blank_from(self) -> int:
        """Return the row from which on all rows of this block are blank lines; `n_rows` where there are none."""


class Source(Protocol):
    """A matrix that comes as blocks of rows, in order."""

    @property
    def name(self) -> str:
        """What messages call it."""

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

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks from the first row on, each time again; one thread at a time may draw the next."""
