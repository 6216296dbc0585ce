r"""LaTeX: tables for papers, which need nothing but booktabs; what papers seldom print is in comments.

Values are aligned on the decimal point by two columns, of what is before it and of what follows it: bold digits are
wider than others, and neither siunitx nor dcolumn can underline a number and keep its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

from xmceval.report.forms.columns import clean
from xmceval.report.forms.latextext import escape, list_replaced
from xmceval.report.forms.layout import Layout
from xmceval.report.sheet.model import ASCII_MARKS, BEST, EMPTY, MINUS, SECOND, Cell, Listing, Sheet, split_columns

T = TypeVar("T")

STYLES = {BEST: r"\textbf{{{}}}", SECOND: r"\underline{{{}}}"}
MARKS = {mark: f"$^{{{plain}}}$" for sign, plain in ASCII_MARKS.items() for mark in (sign, plain)}
KINDS = {2: "r@{}l", 3: "r@{}l@{}l"}  # of the columns of a value, without and with interval and marks

# In points, of an article of 10 points, where tables are \small and the columns 8 points apart.
TEXT_WIDTH, LETTER, CAPITAL, DIGIT, SMALL_DIGIT, SPACE = 345, 4.7, 6.6, 4.7, 3.6, 8
NUMBERS = re.compile(r"[-+\d.,<\s]*\d[*]?")
SIGN = re.compile(f"([{''.join(ASCII_MARKS)}])")
SLASH, BREAK = re.compile(r"(?<=[^\s/])/(?=[^\s/])"), r"/\\allowbreak{}"
LONG, LONG_SHARE = 50, 0.65  # characters, from which on a column of a list is wrapped, and the share of all such
MOST_ROWS = 35  # of a list on one page

PREAMBLE = r"needs \usepackage{booktabs} in the preamble"
PREAMBLE_OF_LONG = r"needs \usepackage{longtable} too"


def draw(sheet: Sheet) -> str:
    """Draw a sheet as LaTeX."""
    titles = [section.title for section in sheet.sections if section.title]
    texts = [*sheet.columns, *titles, *(row.head for row in sheet.rows)]
    comments = [PREAMBLE, *list_replaced(texts), *sheet.above, *sheet.below]
    body = [*_draw_tabular(*_plan_table(sheet)), *map(_draw_note, (*sheet.notes, *titles))]
    lines = [*map(_comment, comments), *_draw_environment(body, sheet.layout.caption, sheet.layout.label)]
    for listing in sheet.listings:
        lines.extend(["", *_draw_listing(listing)])
    lines.extend(["", *map(_comment, sheet.verdicts)] if sheet.verdicts else [])
    return "\n".join(lines) + "\n"


def draw_listings(listings: Sequence[Listing], layout: Layout) -> str:  # noqa: ARG001 - forms share one signature
    """Draw lists, one below the other."""
    tables = ("\n".join(_draw_listing(listing)) for listing in listings)
    return "\n\n".join([_comment(PREAMBLE), *tables]) + "\n"


def _comment(line: str) -> str:
    return f"% {clean(line)}"


def _draw_environment(body: Sequence[str], caption: str | None, label: str | None = None) -> Iterator[str]:
    """Draw a table around its lines."""
    yield from (r"\begin{table}", r"  \centering", r"  \small", r"  \setlength{\tabcolsep}{4pt}")
    yield from [] if caption is None else [rf"  \caption{{{caption}}}"]
    yield from [] if label is None else [rf"  \label{{{label}}}"]
    yield from (f"  {line}" for line in body)
    yield r"\end{table}"


def _draw_tabular(kinds: str, blocks: Iterable[Iterable[str]]) -> Iterator[str]:
    """Draw blocks of rows, one below the other, as columns of these kinds."""
    yield rf"\begin{{tabular}}{{{kinds}}}"
    yield from _draw_blocks(blocks)
    yield r"\end{tabular}"


def _draw_blocks(blocks: Iterable[Iterable[str]]) -> Iterator[str]:
    for i, lines in enumerate(blocks):
        yield r"  \midrule[\heavyrulewidth]" if i else r"  \toprule"
        yield from (f"  {line}" for line in lines)
    yield r"  \bottomrule"


def _draw_note(text: str) -> str:
    """Draw a line below a table; addresses break after a slash."""
    pieces = (MARKS[piece] if piece in ASCII_MARKS else escape(piece) for piece in re.split(SIGN, text))
    return rf"\par\smallskip{{\footnotesize {SLASH.sub(BREAK, ''.join(pieces))}\par}}"


def _plan_table(sheet: Sheet) -> tuple[str, list[Iterator[str]]]:
    """Return the kinds of the columns of a table and its rows: in blocks of columns where it is wider than the text."""
    has_more = any(cell.interval or cell.marks for row in sheet.rows for cell in row.cells.values())
    n_parts = 3 if has_more else 2
    widths = [_measure(name, sheet.cells_of(name)) for name in sheet.columns]
    available = max(TEXT_WIDTH - SPACE - max(_estimate(row.head) for row in sheet.rows), TEXT_WIDTH / 2)
    blocks = _split_aligned(sheet.columns, widths, int(available), sheet.groups)
    n_columns = max(map(len, blocks))
    drawn = [_draw_block(sheet, names, n_parts, 1 + n_parts * n_columns) for names in blocks]
    return f"l{KINDS[n_parts] * n_columns}", drawn


def _split_aligned(
    columns: Sequence[T], widths: Sequence[int], available: int, groups: Sequence[int] = ()
) -> list[tuple[T, ...]]:
    """Split columns into blocks below each other, in which columns at the same place are as wide as the widest."""
    width_of = dict(zip(columns, widths, strict=True))
    for room in range(available, 0, -1):
        blocks = [tuple(block) for block in split_columns(columns, widths, room, groups)]
        places = zip_longest(*([width_of[column] for column in block] for block in blocks), fillvalue=0)
        if sum(map(max, places)) <= available or max(map(len, blocks)) == 1:
            break
    return blocks


def _measure(name: str, cells: Sequence[Cell]) -> int:
    """Return about how many points wide a column is."""
    value = max(len(cell.value) for cell in cells) * DIGIT
    more = max(len(cell.interval) + len(cell.marks) + 0.5 * bool(cell.interval) for cell in cells) * SMALL_DIGIT
    return int(max(value + more, _estimate(name)) + SPACE)


def _estimate(text: str) -> float:
    """Return about how many points wide a text is."""
    return sum(CAPITAL if each.isupper() or each == "@" else LETTER for each in text)


def _draw_block(sheet: Sheet, names: Sequence[str], n_parts: int, n_columns: int) -> Iterator[str]:
    heads = (rf"\multicolumn{{{n_parts}}}{{c}}{{{escape(name)}}}" for name in names)
    yield _join(["", *heads])
    for section in sheet.sections:
        rows = section.rows_with(names)
        if rows:
            yield r"\midrule"
        if section.name and rows:
            yield rf"\multicolumn{{{n_columns}}}{{l}}{{\emph{{{escape(section.name)}}}}} \\"
        for row in rows:
            parts = (part for name in names for part in _draw_cell(row.cells.get(name, EMPTY), n_parts))
            yield _join([escape(row.head), *parts])


def _join(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells).rstrip()} \\"


def _draw_cell(cell: Cell, n_parts: int) -> list[str]:
    """Draw a value as what is before the decimal point, what follows, and its interval and marks."""
    whole, point, places = cell.value.partition(".")
    style = STYLES.get(cell.emphasis, "{}")
    parts = [style.format(escape(part)) if part else "" for part in (whole.replace("-", MINUS), point + places)]
    if n_parts == 2:
        return parts
    return [*parts, _draw_interval(cell.interval) + _draw_marks(cell.marks)]


def _draw_interval(text: str) -> str:
    if text.startswith("±"):
        return rf"{{\scriptsize$\pm${text[1:]}}}"
    return rf"{{\scriptsize\ {text.replace('-', MINUS)}}}" if text else ""


def _draw_marks(marks: str) -> str:
    """Draw letters, or that a value is better or worse than the baseline."""
    if marks in MARKS or not marks:
        return MARKS.get(marks, "")
    return rf"\textsuperscript{{{marks.replace('-', '--')}}}"


def _draw_listing(listing: Listing) -> Iterator[str]:
    """Draw a list as a table of its own, its title as the caption; a long one over several pages."""
    texts = [listing.title, *(cell for row in listing.rows for cell in row)]
    yield from map(_comment, list_replaced(texts))
    if not listing.rows:
        yield _comment(listing.title)
        return
    kinds, blocks = _plan_listing(listing)
    rows = [_draw_rows(listing, block) for block in blocks]
    notes = map(_draw_note, listing.lines)
    caption = escape(listing.title) if listing.title else None
    if len(listing.rows) <= MOST_ROWS:
        yield from _draw_environment([*_draw_tabular(kinds, rows), *notes], caption)
        return
    yield _comment(PREAMBLE_OF_LONG)
    yield from (r"{\small\setlength{\tabcolsep}{4pt}", rf"\begin{{longtable}}{{{kinds}}}")
    yield from [] if caption is None else [rf"  \caption{{{caption}}} \\"]
    yield from (*_draw_blocks(rows), r"\end{longtable}", *notes, "}")


def _plan_listing(listing: Listing) -> tuple[str, list[tuple[int, ...]]]:
    """Return the kinds of the columns of a list, long ones wrapped, and its columns in blocks."""
    widths = [max(len(row[i]) for row in listing.rows) for i in range(len(listing.rows[0]))]
    columns = list(range(1, len(widths)))
    points = [int(max(_estimate(row[i]) for row in listing.rows) + SPACE) for i in range(len(widths))]
    long = [i for i, width in enumerate(widths) if width > LONG]
    is_split = listing.has_head and not long
    blocks = _split_aligned(columns, points[1:], TEXT_WIDTH - points[0]) if is_split else [tuple(columns)]
    kinds = ["r" if i in listing.numeric else "l" for i in range(1 + max(map(len, blocks)))]
    for i in long:
        kinds[i] = rf"p{{{LONG_SHARE / len(long):.2f}\linewidth}}"
    return "".join(kinds), blocks


def _draw_rows(listing: Listing, block: Sequence[int]) -> Iterator[str]:
    """Draw the rows of a block of columns, and the first column."""
    for i, row in enumerate(listing.rows):
        if i == 1 and listing.has_head:
            yield r"\midrule"
        if any(row[each].strip() for each in block):
            yield _join([_draw_text(row[each]) for each in (0, *block)])


def _draw_text(text: str) -> str:
    """Draw a cell of a list; the star of a number takes no room, so that numbers stay aligned."""
    text = text.strip()
    if not NUMBERS.fullmatch(text):
        return escape(text)
    star = r"\rlap{*}" if text.endswith("*") else ""
    return escape(text.removesuffix("*").replace("-", MINUS)) + star
