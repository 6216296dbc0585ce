"""The Sheet class: a table as cells of text, which report/forms lays out as plain text, Markdown, LaTeX or HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, TypeVar

from xmceval.errors import UsageError, argument
from xmceval.metrics.measure import Measure
from xmceval.rows.nouns import Nouns
from xmceval.scoring.options import chosen, option, specs

if TYPE_CHECKING:
    from xmceval.scoring.summary import Value

T = TypeVar("T")

WIDTH = 80  # columns of tables in Python, and of text where the width of the terminal is not known
LONGEST = 110  # columns of text in files and pipes
PLACES = 2  # decimal places of percentages and of values that are not shares
MORE_IN_FRACTIONS = 2  # decimal places, so that 0.6860 has the digits of 68.60
MOST_PLACES = 12
ROUNDING = 1e-9  # tolerance for the middle of an interval, as a share of its width

MINUS = "\N{MINUS SIGN}"
BEST = "best"
SECOND = "second"
UP = "\N{BLACK UP-POINTING TRIANGLE}"
DOWN = "\N{BLACK DOWN-POINTING TRIANGLE}"
SD = "\N{PLUS-MINUS SIGN} "  # before a standard deviation; half an interval follows ± at once
SUSPECT = "!"  # marks published rows with suspect values
PUBLISHED_SIGN = "\N{BLACK DIAMOND SUIT}"  # after the name of a system
NO_VALUE = "\N{EN DASH}"  # in place of a value
ASCII_SIGNS = {PUBLISHED_SIGN: "*", NO_VALUE: "-"}  # where the output has no such signs
ASCII_MARKS = {UP: "+", DOWN: "-"}  # where the output has no such signs


@dataclass(frozen=True)
class Cell:
    """A value of a table."""

    value: str
    interval: str = ""  # ± and its half width, or both ends if asymmetric; or ± and the sd over runs, after a blank
    emphasis: str = ""  # BEST or SECOND of its metric
    # The letters of the systems that it is significantly better than; with a common baseline UP or DOWN, or one of
    # ASCII_MARKS, where it is significantly better or worse than that.
    marks: str = ""


EMPTY = Cell("")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a table for people looks; affects no numbers, and neither JSON nor CSV."""

    places: int | None = option(
        None,
        "Output",
        "Decimal places.  [default: 2, or 4 for fractions]",
        kind=int,
        low=0,
        high=MOST_PLACES,
        metavar="N",
    )
    # None: in percent, but where rows are queries as fractions
    percent: bool | None = option(
        None,
        "Output",
        "Show shares in percent or as fractions.  [default: percent, for qrels fraction]",
        kind=bool,
        flags=("--percent/--fraction",),
    )
    # None: shown for one truth, but not in LaTeX; for several data sets only in wide plain tables.
    intervals: bool | None = option(
        None, "Output", "Show or hide 95% confidence intervals.", kind=bool, flags=("--intervals/--no-intervals",)
    )
    pairs: bool = option(
        False, "Output", "Also show each run, and the difference of each pair with p, wins and losses.", kind=bool
    )
    transpose: bool = False  # systems are columns and metrics are rows
    caption: str | None = option(None, "Output", "Caption of the table, in LaTeX, for -o latex.", metavar="TEXT")
    label: str | None = option(None, "Output", "Label of the table, such as tab:main, for -o latex.", metavar="TEXT")
    is_quiet: bool = False  # whether facts are left out, such as how rows count and where scores tie
    is_verbose: bool = False  # whether the labels with the least and the greatest F1 are shown
    width: int = WIDTH  # columns of the terminal, to which plain tables are wrapped
    is_terminal: bool = False  # there sentences are wrapped at its width, elsewhere only long ones
    is_styled: bool = False  # whether it shows bold and underlined text
    is_unicode: bool = True  # whether it shows signs beyond ASCII

    def __post_init__(self) -> None:
        if self.places is not None:
            specs(type(self))["places"].check_whole("places", self.places)
        for name, text in (("caption", self.caption), ("label", self.label)):
            bare = re.sub(r"\\.", "", text or "")
            if "%" in bare or bare.endswith("\\") or bare.count("{") != bare.count("}"):
                raise UsageError(
                    f"{argument(name)} is LaTeX, and {text!r} would not end where it should "
                    r"(hint: write \% for %, and close each brace)"
                )

    @classmethod
    def of(cls, arguments: Mapping[str, Any], **terminal: Any) -> Layout:
        """Take the options of the layout from a function's arguments; `terminal` has its width and style."""
        return cls(**chosen(cls, arguments), **terminal)

    def settle(self, nouns: Nouns) -> Layout:
        """Return the layout with the unit of shares: as asked for, else fractions for queries and percent otherwise."""
        if self.percent is not None:
            return self
        return replace(self, percent=not nouns.are_of_queries)

    @property
    def is_in_percent(self) -> bool:
        """Whether shares are in percent."""
        return self.percent is not False

    def spec(self, unit: str) -> str:
        """Return the format of values in a unit: ``.2%`` for shares in percent, whose sign `write` leaves out."""
        if unit == "cells":
            return ",.0f"
        is_percent = unit == "share" and self.is_in_percent
        places = self.places
        if places is None:
            places = PLACES
            if unit == "share" and not is_percent:
                places += MORE_IN_FRACTIONS
        return f".{places}%" if is_percent else f".{places}f"

    def format(self, measure: Measure, value: float) -> str:
        """Format a value: shares in percent or as fractions, counts unchanged."""
        return write(value, self.spec(measure.metric.unit))

    def cells(self, figures: Sequence[Value]) -> list[tuple[Cell, Cell | None]]:
        """Return for each value its cell, with the interval if it is shown, and the cell of its ceiling, if it has one.

        An interval is ± its half width, or both ends if it is asymmetric; in its place a mean over runs has ± sd,
        unless intervals are asked for. A missing value is a dash.
        """
        cells = list[tuple[Cell, Cell | None]]()
        formats = {unit: self.spec(unit) for unit in {figure.measure.metric.unit for figure in figures}}
        missing = self.sign(NO_VALUE)
        for figure in figures:
            estimate = figure.estimate
            spec = formats[figure.measure.metric.unit]
            value = estimate.value
            low = estimate.low
            high = estimate.high
            interval = ""
            if low is not None and high is not None and self.intervals is not False:
                interval = f"±{high - value:{spec}}"
                if not is_symmetric(value, low, high):
                    interval = f"{low:{spec}}..{high:{spec}}"
            shown = missing
            if not math.isnan(value):
                shown = f"{value:{spec}}"
                if estimate.sd is not None and not self.intervals:
                    interval = f"{SD}{estimate.sd:{spec}}"
            ceiling = None
            if estimate.ceiling is not None:
                ceiling = Cell(f"{estimate.ceiling:{spec}}".replace("%", ""))
            cells.append((Cell(shown.replace("%", ""), interval.replace("%", "")), ceiling))
        return cells

    def sign(self, sign: str) -> str:
        """Return a sign, or its substitute in an output without such signs."""
        return sign if self.is_unicode else ASCII_SIGNS[sign]


