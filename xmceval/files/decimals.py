"""Numbers as they are written elsewhere: percent signs and decimal commas are refused, with the conversion to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from xmceval.errors import DataError
from xmceval.files.streams import quote

_PERCENT, _COMMA = rb"[-+]?\d+(?:[.,]\d+)?%", rb"[-+]?\d+,\d+(?:[eE][-+]?\d+)?"

_IS_PERCENT, _HAS_COMMA = re.compile(_PERCENT), re.compile(_COMMA)

# A score in the rows of each kind of text that has scores.
_SCORES = {
    "pairs": rb":(%b)(?=[ \t\r]|\Z)",
    "scored": rb"(?:\A|\t)[ \t]*\d+[ \t]+(%b)(?=[ \t\r]|\Z)",
    "fasttext": rb"__label__\S+[ \t]+(%b)(?=[ \t\r]|\Z)",
    "json": rb'"(%b)"',
}

_PATTERNS = {kind: re.compile(pattern % (_PERCENT + b"|" + _COMMA)) for kind, pattern in _SCORES.items()}


def explain_decimal(word: bytes) -> str:
    """Return the end of a message about a word that is no number: the conversion to do, or nothing."""
    if _IS_PERCENT.fullmatch(word):
        return "; percent signs are not read (hint: remove them, for example with sed 's/%//g')"
    if _HAS_COMMA.fullmatch(word):
        return (
            "; decimal commas are not read (hint: write points, for example with sed -E 's/([0-9]),([0-9])/\\1.\\2/g')"
        )
    return ""


def check_decimals(path: Path, kind: str, lines: Iterable[bytes], first_line: int) -> None:
    """Refuse rows of scores with percent signs or decimal commas.

    Once, as they would be wrong in every row.

    Raises
    ------
    DataError
        The first such score, with its place.
    """
    pattern = _PATTERNS.get(kind)
    if pattern is None:
        return
    for number, line in enumerate(lines, first_line):
        found = pattern.search(line.split(b"#")[0] if kind in {"pairs", "scored"} else line)
        if found:
            raise DataError(
                f"{path}:{number}: expected a number as the score, found {quote(found[1])}{explain_decimal(found[1])}"
            )
