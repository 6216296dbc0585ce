"""Plan: the parts in which rows are scored by tasks on their own, from what is known of each file's rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from xmceval.errors import DataError, counted
from xmceval.rows.block import Int64, Source
from xmceval.rows.sources import shards_of
from xmceval.rows.spans import Extent

PART_BYTES = 1 << 28  # of all files together, that a task reads
MOST_PARTS = 20_000  # larger inputs have larger parts: client and scheduler take some 7 ms per part
LEAST_BYTES = 1 << 22  # smaller parts cost more than they gain
PARTS_PER_THREAD = 4  # so that no thread waits long for the last one


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


@dataclass(frozen=True)
class Part:
    """Rows that one task scores.

    Attributes
    ----------
    number : int
    first_row, stop_row : int
    places : sequence of Place
        By source, the truth first: where to find them.
    """

    number: int
    first_row: int
    stop_row: int
    places: Sequence[Place]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.stop_row - self.first_row


@dataclass(frozen=True)
class ShardedRows:
    """The shards of one source with the rows of each.

    Attributes
    ----------
    source : Source
    extents : sequence of Extent
        By shard.
    """

    source: Source
    extents: Sequence[Extent]

    @property
    def starts(self) -> Int64:
        """The first row of each shard, and the number of all rows, int64 [n_shards + 1]."""
        return np.concatenate([[0], np.cumsum([each.n_rows for each in self.extents], dtype=np.int64)])

    @property
    def n_rows(self) -> int:
        """The number of all rows."""
        return int(self.starts[-1])

    def shard_at(self, row: int) -> int:
        """Return the shard that has a row."""
        return int(np.searchsorted(self.starts, row, side="right")) - 1

    def place(self, row: int) -> Place:
        """Return where to find a row."""
        shard = self.shard_at(row)
        before = int(self.starts[shard])
        return Place(shard, before, self.extents[shard].start_before(row - before))


def check_rows(sharded: Sequence[ShardedRows]) -> None:
    """Refuse sources of different numbers of rows; shards that are read side by side are compared one by one."""
    truth, *systems = sharded
    for system in systems:
        pairs = [(truth.source, truth.n_rows, system.source, system.n_rows)]
        if len(truth.extents) == len(system.extents) > 1:
            shards = zip(shards_of(truth.source), truth.extents, shards_of(system.source), system.extents, strict=True)
            pairs = [(one, own.n_rows, other, theirs.n_rows) for one, own, other, theirs in shards]
        for one, n_rows, other, its_rows in pairs:
            if n_rows != its_rows:
                raise DataError(
                    f"{one.name} has {counted(n_rows, 'row')}, {other.name} has {counted(its_rows, 'row')}; "
                    "they must be of the same instances"
                )


def make_parts(sharded: Sequence[ShardedRows], n_threads: int, part_bytes: int | None = None) -> list[Part]:
    """Cut rows into parts of about equal numbers of bytes; none goes beyond the end of a shard.

    Parameters
    ----------
    sharded : sequence of ShardedRows
        The truth first, all of the same number of rows.
    n_threads : int
        How many parts are scored at the same time.
    part_bytes : int, optional
        Default: PART_BYTES; less where there would be few parts, more where there would be too many.
    """
    total = sum(extent.n_bytes for rows in sharded for extent in rows.extents)
    if part_bytes is None:
        part_bytes = min(PART_BYTES, max(total // (PARTS_PER_THREAD * n_threads), LEAST_BYTES))
        part_bytes = max(part_bytes, total // MOST_PARTS)
    bounds = np.unique(np.concatenate([rows.starts for rows in sharded]))
    cuts = [0, *(cut for span in pairwise(bounds) for cut in _cut(sharded, span, part_bytes))]
    spans = pairwise(cuts)
    return [Part(i, *span, [rows.place(span[0]) for rows in sharded]) for i, span in enumerate(spans)]


def _cut(sharded: Sequence[ShardedRows], span: tuple[int, int], part_bytes: int) -> Iterator[int]:
    """Yield where the parts of some rows end, of which each source has all in one shard."""
    first, last = map(int, span)
    shards = [(rows, rows.shard_at(first)) for rows in sharded]
    extents = [rows.extents[shard] for rows, shard in shards]
    if all(extent.can_start for extent in extents):
        sizes = [extent.n_bytes * (last - first) / extent.n_rows for extent in extents]
        n_parts = int(sum(sizes) // part_bytes) + 1
        heaviest = int(np.argmax(sizes))
        rows, shard = shards[heaviest]
        yield from _rows_between(extents[heaviest], int(rows.starts[shard]), (first, last), n_parts)
    yield last


def _rows_between(extent: Extent, before: int, span: tuple[int, int], n_parts: int) -> Iterator[int]:
    """Yield rows that cut a span of a file into parts of about the same size."""
    first, last = span
    rows = np.linspace(first, last, n_parts + 1)[1:-1].astype(np.int64)
    if extent.marks.size:
        inside = extent.marks[(extent.marks[:, 1] > first - before) & (extent.marks[:, 1] < last - before)]
        if inside.shape[0] < n_parts:
            rows = inside[:, 1] + before
        else:
            offsets = np.linspace(inside[0, 0], inside[-1, 0], n_parts + 1)[1:-1]
            rows = inside[np.searchsorted(inside[:, 0], offsets), 1] + before
    yield from (int(row) for row in np.unique(rows) if first < row < last)
