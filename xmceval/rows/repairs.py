"""Repair known flaws of files while their blocks are read, and count the repairs."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import counted
from xmceval.rows.block import Block, Rows, Scratch, Source


@dataclass
class RepairedSource:
    """A source with the extra last column dropped, or with duplicate labels merged to their largest value."""

    source: Source  # the original source
    extra_column: int | None = None  # the number of the extra column; None if duplicate labels are merged

    def __post_init__(self) -> None:
        source, column = self.source, self.extra_column
        self.name, self.n_rows, self.dtype = source.name, source.n_rows, source.dtype
        self.n_labels = source.n_labels if column is None else column
        self.is_exact = source.is_exact or column is not None
        self.removed = list[int]()  # removed entries per block read so far; threads append concurrently

    @property
    def n_removed(self) -> int:
        """The number of entries removed from the blocks read so far."""
        return sum(self.removed)

    def starting_at(self, place: Any) -> RepairedSource:
        """Return the same source, starting at a position, with the same repair."""
        source: Any = self.source
        return replace(self, source=source.starting_at(place))

    def sliced(self, start: int, stop: int) -> RepairedSource:
        """Return a slice of rows of a source in memory, keeping their numbers and the repair."""
        source: Any = self.source
        return replace(self, source=source.sliced(start, stop))

    @property
    def warnings(self) -> list[str]:
        """Warnings from reading, and one if entries were removed."""
        if not self.n_removed:
            return [*self.source.warnings]
        removal = describe_duplicates(self.n_removed)
        if self.extra_column is not None:
            columns = f"extra column {self.extra_column}, beyond the {counted(self.extra_column, 'label')}"
            removal = f"dropped {counted(self.n_removed, 'entry')} in {columns}"
        return [*self.source.warnings, f"{self.name}: {removal}"]

    def files(self) -> tuple[Path, ...]:
        """Return the files of the original source."""
        return self.source.files()

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the blocks of the source."""
        self.removed = []
        for block in self.source.blocks():
            yield replace(block, repairs=(*block.repairs, self._repair))

    def _repair(self, rows: Rows, scratch: Scratch) -> None:
        from xmceval.kernels.rows.repairs import drop_label, merge_duplicates

        if self.extra_column is not None:
            n_removed = drop_label(*rows, self.extra_column)
        else:
            longest = int(np.max(np.diff(rows.indptr), initial=4))
            n_removed = merge_duplicates(*rows, scratch.array("merged", 4 * longest, np.int64, fill=-1))
        self.removed.append(int(n_removed))


def repairs_of(source: Source) -> Iterator[RepairedSource]:
    """Yield the repairs of a source, the last first."""
    while isinstance(source, RepairedSource):
        yield source
        source = source.source


def unrepaired(source: Source) -> Source:
    """Return the original source, without repairs."""
    while isinstance(source, RepairedSource):
        source = source.source
    return source


def describe_duplicates(n_removed: int) -> str:
    """Describe the removal of entries whose labels appeared before in their rows."""
    return f"dropped {counted(n_removed, 'duplicate entry')}; the largest value of a label in a row was kept"
