"""Faults: what is wrong with rows, told together, the earliest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from xmceval.errors import DataError, Fault

State = TypeVar("State")

Item = TypeVar("Item")

TOLD = 10

COUNTED = 1000  # reading goes on until so many are found


def further_faults(state: State, item: Item, work: Callable[[State, Item], None], fault: Fault) -> list[Fault]:
    """Work on the rows before a faulty one and on those behind it: return what else is wrong in the same blocks.

    The rows before it too, because a block is parsed to its end before its labels and values are checked.
    """
    blocks: tuple[Any, ...] = item if isinstance(item, tuple) else (item,)
    found: list[Fault] = []
    last: Fault | None = fault
    while last is not None and len(found) < COUNTED:
        n_before = last.row - blocks[0].first_row
        if not 0 <= n_before < blocks[0].n_rows:
            break
        if n_before:
            before = tuple(block.take(n_before) for block in blocks)
            head = cast(Item, before if isinstance(item, tuple) else before[0])
            first = _fault_of(state, head, work)
            if first is not None:
                found += [first, *further_faults(state, head, work, first)]
        for block in blocks:
            block.take(1)
        last = _fault_of(state, item, work) if blocks[0].n_rows else None
        found += [] if last is None else [last]
    return found


def _fault_of(state: State, item: Item, work: Callable[[State, Item], None]) -> Fault | None:
    """Return what is wrong first, if anything."""
    try:
        work(state, item)
    except Fault as fault:
        return fault
    except DataError:  # not of a row: told only where nothing else is wrong
        return None
    return None


def told(faults: Sequence[Fault]) -> DataError:
    """Say what is wrong: one thing, or the first ten and how many there are."""
    ordered = sorted(faults, key=lambda fault: fault.row)
    messages = [fault.message for fault in ordered[:TOLD]]
    if len(faults) > TOLD:
        number = f"{len(faults):,}" if len(faults) < COUNTED else f"{COUNTED:,} or more"
        messages.append(f"{number} rows are wrong; these are the first {TOLD}")
    return DataError("\n".join(messages))
