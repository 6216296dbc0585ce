"""Triples: CSV or TSV of row, label and score, by the names of the header, or without one in this order."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from xmceval.errors import DataError, counted
from xmceval.files.formats import FORMATS
from xmceval.files.io.streams import quote
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.records.columns import Columns, are_whole, read_columns
from xmceval.files.records.decimals import explain_decimal
from xmceval.files.records.entries import Roles, explain_columns, find_roles, open_entries
from xmceval.files.sidecars.labelnames import Names, is_id, unknown_name
from xmceval.rows.block import Float64

DELIMITERS = {b",": "comma", b"\t": "tab", b";": "semicolon"}

CLEARLY = 8  # lines of three whole numbers, the first ascending, that are hardly lists of three labels

_HEADER = re.compile(rb'[\w" .,;\t\r-]+')

_NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class CsvLayout:
    """How triples are written.

    Attributes
    ----------
    delimiter : bytes
        A key of DELIMITERS.
    roles : Roles
        The columns.
    n_columns : int
        How many columns there are.
    header_line : int
        The number of the line of the header; 0 without one.
    names : Names or None
        The names of labels, where they are used.
    """

    delimiter: bytes
    roles: Roles
    n_columns: int
    header_line: int = 0
    names: Names | None = None


def open_triples(head: Head, request: Request) -> Opened | None:
    """Open a file of triples; return None if it is not one."""
    path = head.path
    filled = [
        (number, line.strip(b" \r"))
        for number, line in enumerate(head.lines, 1)
        if line.strip() and not line.startswith(b"#")
    ][:1000]
    layout = _detect_header(filled, request) or _detect_columns(path, filled, request)
    if layout is None:
        _check_header(path, filled, request)
        return None
    header = "in the order of its header" if layout.header_line else "no header"
    form = FORMATS["triples"]
    facts = [f"{form.title} between {DELIMITERS[layout.delimiter]}s", header]
    facts += [] if layout.names is None else [f"label names from {layout.names.source}"]
    from_table, from_line = partial(_from_table, layout=layout), partial(_from_line, layout=layout)
    parts = read_columns(path, layout.header_line + 1, layout.delimiter.decode(), from_table, from_line)
    return open_entries(path, request, form, facts, parts)


def _detect_header(filled: Sequence[tuple[int, bytes]], request: Request) -> CsvLayout | None:
    """Return the layout below a line with the names of the columns."""
    if not filled or not _HEADER.fullmatch(filled[0][1]):
        return None
    number, line = filled[0]
    for delimiter in DELIMITERS:
        fields = line.split(delimiter)
        roles = find_roles([field.decode(errors="replace") for field in fields], request)
        if roles is not None:
            labels = [row[roles.label] for _, text in filled[1:] if len(row := text.split(delimiter)) == len(fields)]
            return CsvLayout(delimiter, roles, len(fields), number, _find_names(labels, request.names))
    return None


def _check_header(path: Path, filled: Sequence[tuple[int, bytes]], request: Request) -> None:
    """Refuse lines of numbers below a header with other names."""
    for delimiter in (b",", b";"):
        number, header = filled[0] if len(filled) > 1 else (0, b"")
        fields, rows = header.split(delimiter), (line.split(delimiter) for _, line in filled[1:])
        is_header = len(fields) > 1 and not any(field.strip()[:1].isdigit() or not field.strip() for field in fields)
        if is_header and all(len(row) == len(fields) and row[0].strip(b' "').isdigit() for row in rows):
            raise DataError(
                f"{path}:{number}: the header is {quote(header)}; expected the columns {explain_columns(request)}"
            )


def _detect_columns(path: Path, filled: Sequence[tuple[int, bytes]], request: Request) -> CsvLayout | None:
    """Return the layout of three columns without a header; whole numbers may also be lists of three labels."""
    for delimiter in DELIMITERS if filled else ():
        if len(filled[0][1].split(delimiter)) != 3:
            continue
        rows = [line.split(delimiter) for _, line in filled]
        if any(len(row) != 3 or not row[0].isdigit() or not _NUMBER.fullmatch(row[2]) for row in rows):
            continue
        names = _find_names([row[1] for row in rows], request.names)
        if names is None and not all(row[1].isdigit() for row in rows):
            continue
        if not all(row[2].isdigit() for row in rows):
            return CsvLayout(delimiter, Roles(0, 1, 2), 3, 0, names)
        numbers = [int(row[0][:19]) for row in rows]
        if len(rows) >= CLEARLY and numbers == sorted(numbers):
            raise DataError(
                f"{path}: may be triples of row, label and score, or lists of three labels (hint: write a first line "
                "row,label,score above triples, and blanks between the labels of lists)"
            )
    return None


def _find_names(labels: Sequence[bytes], names: Names | None) -> Names | None:
    """Return the names if one of the labels is a name, or all are no numbers."""
    if names is None:
        return None
    words = {label.strip(b' "').decode(errors="surrogateescape") for label in labels}
    return names if any(word in names.labels or not is_id(word) for word in words) else None


def _from_table(table: Float64, layout: CsvLayout) -> Columns | None:
    """Return the columns of plain lines of numbers, or None where they are not rows, labels and values."""
    if layout.names is not None or table.shape[1] != layout.n_columns:
        return None
    rows, labels, *values = (table[:, place] for place in layout.roles if place is not None)
    return (rows, labels, *(each.copy() for each in values)) if are_whole(rows) and are_whole(labels) else None


def _from_line(line: bytes, layout: CsvLayout) -> tuple[float, ...] | None:
    fields = _split(line, layout.delimiter)
    is_comment = line.startswith(b"#") and len(fields) != layout.n_columns  # a name may begin with a hash too
    if not line.strip() or is_comment:
        return None
    if len(fields) != layout.n_columns:
        raise ValueError(f"expected {counted(layout.n_columns, 'field')}, found {len(fields):,}: {quote(line)}")
    row, label, *values = (fields[place] for place in layout.roles if place is not None)
    return (_parse_whole(row, "row"), _parse_label(label, layout.names), *map(_parse_value, values))


def _split(line: bytes, delimiter: bytes) -> list[str]:
    text = line.rstrip(b"\r\n").decode(errors="surrogateescape")
    if '"' not in text:
        return [field.strip() for field in text.split(delimiter.decode())]
    try:
        return [field.strip() for field in next(csv.reader([text], delimiter=delimiter.decode()), [])]
    except csv.Error:
        return []


def _parse_whole(word: str, role: str) -> int:
    """Parse a row or label; ``12.0`` is 12."""
    if is_id(word):
        return int(word)
    if word.isascii() and re.fullmatch(r"\d{1,15}\.0*", word):
        return int(word.partition(".")[0])
    raise ValueError(f"expected a 0-based {role} number, found {quote(word.encode(errors='replace'))}")


def _parse_label(word: str, names: Names | None) -> int:
    if names is None:
        return _parse_whole(word, "label")
    if word not in names.labels:
        raise ValueError(unknown_name(word[:40], names))
    return names.labels[word]


def _parse_value(word: str) -> float:
    try:
        if not word.isascii() or "_" in word:
            raise ValueError
        return float(word)
    except ValueError:
        token = word.encode(errors="replace")
        raise ValueError(f"expected a number as the score, found {quote(token)}{explain_decimal(token)}") from None
