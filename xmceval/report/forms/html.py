"""HTML: a sheet as a fragment that a notebook shows on one screen, in its own fonts and colours, light or dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xmceval.errors import counted, listed
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.markup import Child, Markup, element, join, name, text
from xmceval.report.sheet.model import BEST, EMPTY, SECOND, Cell, Listing, Section, Sheet

MOST_SENTENCES, MOST_NOTES = 12, 8  # that are shown; more are folded
MOST_LISTS = 4  # that are folded one by one
MOST_LINES = 24  # of a table in which bins of labels follow all labels
MOST_BESIDE = 8  # columns that have intervals beside their values; where there are more, they are below
ALL_LABELS = "all labels"

LEFT, CENTRE, RIGHT = "text-align: left", "text-align: center", "text-align: right"
TIGHT = "padding: 2px 4px"
WHOLE = f"{TIGHT}; white-space: nowrap"
FAINT = "opacity: 0.7; font-size: 0.85em"
# Heads of rows stay where columns scroll below them, so they need the colour of the notebook behind them.
BACKGROUND = "var(--jp-layout-color0, var(--vscode-editor-background, inherit))"
HEAD = f"{LEFT}; {WHOLE}; position: sticky; left: 0; background: {BACKGROUND}"


def draw(sheet: Sheet) -> str:
    """Draw a sheet as HTML: sentences, the table, and notes; folded what would take more than a screen."""
    parts = [
        _draw_lines(sheet.verdicts, MOST_SENTENCES),
        *_draw_sections(sheet),
        _draw_lines((*sheet.above, *sheet.notes, *sheet.below), MOST_NOTES),
        _fold_listings(sheet.listings),
    ]
    return element("div", parts, class_="xmceval", style="line-height: 1.4")


def draw_listings(listings: Sequence[Listing], layout: Layout) -> str:  # noqa: ARG001 - forms share one signature
    """Draw lists, one below the other."""
    return element("div", (_draw_listing(each, each.title) for each in listings), class_="xmceval")


def _draw_sections(sheet: Sheet) -> Iterator[Markup]:
    """Draw a table of all sections; where it would be long, one of all labels, and folded one of each bin."""
    columns: Sequence[str] = sheet.columns
    first, *bins = sheet.sections
    if bins and not sheet.is_grouped:
        first = replace(first, title=ALL_LABELS)
    if sheet.is_grouped or not bins or _count_lines(sheet) <= MOST_LINES:
        yield _draw_table("", _draw_heads(columns), [_draw_group(each, sheet) for each in (first, *bins)])
        return
    yield _draw_table(first.title, _draw_heads(columns), _draw_rows(first, columns, sheet))
    for each in bins:
        columns = each.columns_with_values(sheet.columns)
        yield _fold(each.title, _draw_table("", _draw_heads(columns), _draw_rows(each, columns, sheet)))


def _count_lines(sheet: Sheet) -> int:
    return (2 if _is_stacked(sheet) else 1) * len(sheet.rows) + len(sheet.sections)


def _is_stacked(sheet: Sheet) -> bool:
    """Return whether intervals are below their values, so that many columns fit beside each other."""
    return sheet.has_intervals and len(sheet.columns) > MOST_BESIDE


def _draw_heads(columns: Sequence[str]) -> list[Markup]:
    """Draw the heads of columns; narrow ones break before the cutoff."""
    words = (column.partition("@") for column in columns)
    heads = (element("th", head, element("wbr"), at + k, scope="col", style=TIGHT) for head, at, k in words)
    return [element("tr", element("td"), heads, style=RIGHT)]


def _draw_group(section: Section, sheet: Sheet) -> list[Markup]:
    """Draw the rows of a section below its title."""
    title = element("th", section.title, colspan=len(sheet.columns) + 1, scope="rowgroup", style=f"{LEFT}; {TIGHT}")
    return [*([element("tr", title)] if section.title else []), *_draw_rows(section, sheet.columns, sheet)]


def _draw_rows(section: Section, columns: Sequence[str], sheet: Sheet) -> list[Markup]:
    between = element("br") if _is_stacked(sheet) else text(" ")
    room = max((len(cell.marks) for row in sheet.rows for cell in row.cells.values()), default=0)
    return [
        element(
            "tr",
            element("th", name(row.head), scope="row", style=HEAD),
            (element("td", _draw_cell(row.cells.get(each, EMPTY), between, room), style=WHOLE) for each in columns),
            style=RIGHT,
        )
        for row in section.rows
    ]


def _draw_cell(cell: Cell, between: Markup, room: int) -> Markup:
    """Draw a value with its emphasis, its interval, and its letters, for which each cell of a table has room."""
    tag = {BEST: "b", SECOND: "u"}.get(cell.emphasis)
    value = element(tag, cell.value) if tag else text(cell.value)
    interval = [between, element("span", cell.interval, style=FAINT)] if cell.interval else None
    place = f"display: inline-block; {LEFT}; font-size: 0.7em; min-width: {room}ch"
    return join([value, interval, element("sup", cell.marks, style=place) if room else None])


def _draw_listing(listing: Listing, title: str) -> Markup:
    """Draw the rows of a list below a title, and its lines."""
    rows = [_draw_row("td", row, listing.numeric) for row in listing.body]
    head = _draw_row("th", listing.head, listing.numeric) if listing.head else None
    return join([_draw_table(title, head, rows) if rows else _draw_lines([title]), _draw_lines(listing.lines)])


def _draw_row(tag: str, row: Sequence[str], numeric: frozenset[int]) -> Markup:
    items = (
        element(tag if each else "td", name(each), style=WHOLE if i in numeric else f"{LEFT}; {TIGHT}")
        for i, each in enumerate(row)
    )
    return element("tr", items, style=RIGHT)


def _draw_table(title: str, head: Child, rows: Child) -> Markup:
    """Draw a table in a box of its own, in which it scrolls where it is wider than the page."""
    caption = element("caption", element("b", title), style=f"{LEFT}; caption-side: top") if title else None
    table = element(
        "table", caption, element("thead", head) if head else None, element("tbody", rows), style="margin: 4px 0"
    )
    return element("div", table, style="overflow: auto; max-height: 50em")


def _fold_listings(listings: Sequence[Listing]) -> list[Markup]:
    """Fold each list below its title; where they are many, all of them once more."""
    drawn = [
        _fold(each.title, _draw_listing(each, "")) if each.rows else _draw_listing(each, each.title)
        for each in listings
    ]
    if len(drawn) <= MOST_LISTS:
        return drawn
    heads = list(dict.fromkeys(each.title.partition(" \N{MIDDLE DOT} ")[0] for each in listings))
    more = ", ..." if len(heads) > MOST_LISTS else ""
    return [_fold(f"{counted(len(drawn), 'list')}: {listed(heads[:MOST_LISTS])}{more}", drawn)]


def _draw_lines(lines: Sequence[str], most: int = MOST_NOTES) -> list[Markup]:
    """Draw lines of text, and fold those that are more than some."""
    drawn = [element("div", line) for line in lines]
    more = drawn[most:]
    return [*drawn[:most], _fold(f"{len(more):,} more", more)] if len(more) > 1 else drawn


def _fold(title: str, content: Child) -> Markup:
    return element("details", element("summary", title, style="cursor: pointer"), content)
