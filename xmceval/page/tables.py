"""Draw sheets as HTML tables that can be scrolled with the keyboard, on a page or alone in a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from xmceval.report.forms.html import Child, Markup, element, isolate, join, name, raw
from xmceval.report.sheet import BEST, SD, SECOND, Cell, Listing, Row, Section, Sheet, split_columns

WIDEST = 88  # characters of values that fit on an A4 page
TAGS = {BEST: "b", SECOND: "u"}
# Of a fragment in a notebook, whose own style aligns cells to the right.
STYLE = (
    ".xmceval th, .xmceval td { text-align: left; } .xmceval .number { text-align: right; white-space: nowrap; } "
    ".xmceval sup { display: inline-block; text-align: left; } .xmceval .scroll { overflow-x: auto; } "
    ".xmceval ul { list-style: none; padding: 0; }"
)


def draw(sheet: Sheet) -> str:
    """Draw a fragment for notebooks: the verdicts, one table of all sections, the notes and the lists."""
    room = _find_room(sheet.rows)
    rows = []
    for section in sheet.sections:
        if section.title:
            title = element("th", section.title, colspan=len(sheet.columns) + 1, scope="rowgroup")
            rows.append(element("tr", title))
        rows += [_draw_row(row, sheet.columns, room) for row in section.rows]
    parts = [
        element("style", raw(STYLE)),
        draw_lines((*sheet.verdicts, *sheet.above), "lines"),
        _draw_table(None, "", sheet.columns, range(len(sheet.columns)), rows, "All values"),
        draw_lines((*sheet.notes, *sheet.below), "lines"),
        draw_listings(sheet.listings, [row.head for row in sheet.rows]),
    ]
    return element("div", parts, class_="xmceval")


def draw_section(section: Section, sheet: Sheet, unit: str) -> Markup:
    """Draw the values over all labels or in a bin, in blocks that fit on paper and keep a metric together."""
    columns = section.columns_with_values(sheet.columns)
    following = iter(sheet.columns)
    sizes = sheet.groups or [1] * len(sheet.columns)
    groups = [sum(column in columns for column in islice(following, size)) for size in sizes]
    room = _find_room(section.rows)
    widths = [_measure(column, section) + room for column in columns]
    drawn = []
    for i, block in enumerate(split_columns(columns, widths, WIDEST, list(filter(None, groups)))):
        rows = [_draw_row(row, block, room) for row in section.rows_with(block)]
        caption = None if i else separate([section.title, _explain(section, unit)], ". ")
        label = f"{section.title or 'All values'}, {block[0]} to {block[-1]}"
        drawn.append(_draw_table(caption, "", block, range(len(block)), rows, label))
    return join(drawn)


def _find_room(rows: Iterable[Row]) -> int:
    """Return the characters of the longest marks."""
    return max((len(cell.marks) for row in rows for cell in row.cells.values()), default=0)


def _measure(column: str, section: Section) -> int:
    """Estimate the characters that a column and its gap take; intervals are in small print."""
    cells = [row.cells[column] for row in section.rows if column in row.cells]
    return 2 + max(max(len(cell.value), round(0.8 * len(cell.interval))) for cell in cells)


def _draw_row(row: Row, columns: Sequence[str], room: int) -> Markup:
    cells = [element("td", _draw_cell(cell, room), class_="number") for cell in row.select(columns)]
    head = element("th", _write_head(row.head), scope="row")
    return element("tr", head, cells, class_=None if row.ceiling_of is None else "ceiling")


def _write_head(words: str) -> Markup:
    """Write the heading of a row, mostly a name, which may break after an underscore."""
    return element("bdi", separate(re.split("(?<=_)(?=[^_])", words), element("wbr")))


def _draw_cell(cell: Cell, room: int) -> list[Child]:
    """Draw a value with its emphasis and marks, for which each cell has `room`, and its interval below."""
    value: Child = cell.value
    if cell.emphasis:
        value = element(TAGS[cell.emphasis], cell.value)
    if cell.interval:
        value = [value, " ", element("span", cell.interval, class_="interval")]
    drawn: list[Child] = [element("span", value, class_="value")]
    if room:
        drawn.append(element("sup", cell.marks, style=f"min-width: {room}ch"))
    return drawn


def _explain(section: Section, unit: str) -> Markup:
    """Explain the unit of values, the lines below them, and how the best values are marked."""
    cells = [cell for row in section.rows for cell in row.cells.values()]
    emphases = {cell.emphasis for cell in cells}
    words: list[Child] = [unit]
    if any(cell.interval.startswith(SD) for cell in cells):
        words.append("± is the standard deviation over runs")
    elif any(cell.interval.startswith("±") for cell in cells):
        words.append("± is half the 95% interval")
    if any(".." in cell.interval for cell in cells):
        words.append("a..b is the 95% interval")
    if BEST in emphases:
        words.append(["the ", element("b", "best"), " value is bold"])
    if SECOND in emphases:
        words.append(["the ", element("u", "second"), " is underlined"])
    return separate(words, "; ")


def draw_listings(listings: Iterable[Listing], names: Sequence[str] = ()) -> Markup:
    """Draw lists, side by side if there is room; draw nothing if there are none."""
    drawn = [element("div", _draw_listing(listing, names)) for listing in listings]
    if not drawn:
        return Markup("")
    return element("div", drawn, class_="lists")


def _draw_listing(listing: Listing, names: Sequence[str]) -> Markup:
    """Draw a list: title, table with the first number bold if a difference was detected, then its lines."""
    lines = draw_lines((write_sentence(line, names) for line in listing.lines), "lines")
    first, *heads = listing.head
    rows = []
    for i, (head, *texts) in enumerate(listing.rows):
        cells = [element("td")]
        if head:
            cells = [element("th", _write_head(head), scope="row")]
        for j, text in enumerate(texts, 1):
            if j not in listing.numeric:
                cells.append(element("td", name(text)))
            elif j == 1 and i in listing.detected:
                cells.append(element("td", element("b", text), class_="number"))
            else:
                cells.append(element("td", text, class_="number"))
        rows.append(element("tr", cells))
    numeric = [column - 1 for column in listing.numeric]
    return join([_draw_table(write_title(listing.title, names), first, heads, numeric, rows, listing.title), lines])


def _draw_table(
    caption: Child, first: str, heads: Sequence[str], numeric: Iterable[int], rows: Sequence[Markup], label: str
) -> Markup:
    """Draw a table in a box that scrolls if it is too wide; `first` is the heading above the row headings."""
    cells = [_draw_head(head, is_number=i in numeric) for i, head in enumerate(heads)]
    table = element(
        "table",
        element("caption", caption) if caption else None,
        element("thead", element("tr", _draw_head(first, is_number=False), cells)) if any((first, *heads)) else None,
        element("tbody", rows),
    )
    return element("div", table, class_="scroll", role="group", tabindex="0", aria_label=label)


def _draw_head(head: str, *, is_number: bool) -> Markup:
    """Draw the heading of a column, which may break before its cutoff; an empty text gives a plain cell."""
    if not head.strip():
        return element("td")
    words, at, cutoff = head.partition("@")
    content: Child = name(head)
    if words and at:
        content = [name(words), element("wbr"), at + cutoff]
    return element("th", content, scope="col", class_="number" if is_number else None)


def write_title(line: str, names: Sequence[str]) -> Markup:
    """Capitalise a line of the sheet, unless it begins with a name."""
    if not any(re.match(rf"{re.escape(word)}(?!\w)", line) for word in names):
        line = line[:1].upper() + line[1:]
    return isolate(line, names)


def write_sentence(line: str, names: Sequence[str]) -> Markup:
    """Write a line of the sheet as a sentence, with a full stop, and a capital unless it begins with a name."""
    return join([write_title(line, names), "."])


def draw_lines(lines: Iterable[Child], class_: str) -> Markup:
    """Draw lines as a list; draw nothing if there are none."""
    items = [element("li", line) for line in lines]
    if not items:
        return Markup("")
    return element("ul", items, class_=class_)


def fold(title: Child, content: Child) -> Markup:
    """Draw a title with folded content that a reader can open; on paper it is open."""
    return element("details", element("summary", title), content)


def separate(parts: Iterable[Child], separator: str) -> Markup:
    """Join the non-empty parts with a separator."""
    return Markup(join(separator).join(join(part) for part in parts if part))
