"""Wide data frames as matrices with a column per label; columns of ids name the rows of frames and arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from xmceval.errors import AmbiguousError, DataError
from xmceval.rows.matrices.storage import AnyArray
from xmceval.rows.readings import LEAST_IDS, Axis, are_distinct, find_order

USUAL_GRADE = 10  # larger whole numbers that all differ are likelier ids, also in few rows
INDEX_NAMES = frozenset({"id", "index", "unnamed: 0"})  # what pandas calls an index that was saved, and the usual name


@dataclass(frozen=True, eq=False)
class Frame:
    """A data frame of numbers."""

    values: AnyArray  # array [n_rows, n_labels]
    rows: Axis
    labels: Axis


class IdColumn(NamedTuple):
    """A column of the truth whose values name the rows."""

    place: int
    name: Any  # its name in a data frame, or its place in an array
    n_columns: int  # how many columns the truth has


def is_frame(value: Any) -> bool:
    """Return whether a value is a data frame, of pandas or polars."""
    return hasattr(value, "to_numpy") and hasattr(value, "columns") and not hasattr(value, "tocsr")


def as_frame(value: Any, name: str) -> Frame:
    """Take a data frame of numbers; a missing one becomes NaN."""
    values = value.to_numpy()
    if values.dtype.kind == "O":  # of pandas' own types that may have missing values
        try:
            values = value.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            raise DataError(f"{name}: expected a data frame of numbers, one column per label") from None
    return Frame(values, rows_of(value, name), Axis.of(name, "label", value.columns))


def rows_of(value: Any, name: str) -> Axis:
    """Return the rows of an object, which those of pandas name in an index."""
    index = getattr(value, "index", None)
    return Axis(name, "row") if index is None or callable(index) else Axis.of(name, "row", index)


def find_id_columns(truth: Any, systems: Sequence[Any], name: str = "y_true") -> tuple[IdColumn, ...]:
    """Return the columns of a wide truth in memory whose values name its rows, and those of all predictions.

    Such a column is known by its values: whole numbers or text, all different in the truth and in the predictions. One
    that predictions lack is refused, and one in few rows.
    """
    head = _head(truth)
    if head is None or min(head.shape) < 2 or (head.dtype.kind != "O" and head.max() <= 1):
        return ()
    names = list(truth.columns) if is_frame(truth) else list(range(head.shape[1]))
    found = []
    for place in _candidates(head):
        column = IdColumn(place, names[place], len(names))
        values = _column(truth, place)
        is_certain = len(values) >= LEAST_IDS
        if not are_distinct(values) or not (is_certain or _may_be_ids(values, column.name)):
            continue
        theirs = [_find_column(system, column) for system in systems]
        if theirs and all(others is not None and are_distinct(others) for others in theirs):
            if not is_certain:
                raise _few_rows_error(name, column)
            found.append(column)
        elif is_certain and any(_lacks(system, column, truth) for system in systems):
            raise _lone_column_error(name, column)
    return tuple(found)


def split_ids(value: Any, columns: Sequence[IdColumn], name: str) -> tuple[Any, Axis | None]:
    """Return a frame or array without columns of ids, and the rows that these name; anything else as it is."""
    places = [place for column in columns if (place := _find_place(value, column)) is not None]
    if not places:
        return value, None
    names = list(value.columns) if is_frame(value) else []
    values = [_column(value, place).tolist() for place in places]
    rows = values[0] if len(values) == 1 else list(zip(*values, strict=True))
    axis = replace(Axis.of(name, "row", rows), column=columns[0].name if names else places[0])
    if not names:
        return np.delete(value, places, axis=1), axis
    dropped = [names[place] for place in places]
    return (value.drop(columns=dropped) if hasattr(value, "iloc") else value.drop(dropped)), axis


def aligned(
    truth: Any, other: Any, name: str, rows: tuple[Axis | None, Axis | None] = (None, None), *, in_columns: bool = True
) -> Any:
    """Return numbers in the order of the rows, and columns, that objects of pandas or polars name; others as they are.

    Parameters
    ----------
    truth, other : object
    name : str
        Of the other, for messages.
    rows : pair of Axis or None
        The rows of both; default those in their index.
    in_columns : bool
        Whether the columns are labels, of both.
    """
    order = find_order(rows[0] or rows_of(truth, "y_true"), rows[1] or rows_of(other, name))
    columns = None
    if in_columns and (is_frame(truth) or is_frame(other)):
        labels = [
            Axis.of(source, "label", value.columns) if is_frame(value) else Axis(source, "label")
            for source, value in (("y_true", truth), (name, other))
        ]
        columns = find_order(*labels)
    if order is None and columns is None:
        return other
    values = other.to_numpy() if hasattr(other, "to_numpy") else other
    values = values if columns is None else values[:, columns]
    return values if order is None else values[order]


def _head(value: Any) -> AnyArray | None:
    """Return the first rows of a data frame or array of two dimensions; None for others."""
    if is_frame(value):
        rows: AnyArray = (value.iloc[:LEAST_IDS] if hasattr(value, "iloc") else value[:LEAST_IDS]).to_numpy()
        return rows if rows.size and rows.dtype.kind in "iufO" else None
    is_matrix = isinstance(value, np.ndarray) and value.ndim == 2 and value.size and value.dtype.kind in "iuf"
    return value[:LEAST_IDS] if is_matrix else None


def _candidates(head: AnyArray) -> Iterator[int]:
    """Yield the columns whose first values are all different."""
    if head.dtype.kind == "O":
        yield from (place for place in range(head.shape[1]) if are_distinct(head[:, place]))
        return
    ordered = np.sort(head, axis=0)
    is_distinct = (ordered[1:] > ordered[:-1]).all(axis=0) & (head == np.floor(head)).all(axis=0)
    yield from np.flatnonzero(is_distinct).tolist()


def _column(value: Any, place: int) -> AnyArray:
    if isinstance(value, np.ndarray):
        return value[:, place]
    column: AnyArray = (value.iloc[:, place] if hasattr(value, "iloc") else value.to_series(place)).to_numpy()
    return column


def _find_place(value: Any, column: IdColumn) -> int | None:
    """Return where a column is: known by its name in a frame, by its place in an array of as many columns."""
    names = list(value.columns) if is_frame(value) else []
    if column.name in names:
        return names.index(column.name)
    has_place = _head(value) is not None and value.shape[1] == column.n_columns
    return column.place if has_place and (not names or column.name == column.place) else None


def _find_column(system: Any, column: IdColumn) -> AnyArray | None:
    place = _find_place(system, column)
    return None if place is None else _column(system, place)


def _may_be_ids(values: AnyArray, name: Any) -> bool:
    """Return whether a few values that all differ are likelier ids than grades."""
    return values.dtype.kind in "OU" or bool(values.max() > USUAL_GRADE) or str(name).lower() in INDEX_NAMES


def _lacks(system: Any, column: IdColumn, truth: Any) -> bool:
    """Return whether predictions lack a column of the truth; of an array it shows only where they have one less."""
    if is_frame(truth) and is_frame(system):
        return column.name not in list(system.columns)
    shape: Any = getattr(system, "shape", ())
    n_columns = shape[1] if len(shape) == 2 else 0
    return bool(n_columns != truth.shape[1] if is_frame(truth) else n_columns == truth.shape[1] - 1)


def _few_rows_error(name: str, column: IdColumn) -> AmbiguousError:
    axis = Axis(name, "row", column=column.name)
    return AmbiguousError(
        f"{name}: its column {column.name!r} has a different whole number in each row, and so it has in the "
        f"predictions: an id of the row, or a label? (hint: of ids pass both without it, {axis.unnamed}; of a label "
        f"pass scipy.sparse.csr_array({name}))"
    )


def _lone_column_error(name: str, column: IdColumn) -> DataError:
    axis = Axis(name, "row", column=column.name)
    return DataError(
        f"{name}: its column {column.name!r} has a different value in each row, as ids have, and the predictions lack "
        f"it (hint: {axis.unnamed} leaves it out)"
    )
