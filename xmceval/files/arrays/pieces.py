"""Matrices that come in pieces of rows, in order, and are forgotten piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

from xmceval.rows.block import Block, Rows, Scratch
from xmceval.rows.matrices import Matrix

Pieces = Callable[[], Iterator[tuple[int, Matrix]]]


@dataclass
class PieceBlock:
    """Some rows of one piece: those from `start` on."""

    name: str
    piece: Matrix
    start: int
    first_row: int
    n_rows: int

    def take(self, n_rows: int) -> PieceBlock:
        """Cut off and return the first rows."""
        head = PieceBlock(self.name, self.piece, self.start, self.first_row, n_rows)
        self.start, self.first_row, self.n_rows = self.start + n_rows, self.first_row + n_rows, self.n_rows - n_rows
        return head

    def rows(self, scratch: Scratch) -> Rows:
        """Copy the rows into the scratch arrays, as int64 and float64."""
        return self.piece.fill(self.start, self.start + self.n_rows, scratch)

    def place(self, row: int) -> str:
        """Say where a row stands."""
        return f"{self.name} row {self.first_row + row}"

    def blank_from(self) -> int:
        """A matrix has no blank lines: all of its rows count."""
        return self.n_rows


@dataclass
class PieceSource:
    """A file of arrays as a source of blocks; `pieces` opens it anew and yields (number of rows, the rows)."""

    name: str
    n_rows: int
    n_labels: int | None
    pieces: Pieces
    is_exact: bool = True
    warnings: list[str] = field(default_factory=list)
    may_have_extra: bool = False  # whether one column more than there are labels is known of such files

    def blocks(self) -> Generator[Block, None, None]:
        """Yield one block a piece."""
        row = 0
        for n_rows, piece in self.pieces():
            yield PieceBlock(self.name, piece, 0, row, n_rows)
            row += n_rows
