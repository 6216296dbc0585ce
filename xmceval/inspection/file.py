"""Inspect one file: its format, its validity, and how its entries spread over rows and labels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, Fault, argument, counted, listed
from xmceval.files.io.paths import MAX_LINE, as_input, to_path
from xmceval.files.open import open_either
from xmceval.files.sidecars.label_names import Names
from xmceval.inspection.tally import MAX_FAULTS, FileTally, Spread, spread_of_labels, spread_of_rows, tally_rows
from xmceval.rows.block import Int64, Scratch, Source
from xmceval.rows.checks import LARGEST_GRADE, validated_truth
from xmceval.rows.width import Width
from xmceval.scoring.alignment import USUAL_GRADE

RUN = "run"  # the format whose rows are joined to those of a truth by query


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
    ``xmceval/guide/formats.md`` explains the `format`. `file` is where to read it again: `path` has no credentials.
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
    _, table = tally.labels.table()
    entries = np.sort(table[table > 0]).astype(np.int64)  # of each label that has any
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
        per_row=spread_of_rows(tally),
        per_label=spread_of_labels(entries),
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
    if tally.errors and not tally.has_rows:
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


def _share(part: Int64, whole: Int64) -> float:
    return float(part.sum() / whole.sum()) if whole.size else 0.0
