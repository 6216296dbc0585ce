"""Sheet: what a table of results shows, as text in its places; the forms for people only draw it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xmceval.report.layout import DEFAULT, Layout


@dataclass(frozen=True)
class Cell:
    """A value, and the half width of its interval, empty where there is none."""

    value: str
    margin: str = ""


@dataclass(frozen=True)
class Row:
    """A metric and its cells by column."""

    head: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Section:
    """The rows of a system, or of one bin of its labels; the title is empty where there is one system only."""

    title: str
    rows: tuple[Row, ...]
    lines: tuple[str, ...] = ()  # below the rows


@dataclass(frozen=True)
class Listing:
    """A list below the table: a title, and rows of cells; those of the columns in `numeric` are numbers."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset({1})
    lines: tuple[str, ...] = ()  # below the rows


@dataclass(frozen=True)
class Sheet:
    """What a table of results shows.

    Attributes
    ----------
    above : tuple of str
        Lines above the table: what was read.
    columns : tuple of str
        Cutoffs; empty for metrics without one.
    sections : tuple of Section
        One per system and per bin of labels.
    below : tuple of str
        Lines below the table: how it was weighted, and ties.
    listings : tuple of Listing
        Below the table: ranks within published results; differences of pairs of systems.
    layout : Layout
        How it looks.
    verdicts : tuple of str
        What a comparison comes to, one sentence per pair and metric.
    """

    above: tuple[str, ...]
    columns: tuple[str, ...]
    sections: tuple[Section, ...]
    below: tuple[str, ...]
    listings: tuple[Listing, ...] = ()
    layout: Layout = DEFAULT
    verdicts: tuple[str, ...] = ()
