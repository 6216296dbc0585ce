"""Lines of text files that may have comments."""

from __future__ import annotations

import re

_COMMENT = re.compile(rb"(?:\A|(?<=[ \t\r]))#.*", re.DOTALL)


def without_comment(line: bytes) -> bytes:
    """Return a line without its comment: ``#`` begins one only where a word may begin."""
    return _COMMENT.sub(b"", line, count=1) if b"#" in line else line
