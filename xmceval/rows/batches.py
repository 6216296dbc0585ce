"""Batches: matrices that are the next rows of a larger whole, which is never there at once."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import cast

from xmceval.errors import Fault
from xmceval.rows.block import Block, Rows, Scratch, Selected, Source
from xmceval.rows.matrices.dense import SelectingBlock


@dataclass
class BatchSource:
    """A matrix whose first row is row `first_row` of the whole; messages tell the batch and the row in it.

    Attributes
    ----------
    source : Source
    first_row : int
    number : int
        Of the batch, from 1 on.
    """

    source: Source
    first_row: int
    number: int

    def __post_init__(self) -> None:
        source = self.source
        self.name = f"{source.name} of batch {self.number}"
        self.n_rows, self.n_labels, self.is_exact, self.dtype = (
            *(source.n_rows, source.n_labels),
            *(source.is_exact, source.dtype),
        )

    @property
    def warnings(self) -> list[str]:
        """Problems that were found while its blocks were read."""
        return self.source.warnings

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the blocks of the matrix, numbered as rows of the whole."""
        for block in self.source.blocks():
            kind = SelectingBatchBlock if isinstance(block, SelectingBlock) else BatchBlock
            yield kind(block, self)


@dataclass
class BatchBlock:
    """A block of a batch."""

    block: Block
    batch: BatchSource

    def __post_init__(self) -> None:
        self.first_row, self.n_rows = self.block.first_row + self.batch.first_row, self.block.n_rows

    def take(self, n_rows: int) -> BatchBlock:
        """Split off and return the first rows."""
        head = type(self)(self.block.take(n_rows), self.batch)
        self.__post_init__()
        return head

    def rows(self, scratch: Scratch) -> Rows:
        """Parse the rows."""
        return self.block.rows(scratch)

    def place(self, row: int) -> str:
        """Return the place of a row of this block, for a message."""
        return f"batch {self.batch.number}, {self.block.place(row)}"

    def blank_from(self) -> int:
        """Return the row from which on all rows of this block are blank lines."""
        return self.block.blank_from()


class SelectingBatchBlock(BatchBlock):
    """A block of dense scores of a batch, from which those that count are selected."""

    def select(self, truth: Rows, scratch: Scratch) -> Selected:
        """Select the best labels of each row, and the true labels that tie with the last.

        Raises
        ------
        Fault
            A score that is NaN.
        """
        try:
            return cast(SelectingBlock, self.block).select(truth, scratch)
        except Fault as fault:
            raise Fault(fault.row + self.batch.first_row, f"batch {self.batch.number}, {fault.message}") from None
