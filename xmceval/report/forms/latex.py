r"""LaTeX: tables for papers, which need nothing but booktabs; what papers seldom print is in comments.

Values are aligned on the decimal point by two columns, of what is before it and of what follows it: bold digits are
wider than others, and neither siunitx nor dcolumn can underline a number and keep its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
    texts = [*sheet.columns, *titles, *(row.head for section in sheet.sections for row in section.rows)]
    comments = [PREAMBLE, *list_replaced(texts), *sheet.above, *sheet.below]
    body = list(_draw_table(sheet))
    lines = [*map(_comment, comments), *_draw_environment(body, sheet.layout, (*sheet.notes, *titles))]
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


def _draw_environment(body: Sequence[str], layout: Layout, notes: Sequence[str]) -> Iterator[str]:
    """Draw a table around its lines, with notes below."""
    yield r"\begin{table}"
    yield r"  \centering"
    yield r"  \small"
    yield r"  \setlength{\tabcolsep}{4pt}"
    if layout.caption is not None:
        yield rf"  \caption{{{layout.caption}}}"
    if layout.label is not None:
        yield rf"  \label{{{layout.label}}}"
    yield from (f"  {line}" for line in body)
    yield from (f"  {_draw_note(note)}" for note in notes)
    yield r"\end{table}"


def _draw_note(text: str) -> str:
    """Draw a line below a table; addresses break after a slash."""
    pieces = (MARKS[piece] if piece in ASCII_MARKS else escape(piece) for piece in re.split(SIGN, text))
    return rf"\par\smallskip{{\footnotesize {SLASH.sub(BREAK, ''.join(pieces))}\par}}"


def _draw_table(sheet: Sheet) -> Iterator[str]:
    """Draw the table; one that is wider than the text as blocks of columns, one below the other."""
    rows = [row for section in sheet.sections for row in section.rows]
    cells = [cell for row in rows for cell in row.cells.values()]
    n_parts = 3 if any(cell.interval or cell.marks for cell in cells) else 2
    widths = [_measure(name, [row.cells[name] for row in rows if name in row.cells]) for name in sheet.columns]
    available = max(TEXT_WIDTH - SPACE - max(_estimate(row.head) for row in rows), TEXT_WIDTH / 2)
    blocks = _split_aligned(sheet.columns, widths, int(available), sheet.groups)
    n_columns = max(map(len, blocks))
    yield rf"\begin{{tabular}}{{l{KINDS[n_parts] * n_columns}}}"
    yield r"  \toprule"
    for i, names in enumerate(blocks):
        if i:
            yield r"  \midrule[\heavyrulewidth]"
        yield from (f"  {line}" for line in _draw_block(sheet, names, n_parts, 1 + n_parts * n_columns))
    yield r"  \bottomrule"
    yield r"\end{tabular}"


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
        rows = [row for row in section.rows if not row.cells.keys().isdisjoint(names)]
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
    lines = (f"  {line}" for block in blocks for line in _draw_rows(listing, block, is_first=block is blocks[0]))
    notes = map(_draw_note, listing.lines)
    if len(listing.rows) > MOST_ROWS:
        yield _comment(PREAMBLE_OF_LONG)
        yield r"{\small\setlength{\tabcolsep}{4pt}"
        yield rf"\begin{{longtable}}{{{kinds}}}"
        yield from [rf"  \caption{{{escape(listing.title)}}} \\"] if listing.title else []
        yield from (*lines, r"  \bottomrule", r"\end{longtable}", *notes, "}")
        return
    yield from (r"\begin{table}", r"  \centering", r"  \small", r"  \setlength{\tabcolsep}{4pt}")
    yield from [rf"  \caption{{{escape(listing.title)}}}"] if listing.title else []
    yield rf"  \begin{{tabular}}{{{kinds}}}"
    yield from (f"  {line}" for line in (*lines, r"  \bottomrule", r"\end{tabular}", *notes))
    yield r"\end{table}"


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


def _draw_rows(listing: Listing, block: Sequence[int], *, is_first: bool) -> Iterator[str]:
    """Draw the rows of a block of columns, and the first column."""
    yield r"\toprule" if is_first else r"\midrule[\heavyrulewidth]"
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
