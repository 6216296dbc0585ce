"""The conductor: blocks of truth and scores, row for row, through the kernels into totals, in threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import numpy as np

from xmceval.blocks import UNKNOWN, Block, Rows, Scratch, Source, Width, checked_scores, settled_truth
from xmceval.errors import DataError, Fault, UsageError, counted
from xmceval.program import MOMENTS, Program
from xmceval.propensity import NOT_NEEDED, LabelCounts, Propensities
from xmceval.totals import Totals, empty, merge

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
    drop_empty: bool = False,
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
    drop_empty : bool
        Leave rows without truth out instead of counting them as 0.
    progress : callable, optional
        Is told now and then how many rows are done.

    Raises
    ------
    DataError
        Anything wrong with a row of either matrix, or different numbers of rows.
    """
    pairs = _Pairs(truth, scores)
    rows_width = None if scores.n_labels in {None, width.n_labels} else scores.n_labels
    workers: list[_Worker] = []

    def start() -> _Worker:
        worker = _Worker(program, propensities, width, drop_empty)
        workers.append(worker)
        return worker

    def work(worker: _Worker, item: tuple[Block, Block]) -> None:
        worker.add(*item, rows_width, f"{scores.name} announces {rows_width} columns, {truth.name} {width.n_labels}")
        if progress is not None:
            progress(item[0].n_rows)

    each_block(iter(pairs), start, work, threads)
    totals = empty(program)
    for worker in workers:
        totals = merge(totals, worker.totals)
    return totals, max((worker.n_labels for worker in workers), default=0)


def count_labels(truth: Source, *, width: Width, threads: int | None = None) -> LabelCounts:
    """Count the rows of a truth matrix and, for each label, those in which it is true."""
    counts, lock = LabelCounts(), threading.Lock()

    def work(scratch: Scratch, block: Block) -> None:
        rows, _ = settled_truth(block, scratch, width)
        with lock:
            counts.add(block.n_rows, rows.indices[: rows.indptr[-1]])

    each_block(truth.blocks(), Scratch, work, threads)
    return counts


def each_block(
    items: Iterator[Item], start: Callable[[], State], work: Callable[[State, Item], None], threads: int | None
) -> None:
    """Work on items in threads, each with a state of its own; raise the fault of the earliest row.

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
                stop.set()
                faults.append(fault)
            except BaseException:
                stop.set()
                raise

    trouble: list[BaseException] = []
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
        raise DataError(min(faults, key=lambda fault: fault.row).message)
    if trouble:
        raise trouble[0]


class _Pairs:
    """Truth and scores in step: pairs of blocks of the same rows."""

    def __init__(self, truth: Source, scores: Source) -> None:
        self._truth, self._scores = truth, scores

    def __iter__(self) -> Iterator[tuple[Block, Block]]:
        truth_blocks, score_blocks = self._truth.blocks(), self._scores.blocks()
        truth, scores = next(truth_blocks, None), next(score_blocks, None)
        done = 0
        while truth is not None and scores is not None:
            n_rows = min(truth.n_rows, scores.n_rows)
            if n_rows:
                yield truth.take(n_rows), scores.take(n_rows)
            done += n_rows
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


def _rest(block: Block | None, blocks: Iterable[Block], *, blanks_count: bool) -> int:
    """Count the rows that are left; blank lines at the very end are rows only where they count."""
    total = filled = 0
    while block is not None:
        last = block.n_rows if blanks_count else block.blank_from()
        filled = total + last if last else filled
        total += block.n_rows
        block = next(iter(blocks), None)
    return filled


class _Worker:
    """One thread's scratch arrays and totals."""

    def __init__(self, program: Program, propensities: Propensities | None, width: Width, drop_empty: bool) -> None:
        self._program, self._width, self._drop_empty = program, width, drop_empty
        self._truth, self._scores = Scratch(), Scratch()
        weights = propensities or NOT_NEEDED
        self._weights = (weights.ids, weights.codes, weights.inverse)
        self._arrays = (program.curves, program.discounts, program.outputs, program.slopes, program.levels)
        self._space = program.working_space()
        self._n_outputs = len(program.measures)
        self._ones, self._moments = np.empty(0), np.empty(MOMENTS)
        self.totals = empty(program)
        self.n_labels = 0

    def add(self, truth: Block, scores: Block, rows_width: int | None, announced: str) -> None:
        """Add the rows of two blocks."""
        from xmceval.kernels import rows
        from xmceval.kernels.sums import add_values

        true, zeros = settled_truth(truth, self._truth, self._width)
        given = checked_scores(scores, self._scores, self._width)
        if rows_width is not None:
            self._check_length(scores, given, rows_width, announced)
        if self._width.n_labels == UNKNOWN:
            self._see(true)
            self._see(given)
        n_rows, depth = scores.n_rows, self._program.deepest + 1
        ranking = (
            self._scores.array("ranked", n_rows * depth, np.int64).reshape(n_rows, depth),
            self._scores.array("ranked_scores", n_rows * depth, np.float64).reshape(n_rows, depth),
            self._scores.array("n_ranked", n_rows, np.int64),
        )
        rows.top_k(*given, *ranking)
        keys = self._truth.array("keys", int(np.max(np.diff(true.indptr), initial=1)), np.int64)
        values = self._scores.array("outputs", n_rows * self._n_outputs * 4, np.float64).reshape(n_rows, -1, 4)
        block = empty(self._program)
        rows.count_rows(true.indptr, given.indptr, *ranking[1:], self._program.cuts, self._drop_empty, block.counts)
        rows.value_rows(
            *(*true, *given, *ranking, *self._weights, *self._arrays),
            *(self._drop_empty, *self._space, keys, values),
        )
        add_values(values, self._ones, self._moments, block.sums)
        self.totals = merge(self.totals, replace(block, explicit_zeros=zeros))

    def _see(self, rows: Rows) -> None:
        used = rows.indices[: rows.indptr[-1]]
        if used.size:
            self.n_labels = max(self.n_labels, int(used.max()) + 1)

    @staticmethod
    def _check_length(block: Block, rows: Rows, most: int, announced: str) -> None:
        lengths = np.diff(rows.indptr)
        if lengths.size and lengths.max() > most:
            row = int(np.argmax(lengths > most))
            raise Fault(
                block.first_row + row,
                f"{block.place(row)}: {announced}, and this row has {counted(int(lengths[row]), 'prediction')}: "
                "the header's second number is neither the number of labels nor of predictions a row",
            )
