"""Align plain text in columns, for printed tables and lists."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Sequence

from xmceval.errors import escaped
from xmceval.report.forms.layout import WIDTH

NARROWEST = 24  # of wrapped text: where a terminal leaves less, lines are longer than it
ISOLATE, END_ISOLATE = "\u2066", "\u2069"  # text between them does not turn the line round


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
    """Write an entry of a list in detail: its title, the facts on it, each with its term, and further lines."""
    lines = (f"  {line}" for line in align_terms(list(facts), width - 2))
    return "\n".join([*wrap_text(title, width), *lines, *rest]) + "\n"


def wrap_text(text: str, width: int) -> list[str]:
    """Wrap a text into at least one line; words are never broken."""
    return textwrap.wrap(text, max(width, NARROWEST), break_on_hyphens=False, break_long_words=False) or [""]


def text_width(text: str) -> int:
    """Return the columns that a text takes on a terminal: East Asian characters and emoji take two, marks none."""
    if text.isascii():
        return len(text)
    takes_room = [letter for letter in text if unicodedata.category(letter) not in {"Mn", "Me", "Cf"}]
    return len(takes_room) + sum(unicodedata.east_asian_width(letter) in {"W", "F"} for letter in takes_room)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Fill a text with blanks to a width, at its end or with `right` at its start."""
    blanks = " " * (width - text_width(text))
    return blanks + text if right else text + blanks


def clean(text: str) -> str:
    """Return a text that a terminal shows as it is: control characters escaped, right-to-left text on its own."""
    if text.isascii() and text.isprintable():
        return text
    shown = escaped(text)
    return f"{ISOLATE}{shown}{END_ISOLATE}" if any(map(is_right_to_left, shown)) else shown


def is_right_to_left(letter: str) -> bool:
    """Return whether a letter is written from right to left."""
    return unicodedata.bidirectional(letter) in {"R", "AL", "AN"}
