"""Inspections as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xmceval.errors import counted, escaped
from xmceval.files.io.paths import to_path
from xmceval.inspection.file import FileInspection
from xmceval.inspection.pair import PairInspection
from xmceval.inspection.savedstate import StateInspection
from xmceval.inspection.tally import Spread
from xmceval.report.forms.layout import Layout
from xmceval.report.sheet.model import Listing

BAR = 24


def inspection_table(
    files: Sequence[FileInspection], pairs: Sequence[PairInspection], states: Sequence[StateInspection] = ()
) -> str:
    """Write what was found first, then one block of lines per file, per state and per pair."""
    findings = [line for part in list_findings(files, pairs, states) for line in part]
    compared = (
        (f"{pair.truth} and {pair.scores}", f"  P@1 {pair.precision_at_1:.2%} · P@5 {pair.precision:.2%}")
        for pair in pairs
        if pair.precision is not None
    )
    blocks = [findings, *map(_file_lines, files), *map(StateInspection.describe, states), *compared]
    return "\n".join("\n".join(map(escaped, lines)) + "\n" for lines in blocks)


def list_findings(
    files: Sequence[FileInspection], pairs: Sequence[PairInspection], states: Sequence[StateInspection]
) -> list[list[str]]:
    """Return for each file, state and pair a line on whether it is valid, and those on what is wrong."""
    of_files = (
        (
            f"{file.path}: {'valid' if file.is_sound else 'not valid, score refuses it'}",
            *_problems(file.faults, file.warnings),
        )
        for file in files
    )
    return [list(lines) for lines in (*of_files, *map(StateInspection.judge, states), *map(_judge_pair, pairs))]


def _judge_pair(pair: PairInspection) -> Iterator[str]:
    if pair.faults:
        verdict = "do not belong together, score refuses them"
    elif pair.mistakes:
        verdict = "do not belong together"
    elif pair.precision is None:
        verdict = "not compared, as one of the files is not valid"
    else:
        verdict = "some problems found" if pair.warnings else "no problems found"
    yield f"{pair.truth} and {pair.scores}: {verdict}"
    yield from _problems((*pair.faults, *pair.mistakes), pair.warnings)


def _problems(errors: Sequence[str], warnings: Sequence[str]) -> Iterator[str]:
    yield from (f"  error: {error}" for error in errors)
    yield from (f"  warning: {warning}" for warning in warnings)


def _file_lines(file: FileInspection) -> Iterator[str]:
    yield file.path
    if file.is_unread:
        yield f"  {file.description}; no row could be read"
        return
    yield f"  {file.description}; read as {file.kind}: {file.why}"
    yield f"  {counted(file.n_rows, 'row')} · {_labels(file)} · {counted(file.n_entries, 'entry')}"
    yield (
        f"  {counted(file.labels_seen, 'label')} with entries, the largest is {file.largest_label} · "
        f"{counted(file.empty_rows, 'empty row')}"
    )
    values = " · ".join(describe_values(file))
    yield from [f"  {values}"] if values else []
    yield "  order: " + describe_order(file)
    if file.per_row is not None:
        yield from _spread_lines("entries per row", "row", file.per_row)
    if file.per_label is not None:
        yield from _spread_lines("entries per label", "label", file.per_label)
        yield (
            f"  head: the most frequent 1% of these labels have {file.head_share:.1%} of the entries; "
            f"tail: the less frequent half has {file.tail_share:.1%}"
        )


def _labels(file: FileInspection) -> str:
    if file.is_declared:
        origin = "declared"
    else:
        origin = "the largest label + 1" if file.n_labels == file.largest_label + 1 else "as given"
    return f"{counted(file.n_labels, 'label')} ({origin})"


def describe_values(file: FileInspection) -> Iterator[str]:
    """Describe the range of the stored values, and how many are of a kind that is seldom meant."""
    if file.least is None or file.greatest is None:
        return
    if file.are_ranks and file.kind == "truth":
        yield "no values: each label of a list counts 1"
    elif file.are_ranks:
        yield f"no values: ranks from {file.least:g} to {file.greatest:g}, the highest for the first label of a row"
    else:
        yield f"values from {file.least:g} to {file.greatest:g}"
    numbers = (
        ("stored zero" if file.zeros == 1 else "stored zeros", file.zeros),
        ("negative", file.negative),
        ("infinite", file.infinite),
        ("NaN", file.nans),
        ("duplicate" if file.duplicates == 1 else "duplicates", file.duplicates),
        ("label out of range" if file.outside == 1 else "labels out of range", file.outside),
    )
    yield from (f"{number:,} {noun}" for noun, number in numbers if number)


def describe_order(file: FileInspection) -> str:
    """Describe by what the entries of rows are ordered."""
    by_label = f"{_rows(file.rows_by_label, file)} by label"
    if file.kind == "truth":
        return by_label
    return (
        f"{by_label}, {_rows(file.rows_by_score, file)} by score · {counted(file.tied_rows, 'row')} with equal scores"
    )


def _rows(number: int, file: FileInspection) -> str:
    return "all rows" if number == file.n_rows else counted(number, "row")


def _spread_lines(title: str, noun: str, spread: Spread) -> Iterator[str]:
    yield f"  {title}: {spread}"
    most = max(number for _, _, number, _ in spread.bins)
    heads = [f"{low:,}" if low == high else f"{low:,}-{high:,}" for low, high, _, _ in spread.bins]
    width = max(map(len, heads))
    for head, (_, _, number, share) in zip(heads, spread.bins, strict=True):
        bar = "#" * max(round(BAR * number / most), 1)
        yield f"    {head:>{width}}  {bar:<{BAR}}  {counted(number, noun)}, {share:.1%} of the entries"


def list_files(files: Iterable[FileInspection]) -> Listing:
    """List what each file contains."""
    head = ("File", "form", "rows", "labels", "entries", "values", "order of entries")
    rows = (
        (
            to_path(file.path).name,
            file.description,
            f"{file.n_rows:,}",
            f"{file.n_labels:,}{'' if file.is_declared else ' (not declared)'}",
            f"{file.n_entries:,}",
            " · ".join(describe_values(file)),
            describe_order(file),
        )
        for file in files
    )
    return Listing("What each file contains", (head, *rows), frozenset({2, 3, 4}), has_head=True)


def list_pairs(pairs: Sequence[PairInspection], layout: Layout) -> Listing:
    """List P@1 and P@5 of the predictions, in pairs of files whose rows were compared."""
    title = f"P@1 and P@5 of the predictions{'; in percent' if layout.percent else ''}"
    rows = []
    for pair in pairs:
        values = (pair.precision_at_1, pair.precision)
        rows.append((to_path(pair.scores).name, *("" if value is None else layout.share(value) for value in values)))
    return Listing(title, (("Predictions", "P@1", "P@5"), *rows), frozenset({1, 2}), has_head=True)
