"""The conductor: blocks of truth and scores, row for row, through the kernels into totals, in threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import TypeVar

from xmceval.blocks import Block, Scratch, Source, Width, settled_truth
from xmceval.errors import DataError, Fault, UsageError, counted
from xmceval.faults import COUNTED, further_faults, told
from xmceval.labelwise import LabelCounters
from xmceval.program import Program
from xmceval.propensity import LabelCounts, Propensities
from xmceval.totals import Totals, empty, merge
from xmceval.worker import Terms, Worker

Progress = Callable[[int], None]
Item = TypeVar("Item")
State = TypeVar("State")


def default_threads() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def evaluate(
    truth: Source,
    scores: Source,
    program: Program,
    propensities: Propensities | None,
    *,
    width: Width,
    threads: int | None = None,
    terms: Terms | None = None,
    progress: Progress | None = None,
) -> tuple[Totals, int]:
    """Score one system: return the totals, and the largest label seen + 1.

    Parameters
    ----------
    truth, scores : Source
        Matrices of the same rows.
    program : Program
        What to compute.
    propensities : Propensities, optional
        Needed where the program needs them.
    width : Width
        The number of labels, as far as it is known.
    threads : int, optional
        Default: one per processor.
    terms : Terms, optional
        Sample weights, and how rows without truth and labels without a score count.
    progress : callable, optional
        Is told now and then how many rows are done.

    Raises
    ------
    DataError
        Anything wrong with a row of either matrix, or different numbers of rows.
    """
    terms = terms or Terms()
    pairs = Pairs(truth, scores, None if terms.weights is None else terms.weights.size)
    rows_width = None if scores.n_labels in {None, width.n_labels} else scores.n_labels
    if rows_width is not None and rows_width > width.n_labels:
        raise DataError(
            f"{scores.name} announces {counted(rows_width, 'label')}, "
            f"but {width.said_by} {counted(width.n_labels, 'label')}"
        )
    workers: list[Worker] = []
    counters = tuple(
        LabelCounters(width.n_labels, max(part.cuts.size, 1), reach=part.reach, weighted=terms.weights is not None)
        for part in program.labelwise
    )

    def start() -> Worker:
        worker = Worker(program, propensities, width, terms, counters)
        workers.append(worker)
        return worker

    def work(worker: Worker, item: tuple[Block, Block]) -> None:
        worker.add(*item, rows_width, f"{scores.name} announces {rows_width} columns, {truth.name} {width.n_labels}")
        if progress is not None:
            progress(item[0].n_rows)

    each_block(iter(pairs), start, work, threads, all_faults=True)
    if terms.filter is not None:
        terms.filter.check_rows(pairs.n_rows, truth.name)
    totals = empty(program, 0 if terms.bins is None else len(terms.bins))
    for worker in workers:
        totals = merge(totals, worker.totals)
    totals = replace(totals, labels=tuple(each.totals() for each in counters))
    return totals, max((worker.n_labels for worker in workers), default=0)


def count_labels(truth: Source, *, width: Width, threads: int | None = None) -> LabelCounts:
    """Count the rows of a truth matrix and, for each label, those in which it is true."""
    counts, lock = LabelCounts(), threading.Lock()

    def work(scratch: Scratch, block: Block) -> None:
        rows, _ = settled_truth(block, scratch, width)
        with lock:
            counts.add(block.n_rows, rows.indices[: rows.indptr[-1]])

    each_block(truth.blocks(), Scratch, work, threads, all_faults=True)
    return counts


def each_block(
    items: Generator[Item, None, None],
    start: Callable[[], State],
    work: Callable[[State, Item], None],
    threads: int | None,
    *,
    all_faults: bool = False,
) -> None:
    """Work on items in threads, each with a state of its own; raise the fault of the earliest row, or all of them.

    Items are drawn in order, one at a time, so every item before a faulty one has been worked on when this ends.
    """
    n_threads = default_threads() if threads is None else threads
    if n_threads < 1:
        raise UsageError(f"threads must be at least 1, got {n_threads}")
    lock, faults, stop = threading.Lock(), list[Fault](), threading.Event()

    def run() -> None:
        state = start()
        while not stop.is_set():
            try:
                with lock:
                    item = next(items, None)
                if item is None:
                    return
                work(state, item)
            except Fault as fault:
                faults.append(fault)
                if all_faults and item is not None:
                    faults.extend(further_faults(state, item, work, fault))
                if not all_faults or len(faults) >= COUNTED:
                    stop.set()
            except BaseException:
                stop.set()
                raise

    trouble: list[BaseException] = []
    with closing(items) if isinstance(items, Generator) else nullcontext():
        if n_threads == 1:
            run()
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                for future in [pool.submit(run) for _ in range(n_threads)]:
                    try:
                        future.result()
                    except BaseException as error:  # raised below: a fault in an earlier row goes first
                        stop.set()
                        trouble.append(error)
    if faults and all(isinstance(error, DataError) for error in trouble):
        raise told(faults if all_faults else [min(faults, key=lambda fault: fault.row)])
    if trouble:
        raise trouble[0]


class Pairs:
    """Truth and scores in step: pairs of blocks of the same rows."""

    def __init__(self, truth: Source, scores: Source, n_weights: int | None) -> None:
        self._truth, self._scores, self._n_weights = truth, scores, n_weights
        self.n_rows = 0

    def __iter__(self) -> Generator[tuple[Block, Block], None, None]:
        with closing(self._truth.blocks()) as truth_blocks, closing(self._scores.blocks()) as score_blocks:
            yield from self._pairs(truth_blocks, score_blocks)

    def _pairs(self, truth_blocks: Iterator[Block], score_blocks: Iterator[Block]) -> Iterator[tuple[Block, Block]]:
        truth, scores = next(truth_blocks, None), next(score_blocks, None)
        done = 0
        while truth is not None and scores is not None:
            n_rows = min(truth.n_rows, scores.n_rows)
            if self._n_weights is not None and done + n_rows > self._n_weights:
                raise DataError(f"there are {counted(self._n_weights, 'sample weight')} for more rows than that")
            done += n_rows
            self.n_rows = done
            if n_rows:
                yield truth.take(n_rows), scores.take(n_rows)
            if truth.n_rows == 0:
                truth = next(truth_blocks, None)
            if scores.n_rows == 0:
                scores = next(score_blocks, None)
        more_truth = _rest(truth, truth_blocks, blanks_count=True)
        more_scores = _rest(scores, score_blocks, blanks_count=self._scores.n_rows is not None)
        if more_truth or more_scores:
            raise DataError(
                f"{self._truth.name} has {counted(done + more_truth, 'row')}, "
                f"{self._scores.name} has {counted(done + more_scores, 'row')}; they must be of the same instances"
            )
        if self._n_weights not in {None, done}:
            raise DataError(
                f"there are {counted(self._n_weights or 0, 'sample weight')} for {counted(done, 'row')}; "
                "expected one a row"
            )


def _rest(block: Block | None, blocks: Iterable[Block], *, blanks_count: bool) -> int:
    """Count the rows that are left; blank lines at the very end are rows only where they count."""
    total = filled = 0
    while block is not None:
        last = block.n_rows if blanks_count else block.blank_from()
        filled = total + last if last else filled
        total += block.n_rows
        block = next(iter(blocks), None)
    return filled
