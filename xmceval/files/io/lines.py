"""Lines of text files: comments, numbers that are written in another way, and where lines are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from xmceval.files.io.chunks import LineChunks
from xmceval.files.io.signatures import UTF8_BOM

NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")

_COMMENT = re.compile(rb"(?:\A|(?<=[ \t\r]))#.*", re.DOTALL)

PERCENT, COMMA = rb"[-+]?\d+(?:[.,]\d+)?%", rb"[-+]?\d+,\d+(?:[eE][-+]?\d+)?"

_IS_PERCENT, _HAS_COMMA = re.compile(PERCENT), re.compile(COMMA)

# Commands that write points in numbers of their own, and leave other commas, as between columns; JSON loses the quotes.
_POINTS = r"""sed -E 's/(["[:space:];:])([-+]?[0-9]+),([0-9eE+-]+)(["[:space:];]|$)/\1\2.\3\4/g'"""
_POINTS_IN_JSON = r"""sed -E 's/"([-+]?[0-9]+),([0-9eE+-]+)" *([],}])/\1.\2\3/g'"""


def without_comment(line: bytes) -> bytes:
    """Return a line without its comment: ``#`` begins one only where a word may begin."""
    return _COMMENT.sub(b"", line, count=1) if b"#" in line else line


def explain_decimal(word: bytes, *, is_json: bool = False) -> str:
    """Return the end of a message about a word that is no number: the conversion to do, or nothing."""
    if _IS_PERCENT.fullmatch(word):
        return "; percent signs are not read (hint: remove them, for example with sed 's/%//g')"
    if _HAS_COMMA.fullmatch(word):
        command = _POINTS_IN_JSON if is_json else _POINTS
        return f"; decimal commas are not read (hint: write points, for example with {command})"
    return ""


@dataclass(frozen=True)
class Places:
    """Where the lines of a file are that are neither blank nor comments, below its header: for messages."""

    path: Path
    n_header_lines: int = 0
    has_comments: bool = False

    def __call__(self, entry: int) -> str:
        """Return the place of a line, given how many come before it."""
        number, _ = next(islice(self.filled_lines(), entry, None), (entry + 1, b""))
        return f"{self.path}:{number}"

    def filled_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the text of each line."""
        number = 0
        for chunk in LineChunks(self.path):
            text = bytes(chunk.buffer[chunk.start : chunk.stop])
            for line in (text.removeprefix(UTF8_BOM) if number == 0 else text).split(b"\n")[:-1]:
                number += 1
                is_blank = not line.strip(None if self.has_comments else b"\r")
                is_comment = self.has_comments and line.startswith(b"#")
                if number > self.n_header_lines and not is_blank and not is_comment:
                    yield number, line
