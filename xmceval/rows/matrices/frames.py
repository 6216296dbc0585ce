"""Read wide data frames with one column per label; id columns of frames and arrays name the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from xmceval.errors import AmbiguousError, DataError
from xmceval.rows import readings
from xmceval.rows.block import AnyArray
from xmceval.rows.matrices.tensors import as_array, shape_of
from xmceval.rows.readings import FEW_ROWS, LEAST_IDS, MOST_OF_IDS, Axis


class IdColumn(NamedTuple):
    """A column of the truth whose values name the rows."""

    place: int
    name: Any  # its name in a data frame, or its position in an array
    n_columns: int  # the number of columns of the truth


def is_frame(value: Any) -> bool:
    """Return whether a value is a data frame of pandas or polars."""
    return hasattr(value, "to_numpy") and hasattr(value, "columns") and not hasattr(value, "tocsr")


def to_numbers(value: Any) -> AnyArray:
    """Convert a frame or Series to an array, of numbers if possible, including pandas' nullable numbers."""
    values = np.asarray(value)
    if values.dtype.kind != "O":
        return values
    try:
        if {type(each) for each in values.flat} <= {int, bool}:  # keeps numbers beyond 2^53
            return values.astype(np.int64)
        numbers: AnyArray = value.to_numpy(dtype=np.float64, na_value=np.nan)
        return numbers
    except (TypeError, ValueError, OverflowError):
        return values


def rows_of(value: Any, name: str) -> Axis:
    """Return the rows of an object, named by the index of a pandas object."""
    index = getattr(value, "index", None)
    return Axis(name, "row") if index is None or callable(index) else Axis.of(name, "row", index)


def find_id_columns(truth: Any, systems: Sequence[Any], known: Sequence[IdColumn] = ()) -> Sequence[IdColumn]:
    """Return the columns of a wide truth in memory whose values name the rows of truth and all predictions.

    Such a column is recognised by its values: text or, next to labels of 0 and 1, whole numbers; distinct in
    the truth and in the predictions. A column that predictions lack, or that may be a label, is refused.
    Columns that are `known` from earlier batches are returned unchanged.
    """
    head = None if known else _head(truth)
    if head is None or head.shape[1] < 2:
        return known
    places = list(_candidates(head))
    if not places:
        return ()
    heads = [_head(system) for system in systems]
    is_same = [other is not None and np.array_equal(head, other) for other in heads]
    is_graded = len(places) > MOST_OF_IDS  # then whole numbers may be grades
    if is_graded:
        places = [place for place in places if readings.are_distinct(head[:, place])]
    if all(is_same) or len(places) > MOST_OF_IDS:
        return ()
    names = list(truth.columns) if is_frame(truth) else list(range(head.shape[1]))
    found, doubtful, lone = list[IdColumn](), list[IdColumn](), list[IdColumn]()
    for place in places:
        column = IdColumn(place, names[place], len(names))
        values, theirs = _column(truth, place), [_find_column(system, column) for system in systems]
        is_certain = readings.are_distinct(values) and (readings.is_text(values) or len(values) >= LEAST_IDS)
        if any(others is None for others in theirs):
            if is_certain and any(_lacks(system, column, truth) for system in systems):
                lone.append(column)
        elif is_certain and all(others is not None and readings.are_distinct(others) for others in theirs):
            found.append(column)
        elif any(
            readings.may_be_ids_of_rows(values, others, least=_least_rows(other_head, place))
            for others, other_head, is_truth in zip(theirs, heads, is_same, strict=True)
            if others is not None and other_head is not None and not is_truth
        ):
            doubtful.append(column)
        else:
            is_graded |= not readings.is_text(values)
    if is_graded:
        numbers = [column for column in found if not readings.is_text(head[:, column.place])]
        doubtful = list[IdColumn]()
        for column in numbers:  # of which predictions with fractions elsewhere share most values
            ours = set(_column(truth, column.place).tolist())
            columns = (
                _find_column(system, column)
                for system, other in zip(systems, heads, strict=True)
                if other is not None and _least_rows(other, column.place) == FEW_ROWS
            )
            if any(2 * len(ours.intersection(others.tolist())) > len(ours) for others in columns if others is not None):
                doubtful.append(column)
        found, lone = ([each for each in columns if readings.is_text(head[:, each.place])] for columns in (found, lone))
    if len(found) + len(doubtful) == head.shape[1]:  # no labels are left
        return ()
    if lone:
        raise _lone_column_error("y_true", lone[0], "the predictions lack it")
    if doubtful:
        names = [column.name for column in doubtful]
        axis = Axis("y_true", "row", column=names if len(names) > 1 else names[0])
        has, it, question = ("have", "them", "do they") if len(names) > 1 else ("has", "it", "does it")
        raise AmbiguousError(
            f"y_true: its {axis.holder} {has} the same whole numbers in truth and predictions: {question} name or "
            f"group the rows? (hint: if so, pass both without {it}, {axis.unnamed}; else pass scores that are not "
            "whole, such as 0.5 + y_score)"
        )
    return tuple(found)


