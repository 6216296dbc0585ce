"""Mended sources: a known flaw of files taken out of every block on its way, and counted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from xmceval.errors import counted
from xmceval.rows.block import Block, Rows, Scratch, Source

Repair = Callable[[Rows, Scratch], int]


@dataclass
class RepairedSource:
    """A source whose blocks are repaired; the number of entries that went is told as a warning."""

    source: Source
    repair: Repair
    said: str
    is_exact: bool
    n_labels: int | None

    def __post_init__(self) -> None:
        self.name, self.n_rows = self.source.name, self.source.n_rows
        self._lock, self._gone = threading.Lock(), 0

    @property
    def warnings(self) -> list[str]:
        """What came to light while its blocks were read."""
        gone = [f"{self.name}: {counted(self._gone, 'entry')} {self.said}"]
        return [*self.source.warnings, *(gone if self._gone else [])]

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the blocks of the source."""
        self._gone = 0
        for block in self.source.blocks():
            yield cast(Block, _RepairedBlock(block, self))

    def count(self, gone: int) -> None:
        """Add to what went; from any thread."""
        with self._lock:
            self._gone += gone


class _RepairedBlock:
    def __init__(self, block: Block, source: RepairedSource) -> None:
        self._block, self._source = block, source

    def __getattr__(self, name: str) -> Any:
        return getattr(self._block, name)

    @property
    def first_row(self) -> int:
        return self._block.first_row

    @property
    def n_rows(self) -> int:
        return self._block.n_rows

    def take(self, n_rows: int) -> _RepairedBlock:
        return _RepairedBlock(self._block.take(n_rows), self._source)

    def rows(self, scratch: Scratch) -> Rows:
        rows = self._block.rows(scratch)
        self._source.count(self._source.repair(rows, scratch))
        return rows

    def place(self, row: int) -> str:
        return self._block.place(row)

    def blank_from(self) -> int:
        return self._block.blank_from()


def without_extra_column(source: Source, n_labels: int) -> Source:
    """Take a source of one column more than there are labels: what is in the last one is dropped."""

    def drop(rows: Rows, _: Scratch) -> int:
        from xmceval.kernels.repairs import drop_label

        return int(drop_label(*rows, n_labels))

    return RepairedSource(
        source, drop, f"of the extra last column, {n_labels}, were dropped", is_exact=True, n_labels=n_labels
    )


def without_duplicates(source: Source) -> Source:
    """Take a source of which a label may stand several times in a row: its greatest value counts."""

    def merge(rows: Rows, scratch: Scratch) -> int:
        from xmceval.kernels.repairs import merge_duplicates

        longest = int(np.max(np.diff(rows.indptr), initial=4))
        table = scratch.array("merged", 4 * longest, np.int64, fill=-1)
        return int(merge_duplicates(*rows, table))

    return RepairedSource(
        source,
        merge,
        "whose label stood in the row already: the greatest value counts",
        source.is_exact,
        source.n_labels,
    )


def original(source: Source) -> Source:
    """Return the source as it was opened."""
    return source.source if isinstance(source, RepairedSource) else source
