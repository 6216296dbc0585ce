"""Groups of rows, such as by language or day, which are also scored separately."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError, argument, counted
from xmceval.rows.block import Int64
from xmceval.rows.matrices.storage import as_plain
from xmceval.rows.matrices.tensors import as_array, is_tensor
from xmceval.rows.nouns import OF_LABELS, Nouns

MOST_GROUPS = 100  # each becomes a section of the table


@dataclass(frozen=True)
class Group:
    """One group: its name, and the number of rows scored."""

    noun: ClassVar[str] = "group"
    name: str
    n_instances: int

    def __str__(self) -> str:
        return self.describe()

    @property
    def is_empty(self) -> bool:
        """Whether it has no rows, and hence no values."""
        return self.n_instances == 0

    @property
    def extent(self) -> str:
        """The size of the group, as text."""
        return f"{self.n_instances:,}"

    def describe(self, truth: str = "", nouns: Nouns = OF_LABELS) -> str:  # noqa: ARG002 - bins share the signature
        """Describe the group in one line."""
        return f"{self.name}: {counted(self.n_instances, nouns.row)}"


@dataclass(frozen=True)
class RowGroups:
    """The group of each row."""

    names: tuple[str, ...]  # names of the groups, in order
    codes: Int64  # int64 array [n_rows]; the group number of each row
    source: str  # where they come from, for messages

    def __post_init__(self) -> None:
        if len(self.names) > MOST_GROUPS:
            raise DataError(
                f"{self.source}: has {len(self.names):,} different groups for {counted(self.codes.size, 'row')}; at "
                f"most {MOST_GROUPS} can be scored (hint: join small groups; lines of id and group need "
                f"{argument('row_ids', kind='FILE')})"
            )

    @classmethod
    def of(cls, values: Any) -> RowGroups:
        """Take the group of each row from a sequence."""
        source = "by_group"
        if is_tensor(values):
            values = as_array(values, source)
        if isinstance(values, np.ndarray):
            values = as_plain(values, source)
            if values.ndim == 1 and values.dtype.kind in "iu":
                numbers, codes = np.unique(values, return_inverse=True)
                return cls(tuple(map(str, numbers.tolist())), codes, source)
        listed = values
        if hasattr(values, "tolist"):
            listed = values.tolist()
        if not isinstance(listed, Iterable) or getattr(values, "ndim", 1) != 1:
            got = type(values).__name__
            if hasattr(values, "shape"):
                got = f"shape {values.shape}"
            raise UsageError(f"{source}: expected the group of each row, got {got}")
        names = [_name(group) for group in listed]
        return cls.of_names(names, (f"{source}[{row}]" for row in range(len(names))), source)

    @classmethod
    def of_names(cls, names: Sequence[str], places: Iterable[str], source: str) -> RowGroups:
        """Number the groups of rows, given by name, sorted by name."""
        if "" in names:
            place = next(place for name, place in zip(names, places, strict=True) if not name)
            raise DataError(f"{place}: expected the group of a row, found nothing")

        def order(name: str) -> tuple[bool, float, str]:
            """Sort key: names that are numbers come first, by value."""
            try:
                number = float(name)
            except ValueError:
                number = math.nan
            if math.isnan(number):
                return True, 0.0, name
            return False, number, name

        distinct = sorted(set(names), key=order)
        numbers = {name: code for code, name in enumerate(distinct)}
        codes = np.array([numbers[name] for name in names], dtype=np.int64)
        return cls(tuple(distinct), codes, source)

    def check_number(self, n_rows: int, left: str = "") -> None:
        """Refuse a number of groups that differs from the number of rows; `left` says which rows are left."""
        if self.codes.size != n_rows:
            raise DataError(
                f"{self.source}: has the groups of {counted(self.codes.size, 'row')}, and there are "
                f"{counted(n_rows, 'row')}{left}; expected one per row"
            )

    def codes_of(self, first_row: int, n_rows: int, kept: Int64 | None) -> Int64:
        """Return the group numbers of a range of rows, or of those that are kept."""
        codes = self.codes[first_row : first_row + n_rows]
        if codes.size < n_rows:
            self.check_number(first_row + n_rows)
        if kept is None:
            return codes
        return codes[kept]

    def split(self, first_row: int, n_rows: int, kept: Int64 | None) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Yield each group that occurs in a range of rows, or among those kept, and a mask of its rows."""
        codes = self.codes_of(first_row, n_rows, kept)
        for code in np.unique(codes).tolist():
            yield code, codes == code


def _name(value: Any) -> str:
    """Return the name of a group; empty for a missing value, such as None, NaN, or pandas' NA."""
    is_same = value is not None and value == value  # noqa: PLR0124 - NaN and NaT are not; NA is neither
    if not isinstance(is_same, (bool, np.bool_)) or not is_same:
        return ""
    return str(value).strip()