def _least_rows(scores: AnyArray, place: int) -> int:
    """Return the number of rows needed to tell that a column is not a label: more if all columns are whole."""
    others = np.delete(scores, place, axis=1)
    return LEAST_IDS if others.dtype.kind != "f" or (others == np.floor(others)).all() else FEW_ROWS


def refuse_lone_ids(scores: Any, truth: Any) -> None:
    """Refuse a column of ids in dense scores if the truth has no columns, like lists of labels."""
    head = _head(scores)
    if head is None or head.shape[1] < 2 or len(scores) < LEAST_IDS:
        return
    names = list(scores.columns) if is_frame(scores) else list(range(head.shape[1]))
    places = [place for place in _candidates(head) if readings.are_distinct(_column(scores, place))]
    rest = np.delete(head, places, axis=1)
    if places and rest.dtype.kind == "f" and 2 * np.count_nonzero(rest != np.floor(rest)) > rest.size:
        column = IdColumn(places[0], names[places[0]], len(names))
        raise _lone_column_error("y_score", column, f"{truth} has no such column")


def refuse_mixed(truth: Any, scores: Any) -> None:
    """Refuse a column that names the rows of a wide data frame and of a table of lists: an index would join them."""
    if not (is_frame(truth) and is_frame(scores)):
        return
    wide, table = (truth, scores) if _head(truth) is not None else (scores, truth)
    if _head(wide) is None or _head(table) is not None:
        return
    index = set(rows_of(wide, "").listed)
    for name in table.columns:
        ids = table[name].to_numpy()
        is_shared = name in list(wide.columns) and readings.are_distinct(wide[name].to_numpy())
        if len(ids) >= LEAST_IDS and readings.are_distinct(ids) and (is_shared or set(ids.tolist()) == index):
            both = f"y_true.set_index({name!r})", f"y_score.set_index({name!r})"
            raise DataError(
                f"y_true and y_score: {name!r} names the rows of both, of which one has lists and the other a column "
                f"per label (hint: pass {' and '.join(both)}, which are joined by index)"
            )


def split_ids(value: Any, columns: Sequence[IdColumn], name: str) -> tuple[Any, Axis | None]:
    """Split a frame or array into its labels and the rows that id columns name; return others unchanged."""
    places = [place for column in columns if (place := _find_place(value, column)) is not None]
    if not places:
        return value, None
    names = list(value.columns) if is_frame(value) else []
    values = [_column(value, place).tolist() for place in places]
    rows = values[0] if len(values) == 1 else list(zip(*values, strict=True))
    column = [names[place] for place in places] if names else places
    axis = replace(Axis.of(name, "row", rows), column=column[0] if len(column) == 1 else column)
    if not names:
        return np.delete(as_array(value, name), places, axis=1), axis
    dropped = [names[place] for place in places]
    return (value.drop(columns=dropped) if hasattr(value, "iloc") else value.drop(dropped)), axis


