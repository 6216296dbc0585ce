"""The Sheet class, a table of results as text in cells, which the formats for people only lay out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from xmceval.report.forms.layout import DEFAULT, Layout

T = TypeVar("T")

MINUS = "\N{MINUS SIGN}"
BEST, SECOND = "best", "second"
UP, DOWN = "\N{BLACK UP-POINTING TRIANGLE}", "\N{BLACK DOWN-POINTING TRIANGLE}"
SUSPECT = "!"  # marks published rows with suspect values
PUBLISHED_SIGN, NO_VALUE = "\N{BLACK DIAMOND SUIT}", "\N{EN DASH}"  # after the name of a system; in place of a value
ASCII_SIGNS = {PUBLISHED_SIGN: "*", NO_VALUE: "-"}  # where the output has no such signs
ASCII_MARKS = {UP: "+", DOWN: "-"}  # where the output has no such signs


@dataclass(frozen=True)
class Cell:
    """A value of a table."""

    value: str
    interval: str = ""  # ± and its half width, or both ends if asymmetric
    emphasis: str = ""  # BEST or SECOND of its metric
    # The letters of the systems that it is significantly better than; with a common baseline UP or DOWN, or one of
    # ASCII_MARKS, where it is significantly better or worse than that.
    marks: str = ""


EMPTY = Cell("")


@dataclass(frozen=True)
class Row:
    """A metric or a system, and its cells by column; or its ceiling, which may be that of all systems: of ``""``."""

    head: str
    cells: Mapping[str, Cell]
    ceiling_of: str | None = None


@dataclass(frozen=True)
class Section:
    """Rows over all labels, or of one bin of labels, which has a title and a name."""

    title: str
    rows: tuple[Row, ...]
    name: str = ""

    def rows_with(self, columns: Collection[str]) -> list[Row]:
        """Return the rows with a value in any of these columns."""
        return [row for row in self.rows if not row.cells.keys().isdisjoint(columns)]

    def columns_with_values(self, columns: Sequence[str]) -> list[str]:
        """Return the columns in which any row has a value."""
        return [name for name in columns if self.rows_with([name])]


@dataclass(frozen=True)
class Listing:
    """A list below the table: a title, and rows of cells."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset({1})  # the columns of numbers
    lines: tuple[str, ...] = ()  # below the rows
    has_head: bool = False  # whether the first row names the columns
    detected: frozenset[int] = frozenset()  # rows of the body with a detected difference, which a page shows in bold

    @property
    def head(self) -> tuple[str, ...]:
        """The names of the columns; empty if they have none."""
        return self.rows[0] if self.has_head else ()

    @property
    def body(self) -> tuple[tuple[str, ...], ...]:
        """The rows below the head."""
        return self.rows[1:] if self.has_head else self.rows


@dataclass(frozen=True)
class Sheet:
    """The content of a table of results, as text."""

    above: tuple[str, ...]  # lines above the table, about the inputs
    columns: tuple[str, ...]  # of one system cutoffs, empty for metrics without one; of several metrics with cutoffs
    sections: tuple[Section, ...]  # all labels first, then each bin of labels
    below: tuple[str, ...]  # lines below the table: how it was weighted, and ties
    listings: tuple[Listing, ...] = ()  # below the table: differences of pairs of systems
    layout: Layout = DEFAULT
    verdicts: tuple[str, ...] = ()  # the outcome of a comparison, in sentences
    notes: tuple[str, ...] = ()  # explain the signs of the table: which metrics are better if lower, and letters
    groups: tuple[int, ...] = ()  # numbers of consecutive columns that belong together, for wrapping; empty: none do
    is_grouped: bool = False  # whether sections, such as data sets, share one table; else each section is a table

    @property
    def rows(self) -> list[Row]:
        """The rows of all sections."""
        return [row for section in self.sections for row in section.rows]

    def cells_of(self, column: str) -> list[Cell]:
        """Return the cells of a column."""
        return [row.cells[column] for row in self.rows if column in row.cells]


def transpose(sheet: Sheet) -> Sheet:
    """Return a sheet with the rows of its table as columns."""
    heads = tuple(dict.fromkeys(row.head for row in sheet.rows))
    sections = []
    for section in sheet.sections:
        rows = {
            name: {row.head: row.cells[name] for row in section.rows if name in row.cells} for name in sheet.columns
        }
        sections.append(replace(section, rows=tuple(Row(name, cells) for name, cells in rows.items() if cells)))
    return replace(sheet, columns=heads, sections=tuple(sections), groups=())


def split_columns(
    columns: Sequence[T], widths: Sequence[int], available: int, groups: Sequence[int] = ()
) -> Iterator[tuple[T, ...]]:
    """Yield the columns of each block of a table that is too wide; groups, as in Sheet, stay together if they fit."""
    rest = iter(zip(columns, widths, strict=True))
    block: list[T] = []
    used = 0
    for size in groups or [1] * len(columns):
        group = list(islice(rest, size))
        width = sum(column_width for _, column_width in group)
        if block and used + width > available:
            yield tuple(block)
            block, used = [], 0
        if width > available:  # such a group has its own blocks
            names, group_widths = zip(*group, strict=True)
            yield from [names] if size == 1 else split_columns(names, group_widths, available)
            continue
        block.extend(name for name, _ in group)
        used += width
    if block:
        yield tuple(block)
