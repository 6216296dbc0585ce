"""Opening tables: the columns tell whether lines are joined by query, or are entries of rows in order."""

from __future__ import annotations

from collections.abc import Sequence

from xmceval.errors import DataError
from xmceval.files.io.streams import quote
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.tables.byrow import open_by_row
from xmceval.files.tables.columns import are_known, explain_names, find_columns, find_roles
from xmceval.files.tables.table import DELIMITERS, Table, arrow_table, csv_table, parquet_table, split_fields

MOST_COLUMNS = 1000


def open_table(table: Table, request: Request) -> Opened:
    """Open a table as truth or predictions."""
    names = table.names
    columns = find_columns(
        table.name,
        names,
        [name for name in names if table.is_list(name)],
        are_scores=request.are_scores,
        numbers=[name for name in names if table.is_number(name)],
    )
    if columns.has_queries:
        from xmceval.files.ranking.trec import open_by_query
        from xmceval.files.tables.byquery import QueryTable

        return open_by_query(QueryTable(table, columns, request.are_scores), request)
    return open_by_row(table, columns, request)


def open_parquet(head: Head, request: Request) -> Opened:
    """Open a Parquet file."""
    return open_table(parquet_table(head.path), request)


def open_arrow(head: Head, request: Request) -> Opened:
    """Open an Arrow IPC file or stream."""
    return open_table(arrow_table(head.path), request)


def open_csv(head: Head, request: Request) -> Opened | None:
    """Open a CSV or TSV file with a header line of known names; return None for other text.

    A first line of other names above lines of numbers is refused: it is a header of columns that are not known.
    """
    filled = [(number, line) for number, line in enumerate(head.lines, 1) if line.strip()][:MOST_COLUMNS]
    filled = filled[next((i for i, (_, line) in enumerate(filled) if not line.startswith(b"#")), len(filled)) :]
    if not filled:
        return None
    number, line = filled[0]
    for delimiter in DELIMITERS:
        names = split_fields(line, delimiter)
        if len(names) < 2 or any(not name or name[0].isdigit() or ":" in name for name in names):
            continue
        if are_known(names):
            return open_table(csv_table(head.path, names, delimiter, number), request)
        if any(find_roles(names).values()) and _are_numbered(filled[1:], delimiter, len(names)):
            raise DataError(
                f"{head.path}:{number}: the header is {quote(line)}; expected "
                f"{explain_names(are_scores=request.are_scores)} (hint: rename the columns)"
            )
    return None


def _are_numbered(lines: Sequence[tuple[int, bytes]], delimiter: bytes, n_columns: int) -> bool:
    """Return whether lines have as many fields as the header, of which the first or last is a number."""
    rows = [line.split(delimiter) for _, line in lines]
    ends = [(row[0].strip(b' "\r'), row[-1].strip(b' "\r')) for row in rows]
    return bool(rows) and all(
        len(row) == n_columns and (first.isdigit() or last.replace(b".", b"", 1).isdigit())
        for row, (first, last) in zip(rows, ends, strict=True)
    )
