"""Ids of rows, used instead of row numbers to name per-row values and examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from xmceval.errors import DataError, UsageError, agreeing, argument, counted

if TYPE_CHECKING:
    from xmceval.rows.names import Axis

Value = TypeVar("Value")


@dataclass(frozen=True)
class RowIds:
    """The ids of all rows."""

    ids: Sequence[str]  # by row
    source: str  # where they come from, for messages

    @classmethod
    def of(cls, ids: Iterable[Any]) -> RowIds:
        """Take the ids from a sequence."""
        if hasattr(ids, "filled"):
            from xmceval.rows.matrices.storage import as_plain  # not loaded for the help of the command

            ids = as_plain(ids, "row_ids")
        if not isinstance(ids, Iterable) or getattr(ids, "ndim", 1) != 1:
            raise UsageError(f"row_ids: expected the id of each row, got {type(ids).__name__}")
        row_ids = cls([*map(str, ids)], "row_ids")
        if row_ids.is_doubtful:
            row_ids.check_each([f"row_ids[{row}]" for row in range(len(row_ids.ids))])
        return row_ids

    @classmethod
    def of_rows(cls, rows: Axis | None) -> RowIds | None:
        """Take the row names of an index; None if they are only the row numbers."""
        if rows is None or rows.is_numbered:
            return None
        return cls(list(map(str, rows.listed)), rows.source)

    @property
    def is_doubtful(self) -> bool:
        """Whether an id is repeated or empty."""
        return len(set(self.ids)) < len(self.ids) or "" in self.ids

    def check_each(self, places: Sequence[str]) -> None:
        """Refuse an id that is repeated or empty; `places` are the places of all ids, for the message."""
        first: dict[str, str] = {}
        for name, place in zip(self.ids, places, strict=False):
            if not name:
                raise DataError(f"{place}: expected the id of a row, found nothing")
            if name in first:
                raise DataError(f"{place}: the id {name[:40]!r} appears twice, first at {first[name]}")
            first[name] = place

    def check_number(self, n_rows: int) -> None:
        """Refuse a number of ids that differs from the number of rows."""
        if len(self.ids) != n_rows:
            raise DataError(
                f"{self.source}: has {counted(len(self.ids), 'id')}, and there are {counted(n_rows, 'row')}; "
                "expected one id per row"
            )


def join_by_id(values: Mapping[str, Value], ids: RowIds | None, source: str, noun: str) -> list[Value]:
    """Return the value of each row, given values by id; ignore ids that no row has."""
    if ids is None:
        raise DataError(
            f"{source}: has {noun}s by id, and neither an index nor {argument('row_ids')} has the ids of the rows "
            f"(hint: pass {argument('row_ids', kind='FILE')}, or the {noun} of each row in the order of the rows)"
        )
    missing = [row for row in ids.ids if row not in values]
    if missing:
        verb = agreeing(len(missing), "has", "have")
        raise DataError(
            f"{source}: {counted(len(missing), 'row')} of {len(ids.ids):,} {verb} no {noun}; the first is "
            f"{missing[0][:40]!r}"
        )
    joined = [values[row] for row in ids.ids]
    for row, value in zip(ids.ids, joined, strict=True):
        if value is None or value == "" or value != value:  # noqa: PLR0124 - NaN is missing too
            raise DataError(f"{source}: the row {row[:40]!r}: expected the {noun} of a row, found nothing")
    return joined
