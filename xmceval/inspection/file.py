"""Inspect one file: its format, its validity, and how its entries spread over rows and labels."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, Fault, argument, averaged, counted, listed
from xmceval.files.io.paths import MAX_LINE, as_input, to_path
from xmceval.files.open import open_either
from xmceval.files.sidecars.label_names import Names
from xmceval.labels.counts import LabelCounts
from xmceval.rows.block import Block, Int64, Scratch, Source
from xmceval.rows.checks import LARGEST_GRADE, validated_scores, validated_truth
from xmceval.rows.progress import phase
from xmceval.rows.threads import each_block
from xmceval.rows.width import Width
from xmceval.scoring.alignment import USUAL_GRADE

RUN = "run"  # the format whose rows are joined to those of a truth by query
MAX_FAULTS = 10
LONG_ROW = 1 << 16  # entries; rows of fewer are counted in a table by their length

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


@dataclass(frozen=True)
class FileInspection:
    """Description of one file.

    It was read as `kind`, ``truth`` or ``scores``, for the reason `why`; with `are_ranks` its values are made from the
    order of lists, whose first label has the highest. `n_labels` are as given or declared, or the largest label + 1;
    `is_declared` says whether the file itself declares them. `largest_label` is -1 if no label has an entry.

    `per_row` and `per_label` are the numbers of entries, None without any; `head_share` is the share of them that
    belongs to the most frequent 1% of the labels seen, `tail_share` that of the less frequent half. Rows are counted
    without an entry, with labels ascending (`rows_by_label`), with scores descending (`rows_by_score`) and with equal
    scores (`tied_rows`); entries by their values, labels that appear twice in a row (`duplicates`) or are below 0 or
    beyond the number of labels (`outside`). `least` and `greatest` are the range of the finite values.

    `faults` are the first ten reasons why ``score`` would refuse the file, `warnings` what else was noticed. The guide
    ``xmceval/guide/inputs.md`` explains the `format`. `file` is where to read it again: `path` has no credentials.
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

    @property
    def is_unread(self) -> bool:
        """Whether no row could be read, so that there are no statistics."""
        return self.per_row is None and bool(self.faults)

    @property
    def is_joined(self) -> bool:
        """Whether its rows are joined to those of a truth, so that their number and labels are its own."""
        return self.format == RUN

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
    """Read all rows of a file and describe them; without a kind, its content decides whether it is truth or scores."""
    are_all_ids = None if n_labels is None else True
    opened = open_either(path, kind, names=names, max_line=max_line, is_alone=True, are_all_ids=are_all_ids)
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
    if kind == "truth":
        faults += _truth_faults(source, tally)
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
        head_share=_share(entries[entries.size - -(-entries.size // 100) :], entries),
        tail_share=_share(entries[: entries.size // 2], entries),
        least=least,
        greatest=greatest,
        faults=tuple(faults[:MAX_FAULTS]),
        warnings=tuple(source.warnings),
        are_ranks=are_ranks,
        format=opened.format.name,
        **tally.counts,
    )


def _check_n_labels(source: Source, kind: str, tally: FileTally, n_labels: int | None) -> Iterator[str]:
    """Compare the number of labels that was passed with the one that the file declares, as score does."""
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
    counts, greatest = tally.counts, (tally.value_range or (0.0, 0.0))[1]
    if not are_scores:
        return "truth", "only truth has this layout"
    if tally.errors and not tally.lengths.n_rows:
        return "scores", "no row could be read"
    if are_ranks and tally.longest > USUAL_GRADE:
        return "scores", f"lists can be truth or predictions, and some have more than {USUAL_GRADE} labels"
    if are_ranks and tally.n_entries:
        hint = f"(hint: pass {argument('kind', 'scores')})"
        return "truth", f"lists can be truth or predictions, and none has more than {USUAL_GRADE} labels {hint}"
    kinds = {"negative": counts["negative"], "fractional": counts["fractions"], "infinite": counts["infinite"]}
    if any(kinds.values()):
        return "scores", f"some values are {listed((kind for kind, n in kinds.items() if n), 'or')}"
    if greatest > USUAL_GRADE:
        return "scores", f"some values are above {USUAL_GRADE}, too large for grades"
    if counts["ones"] + counts["zeros"] < tally.n_entries:
        return "truth", f"all values are whole numbers from 0 to {greatest:g}, like grades"
    if not tally.n_entries:
        return "truth", "it has no entries"
    if counts["zeros"]:
        return "truth", "every value is 0 or 1" if counts["ones"] else "every value is 0"
    return "truth", "every value is 1"


def _truth_faults(source: Source, tally: FileTally) -> list[str]:
    """Return why a truth is refused where scores would be accepted."""
    counts, (_, greatest) = tally.counts, tally.value_range or (0.0, 0.0)
    is_grades = not (counts["negative"] or counts["fractions"] or counts["infinite"]) and greatest <= LARGEST_GRADE
    if tally.faults or is_grades:
        return []
    with closing(source.blocks()) as blocks:
        for block in blocks:
            try:
                validated_truth(block, Scratch(), Width())
            except Fault as fault:
                return [str(fault)]
    return []


class FileTally:
    """Counts over all rows of a file, valid or not."""

    def __init__(self, width: Width) -> None:
        self.n_entries = 0  # that are stored
        self.labels = LabelCounts()  # rows, and entries by label
        self.lengths = LabelCounts(LONG_ROW)  # readable rows, by their number of entries
        self.faults: list[Fault] = []  # why rows are refused: at least the first MAX_FAULTS
        self.stopped_by = ""  # the error that ended reading
        self._width = width
        self._counts: Int64 = np.zeros(len(COUNTS), dtype=np.int64)
        self._least, self._greatest = np.inf, -np.inf
        self._lock = threading.Lock()

    @property
    def longest(self) -> int:
        """The number of entries of the longest row."""
        return max(self.lengths.n_labels - 1, 0)

    @property
    def counts(self) -> dict[str, int]:
        """The counts by name."""
        return dict(zip(COUNTS, self._counts.tolist(), strict=True))

    @property
    def value_range(self) -> tuple[float, float] | None:
        """The least and the greatest finite value; None where there is no finite value."""
        return (self._least, self._greatest) if self._least <= self._greatest else None

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
            self.lengths.add(lengths.size, lengths)
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


def occurring(counted: LabelCounts) -> tuple[Int64, Int64]:
    """Return the labels, or lengths, that occur, and how often each does."""
    ids, counts = counted.table()
    places = np.flatnonzero(counts)
    return (ids[places] if ids.size else places), counts[places].astype(np.int64)


def spread(values: Int64, counts: Int64) -> Spread | None:
    """Return the distribution of numbers of entries, in ascending order; `counts` rows or labels have each of them."""
    if values.size == 0:
        return None
    ends, n_entries = np.cumsum(counts), int((values * counts).sum())
    total, bins, low, high = int(ends[-1]), [], 0, 0
    while low <= values[-1]:
        inside = (values >= low) & (values <= high)
        if inside.any():
            share = float((values * counts)[inside].sum()) / max(n_entries, 1)
            bins.append((low, high, int(counts[inside].sum()), share))
        low, high = high + 1, 2 * high + 1
    middle = values[np.searchsorted(ends, [(total - 1) // 2, total // 2], side="right")]
    return Spread(int(values[0]), float(middle.mean()), n_entries / total, int(values[-1]), tuple(bins))


def _share(part: Int64, whole: Int64) -> float:
    return float(part.sum() / whole.sum()) if whole.size else 0.0
