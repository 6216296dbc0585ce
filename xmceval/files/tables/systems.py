"""Tell lines of several systems in one table by the column with their names."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from xmceval.errors import DataError, names_flags
from xmceval.files.tables.columns import UNUSED, Columns, plain
from xmceval.files.tables.table import Table, is_text_type

MOST_SYSTEMS = 20  # names in a column of unknown name

SYSTEMS = frozenset(
    {
        *("system", "model", "method", "algorithm", "run", "runid", "tag", "ranker", "retriever", "recommender"),
        *("classifier", "estimator", "systemid", "modelid", "systemname", "modelname", "runname"),
    }
)


def describe_systems(table: Table, columns: Columns, lines: Sequence[int]) -> str:
    """Describe two lines of a label if another column tells them apart, with the hint to split the table by it."""
    by_name = [name for name in columns.others if plain(name) in SYSTEMS]
    kinds = [(name, table.schema.field(name).type) for name in columns.others if plain(name) not in SYSTEMS | UNUSED]
    others = [name for name, kind in kinds if is_text_type(kind)]
    for name in (*by_name, *others):
        names = _read_column(table, name)
        values = [names[line] for line in lines if line < len(names)]
        if len(values) < 2 or values[0] == values[1]:
            continue
        if name in by_name or len(set(names)) <= MOST_SYSTEMS:
            what = "of two systems:" if name in by_name else f"that differ in {name!r}:"
            return _with_hint(f"lines {what} {values[0]!r} and {values[1]!r}", table, name)
    return ""


def _read_column(table: Table, name: str) -> list[Any]:
    """Read a column again; the lines of a stream in memory are gone."""
    values: list[Any] = []
    with suppress(DataError):
        for (column,) in table.batches([name]):
            values += column.array.to_pylist()
    return values


def _with_hint(problem: str, table: Table, name: str) -> str:
    groups = f"{table.pandas}.groupby({json.dumps(name)})"
    if table.path is None or not names_flags():
        return f"{problem} (hint: pass dict(list({groups})) to score_all)"
    new = f'f"{table.path.name.partition(".")[0]}-{{name}}.parquet"'
    code = f"import pandas; [part.to_parquet({new}) for name, part in {groups}]"
    return f"{problem} (hint: python -c {shlex.quote(code)} writes a file per system)"
