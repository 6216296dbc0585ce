"""Repair known flaws of files while their blocks are read, and count the repairs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import counted
from xmceval.rows.block import Block, Rows, Scratch, Source


@dataclass
class RepairedSource:
    """A source whose blocks are repaired when they are parsed."""

    source: Source  # as it was opened
    repair: Callable[[Rows, Scratch], int]  # repairs rows in place and returns the number of entries that it removed
    describe: Callable[[int], str]  # describes the removal of a number of entries, for a warning
    n_labels: int | None  # after the repair
    is_exact: bool

    def __post_init__(self) -> None:
        self.name, self.n_rows, self.dtype = self.source.name, self.source.n_rows, self.source.dtype
        self.removed = list[int]()  # entries, block by block of those read so far; threads append at the same time

    @property
    def n_removed(self) -> int:
        """The entries that were removed from the blocks read so far."""
        return sum(self.removed)

    def starting_at(self, place: Any) -> RepairedSource:
        """Return the same source, read from a place on, with the same repair."""
        source: Any = self.source
        return replace(self, source=source.starting_at(place))

    def sliced(self, start: int, stop: int) -> RepairedSource:
        """Return some rows of a source in memory, under their own numbers, with the same repair."""
        source: Any = self.source
        return replace(self, source=source.sliced(start, stop))

    @property
    def warnings(self) -> list[str]:
        """Warnings from reading, and one if entries were removed."""
        removal = [f"{self.name}: {self.describe(self.n_removed)}"] if self.n_removed else []
        return [*self.source.warnings, *removal]

    def files(self) -> tuple[Path, ...]:
        """Return the files of the source as it was opened."""
        return self.source.files()

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the blocks of the source."""
        self.removed = []
        for block in self.source.blocks():
            yield block.mapped(self._repair_rows)

    def _repair_rows(self, rows: Rows, scratch: Scratch) -> None:
        self.removed.append(self.repair(rows, scratch))


def repairs_of(source: Source) -> Iterator[RepairedSource]:
    """Yield the repairs of a source, the last one first."""
    while isinstance(source, RepairedSource):
        yield source
        source = source.source


def drop_extra_column(source: Source, n_labels: int) -> RepairedSource:
    """Return a source of `n_labels` labels without the entries of one further column."""
    repair, describe = partial(_drop_label, n_labels), partial(_describe_column, n_labels)
    return RepairedSource(source, repair, describe, n_labels, is_exact=True)


def _drop_label(label: int, rows: Rows, _: Scratch) -> int:
    from xmceval.kernels.rows.repairs import drop_label

    return int(drop_label(*rows, label))


def _describe_column(n_labels: int, n_removed: int) -> str:
    columns = f"extra column {n_labels}, beyond the {counted(n_labels, 'label')}"
    return f"dropped {counted(n_removed, 'entry')} in {columns}"


def merge_duplicate_labels(source: Source) -> RepairedSource:
    """Return a source that has each label once per row, with the largest of its values."""
    return RepairedSource(source, _merge_duplicates, describe_duplicates, source.n_labels, source.is_exact)


def _merge_duplicates(rows: Rows, scratch: Scratch) -> int:
    from xmceval.kernels.rows.repairs import merge_duplicates

    longest = int(np.max(np.diff(rows.indptr), initial=4))
    table = scratch.array("merged", 4 * longest, np.int64, fill=-1)
    return int(merge_duplicates(*rows, table))


def describe_duplicates(n_removed: int) -> str:
    """Describe the removal of entries whose labels appeared before in their rows."""
    return f"dropped {counted(n_removed, 'duplicate entry')}; the largest value of a label in a row was kept"
