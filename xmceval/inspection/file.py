"""Inspection: what a file is, whether it is sound, and what its rows and labels look like."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, Fault, counted
from xmceval.files.either import open_either
from xmceval.files.names import Names
from xmceval.labels.counts import LabelCounts
from xmceval.rows.block import Block, Int64, Scratch, Source
from xmceval.rows.checks import validated_scores, validated_truth
from xmceval.rows.threads import each_block
from xmceval.rows.width import Width

MOST_FAULTS = 10

MOST_GRADE = 10

LONG_ROW = 1 << 16  # rows of more entries are counted as if they had so many, in the histogram only


@dataclass(frozen=True)
class Spread:
    """How a count is spread: over rows, or over labels.

    ``bins`` are (least, most, how many, share of all entries): 0, 1, 2-3, 4-7 and so on.
    """

    least: int
    median: float
    mean: float
    most: int
    bins: tuple[tuple[int, int, int, float], ...]


@dataclass(frozen=True)
class Inspection:
    """What was found in one file.

    Attributes
    ----------
    path, description : str
        The file, and what it was taken for.
    kind, why : str
        ``truth`` or ``scores``, and the reason.
    n_rows, n_labels, n_entries : int
        Rows; labels as announced, or the largest + 1; stored entries.
    announced : bool
        Whether the file itself says how many labels there are.
    labels_seen, largest_label : int
        Labels with an entry; the largest of them, -1 if there is none.
    per_row, per_label : Spread or None
        Entries of a row, and of a label; None without any.
    head_share, tail_share : float
        Share of the entries with the most frequent hundredth of the labels seen; with the rarer half of them.
    empty_rows, rows_by_label, rows_by_score, tied_rows : int
        Rows without an entry, with labels ascending, with scores descending, with equal scores.
    zeros, ones, negative, fractions, nans, infinite, duplicates, outside : int
        Entries of such values; labels that appear twice in a row; labels below 0 or beyond those announced.
    least, greatest : float or None
        Of the finite values.
    faults : tuple of str
        Why ``score`` would refuse it: the first ten.
    warnings : tuple of str
        What came to light beside.
    are_ranks : bool
        Whether its values are ranks: those of lists, counted from behind, so that the first label has the most.
    """

    path: str
    description: str
    kind: str
    why: str
    n_rows: int
    n_labels: int
    announced: bool
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
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    are_ranks: bool = False

    @property
    def is_unread(self) -> bool:
        """Whether not one row could be read, so that there is nothing to tell of them."""
        return self.per_row is None and bool(self.faults)

    @property
    def is_sound(self) -> bool:
        """Whether ``score`` would take it."""
        return not self.faults


@dataclass
class Tally:
    """What goes by, added up from all threads."""

    found: Int64
    ends: NDArray[np.float64] = field(default_factory=lambda: np.array([np.inf, -np.inf]))
    lengths: Int64 = field(default_factory=lambda: np.zeros(LONG_ROW + 1, dtype=np.int64))
    counts: LabelCounts = field(default_factory=LabelCounts)
    faults: list[Fault] = field(default_factory=list)
    n_entries: int = 0
    longest: int = 0


def inspect(
    path: str | Path,
    *,
    kind: str | None = None,
    n_labels: int | None = None,
    names: Names | None = None,
    threads: int | None = None,
) -> Inspection:
    """Look at all rows of a file.

    Parameters
    ----------
    path : path
        Any file that ``score`` reads.
    kind : {"truth", "scores"}, optional
        What it is; default by its content.
    n_labels : int, optional
        The number of labels, where the file does not tell it.
    names : Names, optional
        Names of the labels, where the file has them instead of numbers.
    threads : int, optional
        Default: one per processor.

    Raises
    ------
    DataError
        A missing file, or one of no known form.
    """
    opened = open_either(path, kind, names=names)
    as_scores = opened.role == "scores"
    source = opened.source
    width = width_of(source, n_labels)
    tally, faults = tally_up(source, width, threads)
    of = dict(zip(_NAMES, tally.found.tolist(), strict=True))
    are_ranks = as_scores and opened.is_ranked
    taken, why = _kind(kind, as_scores, are_ranks, of, tally, bool(faults))
    if taken == "truth":
        faults += _refused(source, tally, of)
    n_rows, largest = tally.counts.n_rows, of["largest"]
    header = source.n_labels
    if not source.is_exact and header is not None and largest >= header >= tally.longest:
        header = None  # `rows k`
    known = n_labels or header
    _, table = tally.counts.table()
    by_label = np.sort(table[table > 0]).astype(np.int64)
    return Inspection(
        path=str(path),
        description=opened.format if taken == "truth" else opened.description,
        kind=taken,
        why=why,
        n_rows=n_rows,
        n_labels=known if known is not None else largest + 1,
        announced=header is not None,
        n_entries=tally.n_entries,
        labels_seen=by_label.size,
        largest_label=largest,
        per_row=_spread(tally.lengths, tally.longest) if tally.lengths.any() else None,  # of rows that could be read
        per_label=_label_spread(by_label),
        head_share=_share(by_label[by_label.size - -(-by_label.size // 100) :], by_label),
        tail_share=_share(by_label[: by_label.size // 2], by_label),
        empty_rows=of["empty"],
        rows_by_label=of["by_label"] + of["empty"],
        rows_by_score=of["by_score"] + of["empty"],
        tied_rows=of["tied"],
        zeros=of["zeros"],
        ones=of["ones"],
        negative=of["negative"],
        fractions=of["fractions"],
        nans=of["nans"],
        infinite=of["infinite"],
        duplicates=of["duplicates"],
        outside=of["outside"],
        least=float(tally.ends[0]) if tally.ends[0] <= tally.ends[1] else None,
        greatest=float(tally.ends[1]) if tally.ends[0] <= tally.ends[1] else None,
        faults=tuple(faults[:MOST_FAULTS]),
        warnings=tuple(source.warnings),
        are_ranks=are_ranks,
    )


_NAMES = (
    *("empty", "by_label", "by_score", "tied", "duplicates", "zeros", "ones", "negative", "fractions", "nans"),
    *("infinite", "outside", "largest"),
)


def width_of(source: Source, n_labels: int | None = None) -> Width:
    """Return the number of labels that a source has for certain."""
    if n_labels is not None:
        return Width(n_labels, "n_labels is")
    exact = source.is_exact and source.n_labels is not None
    return Width(source.n_labels or 0, f"{source.name} has") if exact else Width()


def tally_up(source: Source, width: Width, threads: int | None) -> tuple[Tally, list[str]]:
    """Look at every block; return what was found, and the faults in the order of the rows."""
    from xmceval.kernels import tally as look

    found = np.zeros(look.N_FOUND, dtype=np.int64)
    found[look.LARGEST] = -1
    tally, lock = Tally(found), threading.Lock()

    def work(scratch: Scratch, block: Block) -> None:
        try:
            rows = block.rows(scratch)
        except Fault as fault:
            with lock:
                tally.faults.append(fault)
                tally.counts.n_rows += block.n_rows
            return
        lengths = np.diff(rows.indptr)
        used = rows.indices[: rows.indptr[-1]]
        own, ends = np.zeros(look.N_FOUND, dtype=np.int64), np.array([np.inf, -np.inf])
        own[look.LARGEST] = -1
        longest = int(lengths.max(initial=4))
        space = scratch.array("table", 4 * longest, np.int64, fill=-1)
        look.look(*rows, rows.values.view(np.int64), width.n_labels, space, own, ends)
        wrong = own[look.NANS] + own[look.DUPLICATES] + own[look.OUTSIDE]
        with lock:
            largest = max(tally.found[look.LARGEST], own[look.LARGEST])
            tally.found += own
            tally.found[look.LARGEST] = largest
            tally.ends[:] = min(tally.ends[0], ends[0]), max(tally.ends[1], ends[1])
            tally.lengths += np.bincount(np.minimum(lengths, LONG_ROW), minlength=LONG_ROW + 1)
            tally.longest = max(tally.longest, int(lengths.max(initial=0)))
            tally.n_entries += used.size
            tally.counts.add(block.n_rows, used[used >= 0])
            many = len(tally.faults) >= MOST_FAULTS
        if wrong and not many:
            try:
                validated_scores(block, scratch, width)
            except Fault as fault:
                with lock:
                    tally.faults.append(fault)

    last = []
    try:
        each_block(source.blocks(), Scratch, work, threads)
    except DataError as error:
        last.append(str(error))
    tally.faults.sort(key=lambda fault: fault.row)
    return tally, [fault.message for fault in tally.faults] + last


def _kind(
    kind: str | None, as_scores: bool, are_ranks: bool, of: dict[str, int], tally: Tally, is_faulty: bool
) -> tuple[str, str]:
    """Tell truth from predictions."""
    if kind is not None:
        return kind, "as said"
    if not as_scores:
        return "truth", "its layout holds nothing else"
    if is_faulty and not tally.lengths.any():
        return "scores", "nothing was read"
    if are_ranks and tally.longest > MOST_GRADE:
        return "scores", f"lists may be either, and it has some of more than {MOST_GRADE} labels"
    if are_ranks and tally.n_entries:
        return "truth", f"lists may be either, and none has more than {MOST_GRADE} labels (hint: --as scores)"
    if of["negative"] or of["fractions"] or of["infinite"]:
        return "scores", "it has values that are no whole numbers from 0"
    if tally.ends[1] > MOST_GRADE:
        return "scores", f"it has values above {MOST_GRADE}, which are hardly grades"
    if of["ones"] + of["zeros"] < tally.n_entries:
        return "truth", f"its values are whole numbers from 0 to {tally.ends[1]:g}, as grades are"
    return "truth", (
        "every value is 1" if of["ones"] else "it has no entry but zeros" if of["zeros"] else "it is empty"
    )


def _refused(source: Source, tally: Tally, of: dict[str, int]) -> list[str]:
    """Return why a truth is refused where scores would not be."""
    if tally.faults or not (of["negative"] or of["fractions"] or of["infinite"]):
        return []
    with closing(source.blocks()) as blocks:
        for block in blocks:
            try:
                validated_truth(block, Scratch(), Width())
            except Fault as fault:
                return [fault.message]
    return []


def _spread(histogram: Int64, most: int) -> Spread:
    values = np.flatnonzero(histogram)
    counts = histogram[values]
    total, entries = int(counts.sum()), int((values * counts).sum())
    ends = np.cumsum(counts)
    median = float(values[np.searchsorted(ends, (total + 1) // 2)])
    return Spread(int(values[0]), median, entries / total, most, tuple(_bins(values, counts, entries)))


def _label_spread(ascending: Int64) -> Spread | None:
    if ascending.size == 0:
        return None
    values, counts = np.unique(ascending, return_counts=True)
    median, mean = float(np.median(ascending)), float(ascending.mean())
    bins = tuple(_bins(values, counts, int(ascending.sum())))
    return Spread(int(ascending[0]), median, mean, int(ascending[-1]), bins)


def _bins(values: Int64, counts: Int64, entries: int) -> Iterator[tuple[int, int, int, float]]:
    low, high = 0, 0
    while low <= values[-1]:
        here = (values >= low) & (values <= high)
        if here.any():
            yield low, high, int(counts[here].sum()), float((values * counts)[here].sum()) / max(entries, 1)
        low, high = high + 1, 2 * high + 1


def _share(part: Int64, whole: Int64) -> float:
    return float(part.sum() / whole.sum()) if whole.size else 0.0


def told(found: Inspection) -> str:
    """Say in one line what a file is."""
    return f"{counted(found.n_rows, 'row')}, {counted(found.n_labels, 'label')}, {counted(found.n_entries, 'entry')}"
