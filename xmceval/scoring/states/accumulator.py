"""Accumulator: totals to which batches of rows are added one after the other, each as a whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xmceval.errors import Fault, UsageError
from xmceval.rows.block import Block, Source
from xmceval.rows.lockstep import Lockstep
from xmceval.rows.threads import each_block
from xmceval.scoring.batch import Terms
from xmceval.scoring.evaluate import rows_at_once
from xmceval.scoring.program import Program
from xmceval.scoring.sums import Pending
from xmceval.scoring.tasks.task import Task
from xmceval.scoring.totals import Tally, Totals, empty
from xmceval.scoring.worker import Run, Worker


class Accumulator:
    """Totals that grow batch by batch.

    A batch of one block is scored in this thread, in a working space that is kept; larger ones by a pool of threads.
    Nothing is added before all rows of a batch were found to be right. Counters by label are too large to be copied for
    each batch, so they are counted last, when nothing can be wrong any more.

    Parameters
    ----------
    program : Program
        Of mergeable metrics.
    terms : Terms
        With the width, as far as it is known.
    threads : int, optional
        For large batches; default one per processor.
    totals : Totals, optional
        To go on from.

    Attributes
    ----------
    totals : Totals
    """

    def __init__(
        self, program: Program, terms: Terms, threads: int | None = None, totals: Totals | None = None
    ) -> None:
        self._program, self._threads = program, threads
        self._staged = tuple(i for i, task in enumerate(program.tasks) if not task.counts_in_place)
        self._direct = tuple(i for i, task in enumerate(program.tasks) if task.counts_in_place)
        self._totals = empty(program, terms) if totals is None else totals
        self._is_torn = False
        run = Run(terms, self._totals)
        self._worker, self._most_rows = Worker(program, [run]), rows_at_once(program, [run])

    @property
    def totals(self) -> Totals:
        """The totals of all batches.

        Raises
        ------
        UsageError
            An interrupt came while labels were counted.
        """
        if self._is_torn:
            raise UsageError("an interrupt left a batch counted in part; the totals are lost (hint: call reset)")
        return self._totals

    def clear(self, totals: Totals) -> None:
        """Start again from totals of no rows; the working space is kept."""
        self._totals, self._is_torn = totals, False

    def add(self, truth: Source, scores: Source, terms: Terms) -> None:
        """Add a batch.

        Parameters
        ----------
        truth, scores : Source
            Whose rows are numbered as those of the whole.
        terms : Terms
            With the sample weights of these rows, where there are any.

        Raises
        ------
        DataError
            Anything wrong with a row, or different numbers of rows.
        """
        totals = self.totals
        blocks = self._single_blocks(truth, scores)
        if blocks is None or not self._add_block(totals, blocks, terms):
            self._add_blocks(totals, truth, scores, terms)

    def _single_blocks(self, truth: Source, scores: Source) -> tuple[Block, Block] | None:
        """Return the only blocks of a small batch, or None."""
        n_rows = truth.n_rows
        if n_rows is None or n_rows != scores.n_rows or not 0 < n_rows <= self._most_rows:
            return None
        first, second = next(truth.blocks()), next(scores.blocks())
        return (first, second) if first.n_rows == second.n_rows == n_rows else None

    def _add_block(self, totals: Totals, blocks: tuple[Block, Block], terms: Terms) -> bool:
        """Add a batch of one block; return whether its rows were right, else nothing was added."""
        worker, tasks = self._worker, self._program.tasks
        worker.runs = (Run(terms, totals),)
        pending = []
        try:
            [(_, batch, counted)] = worker.batches(blocks)
            for i in self._staged:
                pending.append(Pending(totals.parts[i]))
                tasks[i].add(batch, pending[-1])
            for i in self._direct:
                totals.parts[i].check_room(batch.weights)
        except Fault:
            return False
        self._is_torn = True
        for i in self._direct:
            tasks[i].add(batch, totals.parts[i])
        totals.tally.add(batch, self._program.cutoffs, *counted)
        for each in pending:
            each.commit()
        self._is_torn = False
        return True

    def _add_blocks(self, totals: Totals, truth: Source, scores: Source, terms: Terms) -> None:
        """Add a batch of several blocks in threads, in two passes where labels are counted."""
        program = self._program_of(self._staged)
        added = self._evaluate(program, empty(program, terms), truth, scores, terms)
        merged = Totals(totals.tally, tuple(totals.parts[i] for i in self._staged)).merge(added)
        parts = list(totals.parts)
        for i, part in zip(self._staged, merged.parts, strict=True):
            parts[i] = part
        if self._direct:
            counters = [totals.parts[i] for i in self._direct]
            if terms.weights is not None:
                for part in counters:
                    part.check_room(terms.weights)
            self._is_torn = True
            rest = Totals(Tally(self._program.cutoffs.size), tuple(counters))
            self._evaluate(self._program_of(self._direct), rest, truth, scores, terms)
        self._totals = Totals(merged.tally, tuple(parts))
        self._is_torn = False

    def _program_of(self, places: Sequence[int]) -> Program:
        """Return the program with some of its tasks only."""
        tasks: list[Task] = [self._program.tasks[i] for i in places]
        return replace(self._program, tasks=tuple(tasks))

    def _evaluate(self, program: Program, totals: Totals, truth: Source, scores: Source, terms: Terms) -> Totals:
        run = Run(terms, totals)
        steps = Lockstep(truth, [scores], most_rows=self._most_rows)
        each_block(iter(steps), lambda: Worker(program, [run]), Worker.add, self._threads, all_faults=True)
        return totals
