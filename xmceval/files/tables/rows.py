"""Check the row numbers of tables, and use an index or an id column as row names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import AmbiguousError, DataError, Doubt, listed
from xmceval.files.ranking.queries import Documents
from xmceval.files.tables.columns import INDEX, UNUSED, Columns, plain
from xmceval.files.tables.table import Table, is_text_type
from xmceval.rows.block import Int64
from xmceval.rows.readings import LEAST_IDS, Axis, are_both_named, find_order, join_frames


@dataclass(frozen=True)
class ByRow:
    """What tables that are opened later need to know about an opened table by row."""

    table: Table
    columns: Columns
    runs: Int64  # int64 [n_runs, 2]; the rows that occur, as half-open ranges
    labels: Documents | None = None  # how labels that are text are numbered
    # Arrow arrays of the columns that may name rows, kept for tables in memory that can be read only once
    held: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    parts: Sequence[ByRow] = ()  # the shards, if there are several


def find_runs(rows: Int64) -> Int64:
    """Return the runs of rows in a batch of lines."""
    rows = rows[np.flatnonzero(np.diff(rows, prepend=-1))].astype(np.int64)
    return join_runs([np.stack([rows, rows + 1], axis=1)])


def join_runs(parts: Sequence[Int64]) -> Int64:
    """Return the runs of rows that occur in any part; there is at least one row."""
    runs = np.concatenate(parts)
    firsts, stops = runs[np.argsort(runs[:, 0])].T
    stops = np.maximum.accumulate(stops)
    begins = np.append(0, np.flatnonzero(firsts[1:] > stops[:-1]) + 1)
    return np.stack([firsts[begins], stops[np.append(begins[1:], stops.size) - 1]], axis=1)


def check_numbers(*tables: ByRow) -> Iterator[Doubt]:
    """Refuse row numbers that are 1 to n or mostly missing; yield a doubt about other implausible ones.

    `tables` are truth and predictions, which share their rows, or only training labels.
    """
    runs = join_runs([table.runs for table in tables])
    first, n_rows, n_present = int(runs[0, 0]), int(runs[-1, 1]), int(np.diff(runs).sum())
    have = f"{listed((table.table for table in tables), 'and')}: {'has' if len(tables) == 1 else 'have'}"
    if first == 1 and len(runs) == 1:
        key = json.dumps(tables[0].columns.key)
        from_0 = _changed(tables, f".assign(**{{{key}: lambda table: table[{key}].astype(int) - 1}})")
        filled = "" if len(tables) == 1 else "; add a prediction for row 0 if it is an instance without labels"
        raise DataError(
            f"{have} the rows 1 to {n_rows - 1:,}, but rows are counted from 0 (hint: {as_names(*tables)}; {from_0} if "
            f"they are counted from 1{filled})"
        )
    if 10 * n_present < n_rows:
        raise DataError(f"{have} only {n_present:,} of the rows 0 to {n_rows - 1:,} (hint: {as_names(*tables)})")
    if first > 0:
        yield Doubt(
            f"{have} no row before {first:,}, and rows are counted from 0: are the numbers ids? "
            f"(hint: {as_names(*tables)})"
        )


def refuse_numbers_of_all(name: str, tables: Sequence[ByRow]) -> None:
    """Refuse shards whose row numbers continue from shard to shard: no row is in two of them."""
    n_rows = sum(int(np.diff(table.runs).sum()) for table in tables)
    if len(tables) > 1 and n_rows >= LEAST_IDS and np.diff(join_runs([table.runs for table in tables])).sum() == n_rows:
        table = tables[0]
        whole = replace(table.table, pandas=join_frames([table.table.pandas for table in tables]))
        if table.table.path is not None:
            whole = replace(whole, path=Path(name))
        raise DataError(
            f"{name}: no row is in two shards by their column {table.columns.key!r}, which counts from 0 in each shard "
            f"(hint: {whole.changed('')} if it counts the rows of all)"
        )


def as_names(*tables: ByRow) -> str:
    """Return the hint for tables whose row numbers are ids."""
    renamed = _changed(tables, f".rename(columns={json.dumps({tables[0].columns.key: 'query_id'})})")
    return f"{renamed} if the numbers are ids"


def _changed(tables: Sequence[ByRow], change: str) -> str:
    """Return the hint to pass changed tables: as code for the first, in words for the others."""
    first, *others = (table.table for table in tables)
    return first.changed(change) + "".join(f", likewise {other}," for other in others)


def index_of(table: ByRow) -> Axis | None:
    """Return the rows named by a stored pandas index."""
    levels = [_values(table, name) for name in _index_levels(table.table)]
    if not levels or any(len(names) != table.runs[-1, 1] for names in levels):  # if lines were dropped later
        return None
    return _axis(table, levels[0] if len(levels) == 1 else list(zip(*levels, strict=True)))


def index_columns(table: Table) -> list[str]:
    """Return the columns in which pandas stored an index; none if the index is only a range."""
    return [name for name, numbers in _index_levels(table).items() if numbers is None]


def id_columns(table: Table, columns: Columns) -> list[str]:
    """Return the columns that could hold row ids: whole numbers or text, whatever their name."""
    from pyarrow import types

    names = [name for name in columns.others if name not in index_columns(table) and plain(name) not in UNUSED - INDEX]
    kinds = types.is_integer, types.is_floating, types.is_decimal, is_text_type
    return [name for name in names if any(is_kind(table.schema.field(name).type) for is_kind in kinds)]


def find_rows(table: ByRow, index: Axis | None) -> Axis | None:
    """Return the rows named by an index, or else by a column that permutes their numbers."""
    if index is not None and not index.is_numbered:
        return index
    for name in id_columns(table.table, table.columns):
        if table.table.path is not None and not table.table.has_numbers(name):
            continue
        values = _values(table, name)
        try:  # few columns are a permutation of 0, 1, 2, ...
            numbers, ordered = np.asarray(values, dtype=np.float64), np.arange(len(values))
        except (ValueError, TypeError, OverflowError):
            continue
        if np.array_equal(np.sort(numbers), ordered) and not np.array_equal(numbers, ordered):
            rows = _find_ids(table, name, values)
            if rows is not None and rows.is_reordered:
                return rows
    return index


def join_shards(name: str, tables: Sequence[ByRow]) -> ByRow:
    """Join the shards of a table with one line per row."""
    first = tables[0]
    others = tuple(column for column in first.columns.others if all(column in table.columns.others for table in tables))
    code = join_frames([table.table.pandas for table in tables])
    return ByRow(
        replace(first.table, name=name, pandas=code, rows=None),
        replace(first.columns, others=others),
        np.array([[0, sum(int(table.runs[-1, 1]) for table in tables)]]),
        parts=tables,
    )


def name_rows(truth: ByRow, scores: ByRow) -> tuple[Axis, Axis] | None:
    """Return the rows named by a column of ids that truth and predictions share; None without one.

    Such a column is recognised by its values, which are distinct in both. Conflicting columns or ids are
    refused.
    """
    if truth.columns.key is not None or scores.columns.key is not None:
        return None
    found = list[tuple[Axis, Axis]]()
    index, other_index = map(_index_names, (truth, scores))
    ids, other_ids = (set(id_columns(table.table, table.columns)) for table in (truth, scores))
    for name in sorted((ids & other_ids) | (index & other_ids) | (ids & other_index)):
        ours, theirs = (_find_ids(table, name, _values(table, name)) for table in (truth, scores))
        if ours is not None and theirs is not None:
            found.append((ours, theirs))
    positions = np.arange(int(truth.runs[-1, 1]))
    orders = [positions if (order := find_order(*axes)) is None else order for axes in found]
    for (_, axis), order in zip(found[1:], orders[1:], strict=True):
        first = found[0][1]
        if not np.array_equal(order, orders[0]):
            raise AmbiguousError(
                f"{scores.table}: its columns {first.column!r} and {axis.column!r} say otherwise which row of "
                f"{truth.table} is which (hint: pass {axis.unnamed} to join by {first.column!r}, or {first.unnamed} to "
                f"join by {axis.column!r})"
            )
    return found[0] if found else None


def check_ids(truth: ByRow, scores: ByRow) -> None:
    """Refuse row ids that differ from those of the truth, if both tables have them."""
    if truth.columns.key is not None or scores.columns.key is not None or name_rows(truth, scores) is not None:
        return
    ours, theirs = (None if table.parts else table.table.rows or index_of(table) for table in (truth, scores))
    if ours is not None and theirs is not None and are_both_named(ours, theirs):
        find_order(ours, theirs)


def _find_ids(table: ByRow, name: str, values: list[Any]) -> Axis | None:
    """Return the rows named by a column of distinct whole numbers or text, if it has at least ten rows."""
    if len(values) < LEAST_IDS or len(set(values)) < len(values):
        return None
    rows = replace(_axis(table, values), column=name)
    return rows if isinstance(rows.names, (range, np.ndarray)) or all(isinstance(id_, str) for id_ in values) else None


def _axis(table: ByRow, names: Any) -> Axis:
    rows = Axis.of(str(table.table), "row", names)
    return replace(rows, code=table.table.pandas, is_file=table.table.path is not None)


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


def _index_names(table: ByRow) -> set[str]:
    """Return the names of the index that pandas stored in any shard."""
    return set.intersection(*({*filter(None, _index_levels(part.table))} for part in table.parts or (table,)))


def _values(table: ByRow, name: str) -> list[Any]:
    """Return the values of a column, or of a range with this name, up to the number of lines."""
    if table.parts:
        return [value for part in table.parts for value in _values(part, name)]
    numbers = _index_levels(table.table).get(name)
    if numbers is not None:
        return list(numbers[: int(table.runs[-1, 1]) + 1])
    if table.table.path is None:
        arrays = table.held[name]
    else:
        arrays = [column.array for (column,) in table.table.batches([name])]
    return [value for array in arrays for value in array.to_pylist()]
