"""Align plain text in columns: what tables and listings for people are printed with."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence

WIDTH = 80

NARROWEST = 24  # of wrapped text: where a terminal leaves less, lines are longer than it


def align_columns(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """Align rows of cells with two blanks between columns; the columns numbered in `right` to the right."""
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
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


def wrap_text(text: str, width: int) -> list[str]:
    """Wrap a text into at least one line; words are never broken."""
    return textwrap.wrap(text, max(width, NARROWEST), break_on_hyphens=False, break_long_words=False) or [""]
