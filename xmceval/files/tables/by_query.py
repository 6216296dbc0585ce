"""Read tables with a query, document and value per line, or with a list of documents, joined by query name."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np

from xmceval.errors import DataError
from xmceval.files.ranking.lines import Lines, QuerySource
from xmceval.files.tables.arrow import Column, to_numpy, to_text, to_whole
from xmceval.files.tables.by_row import read_values, refuse_repeats
from xmceval.files.tables.columns import Columns
from xmceval.files.tables.table import Table
from xmceval.rows.block import Int64

RANKS_LOOKED_AT = 1 << 15  # lines


def query_table(table: Table, columns: Columns, *, are_scores: bool) -> QuerySource:
    """Return a table whose lines have the names of queries."""
    return QuerySource(
        table.name,
        table.form,
        (*table.facts, f"columns {', '.join(columns.names)}"),
        "document" if columns.are_lists else "line",
        partial(_read, table, columns, are_scores),
        is_ranked=columns.are_ranked,
    )


def _read(table: Table, columns: Columns, are_scores: bool, lines: Lines) -> None:
    """Add the lines of a table, or the documents in its lists."""
    from pyarrow import compute

    lines.place = None if columns.are_lists else table.place
    n_entries = 0
    for batch in table.batches(columns.names):
        by_name = {column.name: column for column in batch}
        key = by_name[columns.key or ""].checked()
        runs = compute.run_end_encode(key.array)  # lines of one query mostly follow one another
        ends = to_numpy(runs.run_ends).astype(np.int64)

        def place(run: int, key: Column = key, ends: Int64 = ends) -> str:
            return key.place(int(ends[run - 1]) if run else 0)

        queries = lines.queries.number(*to_text(Column(runs.values, key.name, place)))
        n_lines = np.diff(ends, prepend=0)
        rows = np.repeat(lines.rows_of(queries), n_lines)
        value = None if columns.value is None else by_name[columns.value]
        label, values, lengths = read_values(columns, by_name[columns.label], value, are_scores=are_scores)
        if lengths is not None:
            rows = np.repeat(rows, lengths)
        if value is not None:
            wrong = np.flatnonzero(np.isnan(values) & (rows >= 0))
            if wrong.size:
                raise label.refuse(int(wrong[0]), f"the {'score' if are_scores else 'grade'} is NaN")
        if columns.rank is not None and not lines.ranked:
            column = by_name[columns.rank]
            with suppress(DataError):  # ranks that are no whole numbers are not looked at
                ranks = to_whole(column._replace(array=column.array[:RANKS_LOOKED_AT]))
                of_lines = np.repeat(queries, n_lines)[: ranks.size], ranks, values[: ranks.size]
                lines.ranked = list(zip(*(array.tolist() for array in of_lines), strict=True))
        text = to_text(label)
        lines.add(text.bytes, rows, np.stack([text.begins, text.ends]), values.astype(np.float64, copy=False))
        n_entries += rows.size
        refuse_repeats(table.name, n_entries, len(lines.queries) * max(len(lines.documents), 1), "document")
