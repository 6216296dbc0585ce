"""Numbers as they are written elsewhere: percent signs and decimal commas are refused, with the conversion to do."""

from __future__ import annotations

import re

PERCENT, COMMA = rb"[-+]?\d+(?:[.,]\d+)?%", rb"[-+]?\d+,\d+(?:[eE][-+]?\d+)?"

_IS_PERCENT, _HAS_COMMA = re.compile(PERCENT), re.compile(COMMA)

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
