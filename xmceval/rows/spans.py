"""Spans: where runs of rows of a source are found, and the source from there on, to be read on their own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xmceval.rows.block import Int64, Source
from xmceval.rows.repairs import RepairedSource
from xmceval.rows.sources import ReopenedSource


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


def core_of(source: Source) -> Source:
    """Return a source without its repairs: the one that opens a file."""
    while isinstance(source, RepairedSource):
        source = source.source
    return source


def is_in_memory(source: Source) -> bool:
    """Return whether the rows of a source are held in memory, or opened anew and held for each pass."""
    return not source.files()


def with_core(source: Source, core: Source) -> Source:
    """Return a source with another one in the place of that which opens a file."""
    return source.of(with_core(source.source, core)) if isinstance(source, RepairedSource) else core


def starting_at(source: Source, start: Any) -> Source:
    """Return a source that is read from a place on."""
    if start is None:
        return source
    core: Any = core_of(source)
    return with_core(source, core.starting_at(start))


def take_rows(source: Source, start: int, stop: int) -> Source:
    """Return some rows of a source in memory."""
    core: Any = core_of(source)
    whole: Any = core.reopen() if isinstance(core, ReopenedSource) else core
    return with_core(source, whole.sliced(start, stop))
