"""Inspect one file: read it as score does, and count its rows, entries and labels."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, argument, averaged, counted
from xmceval.files.io.paths import MAX_LINE, as_input, to_path
from xmceval.files.open import open_either
from xmceval.files.opened import Opened
from xmceval.files.sidecars.values import Names
from xmceval.labels.counts import LabelCounts, count_labels
from xmceval.labels.propensity import NO_IDS
from xmceval.rows.block import AnyArray, Block, Int64, Rows, Scratch
from xmceval.rows.checks import LARGEST_GRADE, validated_scores
from xmceval.rows.progress import phase
from xmceval.rows.source import Source, agreed_width, declared_width
from xmceval.rows.threads import each_block
from xmceval.rows.width import Width

RUN = "run"  # the format that only predictions have


@dataclass(frozen=True)
class Spread:
    """How the number of entries differs between rows, or between labels that have any."""

    least: int
    median: float
    mean: float
    most: int

    @classmethod
    def of(cls, numbers: AnyArray) -> Spread | None:
        """Return the spread of numbers [n]; None if there are none."""
        if not numbers.size:
            return None
        return cls(int(numbers.min()), float(np.median(numbers)), float(numbers.mean()), int(numbers.max()))

    def __str__(self) -> str:
        return f"{self.least:,} to {self.most:,}, median {self.median:,.10g}, mean {averaged(self.mean)}"


@dataclass(frozen=True)
class FileInspection:
    """Description of one file.

    It was read as `kind`, ``truth`` or ``scores``, for the reason `why`; with `are_ranks` its values reflect
    the order of lists, where the first label has the highest value. `n_labels` was passed or declared, or is
    the largest label + 1; `is_declared` says whether the file itself declares it. `largest_label` is -1 without
    entries. `least` and `greatest` are the range of the finite values, `zeros` the number of stored zeros, and
    `empty_rows` the rows without entries.

    `faults` are the reasons why ``score`` would refuse the file, `warnings` other problems; rows with faults are not
    counted. The guide ``xmceval guide inputs`` explains the `format`. `file` is where to read it again: `path` has no
    credentials. With `has_queries`, rows are queries and labels are documents; predictions are then joined to a truth
    by query.
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
    empty_rows: int
    zeros: int
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
        if self.has_queries:
            return "query"
        return "row"

    @property
    def label(self) -> str:
        """What a label is called."""
        if self.has_queries:
            return "document"
        return "label"

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
    width = declared_width(source, n_labels)
    contents = Contents()
    faults = list[str]()
    try:
        contents.read(source, width, threads)
    except DataError as error:
        faults += str(error).split("\n")
    lengths = contents.lengths()
    n_entries = int(lengths.sum())
    why = "as requested"
    if kind is None:
        kind, why = _detect_kind(contents, n_entries, opened, is_valid=not faults)
    warnings = list(source.warnings)
    if kind == "truth" and not faults:
        declared = width
        if source.n_labels is not None:
            declared = Width(source.n_labels, f"{source.name} has")
        is_outside = declared.is_known and contents.labels.n_labels > declared.n_labels
        try:
            if is_outside or not contents.are_grades:
                # which refuses the first such label or value
                count_labels(source, width=declared, threads=threads, may_be_fractions=opened.has_grades)
        except DataError as error:
            faults += str(error).split("\n")
        grades = argument("grades", True)
        if opened.has_grades and not (contents.are_grades or faults):
            warnings.append(f"{source.name} has fractions: score needs {grades} if these are grades")
        elif contents.greatest > 1 and not (opened.has_grades or opened.is_ranked):
            warnings.append(
                f"{source.name} has values up to {contents.greatest:g}: score needs {grades} if these are grades"
            )
    per_row = Spread.of(lengths)
    header = source.n_labels
    largest = contents.labels.n_labels - 1
    longest = int(lengths.max(initial=0))
    try:
        _check_n_labels(source, kind, longest, n_labels)
    except DataError as error:
        faults.append(str(error))
    if header is not None and not source.is_exact and largest >= header >= longest:
        header = None  # it is ``rows k``
    if n_labels is None:
        n_labels = header
    if n_labels is None:
        n_labels = largest + 1
    counts = contents.labels.table()[1]
    per_label = Spread.of(counts[counts > 0])
    return FileInspection(
        path=str(as_input(path)),
        file=to_path(path),
        description=opened.describe_as(kind),
        kind=kind,
        why=why,
        n_rows=contents.labels.n_rows,
        n_labels=n_labels,
        is_declared=header is not None,
        n_entries=n_entries,
        labels_seen=int(np.count_nonzero(counts)),
        largest_label=largest,
        per_row=per_row,
        per_label=per_label,
        empty_rows=int(np.count_nonzero(lengths == 0)),
        zeros=contents.n_zeros,
        least=_or_none(contents.least),
        greatest=_or_none(contents.greatest),
        faults=tuple(faults),
        warnings=tuple(warnings),
        are_ranks=opened.role == "scores" and opened.is_ranked,
        format=opened.format.name,
        has_queries=opened.rows_by == "query",
    )