def write(value: float, spec: str) -> str:
    """Write a value in a format of `Layout.spec`."""
    return f"{value:{spec}}".removesuffix("%")


def is_symmetric(value: float, low: float, high: float) -> bool:
    """Return whether a value is in the middle of its interval, up to rounding."""
    return abs(high + low - 2 * value) <= ROUNDING * (high - low)


DEFAULT = Layout()


@dataclass(frozen=True)
class Row:
    """The cells of a metric or a system by column, or of its ceiling; `ceiling_of` is empty if all systems share it."""

    head: str
    cells: Mapping[str, Cell]
    ceiling_of: str | None = None

    def select(self, columns: Iterable[str]) -> list[Cell]:
        """Return the cells of some columns, empty ones where it has no value."""
        return [self.cells.get(column, EMPTY) for column in columns]


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
    """A list below the table: a title, the names of the columns, and rows of cells."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset({1})  # the columns of numbers
    lines: tuple[str, ...] = ()  # below the rows
    detected: frozenset[int] = frozenset()  # rows with a detected difference, which a page shows in bold


@dataclass(frozen=True)
class Sheet:
    """The content of a table of results, as text."""

    above: tuple[str, ...]  # lines above the table, about the inputs
    columns: tuple[str, ...]  # cutoffs for one system, empty for metrics without one; metrics with cutoffs for several
    sections: tuple[Section, ...]  # all labels first, then each bin of labels
    below: tuple[str, ...]  # lines below the table: how it was weighted, and ties
    listings: tuple[Listing, ...] = ()  # below the table: differences of pairs of systems
    layout: Layout = DEFAULT
    verdicts: tuple[str, ...] = ()  # the outcome of a comparison, in sentences
    notes: tuple[str, ...] = ()  # explain the signs of the table: which metrics are better if lower, and letters
    groups: tuple[int, ...] = ()  # numbers of consecutive columns that belong together, for wrapping; empty: none do
    # By column the name that it shares with others, above its own: a data set and a metric. Other columns have none.
    heads: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    is_grouped: bool = False  # whether sections, such as data sets, share one table; else each section is a table

    @property
    def rows(self) -> list[Row]:
        """The rows of all sections."""
        return [row for section in self.sections for row in section.rows]

    def head_of(self, column: str) -> str:
        """Return what a column is called below the name that it shares with others."""
        return self.heads.get(column, ("", column))[1]

    def shared_heads(self, columns: Sequence[str]) -> list[tuple[str, list[str]]]:
        """Return the names that consecutive columns share, each with its columns; empty if no names are shared."""
        if not self.heads:
            return []
        runs = groupby(columns, lambda column: self.heads[column][0])
        return [(shared, list(of_name)) for shared, of_name in runs]

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
            block = []
            used = 0
        if width > available and size > 1:  # such a group has its own blocks
            names, group_widths = zip(*group, strict=True)
            yield from split_columns(names, group_widths, available)
            continue
        block.extend(name for name, _ in group)
        used += width
    if block:
        yield tuple(block)
