"""Render Markdown for a terminal: bold heads, wrapped paragraphs and lists, aligned tables, indented code."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence

from xmceval.report.forms.columns import pad, text_width

WIDEST = 100  # of paragraphs, so that lines can be read
INDENT = "    "  # of code
GAP = "  "  # between the columns of a table
NARROWEST = 8  # of a column that is wrapped
BOLD, CYAN, PLAIN = "\x1b[1m", "\x1b[36m", "\x1b[0m"

GUIDE_LINK = re.compile(r"\[([^\]]+)\]\((\w+)\.md\)")
LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
CODE = re.compile(r"`([^`]+)`")
STRONG = re.compile(r"\*\*([^*]+)\*\*")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")
ESCAPED = re.compile(r"\\([\\`*\[\]|~$_<&#>+().-])")
KEPT_BLANK = "\x00"  # within code, where lines are not broken

Style = Callable[[str], str]


def render(text: str, width: int, *, is_styled: bool) -> str:
    """Render Markdown at a width; without styles there are no escape sequences."""
    style = _style if is_styled else _unmark
    lines: list[str] = []
    for kind, block in _blocks(text):
        if kind == "code":
            lines += [(INDENT + line).rstrip() for line in block]
        elif kind == "head":
            heads = textwrap.wrap(_plain(block[0].lstrip("#").strip()), width, break_on_hyphens=False)
            lines += [f"{BOLD}{head}{PLAIN}" if is_styled else head for head in heads]
        elif kind == "table":
            lines += render_table(block, width)
        elif kind == "text":
            lines += _paragraph(block, min(width, WIDEST), style)
        else:
            lines.append("")
    return "\n".join(lines) + "\n"


def _blocks(text: str) -> Iterable[tuple[str, list[str]]]:
    """Yield the parts of a text: ``code`` without its fences, ``head``, ``table``, ``text`` and ``blank``."""
    kind, block = "", list[str]()
    for line in text.splitlines():
        is_fence = line.startswith("```")
        if kind == "code" and not is_fence:
            block.append(line)
            continue
        new = "" if is_fence else _kind(line)
        if new != kind or new in ("head", "blank") or ITEM.match(line):
            if kind:
                yield kind, block
            block = []
        if is_fence:
            kind = "" if kind == "code" else "code"
        else:
            kind = new
            block.append(line)
    if kind:
        yield kind, block


def _kind(line: str) -> str:
    if not line:
        return "blank"
    return {"#": "head", "|": "table"}.get(line[0], "text")


def _paragraph(block: Sequence[str], width: int, style: Style) -> list[str]:
    """Wrap a paragraph, or an item of a list with its further lines below its text."""
    text = _links(" ".join(line.strip() for line in block))
    text = CODE.sub(lambda code: code.group().replace(" ", KEPT_BLANK), text)
    start = ITEM.match(text)
    lines = textwrap.wrap(
        text,
        width,
        subsequent_indent=" " * start.end() if start else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [style(line).replace(KEPT_BLANK, " ") for line in lines]


def _links(text: str) -> str:
    """Replace links by their text; those to guides also name the command."""
    return LINK.sub(r"\1", GUIDE_LINK.sub(r"\1 (`xmceval guide \2`)", text))


def _style(text: str) -> str:
    return STRONG.sub(rf"{BOLD}\1{PLAIN}", CODE.sub(rf"{CYAN}\1{PLAIN}", text))


def _unmark(text: str) -> str:
    return STRONG.sub(r"\1", text)


def render_table(block: Sequence[str], width: int) -> list[str]:
    """Align a table of Markdown; where it is wider than the terminal, cells are wrapped."""
    head, marks, *rows = [_cells(line) for line in block]
    right = [mark.endswith(":") and not mark.startswith(":") for mark in marks]
    texts = [[_plain(cell) for cell in row] for row in (head, *rows)]
    widths = _fit([max(text_width(row[i]) for row in texts) for i in range(len(head))], width)
    first, *rest = [_wrapped_row(row, widths, right) for row in texts]
    rule = GAP.join("-" * each for each in widths)
    return [*(first if any(texts[0]) else []), rule, *(line for row in rest for line in row)]


def _plain(text: str) -> str:
    """Return the text of a cell, without marks and escapes."""
    return ESCAPED.sub(r"\1", STRONG.sub(r"\1", CODE.sub(r"\1", _links(text))))


def _cells(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return [cell.strip() for cell in cells]


def _fit(widths: list[int], width: int) -> list[int]:
    """Narrow the widest columns until all of them fit."""
    room = width - len(GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _wrapped_row(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    """Return the lines of a row, whose cells have as many as the longest of them needs."""
    columns = [textwrap.wrap(cell, width, break_on_hyphens=False) for cell, width in zip(row, widths, strict=True)]
    lines = []
    for i in range(max(1, *map(len, columns))):
        cells = (column[i] if i < len(column) else "" for column in columns)
        padded = (pad(cell, width, right=end) for cell, width, end in zip(cells, widths, right, strict=True))
        lines.append(GAP.join(padded).rstrip())
    return lines
