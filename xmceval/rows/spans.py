"""Spans: runs of rows of a source, which are read on their own, under their numbers in the whole."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from xmceval.rows.block import Block, Int64, Source
from xmceval.rows.matrices.matrices import MatrixSource
from xmceval.rows.repairs import RepairedSource
from xmceval.rows.sharded import ReopenedSource, ShardBlock


class Place(NamedTuple):
    """Where reading begins, to find some rows of a source.

    Attributes
    ----------
    shard : int
        The shard that has the rows.
    before : int
        The rows of the shards before it.
    start : row or mark, optional
        What `starting_at` of the shard takes; None for its beginning.
    """

    shard: int
    before: int
    start: Any = None


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


def shards_of(source: Source) -> Sequence[Source]:
    """Return the shards of a source, or itself as the only one."""
    return cast(Sequence[Source], getattr(source, "shards", (source,)))


def core_of(source: Source) -> Source:
    """Return a source without its repairs: the one that opens a file."""
    while isinstance(source, RepairedSource):
        source = source.source
    return source


def is_in_memory(source: Source) -> bool:
    """Return whether the rows of a source are held in memory."""
    core = core_of(source)
    return isinstance(core, ReopenedSource) or (isinstance(core, MatrixSource) and isinstance(core.pieces, list))


def with_core(source: Source, core: Source) -> Source:
    """Return a source with another one in the place of that which opens a file."""
    if isinstance(source, RepairedSource):
        return cast(Source, source.of(with_core(source.source, core)))
    return core


def starting_at(source: Source, start: Any) -> Source:
    """Return a source that is read from a place on."""
    if start is None:
        return source
    core: Any = core_of(source)
    return with_core(source, core.starting_at(start))


def take_rows(source: Source, start: int, stop: int) -> Source:
    """Return some rows of a source in memory."""
    core = core_of(source)
    whole = core.reopen() if isinstance(core, ReopenedSource) else core
    return with_core(source, cast(MatrixSource, whole).sliced(start, stop))


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

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the blocks of the rows."""
        own = self.source.n_labels
        is_narrower = own is not None and own != self.n_labels
        with closing(self.source.blocks()) as blocks:
            for each in blocks:
                is_part = self.before or is_narrower
                block = cast(Block, ShardBlock(each, self.before, own if is_narrower else None)) if is_part else each
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
