"""Triples: CSV or TSV of row, label and score, by the names of the header, or without one in this order."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, counted
from xmceval.files.formats.formattable import FORMATS
from xmceval.files.io.chunks import LineChunks
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import quote
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.records.decimals import explain_decimal
from xmceval.files.records.entries import Entries, Roles, are_whole, explain_columns, find_roles
from xmceval.files.sidecars.labelnames import Names, is_id, unknown_name

DELIMITERS = {b",": "comma", b"\t": "tab", b";": "semicolon"}

CLEARLY = 8  # lines of three whole numbers, the first ascending, that are hardly lists of three labels

_HEADER = re.compile(rb'[\w" .,;\t\r-]+')

_NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Layout:
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
    """Open a file of triples; return None if it is not one.

    Raises
    ------
    DataError
        A wrong line, with its place, or a file that may be triples or lists of three labels.
    """
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
    entries = _read(path, layout)
    header = "in the order of its header" if layout.header_line else "no header"
    form = FORMATS["triples"]
    facts = [f"{form.title} between {DELIMITERS[layout.delimiter]}s", header]
    facts += [] if layout.names is None else [f"label names from {layout.names.source}"]
    return entries.open(path, request, form, facts)


def _detect_header(filled: Sequence[tuple[int, bytes]], request: Request) -> Layout | None:
    """Return the layout below a line with the names of the columns."""
    if not filled or not _HEADER.fullmatch(filled[0][1]):
        return None
    number, line = filled[0]
    for delimiter in DELIMITERS:
        fields = line.split(delimiter)
        roles = find_roles([field.decode(errors="replace") for field in fields], request)
        if roles is not None:
            labels = [row[roles.label] for _, text in filled[1:] if len(row := text.split(delimiter)) == len(fields)]
            return Layout(delimiter, roles, len(fields), number, _find_names(labels, request.names))
    return None


def _check_header(path: Path, filled: Sequence[tuple[int, bytes]], request: Request) -> None:
    """Refuse lines of numbers below a header with other names."""
    for delimiter in (b",", b";"):
        number, header = filled[0] if len(filled) > 1 else (0, b"")
        fields, rows = header.split(delimiter), (line.split(delimiter) for _, line in filled[1:])
        is_header = len(fields) > 1 and not any(field.strip()[:1].isdigit() or not field.strip() for field in fields)
        if is_header and all(len(row) == len(fields) and row[0].strip(b' "').isdigit() for row in rows):
            raise DataError(
                f"{path}:{number}: the header is {quote(header)}; expected columns {explain_columns(request)}"
            )


def _detect_columns(path: Path, filled: Sequence[tuple[int, bytes]], request: Request) -> Layout | None:
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
            return Layout(delimiter, Roles(0, 1, 2), 3, 0, names)
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


def _read(path: Path, layout: Layout) -> Entries:
    entries, first_line = Entries(), 1
    for chunk in LineChunks(path):
        text = bytes(chunk.buffer[chunk.start : chunk.stop])
        if first_line <= layout.header_line:
            text, first_line = _skip_header(text, first_line, layout.header_line)
        if text:
            _add_fast(entries, text, layout) or _add_lines(entries, path, text, first_line, layout)
        first_line += text.count(b"\n")
    return entries


def _skip_header(text: bytes, first_line: int, header_line: int) -> tuple[bytes, int]:
    """Return the text below the header, as far as it is in this text, and the number of its first line."""
    while text and first_line <= header_line:
        text, first_line = text[text.index(b"\n") + 1 :], first_line + 1
    return text, first_line


def _add_fast(entries: Entries, text: bytes, layout: Layout) -> bool:
    """Add the entries of plain lines of numbers; return whether all of them are."""
    if layout.names is not None or b"#" in text or b'"' in text or not text.isascii():
        return False
    columns = [place for place in layout.roles if place is not None]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a chunk of blank lines, which is fine
            table = np.loadtxt(
                io.BytesIO(text), dtype=np.float64, delimiter=layout.delimiter.decode(), comments=None, ndmin=2
            )
    except ValueError:
        return False
    if table.size == 0:
        return True
    if table.shape[1] != layout.n_columns:
        return False
    rows, labels, *values = (table[:, place] for place in columns)
    if not are_whole(rows) or not are_whole(labels):
        return False
    entries.add(rows, labels, values[0].copy() if values else None)
    return True


def _add_lines(entries: Entries, path: Path, text: bytes, first_line: int, layout: Layout) -> bool:
    """Add entries line by line.

    Raises
    ------
    DataError
        A wrong line, with its place.
    """
    rows, labels, values = list[int](), list[int](), list[float]()
    row_at, label_at, value_at = layout.roles
    for number, line in enumerate(text.split(b"\n")[:-1], first_line):
        plain = line.removeprefix(UTF8_BOM) if number == 1 else line
        fields = _split(plain, layout.delimiter)
        is_comment = plain.startswith(b"#") and len(fields) != layout.n_columns  # a name may begin with a hash too
        if not plain.strip() or is_comment:
            continue
        if len(fields) != layout.n_columns:
            raise DataError(
                f"{path}:{number}: expected {counted(layout.n_columns, 'field')}, found {len(fields):,}: {quote(plain)}"
            )
        try:
            rows.append(_parse_whole(fields[row_at], "row"))
            labels.append(_parse_label(fields[label_at], layout.names))
            values.append(1.0 if value_at is None else _parse_value(fields[value_at]))
        except ValueError as error:
            raise DataError(f"{path}:{number}: {error}") from None
    if rows:
        entries.add(np.array(rows, dtype=np.int64), np.array(labels, dtype=np.int64), np.array(values))
    return True


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
