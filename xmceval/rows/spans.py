"""Spans: ranges of the rows of a source that are read on their own, under their numbers in the whole."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xmceval.rows.block import Block, Int64, Source
from xmceval.rows.repairs import RepairedSource
from xmceval.rows.sources import shard_blocks


class Extent(NamedTuple):
    """What is known of a shard before it is scored.

    Attributes
    ----------
    n_rows : int
    n_bytes : int
        Its size, from which parts of equal work are made.
    marks : int64 array [n_marks, 3]
        Of a text file: lines at which reading may begin, each as its offset, the rows before it, and its number.
    can_start : bool
        Whether reading may begin at other rows than the first.
    """

    n_rows: int
    n_bytes: int
    marks: Int64
    can_start: bool

    def start_before(self, row: int) -> Any:
        """Return where to start reading in order to get a row; None for the beginning."""
        if not self.can_start or row == 0:
            return None
        if not self.marks.size:
            return row
        return tuple(self.marks[np.searchsorted(self.marks[:, 1], row, side="right") - 1].tolist())


NO_MARKS: Int64 = np.empty((0, 3), dtype=np.int64)


def core_of(source: Source) -> Source:
    """Return a source without its repairs: the one that opens a file."""
    while isinstance(source, RepairedSource):
        source = source.source
    return source


def is_in_memory(source: Source) -> bool:
    """Return whether the rows of a source are held in memory, or opened anew and held for each pass."""
    return not source.files()


def starting_at(source: Source, start: Any) -> Source:
    """Return a source that is read from a place on; None for its beginning."""
    whole: Any = source
    return source if start is None else whole.starting_at(start)


class Facts(NamedTuple):
    """What is known of a source beside its rows, as `Source` has it."""

    name: str
    n_labels: int | None
    is_exact: bool
    dtype: np.dtype[Any] | None

    @classmethod
    def of(cls, source: Source) -> Facts:
        """Take the facts of a source."""
        return cls(source.name, source.n_labels, source.is_exact, source.dtype)


@dataclass
class SpanSource:
    """Some rows of a shard as a source.

    Attributes
    ----------
    source : Source
        The shard, from the first row or an earlier one on.
    whole : Facts
        Of what the shard is a part of.
    first_row, stop_row : int
        Numbers in the whole.
    before : int
        The rows of the shards before this one.
    """

    source: Source
    whole: Facts
    first_row: int
    stop_row: int
    before: int = 0

    def __post_init__(self) -> None:
        self.name, self.n_labels, self.dtype = self.whole.name, self.whole.n_labels, self.whole.dtype
        self.is_exact, self.n_rows = self.whole.is_exact, self.stop_row - self.first_row
        self.warnings: list[str] = []

    def files(self) -> tuple[Path, ...]:
        """Return the files of the shard."""
        return self.source.files()

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the blocks of the rows."""
        with closing(shard_blocks(self.source, self.before, self.n_labels)) as blocks:
            for block in blocks:
                n_early = self.first_row - block.first_row
                if n_early >= block.n_rows:
                    continue
                if n_early > 0:
                    block.take(n_early)
                n_late = block.first_row + block.n_rows - self.stop_row
                if n_late < 0:
                    yield block
                    continue
                yield block.take(block.n_rows - n_late) if n_late else block
                return
