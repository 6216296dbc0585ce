r"""LaTeX: the main table as a paper prints it, which needs nothing but booktabs, and lists where they are asked for.

A value is one cell, which an author can edit, merge or move, in an ``r`` column; marks take no width, so that decimal
points stay in line. With ``siunitx`` the columns are its ``S``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from xmceval.report.forms.latexfloats import DIAMOND, comment, draw_float, draw_listing, write_note
from xmceval.report.forms.latexplan import GAPS, LONGEST_HEAD, MORE, MORE_IN_BOLD, TablePlan, is_long, plan_table
from xmceval.report.forms.latextext import break_words, escape, list_replaced, measure_text
from xmceval.report.forms.layout import Layout
from xmceval.report.sheet.model import (
    ASCII_MARKS,
    BEST,
    EMPTY,
    MINUS,
    PUBLISHED_SIGN,
    SECOND,
    UP,
    Cell,
    Listing,
    Section,
    Sheet,
)

# Commands that a float defines where it uses them; what they print has no width.
COMMANDS = {
    r"\up": r"\def\up{\rlap{$^{\scriptscriptstyle+}$}}",
    r"\dn": r"\def\dn{\rlap{$^{\scriptscriptstyle-}$}}",
    r"\sig": r"\def\sig#1{\rlap{\textsuperscript{\mdseries#1}}}",
}
MARKS = {mark: r"\up" if sign == UP else r"\dn" for sign, plain in ASCII_MARKS.items() for mark in (sign, plain)}
STYLES = {BEST: r"\textbf{{{}}}", SECOND: r"\underline{{{}}}"}
EMPHASES = {BEST: "best in bold", SECOND: "second best underlined"}
NUMBER = re.compile(r"-?[\d,]*\.?\d+")
CAUTION = "caution: "
ITEM = " \N{MIDDLE DOT} "
BOLD_ROOM = rf"\hspace{{{MORE_IN_BOLD}pt}}"

PREAMBLE = r"needs \usepackage{booktabs}"
PREAMBLE_OF_SIUNITX = r"needs \usepackage{booktabs,siunitx}"


@dataclass(frozen=True)
class Digits:
    """How many digits the numbers of a column have before and after the point, and the longest of its intervals."""

    whole: int
    places: int
    interval: str
    is_signed: bool

    @classmethod
    def of(cls, cells: Sequence[Cell]) -> Digits:
        """Count those of cells."""
        numbers = [each.value.replace(",", "") for each in cells if NUMBER.fullmatch(each.value)]
        parts = [number.lstrip("-").partition(".") for number in numbers]
        return cls(
            max((len(whole) for whole, _, _ in parts), default=1),
            max((len(places) for _, _, places in parts), default=0),
            max((each.interval for each in cells), key=len, default=""),
            any(number.startswith("-") for number in numbers),
        )

    def write_format(self) -> str:
        """Write the options of a column of siunitx."""
        interval = rf",table-space-text-post={{\ {_draw_interval(self.interval)}{BOLD_ROOM}}}" if self.interval else ""
        return f"table-format={'-' * self.is_signed}{self.whole}.{self.places},detect-weight{interval}"


def draw(sheet: Sheet) -> str:
    """Draw a sheet as LaTeX: its table, and its lists."""
    layout, texts = sheet.layout, [*sheet.columns, *(section.title for section in sheet.sections)]
    comments = [PREAMBLE_OF_SIUNITX if layout.siunitx else PREAMBLE]
    comments += list_replaced([*texts, *(row.head for row in sheet.rows)])
    comments += [*sheet.above, *sheet.below, *sheet.verdicts] if layout.is_verbose else []
    lines = [*map(comment, comments), *_draw_table(sheet)]
    for listing in sheet.listings:
        lines.extend(["", *draw_listing(listing)])
    return "\n".join(lines) + "\n"


def draw_listings(listings: Sequence[Listing], layout: Layout) -> str:  # noqa: ARG001 - forms share one signature
    """Draw lists, one below the other."""
    tables = ("\n".join(draw_listing(listing)) for listing in listings)
    return "\n\n".join([comment(PREAMBLE), *tables]) + "\n"


def _draw_table(sheet: Sheet) -> Iterator[str]:
    plan = plan_table(sheet)
    tabular = [*_draw_tabular(sheet, plan)]
    used = [macro for name, macro in COMMANDS.items() if any(name in line for line in tabular)]
    settings = [] if plan.gap == GAPS[0] else [rf"\setlength{{\tabcolsep}}{{{plan.gap / 2:g}pt}}"]
    settings += [f"{''.join(used)}% marks; they take no width"] if used else []
    yield from draw_float(
        tabular,
        [*_explain(sheet, plan)],
        plan.width,
        settings=settings,
        caption=sheet.layout.caption,
        label=sheet.layout.label,
    )


def _explain(sheet: Sheet, plan: TablePlan) -> Iterator[str]:
    """Write what the signs of a table mean, and titles that have no room in it, as sentences."""
    found = {cell.emphasis for row in sheet.rows for cell in row.cells.values()}
    emphases = [words for emphasis, words in EMPHASES.items() if emphasis in found]
    titles = (each.title for each in sheet.sections if each.title and not _fits(each.title, plan))
    names = (*sheet.columns, *(each.head for each in sheet.rows), *(each.name for each in sheet.sections))
    of_names = {re.sub(r"^\([a-z]+\) ", "", name).partition(" ")[0].rstrip(",") for name in names}
    cautions = (line for line in sheet.below if line.startswith(CAUTION))
    for note in (*([", ".join(emphases)] if emphases else []), *sheet.notes, *titles, *cautions):
        first = note.split(maxsplit=1)[0].rstrip(":")
        sentence = note if first in of_names else note[0].upper() + note[1:]
        yield write_note(f"{sentence}.")


def _draw_tabular(sheet: Sheet, plan: TablePlan) -> Iterator[str]:
    yield rf"\begin{{tabular}}{{{_write_kinds(sheet, plan)}}}"
    spans: list[str] = []
    for i, names in enumerate(plan.blocks):
        yield r"  \midrule[\heavyrulewidth]" if i else r"  \toprule"
        above = _draw_spans(sheet, names, plan)
        yield from (f"  {line}" for line in above if above != spans)
        yield from (f"  {line}" for line in _draw_block(sheet, names, plan, is_first=i == 0))
        spans = above
    yield r"  \bottomrule"
    yield r"\end{tabular}"


def _write_kinds(sheet: Sheet, plan: TablePlan) -> str:
    """Write the kinds of the columns, and where there is more room between them."""
    kinds = [rf"@{{}}p{{{LONGEST_HEAD}pt}}" if any(is_long(row.head) for row in sheet.rows) else "@{}l"]
    for place in range(plan.n_places):
        more = rf"@{{\hspace{{{plan.gap + MORE}pt}}}}" if place in plan.wide else ""
        digits = Digits.of(_cells_of_place(sheet, plan, place))
        kinds.append(more + (f"S[{digits.write_format()}]" if sheet.layout.siunitx else "r"))
    return "".join(kinds) + (rf"@{{\hspace{{{plan.mark}pt}}}}" if plan.mark else "@{}")


def _cells_of_place(sheet: Sheet, plan: TablePlan, place: int) -> list[Cell]:
    """Return the cells of the columns that stand below each other."""
    return [cell for names in plan.blocks for name in names[place : place + 1] for cell in sheet.cells_of(name)]


def _draw_spans(sheet: Sheet, names: Sequence[str], plan: TablePlan) -> list[str]:
    """Draw the heads above the heads of a block, and the rules between them."""
    if not sheet.spans:
        return []
    rest = iter(sheet.columns)
    span_of = {name: i for i, (_, size) in enumerate(sheet.spans) for name in islice(rest, size)}
    cells, rules, place = [""], [], 0
    for i, own in groupby(names, span_of.__getitem__):
        size = len([*own])
        kind = "c" if size > 1 or plan.wide or place + 1 == plan.n_places else "r"
        cells.append(rf"\multicolumn{{{size}}}{{{kind}}}{{{escape(sheet.spans[i][0])}}}")
        left, right = plan.trims(place, place + size - 1)
        trims = "".join(f"{side}{{{trim:g}pt}}" for side, trim in (("l", left), ("r", right)) if trim)
        rules.append(rf"\cmidrule{f'({trims})' if trims else ''}{{{place + 2}-{place + size + 1}}}")
        place += size
    return [rf"{' & '.join(cells).lstrip()} \\", "".join(rules)]


def _draw_block(sheet: Sheet, names: Sequence[str], plan: TablePlan, *, is_first: bool) -> Iterator[str]:
    siunitx = sheet.layout.siunitx
    heads = (_draw_column_head(sheet.heads.get(name, name)) for name in names)
    yield rf"& {' & '.join(f'{{{head}}}' if siunitx else head for head in heads)} \\".replace("  ", " ")
    digits = {
        name: Digits.of(_cells_of_place(sheet, plan, place) if siunitx else sheet.cells_of(name))
        for place, name in enumerate(names)
    }
    draw_cell = _draw_number if siunitx else _draw_cell
    for section in sheet.sections:
        rows = section.rows_with(names)
        if rows:
            yield r"\midrule"
            yield from _draw_title(section, plan, is_first=is_first)
        cells = ([draw_cell(row.cells.get(name, EMPTY), digits[name]) for name in names] for row in rows)
        yield from _align([[_draw_head(row.head), *own] for row, own in zip(rows, cells, strict=True)])


def _draw_head(head: str) -> str:
    text = rf"\raggedright {break_words(head)}" if is_long(head) else escape(head)
    return text.replace(f" {escape(PUBLISHED_SIGN)}", DIAMOND)


def _draw_column_head(head: str) -> str:
    return rf"\parbox[b]{{{LONGEST_HEAD}pt}}{{\raggedleft {break_words(head)}}}" if is_long(head) else escape(head)


def _align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Align the cells of rows in the source."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for head, *cells in rows:
        parts = [head.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))]
        yield rf"{' & '.join(parts)} \\"


def _draw_title(section: Section, plan: TablePlan, *, is_first: bool) -> Iterator[str]:
    """Draw the line above the rows of a section: its whole title where that has room, and once."""
    if not section.title:
        return
    name, title = section.name or section.title, section.title
    whole = is_first and _fits(title, plan)
    first = name if title.startswith(name) or not whole else title
    rest = title.removeprefix(first).replace(ITEM, ", ") if whole else ""
    text = rf"\textit{{{escape(first)}}}{escape(rest)}"
    yield rf"\multicolumn{{{1 + plan.n_places}}}{{@{{}}l}}{{{text}}} \\[2pt]"


def _fits(title: str, plan: TablePlan) -> bool:
    return measure_text(title) <= plan.width


def _draw_cell(cell: Cell, digits: Digits) -> str:
    """Draw a value, its interval and its marks; what shorter ones lack is left blank, so that points stay in line."""
    if not NUMBER.fullmatch(cell.value):
        return escape(cell.value)
    value = STYLES.get(cell.emphasis, "{}").format(_draw_value(cell.value))
    point = "" if "." in cell.value else "."
    lacking = digits.places - len(cell.value.partition(".")[2])
    blank = rf"\phantom{{{point}{'0' * lacking}}}" if lacking else ""
    return value + blank + _draw_aside(cell, digits)


def _draw_number(cell: Cell, digits: Digits) -> str:
    """Draw a value for siunitx, which prints numbers in bold, but none that are underlined."""
    if not NUMBER.fullmatch(cell.value):
        return f"{{{escape(cell.value)}}}" if cell.value else ""
    number = cell.value.replace(",", "")
    aside = _draw_aside(cell, digits).replace(r" {", r"{\ \mdseries", 1)
    if cell.emphasis != SECOND:
        return (r"\bfseries " if cell.emphasis else "") + number + aside
    lacking = digits.whole - len(number.partition(".")[0].lstrip("-"))
    blank = rf"\phantom{{{'0' * lacking}}}" if lacking else ""
    room = BOLD_ROOM if digits.interval else ""
    return f"{{{blank}{STYLES[SECOND].format(_draw_value(number))}{aside}{room}}}"


def _draw_value(number: str) -> str:
    return escape(number.replace("-", MINUS))


def _draw_aside(cell: Cell, digits: Digits) -> str:
    """Draw an interval and marks, and what the interval lacks of the longest of its column."""
    lacking = digits.interval[len(cell.interval) :]
    blank = rf"{{\scriptsize\phantom{{{lacking.lstrip('±')}}}}}" if lacking else ""
    space = " " if digits.interval else ""
    return space + _draw_interval(cell.interval) + _draw_marks(cell.marks) + blank


def _draw_interval(text: str) -> str:
    if text.startswith("±"):
        return rf"{{\scriptsize$\pm${text[1:]}}}"
    return rf"{{\scriptsize {text.replace('-', '$-$')}}}" if text else ""


def _draw_marks(marks: str) -> str:
    """Draw letters, or that a value is better or worse than the baseline."""
    if marks in MARKS or not marks:
        return MARKS.get(marks, "")
    return rf"\sig{{{marks.replace('-', '--')}}}"
