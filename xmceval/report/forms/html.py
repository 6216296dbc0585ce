"""HTML: a sheet as plain tables for a notebook, in its own fonts and colours, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xmceval.report.forms.layout import Layout
from xmceval.report.forms.markup import Child, Markup, element, join, name
from xmceval.report.sheet.model import BEST, EMPTY, SECOND, Cell, Listing, Section, Sheet

TAGS = {BEST: "b", SECOND: "u"}
LEFT, RIGHT = "text-align: left", "text-align: right"


def draw(sheet: Sheet) -> str:
    """Draw the verdicts, one table of all sections, the notes and the lists."""
    heads = element("tr", element("td"), (element("th", column, scope="col") for column in sheet.columns), style=RIGHT)
    body = (_draw_section(section, sheet.columns) for section in sheet.sections)
    parts = [
        _draw_lines((*sheet.verdicts, *sheet.above)),
        element("table", element("thead", heads), element("tbody", body)),
        _draw_lines((*sheet.notes, *sheet.below)),
        (_draw_listing(listing) for listing in sheet.listings),
    ]
    return element("div", parts)


def draw_listings(listings: Sequence[Listing], layout: Layout) -> str:  # noqa: ARG001 - forms share one signature
    """Draw lists, one below the other."""
    return element("div", (_draw_listing(listing) for listing in listings))


def _draw_section(section: Section, columns: Sequence[str]) -> Iterator[Markup]:
    if section.title:
        title = element("th", section.title, colspan=len(columns) + 1, scope="rowgroup", style=LEFT)
        yield element("tr", title)
    for row in section.rows:
        head = element("th", name(row.head), scope="row", style=LEFT)
        cells = (element("td", _draw_cell(row.cells.get(column, EMPTY))) for column in columns)
        yield element("tr", head, cells, style=RIGHT)


def _draw_cell(cell: Cell) -> Markup:
    value = element(TAGS[cell.emphasis], cell.value) if cell.emphasis else cell.value
    interval = f"\N{NO-BREAK SPACE}{cell.interval}" if cell.interval else None
    return join([value, interval, element("sup", cell.marks) if cell.marks else None])


def _draw_listing(listing: Listing) -> Markup:
    """Draw a list as a table below its title, and its lines."""
    head = element("tr", _draw_items("th", listing.head, listing)) if listing.head else None
    rows: Child = (element("tr", _draw_items("td", row, listing)) for row in listing.body)
    table = element("table", element("thead", head) if head else None, element("tbody", rows))
    title = [listing.title] if listing.title else []
    return join([_draw_lines(title), table if listing.rows else None, _draw_lines(listing.lines)])


def _draw_items(tag: str, row: Sequence[str], listing: Listing) -> Iterator[Markup]:
    for column, item in enumerate(row):
        yield element(tag, name(item), style=RIGHT if column in listing.numeric else LEFT)


def _draw_lines(lines: Iterable[str]) -> list[Markup]:
    return [element("div", line) for line in lines]
