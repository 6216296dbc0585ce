"""Numbers of rows in long tables: where they can hardly be rows that count from 0, they are refused or doubted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, Doubt, listed
from xmceval.files.ranking.judgments import Documents
from xmceval.files.tables.columns import Columns
from xmceval.files.tables.table import Table
from xmceval.rows.block import Int64
from xmceval.rows.readings import LEAST_IDS, join_frames


@dataclass(frozen=True)
class ByRow:
    """A table by row that was opened, as those that are opened after it see it."""

    table: Table
    columns: Columns
    runs: Int64  # int64 [n_runs, 2]; the rows that occur, as the first of each run and the one after its last
    labels: Documents | None = None  # how labels that are text become numbers
    # the Arrow arrays of columns that may name the rows, of what is in memory, which may be read only once
    held: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    parts: Sequence[ByRow] = ()  # the shards, where it is made of several


def find_runs(rows: Int64) -> Int64:
    """Return the runs of the rows of some lines."""
    rows = rows[np.flatnonzero(np.diff(rows, prepend=-1))].astype(np.int64)
    return join_runs([np.stack([rows, rows + 1], axis=1)])


def join_runs(parts: Sequence[Int64]) -> Int64:
    """Return the runs of rows that occur in any of some parts, which have at least one row."""
    runs = np.concatenate(parts)
    firsts, stops = runs[np.argsort(runs[:, 0])].T
    stops = np.maximum.accumulate(stops)
    begins = np.append(0, np.flatnonzero(firsts[1:] > stops[:-1]) + 1)
    return np.stack([firsts[begins], stops[np.append(begins[1:], stops.size) - 1]], axis=1)


def check_numbers(*tables: ByRow) -> Iterator[Doubt]:
    """Refuse numbers of rows that are 1 to n, or of which most are missing; yield the doubt that others are no rows.

    `tables` are truth and predictions, which have the same rows, or training labels alone.
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
    """Refuse shards whose numbers of rows count on from shard to shard, as no row is in two of them."""
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
    """Return the hint to tables whose numbers of rows are ids."""
    renamed = _changed(tables, f".rename(columns={json.dumps({tables[0].columns.key: 'query_id'})})")
    return f"{renamed} if the numbers are ids"


def _changed(tables: Sequence[ByRow], change: str) -> str:
    """Return what passes tables with a change, in words for all but the first."""
    first, *others = (table.table for table in tables)
    return first.changed(change) + "".join(f", likewise {other}," for other in others)
