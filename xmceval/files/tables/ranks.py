"""Ranks beside other numbers: refused where the two order the lines of a query differently."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xmceval.errors import DataError
from xmceval.files.tables.columns import UNUSED, Columns, keep_one, plain
from xmceval.files.tables.table import Table

RANKS_LOOKED_AT = 1 << 15  # lines


def refuse_other_order(table: Table, columns: Columns, roles: Mapping[str, Sequence[str]]) -> None:
    """Refuse ranks beside scores that are not known as such by their name, if these order the first lines differently.

    Beside ranks, numbers of an unknown name may fall or rise with them: a distance rises. Ties say nothing, and no
    more do numbers of only two values, such as whether a line is a hit.
    """
    value, key = columns.value, columns.key
    if value is None or key is None or columns.are_lists or len(roles["rank"]) != 1:
        return
    if not columns.is_rank and value not in roles["number"]:
        return
    (rank,) = roles["rank"]
    unknown = [name for name in columns.others if plain(name) not in UNUSED]
    for other in unknown if columns.is_rank else [value]:
        falls, rises = _compare(table, key, rank, other, 3 if columns.is_rank else 2)
        if rises and (falls or not columns.is_rank):
            raise DataError(
                f"{table}: {rank} and {other} order the lines differently, and either may have the scores"
                f"{keep_one([rank, other], 'scores', table)}"
            )


def _compare(table: Table, key: str, rank: str, other: str, least: int) -> tuple[bool, bool]:
    """Return whether numbers ever fall, and whether they ever rise, from one rank of a query to the next.

    Fewer than `least` different numbers do neither.
    """
    lines = [column.array[:RANKS_LOOKED_AT].to_pylist() for column in table.head([key, rank, other])]
    try:
        ranks, numbers = (np.array([_to_float(value) for value in column]) for column in lines[1:])
    except (TypeError, ValueError):  # no numbers, or no lines
        return False, False
    queries = {query: number for number, query in enumerate(dict.fromkeys(lines[0]))}
    of_query = np.array([queries[query] for query in lines[0]])
    order = np.lexsort((ranks, of_query))
    order = order[~np.isnan(ranks + numbers)[order]]
    if np.unique(numbers[order]).size < least:
        return False, False
    is_next = (np.diff(of_query[order]) == 0) & (np.diff(ranks[order]) > 0)
    steps = np.diff(numbers[order])[is_next]
    return bool((steps < 0).any()), bool((steps > 0).any())


def _to_float(value: Any) -> float:
    return math.nan if value is None or value == "" else float(value)
