"""Read wide data frames, with one column per label; an index or a column with a known name names the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from xmceval.errors import DataError
from xmceval.rows.block import AnyArray
from xmceval.rows.names import Axis, find_order, first_named, has_numbers, naming_columns


class Wide(NamedTuple):
    """A data frame with one column per label: its numbers, and the names of its rows and labels."""

    values: AnyArray  # [n_rows, n_labels]
    rows: Axis
    labels: Axis


def is_frame(value: Any) -> bool:
    """Return whether a value is a data frame of pandas or polars."""
    return hasattr(value, "to_numpy") and hasattr(value, "columns") and not hasattr(value, "tocsr")


def to_numbers(value: Any) -> AnyArray:
    """Convert a frame or Series to an array, of numbers if possible, including pandas' nullable numbers."""
    values = np.asarray(value)
    if values.dtype.kind != "O":
        return values
    try:
        if {*map(type, values.flat)} <= {int, bool}:  # keeps numbers beyond 2^53
            return values.astype(np.int64)
        numbers: AnyArray = value.to_numpy(dtype=np.float64, na_value=np.nan)
        return numbers
    except (TypeError, ValueError, OverflowError):
        return values


def rows_of(value: Any, name: str) -> Axis:
    """Return the rows of an object, named by the index of a pandas object."""
    index = getattr(value, "index", None)
    if index is None or callable(index):
        return Axis(name, "row")
    return Axis.of(name, "row", index)


def read_wide(frame: Any, name: str) -> Wide:
    """Split a data frame into numbers and names; columns with known names name the rows, and text is refused."""
    naming = naming_columns(frame.columns)
    rows = rows_of(frame, name)
    if naming:
        rows = rows_in(frame[naming[0]].to_numpy(), naming[0], name)
        frame = frame.drop(columns=naming) if hasattr(frame, "iloc") else frame.drop(naming)
    numbers = to_numbers(frame)
    if numbers.dtype.kind not in "biuf":
        texts = [column for column in frame.columns if to_numbers(frame[column]).dtype.kind not in "biuf"]
        column = frame.columns[0]
        if texts:
            column = texts[0]
        raise DataError(
            f"{name}: its column {column!r} has no numbers; a data frame has one column of numbers per label (hint: "
            f"set_index({column!r}) if it names the rows, drop(columns={column!r}) to leave it out)"
        )
    if naming and has_numbers(naming[0]):
        order = np.argsort(np.asarray(rows.listed))
        numbers = numbers[order]
        rows = Axis(name, "row", range(len(order)), column=naming[0])
    return Wide(numbers, rows, Axis.of(name, "label", frame.columns))


def rows_in(values: AnyArray, column: str, name: str) -> Axis:
    """Return the rows that a column with a known name names: different ids, or the row numbers in any order."""
    axis = Axis.of(name, "row", values, column=column)
    are_fractions = values.dtype.kind == "f" and not isinstance(axis.names, (range, np.ndarray))
    numbers = np.asarray(axis.listed)
    is_wrong = has_numbers(column) and not np.array_equal(np.sort(numbers), np.arange(numbers.size))
    if axis.is_repeated or are_fractions or is_wrong:
        what = "the numbers 0 to n - 1" if has_numbers(column) else "different ids"
        raise DataError(
            f"{name}: its column {column!r} names the rows by its name; expected {what} (hint: rename it if it is a "
            "label)"
        )
    return axis


def check_rows(truth: Any, **others: Any) -> None:
    """Refuse objects whose indexes name the rows in different orders, if the index of the truth does not."""
    known = None
    if not rows_of(truth, "y_true").is_named:
        for name, value in others.items():
            if value is not None:
                known = first_named(known, rows_of(value, name), "y_true")


def aligned(truth: Axis, values: Any, rows: Axis) -> Any:
    """Return values per row, named by `rows`, in the order of the rows of the truth."""
    order = find_order(truth, rows)
    if order is None:
        return values
    return np.asarray(values)[order]
