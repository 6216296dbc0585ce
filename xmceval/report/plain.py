"""Plain text: the table for people, one row per metric, one column per cutoff, one section per system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xmceval.report.columns import align_columns
from xmceval.report.comparesheet import build_comparison_sheet
from xmceval.report.comparison import Comparison
from xmceval.report.layout import DEFAULT, Layout
from xmceval.report.result import Result
from xmceval.report.scoresheet import build_sheet
from xmceval.report.sheet import Cell, Listing, Sheet

EMPTY = Cell("")


def render(results: Sequence[Result], layout: Layout = DEFAULT) -> str:
    """Write results as a plain table in percent."""
    return draw(build_sheet(results, layout))


def render_comparison(comparison: Comparison, layout: Layout = DEFAULT) -> str:
    """Write a comparison as plain tables, in percent and percentage points."""
    return draw(build_comparison_sheet(comparison, layout))


def draw(sheet: Sheet) -> str:
    """Draw a sheet as plain text."""
    lines = [*sheet.above, *_draw_table(sheet), *sheet.below]
    for listing in sheet.listings:
        lines.extend(["", *_draw_listing(listing)])
    lines.extend(["", *sheet.verdicts] if sheet.verdicts else [])
    return "\n".join(lines) + "\n"


def _draw_table(sheet: Sheet) -> Iterator[str]:
    indent = max(len(row.head) for section in sheet.sections for row in section.rows)
    widths = {column: _measure_column(sheet, column) for column in sheet.columns}
    yield _draw_row("", {column: Cell(column) for column in sheet.columns}, indent, widths)
    for section in sheet.sections:
        if section.title:
            yield section.title
        yield from (_draw_row(row.head, row.cells, indent, widths) for row in section.rows)
        yield from section.lines


def _measure_column(sheet: Sheet, column: str) -> tuple[int, int]:
    """Return the widths of a column's values, with room for its head and for 100, and of its margins."""
    rows = (row for section in sheet.sections for row in section.rows)
    cells = [row.cells[column] for row in rows if column in row.cells]
    values = max(len(sheet.layout.share(1.0)), len(column), *(len(cell.value) for cell in cells))
    return values, max(len(_draw_margin(cell)) for cell in cells)


def _draw_row(head: str, cells: Mapping[str, Cell], indent: int, widths: Mapping[str, tuple[int, int]]) -> str:
    line = head.ljust(indent)
    for column, (value_width, margin_width) in widths.items():
        cell = cells.get(column, EMPTY)
        line += f"  {cell.value:>{value_width}} {_draw_margin(cell):<{margin_width}}"
    return line.rstrip()


def _draw_margin(cell: Cell) -> str:
    return f"±{cell.margin}" if cell.margin else ""


def _draw_listing(listing: Listing) -> list[str]:
    rows = align_columns(listing.rows, right=listing.numeric)
    return [listing.title, *(f"  {line}" for line in (*rows, *listing.lines))]
