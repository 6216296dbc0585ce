"""Accept tables of other libraries: long data frames, Arrow tables and readers, relations, list columns."""

from __future__ import annotations

from functools import partial
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, describe_type
from xmceval.files.tables.columns import explain_names, find_roles
from xmceval.files.tables.table import Table, import_pyarrow, memory_table
from xmceval.rows.matrices.frames import is_frame, rows_of
from xmceval.rows.matrices.lists import refuse_sets
from xmceval.rows.names import Axis

_STREAMS = "__arrow_c_stream__", "__arrow_c_array__"

_HINTS = (  # two attributes of an object that is not a table, and how to make one of it
    ("toPandas", "columns", "{}.toPandas()"),
    ("collect", "columns", "{}.collect()"),
    ("to_table", "schema", "{}.to_table()"),
    ("with_format", "column_names", "{}.with_format('arrow')[:]"),
    ("table", "column_names", "the data set's .with_format('arrow')[:]"),
    ("readline", "__next__", "the path of the file"),
    ("__iter__", "__next__", "list({})"),
)


def find_table(value: Any, name: str) -> Table | None:
    """Return an object as a table; None for matrices, including data frames with a column per label."""
    if isinstance(value, Table):  # of shards
        return value
    if isinstance(value, (np.ndarray, list, tuple, dict, str, Path)) or hasattr(value, "tocsr"):
        return None
    roles = find_roles(_index_names(value))
    if hasattr(value, "to_frame") and (roles["row"] or roles["query"]):  # a Series indexed by these
        name_of_values = "value"
        if value.name is not None:
            name_of_values = value.name
        value = value.to_frame(name_of_values)
    if is_frame(value):
        if _is_wide(value, name):
            return None
        return memory_table(_exportable(value, name), name, _indexed(value, name))
    if any(hasattr(value, attribute) for attribute in (*_STREAMS, "iloc")):  # a Series of pandas before 3
        return memory_table(value, name, _indexed(value, name))
    for attribute, other, hint in _HINTS:
        if hasattr(value, attribute) and hasattr(value, other):
            raise DataError(f"{name}: is {describe_type(value)}, which is not read (hint: pass {hint.format(name)})")
    return None


def refuse_columns_of_sets(value: Any, name: str) -> None:
    """Refuse predictions in a pandas data frame or Series whose cells are sets, since sets have no order."""
    if not hasattr(value, "iloc") or hasattr(value, "tocsr"):
        return
    columns = [value]
    if is_frame(value):  # by place: older pandas cannot look up names that are big-endian numbers
        columns = [value.iloc[:, place] for place, kind in enumerate(value.dtypes) if kind.kind == "O"]
    for column in columns:
        if column.dtype == object:
            refuse_sets(column.tolist(), name)


def _index_names(value: Any) -> list[str]:
    return [str(column) for column in getattr(getattr(value, "index", None), "names", []) if column is not None]


def _indexed(value: Any, name: str) -> Axis | None:
    """Return the index of a data frame or Series with one line per row, if no column names the rows."""
    index = getattr(value, "index", ())
    if not hasattr(index, "names"):
        return None
    columns = [*_index_names(value), *map(str, getattr(value, "columns", []))]
    roles = find_roles(columns, columns)
    if roles["row"] or roles["query"]:
        return None
    return rows_of(value, name)


def _exportable(frame: Any, name: str) -> Any:
    """Drop unused columns of mixed objects, which Arrow refuses, from a pandas data frame."""
    pyarrow = import_pyarrow(f"{name}: is {describe_type(frame)}; reading it")
    if not hasattr(frame, "iloc"):
        return frame
    try:
        pyarrow.Schema.from_pandas(frame)
    except (pyarrow.ArrowException, TypeError, ValueError):
        names = [str(column) for column in frame.columns]
        known = {column for role in find_roles(names, names).values() for column in role}
        frame = frame.loc[:, [column in known for column in names]]
    return frame


def _is_wide(frame: Any, name: str) -> bool:
    """Return whether a data frame has a column per label: not with the names of a long table, or with lists."""
    columns = [str(column) for column in frame.columns]
    roles = find_roles([*_index_names(frame), *columns], columns)
    keys = roles["row"] + roles["query"]
    labels = roles["document"] + roles["label"]
    if (keys and labels) or any(map(partial(_has_lists, frame), range(len(columns)), frame.dtypes)):
        return False
    if any(str(kind).startswith("Sparse[") for kind in frame.dtypes):
        raise DataError(f"{name}: is a sparse data frame, which is not read (hint: pass {name}.sparse.to_coo())")
    if labels:
        raise DataError(
            f"{name}: is a data frame with the columns {', '.join(columns[:10])}; along with {labels[0]!r}, "
            f"a long table has {explain_names(are_scores=False)} (hint: rename the columns, or pass "
            f"{name}.to_numpy() if there is one column per label)"
        )
    return True


def _has_lists(frame: Any, place: int, kind: Any) -> bool:
    """Return whether a column has lists: by its type, or by its first cell that is not missing."""
    if str(kind).lower().startswith("list"):
        return True
    if not hasattr(frame, "iloc") or kind.kind != "O":
        return False
    cells = frame.iloc[:, place]
    cell = next((cell for cell in cells if cell is not None and cell == cell), None)  # noqa: PLR0124 - NaN
    return cell is not None and not isinstance(cell, (str, Number))
