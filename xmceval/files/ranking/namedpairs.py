"""Filters beside truth by query: pairs of names of a query and a document, which are removed from predictions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, counted
from xmceval.files.io.lines import Places
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import NPY
from xmceval.files.io.streams import check_is_text, is_empty, quote, read_first_bytes
from xmceval.files.ranking.judgments import Documents, Judgments, name_queries
from xmceval.files.ranking.recordlines import RecordPart, Records
from xmceval.files.ranking.trecrows import Entries, Lines
from xmceval.files.tables.byquery import QueryTable
from xmceval.files.tables.columns import find_pairs
from xmceval.files.tables.objects import find_table
from xmceval.files.tables.opening import table_at
from xmceval.files.tables.table import Table
from xmceval.rows.filters import Filter, ordered

BEYOND = 1 << 62  # labels from here on are of documents that neither truth nor predictions mention


@dataclass(frozen=True)
class NamedPairs:
    """Pairs of a query, by its row, and the name of a document."""

    name: str
    lines: Lines
    entries: Entries

    def filter(self, documents: Documents) -> Filter:
        """Return the pairs as rows and labels, once predictions are read: nobody may have judged a document."""
        labels = documents.find(self.lines.documents)
        labels = np.where(labels < 0, BEYOND + np.arange(labels.size), labels)
        rows = np.repeat(np.arange(self.entries.indptr.size - 1), np.diff(self.entries.indptr))
        return ordered(self.name, rows, labels[self.entries.documents])


def read_named_pairs(pairs: Any, judgments: Judgments) -> NamedPairs:
    """Read pairs from text, a table, a data frame or a list; a query that the truth lacks is refused."""
    if isinstance(pairs, (str, Path)):
        path = to_path(pairs)
        name, table = path.name, table_at(path)
        lines = _read_table(table, judgments) if table is not None else _read_lines(name, _pairs_of(path), judgments)
    else:
        name, table = "filter", find_table(pairs, "filter")
        lines = _read_table(table, judgments) if table is not None else _read_lines(name, _listed(pairs), judgments)
    unknown = set(lines.queries.tolist()) - judgments.queries.keys() - judgments.left_out
    if unknown:
        raise DataError(
            f"{name}: has {counted(len(unknown), 'query')} that {judgments.name} lacks, {name_queries(unknown)} (hint: "
            "beside queries, a filter has names of query and document, not numbers of row and label)"
        )
    return NamedPairs(name, lines, lines.gather(len(judgments.queries)))


def _read_table(table: Table, judgments: Judgments) -> Lines:
    """Read the columns of queries and documents."""
    lists = [name for name in table.names if table.is_list(name)]
    columns, _ = find_pairs(table.name, table.names, lists, are_scores=False)
    if not columns.has_queries:
        raise DataError(f"{table.name}: has numbers of rows, and {judgments.name} has queries; expected names of these")
    return QueryTable(table, columns, are_scores=False).lines(judgments.queries)


def _read_lines(name: str, pairs: Iterable[tuple[Any, Any]], judgments: Judgments) -> Lines:
    """Read pairs one by one."""
    queries, documents = map(list, zip(*pairs, strict=True)) if (pairs := list(pairs)) else ([], [])
    part = RecordPart(queries, np.ones(len(queries), dtype=np.int64), documents, np.zeros(len(queries)))
    return Records(name, "pair", [part]).lines(judgments.queries)


def _pairs_of(path: Path) -> Iterable[tuple[str, str]]:
    """Yield the pairs of text, between blanks or a tab; a line is a comment only if it begins with a hash."""
    if not is_empty(path) and read_first_bytes(path, len(NPY)) == NPY:
        raise DataError(f"{path}: is an array; expected text of lines 'query document', or a table")
    check_is_text(path)
    for number, line in Places(path, has_comments=True).filled_lines():
        words = line.split(b"\t") if line.count(b"\t") == 1 else line.split()
        if len(words) != 2:
            raise DataError(f"{path}:{number}: expected 'query document', found {quote(line)}")
        query, document = (word.strip().decode(errors="surrogateescape") for word in words)
        yield query, document


def _listed(pairs: Any) -> Iterable[tuple[Any, Any]]:
    """Yield the pairs of a list or an array."""
    rows = pairs.tolist() if isinstance(pairs, np.ndarray) else pairs
    for i, pair in enumerate(rows):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not all(isinstance(word, str) for word in pair):
            raise DataError(f"filter[{i}]: expected names of a query and a document, got {pair!r}")
        yield tuple(pair)
