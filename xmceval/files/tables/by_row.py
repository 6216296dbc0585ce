"""Read tables with one entry per line, or a list of labels per line; sorted tables are streamed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from xmceval.errors import AmbiguousError, DataError, Doubt, agreeing, counted, listed
from xmceval.files.io.streams import quote
from xmceval.files.opened import ByRow, Opened, Request
from xmceval.files.ranking.queries import Documents, break_ties, doubt_words
from xmceval.files.sidecars.values import Names, is_id, names_beside_ids, unknown_name
from xmceval.files.tables.columns import INDEX, UNUSED, Columns, describe_systems
from xmceval.files.tables.table import LONGEST_ROW, Column, RowNumbers, Table, to_float
from xmceval.files.text.words import Words
from xmceval.rows.block import AnyArray, EntryNames, Int64
from xmceval.rows.matrices.source import read_matrix
from xmceval.rows.matrices.sparse import coo_to_csr
from xmceval.rows.matrices.storage import Csr, Matrix
from xmceval.rows.names import Axis, naming_columns, plain
from xmceval.rows.source import Pieces, Source

MOST_REPEATS = 64  # entries per distinct label of a row, or document of a query, in long tables
BYTES_OF_ENTRY = 48  # memory while sorting


Triples: TypeAlias = tuple[AnyArray, AnyArray, AnyArray]  # entries as arrays [n] of row, label and value
ReadEntries: TypeAlias = Callable[..., Iterator[tuple[AnyArray, Triples]]]  # yields the row of each line, and entries


def _expect_number(word: str, _: None) -> str:
    return f"expected a 0-based row number, found {word!r} (hint: name the column query_id if it has ids)"


def _join(parts: Sequence[Triples]) -> Triples:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return (np.empty(0, int),) * 3
    rows, labels, values = map(np.concatenate, zip(*parts, strict=True))
    return rows, labels, values


def _read_entries(
    table: Table,
    columns: Columns,
    names: Names | None,
    words: Words | None,
    held: Mapping[str, list[Any]] = MappingProxyType({}),
) -> Iterator[tuple[AnyArray, Triples]]:
    """Yield, batch by batch in the table's order, the row of each line (its list may be empty) and the entries.

    Labels that are text are looked up in `names`, or numbered by `words`; `held` receives the columns that may
    name the rows.
    """
    first = 0
    for batch in table.batches([*columns.names, *held]):
        by_name = {column.name: column for column in batch}
        for name, arrays in held.items():
            arrays.append(by_name[name].array)
        key = by_name.get(columns.key or "")
        stop = first + len(by_name[columns.label].array)
        lines: AnyArray = np.arange(first, stop)
        if key is not None:
            lines = key.to_whole(_expect_number)
        first = stop
        label, values, lengths = read_values(columns, by_name)
        if words is not None:
            labels: AnyArray = words.number(*label.to_text())
        elif names is None or not label.is_text:
            labels = label.to_whole(hint=unknown_name)
        else:
            labels = names.number(*label.to_text())
            if (labels < 0).any():
                line = int(np.argmax(labels < 0))
                raise label.refuse(line, unknown_name(str(label.array[line])[:40], names))
        rows = lines
        if lengths is not None:
            rows = np.repeat(lines, lengths)
        yield lines, (rows, labels, values)


def read_values(columns: Columns, batch: Mapping[str, Column]) -> tuple[Column, AnyArray, Int64 | None]:
    """Return the labels of a batch of lines, one per entry, their values, and the lengths of lists, if any."""
    label = batch[columns.label]
    value = batch.get(columns.value or "")
    lengths = None
    if columns.are_lists:
        label, lengths = label.flatten()
        if value is not None:
            flat, others = value.flatten()
            if not np.array_equal(lengths, others):
                line = int(np.argmax(lengths != others))
                raise value.refuse(line, f"has {lengths[line]:,} labels, but {others[line]:,} in {value.name!r}")
            value = flat
    if value is not None:
        values = -value.to_whole().astype(np.float64) if columns.is_rank else value.to_numbers()
    elif columns.are_ranked and lengths is not None:  # values fall to 1 for the last label
        values = (np.repeat(np.cumsum(lengths), lengths) - np.arange(lengths.sum())).astype(np.float64)
    else:
        values = np.ones(len(label.array))
    return label, values, lengths


def _read_sorted(read: ReadEntries, name: str, are_scores: bool, n_rows: int, _first_row: int) -> Iterator[Matrix]:
    """Yield the rows of a file whose entries are sorted by row; reading always starts at the first row."""
    done = 0  # number of complete rows, and the entries of the row that may continue
    rest = list[Triples]()

    def piece(rows: AnyArray, labels: AnyArray, values: AnyArray, stop: int) -> Csr:
        """Return the rows from `done` up to `stop` as CSR."""
        indptr = np.searchsorted(rows, np.arange(done, stop + 1, dtype=rows.dtype))
        return Csr(indptr, labels, values, are_scores)

    for lines, (rows, labels, values) in read():
        last = int(lines.max())
        cut = int(np.searchsorted(rows, last))
        if last > done:
            yield piece(*_join([*rest, (rows[:cut], labels[:cut], values[:cut])]), last)
            rest = []
            done = last
        rest.append((rows[cut:], labels[cut:], values[cut:]))
        n_rest = sum(part[0].size for part in rest)
        if n_rest > LONGEST_ROW:
            raise DataError(f"{name} row {last}: has more than {counted(LONGEST_ROW, 'entry')}")
        refuse_repeats(f"{name} row {last}", n_rest, int(labels.max(initial=0)) + 1, "label")
    yield piece(*_join(rest), n_rows)


def open_by_row(table: Table, columns: Columns, request: Request) -> Opened:
    """Open a table by row: streamed if it is a file sorted by row, else sorted in memory."""
    names = request.names
    words = None
    for column in table.head([columns.label]):
        first = column
        if columns.are_lists:
            first, lengths = column.flatten()
            if columns.value is None and not request.are_scores:
                _refuse_indicators(table, columns.label, first, lengths, request.n_labels)
        names, words = _find_names(first, request)
    others = list[str]()  # columns that may name the rows
    held = dict[str, list[Any]]()
    if columns.key is None:
        others = naming_candidates(table, columns)
        if not table.files:
            held = {name: [] for name in (*index_columns(table), *others)}
    read = partial(_read_entries, table, columns, names, words)
    facts = [*table.facts, f"columns {', '.join(columns.names)}"]
    if others:
        facts.append(f"besides {listed(others, 'and')}")
    if names is not None:
        facts.append(f"label names from {names.source}")
    is_streamed = False
    if table.files:
        numbers = _measure(table, columns)
        is_streamed = numbers.is_sorted and words is None
        if not is_streamed:
            _refuse_to_sort(table, numbers.n_lines)
    if not is_streamed:
        batches = [(part, find_runs(lines), lines.size) for lines, part in read(held)]
        numbers = RowNumbers(join_runs([runs for _, runs, _ in batches]), sum(size for _, _, size in batches))
    if numbers.n_lines == 0:
        raise DataError(f"{table.name}: the table has no lines")
    truth = request.by_row
    labels = None
    if words is not None:
        labels = (truth and truth.labels) or Documents.of(words, None)
    by_row = ByRow(replace(table, first=None), columns, numbers.runs, labels, held)
    n_rows = _count_rows(by_row, numbers.n_lines, request)
    warnings = list[str]()
    if request.are_scores and truth is not None:
        warnings.extend(doubt_numbers(truth, by_row))
    stored: Pieces | Matrix
    files: tuple[Path, ...] = ()
    if is_streamed:
        files = table.files
        stored = partial(_read_sorted, read, table.name, request.are_scores, n_rows)
    else:
        entries = _join([part for part, _, _ in batches])
        csr = Csr(*coo_to_csr(table.name, *entries, n_rows), request.are_scores)
        if table.files:
            facts.append(f"{counted(csr.indptr[-1], 'entry')} sorted by row")
        if labels is not None:
            csr = _join_words(table.name, csr, labels, request, facts, warnings)
        stored = csr
    names_of = partial(_name_entries, by_row, read)
    source = Source(table.name, read_matrix, n_rows, files=files, stored=stored, names=names_of, notes=warnings)
    rows = table.rows
    if rows is None and columns.key is None:
        rows = index_of(by_row)
    labels_by = "name"
    if names is None and words is None:
        labels_by = "number"
    return Opened(
        source,
        table.form,
        tuple(facts),
        request.role,
        is_held=not is_streamed,
        is_ranked=columns.are_ranked,
        has_ranks=columns.is_rank,
        rows=rows,
        columns={name: partial(_rows_named_by, by_row, name) for name in others},
        labels_by=labels_by,
        by_row=by_row,
    )


def _refuse_to_sort(table: Table, n_lines: int) -> None:
    n_bytes = BYTES_OF_ENTRY * n_lines
    if n_bytes > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        raise DataError(
            f"{table}: sorting {counted(n_lines, 'line')} takes about {n_bytes / 2**30:,.0f} GiB, more than this "
            "machine has (hint: write the table sorted by the numbers of rows: it is then read part by part)"
        )


def refuse_repeats(place: str, n_entries: int, n_distinct: int, noun: str) -> None:
    """Refuse many entries that are mostly repeats: a small compressed file may hold any number of them."""
    if n_entries > LONGEST_ROW >> 4 and n_entries > MOST_REPEATS * n_distinct:
        raise DataError(
            f"{place}: has {n_entries:,} or more entries for at most {n_distinct:,} different {noun}s, so that some "
            "appear many times; expected one score for each"
        )


def _refuse_indicators(table: Table, label: str, labels: Column, lengths: Int64, n_labels: int | None) -> None:
    """Refuse equally long lists of 0 and 1 in truth: they may be indicators, one per label, instead of ids.

    Two are ids if the number of labels is known and is not two; more would repeat an id.
    """
    if labels.is_text or len(lengths) < 2 or not lengths.min() == lengths.max() > 1:
        return
    are_ids = lengths.max() == 2 and n_labels not in {None, 2}
    if not are_ids and set(labels.array.to_pylist()) == {0, 1}:
        raise AmbiguousError(
            f"{table}: its lists in {label!r} are of 0 and 1, and equally long: a matrix, or ids of labels? (hint: "
            "pass numpy.array(...) of the column for a matrix, sets for ids)"
        )


def _find_names(labels: Column, request: Request) -> tuple[Names | None, Words | None]:
    """Return the names in which labels that are text are looked up, or the words that number them, or neither."""
    if not labels.is_text:
        return None, None
    words = [word for word in labels.array.to_pylist() if word is not None]
    names = request.names
    truth = request.by_row
    if names is not None:
        if all(map(is_id, words)) and not any(word in names.labels for word in words):
            return None, None
        return names, None
    if truth is not None and truth.labels is not None:
        return None, truth.labels.words
    if request.are_scores and not request.is_alone:
        return None, None
    if any(to_float(word) is None for word in words):
        return None, Words()
    return None, None


def _join_words(name: str, csr: Csr, labels: Documents, request: Request, facts: list[str], warnings: list[str]) -> Csr:
    """Replace the numbers of words by labels, order ties as for documents, and add facts and doubts."""
    words = labels.words or Words()
    numbers = csr.indices[:]
    values = csr.values[:]
    truth = request.by_row
    n_true = labels.places.size
    if truth is not None:
        has_none = n_true and numbers.size and numbers.min() >= n_true  # no label of the truth
        if has_none and (words.plain_numbers()[numbers] >= 0).all():
            raise names_beside_ids(truth.table.name, name)
        warnings.extend(doubt_words(name, "label", truth.table.name, words, n_true, numbers))
    if request.are_scores and request.ties == "label":
        values = values.astype(np.float64, copy=False)
        # NaN scores are refused when scoring
        n_ties = 0
        if not np.isnan(values).any():
            n_ties = break_ties(words, csr.indptr, numbers, values)
        facts.append(f"{counted(n_ties, 'tie')} broken by label")
    return Csr(csr.indptr, labels.labels(words)[numbers], values, csr.are_scores)


def _name_entries(by_row: ByRow, read: ReadEntries, row: int, label: int) -> EntryNames:
    """Return the names, for messages, of the entries of a label in a row."""
    name = f"label {label}"
    number = label
    if by_row.labels is not None:
        words = by_row.labels.words or Words()
        number = int(np.argmax(by_row.labels.labels(words) == label))
        name = f"label {quote(words[number])}"

    def describe() -> str:
        """Describe the first two lines with these entries, which a stream in memory no longer has."""
        numbers = list[int]()
        n_lines = 0
        with suppress(DataError):
            for lines, (rows, labels, _) in read():
                is_line = lines == row
                if not by_row.columns.are_lists:
                    is_line = (rows == row) & (labels == number)
                numbers += (n_lines + np.flatnonzero(is_line)).tolist()
                n_lines += lines.size
        return describe_systems(by_row.table, by_row.columns, numbers[:2])

    names = EntryNames([f"{by_row.table} row {row}"], name, "in this row", None)
    if by_row.columns.key is not None:
        names = names._replace(systems=describe)
    return names


def _measure(table: Table, columns: Columns) -> RowNumbers:
    """Return how the rows of a table are numbered; without numbers, each line is the next row."""
    if columns.key is not None:
        return table.row_numbers or read_numbers([table], columns.key)
    n_lines = table.count_lines()
    return RowNumbers(np.array([[0, n_lines]]), n_lines)


def _count_rows(by_row: ByRow, n_lines: int, request: Request) -> int:
    """Return the number of rows in the truth, if known, else the largest row of the table + 1."""
    name = by_row.table.name
    stop = int(by_row.runs[-1, 1])
    n_rows = None
    if request.are_scores:
        n_rows = request.n_rows
    are_ids = f"(hint: rename the column {by_row.columns.key!r} to query_id if its numbers are ids)"
    if n_rows is not None and stop > n_rows:
        of_truth = f"but the truth has {counted(n_rows, 'row')}"
        if by_row.columns.key is None:
            raise DataError(f"{name}: has {counted(stop, 'row')}, {of_truth}")
        raise DataError(f"{name}: has an entry in row {stop - 1}, {of_truth} (rows are 0-based) {are_ids}")
    if n_rows is None:
        n_rows = stop
    if n_rows > max(n_lines * 2**10, 2**22):
        raise DataError(f"{name}: has an entry in row {stop - 1}, in a table of {counted(n_lines, 'line')} {are_ids}")
    return n_rows


def find_runs(rows: Int64) -> Int64:
    """Return the runs of rows in a batch of lines."""
    rows = rows[np.flatnonzero(np.diff(rows, prepend=-1))].astype(np.int64)
    return join_runs([np.stack([rows, rows + 1], axis=1)])


def join_runs(parts: Sequence[Int64]) -> Int64:
    """Return the runs of rows that occur in any part."""
    runs = np.concatenate([np.empty((0, 2), dtype=np.int64), *parts])
    if not runs.size:
        return runs
    firsts, stops = runs[np.argsort(runs[:, 0])].T
    stops = np.maximum.accumulate(stops)
    begins = np.append(0, np.flatnonzero(firsts[1:] > stops[:-1]) + 1)
    return np.stack([firsts[begins], stops[np.append(begins[1:], stops.size) - 1]], axis=1)


def doubt_numbers(*tables: ByRow) -> Iterator[Doubt]:
    """Doubt row numbers that begin after 0, or are mostly missing, in all tables together."""
    runs = join_runs([table.runs for table in tables])
    first = int(runs[0, 0])
    n_rows = int(runs[-1, 1])
    n_present = int(np.diff(runs).sum())
    have = f"{listed((table.table for table in tables), 'and')}: {agreeing(len(tables), 'has', 'have')}"
    are_ids = f"(hint: rename {tables[0].columns.key!r} to query_id if its numbers are ids)"
    if first > 0:
        yield Doubt(f"{have} no row before {first:,}, and rows are counted from 0 {are_ids}")
    elif 10 * n_present < n_rows:
        yield Doubt(f"{have} only {n_present:,} of the rows 0 to {n_rows - 1:,} {are_ids}")


def read_numbers(tables: Sequence[Table], key: str) -> RowNumbers:
    """Read the row numbers of shards, or of one table; stop if a number is in two shards, and counts the rows of each.

    The lines of a row may continue in the next shard, but a row 0 in two shards is the first row of each.
    """
    seen = np.empty((0, 2), dtype=np.int64)
    last = -1
    n_lines = 0
    is_sorted = True
    for table in tables:
        shard = [seen]
        for (column,) in table.batches([key]):
            rows = column.to_whole(_expect_number)
            n_lines += rows.size
            is_sorted = is_sorted and int(rows[0]) >= last and bool((rows[1:] >= rows[:-1]).all())
            if len(shard) == 1 and rows[0] == last > 0:
                rows = rows[rows != last]
            if not rows.size:
                continue
            last = int(rows[-1])
            runs = find_runs(rows)
            n_distinct = np.diff(join_runs([seen, runs])).sum()
            if n_distinct < np.diff(seen).sum() + np.diff(runs).sum():
                return RowNumbers(seen, n_lines, is_sorted, are_over_all=False)
            shard.append(runs)
        seen = join_runs(shard)
    return RowNumbers(seen, n_lines, is_sorted)


def index_of(table: ByRow) -> Axis | None:
    """Return the rows named by a stored pandas index."""
    n_rows = int(table.runs[-1, 1])
    levels = list[list[Any]]()
    for name, numbers in _index_levels(table.table).items():
        levels.append(_values(table, name) if numbers is None else list(numbers[: n_rows + 1]))
        if len(levels[-1]) != n_rows:  # lines were dropped later
            return None
    if not levels:
        return None
    if len(levels) == 1:
        return Axis.of(str(table.table), "row", levels[0])
    return Axis.of(str(table.table), "row", list(zip(*levels, strict=True)))


def index_columns(table: Table) -> list[str]:
    """Return the columns in which pandas stored an index; none if the index is only a range."""
    return [name for name, numbers in _index_levels(table).items() if numbers is None]


def naming_candidates(table: Table, columns: Columns) -> list[str]:
    """Return the columns that may name the rows of lists: those with known names, whole numbers or text."""
    index = index_columns(table)
    names = [name for name in columns.others if name not in index and plain(name) not in UNUSED - INDEX]
    return [name for name in names if naming_columns([name]) or table.is_text(name) or table.is_whole(name)]


def _rows_named_by(table: ByRow, name: str) -> Axis:
    return Axis.of(str(table.table), "row", _values(table, name), column=name)


def _index_levels(table: Table) -> dict[str, range | None]:
    """Return the index levels in pandas metadata by name: a range, or None for a column."""
    from pyarrow import types

    levels = dict[str, range | None]()
    try:
        for level in json.loads((table.schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", []):
            if not isinstance(level, str):
                levels[level["name"] or ""] = range(level["start"], level["stop"], level["step"])
            elif table.names.count(level) == 1 and not types.is_nested(table.schema.field(level).type):
                levels[level] = None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):  # damaged metadata
        return {}
    return levels


def _values(table: ByRow, name: str) -> list[Any]:
    arrays = table.held.get(name)
    if arrays is None:
        arrays = [column.array for (column,) in table.table.batches([name])]
    return [value for array in arrays for value in array.to_pylist()]
