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
from xmceval.rows.block import Block, Scratch

Progress = Callable[[int], None]
Item = TypeVar("Item")
State = TypeVar("State")
Payload = TypeVar("Payload")

REPORTED = 10  # lines of a message
LISTED = 3  # faults of one kind on separate lines
COUNTED = 1000  # faults after which reading stops

# What differs between faults of one kind: words between quotes, and numbers, also those of lines and shards.
_DETAILS = re.compile(r"""'[^']*'|"[^"]*"|[-+]?\d[\d.,e+-]*""")


def default_threads() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
    n_threads = 1 if is_small else threads or default_threads()
    if n_threads == 1:
        with closing(items):
            loop.run()
    else:
        failures = _run_in_pool(loop, n_threads)
        items.close()  # only now, since a thread may have been reading
        if failures:
            raise failures[0]
    loop.raise_first()


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
        self,
        items: Iterator[Item],
        start: Callable[[], State],
        work: Callable[[State, Item], None],
        all_faults: bool,
    ) -> None:
        self._items, self._start, self._work, self._all_faults = items, start, work, all_faults
        self._is_stopped = False
        self._lock = threading.Lock()
        self._n_drawn = 0
        self._ahead: deque[tuple[int, Item]] = deque()
        self._faults: list[tuple[int, Fault]] = []
        self._errors: list[tuple[int, DataError]] = []

    def run(self) -> None:
        """Process items until there are no more, or an error stops all threads."""
        try:
            state = self._start()
            while not self._is_stopped and (drawn := self._take()):
                self._work_on(state, *drawn)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop threads from beginning another item."""
        self._is_stopped = True

    def draw_two(self) -> bool:
        """Draw two items before any work; return whether there are two."""
        while len(self._ahead) < 2 and (drawn := self._draw()):
            self._ahead.append(drawn)
        return len(self._ahead) == 2

    def _take(self) -> tuple[int, Item] | None:
        with self._lock:
            return self._ahead.popleft() if self._ahead else self._draw()

    def _draw(self) -> tuple[int, Item] | None:
        """Return the next item and its number, or None after the last one and after an error."""
        number = self._n_drawn
        self._n_drawn += 1
        try:
            item = next(self._items, None)
        except DataError as error:
            self._errors.append((number, error))
            item = None
        return None if item is None else (number, item)

    def _work_on(self, state: State, number: int, item: Item) -> None:
        try:
            self._work(state, item)
        except Fault as fault:
            others = _further_faults(state, item, self._work, fault) if self._all_faults else []
            self._faults += [(number, each) for each in (fault, *others)]
            if not self._all_faults or len(self._faults) >= COUNTED:
                self.stop()
        except DataError as error:
            self._errors.append((number, error))
            self.stop()

    def find_first(self) -> tuple[list[Fault], DataError | None]:
        """Return the first error, and the faults of rows before it."""
        at, error = min(self._errors, key=itemgetter(0), default=(self._n_drawn, None))
        return [fault for number, fault in self._faults if number < at], error

    def raise_first(self) -> None:
        """Raise the first error, if any: the faults of rows, or another error."""
        faults, error = self.find_first()
        if faults:
            raise as_error(faults if self._all_faults else [min(faults, key=lambda fault: fault.row)])
        if error is not None:
            raise error


def _further_faults(state: State, item: Item, work: Callable[[State, Item], None], fault: Fault) -> list[Fault]:
    """Process an item with a faulty row again, and return further faults in its blocks, one per row."""

    def find(blocks: tuple[Any, ...]) -> Iterator[Fault]:
        """Yield the fault of each faulty row by bisection, so that many faults cost little more than one."""
        n_rows, first_row = blocks[0].n_rows, blocks[0].first_row
        try:
            work(state, cast(Item, blocks if isinstance(item, tuple) else blocks[0]))
        except Fault as found:
            if n_rows == 1 and found.row == first_row:
                yield found
            elif first_row <= found.row < first_row + n_rows:
                yield from find(tuple(block.take(n_rows // 2) for block in blocks))
                yield from find(blocks)
        except DataError:  # not about a row: reported only if there are no faults
            pass

    blocks = item if isinstance(item, tuple) else (item,)
    return list(islice((each for each in find(blocks) if each.row != fault.row), COUNTED))


def as_error(faults: Sequence[Fault]) -> DataError:
    """Report faults in the order of rows; a kind of many rows, or one with a doubt, is one line with their number."""
    kinds: dict[str, list[Fault]] = {}
    for fault in sorted(faults, key=lambda fault: fault.row):
        kinds.setdefault(_DETAILS.sub("", fault.message), []).append(fault)
    shown = list[tuple[int, str]]()
    for kind in kinds.values():
        if len(kind) > LISTED or (kind[0].doubt and len(kinds) == 1):
            shown.append((kind[0].row, _report_together(kind)))
        else:
            shown += [(fault.row, str(fault)) for fault in kind]
    messages = [message for _, message in sorted(shown, key=itemgetter(0))]
    if len(messages) > REPORTED:
        messages[REPORTED:] = [f"{_count(faults)} rows are wrong; these are the first {REPORTED}"]
    return DataError(*messages)


def _report_together(faults: Sequence[Fault]) -> str:
    """Return the message of the first of some faults of one kind, with their number."""
    first = faults[0]
    if len(faults) == 1:
        return str(first)
    message, hint = split_hint(first.message)
    (doubt, _), *_ = Counter(f"hint: {hint}" if hint else fault.doubt for fault in faults).most_common(1)
    mark = "; " if doubt.startswith("hint: ") else ": " if doubt else ""
    return f"{message} ({_count(faults)} such rows{mark}{doubt})"


def _count(faults: Sequence[Fault]) -> str:
    return f"{len(faults):,}" if len(faults) < COUNTED else f"{COUNTED:,} or more"


class _Running:
    """The number of running threads; unlike a pool, it also counts threads whose start was interrupted."""

    def __init__(self) -> None:
        self._number, self._changed = 0, threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            self._number += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._number -= 1
            self._changed.notify_all()

    def wait(self) -> None:
        """Wait until no thread is running."""
        with self._changed:
            self._changed.wait_for(lambda: self._number == 0)


def _run_in_pool(loop: _Loop[Any, Any], n_threads: int) -> list[BaseException]:
    """Run a loop in several threads, wait until all have ended, and return their errors.

    The first interrupt (Ctrl-C) makes them stop after their current items, and is returned then; a second one
    is raised at once.
    """
    running = _Running()

    def run_counted() -> None:
        with running:
            loop.run()

    pool = ThreadPoolExecutor(n_threads)
    try:
        futures = [pool.submit(as_here(run_counted)) for _ in range(n_threads)]
        wait(futures)
        pool.shutdown()
    except BaseException as error:
        loop.stop()
        running.wait()
        pool.shutdown(wait=False)
        return [error]
    finally:
        loop.stop()  # a second interrupt may have come before
    return [ended for future in futures if (ended := future.exception()) is not None]


def results_in_order(
    blocks: Generator[Block, None, None],
    prepare: Callable[[Scratch, Block], Payload],
    take: Callable[[Payload], None],
    threads: int | None,
) -> None:
    """Prepare blocks in threads, and take the results one by one in order."""
    turn, state = threading.Condition(), {"next": 0, "failed": 0}

    def work(scratch: Scratch, item: tuple[int, Block]) -> None:
        try:
            payload = prepare(scratch, item[1])
            with turn:
                turn.wait_for(lambda: state["next"] == item[0] or state["failed"])
            if state["failed"]:
                return
            take(payload)
            with turn:
                state["next"] += 1
                turn.notify_all()
        except BaseException:
            with turn:
                state["failed"] = 1
                turn.notify_all()
            raise

    each_block(_numbered(blocks), Scratch, work, threads)


def _numbered(blocks: Generator[Block, None, None]) -> Generator[tuple[int, Block], None, None]:
    with closing(blocks):
        yield from enumerate(blocks)
