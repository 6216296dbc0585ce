"""Wide data frames as matrices: one column per label, whose names and index are those of the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xmceval.errors import AmbiguousError, DataError
from xmceval.rows.matrices.storage import AnyArray


@dataclass(frozen=True, eq=False)
class Frame:
    """A data frame of numbers, or what has an index."""

    name: str
    values: AnyArray | None  # array [n_rows, n_labels], or None
    columns: Sequence[Any] | None  # the names of the labels
    index: Sequence[Any] | None  # the names of the rows; None where they are only numbered


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
    columns = list(value.columns)
    if all(isinstance(column, int) for column in columns) and sorted(columns) == list(range(len(columns))) != columns:
        raise DataError(f"{name}: its columns are numbered {columns[:5]} ...; expected 0, 1, ... (hint: sort them)")
    return Frame(name, values, columns, find_names(getattr(value, "index", None)))


def find_names(index: Any) -> list[Any] | None:
    """Return the names of rows in an index of pandas; None where rows are only numbered, in ascending order."""
    is_range = type(index).__name__ == "RangeIndex" and index.step > 0
    return None if index is None or is_range else list(index)


def is_reordered(names: Sequence[Any]) -> bool:
    """Return whether names of rows are their numbers, from 0 on, in another order."""
    numbers, names = list(map(str, range(len(names)))), list(map(str, names))
    return names != numbers and set(names) == set(numbers)


def reordered_error(name: str, other: str) -> AmbiguousError:
    """Return the error for an index in another order, beside rows that are only numbered."""
    return AmbiguousError(
        f"{name}: its index has the numbers of the rows of {other} in another order: do they say which row is meant? "
        f"(hint: if so, pass {name}.sort_index(), else {name}.reset_index(drop=True))"
    )


def check_agreement(truth: Frame | None, scores: Frame | None) -> None:
    """Refuse scores whose columns or index are not those of the truth, in the same order."""
    if truth is None or scores is None:
        return
    for frame, other in ((truth, scores), (scores, truth)):
        if other.index is None and frame.index is not None and is_reordered(frame.index):
            raise reordered_error(frame.name, other.name)
    for noun, ours, theirs, hint in (
        ("columns", truth.columns, scores.columns, f"{scores.name}[{truth.name}.columns]"),
        ("index", truth.index, scores.index, f"{scores.name}.loc[{truth.name}.index]"),
    ):
        if ours is None or theirs is None or list(ours) == list(theirs):
            continue
        place = next((i for i, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), None)
        is_same_set = place is not None and sorted(map(str, ours)) == sorted(map(str, theirs))
        if place is None:
            found = f"has {len(theirs):,} {noun if noun == 'columns' else 'rows'}, {truth.name} has {len(ours):,}"
        else:
            verb = "have" if noun == "columns" else "has"
            found = f"its {noun} {verb} {theirs[place]!r} where {truth.name} has {ours[place]!r}"
        ways = f" (hint: pass {hint})" if is_same_set else ""
        raise DataError(f"{scores.name}: {found}; expected the same {noun} in the same order{ways}")
