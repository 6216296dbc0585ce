"""Table plan: where the columns of a LaTeX table stand, in blocks below each other where it is wider than the text.

All lengths are in points, of an article of 10 points whose tables are small.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, zip_longest
from typing import TypeVar

from xmceval.report.forms.latextext import BOLD, measure_text
from xmceval.report.sheet.model import ASCII_MARKS, BEST, PUBLISHED_SIGN, Cell, Sheet, split_columns

T = TypeVar("T")

TEXT_WIDTH = 397  # 5.5 inches
GAPS = (12, 10, 8, 6)  # between columns: the widest with which the table is one block, or else the last
MORE = 4  # before a family of columns
LONGEST_HEAD = 150  # wider names of systems are wrapped
SLACK, MORE_IN_BOLD = 12, 6  # of columns of siunitx, which have no room of their own for bold numbers
LEAST = 3  # between a mark and the next column
SCRIPT, MARK = 0.85, 0.8  # of the width of small text: intervals, and letters that are raised
SIGN_WIDTH = 4.0


@dataclass(frozen=True)
class TablePlan:
    """Where the columns of a table stand.

    Attributes
    ----------
    blocks : tuple of tuple of str
        The columns of each block.
    wide : frozenset of int
        The places, counted from 0, before which there is more room.
    gap : int
        Between columns.
    mark : int
        The room of marks after the last column.
    width : int
        Of the whole table, about.
    """

    blocks: tuple[tuple[str, ...], ...]
    wide: frozenset[int]
    gap: int
    mark: int
    width: int

    @property
    def n_places(self) -> int:
        """How many columns the widest block has, beside that of the heads of rows."""
        return max(map(len, self.blocks))

    def trims(self, first: int, last: int) -> tuple[float, float]:
        """Return what a rule above the places from first to last leaves out at its left and right end."""
        left = 0 if first in self.wide else self.gap / 2
        if last + 1 == self.n_places:
            return left, self.mark
        return left, self.gap + MORE if last + 1 in self.wide else self.gap / 2


def plan_table(sheet: Sheet) -> TablePlan:
    """Plan the table of a sheet, with as few blocks as possible: of several data sets one per family of metrics."""
    mark = max((measure_marks(cell.marks) for row in sheet.rows for cell in row.cells.values()), default=0.0)
    slack = 0 if not sheet.layout.siunitx else SLACK
    fixed = math.ceil(slack + mark + max(measure_head(row.head.removesuffix(PUBLISHED_SIGN)) for row in sheet.rows))
    widths = _measure_columns(sheet)
    pieces = _split_pieces(sheet)
    orders = [*([_sort_by_family(sheet, pieces)] if sheet.spans else []), [pieces]]
    gaps = dict.fromkeys(math.ceil(max(gap, mark + LEAST)) for gap in GAPS)
    plans = [_plan_parts(parts, widths, gap, math.ceil(mark), fixed) for parts in orders for gap in gaps]
    return min(plans, key=lambda plan: len(plan.blocks))


def _plan_parts(
    parts: Sequence[Sequence[tuple[str, ...]]], widths: Mapping[str, float], gap: int, mark: int, fixed: int
) -> TablePlan:
    """Plan a table of parts that begin a block each; `fixed` is the width of all that is not a column of values."""
    pieces = [piece for part in parts for piece in part]
    more = MORE if len(pieces) > 1 and any(len(piece) > 1 for piece in pieces) else 0
    lengths = {name: round(widths[name] + gap) + more * (i == 0) for piece in pieces for i, name in enumerate(piece)}
    blocks = split_aligned(parts, lengths, max(TEXT_WIDTH - fixed, TEXT_WIDTH // 3))
    wide = _find_wide(blocks, {piece[0] for piece in pieces}) if more else frozenset()
    return TablePlan(tuple(blocks), wide, gap, mark, min(fixed + _measure_places(blocks, lengths), TEXT_WIDTH))


def split_aligned(
    parts: Sequence[Sequence[tuple[T, ...]]], lengths: Mapping[T, int], available: int
) -> list[tuple[T, ...]]:
    """Split columns into blocks below each other, as few as possible and of about the same width.

    Columns at the same place are as wide as the widest.

    Parameters
    ----------
    parts : sequence of sequence of tuple
        Each begins a new block, and has pieces, whose columns stay together where they fit.
    lengths : mapping
        By column.
    available : int
        The width of a block.
    """
    best: list[tuple[T, ...]] = []
    for room in range(available, 0, -1):
        blocks = [block for pieces in parts for block in _split(pieces, lengths, room)]
        if best and len(blocks) > len(best):
            break
        if _measure_places(blocks, lengths) <= available or max(map(len, blocks)) == 1:
            best = blocks
    return best


def _measure_places(blocks: Sequence[tuple[T, ...]], lengths: Mapping[T, int]) -> int:
    places = zip_longest(*([lengths[column] for column in block] for block in blocks), fillvalue=0)
    return sum(map(max, places))


def _split(pieces: Sequence[tuple[T, ...]], lengths: Mapping[T, int], room: int) -> list[tuple[T, ...]]:
    columns = [column for piece in pieces for column in piece]
    return list(split_columns(columns, [lengths[column] for column in columns], room, [len(each) for each in pieces]))


def measure_head(text: str) -> float:
    """Return about how many points wide the head of a row or a column is; a longer one is wrapped."""
    return min(measure_text(text), LONGEST_HEAD)


def is_long(text: str) -> bool:
    """Return whether a head is wrapped."""
    return measure_text(text) > LONGEST_HEAD


def measure_marks(marks: str) -> float:
    """Return about how many points wide the marks of a value are."""
    return SIGN_WIDTH if marks in {*ASCII_MARKS, *ASCII_MARKS.values()} else MARK * measure_text(marks)


def _split_pieces(sheet: Sheet) -> list[tuple[str, ...]]:
    """Return the columns that stay together: those of one metric, of one data set."""
    rest = iter(sheet.columns)
    if not sheet.spans:
        return [tuple(islice(rest, size)) for size in sheet.groups or [1] * len(sheet.columns)]
    return [
        tuple(own)
        for _, size in sheet.spans
        for _, own in groupby(islice(rest, size), lambda name: _family(sheet, name))
    ]


def _family(sheet: Sheet, name: str) -> str:
    return sheet.heads.get(name, name).partition("@")[0]


def _sort_by_family(sheet: Sheet, pieces: Sequence[tuple[str, ...]]) -> list[list[tuple[str, ...]]]:
    """Return the pieces of each family of metrics, of all data sets."""
    families: dict[str, list[tuple[str, ...]]] = {}
    for piece in pieces:
        families.setdefault(_family(sheet, piece[0]), []).append(piece)
    return list(families.values())


def _find_wide(blocks: Sequence[Sequence[str]], starts: Collection[str]) -> frozenset[int]:
    """Return the places at which all blocks that are so long have a column that begins a piece."""
    places = zip_longest(*blocks)
    return frozenset(i for i, names in enumerate(places) if all(name in starts for name in names if name))


def _measure_columns(sheet: Sheet) -> dict[str, float]:
    """Return how wide each column is; what is wider above it widens the last that it spans, as in LaTeX."""
    more = (
        SLACK
        if sheet.layout.siunitx and any(each.interval for name in sheet.columns for each in sheet.cells_of(name))
        else 0
    )
    widths = {name: more + _measure_column(sheet.heads.get(name, name), sheet.cells_of(name)) for name in sheet.columns}
    rest = iter(sheet.columns)
    for text, size in sheet.spans:
        own = list(islice(rest, size))
        lacking = measure_text(text) - sum(widths[name] for name in own) - GAPS[-1] * (size - 1)
        widths[own[-1]] += max(lacking, 0.0)
    return widths


def _measure_column(head: str, cells: Sequence[Cell]) -> float:
    """Return how wide a column is: its head, or the longest of its numbers with the longest interval."""
    parts = [cell.value.partition(".") for cell in cells]
    whole, places = (max(measure_text(part[i]) for part in parts) for i in (0, 2))
    bold = BOLD if any(cell.emphasis == BEST for cell in cells) else 1.0
    interval = max(measure_text(f" {cell.interval}") * SCRIPT if cell.interval else 0.0 for cell in cells)
    return max(bold * (whole + measure_text(".") * (places > 0) + places) + interval, measure_head(head))
