"""Cells of tables: of LaTeX, Markdown, tab- and comma-separated text, and text in aligned columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Span = tuple[int, int]

_COMMAND = re.compile(r"\\[A-Za-z]+\*?(?:\[[^\]]*\])?")
_RULE = re.compile(r"\\(?:(?:top|mid|bottom)rule(?:\[[^\]]*\])?|hline|cmidrule(?:\([^)]*\))?\{[^}]*\})")
_BEGIN = re.compile(r"\\begin\{(?:tabular|longtable|array)[a-z]*\*?\}")
_OVER_COLUMNS = re.compile(r"\\multicolumn\{(\d+)\}\{(?:[^{}]|\{[^{}]*\})*\}")
_DASHES = re.compile(r"\s*\|?(?:\s*:?-{2,}:?\s*\|?)+\s*\Z")
_MARKUP = re.compile(r"\*\*|`|</?[a-z]+>")
_TOKEN = re.compile(r"\S+(?: \S+)*")
_INDENT = 2  # of names in aligned text, at most: headers begin further to the right


@dataclass(frozen=True)
class CellLine:
    """A line of a table.

    Attributes
    ----------
    number : int
    cells : list of str
    begins : bool
        Whether a table begins here, so that no earlier header holds.
    is_title : bool
        Whether it has no cells but a title, of what follows.
    keeps_title : bool
        Whether it may be a header below a title.
    spans : tuple of (int, int)
        Where the cells stand, in aligned text.
    """

    number: int
    cells: list[str]
    begins: bool = False
    is_title: bool = False
    keeps_title: bool = False
    spans: tuple[Span, ...] = ()


def split_cells(text: str, *, is_tex: bool, is_header: Callable[[list[str]], bool]) -> Iterator[CellLine]:
    """Yield the lines of a table; `is_header` tells headers by their cells, by which separators are recognized."""
    if is_tex or "\\\\" in text:
        return _split_tex(text)
    lines = text.splitlines()
    if any("|" in line and _DASHES.match(line) for line in lines):
        return _split_markdown(lines)
    for split in (_split_bars, _split_aligned, _split_commas):
        if any(is_header(line.cells) for line in split(lines)):
            return split(lines)
    return _split_commas(lines)


def _split_bars(lines: list[str]) -> Iterator[CellLine]:
    """Yield the cells between tabs or bars."""
    for number, line in _list_lines(lines):
        cells = line.split("\t") if "\t" in line else line.strip().strip("|").split("|")
        if "\t" in line or line.count("|") > 1:
            yield CellLine(number, [_clean(cell) for cell in cells])


def _split_commas(lines: list[str]) -> Iterator[CellLine]:
    for number, line in _list_lines(lines):
        try:
            cells = next(csv.reader([line]))
        except csv.Error:  # a field of more than 131,072 characters
            cells = [line]
        yield CellLine(number, [_clean(cell) for cell in cells])


def _split_markdown(lines: list[str]) -> Iterator[CellLine]:
    """Yield the cells of tables, whose headers are followed by dashes, and the text between them as titles."""
    for number, line in _list_lines(lines):
        if line.count("|") < 2:
            yield CellLine(number, [_clean(line)], is_title=True)
        elif not _DASHES.match(line):
            first, *others = (_clean(cell) for cell in line.strip().strip("|").split("|"))
            begins = number < len(lines) and bool(_DASHES.match(lines[number]))
            yield CellLine(number, [first, *others], begins, bool(first) and not any(others), keeps_title=True)


def _split_aligned(lines: list[str]) -> Iterator[CellLine]:
    """Yield the cells of aligned text, which are two blanks apart; a header has no first cell."""
    for number, line in _list_lines(lines):
        found = list(_TOKEN.finditer(line))
        cells, spans = [each[0] for each in found], [each.span() for each in found]
        if spans[0][0] > _INDENT:
            yield CellLine(number, ["", *cells], begins=True, spans=((0, 0), *spans))
        else:
            yield CellLine(number, cells, is_title=len(cells) == 1, spans=tuple(spans))


def _list_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#"))


def _clean(cell: str) -> str:
    return _MARKUP.sub("", cell).strip().strip("*_").strip()


def _split_tex(text: str) -> Iterator[CellLine]:
    """Yield the cells of each row of a LaTeX table, without commands and braces; a spanning cell and empty ones."""
    line = 1
    for chunk in re.split(r"\\\\(?:\[[^\]]*\])?", text):
        rules = [each.end() for each in (*_RULE.finditer(chunk), *_BEGIN.finditer(chunk))]
        row = chunk[max(rules, default=0) :]
        start = line + chunk[: len(chunk) - len(row.lstrip())].count("\n")
        line += chunk.count("\n")
        begins = bool(_BEGIN.search(chunk))
        body = re.sub(r"(?<!\\)%[^\n]*", "", row)
        is_title = "&" not in row and _OVER_COLUMNS.search(body) is not None
        if "&" in row or is_title:
            cells = [cell for part in re.split(r"(?<!\\)&", body) for cell in _expand(part)]
            yield CellLine(start, cells[:1] if is_title else cells, begins, is_title)


def _expand(cell: str) -> Iterator[str]:
    """Yield a cell without its markup, and an empty cell for each further column that it spans."""
    over = _OVER_COLUMNS.search(cell)
    text = _OVER_COLUMNS.sub("", cell)
    text = _COMMAND.sub("", re.sub(r"\\([%_&#])", r"\1", text))
    yield re.sub(r"[{}$~]", " ", text).strip()
    yield from [""] * (int(over[1]) - 1 if over else 0)
