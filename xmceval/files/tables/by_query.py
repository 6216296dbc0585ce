"""Read tables with a query, document and value per line, or with a list of documents, joined by query name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from xmceval.errors import DataError
from xmceval.files.formats import Format
from xmceval.files.ranking.lines import Lines, Ranked
from xmceval.files.tables.arrow import Column, to_numpy, to_text, to_whole
from xmceval.files.tables.by_row import read_values, refuse_repeats
from xmceval.files.tables.columns import Columns
from xmceval.files.tables.table import Table
from xmceval.files.text.words import Words
from xmceval.rows.block import AnyArray

RANKS_LOOKED_AT = 1 << 15  # lines


@dataclass(frozen=True)
class QueryTable:
    """A table whose lines have the names of queries."""

    table: Table
    columns: Columns
    are_scores: bool

    def __str__(self) -> str:
        return self.table.name

    @property
    def form(self) -> Format:
        """The format."""
        return self.table.form

    @property
    def facts(self) -> list[str]:
        """Facts about it, for people."""
        return [*self.table.facts, f"columns {', '.join(self.columns.names)}"]

    def lines(self, judged: Mapping[bytes, int] | None = None, documents: Words | None = None) -> Lines:
        """Read the lines of the table, or the documents in its lists."""
        are_lists, n_entries = self.columns.are_lists, 0
        documents = Words() if documents is None else documents
        place = None if are_lists else self.table.place
        lines = Lines("document" if are_lists else "line", judged, documents, place=place)
        for batch in self.table.batches(self.columns.names):
            n_entries += self._read({column.name: column for column in batch}, lines)
            n_pairs = len(lines.queries) * max(len(lines.documents), 1)
            refuse_repeats(str(self), n_entries, n_pairs, "document")
        return lines

    def _read(self, by_name: Mapping[str, Column], lines: Lines) -> int:
        """Add some lines, and return how many entries they have."""
        from pyarrow import compute

        columns = self.columns
        key = by_name[columns.key or ""].checked()
        runs = compute.run_end_encode(key.array)  # lines of one query mostly follow one another
        ends = to_numpy(runs.run_ends).astype(np.int64)

        def place(run: int) -> str:
            return key.place(int(ends[run - 1]) if run else 0)

        queries = lines.queries.number(*to_text(Column(runs.values, key.name, place)))
        n_lines = np.diff(ends, prepend=0)
        rows = np.repeat(lines.rows_of(queries), n_lines)
        value = None if columns.value is None else by_name[columns.value]
        label, values, lengths = read_values(columns, by_name[columns.label], value, are_scores=self.are_scores)
        if lengths is not None:
            rows = np.repeat(rows, lengths)
        if value is not None:
            wrong = np.flatnonzero(np.isnan(values) & (rows >= 0))
            if wrong.size:
                raise label.refuse(int(wrong[0]), f"the {'score' if self.are_scores else 'grade'} is NaN")
        if columns.rank is not None and not lines.ranked:
            lines.ranked = _first_ranks(by_name[columns.rank], queries, n_lines, values)
        text = to_text(label)
        lines.add(text.bytes, rows, np.stack([text.begins, text.ends]), values.astype(np.float64, copy=False))
        return rows.size


def _first_ranks(column: Column, queries: AnyArray, lengths: AnyArray, values: AnyArray) -> list[Ranked]:
    """Return query, rank and score of the first lines; nothing where the ranks are no whole numbers."""
    try:
        ranks = to_whole(column._replace(array=column.array[:RANKS_LOOKED_AT]))
    except DataError:
        return []
    numbers = np.repeat(queries, lengths)[: ranks.size]
    return list(zip(numbers.tolist(), ranks.tolist(), values[: ranks.size].tolist(), strict=True))
