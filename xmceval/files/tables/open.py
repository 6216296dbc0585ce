"""Open a table, and decide from its columns whether it is joined by query or read row by row.

Tables with a column per label, lists stored as text, and ranks that contradict scores are refused.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, Doubt, agreeing, listed
from xmceval.files.io.chunks import NUMBER
from xmceval.files.io.paths import is_pair, to_path
from xmceval.files.io.signatures import TABLES
from xmceval.files.io.streams import is_empty, quote
from xmceval.files.opened import MOST_LINES, Head, Opened, Request
from xmceval.files.ranking.queries import Lines, QuerySource, doubt_ranks
from xmceval.files.tables.by_row import open_by_row, read_numbers, read_values, refuse_repeats
from xmceval.files.tables.columns import (
    UNUSED,
    Columns,
    are_known,
    describe_systems,
    doubt_systems,
    doubt_unread,
    find_columns,
    find_pairs,
    find_roles,
    unknown_columns,
)
from xmceval.files.tables.objects import find_table
from xmceval.files.tables.table import (
    DELIMITERS,
    LOOKED_AT,
    Column,
    Table,
    csv_table,
    file_table,
    join_lines,
    split_fields,
    to_numpy,
)
from xmceval.rows.block import Int64
from xmceval.rows.names import plain
from xmceval.rows.progress import in_turn
from xmceval.rows.shards import Shards

RANKS_LOOKED_AT = 1 << 15  # lines


def open_table(table: Table, request: Request) -> Opened:
    """Open a table as truth or predictions."""
    counts = Counter(table.names)
    names = [name for name, count in counts.items() if count == 1]
    roles = find_roles(counts, counts)
    for name in chain.from_iterable(roles.values()):
        if counts[name] > 1:
            raise DataError(f"{table}: has {counts[name]} columns {name!r} (hint: keep one of them)")
    lists = [name for name in names if table.is_list(name)]
    known = find_roles(names, lists)
    if not known["document"] and not known["label"]:
        _refuse_text(table)
    columns = find_columns(table, names, lists, are_scores=request.are_scores)
    if columns.has_queries:
        from xmceval.files.ranking.runs import open_by_query

        opened = open_by_query(query_table(table, columns), request)
    else:
        opened = open_by_row(table, columns, request)
    doubts = opened.source.notes
    doubts.extend(doubt_unread(table, columns, lists))
    if request.are_scores:
        doubts.extend(doubt_systems(table, columns))
        doubts.extend(_doubt_other_order(table, columns, roles))
    return replace(opened, value=columns.value, has_grades=columns.has_grades)


def join_tables(shards: Shards, name: str, truth: Opened | None = None) -> Table | None:
    """Return shards as one table if its lines name queries, or rows that are counted over all shards; else None."""
    tables = list[Table]()
    for number, part in enumerate(in_turn(shards.name, shards.parts)):
        table = _find_part(part, f"{name}[{number}]")
        if table is None:
            return None
        tables.append(table)
    first = tables[0]
    try:
        columns, _ = find_pairs(first.name, first.names, list(filter(first.is_list, first.names)), are_scores=False)
    except DataError:  # which opening the first shard reports
        return None
    key = columns.key
    if key is None or any(key not in table.names for table in tables):
        return None
    place = name
    if first.files:
        place = shards.name
    if columns.has_queries:
        return join_lines(place, tables)
    numbers = read_numbers(tables, key)
    if truth is not None:
        _check_numbering(place, truth, are_over_all=numbers.are_over_all)
    if numbers.are_over_all:
        return replace(join_lines(place, tables), row_numbers=numbers)
    return None


def _check_numbering(name: str, truth: Opened, *, are_over_all: bool) -> None:
    """Refuse shards whose rows are numbered over all, beside a truth with rows numbered in each shard, or reversed."""
    joined = truth.by_row
    are_per_shard = any(part.by_row is not None and part.by_row.columns.key is not None for part in truth.parts)
    problem = ""
    if are_over_all and are_per_shard:
        problem = f"no row number is in two of its shards, but {truth.name} has numbers that count from 0 in each"
    elif not are_over_all and joined is not None and len(joined.table.files) > 1:
        problem = f"a row number is in two of its shards, but no number is in two shards of {truth.name}"
    if problem:
        raise DataError(f"{name}: {problem} (hint: number the rows of both over all shards)")


def _find_part(part: Any, name: str) -> Table | None:
    """Return a shard as a table, which can be read repeatedly; None for other shards."""
    if isinstance(part, (str, Path)):
        path = to_path(part)
        if is_pair(path):
            return None
        return table_at(path)
    if hasattr(part, "read_all"):
        part = part.read_all()
    return find_table(part, name)


def query_table(table: Table, columns: Columns) -> QuerySource:
    """Return a table whose lines name queries."""
    noun = "line"
    if columns.are_lists:
        noun = "document"
    return QuerySource(
        table.name,
        table.form,
        (*table.facts, f"columns {', '.join(columns.names)}"),
        noun,
        partial(_read_lines, table, columns),
        is_ranked=columns.are_ranked,
        has_ranks=columns.is_rank,
    )


def _read_lines(table: Table, columns: Columns, lines: Lines) -> None:
    """Read the lines of a table, or the documents in its lists, into `lines`."""
    from pyarrow import compute

    if not columns.are_lists:
        lines.place = table.place
        lines.systems = partial(describe_systems, table, columns)
    n_entries = 0
    for batch in table.batches(columns.names):
        by_name = {column.name: column for column in batch}
        key = by_name[columns.key or ""].checked()
        runs = compute.run_end_encode(key.array)  # lines of a query are mostly consecutive
        ends = to_numpy(runs.run_ends).astype(np.int64)

        def place(run: int, key: Column = key, ends: Int64 = ends) -> str:
            return key.place(int(ends[run - 1]) if run else 0)

        queries = lines.queries.number(*Column(runs.values, key.name, place).to_text())
        n_lines = np.diff(ends, prepend=0)
        rows = np.repeat(lines.rows_of(queries), n_lines)
        label, values, lengths = read_values(columns, by_name)
        if lengths is not None:
            rows = np.repeat(rows, lengths)
        if columns.value is not None:
            wrong = np.flatnonzero(np.isnan(values) & (rows >= 0))
            if wrong.size:
                noun = "grade"
                if columns.are_scores:
                    noun = "score"
                raise label.refuse(int(wrong[0]), f"the {noun} is NaN; expected a number")
        text = label.to_text()
        lines.add(text.bytes, rows, np.stack([text.begins, text.ends]), values.astype(np.float64, copy=False))
        n_entries += rows.size
        refuse_repeats(table.name, n_entries, len(lines.queries) * max(len(lines.documents), 1), "document")


def _split_header(line: bytes) -> Iterator[tuple[list[str], bytes]]:
    """Yield the names of columns in a line and their delimiter, once for every delimiter that occurs in it."""
    for delimiter in DELIMITERS:
        names = split_fields(line, delimiter)
        if len(names) > 1:
            yield names, delimiter


def open_csv(head: Head, request: Request) -> Opened | None:
    """Open a CSV or TSV file with a header line of known names; None for other text."""
    number, line = head.first_line
    for names, delimiter in _split_header(line):
        if not all(names[1:]):
            continue
        if request.are_names([name.encode() for name in names]):
            return None
        if are_known(names) and not any(name[:1].isdigit() for name in names):
            if any(name[:1] in {"'", '"'} for name in names):  # fields would be quoted too
                raise DataError(
                    f"{head.path}:{number}: expected names of columns without quotes, or with double quotes that no "
                    f"blank precedes, found {quote(line)}"
                )
            return open_table(csv_table(head.path, names, delimiter, number), request)
    return None


def refuse_header(head: Head, request: Request) -> None:
    """Refuse a first line of unknown names above lines with as many fields, some of which are numbers."""
    number, line = head.first_line
    below = [row for row in head.lines[number:MOST_LINES] if row.strip()]
    for names, delimiter in _split_header(line):
        if request.are_names([name.encode() for name in names]):
            return
        rows = [split_fields(row, delimiter) for row in below]
        if {*map(len, rows)} != {len(names)}:
            continue
        columns = zip(names, zip(*rows, strict=True), strict=True)
        if any(not _is_number(name) and all(map(_is_number, cells)) for name, cells in columns):
            raise unknown_columns(f"{head.path}:{number}", names, are_scores=request.are_scores)
    words = line.decode(errors="replace").replace("|", " ").split()
    if request.names is None and are_known(words) and len(words) == sum(map(len, find_roles(words).values())):
        raise DataError(f"{head.path}:{number}: expected commas, tabs or semicolons between {quote(line)}")


def table_at(path: Path) -> Table | None:
    """Return the table in a Parquet or Arrow file, or in text whose header has a column of queries or rows."""
    if is_empty(path):
        return None
    head = Head.of(path)
    for signature, name in TABLES.items():
        if head.content.startswith(signature):
            return file_table(path, name)
    number, line = head.first_line
    for names, delimiter in _split_header(line):
        roles = find_roles(names)
        if roles["query"] or roles["row"]:
            return csv_table(path, names, delimiter, number)
    return None


def _doubt_other_order(table: Table, columns: Columns, roles: Mapping[str, Sequence[str]]) -> Iterator[Doubt]:
    """Yield a doubt for ranks that run against the scores, or next to numbers that order the first lines differently.

    Such numbers may fall or rise with the ranks: a distance rises. Ties are no evidence, and neither are
    numbers with only two values, such as whether a line is a hit.
    """
    value = columns.value
    key = columns.key
    if value is None or key is None or columns.are_lists or len(roles["rank"]) != 1:
        return
    if not (columns.is_rank or columns.has_queries or value in roles["number"]):
        return
    (rank,) = roles["rank"]
    others = [value]
    if columns.is_rank:
        others = [name for name in columns.others if plain(name) not in UNUSED]
    for other in others:
        lines = [column.array[:RANKS_LOOKED_AT].to_pylist() for column in table.head([key, rank, other])]
        try:
            ranks, numbers = (
                np.array([float(math.nan if word in {None, ""} else word) for word in column]) for column in lines[1:]
            )
        except (TypeError, ValueError):  # not numbers, or no lines
            continue
        if not (columns.is_rank or value in roles["number"]):
            yield from doubt_ranks(str(table), zip(lines[0], ranks, numbers, strict=True))
            return
        _, of_query = np.unique(lines[0], return_inverse=True)
        order = np.lexsort((ranks, of_query))
        order = order[~np.isnan(ranks + numbers)[order]]
        is_next = (np.diff(of_query[order]) == 0) & (np.diff(ranks[order]) > 0)
        steps = np.diff(numbers[order])[is_next]  # between consecutive ranks of a query
        is_against = (steps > 0).any()
        if columns.is_rank:
            is_against = is_against and (steps < 0).any() and np.unique(numbers[order]).size > 2
        if is_against:
            yield Doubt(
                f"{table}: {rank} and {other} order the lines differently, and {value} was read as the scores (hint: "
                "leave out the other column)"
            )


def _refuse_text(table: Table) -> None:
    """Refuse text in columns of lists, which have plural names."""
    known = find_roles(table.names)
    roles = find_roles(table.names, table.names)
    plural = [name for role, names in roles.items() for name in names if name not in known[role]]
    texts = [name for name in plural if table.is_text(name)]
    if not {*texts} & {*roles["document"], *roles["label"]}:
        return
    for column in table.head(texts[:1]):
        word = next((str(word) for word in column.array[:LOOKED_AT].to_pylist() if word), "")
        raise DataError(
            f"{table}: {listed(map(repr, texts), 'and')} {agreeing(len(texts), 'has', 'have')} text such as "
            f"{word[:40]!r}; expected lists (hint: split the text, as with .str.split())"
        )


def _is_number(word: str) -> bool:
    return NUMBER.fullmatch(word.encode()) is not None
