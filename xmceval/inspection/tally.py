"""FileTally: what the rows of a file contain, counted block by block in threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, Fault, averaged
from xmceval.labels.counts import LabelCounts
from xmceval.rows.block import Block, Int64, Rows, Scratch, Source
from xmceval.rows.checks import validated_scores
from xmceval.rows.progress import phase
from xmceval.rows.threads import each_block
from xmceval.rows.width import Width

MAX_FAULTS = 10

LONG_ROW = 1 << 16  # longer rows share one slot of the histogram of row lengths


class RowCounts(NamedTuple):
    """Counts of rows and of entries, in the order of the kernel's slots."""

    empty_rows: int
    rows_by_label: int
    rows_by_score: int
    tied_rows: int
    duplicates: int
    zeros: int
    ones: int
    negative: int
    fractions: int
    nans: int
    infinite: int
    outside: int


@dataclass(frozen=True)
class Spread:
    """Distribution of the number of entries per row, or per label.

    ``bins`` are (least, most, number of rows or labels, share of all entries): 0, 1, 2-3, 4-7 and so on.
    """

    least: int
    median: float
    mean: float
    most: int
    bins: tuple[tuple[int, int, int, float], ...]

    def __str__(self) -> str:
        return f"{self.least:,} to {self.most:,}, median {self.median:,.10g}, mean {averaged(self.mean)}"


class FileTally:
    """Counts over all rows of a file, valid or not."""

    def __init__(self, width: Width) -> None:
        from xmceval.kernels.rows.tally import N_COUNTS

        self.n_entries = self.longest = 0  # stored entries; those of the longest row
        self.labels = LabelCounts()  # rows, and entries by label
        self.row_lengths: Int64 = np.zeros(LONG_ROW + 1, dtype=np.int64)  # readable rows by number of entries
        self.faults: list[Fault] = []  # why rows are refused: at least the first MAX_FAULTS
        self.stopped_by = ""  # the error that ended reading
        self._width = width
        self._counts: Int64 = np.zeros(N_COUNTS, dtype=np.int64)
        self._ends = _no_values()
        self._lock = threading.Lock()

    @property
    def counts(self) -> RowCounts:
        """The counts by name."""
        return RowCounts(*self._counts.tolist())

    @property
    def value_range(self) -> tuple[float, float] | None:
        """The least and the greatest finite value; None where there is no finite value."""
        least, greatest = self._ends.tolist()
        return (least, greatest) if least <= greatest else None

    @property
    def has_rows(self) -> bool:
        """Whether a row could be read."""
        return bool(self.row_lengths.any())

    @property
    def errors(self) -> list[str]:
        """Messages of all faults in the order of the rows, then the error that ended reading."""
        ordered = sorted(self.faults, key=lambda fault: fault.row)
        return [*map(str, ordered)] + (self.stopped_by.split("\n") if self.stopped_by else [])

    def add(self, scratch: Scratch, block: Block) -> None:
        """Count a block; called from several threads."""
        try:
            rows = block.rows(scratch)
        except Fault as fault:
            with self._lock:
                self.faults.append(fault)
                self.labels.n_rows += block.n_rows
            return
        counts, ends = self._count(rows, scratch)
        with self._lock:
            self._merge(rows, counts, ends)
        named = RowCounts(*counts.tolist())
        if named.nans or named.duplicates or named.outside:
            self._find_fault(block, scratch)

    def _count(self, rows: Rows, scratch: Scratch) -> tuple[Int64, NDArray[np.float64]]:
        """Return the counts of a block, and its least and greatest finite value."""
        from xmceval.kernels.rows.tally import tally_rows

        counts, ends = np.zeros_like(self._counts), _no_values()
        longest = int(np.diff(rows.indptr).max(initial=4))
        table = scratch.array("table", 4 * longest, np.int64, fill=-1)
        tally_rows(*rows, rows.values.view(np.int64), self._width.n_labels, table, counts, ends)
        return counts, ends

    def _merge(self, rows: Rows, counts: Int64, ends: NDArray[np.float64]) -> None:
        lengths, labels = np.diff(rows.indptr), rows.indices[: rows.indptr[-1]]
        self._counts += counts
        self._ends[:] = min(self._ends[0], ends[0]), max(self._ends[1], ends[1])
        self.row_lengths += np.bincount(np.minimum(lengths, LONG_ROW), minlength=LONG_ROW + 1)
        self.longest = max(self.longest, int(lengths.max(initial=0)))
        self.n_entries += labels.size
        self.labels.add(lengths.size, labels[labels >= 0])

    def _find_fault(self, block: Block, scratch: Scratch) -> None:
        """Keep the first fault of a block, unless enough earlier ones are known."""
        with self._lock:
            if sum(fault.row < block.first_row for fault in self.faults) >= MAX_FAULTS:
                return
        try:
            validated_scores(block, scratch, self._width)
        except Fault as fault:
            with self._lock:
                self.faults.append(fault)


def tally_rows(source: Source, width: Width, threads: int | None) -> FileTally:
    """Count all rows of a source; what is wrong with them becomes faults of the tally."""
    tally = FileTally(width)

    def work(scratch: Scratch, block: Block) -> None:
        n_rows = block.n_rows
        tally.add(scratch, block)
        add(n_rows)

    try:
        with phase(source.name, source.n_rows) as add:
            each_block(source.blocks(), Scratch, work, threads)
    except DataError as error:
        tally.stopped_by = str(error)
    return tally


def spread_of_rows(tally: FileTally) -> Spread | None:
    """Return the distribution of entries per row; None where no row could be read."""
    if not tally.has_rows:
        return None
    lengths = np.flatnonzero(tally.row_lengths)
    n_rows = tally.row_lengths[lengths]
    total, n_entries = int(n_rows.sum()), int((lengths * n_rows).sum())
    median = float(lengths[np.searchsorted(np.cumsum(n_rows), (total + 1) // 2)])
    bins = tuple(_bins(lengths, n_rows, n_entries))
    return Spread(int(lengths[0]), median, n_entries / total, tally.longest, bins)


def spread_of_labels(entries: Int64) -> Spread | None:
    """Return the distribution of entries per label, given those of each label in ascending order."""
    if entries.size == 0:
        return None
    values, n_labels = np.unique(entries, return_counts=True)
    bins = tuple(_bins(values, n_labels, int(entries.sum())))
    return Spread(int(entries[0]), float(np.median(entries)), float(entries.mean()), int(entries[-1]), bins)


def _bins(values: Int64, counts: Int64, n_entries: int) -> Iterator[tuple[int, int, int, float]]:
    low, high = 0, 0
    while low <= values[-1]:
        inside = (values >= low) & (values <= high)
        if inside.any():
            yield low, high, int(counts[inside].sum()), float((values * counts)[inside].sum()) / max(n_entries, 1)
        low, high = high + 1, 2 * high + 1


def _no_values() -> NDArray[np.float64]:
    return np.array([np.inf, -np.inf])
