"""Align plain text in columns: what tables and listings for people are printed with."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence

WIDTH = 100  # of running text


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


def align_terms(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Align terms and their wrapped texts in two columns; a term is not repeated in consecutive lines."""
    width = max(len(term) for term, _ in pairs)
    lines = []
    last = None
    for term, text in pairs:
        indent = " " * (len(text) - len(text.lstrip()) + 2)
        first, *rest = textwrap.wrap(text.strip(), WIDTH, break_on_hyphens=False) or [""]
        lines.append(f"{('' if term == last else term).ljust(width)}{indent}{first}".rstrip())
        lines.extend(" " * width + indent + line for line in rest)
        last = term
    return lines
