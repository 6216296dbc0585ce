"""Process blocks of rows in a pool of threads, and report their errors together, in order of rows."""

from __future__ import annotations

import os
import re
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from itertools import islice
from operator import itemgetter
from typing import Any, Generic, TypeVar, cast

from xmceval.errors import DataError, Fault, UsageError, as_here, split_hint

Progress = Callable[[int], None]
Item = TypeVar("Item")
State = TypeVar("State")

REPORTED = 10  # lines of a message
LISTED = 3  # faults of one kind on separate lines
COUNTED = 1000  # faults after which reading stops

# What differs between faults of one kind: words between quotes, and numbers, also of lines and shards.
_DETAILS = re.compile(r"""'[^']*'|"[^"]*"|[-+]?\d[\d.,e+-]*""")


def default_threads() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def each_block(
    items: Generator[Item, None, None],
    start: Callable[[], State],
    work: Callable[[State, Item], None],
    threads: int | None,
    *,
    all_faults: bool = False,
) -> None:
    """Process items, blocks or tuples of blocks of the same rows, in threads; default one per processor.

    Each thread has its own state, which `start` returns. Items are drawn in order, one at a time, so that every
    item before a faulty one has been processed in the end. With `all_faults` every faulty row is reported, not
    only the earliest.
    """
    if threads is not None and threads < 1:
        raise UsageError(f"threads must be at least 1, got {threads}")
    loop = _Loop(items, start, work, all_faults)
    is_small = threads == 1 or not loop.draw_two()  # starting a pool takes longer than a small block
    n_threads = 1
    if not is_small:
        n_threads = threads or default_threads()
    if n_threads == 1:
        with closing(items):
            loop.run()
    else:
        failures = _run_in_pool(loop, n_threads)
        items.close()  # only now, since a thread may have been reading
        if failures:
            raise failures[0]
    faults, error = loop.find_first()
    if faults:
        if not all_faults:
            faults = [min(faults, key=lambda fault: fault.row)]
        raise as_error(faults)
    if error is not None:
        raise error


def run_alone(
    items: Generator[Item, None, None], start: Callable[[], State], work: Callable[[State, Item], None]
) -> tuple[list[Fault], DataError | None]:
    """Process items in this thread; return the faulty rows and the error after them instead of raising."""
    loop = _Loop(items, start, work, all_faults=True)
    with closing(items):
        loop.run()
    return loop.find_first()


class _Loop(Generic[Item, State]):
    """Draws items in order, one thread at a time, processes them, and keeps errors by item number.

    All items before a faulty one are processed, so that the first error is the same for any number of threads.
    """

    def __init__(
        self, items: Iterator[Item], start: Callable[[], State], work: Callable[[State, Item], None], all_faults: bool
    ) -> None:
        self._items = items
        self._start = start
        self._work = work
        self._all_faults = all_faults
        self.is_stopped = False  # threads begin no other item
        self._lock = threading.Lock()
        self._n_drawn = 0
        self._ahead = deque[tuple[int, Item]]()
        self._faults = list[tuple[int, Fault]]()
        self._errors = list[tuple[int, DataError]]()

    def run(self) -> None:
        """Process items until there are no more, or an error stops all threads."""
        try:
            state = self._start()
            while not self.is_stopped:
                with self._lock:
                    drawn = self._ahead.popleft() if self._ahead else self._draw()
                if drawn is None:
                    return
                number, item = drawn
                try:
                    self._work(state, item)
                except Fault as fault:
                    self._faults.append((number, fault))
                    if self._all_faults:
                        others = _further_faults(state, item, self._work, fault)
                        self._faults += [(number, other) for other in others]
                    if not self._all_faults or len(self._faults) >= COUNTED:
                        self.is_stopped = True
                except DataError as error:
                    self._errors.append((number, error))
                    self.is_stopped = True
        except BaseException:
            self.is_stopped = True
            raise

    def draw_two(self) -> bool:
        """Draw two items before any work; return whether there are two."""
        while len(self._ahead) < 2 and (drawn := self._draw()):
            self._ahead.append(drawn)
        return len(self._ahead) == 2

    def _draw(self) -> tuple[int, Item] | None:
        """Return the next item and its number, or None after the last one and after an error."""
        number = self._n_drawn
        self._n_drawn += 1
        try:
            item = next(self._items, None)
        except DataError as error:
            self._errors.append((number, error))
            item = None
        if item is None:
            return None
        return number, item

    def find_first(self) -> tuple[list[Fault], DataError | None]:
        """Return the first error, and the faults of rows before it."""
        at, error = min(self._errors, key=itemgetter(0), default=(self._n_drawn, None))
        return [fault for number, fault in self._faults if number < at], error


