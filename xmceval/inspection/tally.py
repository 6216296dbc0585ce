"""Count the contents of a file, block by block in threads."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from xmceval.errors import DataError, Fault, averaged
from xmceval.labels.counts import LabelCounts
from xmceval.rows.block import Block, Int64, Scratch, Source
from xmceval.rows.checks import validated_scores
from xmceval.rows.progress import phase
from xmceval.rows.threads import each_block
from xmceval.rows.width import Width

MAX_FAULTS = 10

LONG_ROW = 1 << 16  # longer rows share one slot of the histogram of row lengths


# The counts of rows and of entries, in the order of the kernel's slots.
COUNTS = (
    *("empty_rows", "rows_by_label", "rows_by_score", "tied_rows", "duplicates", "zeros", "ones", "negative"),
    *("fractions", "nans", "infinite", "outside"),
)


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
        self.n_entries = self.longest = 0  # stored entries; those of the longest row
        self.labels = LabelCounts()  # rows, and entries by label
        self.row_lengths: Int64 = np.zeros(LONG_ROW + 1, dtype=np.int64)  # readable rows by number of entries
        self.faults: list[Fault] = []  # why rows are refused: at least the first MAX_FAULTS
        self.stopped_by = ""  # the error that ended reading
        self._width = width
        self._counts: Int64 = np.zeros(len(COUNTS), dtype=np.int64)
        self._least, self._greatest = np.inf, -np.inf
        self._lock = threading.Lock()

    @property
    def counts(self) -> dict[str, int]:
        """The counts by name."""
        return dict(zip(COUNTS, self._counts.tolist(), strict=True))

    @property
    def value_range(self) -> tuple[float, float] | None:
        """The least and the greatest finite value; None where there is no finite value."""
        return (self._least, self._greatest) if self._least <= self._greatest else None

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
        from xmceval.kernels.rows import tally as kernels

        try:
            rows = block.rows(scratch)
        except Fault as fault:
            with self._lock:
                self.faults.append(fault)
                self.labels.n_rows += block.n_rows
            return
        lengths, labels = np.diff(rows.indptr), rows.indices[: rows.indptr[-1]]
        longest = int(lengths.max(initial=0))
        counts, ends = np.zeros_like(self._counts), np.array([np.inf, -np.inf])
        table = scratch.array("table", 4 * max(longest, 4), np.int64, fill=-1)
        kernels.tally_rows(*rows, rows.values.view(np.int64), self._width.n_labels, table, counts, ends)
        with self._lock:
            self._counts += counts
            self._least, self._greatest = min(self._least, float(ends[0])), max(self._greatest, float(ends[1]))
            self.row_lengths += np.bincount(np.minimum(lengths, LONG_ROW), minlength=LONG_ROW + 1)
            self.longest = max(self.longest, longest)
            self.n_entries += labels.size
            self.labels.add(lengths.size, labels[labels >= 0])
            n_earlier = sum(fault.row < block.first_row for fault in self.faults)
        is_refused = counts[[kernels.NANS, kernels.DUPLICATES, kernels.OUTSIDE]].any()
        if is_refused and n_earlier < MAX_FAULTS:
            try:
                validated_scores(block, scratch, self._width)
            except Fault as fault:
                with self._lock:
                    self.faults.append(fault)


def tally_rows(source: Source, width: Width, threads: int | None) -> FileTally:
    """Count all rows of a source; errors in them become faults of the tally."""
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
    return Spread(int(lengths[0]), median, n_entries / total, tally.longest, _bins(lengths, n_rows, n_entries))


def spread_of_labels(entries: Int64) -> Spread | None:
    """Return the distribution of entries per label, given those of each label in ascending order."""
    if entries.size == 0:
        return None
    bins = _bins(*np.unique(entries, return_counts=True), int(entries.sum()))
    return Spread(int(entries[0]), float(np.median(entries)), float(entries.mean()), int(entries[-1]), bins)


def _bins(values: Int64, counts: Int64, n_entries: int) -> tuple[tuple[int, int, int, float], ...]:
    bins, low, high = [], 0, 0
    while low <= values[-1]:
        inside = (values >= low) & (values <= high)
        if inside.any():
            share = float((values * counts)[inside].sum()) / max(n_entries, 1)
            bins.append((low, high, int(counts[inside].sum()), share))
        low, high = high + 1, 2 * high + 1
    return tuple(bins)
