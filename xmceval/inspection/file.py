"""Inspect one file: its format, its validity, and how its entries spread over rows and labels."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, Fault, argument, averaged, counted
from xmceval.files.io.paths import MAX_LINE, as_input, to_path
from xmceval.files.open import open_either
from xmceval.files.sidecars.values import Names
from xmceval.labels.counts import LabelCounts
from xmceval.rows.block import Block, Int64, Scratch, Source
from xmceval.rows.checks import LARGEST_GRADE, validated_scores, validated_truth
from xmceval.rows.progress import phase
from xmceval.rows.threads import each_block
from xmceval.rows.width import Width

RUN = "run"  # the format that only predictions have
MAX_FAULTS = 10
LONG_ROW = 1 << 16  # entries; rows of fewer are counted in a table by their length

# Names of the counts of rows and entries, in the order of the kernel's slots.
COUNTS = (
    *("empty_rows", "rows_by_label", "rows_by_score", "tied_rows", "duplicates", "zeros", "ones", "negative"),
    *("fractions", "nans", "infinite", "outside"),
)


@dataclass(frozen=True)
class Spread:
    """Distribution of the number of entries per row, or per label.

    ``bins`` are tuples (least, most, number of rows or labels, share of all entries) for 0, 1, 2-3, 4-7 and so
    on.
    """

    least: int
    median: float
    mean: float
    most: int
    bins: tuple[tuple[int, int, int, float], ...]

    def __str__(self) -> str:
        return f"{self.least:,} to {self.most:,}, median {self.median:,.10g}, mean {averaged(self.mean)}"


@dataclass(frozen=True)
class FileInspection:
    """Description of one file.

    It was read as `kind`, ``truth`` or ``scores``, for the reason `why`; with `are_ranks` its values reflect
    the order of lists, where the first label has the highest value. `n_labels` was passed or declared, or is
    the largest label + 1; `is_declared` says whether the file itself declares it. `largest_label` is -1 without
    entries.

    `per_row` and `per_label` are distributions of the number of entries, or None; `head_share` is the share of
    entries that belongs to the most frequent 1% of the labels seen, `tail_share` that of the less frequent
    half. There are counts of rows: without entries, with ascending labels (`rows_by_label`), with descending
    scores (`rows_by_score`) and with equal scores (`tied_rows`); and of entries: by value, repeated within a
    row (`duplicates`), or with labels outside the valid range (`outside`). `least` and `greatest` are the range
    of the finite values.

    `faults` are the first ten reasons why ``score`` would refuse the file, `warnings` other problems. The guide
    ``xmceval guide inputs`` explains the `format`. `file` is where to read it again: `path` has no credentials.
    With `has_queries`, rows are queries and labels are documents; predictions are then joined to a truth by query.
    """

    path: str
    description: str
    kind: str
    why: str
    n_rows: int
    n_labels: int
    is_declared: bool
    n_entries: int
    labels_seen: int
    largest_label: int
    per_row: Spread | None
    per_label: Spread | None
    head_share: float
    tail_share: float
    empty_rows: int
    rows_by_label: int
    rows_by_score: int
    tied_rows: int
    zeros: int
    ones: int
    negative: int
    fractions: int
    nans: int
    infinite: int
    duplicates: int
    outside: int
    least: float | None
    greatest: float | None
    faults: tuple[str, ...]
    warnings: tuple[str, ...]
    are_ranks: bool
    format: str
    file: Path = field(repr=False, compare=False)
    has_queries: bool = field(repr=False)

    @property
    def row(self) -> str:
        """What a row is called."""
        return "query" if self.has_queries else "row"

    @property
    def label(self) -> str:
        """What a label is called."""
        return "document" if self.has_queries else "label"

    @property
    def is_sound(self) -> bool:
        """Whether ``score`` would accept the file."""
        return not self.faults


def inspect_file(
    path: str | Path,
    *,
    kind: str | None = None,
    n_labels: int | None = None,
    names: Names | None = None,
    max_line: int = MAX_LINE,
    threads: int | None = None,
) -> FileInspection:
    """Read and describe all rows of a file; without a kind, its content decides between truth and scores."""
    opened = open_either(path, kind, names=names, max_line=max_line, is_alone=True, n_labels=n_labels)
    source = opened.fit_width(n_labels)
    tally = tally_rows(source, Width.of(source, n_labels), threads)
    are_scores = opened.role == "scores"
    are_ranks = are_scores and opened.is_ranked
    if kind is not None:
        why = "as requested"
    elif opened.format.name == RUN:
        kind, why = "scores", "a run holds predictions"
    else:
        kind, why = _detect_kind(tally, are_scores, are_ranks)
    header, largest = source.n_labels, tally.labels.n_labels - 1
    if header is not None and not source.is_exact and largest >= header >= tally.longest:
        header = None  # it is ``rows k``
    entries = np.sort(occurring(tally.labels)[1])  # of each label that has any
    least, greatest = tally.value_range or (None, None)
    faults = [*tally.errors, *_check_n_labels(source, kind, tally, n_labels)]
    counts = tally.counts
    are_grades = (greatest or 0) <= LARGEST_GRADE and not any(map(counts.get, ("negative", "fractions", "infinite")))
    if kind == "truth" and not tally.faults and not are_grades:  # faults that would be accepted in scores
        with closing(source.blocks()) as blocks:
            for block in blocks:
                try:
                    validated_truth(block, Scratch(), Width())
                except Fault as fault:
                    faults.append(str(fault))
                    break
    return FileInspection(
        path=str(as_input(path)),
        file=to_path(path),
        description=opened.describe_as(kind),
        kind=kind,
        why=why,
        n_rows=tally.labels.n_rows,
        n_labels=next((number for number in (n_labels, header) if number is not None), largest + 1),
        is_declared=header is not None,
        n_entries=tally.n_entries,
        labels_seen=entries.size,
        largest_label=largest,
        per_row=spread(*occurring(tally.lengths)),
        per_label=spread(*np.unique(entries, return_counts=True)),
        head_share=float(entries[entries.size - -(-entries.size // 100) :].sum() / max(entries.sum(), 1)),
        tail_share=float(entries[: entries.size // 2].sum() / max(entries.sum(), 1)),
        least=least,
        greatest=greatest,
        faults=tuple(faults[:MAX_FAULTS]),
        warnings=(*source.warnings, *_find_grades(source, kind, greatest, has_grades=opened.has_grades)),
        are_ranks=are_ranks,
        format=opened.format.name,
        has_queries=opened.judgments is not None or opened.is_joined,
        **counts,
    )


def _find_grades(source: Source, kind: str, greatest: float | None, *, has_grades: bool) -> Iterator[str]:
    """Yield the warning that values of a truth must be declared to be grades."""
    if kind == "truth" and (greatest or 0) > 1 and not has_grades:
        yield f"{source.name} has values up to {greatest:g}: score needs {argument('grades', True)} if these are grades"


def _check_n_labels(source: Source, kind: str, tally: FileTally, n_labels: int | None) -> Iterator[str]:
    """Compare the number of labels passed with the number declared by the file, as score does."""
    columns = source.n_labels
    if n_labels is None or columns is None:
        return
    passed = Width.of(source, n_labels)
    try:
        if kind == "truth":
            Width(columns, f"{source.name} has").agree(n_labels, argument("n_labels"))
        passed.agree_with(source, "column")
    except DataError as error:
        yield str(error)
        return
    if columns > n_labels:
        yield f"{source.name} declares {counted(columns, 'label')}, but {passed}"
    elif columns < min(n_labels, tally.longest):
        yield (
            f"{source.name} declares {counted(columns, 'column')}, {passed}, and a row has "
            f"{counted(tally.longest, 'prediction')}"
        )


def _detect_kind(tally: FileTally, are_scores: bool, are_ranks: bool) -> tuple[str, str]:
    """Return whether a file is truth or predictions, and the reason."""
    counts = tally.counts
    if not are_scores:
        return "truth", "only truth has this layout"
    if tally.errors and not tally.lengths.n_rows:
        return "scores", "no row could be read"
    if are_ranks and tally.n_entries:
        return "truth", f"lists can be truth or predictions (hint: pass {argument('kind', 'scores')})"
    if counts["ones"] + counts["zeros"] < tally.n_entries:
        return "scores", "some values are not 0 or 1"
    if not tally.n_entries:
        return "truth", "it has no entries"
    if counts["zeros"]:
        return "truth", "every value is 0 or 1" if counts["ones"] else "every value is 0"
    return "truth", "every value is 1"


@dataclass(frozen=True)
class FileTally:
    """Counts over all rows of a file, valid or not."""

    labels: LabelCounts  # rows, and entries by label
    lengths: LabelCounts  # readable rows, by their number of entries
    counts: dict[str, int]  # by the names in COUNTS
    value_range: tuple[float, float] | None  # the least and the greatest finite value; None without any
    faults: list[Fault]  # why rows are refused, in their order: at least the first MAX_FAULTS
    errors: list[str]  # messages of these, then the error that ended reading

    @property
    def n_entries(self) -> int:
        """The number of stored entries."""
        return int(np.prod(occurring(self.lengths), axis=0).sum())

    @property
    def longest(self) -> int:
        """The number of entries of the longest row."""
        return max(self.lengths.n_labels - 1, 0)


def tally_rows(source: Source, width: Width, threads: int | None) -> FileTally:
    """Count all rows of a source; errors in them become faults of the tally."""
    from xmceval.kernels.rows import tally as kernels

    labels, lengths, lock = LabelCounts(), LabelCounts(LONG_ROW), threading.Lock()
    counts, ends = np.zeros(len(COUNTS), dtype=np.int64), np.array([np.inf, -np.inf])
    faults: list[Fault] = []

    def count(scratch: Scratch, block: Block) -> None:
        try:
            rows = block.rows(scratch)
        except Fault:
            with lock:
                labels.n_rows += block.n_rows
            raise
        row_lengths, row_labels = np.diff(rows.indptr), rows.indices[: rows.indptr[-1]]
        of_block, ends_of_block = np.zeros_like(counts), np.array([np.inf, -np.inf])
        table = scratch.array("table", 4 * max(int(row_lengths.max(initial=0)), 4), np.int64, fill=-1)
        kernels.tally_rows(*rows, rows.values.view(np.int64), width.n_labels, table, of_block, ends_of_block)
        with lock:
            counts[:] += of_block
            ends[:] = min(ends[0], ends_of_block[0]), max(ends[1], ends_of_block[1])
            lengths.add(row_lengths.size, row_lengths)
            labels.add(row_lengths.size, row_labels[row_labels >= 0])
            n_earlier = sum(fault.row < block.first_row for fault in faults)
        if n_earlier < MAX_FAULTS and of_block[[kernels.NANS, kernels.DUPLICATES, kernels.OUTSIDE]].any():
            validated_scores(block, scratch, width)

    def work(scratch: Scratch, block: Block) -> None:
        n_rows = block.n_rows
        try:
            count(scratch, block)
        except Fault as fault:
            with lock:
                faults.append(fault)
        add(n_rows)

    stopped_by = []
    try:
        with phase(source.name, source.n_rows) as add:
            each_block(source.blocks(), Scratch, work, threads)
    except DataError as error:
        stopped_by = str(error).split("\n")
    faults.sort(key=lambda fault: fault.row)
    least, greatest = ends.tolist()
    value_range = (least, greatest) if least <= greatest else None
    named = dict(zip(COUNTS, counts.tolist(), strict=True))
    return FileTally(labels, lengths, named, value_range, faults, [*map(str, faults), *stopped_by])


def occurring(labels: LabelCounts) -> tuple[Int64, Int64]:
    """Return the labels, or lengths, that occur, and how often each does."""
    ids, counts = labels.table()
    places = np.flatnonzero(counts)
    return (ids[places] if ids.size else places), counts[places].astype(np.int64)


def spread(values: Int64, counts: Int64) -> Spread | None:
    """Return the distribution of numbers of entries, in ascending order; `counts` rows or labels have each of them."""
    if values.size == 0:
        return None
    ends, n_entries = np.cumsum(counts), int((values * counts).sum())
    total = int(ends[-1])
    middle = values[np.searchsorted(ends, [(total - 1) // 2, total // 2], side="right")]
    powers = np.frexp(values)[1]  # of the first power of 2 above each
    numbers, shares = np.bincount(powers, counts), np.bincount(powers, values * counts) / max(n_entries, 1)
    bins = tuple(
        (2**power // 2, 2**power - 1, int(numbers[power]), float(shares[power])) for power in np.unique(powers).tolist()
    )
    return Spread(int(values[0]), float(middle.mean()), n_entries / total, int(values[-1]), bins)
