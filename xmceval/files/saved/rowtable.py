"""Values of rows as one table, of whichever file they were read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted, listed
from xmceval.rows.rowids import RowIds

MOST_NAMED = 3  # rows of a message


@dataclass(frozen=True)
class RowHead:
    """What the values of rows are of.

    Attributes
    ----------
    systems, metrics : tuple of str
    has_ideal : tuple of bool
        By metric: whether its value is a ratio of sums, so that each row has an ideal as denominator.
    ids : RowIds, optional
        Without them, rows are called by their numbers.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    has_ideal: tuple[bool, ...]
    ids: RowIds | None = None

    def name_rows(self, rows: NDArray[np.int64]) -> list[Any]:
        """Return what rows [n_rows] are called: by their ids, where they have any, else by their numbers."""
        return rows.tolist() if self.ids is None else self.ids.of_rows(rows.tolist())


@dataclass(frozen=True)
class RowTable:
    """Values of rows of one or more systems.

    Attributes
    ----------
    name : str
        The file.
    systems, metrics : tuple of str
    rows : tuple of str
        Names of the rows.
    values : float64 array [n_rows, n_systems, n_metrics, 2]
        Numerator and denominator; the numerator is NaN where a row does not count.
    weights : float64 array [n_rows]
    has_ideal : tuple of bool
        By metric: whether it is a ratio of sums.
    meta : dict
        What the writer knew: digest of the truth, counts, options; empty for other tools' files.
    """

    name: str
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[str, ...]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    has_ideal: tuple[bool, ...]
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def has_dropped(self) -> bool:
        """Whether queries that a run lacks were left out of the truth."""
        return bool(self.meta.get("rules", {}).get("missing") == "drop")


def join_rows(tables: Sequence[RowTable], missing: str) -> tuple[list[RowTable], list[str]]:
    """Return tables of the same rows, and warnings of those that were missing; with ``error`` as they are.

    Parameters
    ----------
    tables : sequence of RowTable
    missing : {"error", "zero", "drop"}
        Whether rows that a table lacks count 0 in it, with the denominators that others have, or are left out of all.
    """
    every = list(dict.fromkeys(row for table in tables for row in table.rows))
    own = [set(table.rows) for table in tables]
    lacking = [[row for row in every if row not in rows] for rows in own]
    if missing == "error" or not any(lacking):
        return list(tables), []
    rows = every if missing == "zero" else [row for row in every if all(row in each for each in own)]
    if not rows:
        raise DataError(f"no row is in all of {listed(table.name for table in tables)}")
    outcome = "where they count 0" if missing == "zero" else "left out for all systems"
    warnings = [
        f"{table.name}: lacks {counted(len(lacks), 'row')} of {len(every):,}, such as "
        f"{', '.join(map(repr, lacks[:MOST_NAMED]))}, {outcome}"
        for table, lacks in zip(tables, lacking, strict=True)
        if lacks
    ]
    return [_with_rows(table, rows, tables) for table in tables], warnings


def _with_rows(table: RowTable, rows: Sequence[str], tables: Sequence[RowTable]) -> RowTable:
    """Return a table of some rows; of those that it lacks it has the denominators and weights that others have."""
    values, weights = np.zeros((len(rows), *table.values.shape[1:])), np.ones(len(rows))
    places = {row: place for place, row in enumerate(rows)}
    for each in (*(other for other in tables if other is not table), table):
        at = [places[row] for row in each.rows if row in places]
        taken = [i for i, row in enumerate(each.rows) if row in places]
        order = [each.metrics.index(name) for name in table.metrics if name in each.metrics]
        weights[at] = each.weights[taken]
        if each is table:
            values[at] = each.values[taken]
        elif len(order) == len(table.metrics):
            found = each.values[taken][:, :1, order]
            found[..., 0] *= 0  # those that do not count, NaN, stay so
            values[at] = found
    # Counts are of the rows before, and so is the digest of a truth that other rows were left out of.
    lost = {"counts", "truth"} if table.has_dropped else {"counts"}
    meta = {name: each for name, each in table.meta.items() if name not in lost}
    return replace(table, rows=tuple(rows), values=values, weights=weights, meta=meta)
