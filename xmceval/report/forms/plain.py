"""Write tables as plain text, wrapped into blocks of columns to fit the terminal, and align text in columns."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

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
    Row,
    Sheet,
    split_columns,
    write,
)

STYLES = {BEST: "\x1b[1m{}\x1b[0m", SECOND: "\x1b[4m{}\x1b[0m", "": "{}"}
GAP = 2  # blanks between columns
INDENT = 2  # of lists
NARROWEST = 24  # minimum width of wrapped text, even if the terminal is narrower
ISOLATE = "\u2066"  # isolate right-to-left text between them
END_ISOLATE = "\u2069"
NO_BREAK = "\u00a0"
IN_FACT = "\u2007"
TOGETHER = re.compile(r" (?=[=<±] |±)|(?<= [=<±]) ")  # blanks at which no line breaks, as in p < 0.05 and 2.96 ±1.63
INSIDE = re.compile(r"(?<![·;]) ")  # blanks inside a fact, where there are several in a line


def draw(sheet: Sheet) -> str:
    """Draw a sheet as plain text."""
    layout = sheet.layout
    above = list(_wrap(sheet.above, layout))
    table = list(_draw_table(sheet))
    notes = list(_wrap(sheet.notes, layout))
    below = list(_wrap(sheet.below, layout))
    lines = [*above, *table, *notes, *below]
    if sheet.verdicts:  # what people read first
        if table[-1:] != [""]:  # blocks of columns have a blank line after them
            notes.append("")
        lines = [*_wrap(sheet.verdicts, layout), "", *table, *notes, *above, *below]
    for listing in sheet.listings:
        lines.extend(["", *_draw_listing(listing, layout)])
    return "\n".join(lines) + "\n"


def draw_listing(listing: Listing, layout: Layout) -> str:
    """Draw one list."""
    return "\n".join(_draw_listing(listing, layout)) + "\n"


class PlainColumn(NamedTuple):
    """A column of values, and the widths of its values, with room for 100, of its intervals and of its marks."""

    head: str
    cells: Sequence[Cell]
    value: int
    interval: int  # with the blank before it
    marks: int  # likewise

    @classmethod
    def of(cls, head: str, cells: Sequence[Cell], hundred: int) -> PlainColumn:
        """Measure the cells of a column; `hundred` is the width of 100 percent."""
        interval = max(len(cell.interval) for cell in cells)
        if interval:
            interval += 1
        marks = max(len(cell.marks) for cell in cells)
        if marks:
            marks += 1
        value = max(hundred, text_width(head) - interval - marks, *(len(cell.value) for cell in cells))
        return cls(head, cells, value, interval, marks)

    @property
    def width(self) -> int:
        """The columns of text that it takes, with the gap before it."""
        return GAP + self.value + self.interval + self.marks

    def draw(self, *, is_styled: bool) -> list[str]:
        """Draw its head, above the values or where it is longer over the intervals too; then cells, equally wide."""
        head_width = text_width(self.head)
        before = GAP + max(self.value - head_width, 0)
        drawn = [" " * before + self.head + " " * (self.width - before - head_width)]
        for cell in self.cells:
            value = STYLES[cell.emphasis].format(cell.value) if is_styled else cell.value
            text = " " * (GAP + self.value - len(cell.value)) + value
            if self.interval:
                text += f" {cell.interval}".ljust(self.interval)
            if self.marks:
                text += f" {cell.marks}".ljust(self.marks)
            drawn.append(text)
        return drawn


def count_blocks(sheet: Sheet) -> int:
    """Return in how many blocks of columns the table of a sheet is drawn."""
    return len(_arrange(sheet, sheet.rows)[2])


def _arrange(sheet: Sheet, rows: Sequence[Row]) -> tuple[list[str], dict[str, PlainColumn], list[tuple[str, ...]]]:
    """Return the heads of the rows, equally wide, the columns, and the blocks of columns that fit the terminal."""
    indent = ""
    if sheet.is_grouped and any(section.title for section in sheet.sections):
        indent = " " * INDENT
    heads = align_texts([indent + clean(row.head) for row in rows])
    hundred = len(write(1.0, sheet.layout.spec("share")))
    columns = {}
    for name in sheet.columns:
        cells = [row.cells.get(name, EMPTY) for row in rows]
        columns[name] = PlainColumn.of(clean(sheet.head_of(name)), cells, hundred)
    for shared, names in sheet.shared_heads(sheet.columns):  # it has room, and a wider gap before it
        lacking = GAP + text_width(clean(shared)) - sum(columns[name].width for name in names)
        first = columns[names[0]]
        columns[names[0]] = first._replace(value=first.value + max(lacking, 0) + GAP)
    widths = [column.width for column in columns.values()]
    room = sheet.layout.width - text_width(heads[0])
    return heads, columns, list(split_columns(sheet.columns, widths, room, sheet.groups))


def _draw_table(sheet: Sheet) -> Iterator[str]:
    """Draw the table in blocks of columns that fit the terminal."""
    rows = sheet.rows
    heads, columns, blocks = _arrange(sheet, rows)
    indent = " " * text_width(heads[0])
    is_styled = sheet.layout.is_styled
    drawn = {name: column.draw(is_styled=is_styled) for name, column in columns.items()}  # its head, and a text per row
    for i, names in enumerate(blocks):
        if i:
            yield ""
        line = indent
        for shared, of_name in sheet.shared_heads(names):
            width = sum(columns[name].width for name in of_name) - 2 * GAP
            line += " " * 2 * GAP + pad(clean(shared), width)
        if line != indent:
            yield line.rstrip()
        yield (indent + "".join(drawn[name][0] for name in names)).rstrip()
        end = 0
        is_first = True
        for section in sheet.sections:
            start = end
            end = end + len(section.rows)
            shown = [number for number in range(start, end) if not rows[number].cells.keys().isdisjoint(names)]
            if not shown:
                continue
            if sheet.is_grouped and not is_first:
                yield ""
            is_first = False
            if section.title and i:
                yield clean(section.name)
            elif section.title:
                yield from _wrap([section.title], sheet.layout)
            for number in shown:
                yield (heads[number] + "".join(drawn[name][number + 1] for name in names)).rstrip()
    if len(blocks) > 1 or sheet.is_grouped:
        yield ""


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
    columns = [align_texts(column, right=i in right) for i, column in enumerate(zip(*rows, strict=True))]
    return ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]


def align_texts(texts: Sequence[str], *, right: bool = False) -> list[str]:
    """Pad texts with blanks to the width of the widest, at their end or with `right` at their start."""
    width = max(map(text_width, texts))
    return [pad(text, width, right=right) for text in texts]


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
    if right:
        return blanks + text
    return text + blanks


def clean(text: str) -> str:
    """Return a text that is safe on a terminal: control characters escaped, right-to-left text isolated."""
    if text.isascii() and text.isprintable():
        return text
    shown = escaped(text)
    if has_right_to_left(shown):
        return f"{ISOLATE}{shown}{END_ISOLATE}"
    return shown


def has_right_to_left(text: str) -> bool:
    """Return whether a text has letters that are written from right to left."""
    return not {*map(unicodedata.bidirectional, text)}.isdisjoint({"R", "AL", "AN"})
