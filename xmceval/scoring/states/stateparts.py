"""State parts: where the rows of a state come from, and whether two states have the same shard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from xmceval.errors import DataError


@dataclass(frozen=True)
class StatePart:
    """Where some rows of a state come from; what is not known is empty.

    Attributes
    ----------
    name : str
        How messages call it, such as the file of a state.
    n_rows : int
        The rows that were read, also those of weight 0.
    truth, scores : str
        The names of their files, or ``array``.
    system : str
        The name of the system in reports.
    shard : pair of int, optional
        Its number from 1 on, and how many there are.
    """

    name: str = ""
    n_rows: int = 0
    truth: str = "array"
    scores: str = "array"
    system: str = "y_score"
    shard: tuple[int, int] | None = None


def join_parts(*parts: Sequence[StatePart]) -> tuple[StatePart, ...]:
    """Put parts in their order; those without a shard that differ in the number of rows alone become one."""
    shards = [part for each in parts for part in each if part.shard is not None]
    others: dict[StatePart, int] = {}
    for part in (part for each in parts for part in each if part.shard is None):
        key = replace(part, n_rows=0)
        others[key] = others.get(key, 0) + part.n_rows
    return tuple(sorted((*shards, *(replace(part, n_rows=n) for part, n in others.items())), key=_order))


def check_parts(parts: Sequence[StatePart]) -> None:
    """Refuse parts of shards that are not different ones of so many."""
    seen, first = dict[object, StatePart](), None
    for part in parts:
        if part.shard is not None:
            number, n_shards = part.shard
            first = first or part
            if part.shard in seen:
                raise DataError(f"{seen[part.shard].name} and {part.name} are both shard {number} of {n_shards}")
            if first.shard is not None and first.shard[1] != n_shards:
                own = " of ".join(map(str, first.shard))
                raise DataError(f"{first.name} is shard {own}, but {part.name} is shard {number} of {n_shards}")
            seen[part.shard] = part


def _order(part: StatePart) -> tuple[Any, ...]:
    names = part.name, part.truth, part.scores, part.system
    return (part.shard or (0, 0), *names, part.n_rows)
