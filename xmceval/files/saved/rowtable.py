"""Values of rows as one table: of a file, of the shards of one, or of several files side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, argument, counted, listed

MOST_NAMED = 3  # rows of a message


@dataclass(frozen=True)
class RowTable:
    """Values of rows of one or more systems.

    Attributes
    ----------
    name : str
        The file.
    systems, metrics : tuple of str
    rows : tuple
        What the rows are called: their ids, or their numbers.
    values : float64 array [n_rows, n_systems, n_metrics, 2]
        Numerator and denominator; the numerator is NaN where a row does not count.
    weights : float64 array [n_rows]
    has_ideal : tuple of bool
        By metric: whether it is a ratio of sums, so that each row has an ideal as denominator.
    meta : dict
        Digests of truth and propensities, rules and counts; empty where a file does not have them.
    """

    name: str
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[Any, ...]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    has_ideal: tuple[bool, ...]
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def has_dropped(self) -> bool:
        """Whether queries that a run lacks were left out of the truth."""
        return bool(self.meta.get("rules", {}).get("missing") == "drop")


def join_shards(name: str, shards: Sequence[RowTable]) -> RowTable:
    """Return the rows of all shards, in their order; rows that are numbered in each have the shard in their names."""
    first = shards[0]
    for shard in shards[1:]:
        for what in ("metrics", "has_ideal"):
            if getattr(shard, what) != getattr(first, what):
                raise DataError(f"{first.name} and {shard.name}, shards of {name}, have different metrics")
        for what in ("propensities", "rules"):
            if shard.meta.get(what) != first.meta.get(what):
                raise DataError(f"{first.name} and {shard.name}, shards of {name}, were scored with different {what}")
        if len(shard.systems) != len(first.systems) or (len(first.systems) > 1 and shard.systems != first.systems):
            raise DataError(f"{first.name} and {shard.name}, shards of {name}, have different systems")
    systems = first.systems if all(shard.systems == first.systems for shard in shards) else (name,)
    rows = tuple(row for shard in shards for row in shard.rows)
    if len(set(rows)) < len(rows):
        rows = tuple(f"{number}:{row}" for number, shard in enumerate(shards, 1) for row in shard.rows)
    digests = [shard.meta.get("truth") for shard in shards]
    meta: dict[str, Any] = {key: first.meta[key] for key in ("rules", "propensities") if key in first.meta}
    return RowTable(
        name,
        systems,
        first.metrics,
        rows,
        np.concatenate([shard.values for shard in shards]),
        np.concatenate([shard.weights for shard in shards]),
        first.has_ideal,
        meta if None in digests else {**meta, "truth": json.dumps(digests)},
    )


def align(tables: Sequence[RowTable], missing: str) -> tuple[RowTable, list[str]]:
    """Return tables of the same truth side by side, and warnings of rows that some of them lack.

    Parameters
    ----------
    tables : sequence of RowTable
        With the same metrics, which are put into the order of the first.
    missing : {"error", "zero", "drop"}
        Whether rows that a table lacks are refused, count 0 in it, with the denominators that others have, or are left
        out of all.
    """
    metrics = tables[0].metrics
    in_any = dict.fromkeys(row for table in tables for row in table.rows)
    in_each = [set(table.rows) for table in tables]
    lacking = [[row for row in in_any if row not in rows] for rows in in_each]
    if missing == "error":
        _refuse_missing(tables, lacking)
    rows = [row for row in in_any if missing != "drop" or all(row in rows for rows in in_each)]
    if not rows:
        raise DataError(f"no row is in all of {listed(table.name for table in tables)}")
    places = {row: place for place, row in enumerate(rows)}
    weights = np.full(len(rows), np.nan)
    absent = np.zeros((len(rows), 1, len(metrics), 2))  # the values of a row in a table that lacks it
    arranged = list[tuple[NDArray[np.intp], NDArray[np.float64]]]()
    for table in tables:
        at = np.array([places.get(row, -1) for row in table.rows])
        taken, at = np.flatnonzero(at >= 0), at[at >= 0]
        values = table.values[taken][:, :, [table.metrics.index(name) for name in metrics]]
        if (~np.isnan(weights[at]) & (weights[at] != table.weights[taken])).any():
            raise DataError(f"{tables[0].name} and {table.name} have different sample weights")
        is_first = np.isnan(weights[at])
        absent[at[is_first]] = values[is_first, :1] * [0.0, 1.0]  # a numerator of a row that does not count stays NaN
        weights[at] = table.weights[taken]
        arranged.append((at, values))
    columns = []
    for at, values in arranged:
        column = np.repeat(absent, values.shape[1], axis=1)
        column[at] = values
        columns.append(column)
    outcome = "where they count 0" if missing == "zero" else "left out for all systems"
    warnings = [
        f"{table.name}: lacks {counted(len(lacks), 'row')} of {len(in_any):,}, such as "
        f"{', '.join(map(repr, lacks[:MOST_NAMED]))}, {outcome}"
        for table, lacks in zip(tables, lacking, strict=True)
        if lacks
    ]
    systems = tuple(system for table in tables for system in table.systems)
    joined = np.concatenate(columns, axis=1)
    return RowTable(tables[0].name, systems, metrics, tuple(rows), joined, weights, tables[0].has_ideal), warnings


def _refuse_missing(tables: Sequence[RowTable], lacking: Sequence[Sequence[Any]]) -> None:
    """Refuse a table that lacks rows of another."""
    for table, rows in reversed([*zip(tables, lacking, strict=True)]):
        if rows:
            other = next(other for other in tables if rows[0] in other.rows)
            ways = f"{argument('missing', 'zero')} or {argument('missing', 'drop')}"
            raise DataError(
                f"{table.name} lacks {counted(len(rows), 'row')} that {other.name} has; the first is row {rows[0]} "
                f"(hint: pass {ways} to compare them all the same)"
            )
