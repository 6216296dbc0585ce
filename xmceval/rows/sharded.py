"""Shards: a matrix in several parts, files or matrices, whose rows continue from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import cast

import numpy as np

from xmceval.errors import DataError, Fault, counted
from xmceval.rows.block import Block, Rows, Scratch, Source
from xmceval.rows.width import Width

MOST_WARNINGS = 5  # of all shards together; the rest is counted


class ShardedSource:
    """Shards as one source: rows continue, numbers of labels agree, places are those of the shards.

    Parameters
    ----------
    shards : sequence of Source
        At least one.
    name : str
    are_scores : bool
        Whether they are predictions, whose headers may also be ``rows k``, with a k of their own.

    Raises
    ------
    DataError
        Different numbers of labels.
    """

    def __init__(self, shards: Sequence[Source], name: str, *, are_scores: bool) -> None:
        self.shards, self.name = tuple(shards), name
        self.dtype = shards[0].dtype
        width = Width()
        for each in shards:
            if each.n_labels is not None and (each.is_exact or not are_scores):
                width = width.agree(each.n_labels, each.name, "column" if are_scores else "label")
        self.is_exact = width.is_known and any(each.is_exact for each in shards)
        declared = [each.n_labels for each in shards if each.n_labels is not None]
        self.n_labels = width.n_labels if width.is_known else max(declared, default=None)
        for each in shards if width.is_known else ():
            if each.n_labels is not None and each.n_labels > width.n_labels:
                raise DataError(f"{each.name} declares {counted(each.n_labels, 'label')}, but {width}")

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if all shards declare theirs."""
        numbers = [each.n_rows for each in self.shards]
        return None if None in numbers else sum(cast("list[int]", numbers))

    @property
    def warnings(self) -> list[str]:
        """The first problems that were found in the shards, and how many more there are."""
        found = [line for each in self.shards for line in each.warnings]
        more = len(found) - MOST_WARNINGS
        if more <= 0:
            return found
        return [*found[:MOST_WARNINGS], f"{self.name}: {counted(more, 'more warning')} like these, of other shards"]

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the blocks of all shards."""
        first_row = 0
        for number in range(len(self.shards)):
            for block in self.blocks_of(number, first_row):
                first_row = block.first_row + block.n_rows
                yield block

    def blocks_of(self, number: int, first_row: int) -> Generator[Block, None, None]:
        """Yield the blocks of one shard, whose rows are numbered from `first_row` on."""
        shard = self.shards[number]
        is_narrower = shard.n_labels is not None and shard.n_labels != self.n_labels
        with closing(shard.blocks()) as blocks:
            for block in blocks:
                yield cast(Block, ShardBlock(block, first_row, shard.n_labels if is_narrower else None))


@dataclass
class ShardBlock:
    """A block of a shard, with the rows of the shards before it counted.

    Attributes
    ----------
    block : Block
    offset : int
        The rows before those of the shard.
    longest_row : int or None
        The most entries of a row, where the header of this shard declares fewer columns than others.
    """

    block: Block
    offset: int
    longest_row: int | None = None

    @property
    def first_row(self) -> int:
        """The first row."""
        return self.offset + self.block.first_row

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.block.n_rows

    def take(self, n_rows: int) -> ShardBlock:
        """Remove the first rows from this block and return them."""
        return ShardBlock(self.block.take(n_rows), self.offset, self.longest_row)

    def rows(self, scratch: Scratch) -> Rows:
        """Parse the rows; a fault has the number of its row over all shards."""
        try:
            rows = self.block.rows(scratch)
        except Fault as fault:
            raise Fault(self.offset + fault.row, fault.message) from None
        if self.longest_row is not None:
            self._check_lengths(rows)
        return rows

    def _check_lengths(self, rows: Rows) -> None:
        lengths = np.diff(rows.indptr)
        too_long = np.flatnonzero(lengths > self.longest_row)
        if too_long.size:
            row = int(too_long[0])
            raise Fault(
                self.first_row + row,
                f"{self.place(row)}: the header declares {counted(self.longest_row or 0, 'column')}, and this row has "
                f"{counted(int(lengths[row]), 'prediction')}",
            )

    def place(self, row: int) -> str:
        """Return the place of a row in its shard, for a message."""
        return self.block.place(row)

    def blank_from(self) -> int:
        """Return the row from which on all rows of this block are blank lines."""
        return self.block.blank_from()


class ReopenedSource:
    """A source that holds its rows in memory, opened anew for each pass, so that they are freed after it.

    Parameters
    ----------
    source : Source
        As it was opened once; it is not kept.
    reopen : callable
        Opens it again.
    """

    def __init__(self, source: Source, reopen: Callable[[], Source]) -> None:
        self.name, self.n_rows, self.n_labels = source.name, source.n_rows, source.n_labels
        self.is_exact, self.dtype, self.warnings = source.is_exact, source.dtype, list(source.warnings)
        self.reopen = reopen

    def blocks(self) -> Generator[Block, None, None]:
        """Open the source and yield its blocks."""
        source = self.reopen()
        yield from source.blocks()
        self.warnings = list(source.warnings)


def names_of(source: Source) -> tuple[str, ...]:
    """Return the names of the shards of a source, or its own."""
    return tuple(each.name for each in getattr(source, "shards", (source,)))


def n_shared(truth: Source, systems: Iterable[Source]) -> int:
    """Return the number of shards that the truth and a system share, which are read side by side; 1 for none."""
    number = len(getattr(truth, "shards", ()))
    return number if number > 1 and any(len(getattr(each, "shards", ())) == number for each in systems) else 1
