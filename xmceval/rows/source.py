"""Inputs as streams of blocks: what a source is, and how one is derived from another."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import counted, split_doubts
from xmceval.rows.block import Block, EntryNames, Rows, Scratch
from xmceval.rows.matrices.storage import Matrix
from xmceval.rows.progress import in_turn

MOST_WARNINGS = 5  # over all shards; further ones are counted

Blocks = Generator[Block, None, None]
Read = Callable[["Source"], Blocks]
Pieces = Callable[[int], Iterator[Matrix]]  # yields the pieces of a matrix in files, from a row on


@dataclass(eq=False)
class Repair:
    """Drops the extra last column, or merges duplicate labels to their largest value; a function of parsed rows."""

    extra_column: int | None = None  # the number of the extra column; None if duplicate labels are merged
    removed: list[int] = field(default_factory=list)  # removed entries per block; threads append concurrently

    def __call__(self, rows: Rows, scratch: Scratch) -> None:
        """Repair rows in place, and record how many entries were removed."""
        from xmceval.kernels.rows.repairs import drop_label, merge_duplicates

        if self.extra_column is not None:
            n_removed = drop_label(*rows, self.extra_column)
        else:
            longest = int(np.max(np.diff(rows.indptr), initial=4))
            n_removed = merge_duplicates(*rows, scratch.array("merged", 4 * longest, np.int64, fill=-1))
        self.removed.append(int(n_removed))

    @property
    def n_removed(self) -> int:
        """The number of entries removed from the blocks read so far."""
        return sum(self.removed)

    def __str__(self) -> str:
        if self.extra_column is None:
            return describe_duplicates(self.n_removed)
        columns = f"extra column {self.extra_column}, beyond the {counted(self.extra_column, 'label')}"
        return f"dropped {counted(self.n_removed, 'entry')} in {columns}"


@dataclass(eq=False)  # not frozen, as two are made for each small batch
class Source:
    """An input that is read as blocks of rows, in order, as often as needed.

    It is never changed: the functions below derive another one.
    """

    name: str  # in messages
    read: Read  # yields the blocks of the source, without its repairs
    n_rows: int | None = None  # if it is known before the first row is read
    n_labels: int | None = None  # the number of columns, likewise
    is_exact: bool = True  # whether `n_labels`, if known, is the number of labels; a text header may be ``rows k``
    dtype: np.dtype[Any] | None = None  # of stored values; None for text, which is read as float64
    files: tuple[Path, ...] = ()  # opened to read the rows, without repeats; none for rows in memory
    notes: list[str] = field(default_factory=list)  # warnings from opening, and from the last time it was read
    repairs: tuple[Repair, ...] = ()  # of its blocks, in this order
    shards: tuple[Source, ...] = ()  # joined here, if any

    # Of matrices
    stored: Matrix | Pieces | None = None  # in memory or in files; None for text, shards and what is reopened
    reading: str = ""  # how it was read, and on what evidence
    is_ranked: bool = False  # whether it has labels without scores, ranked only by their order
    depth: int | None = None  # labels to select per row of dense scores, if all metrics are at cutoffs
    names: Callable[[int, int], EntryNames] | None = None  # names the entries of a label in a row, for messages

    # Where reading begins
    start: Any = 0  # a mark of text, or the number of the first row of a matrix
    can_start: Callable[[], bool] | None = None  # whether files can be read from any row on; None if they cannot
    mark_of: Callable[[Block], Any] | None = None  # returns the mark of a block of text

    def blocks(self) -> Blocks:
        """Yield all blocks; one thread at a time may advance."""
        for repair in self.repairs:
            repair.removed = []
        with closing(self.read(self)) as blocks:
            for block in blocks:
                block.repairs += self.repairs
                yield block

    @property
    def parts(self) -> tuple[Source, ...]:
        """The shards if these can be read one by one, else this source alone."""
        return self.shards if self.read is read_shards else (self,)

    @property
    def warnings(self) -> list[str]:
        """Problems that were found while rows were read; of many shards the first ones, and how many there are."""
        if not self.shards:
            return self.notes + [f"{self.name}: {repair}" for repair in self.repairs if repair.n_removed]
        doubts, facts = split_doubts(line for shard in self.shards for line in shard.warnings)
        more = len(facts) - MOST_WARNINGS
        rest = [f"{self.name}: {counted(more, 'more warning')} like these, of other shards"] if more > 0 else []
        return [*doubts, *facts[:MOST_WARNINGS], *rest]


def read_shards(source: Source) -> Blocks:
    """Yield the blocks of all shards."""
    first_row = 0
    for shard in in_turn(source.name, source.shards):
        for block in as_shard(shard, source, first_row).blocks():
            first_row = block.first_row + block.n_rows
            yield block


def as_shard(shard: Source, whole: Source, first_row: int) -> Source:
    """Return a shard as a part of the whole, with rows numbered from `first_row` on."""
    longest = None if shard.n_labels == whole.n_labels else shard.n_labels
    return replace(
        shard,
        name=whole.name,
        read=partial(_shift, shard, first_row, "", longest),
        n_labels=whole.n_labels,
        is_exact=whole.is_exact,
        dtype=whole.dtype,
    )


def as_batch(source: Source, first_row: int, number: int) -> Source:
    """Return a matrix as a batch, counted from 1, with rows numbered from `first_row` on; messages name the batch."""
    read = partial(_shift, source, first_row, f"batch {number}, ", None)
    return replace(source, name=f"{source.name} of batch {number}", read=read)


def _shift(source: Source, first_row: int, prefix: str, longest: int | None, _: Source) -> Blocks:
    with closing(source.read(source)) as blocks:
        for block in blocks:
            shifted = block.shifted(first_row, prefix)
            if longest is not None:
                shifted.longest = longest
            yield shifted


def repaired(source: Source, extra_column: int | None = None) -> Source:
    """Drop an extra last column, or else merge duplicate labels to their largest value."""
    repairs = (*source.repairs, Repair(extra_column))
    if extra_column is None:
        return replace(source, repairs=repairs)
    return replace(source, repairs=repairs, n_labels=extra_column, is_exact=True)


def reopened(source: Source, reopen: Callable[[], Source], files: Sequence[Path]) -> Source:
    """Free the rows of a source, which are held in memory, after each time that they are read.

    `reopen` opens its `files` again, and can be pickled.
    """
    return Source(
        source.name,
        partial(_reopen, reopen),
        n_rows=source.n_rows,
        n_labels=source.n_labels,
        is_exact=source.is_exact,
        dtype=source.dtype,
        files=tuple(files),
        notes=source.warnings,
    )


def _reopen(reopen: Callable[[], Source], source: Source) -> Blocks:
    opened = reopen()
    yield from opened.blocks()
    source.notes[:] = opened.warnings


def cut(source: Source, start: int, stop: int, mark: Any = 0) -> Source:
    """Return a range of rows with the numbers that they have, for a task in another process.

    Reading begins at `mark`, the first row if it is 0; a matrix in memory is cut itself.
    """
    stored = source.stored
    if isinstance(stored, Matrix):
        stored, mark = stored.taken(slice(start, stop)), start
    part = replace(
        source,
        n_rows=stop - start,
        stored=stored,
        names=None,  # which would take whole tables along
        start=mark,
        repairs=tuple(Repair(repair.extra_column) for repair in source.repairs),
        notes=[],
    )
    return replace(part, read=partial(_cut, part, start, stop))


def _cut(source: Source, start: int, stop: int, _: Source) -> Blocks:
    with closing(source.read(source)) as blocks:
        for block in blocks:
            n_early = start - block.first_row
            if n_early >= block.n_rows:
                continue
            if n_early > 0:
                block.take(n_early)
            n_late = block.first_row + block.n_rows - stop
            yield block if n_late <= 0 else block.take(block.n_rows - n_late)
            if n_late >= 0:
                return


def describe_duplicates(n_removed: int) -> str:
    """Describe the removal of entries whose labels appeared before in their rows."""
    return f"dropped {counted(n_removed, 'duplicate entry')}; the largest value of a label in a row was kept"
