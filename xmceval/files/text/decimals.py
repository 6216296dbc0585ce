"""Numbers as they are written elsewhere: percent signs and decimal commas are refused, with the conversion to do."""

from __future__ import annotations

import re
from pathlib import Path

from xmceval.errors import DataError
from xmceval.files.io.streams import quote

_PERCENT, _COMMA = rb"[-+]?\d+(?:[.,]\d+)?%", rb"[-+]?\d+,\d+(?:[eE][-+]?\d+)?"

_IS_PERCENT, _HAS_COMMA = re.compile(_PERCENT), re.compile(_COMMA)

_ODD = _PERCENT + b"|" + _COMMA

# A score with a percent sign or a decimal comma, in each kind of text.
_IN_PAIRS = re.compile(rb"\A[^#]*?[ \t]*\d+:(%b)(?=[ \t\r]|\Z)" % _ODD)
_IN_SCORED = re.compile(rb"[ \t](%b)(?=[ \t]|\Z)" % _ODD)
_SCORED = re.compile(rb"(?:\A|\t)[ \t]*\d+[ \t]+[-+]?\d[\d.,eE+-]*%?[ ]*(?=\t|\Z)")
_IN_FASTTEXT = re.compile(rb"\A[ \t]*__label__\S+[ \t]+(%b)(?=[ \t\r]|\Z)" % _ODD)
_IN_JSON = re.compile(rb',\s*"(%b)"\s*\]' % _ODD)

MOST_LINES = 1000


# Commands that write points in numbers of their own, and leave other commas, as between columns; JSON loses the quotes.
_POINTS = r"""sed -E 's/(["[:space:];:])([-+]?[0-9]+),([0-9eE+-]+)(["[:space:];]|$)/\1\2.\3\4/g'"""
_POINTS_IN_JSON = r"""sed -E 's/"([-+]?[0-9]+),([0-9eE+-]+)" *([],}])/\1.\2\3/g'"""


def explain_decimal(word: bytes, *, is_json: bool = False) -> str:
    """Return the end of a message about a word that is no number: the conversion to do, or nothing."""
    if _IS_PERCENT.fullmatch(word):
        return "; percent signs are not read (hint: remove them, for example with sed 's/%//g')"
    if _HAS_COMMA.fullmatch(word):
        command = _POINTS_IN_JSON if is_json else _POINTS
        return f"; decimal commas are not read (hint: write points, for example with {command})"
    return ""


def check_decimals(path: Path, head: bytes) -> None:
    """Refuse predictions whose scores have percent signs or decimal commas, once for the file.

    Parameters
    ----------
    path : Path
        The file, for messages.
    head : bytes
        Its first bytes.
    """
    if b"%" not in head and b"," not in head:
        return
    lines = head.split(b"\n")[:MOST_LINES]
    filled = [line for line in lines if line.strip() and not line.lstrip().startswith(b"#")]
    are_scored = all(not _SCORED.sub(b"", line.strip()) for line in filled)
    for number, line in enumerate(lines, 1):
        found = _find_odd_score(line, are_scored=are_scored)
        if found:
            hint = explain_decimal(found[1], is_json=found.re is _IN_JSON)
            raise DataError(f"{path}:{number}: expected a number as the score, found {quote(found[1])}{hint}")


def _find_odd_score(line: bytes, *, are_scored: bool) -> re.Match[bytes] | None:
    """Return the first score of a line that has a percent sign or a decimal comma."""
    if line.lstrip().startswith((b"{", b"[")):
        return _IN_JSON.search(line)
    if are_scored:
        return _IN_SCORED.search(line.strip())
    return _IN_PAIRS.search(line) or _IN_FASTTEXT.search(line)
