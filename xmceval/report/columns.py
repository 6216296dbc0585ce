"""Plain text in aligned columns, for lists that people read."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

WIDTH = 100  # of running text


def columns(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> list[str]:
    """Align rows of cells, two blanks between columns; those whose number is in `right` to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def labelled(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Write pairs of a word and a text, the texts below each other; a word that comes again is not repeated."""
    width = max(len(word) for word, _ in pairs)
    words = [word if i == 0 or pairs[i - 1][0] != word else "" for i, (word, _) in enumerate(pairs)]
    lines = []
    for word, (_, text) in zip(words, pairs, strict=True):
        indent = " " * (len(text) - len(text.lstrip()) + 2)
        first, *rest = textwrap.wrap(text.strip(), WIDTH, break_on_hyphens=False) or [""]
        lines.append(f"{word.ljust(width)}{indent}{first}".rstrip())
        lines.extend(" " * width + indent + line for line in rest)
    return lines
