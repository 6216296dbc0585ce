"""Text of a few columns without a header: a table whose columns have no names, or lists of labels of one length."""

from __future__ import annotations

import re
from pathlib import Path

from xmceval.errors import DataError
from xmceval.files.io.chunks import LineChunks
from xmceval.files.io.lines import without_comment
from xmceval.files.io.streams import quote
from xmceval.files.opened import Head, Request

WIDTHS = frozenset({2, 3, 4})  # columns: user item, user item rating, user item rating timestamp

LOOKED_AT = 1000  # lines

_SEPARATOR = re.compile(rb"[ \t]*[,;][ \t]*|[ \t]+")

_DECIMAL = re.compile(rb"[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+")

_NAMES = "row, label and score or user, item and rating"


def refuse_headerless(head: Head, request: Request) -> None:
    """Refuse lines of three or four columns of which the third has decimals, so that they cannot be lists of labels."""
    lines = [(number, line.strip()) for number, line in enumerate(head.lines[:LOOKED_AT], 1) if line.strip()]
    lines = [(number, line) for number, line in lines if not line.startswith(b"#")]
    rows = [_SEPARATOR.split(line) for _, line in lines]
    if not rows or len(rows[0]) not in WIDTHS - {2} or any(len(row) != len(rows[0]) for row in rows):
        return
    if request.names is not None and request.names.has_all(rows[0]):
        return
    are_ids = all(row[0].isdigit() or row[1].isdigit() for row in rows) and not any(b":" in line for _, line in lines)
    is_pair = len(rows[0]) == 4 and all(_DECIMAL.fullmatch(row[1]) for row in rows)  # label score, label score
    if are_ids and not is_pair and any(_DECIMAL.fullmatch(row[2]) for row in rows):
        number, line = lines[0]
        raise DataError(
            f"{head.path}:{number}: may be lines of {_NAMES}, found {quote(line)} (hint: name the columns in a first "
            "line such as 'row,label,score' or 'user_id,item_id,rating', with commas or tabs between columns)"
        )


def check_lists(truth: Path, scores: Path) -> None:
    """Refuse two files of lists of one short length whose first column has the same words: these may be users.

    Both have been read as lists of labels, without a header.
    """
    words, others = _first_words(truth), _first_words(scores)
    if words and others and (words <= others or others <= words):
        raise DataError(
            f"{truth} and {scores}: may be lists of labels, or tables of {_NAMES}, as their lines have equally many "
            "words and both begin with the same ones (hint: above a table write its columns, such as "
            "'user_id,item_id,rating', with commas or tabs; above lists write how many rows and labels there are)"
        )


def _first_words(path: Path) -> set[bytes]:
    """Return the first words of all lines if they have one of a few numbers of columns, else nothing."""
    words, width = set[bytes](), 0
    for chunk in LineChunks(path):
        for line in bytes(chunk.buffer[chunk.start : chunk.stop]).split(b"\n"):
            row = _SEPARATOR.split(without_comment(line).strip())
            if row == [b""]:
                continue
            width = width or len(row)
            if len(row) != width or width not in WIDTHS:
                return set()
            words.add(row[0])
    return words
