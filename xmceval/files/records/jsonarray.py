"""JSON arrays: a file that is one array of rows, or of objects with row, label and score; held in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, counted
from xmceval.files.formats.formattable import FORMATS
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import read_all_bytes
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.records.entries import Roles, find_roles, open_entries
from xmceval.files.sidecars.labelnames import LARGEST_ID
from xmceval.files.text.jsonlines import scores_of, to_label, to_number, truth_of
from xmceval.rows.matrices.matrices import MatrixSource
from xmceval.rows.matrices.storage import Csr

FORM = FORMATS["json-array"]

Element = tuple[str, Any]  # its place for messages, its value

_BLANKS = re.compile(r"[ \t\r\n]*")


def open_json_array(head: Head, request: Request) -> Opened | None:
    """Open a file that is one JSON array; return None for another, such as one with an array per line.

    Raises
    ------
    DataError
        Damaged JSON or a wrong object, with its place.
    """
    start = head.content.removeprefix(UTF8_BOM).lstrip()
    if not start.startswith(b"[") or _has_array_per_line(start):
        return None
    path = head.path
    elements = _read_elements(path)
    first = next(elements, None)
    if first is None:
        raise DataError(f"{path}: is an empty JSON array; expected one object per row")
    _, example = first
    roles = find_roles(list(example), request) if isinstance(example, dict) else None
    if roles is not None:
        return _open_triples(path, request, chain([first], elements), list(example), roles)
    return _open_rows(path, request, chain([first], elements))


def _has_array_per_line(start: bytes) -> bool:
    """Return whether the first line is a whole array, and others follow or its objects are labels of one row."""
    line, _, rest = start.partition(b"\n")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return False
    is_row = all(isinstance(each, dict) and "label" in each and "row" not in each for each in first)
    return bool(rest.strip()) or (is_row and bool(first))


def _read_elements(path: Path) -> Iterator[Element]:
    """Yield the place and the value of each element."""
    try:
        text = read_all_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected UTF-8, {error.reason} at byte {error.start}") from None
    decoder, number, line, before = json.JSONDecoder(), 0, 1, 0
    at = _skip_blanks(text, _skip_blanks(text, 0) + 1)
    while number or text[at : at + 1] != "]":
        line, before = line + text.count("\n", before, at), at
        place = f"{path}:{line}"
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise DataError(
                f"{path}:{error.lineno}: expected a JSON array of objects ({error.msg}: column {error.colno})"
            ) from None
        except (RecursionError, ValueError):
            raise DataError(f"{place}: expected JSON without deep nesting and huge numbers") from None
        yield place, value
        number, at = number + 1, _skip_blanks(text, at)
        mark = text[at : at + 1]
        if mark not in {",", "]"}:
            raise DataError(f"{place}: expected a comma or ] after element {number - 1} (is the file truncated?)")
        if mark == "]":
            break
        at = _skip_blanks(text, at + 1)
    end = _skip_blanks(text, at + 1)
    if end < len(text):
        line = text.count("\n", 0, end) + 1
        raise DataError(f"{path}:{line}: expected nothing after the array, found {text[end : end + 40]!a}")


def _skip_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return at if match is None else match.end()


def _open_rows(path: Path, request: Request, elements: Iterator[Element]) -> Opened:
    """Read elements that are rows, as in JSON lines."""
    read = scores_of if request.are_scores else truth_of
    labels, values, ends = list[int](), list[float](), [0]
    for place, row in elements:
        if not isinstance(row, (dict, list)):
            raise DataError(f"{place}: expected an object per row, found {ascii(row)[:40]}")
        try:
            for label, value in read(row, request.names):
                labels.append(label)
                values.append(value)
        except ValueError as error:
            raise DataError(f"{place}: {error}") from None
        ends.append(len(labels))
    csr = Csr(np.array(ends, dtype=np.int64), np.array(labels, dtype=np.int64), np.array(values), request.are_scores)
    source = MatrixSource(str(path), csr.n_rows, None, [csr], is_exact=False)
    facts = (f"{FORM.title} of {counted(csr.n_rows, 'row')}",)
    return Opened(source, FORM, facts, request.role, is_held=True)


def _open_triples(path: Path, request: Request, elements: Iterator[Element], names: list[str], roles: Roles) -> Opened:
    """Read elements that are objects of row, label and score."""
    keys = [name for place, name in enumerate(names) if place in roles]
    row_key, label_key, *value_keys = (names[place] for place in roles if place is not None)
    rows, labels, values = list[int](), list[int](), list[float]()
    for place, item in elements:
        if not isinstance(item, dict) or any(key not in item for key in keys):
            raise DataError(f"{place}: expected an object with {', '.join(keys)}, found {ascii(item)[:60]}")
        row = item[row_key]
        if type(row) is not int or not 0 <= row <= LARGEST_ID:
            raise DataError(f"{place}: expected a 0-based row number, found {ascii(row)[:40]}")
        try:
            rows.append(row)
            labels.append(to_label(item[label_key], request.names))
            values.extend(to_number(item[key], key) for key in value_keys)
        except ValueError as error:
            raise DataError(f"{place}: {error}") from None
    columns = np.array(rows, dtype=np.int64), np.array(labels, dtype=np.int64), np.array(values)
    facts = [f"{FORM.title} of objects with {', '.join(keys)}"]
    return open_entries(path, request, FORM, facts, [columns if value_keys else columns[:2]])