def check_rows(truth: Any, **others: Any) -> None:
    """Refuse objects whose indexes name the rows in different orders, if the index of the truth does not."""
    known = None
    if rows_of(truth, "y_true").is_numbered:
        for name, value in others.items():
            known = known if value is None else readings.first_named(known, rows_of(value, name), "y_true")


def aligned(
    truth: Any, other: Any, name: str, rows: tuple[Axis | None, Axis | None] = (None, None), *, in_columns: bool = True
) -> Any:
    """Align `other` with the truth by row names, and column names; return objects without names unchanged.

    `rows` are the rows of both; by default those in their index. With `in_columns` the columns of both are
    labels.
    """
    if other is None:
        return None
    order = readings.find_order(rows[0] or rows_of(truth, "y_true"), rows[1] or rows_of(other, name))
    columns = None
    if in_columns and any(is_frame(value) and len(value.columns) > 1 for value in (truth, other)):
        labels = [
            Axis.of(source, "label", value.columns) if is_frame(value) else Axis(source, "label")
            for source, value in (("y_true", truth), (name, other))
        ]
        columns = readings.find_order(*labels)
    if order is None and columns is None:
        return other
    values = other.to_numpy() if hasattr(other, "to_numpy") else other
    values = values if columns is None else values[:, columns]
    return values if order is None else values[order]


def _head(value: Any) -> AnyArray | None:
    """Return sample rows of a two-dimensional data frame, array or tensor; None for others, such as tables."""
    if is_frame(value):
        rows: AnyArray = (value.iloc[_some(value)] if hasattr(value, "iloc") else value[_some(value)]).to_numpy()
        is_wide = rows.dtype.kind in "iuf" or (
            rows.dtype.kind == "O" and all(isinstance(cell, (str, Number)) for cell in rows.flat)
        )
        return rows if rows.size and is_wide else None
    return None


def _some(value: Any) -> list[int]:
    """Return the first rows and others from the whole length: groups may be sorted, or alternate."""
    n_rows, half = len(value), LEAST_IDS // 2
    return [*range(min(n_rows, half)), *range(half, n_rows, max(-(-(n_rows - half) // half), 1))]


def _candidates(head: AnyArray) -> Iterator[int]:
    """Yield the columns with text, or with whole numbers, at least one of them above 1."""
    for place in range(head.shape[1]) if head.dtype.kind == "O" else np.flatnonzero(head.max(axis=0) > 1).tolist():
        values = head[:, place]
        if readings.is_whole(values) and (readings.is_text(values) or values.max() > 1):
            yield place


def _column(value: Any, place: int) -> AnyArray:
    if is_frame(value):
        column: AnyArray = (value.iloc[:, place] if hasattr(value, "iloc") else value.to_series(place)).to_numpy()
        return column
    return np.asarray(as_array(value[:, place], "y_true")).ravel()


def _find_place(value: Any, column: IdColumn) -> int | None:
    """Return the position of a column, known by name in a frame, or by position in an equally wide array."""
    names = list(value.columns) if is_frame(value) else []
    if column.name in names:
        return names.index(column.name)
    has_place = _head(value) is not None and value.shape[1] == column.n_columns
    return column.place if has_place and (not names or column.name == column.place) else None


def _find_column(system: Any, column: IdColumn) -> AnyArray | None:
    place = _find_place(system, column)
    return None if place is None else _column(system, place)


def _lacks(system: Any, column: IdColumn, truth: Any) -> bool:
    """Return whether predictions lack a column of the truth; an array then has one column less."""
    if is_frame(truth) and is_frame(system):
        return column.name not in list(system.columns)
    n_columns = shape_of(system)[1] if len(shape_of(system)) == 2 else 0
    return bool(n_columns != truth.shape[1] if is_frame(truth) else n_columns == truth.shape[1] - 1)


def _lone_column_error(name: str, column: IdColumn, lack: str) -> DataError:
    axis = Axis(name, "row", column=column.name)
    return DataError(
        f"{name}: its column {column.name!r} has a different value in each row, as ids have, and {lack} (hint: "
        f"{axis.unnamed} leaves it out)"
    )
