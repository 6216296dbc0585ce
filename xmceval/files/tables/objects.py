"""Objects of other libraries that are tables: long data frames, Arrow tables and readers, relations, list columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError
from xmceval.files.tables.columns import explain_names, find_roles
from xmceval.files.tables.table import Table, memory_table
from xmceval.rows.matrices.frames import is_frame

_STREAMS = "__arrow_c_stream__", "__arrow_c_array__"

_NUMBERS = ("int", "uint", "float", "bool")  # types of columns, in small letters, begin so


def find_table(value: Any, name: str) -> Table | None:
    """Return the table that an object is; None for matrices, among them data frames with a column per label."""
    if isinstance(value, (np.ndarray, list, tuple, dict, str, Path)) or hasattr(value, "tocsr"):
        return None
    if is_frame(value):
        return None if _is_wide(value, name) else memory_table(value, name)
    if any(hasattr(value, attribute) for attribute in _STREAMS):
        return memory_table(value, name)
    if hasattr(value, "collect") and hasattr(value, "columns"):
        raise DataError(f"{name}: is a {type(value).__name__}, which has no rows yet (hint: pass {name}.collect())")
    if hasattr(value, "with_format") and hasattr(value, "column_names"):
        raise DataError(f"{name}: is a data set (hint: pass its table, {name}.with_format('arrow')[:])")
    return None


def _is_wide(frame: Any, name: str) -> bool:
    """Return whether a data frame has one column of numbers per label: no name is that of a long table's key.

    A frame of which only some columns are known is refused: read as a matrix, ids would be grades and scores.
    """
    index = getattr(frame, "index", None)
    named = [str(column) for column in getattr(index, "names", []) if column is not None]
    columns = [str(column) for column in frame.columns]
    roles = find_roles([*named, *columns], columns)
    keys, labels = roles["row"] + roles["query"], roles["document"] + roles["label"]
    has_numbers = all(str(kind).lower().startswith(_NUMBERS) for kind in frame.dtypes)
    if (keys and labels) or not has_numbers:
        return False
    known = [column for column in [*keys, *labels] if column not in named]
    if known:
        raise DataError(
            f"{name}: is a data frame with the columns {', '.join(columns[:10])}; beside {known[0]!r}, a long table "
            f"has {explain_names(are_scores=False)} (hint: rename the columns, or pass "
            f"{name}.to_numpy() if there is one column per label)"
        )
    return True
