"""One value per row, its group or weight: those of tables, Series and mappings are put into the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from xmceval.errors import DataError
from xmceval.files.io.paths import to_path
from xmceval.files.tables.arrays import to_numbers, to_text, to_whole
from xmceval.files.tables.columns import UNUSED, explain_keys, find_roles, plain
from xmceval.files.tables.opening import table_at
from xmceval.files.tables.table import Table, memory_table
from xmceval.rows.matrices.frames import is_frame, rows_of
from xmceval.rows.readings import Axis, find_order, say_how
from xmceval.rows.rowids import RowIds, join_by_id


def in_order(
    values: Any,
    name: str,
    noun: str,
    find_ids: Callable[[], RowIds | None],
    rows: Axis | None,
    *,
    in_batch: bool = False,
) -> tuple[Any, str]:
    """Return one value per row, in the order of the rows where values have names of rows, and how they were joined.

    Parameters
    ----------
    values : object
        An array or sequence, a Series, a mapping by id, a table of two columns, or a path.
    name, noun : str
        What messages call them, and one of them.
    find_ids : callable
        Returns the ids of the rows, or None.
    rows : Axis or None
        Those of the truth, which the index of a Series may have in another order.
    in_batch : bool
        Whether they are those of a batch.
    """
    if not isinstance(values, (str, Path, Mapping)) and not hasattr(values, "to_numpy"):
        return values, "position"
    index, ids = getattr(values, "index", None), find_ids()
    if hasattr(values, "to_numpy") and not is_frame(values) and index is not None and not callable(index):
        return _of_series(values, name, noun, ids, rows or Axis("y_true", "row"), in_batch=in_batch)
    ids = ids or RowIds.of_rows(rows)
    if isinstance(values, Mapping):
        return join_by_id({str(key): value for key, value in values.items()}, ids, name, noun), "name"
    if isinstance(values, (str, Path)):
        table = table_at(to_path(values))
    else:
        table = memory_table(values, name) if is_frame(values) or hasattr(values, "to_batches") else None
    return (values, "position") if table is None else (_of_table(table, noun, ids), "name")


def _of_series(series: Any, name: str, noun: str, ids: RowIds | None, rows: Axis, *, in_batch: bool) -> tuple[Any, str]:
    """Return the values of a Series of pandas, whose index may name the rows, and how they were joined."""
    axis = rows_of(series, name)
    if ids is not None and axis.is_numbered and Axis.of(ids.source, "row", ids.ids).is_reordered:
        raise DataError(
            f"{name}: its index has the names of the rows, in another order: are its lines by name? "
            f"(hint: if so, pass {name}.to_dict(), else {name}.to_numpy())"
        )
    if ids is not None and not axis.is_numbered:
        if not series.index.is_unique:
            twice = str(series.index[series.index.duplicated()][0])
            raise DataError(f"{name}: its index has {twice[:40]!r} twice; expected the {noun} of a row once")
        return join_by_id(dict(zip(map(str, series.index), series.tolist(), strict=True)), ids, name, noun), "name"
    order = None if ids is not None else find_order(rows, axis, in_batch=in_batch)
    return series.to_numpy() if order is None else series.to_numpy()[order], say_how(rows, axis, "position")


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
