"""HTML: a sheet as a fragment that a notebook shows, in its own fonts and colours, light or dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xmceval.report.forms.layout import Layout
from xmceval.report.forms.markup import Child, Markup, element, join, name, text
from xmceval.report.sheet.model import BEST, EMPTY, SECOND, Cell, Listing, Section, Sheet

LEFT, RIGHT = "text-align: left", "text-align: right; white-space: nowrap"
FAINT = "opacity: 0.7; font-size: 0.9em"


def draw(sheet: Sheet) -> str:
    """Draw a sheet as HTML: tables with captions and heads, and lines of text."""
    parts = [
        _draw_lines(sheet.verdicts),
        *_draw_sections(sheet),
        _draw_lines((*sheet.above, *sheet.notes, *sheet.below)),
        *(_draw_listing(each) for each in sheet.listings),
    ]
    return element("div", parts, class_="xmceval", style="overflow-x: auto")


def draw_listings(listings: Sequence[Listing], layout: Layout) -> str:  # noqa: ARG001 - forms share one signature
    """Draw lists, one below the other."""
    return element("div", map(_draw_listing, listings), class_="xmceval", style="overflow-x: auto")


def _draw_sections(sheet: Sheet) -> Iterator[Markup]:
    """Draw a table of all sections, or one of each with the columns in which it has values."""
    if sheet.is_grouped:
        yield _draw_table("", _draw_heads(sheet, sheet.columns), [_draw_group(each, sheet) for each in sheet.sections])
        return
    for section in sheet.sections:
        columns = section.columns_with_values(sheet.columns)
        yield _draw_table(section.title, _draw_heads(sheet, columns), _draw_rows(section, columns))


def _draw_heads(sheet: Sheet, columns: Sequence[str]) -> list[Markup]:
    """Draw the heads of columns, and above them those that span several."""
    spans = [element("th", text, colspan=size, style="text-align: center") for text, size in sheet.spans_of(columns)]
    heads = (element("th", sheet.head_of(each), scope="col") for each in columns)
    above = [element("tr", element("td"), spans)] if spans else []
    return [*above, element("tr", element("td"), heads, style=RIGHT)]


def _draw_group(section: Section, sheet: Sheet) -> list[Markup]:
    """Draw the rows of a section below its title."""
    title = element("th", section.title, colspan=len(sheet.columns) + 1, scope="rowgroup", style=LEFT)
    return [*([element("tr", title)] if section.title else []), *_draw_rows(section, sheet.columns)]


def _draw_rows(section: Section, columns: Sequence[str]) -> list[Markup]:
    return [
        element(
            "tr",
            element("th", name(row.head), scope="row", style=LEFT),
            (element("td", _draw_cell(row.cells.get(each, EMPTY))) for each in columns),
            style=RIGHT,
        )
        for row in section.rows
    ]


def _draw_cell(cell: Cell) -> Markup:
    """Draw a value with its emphasis, its interval and its letters."""
    tag = {BEST: "b", SECOND: "u"}.get(cell.emphasis)
    value = element(tag, cell.value) if tag else text(cell.value)
    interval = element("span", f" {cell.interval}", style=FAINT) if cell.interval else None
    return join([value, interval, element("sup", cell.marks) if cell.marks else None])


def _draw_listing(listing: Listing) -> Markup:
    rows = [_draw_row("td", row, listing.numeric) for row in listing.body]
    head = _draw_row("th", listing.head, listing.numeric) if listing.head else None
    return join([_draw_table(listing.title, head, rows), _draw_lines(listing.lines)])


def _draw_row(tag: str, row: Sequence[str], numeric: frozenset[int]) -> Markup:
    items = (
        element(tag if each else "td", name(each), style=None if i in numeric else LEFT) for i, each in enumerate(row)
    )
    return element("tr", items, style=RIGHT)


def _draw_table(title: str, head: Child, rows: Child) -> Markup:
    caption = element("caption", title, style=f"{LEFT}; caption-side: top") if title else None
    return element("table", caption, element("thead", head) if head else None, element("tbody", rows))


def _draw_lines(lines: Sequence[str]) -> list[Markup]:
    return [element("div", line) for line in lines]
