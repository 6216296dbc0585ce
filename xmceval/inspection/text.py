"""The reports of an inspection: text for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from xmceval.errors import counted
from xmceval.inspection.file import Inspection, Spread
from xmceval.inspection.pair import Comparison

SCHEMA = "xmceval-inspect/1"

BAR = 24


def as_json(files: Sequence[Inspection], together: Sequence[Comparison]) -> str:
    """Write everything as JSON."""
    document = {
        "schema": SCHEMA,
        "files": [{**asdict(each), "is_sound": each.is_sound} for each in files],
        "together": [asdict(each) for each in together],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def as_table(files: Sequence[Inspection], together: Sequence[Comparison]) -> str:
    """Write one block of lines a file, then one for each pair."""
    blocks = [*(_file(each) for each in files), *(_pair(each) for each in together)]
    return "\n".join("\n".join(lines) + "\n" for lines in blocks)


def _file(found: Inspection) -> Iterator[str]:
    yield found.path
    if found.is_unread:
        yield f"  {found.description}; nothing was read"
        yield from _verdict(found)
        return
    yield f"  {found.description}; taken as {found.kind}: {found.why}"
    said = "announced" if found.announced else "the largest + 1: nothing announces them"
    rows, labels, entries = (
        counted(found.n_rows, "row"),
        counted(found.n_labels, "label"),
        counted(found.n_entries, "entry"),
    )
    yield f"  {rows} · {labels}, {said} · {entries}"
    yield (
        f"  {counted(found.labels_seen, 'label')} {_have(found.labels_seen)} an entry, the largest is "
        f"{found.largest_label} · {counted(found.empty_rows, 'row')} {_have(found.empty_rows)} none"
    )
    if found.least is not None and found.greatest is not None:
        yield "  " + " · ".join(_values(found))
    yield (
        f"  order: {_rows(found.rows_by_label, found)} by label, {_rows(found.rows_by_score, found)} by score · "
        f"{counted(found.tied_rows, 'row')} with equal scores"
        if found.kind == "scores"
        else f"  order: {_rows(found.rows_by_label, found)} by label"
    )
    if found.per_row is not None:
        yield from _spread("entries of a row", "row", found.per_row)
    if found.per_label is not None:
        yield from _spread("entries of a label", "label", found.per_label)
        yield (
            f"  head: 1% of these labels have {found.head_share:.1%} of the entries; "
            f"tail: the rarer half {found.tail_share:.1%}"
        )
    yield from _verdict(found)


def _verdict(found: Inspection) -> Iterator[str]:
    yield from (f"  warning: {each}" for each in found.warnings)
    yield from (f"  error: {each}" for each in found.faults)
    yield "  sound: score takes it" if found.is_sound else "  not sound: score refuses it"


def _values(found: Inspection) -> Iterator[str]:
    if found.are_ranks and found.kind == "truth":
        yield "no values: each label of a list counts 1"
    elif found.are_ranks:
        yield f"no values but ranks from {found.least:g} to {found.greatest:g}, the first label of a row has the most"
    else:
        yield f"values from {found.least:g} to {found.greatest:g}"
    numbers = (
        ("stored zero" if found.zeros == 1 else "stored zeros", found.zeros),
        ("negative", found.negative),
        ("infinite", found.infinite),
        ("NaN", found.nans),
        ("duplicate" if found.duplicates == 1 else "duplicates", found.duplicates),
        ("label out of range" if found.outside == 1 else "labels out of range", found.outside),
    )
    yield from (f"{number:,} {what}" for what, number in numbers if number)


def _rows(number: int, found: Inspection) -> str:
    return "all rows" if number == found.n_rows else counted(number, "row")


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _spread(title: str, what: str, spread: Spread) -> Iterator[str]:
    yield (f"  {title}: {spread.least:,} to {spread.most:,}, median {spread.median:g}, mean {spread.mean:.3g}")
    most = max(number for _, _, number, _ in spread.bins)
    heads = [f"{low:,}" if low == high else f"{low:,}-{high:,}" for low, high, _, _ in spread.bins]
    wide = max(map(len, heads))
    for head, (_, _, number, share) in zip(heads, spread.bins, strict=True):
        bar = "#" * max(round(BAR * number / most), 1)
        yield f"    {head:>{wide}}  {bar:<{BAR}}  {counted(number, what)}, {share:.1%} of the entries"


def _pair(found: Comparison) -> Iterator[str]:
    yield f"{found.truth} and {found.scores}"
    if found.precision is not None and found.precision_at_1 is not None and found.shifted is not None:
        below, above = found.shifted
        yield (
            f"  P@1 {found.precision_at_1:.2%} (rows in any order: {found.chance:.2%}) · P@5 {found.precision:.2%} "
            f"(labels moved by -1: {below:.2%}, by +1: {above:.2%})"
        )
    yield from (f"  warning: {each}" for each in found.warnings)
    yield from (f"  error: {each}" for each in found.faults)
    if not found.faults and not found.warnings:
        yield "  nothing speaks against it"
