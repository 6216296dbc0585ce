"""Blocks: runs of rows, the form in which truth and scores go along the street, and what makes a row valid."""

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
