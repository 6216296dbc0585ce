"""Opening tables: the columns tell whether lines are joined by query, or are entries of rows in order."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from xmceval.errors import DataError
from xmceval.files.io import signatures
from xmceval.files.io.inputfiles import take_pipe
from xmceval.files.io.streams import is_empty, quote
from xmceval.files.opened import MOST_LINES, Head, Opened, Request
from xmceval.files.tables.byrow import open_by_row
from xmceval.files.tables.columns import are_known, explain_names, find_columns, find_roles
from xmceval.files.tables.ranks import refuse_other_order
from xmceval.files.tables.shapes import refuse_other_shape, refuse_wide_text
from xmceval.files.tables.table import DELIMITERS, Table, arrow_table, csv_table, parquet_table, split_fields

_ID_AND_LABELS = re.compile(rb"[^,]+,(?:\d+(?: +\d+)*)?")  # as Kaggle has them


def open_table(table: Table, request: Request) -> Opened:
    """Open a table as truth or predictions."""
    counts = Counter(table.names)
    names = [name for name, count in counts.items() if count == 1]
    roles = find_roles(counts, counts)
    twice = next((name for role in roles.values() for name in role if counts[name] > 1), None)
    if twice is not None:
        raise DataError(f"{table}: has {counts[twice]} columns {twice!r} (hint: keep one of them)")
    lists = [name for name in names if table.is_list(name)]
    known = find_roles(names, lists)
    if not known["document"] and not known["label"]:
        refuse_other_shape(table, lists)
    columns = find_columns(table, names, lists, are_scores=request.are_scores)
    if request.are_scores:
        refuse_other_order(table, columns, roles)
    if columns.has_queries:
        from xmceval.files.ranking.trec import open_by_query
        from xmceval.files.tables.byquery import QueryTable

        opened = open_by_query(QueryTable(table, columns, request.are_scores), request)
    else:
        opened = open_by_row(table, columns, request)
    return replace(opened, value=columns.value)


class Header(NamedTuple):
    """The first line of text as names of columns."""

    number: int  # of the line
    line: bytes
    names: list[str]
    delimiter: bytes


def _read_headers(head: Head) -> Iterator[Header]:
    """Yield the first line as names between each of the delimiters that split it."""
    number, line = head.first_line
    for delimiter in DELIMITERS:
        names = split_fields(line, delimiter)
        if len(names) > 1:
            yield Header(number, line, names, delimiter)


def find_header(head: Head, request: Request) -> Header | None:
    """Return the header of a CSV or TSV file with known names; None for other text."""
    for header in _read_headers(head):
        names = header.names
        if request.names is not None and all(names[1:]) and request.names.has_all([name.encode() for name in names]):
            return None
        if are_known(names) and all(names[1:]) and not any(name[:1].isdigit() for name in names):
            return header
    return None


def open_csv(head: Head, request: Request, header: Header) -> Opened:
    """Open a CSV or TSV file with a header line of known names."""
    if any(name[:1] in {"'", '"'} for name in header.names):  # fields would have them too
        raise DataError(
            f"{head.path}:{header.number}: expected names of columns without quotes, or with double quotes that no "
            f"blank precedes, found {quote(header.line)}"
        )
    return open_table(csv_table(head.path, header.names, header.delimiter, header.number), request)


def refuse_header(head: Head, request: Request) -> None:
    """Refuse a first line of unknown names above lines of numbers: it is a header of columns that are not known."""
    number, line = head.first_line
    below = head.lines[number:MOST_LINES]
    filled = [row.strip() for row in below if row.strip()]
    for _, _, names, delimiter in _read_headers(head):
        if not all(names[1:]):
            continue
        if request.names is not None and request.names.has_all([name.encode() for name in names]):
            return
        refuse_wide_text(head.path, number, names, below, delimiter)
        if any(name[:1].isdigit() for name in names):
            continue
        if any(find_roles(names).values()) and _are_numbered(filled, delimiter, len(names)):
            raise DataError(
                f"{head.path}:{number}: the header is {quote(line)}; expected "
                f"{explain_names(are_scores=request.are_scores)} (hint: rename the columns)"
            )
        if len(names) == 2 and filled and all(map(_ID_AND_LABELS.fullmatch, filled)):
            if len({row.partition(b",")[0] for row in filled}) < len(filled) or "true" in names[0].lower():
                true, predicted = (
                    f"tail -n +{number + 1} {shlex.quote(str(head.path))} | cut -d, -f{i}" for i in (1, 2)
                )
                raise DataError(
                    f"{head.path}:{number}: {quote(line)} is above two columns, and {names[0]!r} is no id of rows: "
                    "are they the true and the predicted labels, or rows and labels? (hint: of true and predicted ones "
                    f"write {true} > truth.txt and {predicted} > preds.txt; of rows and labels name the columns "
                    "row,label)"
                )
            raise DataError(
                f"{head.path}:{number}: {quote(line)} is above lines of an id and labels; expected lines of labels "
                "(hint: sort the lines of both files by id, and keep what follows the comma)"
            )
    words = line.decode(errors="replace").replace("|", " ").split()
    if request.names is None and are_known(words) and len(words) == sum(map(len, find_roles(words).values())):
        raise DataError(f"{head.path}:{number}: expected commas, tabs or semicolons between {quote(line)}")


def table_at(path: Path) -> Table | None:
    """Return the table of a Parquet or Arrow file, or of text with a header that has a column of queries or rows."""
    take_pipe(path)
    if is_empty(path):
        return None
    head = Head.of(path)
    if head.content.startswith(signatures.PARQUET):
        return parquet_table(path)
    if head.content.startswith((signatures.ARROW_FILE, signatures.ARROW_STREAM)):
        return arrow_table(path)
    for number, _, names, delimiter in _read_headers(head):
        roles = find_roles(names)
        if roles["query"] or roles["row"]:
            return csv_table(path, names, delimiter, number)
    return None


def _are_numbered(lines: Sequence[bytes], delimiter: bytes, n_columns: int) -> bool:
    """Return whether lines have as many fields as the header, of which the first or last is a number."""
    rows = [line.split(delimiter) for line in lines]
    ends = [(row[0].strip(b' "\r'), row[-1].strip(b' "\r')) for row in rows]
    return bool(rows) and all(
        len(row) == n_columns and (first.isdigit() or last.replace(b".", b"", 1).isdigit())
        for row, (first, last) in zip(rows, ends, strict=True)
    )
