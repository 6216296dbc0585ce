"""Collect errors in rows and report them together, earliest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar, cast

from xmceval.errors import DataError, Fault

State = TypeVar("State")
Item = TypeVar("Item")

REPORTED = 10
COUNTED = 1000  # reading stops when this many have been found


def further_faults(state: State, item: Item, work: Callable[[State, Item], None], fault: Fault) -> list[Fault]:
    """Work again on an item that has a faulty row, and return the further faults in its blocks, one per row."""

    def find(blocks: tuple[Any, ...]) -> Iterator[Fault]:
        """Yield the fault of each wrong row: halves are searched, so that many wrong rows cost little more than one."""
        n_rows, first_row = blocks[0].n_rows, blocks[0].first_row
        try:
            work(state, cast(Item, blocks if isinstance(item, tuple) else blocks[0]))
        except Fault as found:
            if n_rows == 1 and found.row == first_row:
                yield found
            elif first_row <= found.row < first_row + n_rows:
                yield from find(tuple(block.take(n_rows // 2) for block in blocks))
                yield from find(blocks)
        except DataError:  # of no row: reported only where nothing else is wrong
            pass

    blocks = item if isinstance(item, tuple) else (item,)
    return list(islice((each for each in find(blocks) if each.row != fault.row), COUNTED))


def as_error(faults: Sequence[Fault]) -> DataError:
    """Report one fault, or the first ten and how many there are; faults of one doubt are one line."""
    ordered = sorted(faults, key=lambda fault: fault.row)
    number = f"{len(faults):,}" if len(faults) < COUNTED else f"{COUNTED:,} or more"
    first = ordered[0]
    if len(faults) > 1 and first.doubt and all(each.doubt == first.doubt for each in faults):
        return DataError(f"{first.message} ({number} such rows: {first.doubt.removeprefix('hint: ')})")
    messages = [str(fault) for fault in ordered[:REPORTED]]
    if len(faults) > REPORTED:
        messages.append(f"{number} rows are wrong; these are the first {REPORTED}")
    return DataError(*messages)
