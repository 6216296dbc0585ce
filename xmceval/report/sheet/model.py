"""Sheet: what a table of results shows, as text in its places; the forms for people only draw it."""

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
    """A value of a table.

    Attributes
    ----------
    value : str
    interval : str
        ± and its half width, or both ends where it is not symmetric; empty where there is none.
    emphasis : str
        ``best`` or ``second`` of its metric, else empty.
    marks : str
        The letters of the systems that it is significantly better than; with a common baseline UP or DOWN, or one of
        ASCII_MARKS, where it is significantly better or worse than that.
    """

    value: str
    interval: str = ""
    emphasis: str = ""
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
        """Return the rows that have a value in any of these columns."""
        return [row for row in self.rows if not row.cells.keys().isdisjoint(columns)]

    def columns_with_values(self, columns: Sequence[str]) -> list[str]:
        """Return those of these columns in which any row has a value."""
        return [name for name in columns if self.rows_with([name])]


@dataclass(frozen=True)
class Listing:
    """A list below the table: a title, and rows of cells.

    Attributes
    ----------
    title : str
    rows : tuple of tuple of str
    numeric : frozenset of int
        The columns of numbers.
    lines : tuple of str
        Below the rows.
    has_head : bool
        Whether the first row names the columns.
    detected : frozenset of int
        The rows of the body with a difference that was detected, which a page shows in bold.
    """

    title: str
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset({1})
    lines: tuple[str, ...] = ()
    has_head: bool = False
    detected: frozenset[int] = frozenset()

    @property
    def head(self) -> tuple[str, ...]:
        """The names of the columns; empty where they have none."""
        return self.rows[0] if self.has_head else ()

    @property
    def body(self) -> tuple[tuple[str, ...], ...]:
        """The rows below the head."""
        return self.rows[1:] if self.has_head else self.rows


@dataclass(frozen=True)
class Sheet:
    """What a table of results shows.

    Attributes
    ----------
    above : tuple of str
        Lines above the table: what was read.
    columns : tuple of str
        Of one system cutoffs, empty for metrics without one; of several systems metrics with their cutoffs.
    sections : tuple of Section
        All labels first, then each bin of labels.
    below : tuple of str
        Lines below the table: how it was weighted, and ties.
    listings : tuple of Listing
        Below the table: differences of pairs of systems.
    layout : Layout
        How it looks.
    verdicts : tuple of str
        What a comparison comes to, in sentences.
    notes : tuple of str
        Lines that explain the signs of the table: which metrics are better where they are lower, and letters.
    groups : tuple of int
        How many consecutive columns belong together, where a table is wrapped; empty: each is alone.
    is_grouped : bool
        Whether the sections are groups of rows in one table, such as data sets, each below its title; else each is a
        table.
    """

    above: tuple[str, ...]
    columns: tuple[str, ...]
    sections: tuple[Section, ...]
    below: tuple[str, ...]
    listings: tuple[Listing, ...] = ()
    layout: Layout = DEFAULT
    verdicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()
    is_grouped: bool = False

    @property
    def rows(self) -> list[Row]:
        """The rows of all sections."""
        return [row for section in self.sections for row in section.rows]

    @property
    def has_intervals(self) -> bool:
        """Whether any value has an interval beside it."""
        return any(cell.interval for row in self.rows for cell in row.cells.values())

    def cells_of(self, column: str) -> list[Cell]:
        """Return the cells of a column."""
        return [row.cells[column] for row in self.rows if column in row.cells]


def transpose(sheet: Sheet) -> Sheet:
    """Return a sheet with the rows of its table as columns."""
    heads = tuple(dict.fromkeys(row.head for row in sheet.rows))
    sections = tuple(_transpose_section(section, sheet.columns) for section in sheet.sections)
    return replace(sheet, columns=heads, sections=sections, groups=())


def _transpose_section(section: Section, columns: Sequence[str]) -> Section:
    cells = {column: {row.head: row.cells[column] for row in section.rows if column in row.cells} for column in columns}
    return replace(section, rows=tuple(Row(column, own) for column, own in cells.items() if own))


def split_columns(
    columns: Sequence[T], widths: Sequence[int], available: int, groups: Sequence[int] = ()
) -> Iterator[tuple[T, ...]]:
    """Yield the columns of each block of a table that is too wide; groups stay together where they fit.

    Parameters
    ----------
    columns : sequence
    widths : sequence of int
        Of the columns.
    available : int
        The width of a block.
    groups : sequence of int
        How many consecutive columns belong together; empty: each is alone.
    """
    rest = iter(zip(columns, widths, strict=True))
    block: list[T] = []
    used = 0
    for size in groups or [1] * len(columns):
        group = list(islice(rest, size))
        width = sum(each for _, each in group)
        if block and used + width > available:
            yield tuple(block)
            block, used = [], 0
        if width > available:  # such a group has blocks of its own
            names, own_widths = zip(*group, strict=True)
            yield from [names] if size == 1 else split_columns(names, own_widths, available)
            continue
        block.extend(name for name, _ in group)
        used += width
    if block:
        yield tuple(block)
