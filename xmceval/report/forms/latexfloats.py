"""Floats of LaTeX: what surrounds the lines of a table, and lists as tables of their own."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from xmceval.report.forms.columns import clean
from xmceval.report.forms.latexplan import LONGEST_HEAD, TEXT_WIDTH, split_aligned
from xmceval.report.forms.latextext import break_words, escape, list_replaced, measure_text
from xmceval.report.sheet.model import ASCII_MARKS, MINUS, PUBLISHED_SIGN, Listing

COLUMN_WIDTH = 234  # of a page of two columns
MARKS = {mark: f"$^{{{plain}}}$" for sign, plain in ASCII_MARKS.items() for mark in (sign, plain)}
DIAMOND = r"$^{\diamond}$"
SIGN = re.compile(f"([{''.join(ASCII_MARKS)}{PUBLISHED_SIGN}]) ")
LEVEL = re.compile(r"\bp((?: \([A-Z]\w*\))?) (?:\$<\$|<) ([\d.]*\d)")
NUMBERS = re.compile(rf"[-+{MINUS}\d.,<\s]*\d[*]?")
LONG = 50  # characters, from which on a column of a list is wrapped
LEAST_NOTE = 200  # points
MOST_ROWS = 35  # of a list on one page
GAP = 8  # between columns of a list

PREAMBLE_OF_LONG = r"needs \usepackage{longtable} too"


def comment(line: str) -> str:
    """Write a line that LaTeX does not print."""
    return f"% {clean(line)}"


def draw_float(
    tabular: Sequence[str],
    notes: Sequence[str],
    width: int,
    *,
    settings: Iterable[str] = (),
    caption: str | None = None,
    label: str | None = None,
) -> Iterator[str]:
    """Draw what surrounds the lines of a table; one that is wider than a column goes over the page.

    Parameters
    ----------
    tabular : sequence of str
    notes : sequence of str
        Below the table, as wide as it is.
    width : int
        In points.
    settings : iterable of str
        Before the table.
    caption, label : str, optional
        The caption is LaTeX.
    """
    name = "table*" if width > COLUMN_WIDTH else "table"
    yield from (rf"\begin{{{name}}}[t]", r"  \centering", r"  \small")
    yield from (f"  {each}" for each in settings)
    yield from [] if caption is None else [rf"  \caption{{{caption}}}"]
    yield from [] if label is None else [rf"  \label{{{label}}}"]
    yield from [] if caption is None else [r"  \vspace{4pt}"]
    yield from (f"  {line}" for line in tabular)
    if notes:
        ragged = r"\raggedright" if width < COLUMN_WIDTH else ""
        yield from ("", r"  \vspace{4pt}", rf"  \begin{{minipage}}{{{max(width, LEAST_NOTE)}pt}}\footnotesize{ragged}")
        yield from (f"    {line}" for line in notes)
        yield r"  \end{minipage}"
    yield rf"\end{{{name}}}"


def write_note(text: str) -> str:
    """Write a line below a table."""
    pieces = (
        rf"{MARKS.get(piece, DIAMOND)}\," if i % 2 else break_words(piece) for i, piece in enumerate(SIGN.split(text))
    )
    return LEVEL.sub(r"$p$\1~${<}\,\2$", "".join(pieces))


def draw_listing(listing: Listing) -> Iterator[str]:
    """Draw a list as a table of its own, its title as the caption; a long one over several pages."""
    texts = [listing.title, *(cell for row in listing.rows for cell in row)]
    yield from map(comment, list_replaced(texts))
    if not listing.rows:
        yield from map(comment, (listing.title, *listing.lines))
        return
    kinds, blocks, width, long = _plan_listing(listing)
    rows = [_draw_rows(listing, block, long) for block in blocks]
    notes = [*map(write_note, listing.lines)]
    caption = break_words(listing.title) if listing.title else None
    settings = rf"\setlength{{\tabcolsep}}{{{GAP / 2:g}pt}}"
    if len(listing.rows) <= MOST_ROWS:
        tabular = (rf"\begin{{tabular}}{{@{{}}{kinds}@{{}}}}", *_draw_blocks(rows), r"\end{tabular}")
        yield from draw_float(tabular, notes, width, settings=[settings], caption=caption)
        return
    yield comment(PREAMBLE_OF_LONG)
    yield from (rf"{{\small{settings}", rf"\begin{{longtable}}{{@{{}}{kinds}@{{}}}}")
    yield from [] if caption is None else [rf"  \caption{{{caption}}} \\"]
    yield from (
        *_draw_blocks(rows),
        r"\end{longtable}",
        *(rf"\par\smallskip{{\footnotesize {each}\par}}" for each in notes),
        "}",
    )


def _draw_blocks(blocks: Iterable[Iterable[str]]) -> Iterator[str]:
    for i, lines in enumerate(blocks):
        yield r"  \midrule[\heavyrulewidth]" if i else r"  \toprule"
        yield from (f"  {line}" for line in lines)
    yield r"  \bottomrule"


def _plan_listing(listing: Listing) -> tuple[str, list[tuple[int, ...]], int, list[int]]:
    """Return the kinds of the columns of a list, its columns in blocks, its width, and which columns are wrapped."""
    n_columns = len(listing.rows[0])
    points = {i: math.ceil(max(measure_text(row[i]) for row in listing.rows) + GAP) for i in range(n_columns)}
    long = [i for i in points if max(len(row[i]) for row in listing.rows) > LONG]
    blocks = [tuple(range(1, n_columns))]
    if listing.has_head and long in ([], [0]):
        points[0] = min(points[0], LONGEST_HEAD + GAP)
        blocks = split_aligned([[(i,) for i in blocks[0]]], points, TEXT_WIDTH - points[0])
    short = sum(points[i] for i in points if i not in long)
    share = (
        LONGEST_HEAD
        if long == [0] and listing.has_head
        else max(TEXT_WIDTH - short, TEXT_WIDTH // 2) // max(len(long), 1) - GAP
    )
    kinds = ["r" if i in listing.numeric else "l" for i in range(1 + max(map(len, blocks)))]
    for i in long:
        kinds[i] = rf"p{{{share}pt}}"
    width = points[0] + max(sum(points[i] for i in block) for block in blocks)
    return "".join(kinds), blocks, min(width, TEXT_WIDTH), long


def _draw_rows(listing: Listing, block: Sequence[int], long: Sequence[int]) -> Iterator[str]:
    """Draw the rows of a block of columns, and the first column."""
    end = r"\tabularnewline" if long else r"\\"  # which \raggedright redefines
    for i, row in enumerate(listing.rows):
        if i == 1 and listing.has_head:
            yield r"\midrule"
        if any(row[each].strip() for each in block):
            cells = (_draw_long(row[each]) if each in long else _draw_text(row[each]) for each in (0, *block))
            yield f"{' & '.join(cells).rstrip()} {end}"


def _draw_long(text: str) -> str:
    """Draw a cell of a column that is wrapped."""
    return rf"\raggedright {break_words(text.strip())}"


def _draw_text(text: str) -> str:
    """Draw a cell of a list; the star of a number takes no room, so that numbers stay aligned."""
    text = text.strip()
    if not NUMBERS.fullmatch(text):
        return escape(text)
    star = r"\rlap{*}" if text.endswith("*") else ""
    return escape(text.removesuffix("*").replace("-", MINUS)) + star
