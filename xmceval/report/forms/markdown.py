"""Write tables as Markdown, as GitHub renders it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from xmceval.report.forms.plain import clean, pad, text_width
from xmceval.report.sheet import BEST, SECOND, Listing, Section, Sheet

STYLES = {BEST: "**{}**", SECOND: "<ins>{}</ins>"}  # Markdown has no underlining; GitHub keeps <ins>
WIDEST = 40  # maximum width of aligned columns in the source

# Characters that Markdown would interpret; an underscore within a word, or < before a number, is safe.
SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=[#A-Za-z])")
STARTING = re.compile(r"[-+#>](?=\s|#|$)|(?<=\d)[.)](?=\s|$)")  # beginnings of lists, headings and quotations
MENTION = re.compile(r"(?<![\w@])(@\w+(?:\.\w+)*)")  # GitHub would notify a user of this name


def draw(sheet: Sheet) -> str:
    """Draw a sheet as Markdown."""
    parts = [*_draw_list(sheet.verdicts), *map(escape_line, sheet.above)]
    if sheet.is_grouped:  # Markdown has no spanning cells, so titles are in the first column
        rows: list[tuple[str, ...]] = []
        for section in sheet.sections:
            if section.title:
                rest = escape(section.title.removeprefix(section.name))
                rows.append((f"**{escape(section.name)}**{rest}", *[""] * len(sheet.columns)))
            rows.extend(_draw_rows(section, sheet.columns))
        parts.append(_draw_values(sheet.columns, rows))
    else:
        for section in sheet.sections:
            columns = section.columns_with_values(sheet.columns)
            if section.title:
                parts.append(escape_line(section.title))
            parts.append(_draw_values(columns, _draw_rows(section, columns)))
    parts.extend(_draw_list((*sheet.notes, *sheet.below)))
    for listing in sheet.listings:
        parts.extend(_draw_listing(listing))
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Escape a text within a line of Markdown."""
    pieces = MENTION.split(clean(text))
    return "".join(f"`{piece}`" if i % 2 else SPECIAL.sub(r"\\\g<0>", piece) for i, piece in enumerate(pieces))


def escape_line(text: str) -> str:
    """Escape a text at the beginning of a line of Markdown."""
    first, blank, rest = escape(text).partition(" ")
    if not blank:
        return first
    return STARTING.sub(r"\\\g<0>", first + blank) + rest


def _draw_rows(section: Section, columns: Sequence[str]) -> list[tuple[str, ...]]:
    rows = []
    for row in section.rows:
        cells = []
        for cell in row.select(columns):
            value = STYLES.get(cell.emphasis, "{}").format(cell.value)
            interval = f" {cell.interval}" if cell.interval else ""
            cells.append(value + interval + (f" <sup>{cell.marks}</sup>" if cell.marks else ""))
        rows.append((escape(row.head), *cells))
    return rows


def _draw_values(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(_draw_table(("", *map(escape, columns)), rows, range(1, len(columns) + 1)))


def _draw_table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]) -> Iterator[str]:
    widths = [max(3, *(min(text_width(row[i]), WIDEST) for row in (head, *rows))) for i in range(len(head))]
    rule = ["-" * (width - 1) + (":" if i in right else "-") for i, width in enumerate(widths)]
    for row in (head, rule, *rows):
        cells = (pad(cell, width, right=i in right) for i, (cell, width) in enumerate(zip(row, widths, strict=True)))
        yield f"| {' | '.join(cells)} |"


def _draw_listing(listing: Listing) -> Iterator[str]:
    yield escape_line(listing.title)
    head, *rows = ([escape(cell.strip()) for cell in row] for row in (listing.head, *listing.rows))
    yield "\n".join(_draw_table(head, rows, listing.numeric))
    yield from map(escape_line, listing.lines)


def _draw_list(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield "\n".join(f"- {escape_line(line)}" for line in lines)