def _further_faults(state: State, item: Item, work: Callable[[State, Item], None], fault: Fault) -> list[Fault]:
    """Process an item with a faulty row again, and return further faults in its blocks, one per row."""

    def find(blocks: tuple[Any, ...]) -> Iterator[Fault]:
        """Yield the fault of each faulty row by bisection, so that many faults cost little more than one."""
        n_rows = blocks[0].n_rows
        first_row = blocks[0].first_row
        try:
            work(state, cast(Item, blocks if isinstance(item, tuple) else blocks[0]))
        except Fault as other:
            if n_rows == 1 and other.row == first_row:
                yield other
            elif first_row <= other.row < first_row + n_rows:
                yield from find(tuple(block.take(n_rows // 2) for block in blocks))
                yield from find(blocks)
        except DataError:  # not about a row: reported only if there are no faults
            pass

    blocks = item if isinstance(item, tuple) else (item,)
    return list(islice((other for other in find(blocks) if other.row != fault.row), COUNTED))


def as_error(faults: Sequence[Fault]) -> DataError:
    """Report faults in the order of rows; a kind of many rows, or one with a doubt, is one line with their number."""

    def count(faults: Sequence[Fault]) -> str:
        if len(faults) < COUNTED:
            return f"{len(faults):,}"
        return f"{COUNTED:,} or more"

    kinds: dict[str, list[Fault]] = {}
    for fault in sorted(faults, key=lambda fault: fault.row):
        kinds.setdefault(_DETAILS.sub("", fault.message), []).append(fault)
    lines = list[tuple[int, str]]()
    for kind in kinds.values():
        if len(kind) == 1 or (len(kind) <= LISTED and not (kind[0].doubt and len(kinds) == 1)):
            lines += [(fault.row, str(fault)) for fault in kind]
            continue
        message, hint = split_hint(kind[0].message)
        (doubt, _), *_ = Counter(f"hint: {hint}" if hint else fault.doubt for fault in kind).most_common(1)
        mark = ""
        if doubt.startswith("hint: "):
            mark = "; "
        elif doubt:
            mark = ": "
        lines.append((kind[0].row, f"{message} ({count(kind)} such rows{mark}{doubt})"))
    messages = [message for _, message in sorted(lines, key=itemgetter(0))]
    if len(messages) > REPORTED:
        messages[REPORTED:] = [f"{count(faults)} rows are wrong; these are the first {REPORTED}"]
    return DataError(*messages)


def _run_in_pool(loop: _Loop[Any, Any], n_threads: int) -> list[BaseException]:
    """Run a loop in several threads, wait until all have ended, and return their errors.

    The first interrupt (Ctrl-C) makes them stop after their current items, and is returned then; a second one
    is raised at once.
    """
    n_running = 0  # unlike a pool, it counts threads whose start was interrupted
    changed = threading.Condition()

    def run() -> None:
        nonlocal n_running
        with changed:
            n_running += 1
        try:
            loop.run()
        finally:
            with changed:
                n_running -= 1
                changed.notify_all()

    pool = ThreadPoolExecutor(n_threads)
    try:
        futures = [pool.submit(as_here(run)) for _ in range(n_threads)]
        wait(futures)
        pool.shutdown()
    except BaseException as error:
        loop.is_stopped = True
        with changed:
            changed.wait_for(lambda: n_running == 0)
        pool.shutdown(wait=False)
        return [error]
    finally:
        loop.is_stopped = True  # a second interrupt may have come before
    return [ended for future in futures if (ended := future.exception()) is not None]
