"""Blocks: runs of rows, the form in which truth and scores go along the street, and what makes a row valid."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import Fault, counted

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

LARGEST = 2.0**40  # the largest grade
LARGEST_EXPONENT = 40.0  # likewise, where gains are 2^grade - 1
UNKNOWN = np.iinfo(np.int64).max  # stands for a number of labels that nothing announces


class Rows(NamedTuple):
    """Some rows in CSR: the only form that kernels see."""

    indptr: Int64
    indices: Int64
    values: Float64


class Scratch:
    """Arrays of one thread, used again for block after block: first touch of fresh memory is slow."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, name: str, size: int, dtype: type, fill: int | None = None) -> NDArray[Any]:
        """Return an array of exactly `size` elements: as they were left, or, in a fresh one, `fill` if it is given."""
        have = self._arrays.get(name)
        if have is None or have.size < size:
            have = np.empty(size + size // 4, dtype=dtype)
            if fill is not None:
                have.fill(fill)
            self._arrays[name] = have
        return have[:size]

    def rows(self, n_rows: int, n_entries: int) -> Rows:
        """Return arrays with room for so many rows and entries."""
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
        """Cut off and return the first rows."""

    def rows(self, scratch: Scratch) -> Rows:
        """Parse, in any thread; the arrays live in `scratch` until its next use. Values may be changed in place."""

    def place(self, row: int) -> str:
        """Say where a row of this block stands, for a message."""

    def blank_from(self) -> int:
        """Return the row from which on all rows of this block are blank lines; `n_rows` where there are none."""


class Source(Protocol):
    """A matrix that comes as blocks of rows, in order."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if announced before any is read."""

    @property
    def n_labels(self) -> int | None:
        """The number of columns, if announced before any row is read."""

    @property
    def is_exact(self) -> bool:
        """Whether that can only be the number of labels: a text header may also mean `rows k`."""

    @property
    def warnings(self) -> list[str]:
        """What came to light while its blocks were read."""

    def blocks(self) -> Generator[Block, None, None]:
        """Yield all blocks from the first row on, each time anew; one thread at a time may ask for the next."""


@dataclass(frozen=True)
class Width:
    """How many labels there are, and who says so."""

    n_labels: int = UNKNOWN
    said_by: str = ""


def checked_scores(block: Block, scratch: Scratch, width: Width) -> Rows:
    """Parse a block of scores and check it.

    Raises
    ------
    Fault
        A label outside the width, twice in a row, or with a score that is no number.
    """
    from xmceval.kernels import checks

    rows = block.rows(scratch)
    found = np.zeros(5, dtype=np.int64)
    longest = int(np.max(np.diff(rows.indptr), initial=4))
    checks.check_scores(*rows, width.n_labels, scratch.array("table", 4 * longest, np.int64, fill=-1), found)
    if found[checks.CODE]:
        raise _fault(block, rows, found, width, "score")
    return rows


def settled_truth(block: Block, scratch: Scratch, width: Width, largest: float = LARGEST) -> tuple[Rows, int]:
    """Parse a block of truth, check it and order its rows; also return how many explicit zeros it had.

    Grades above `largest` are refused.

    Raises
    ------
    Fault
        A label outside the width or twice in a row, or a value that is no whole number from 0 to 2^40.
    """
    from xmceval.kernels import checks

    rows = block.rows(scratch)
    found = np.zeros(5, dtype=np.int64)
    checks.settle_truth(*rows, width.n_labels, largest, found)
    if found[checks.CODE]:
        raise _fault(block, rows, found, width, "truth")
    return rows, int(found[checks.ZEROS])


def _fault(block: Block, rows: Rows, found: Int64, width: Width, what: str) -> Fault:
    """Say what a check kernel found."""
    code, row, label, entry = (int(each) for each in found[:4])
    if label < 0:
        said = f"label {label} is negative; labels are 0-based column numbers"
    elif code == 1:
        said = (
            f"label {label} is outside 0..{width.n_labels - 1} "
            f"({width.said_by} {counted(width.n_labels, 'label')}; labels are 0-based)"
        )
    else:
        said = _FAULTS[code].format(label=label, value=float(rows.values[max(entry, 0)]), what=what)
    return Fault(block.first_row + row, f"{block.place(row)}: {said}")


_FAULTS = {
    2: "label {label} stands twice in this row; a label has one {what}",
    3: "the {what} value of label {label} is NaN; expected a number",
    4: "the truth value of label {label} is {value:g}, negative; expected 0, 1 or a whole grade",
    5: "the truth value of label {label} is {value:g}, a fraction; expected 1 or a whole grade "
    "(are truth and predictions swapped?)",
    6: "the truth value of label {label} is {value:g}; grades above 2^40 are refused, with gain=exp above 40",
}
