"""Write tables as plain text, wrapped into blocks of columns to fit the terminal, and align text in columns."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from xmceval.errors import escaped
from xmceval.report.sheet import (
    BEST,
    EMPTY,
    LONGEST,
    SECOND,
    WIDTH,
    Cell,
    Layout,
    Listing,
    Sheet,
    split_columns,
)

STYLES = {BEST: "\x1b[1m", SECOND: "\x1b[4m"}
UNSTYLED = "\x1b[0m"
GAP = 2  # blanks between columns
INDENT = 2  # of lists
NARROWEST = 24  # minimum width of wrapped text, even if the terminal is narrower
ISOLATE, END_ISOLATE = "\u2066", "\u2069"  # isolate right-to-left text between them
NO_BREAK, IN_FACT = "\u00a0", "\u2007"
TOGETHER = re.compile(r" (?=[=<±] |±)|(?<= [=<±]) ")  # blanks at which no line breaks, as in p < 0.05 and 2.96 ±1.63
INSIDE = re.compile(r"(?<![·;]) ")  # blanks inside a fact, where there are several in a line


def draw(sheet: Sheet) -> str:
    """Draw a sheet as plain text."""
    layout = sheet.layout
    above, table = list(_wrap(sheet.above, layout)), list(_draw_table(sheet))
    notes, below = list(_wrap(sheet.notes, layout)), list(_wrap(sheet.below, layout))
    if sheet.verdicts:  # what people read first
        is_split = table[-1:] == [""]  # in blocks, with a blank line after them
        lines = [*_wrap(sheet.verdicts, layout), "", *table, *notes, *([] if is_split else [""]), *above, *below]
    else:
        lines = [*above, *table, *notes, *below]
    for listing in sheet.listings:
        lines.extend(["", *_draw_listing(listing, layout)])
    return "\n".join(lines) + "\n"


def draw_listing(listing: Listing, layout: Layout) -> str:
    """Draw one list."""
    return "\n".join(_draw_listing(listing, layout)) + "\n"


@dataclass(frozen=True)
class PlainColumn:
    """The widths of a column: of its values, with room for 100, of its intervals, and of its marks."""

    head: str
    value: int
    interval: int
    marks: int

    @classmethod
    def of(cls, sheet: Sheet, name: str) -> PlainColumn:
        """Measure the cells of a column."""
        cells = sheet.cells_of(name)
        head, hundred = clean(sheet.head_of(name)), sheet.layout.share(1.0)
        value = max(len(hundred), *(len(cell.value) for cell in cells))
        interval, marks = (max(map(len, parts)) for parts in zip(*map(_draw_parts, cells), strict=True))
        is_wider = text_width(head) > value + interval + marks
        return cls(head, text_width(head) - interval - marks if is_wider else value, interval, marks)

    @property
    def width(self) -> int:
        """The columns of text that it takes, with the gap before it."""
        return GAP + self.value + self.interval + self.marks

    def draw_head(self) -> str:
        """Draw its head: above the values, or where it is longer over the intervals too."""
        text = pad(self.head, self.value, right=True) if text_width(self.head) <= self.value else self.head
        return " " * GAP + pad(text, self.width - GAP)

    def draw_cell(self, cell: Cell, layout: Layout) -> str:
        """Draw a cell; only the value is bold or underlined."""
        interval, marks = _draw_parts(cell)
        style = STYLES.get(cell.emphasis, "") if layout.is_styled else ""
        value = f"{style}{cell.value}{UNSTYLED}" if style else cell.value
        blanks = " " * (GAP + self.value - len(cell.value))
        return blanks + value + interval.ljust(self.interval) + marks.ljust(self.marks)


def _draw_parts(cell: Cell) -> tuple[str, str]:
    return f" {cell.interval}" if cell.interval else "", f" {cell.marks}" if cell.marks else ""


def count_blocks(sheet: Sheet) -> int:
    """Return in how many blocks of columns the table of a sheet is drawn."""
    return len(_split(sheet)[2])


def _indent(sheet: Sheet) -> int:
    return INDENT if sheet.is_grouped and any(section.title for section in sheet.sections) else 0


def _split(sheet: Sheet) -> tuple[int, dict[str, PlainColumn], list[tuple[str, ...]]]:
    """Return the width of the names of rows, the columns, and the blocks of columns that fit the terminal."""
    indent = _indent(sheet) + max(text_width(clean(row.head)) for row in sheet.rows)
    columns = {name: PlainColumn.of(sheet, name) for name in sheet.columns}
    for shared, names in sheet.shared_heads(sheet.columns):  # it has room, and a wider gap before it
        lacking = GAP + text_width(clean(shared)) - sum(columns[name].width for name in names)
        first = columns[names[0]]
        columns[names[0]] = replace(first, value=first.value + max(lacking, 0) + GAP)
    widths = [column.width for column in columns.values()]
    return indent, columns, list(split_columns(sheet.columns, widths, sheet.layout.width - indent, sheet.groups))


def _draw_table(sheet: Sheet) -> Iterator[str]:
    """Draw the table in blocks of columns that fit the terminal."""
    indent, columns, blocks = _split(sheet)
    for i, names in enumerate(blocks):
        yield from [""] if i else []
        shared = sheet.shared_heads(names)
        widths = [sum(columns[name].width for name in of_name) - 2 * GAP for _, of_name in shared]
        above = (" " * 2 * GAP + pad(clean(text), width) for (text, _), width in zip(shared, widths, strict=True))
        yield from [(" " * indent + "".join(above)).rstrip()] if shared else []
        yield (" " * indent + "".join(columns[name].draw_head() for name in names)).rstrip()
        sections = [(section, rows) for section in sheet.sections if (rows := section.rows_with(names))]
        for j, (section, rows) in enumerate(sections):
            yield from [""] if j and sheet.is_grouped else []
            if section.title:
                yield from [clean(section.name)] if i else _wrap([section.title], sheet.layout)
            for row in rows:
                head = pad(" " * _indent(sheet) + clean(row.head), indent)
                cells = (columns[name].draw_cell(row.cells.get(name, EMPTY), sheet.layout) for name in names)
                yield (head + "".join(cells)).rstrip()
    yield from [""] if len(blocks) > 1 or sheet.is_grouped else []


def _draw_listing(listing: Listing, layout: Layout) -> list[str]:
    """Draw a list below its title; one that is too wide is wrapped into blocks of columns."""
    lines = _wrap([listing.title], layout)
    rows = [tuple(map(clean, row)) for row in (listing.head, *listing.rows)]
    widths = [GAP + max(map(text_width, column)) for column in zip(*rows, strict=True)]
    room = layout.width - INDENT - widths[0] + GAP
    aligned = list[str]()
    for block in split_columns(list(range(1, len(widths))), widths[1:], room):
        numeric = {i for i, column in enumerate((0, *block)) if column in listing.numeric}
        in_block = [tuple(row[i] for i in (0, *block)) for row in rows]
        aligned += align_columns([row for row in in_block if any(map(str.strip, row[1:]))], right=numeric)
    return [*lines, *(" " * INDENT + line for line in (*aligned, *_wrap(listing.lines, layout, INDENT)))]


def _wrap(lines: Sequence[str], layout: Layout, indent: int = 0) -> Iterator[str]:
    """Wrap lines at the width of a terminal; elsewhere only long ones, between facts. What continues is indented."""
    for line in map(clean, lines):
        if layout.is_terminal:
            yield from _fill(line, max(layout.width - indent, NARROWEST))
        else:
            facts = _fill(INSIDE.sub(IN_FACT, line), LONGEST - indent)
            yield from (part for fact in facts for part in _fill(fact.replace(IN_FACT, " "), LONGEST - indent))


def _fill(line: str, width: int) -> list[str]:
    """Break a line at blanks, but not inside ``p < 0.05`` and the like."""
    joined = TOGETHER.sub(NO_BREAK, line)
    filled = textwrap.wrap(
        joined, width, subsequent_indent=" " * INDENT, break_on_hyphens=False, break_long_words=False
    )
    return [part.replace(NO_BREAK, " ") for part in filled]


def align_columns(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """Align rows of cells with two blanks between columns; the columns numbered in `right` to the right."""
    if not rows:
        return []
    widths = [max(text_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            pad(cell, width, right=i in right) for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def align_terms(pairs: Sequence[tuple[str, str]], width: int = WIDTH) -> list[str]:
    """Align terms and their texts in two columns, wrapped at a width; a term is not repeated in consecutive lines."""
    term_width = max(len(term) for term, _ in pairs)
    lines = []
    last = None
    for term, text in pairs:
        indent = " " * (len(text) - len(text.lstrip()) + 2)
        first, *rest = wrap_text(text.strip(), width - term_width - len(indent))
        lines.append(f"{('' if term == last else term).ljust(term_width)}{indent}{first}".rstrip())
        lines.extend(" " * term_width + indent + line for line in rest)
        last = term
    return lines


def write_entry(title: str, facts: Iterable[tuple[str, str]], width: int, rest: Iterable[str] = ()) -> str:
    """Write a detailed entry of a list: its title, its facts, each with its term, and further lines."""
    lines = (f"  {line}" for line in align_terms(list(facts), width - 2))
    return "\n".join([*wrap_text(title, width), *lines, *rest]) + "\n"


def wrap_text(text: str, width: int) -> list[str]:
    """Wrap a text into at least one line; words are never broken."""
    return textwrap.wrap(text, max(width, NARROWEST), break_on_hyphens=False, break_long_words=False) or [""]


def text_width(text: str) -> int:
    """Return the width of a text on a terminal: East Asian characters and emoji are two wide, marks none."""
    if text.isascii():
        return len(text)
    takes_room = [letter for letter in text if unicodedata.category(letter) not in {"Mn", "Me", "Cf"}]
    return len(takes_room) + sum(unicodedata.east_asian_width(letter) in {"W", "F"} for letter in takes_room)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Pad a text with blanks to a width, at its end, or with `right` at its start."""
    blanks = " " * (width - text_width(text))
    return blanks + text if right else text + blanks


def clean(text: str) -> str:
    """Return a text that is safe on a terminal: control characters escaped, right-to-left text isolated."""
    if text.isascii() and text.isprintable():
        return text
    shown = escaped(text)
    return f"{ISOLATE}{shown}{END_ISOLATE}" if has_right_to_left(shown) else shown


def has_right_to_left(text: str) -> bool:
    """Return whether a text has letters that are written from right to left."""
    return not {*map(unicodedata.bidirectional, text)}.isdisjoint({"R", "AL", "AN"})
