"""Names of rows in tables with a line per row: an index that pandas stored."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from xmceval.files.tables.rownumbers import ByRow
from xmceval.files.tables.table import Table
from xmceval.rows.readings import Axis


def index_columns(table: Table) -> list[str]:
    """Return the columns in which pandas stored an index; none for one that is only a range."""
    from pyarrow import types

    names = [name for name, numbers in _levels(table).items() if numbers is None and table.names.count(name) == 1]
    return [name for name in names if not types.is_nested(table.schema.field(name).type)]


def index_of(table: ByRow) -> Axis | None:
    """Return the rows that an index names which pandas stored."""
    levels: list[Any] = [_values(table, name) for name in index_columns(table.table)]
    levels = levels or [numbers for numbers in _levels(table.table).values() if numbers is not None]
    if not levels or any(len(names) != table.runs[-1, 1] for names in levels):  # as where lines were left out since
        return None
    return _axis(table, levels[0] if len(levels) == 1 else list(zip(*levels, strict=True)))


def _axis(table: ByRow, names: Any) -> Axis:
    path = "" if table.table.path is None else str(table.table.path)
    return replace(Axis.of(str(table.table), "row", names, path), code=table.table.pandas)


def _levels(table: Table) -> dict[str, range | None]:
    """Return the levels of an index as pandas describes it, by their names: ranges, and None for columns."""
    try:
        stored = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):  # damaged
        return {}
    described = stored.get("index_columns") if isinstance(stored, dict) else None
    levels = dict[str, range | None]()
    for level in described if isinstance(described, list) else []:
        if isinstance(level, str):
            levels[level] = None
        elif isinstance(level, dict):
            found = [level.get(name) for name in ("start", "stop", "step")]
            bounds = [bound for bound in found if isinstance(bound, int) and abs(bound) < 2**53]
            if len(bounds) == 3 and bounds[2] != 0:
                levels[str(level.get("name") or "")] = range(bounds[0], bounds[1], bounds[2])
    return levels


def _values(table: ByRow, name: str) -> list[Any]:
    """Return the values of a column."""
    if table.table.path is None:
        arrays = table.held[name]
    else:
        arrays = [column.array for (column,) in table.table.batches([name])]
    return [value for array in arrays for value in array.to_pylist()]
