"""Tables by query: lines of query, document and value, or lists of documents, joined by the names of queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from xmceval.errors import DataError
from xmceval.files.ranking.trecrows import Lines
from xmceval.files.tables.arrays import AnyArray, Column, to_numpy, to_text, to_whole
from xmceval.files.tables.byrow import read_values, refuse_repeats
from xmceval.files.tables.columns import Columns
from xmceval.files.tables.ranks import RANKS_LOOKED_AT
from xmceval.files.tables.table import Table
from xmceval.files.text.words import Words

Ranked = tuple[int, int, float]  # query, rank and score


@dataclass(frozen=True)
class QueryTable:
    """A table whose lines have the names of queries."""

    table: Table
    columns: Columns
    are_scores: bool

    def __str__(self) -> str:
        return self.table.name


class TableLines(Lines):
    """The lines of a table, or the documents in its lists.

    Parameters
    ----------
    source : QueryTable
    judged, documents
        As in `Lines`.
    """

    def __init__(
        self, source: QueryTable, judged: Mapping[bytes, int] | None = None, documents: Words | None = None
    ) -> None:
        super().__init__(judged, documents)
        self.n_entries = 0
        self.ranked: list[Ranked] = []
        self.noun = "document" if source.columns.are_lists else "line"
        if not source.columns.are_lists:
            self.place = source.table.place
        for batch in source.table.batches(source.columns.names):
            self._read(source, {column.name: column for column in batch})

    def _read(self, source: QueryTable, by_name: Mapping[str, Column]) -> None:
        from pyarrow import compute

        columns = source.columns
        key = by_name[columns.key or ""].checked()
        runs = compute.run_end_encode(key.array)  # lines of one query mostly follow one another
        ends = to_numpy(runs.run_ends).astype(np.int64)

        def place(run: int) -> str:
            return key.place(int(ends[run - 1]) if run else 0)

        queries = self.queries.number(*to_text(Column(runs.values, key.name, place)))
        n_lines = np.diff(ends, prepend=0)
        rows = np.repeat(self._rows_of(queries), n_lines)
        value = None if columns.value is None else by_name[columns.value]
        label, values, lengths = read_values(columns, by_name[columns.label], value, are_scores=source.are_scores)
        if lengths is not None:
            rows = np.repeat(rows, lengths)
        if value is not None:
            wrong = np.flatnonzero(np.isnan(values) & (rows >= 0))
            if wrong.size:
                raise label.refuse(int(wrong[0]), f"the {'score' if source.are_scores else 'grade'} is NaN")
        self.n_entries += rows.size
        n_pairs = len(self.queries) * max(len(self.documents), 1)
        refuse_repeats(str(source), self.n_entries, n_pairs, "document")
        if columns.rank is not None and not self.ranked:
            self.ranked = _first_ranks(by_name[columns.rank], queries, n_lines, values)
        text = to_text(label)
        self._add(text.bytes, rows, np.stack([text.begins, text.ends]), values.astype(np.float64, copy=False))


def _first_ranks(column: Column, queries: AnyArray, lengths: AnyArray, values: AnyArray) -> list[Ranked]:
    """Return query, rank and score of the first lines; nothing where the ranks are no whole numbers."""
    part = column._replace(array=column.array[:RANKS_LOOKED_AT])
    try:
        ranks = to_whole(part)
    except DataError:
        return []
    numbers = np.repeat(queries, lengths)[: ranks.size]
    return list(zip(numbers.tolist(), ranks.tolist(), values[: ranks.size].tolist(), strict=True))
