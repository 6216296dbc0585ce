"""Faults: what is wrong with rows, reported together, the earliest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from xmceval.errors import DataError, Fault

State = TypeVar("State")
Item = TypeVar("Item")

REPORTED = 10
COUNTED = 1000  # reading stops when this many have been found


def further_faults(state: State, item: Item, work: Callable[[State, Item], None], fault: Fault) -> list[Fault]:
    """Work on the rows before and after a faulty one: return what else is wrong in the same blocks.

    The rows before it may be faulty too: a block is parsed to its end before its labels and values are checked.
    """
    blocks: tuple[Any, ...] = item if isinstance(item, tuple) else (item,)
    others: list[Fault] = []
    last: Fault | None = fault
    while last is not None and len(others) < COUNTED:
        n_before = last.row - blocks[0].first_row
        if not 0 <= n_before < blocks[0].n_rows:
            break
        if n_before:
            before = tuple(block.take(n_before) for block in blocks)
            head = cast(Item, before if isinstance(item, tuple) else before[0])
            first = _fault_of(state, head, work)
            if first is not None:
                others += [first, *further_faults(state, head, work, first)]
        for block in blocks:
            block.take(1)
        last = _fault_of(state, item, work) if blocks[0].n_rows else None
        others += [] if last is None else [last]
    return others


def _fault_of(state: State, item: Item, work: Callable[[State, Item], None]) -> Fault | None:
    """Return the first fault of an item, if it has one."""
    try:
        work(state, item)
    except Fault as fault:
        return fault
    except DataError:  # of no row: reported only where nothing else is wrong
        return None
    return None


def as_error(faults: Sequence[Fault]) -> DataError:
    """Report one fault, or the first ten and how many there are."""
    ordered = sorted(faults, key=lambda fault: fault.row)
    messages = [fault.message for fault in ordered[:REPORTED]]
    if len(faults) > REPORTED:
        number = f"{len(faults):,}" if len(faults) < COUNTED else f"{COUNTED:,} or more"
        messages.append(f"{number} rows are wrong; these are the first {REPORTED}")
    return DataError(*messages)