def _or_none(value: float) -> float | None:
    """Return a value, or None if no value was finite."""
    if not np.isfinite(value):
        return None
    return value


class Contents:
    """What the rows of a file hold: their lengths, the rows of each label, and the range of the values."""

    def __init__(self) -> None:
        self.labels = LabelCounts()
        self.n_zeros = 0
        self.least = np.inf
        self.greatest = -np.inf
        self.are_grades = True  # whether all values are whole numbers from 0 to 2^40
        self._lengths = list[Int64]()
        self._lock = threading.Lock()

    def read(self, source: Source, width: Width, threads: int | None) -> None:
        """Add all rows of a source; a DataError says why score would refuse it."""

        def work(scratch: Scratch, block: Block) -> None:
            n_rows = block.n_rows
            self._add(validated_scores(block, scratch, width))
            progress(n_rows)

        with phase(source.name, source.n_rows) as progress:
            each_block(source.blocks(), Scratch, work, threads, all_faults=True)

    def _add(self, rows: Rows) -> None:
        n_entries = int(rows.indptr[-1])
        lengths = np.diff(rows.indptr)
        values = rows.values[:n_entries]
        finite = values[np.isfinite(values)]
        n_zeros = int(np.count_nonzero(values == 0))
        least = float(finite.min(initial=np.inf))
        greatest = float(finite.max(initial=-np.inf))
        are_whole = finite.size == n_entries and bool((finite == np.floor(finite)).all())
        are_grades = are_whole and least >= 0 and greatest <= LARGEST_GRADE
        with self._lock:
            self._lengths.append(lengths)
            self.labels.add(lengths.size, rows.indices[:n_entries])
            self.n_zeros += n_zeros
            self.least = min(self.least, least)
            self.greatest = max(self.greatest, greatest)
            self.are_grades = self.are_grades and are_grades

    def lengths(self) -> Int64:
        """Return the number of entries of each row, in any order."""
        return np.concatenate([NO_IDS, *self._lengths])


def _check_n_labels(source: Source, kind: str, longest: int, n_labels: int | None) -> None:
    """Refuse a number of labels that does not fit the number declared by the file, as score does."""
    columns = source.n_labels
    if n_labels is None or columns is None:
        return
    passed = declared_width(source, n_labels)
    if kind == "truth":
        Width(columns, f"{source.name} has").agree(n_labels, argument("n_labels"))
    agreed_width(passed, source, "column")
    if columns > n_labels:
        raise DataError(f"{source.name} declares {counted(columns, 'label')}, but {passed}")
    if columns < min(n_labels, longest):
        declared = counted(columns, "column")
        raise DataError(f"{source.name} declares {declared}, {passed}, and a row has {counted(longest, 'prediction')}")


def _detect_kind(contents: Contents, n_entries: int, opened: Opened, *, is_valid: bool) -> tuple[str, str]:
    """Return whether a file is truth or predictions, and the reason."""
    if opened.format.name == RUN:
        return "scores", "a run holds predictions"
    if opened.role == "truth":
        return "truth", "only truth has this layout"
    if not (is_valid or contents.labels.n_rows):
        return "scores", "no row could be read"
    if opened.is_ranked and n_entries:
        return "truth", f"lists can be truth or predictions (hint: pass {argument('kind', 'scores')})"
    if not contents.are_grades or contents.greatest > 1:
        return "scores", "some values are not 0 or 1"
    if not n_entries:
        return "truth", "it has no entries"
    if not contents.n_zeros:
        return "truth", "every value is 1"
    if contents.greatest == 0:
        return "truth", "every value is 0"
    return "truth", "every value is 0 or 1"
