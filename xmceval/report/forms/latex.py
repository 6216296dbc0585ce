r"""Write tables of scores, comparisons and benchmarks as LaTeX, as in papers; only booktabs is required.

The output is ASCII, so that any pdflatex accepts it. Each value is one cell, which an author can edit or move.
A table wider than a line of an article is split into several tabulars, and one longer than a page into several
floats.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from xmceval.report.forms.plain import clean
from xmceval.report.sheet import (
    ASCII_MARKS,
    BEST,
    DOWN,
    MINUS,
    NO_VALUE,
    PUBLISHED_SIGN,
    SECOND,
    UP,
    Cell,
    Listing,
    Sheet,
    split_columns,
)

PREAMBLE = r"needs \usepackage{booktabs}"
# Points:
LINE = 345  # of an article
GAP = 8  # between columns
DIGIT = 5  # in bold \small text
LETTER = 5
CAPITAL = 6
RAISED = 4  # a character of an interval or a mark
# Characters; longer text breaks.
LONGEST_WORD = 24
LONGEST_HEAD = 30
WIDEST_HEAD = LETTER * LONGEST_HEAD
MOST_LINES = 40  # lines of a float, without the notes below it

STYLES = {BEST: r"\textbf{{{}}}", SECOND: r"\underline{{{}}}", "": "{}"}
EMPHASES = {BEST: "Best in bold", SECOND: "second best underlined"}
BETTER_OR_WORSE = {mark: f"${sign}$" for triangle, sign in ASCII_MARKS.items() for mark in (triangle, sign)}
NUMBER = re.compile(rf"[-+{MINUS}]?[\d,]*\.?\d+")
STARRED = re.compile(rf"({NUMBER.pattern})(\*?)")
BREAKS = re.compile(r"(?<=[/_.-])(?=\w)")

LETTERS = {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ı": "i"}
SPECIAL = {
    **{letter: f"\\{command}{{}}" for letter, command in LETTERS.items()},
    **{letter: f"\\{letter}" for letter in "{}%$&#_"},
    **{letter: f"${letter}$" for letter in "<>"},
    "|": r"$|$\allowbreak{}",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    '"': "''",
    "[": "{[}",  # after \\ it would begin an argument, like *
    "*": "{*}",
    UP: "$^{+}$",
    DOWN: "$^{-}$",
    PUBLISHED_SIGN: r"$^{\diamond}$",
    MINUS: "$-$",
    NO_VALUE: "--",
    "\N{NO-BREAK SPACE}": "~",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MIDDLE DOT}": r"$\cdot$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{EM DASH}": "---",
    "\N{HORIZONTAL ELLIPSIS}": r"\dots{}",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
}
# Combining accents: grave, acute, circumflex, tilde, diaeresis, macron, dot, breve, caron, ring, double acute, cedilla,
# dot below; and the commands that print them.
COMBINING = "\u0300\u0301\u0302\u0303\u0308\u0304\u0307\u0306\u030c\u030a\u030b\u0327\u0323"
ACCENTS = dict(zip(COMBINING, "`'^~\"=.uvrHcd", strict=True))


def draw(sheet: Sheet) -> str:
    """Draw a sheet as LaTeX: its table and its lists, below comments on the inputs."""
    comments = "\n".join(f"% {clean(line)}" for line in [PREAMBLE, *sheet.above, *sheet.below])
    return "\n\n".join([f"{comments}\n{_draw_table(sheet)}", *map(_draw_listing, sheet.listings)]) + "\n"


def escape(text: str) -> str:
    """Escape a text for LaTeX; write characters without a LaTeX command as numbers, ``U+1F600``."""
    pieces = unicodedata.normalize("NFC", text).split("--")
    return "-{}-".join("".join(map(_escape, piece)) for piece in pieces)


def _escape(character: str) -> str:
    if character in SPECIAL or (character.isascii() and character.isprintable()):
        return SPECIAL.get(character, character)
    decomposed = unicodedata.normalize("NFD", character)
    letter = decomposed[0]
    accent = ACCENTS.get(decomposed[1:])
    if accent and letter.isascii() and letter.isalpha():
        return rf"\{accent}{{{letter}}}"
    return rf"\texttt{{U+{ord(character):04X}}}"


def _break_words(text: str) -> str:
    """Escape a text in which long words, such as paths, may break after their punctuation."""
    words = (BREAKS.split(word) if len(word) > LONGEST_WORD else [word] for word in text.split(" "))
    return " ".join(r"\allowbreak{}".join(map(escape, pieces)) for pieces in words)


@dataclass(frozen=True)
class TexColumn:
    """A column of values: its longest interval and marks, and its approximate width in points."""

    interval: str
    marks: str
    width: int

    @classmethod
    def of(cls, sheet: Sheet, name: str) -> TexColumn:
        """Measure a column."""
        cells = sheet.cells_of(name)
        parts = zip(*((cell.value, cell.interval, cell.marks) for cell in cells), strict=True)
        value, interval, marks = (max(texts, key=len) for texts in parts)
        head = min(CAPITAL * len(sheet.head_of(name)), WIDEST_HEAD)
        aside = interval + marks
        if aside:  # a space before an interval, or the width of a sign
            aside = f"~{aside}"
        width = max(DIGIT * len(value) + RAISED * len(aside), head)
        return cls(interval, marks, width + GAP)

    def draw_cell(self, cell: Cell) -> str:
        """Draw a value, its interval and marks, padded to the longest so that points align."""
        if not cell.value:
            return ""
        text = cell.value.replace("-", MINUS) if NUMBER.fullmatch(cell.value) else cell.value
        value = STYLES[cell.emphasis].format(escape(text))
        aside = ("~" if cell.interval else "") + _draw_interval(cell.interval) + _draw_marks(cell.marks)
        lacking = _draw_interval(self.interval[len(cell.interval) :]) + _draw_marks(self.marks[len(cell.marks) :])
        space = "~" if self.interval and not cell.interval else ""
        return value + aside + (rf"\phantom{{{space}{lacking}}}" if lacking else "")


def _draw_interval(text: str) -> str:
    return rf"{{\scriptsize {escape(text.replace('-', MINUS))}}}" if text else ""


def _draw_marks(marks: str) -> str:
    """Draw the letters of systems, with a hyphen for a range, or the mark of a better or worse value."""
    return rf"\textsuperscript{{{BETTER_OR_WORSE.get(marks, marks.replace('-', '--'))}}}" if marks else ""


def count_blocks(sheet: Sheet) -> int:
    """Return in how many blocks of columns the table of a sheet is drawn."""
    return len(_split(sheet)[2])


def _split(sheet: Sheet) -> tuple[int, dict[str, TexColumn], list[tuple[str, ...]]]:
    """Return the room for columns on a line, the columns, and the blocks of columns that fit."""
    columns = {name: TexColumn.of(sheet, name) for name in sheet.columns}
    room = LINE - GAP - min(LETTER * max(len(row.head) for row in sheet.rows), WIDEST_HEAD)
    widths = [column.width for column in columns.values()]
    return room, columns, list(split_columns(sheet.columns, widths, room, sheet.groups))


def _draw_table(sheet: Sheet) -> str:
    """Draw the table in blocks of columns that fit a line, keeping metrics together, each split by rows."""
    room, columns, blocks = _split(sheet)
    width = LINE - room + min(sum(columns[name].width for name in names) for names in blocks)
    has_titles = all(LETTER * len(section.title) <= width for section in sheet.sections)
    tabulars = []
    for names in blocks:
        parts = []
        for section in sheet.sections:
            title = section.title if has_titles or not section.name else section.name
            above = [r"\midrule"]
            if title:
                above.append(rf"\multicolumn{{{len(names) + 1}}}{{l}}{{\textit{{{escape(title)}}}}} \\")
            rows = []
            for row in section.rows_with(names):
                cells = [columns[name].draw_cell(cell) for name, cell in zip(names, row.select(names), strict=True)]
                rows.append(rf"{' & '.join([_wrap(row.head), *cells])} \\")
            parts += [[*above, *rows[start : start + MOST_LINES]] for start in range(0, len(rows), MOST_LINES)]
        head = [rf"& {' & '.join(_wrap(sheet.head_of(name), 'left') for name in names)} \\"]
        if shared := sheet.shared_heads(names):
            spans = (rf"\multicolumn{{{len(of_name)}}}{{c}}{{{escape(text)}}}" for text, of_name in shared)
            ends = list(accumulate(len(of_name) for _, of_name in shared))
            rules = (rf"\cmidrule(lr){{{start + 2}-{end + 1}}}" for start, end in pairwise([0, *ends]))
            head = [rf"& {' & '.join(spans)} \\", " ".join(rules), *head]
        tabulars += [_frame("l" + "r" * len(names), [*head, *body]) for body in _pack(parts)]
    emphases = {cell.emphasis for row in sheet.rows for cell in row.cells.values()}
    explained = ", ".join(words for emphasis, words in EMPHASES.items() if emphasis in emphases)
    long_titles = [section.title for section in sheet.sections if section.name and not has_titles]
    cautions = [line for line in sheet.below if line.startswith("caution: ")]
    notes = [*sheet.notes, *long_titles, *cautions]
    if explained:
        notes = [explained, *notes]
    return _draw_floats(tabulars, notes, sheet.layout.caption, sheet.layout.label)


def _draw_listing(listing: Listing) -> str:
    """Draw a list with its title as caption; split one that is too wide into blocks that repeat the first column."""
    columns = zip(listing.head, *listing.rows, strict=True)
    widths = [LETTER * max(len(cell.strip()) for cell in column) + GAP for column in columns]
    tabulars = []
    for block in split_columns(range(1, len(widths)), widths[1:], LINE - widths[0]):
        chosen = (0, *block)
        kinds = "".join("r" if i in listing.numeric else "l" for i in chosen)
        rows = ([_draw_row(row, chosen)] for row in listing.rows if any(row[i].strip() for i in block))
        tabulars += [_frame(kinds, [_draw_row(listing.head, chosen), r"\midrule", *body]) for body in _pack(rows)]
    return _draw_floats(tabulars, listing.lines, _break_words(listing.title))


def _pack(parts: Iterable[list[str]]) -> list[list[str]]:
    """Join consecutive parts of some lines each, as long as a float has room for them."""
    packed: list[list[str]] = []
    for part in parts:
        if packed and _height(packed[-1]) + _height(part) <= MOST_LINES:
            packed[-1] += part
        else:
            packed.append(part)
    return packed


def _height(lines: Iterable[str]) -> int:
    """Count the lines of print; the long head of a row takes two."""
    return sum(line.endswith((r"\\", r"\midrule")) + (r"\parbox[t]" in line) for line in lines)


def _frame(kinds: str, rows: Iterable[str]) -> list[str]:
    indented = (f"  {row}" for row in (r"\toprule", *rows, r"\bottomrule"))
    return [r"\par\medskip", rf"\begin{{tabular}}{{{kinds}}}", *indented, r"\end{tabular}"]


def _draw_floats(
    tabulars: Iterable[list[str]], notes: Iterable[str], caption: str | None, label: str | None = None
) -> str:
    """Draw tabulars in the floats that their lines need: caption and label in the first, notes in the last."""
    floats = _pack(tabulars)
    if label is not None:
        floats[0].insert(0, rf"\label{{{label}}}")
    if caption is not None:
        floats[0].insert(0, rf"\caption{{{caption}}}")
    text = "; ".join(map(_break_words, notes))
    if text:
        floats[-1] += [r"\par\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {text}.}}"]
    start = [r"\begin{table}[t]", r"  \centering", rf"  \small\setlength{{\tabcolsep}}{{{GAP / 2:g}pt}}"]
    framed = ([*start, *(f"  {line}" for line in body), r"\end{table}"] for body in floats)
    return "\n\n".join(map("\n".join, framed))


def _wrap(head: str, side: str = "right") -> str:
    """Draw the heading of a row or column; wrap a long one, ragged at one side."""
    if len(head) <= LONGEST_HEAD:
        return escape(head)
    place = "b" if side == "left" else "t"
    return rf"\parbox[{place}]{{{WIDEST_HEAD}pt}}{{\ragged{side} {_break_words(head)}\strut}}"


def _draw_row(row: Sequence[str], chosen: Iterable[int]) -> str:
    """Draw cells of a list; the star of a number takes no width, so that numbers align."""
    cells = []
    for i in chosen:
        text = row[i].strip()
        number = STARRED.fullmatch(text)
        if number:
            cells.append(escape(number[1].replace("-", MINUS)) + (r"\rlap{*}" if number[2] else ""))
        else:
            cells.append(escape(text))
    return rf"{' & '.join(cells)} \\"
