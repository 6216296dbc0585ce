"""One value per row, its group or weight: those of tables, Series and mappings are put into the order of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xmceval.errors import DataError
from xmceval.files.io.paths import to_path
from xmceval.files.tables.arrays import to_numbers, to_text, to_whole
from xmceval.files.tables.columns import UNUSED, explain_keys, find_roles, plain
from xmceval.files.tables.opening import table_at
from xmceval.files.tables.table import Table, memory_table
from xmceval.rows.matrices.frames import Frame, find_names, is_frame, is_reordered, reordered_error
from xmceval.rows.rowids import RowIds, join_by_id


def in_order(values: Any, name: str, noun: str, ids: RowIds | None, frame: Frame | None) -> Any:
    """Return one value per row: in the order of the rows where values have names of rows, else as they were passed.

    Parameters
    ----------
    values : object
        An array or sequence, a Series, a mapping by id, a table of two columns, or a path.
    name, noun : str
        What messages call them, and one of them.
    ids : RowIds or None
        The ids of the rows.
    frame : Frame or None
        The truth, if it is a data frame, whose index a Series has too.
    """
    index = getattr(values, "index", None)
    if hasattr(values, "to_numpy") and not is_frame(values) and index is not None and not callable(index):
        return _of_series(values, name, noun, ids, frame)
    if isinstance(values, Mapping):
        return join_by_id({str(key): value for key, value in values.items()}, ids, name, noun)
    if isinstance(values, (str, Path)):
        table = table_at(to_path(values))
    else:
        table = memory_table(values, name) if is_frame(values) or hasattr(values, "to_batches") else None
    return values if table is None else _of_table(table, noun, ids)


def _of_series(series: Any, name: str, noun: str, ids: RowIds | None, frame: Frame | None) -> Any:
    """Return the values of a Series of pandas, whose index may name the rows."""
    index, values = list(series.index), series.to_numpy()
    if find_names(series.index) is None:
        if ids is not None and is_reordered(ids.ids):
            raise DataError(
                f"{name}: its index has the names of the rows, in another order: are its lines by name? "
                f"(hint: if so, pass {name}.to_dict(), else {name}.to_numpy())"
            )
        return values
    if frame is not None and frame.index is None and is_reordered(index):
        raise reordered_error(name, frame.name)
    if ids is not None:
        if not series.index.is_unique:
            twice = str(series.index[series.index.duplicated()][0])
            raise DataError(f"{name}: its index has {twice[:40]!r} twice; expected the {noun} of a row once")
        return join_by_id(dict(zip(map(str, index), values.tolist(), strict=True)), ids, name, noun)
    if frame is not None and frame.index is not None and list(frame.index) != index:
        raise DataError(f"{name}: its index is not that of {frame.name} (hint: pass {name}.loc[{frame.name}.index])")
    return values


def _of_table(table: Table, noun: str, ids: RowIds | None) -> Any:
    """Return the values of a table of two columns: one of queries or rows, and one of the values."""
    roles = find_roles(table.names)
    keys = roles["query"] or roles["row"]
    values = [column for column in table.names if column not in keys and plain(column) not in UNUSED]
    if len(keys) != 1 or len(values) != 1:
        raise DataError(
            f"{table}: found the columns {', '.join(table.names[:10])}; expected {explain_keys()}, and one of {noun}s "
            "(hint: leave out other columns)"
        )
    found: dict[Any, Any] = {}
    for key, value in table.batches([keys[0], values[0]]):
        names = to_whole(key).tolist() if keys == roles["row"] else to_text(key).tolist()
        numbers = to_numbers(value).tolist() if noun == "weight" else to_text(value).tolist()
        for line, pair in enumerate(zip(names, numbers, strict=True)):
            if found.setdefault(*pair) != pair[1]:
                raise key.refuse(line, f"the {noun} of {pair[0]!r} is {pair[1]!r}, but {found[pair[0]]!r} above")
    if keys == roles["row"]:
        ids = RowIds([str(row) for row in range(len(found))], str(table))
        found = {str(row): value for row, value in found.items()}
    return join_by_id(found, ids, str(table), noun)
