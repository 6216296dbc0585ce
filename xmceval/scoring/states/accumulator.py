"""Accumulator: a state to which batches of rows are added one after the other, each as a whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xmceval.errors import DataError, Fault, UsageError, listed
from xmceval.rows.block import Block, Float64, Source
from xmceval.rows.lockstep import Lockstep
from xmceval.rows.readings import EARLIER, Axis
from xmceval.rows.repairs import RepairedSource
from xmceval.rows.sources import BatchSource
from xmceval.rows.threads import each_block
from xmceval.rows.width import Width
from xmceval.scoring.evaluate import BlockScratch, make_batches, rows_at_once, score_block
from xmceval.scoring.setup import Setup
from xmceval.scoring.states.state import State, each_once
from xmceval.scoring.system import System
from xmceval.scoring.tasks.task import Task
from xmceval.scoring.totals import Tally, Totals, empty


class Accumulator:
    """A state that grows batch by batch.

    A batch of one block is scored in this thread, in a working space that is kept; larger ones by a pool of threads.
    Nothing is added before all rows of a batch were found to be right. Counters by label are too large to be copied for
    each batch, so they are counted last, when nothing can be wrong any more.

    Parameters
    ----------
    state : State
        To go on from; of mergeable metrics.
    threads : int, optional
        For large batches; default one per processor.
    """

    def __init__(self, state: State, threads: int | None = None) -> None:
        self._threads, tasks = threads, state.setup.program.tasks
        self._staged = tuple(i for i, task in enumerate(tasks) if not task.counts_in_place)
        self._direct = tuple(i for i, task in enumerate(tasks) if task.counts_in_place)
        self.take(state)

    def _begin(self, state: State) -> None:
        self._base: State = state
        self._is_torn = self._is_described = False
        self.ids: Sequence[Any] = ()  # the columns of ids in the first batch
        self.were_ids: bool | None = None  # whether whole numbers were ids of labels, or scores
        self._n_new, self._system = 0, ""  # rows since then, and how reports call their system
        self._weight_range: tuple[float, float] = state.weight_range
        self._removed: tuple[int, int] = state.removed

    @property
    def state(self) -> State:
        """The state of all rows."""
        self._check_whole()
        if self._system:
            base = self._base
            state = replace(
                base,
                n_rows=self.n_rows,
                truth=each_once(base.truth, ("array",)),
                scores=each_once(base.scores, ("array",)),
                systems=each_once(base.systems, (self._system,)),
                weight_range=self._weight_range,
                removed=self._removed,
            )
            self._base, self._n_new, self._system = state, 0, ""
        return self._base

    @property
    def base(self) -> State:
        """The state as it was last asked for: all but its rows holds for those that were added since, too."""
        return self._base

    @property
    def n_rows(self) -> int:
        """The number of all rows."""
        return self._base.n_rows + self._n_new

    def take(self, state: State) -> None:
        """Go on from another state of the same configuration."""
        self._scratch, self._most_rows = BlockScratch.take(), 0
        self._begin(state)

    def clear(self) -> None:
        """Forget all rows; the working space is kept."""
        self._begin(self._base.emptied())

    def _check_whole(self) -> None:
        if self._is_torn:
            raise UsageError("an interrupt left a batch counted in part; the totals are lost (hint: call reset)")

    def add(self, truth: BatchSource, scores: BatchSource, weights: Float64 | None = None, hint: str = "") -> None:
        """Add a batch; after an error nothing of it was added.

        Parameters
        ----------
        truth, scores : BatchSource
            Whose rows are numbered as those of the whole.
        weights : float64 array [n_rows], optional
            Checked, in the unit of the caller.
        hint : str
            For the message on a wrong number of labels.
        """
        self._check_whole()
        width = self._agree(truth, scores, hint)
        if width is self._base.setup.width:
            self._add(truth, scores, weights)
            return
        before = self.state
        self.take(_widen(before, width))
        try:
            self._add(truth, scores, weights)
        except BaseException:
            self.take(before)
            raise

    def describe(
        self, inputs: Sequence[Any], labels: Axis | None, ids: Sequence[Any], *, were_ids: bool | None
    ) -> None:
        """Note how the first batch was read, the names of the labels and columns of ids, which later ones follow."""
        self.ids, self.were_ids = ids, were_ids
        if not self._base.truth and not self._is_described:
            setup = self._base.setup
            setup = replace(setup, inputs=(*setup.inputs, *(each.line for each in inputs)))
            self._base, self._is_described = replace(self._base, setup=setup), True
        if labels is not None and self._base.setup.labels is None:
            setup = replace(self._base.setup, labels=replace(labels, source=EARLIER))
            self._base = replace(self._base, setup=setup)

    def _agree(self, truth: BatchSource, scores: BatchSource, hint: str) -> Width:
        """Take the number of labels from a batch, or check it against that of earlier ones."""
        state, known = self._base, self._base.setup.width
        width = known.agree_with(truth).agree_with(scores, "column")
        if not width.is_known:
            _check_unknown(state)
        if width is not known and state.totals.tally.largest_label >= width.n_labels:
            raise DataError(f"earlier batches have label {state.totals.tally.largest_label}, but {width}{hint}")
        return width

    def _add(self, truth: BatchSource, scores: BatchSource, weights: Float64 | None) -> None:
        """Add a batch of the number of labels that is known, and note what else is kept of it."""
        setup = self._base.setup
        if weights is not None:
            setup = replace(setup, weights=weights / setup.weight_unit, weights_from=truth.first_row)
        totals = self._add_rows(truth, System(scores, setup))
        if totals is not self._base.totals:
            self._base = replace(self._base, totals=totals)
        self._n_new += truth.n_rows or 0
        self._system = self._system or scores.source.name
        if isinstance(truth.source, RepairedSource) and isinstance(scores.source, RepairedSource):
            self._removed = self._removed[0] + truth.source.n_removed, self._removed[1] + scores.source.n_removed
        if weights is not None:
            used, (least, greatest) = weights[weights > 0], self._weight_range
            self._weight_range = float(used.min(initial=least)), float(used.max(initial=greatest))

    def _add_rows(self, truth: Source, system: System) -> Totals:
        """Add the rows of a batch, and return the totals with them."""
        self._most_rows = self._most_rows or rows_at_once([system.setup])
        blocks = self._single_blocks(truth, system.scores)
        if blocks is not None and self._add_block(blocks, system):
            return self._base.totals
        return self._add_blocks(truth, system)

    def _single_blocks(self, truth: Source, scores: Source) -> tuple[Block, Block] | None:
        """Return the only blocks of a small batch, or None."""
        n_rows = truth.n_rows
        if n_rows is None or n_rows != scores.n_rows or not 0 < n_rows <= self._most_rows:
            return None
        first, second = next(truth.blocks()), next(scores.blocks())
        return (first, second) if first.n_rows == second.n_rows == n_rows else None

    def _add_block(self, blocks: tuple[Block, Block], system: System) -> bool:
        """Add a batch of one block; return whether its rows were right, else nothing was added."""
        program, totals = self._base.setup.program, self._base.totals
        pending = []
        try:
            [(batch, whole)] = make_batches(self._scratch, blocks, [system])
            for i in self._staged:
                pending.append(totals.parts[i].pending())
                program.tasks[i].add(batch, pending[-1])
            for i in self._direct:
                totals.parts[i].check_room(batch.weights)
        except Fault:
            return False
        self._is_torn = True
        for i in self._direct:
            program.tasks[i].add(batch, totals.parts[i])
        totals.tally.add(batch, program.cutoffs, whole)
        for each in pending:
            each.commit()
        self._is_torn = False
        return True

    def _add_blocks(self, truth: Source, system: System) -> Totals:
        """Add a batch of several blocks in threads, in two passes where labels are counted."""
        totals, setup = self._base.totals, self._with_tasks(system.setup, self._staged)
        added = self._evaluate(truth, replace(system, setup=setup), empty(setup))
        merged = Totals(totals.tally, tuple(totals.parts[i] for i in self._staged)).merge(added)
        parts = list(totals.parts)
        for i, part in zip(self._staged, merged.parts, strict=True):
            parts[i] = part
        if self._direct:
            counters = [totals.parts[i] for i in self._direct]
            if setup.weights is not None:
                for part in counters:
                    part.check_room(setup.weights)
            self._is_torn = True
            rest = Totals(Tally(setup.program.cutoffs.size), tuple(counters))
            direct = self._with_tasks(system.setup, self._direct)
            self._evaluate(truth, replace(system, setup=direct), rest)
        self._is_torn = False
        return Totals(merged.tally, tuple(parts))

    def _with_tasks(self, setup: Setup, places: Sequence[int]) -> Setup:
        """Return the setup with some of its tasks only."""
        tasks: list[Task] = [setup.program.tasks[i] for i in places]
        return replace(setup, program=replace(setup.program, tasks=tuple(tasks)))

    def _evaluate(self, truth: Source, system: System, totals: Totals) -> Totals:
        steps = Lockstep(truth, [system.scores], most_rows=self._most_rows)

        def work(scratch: BlockScratch, blocks: tuple[Block, ...]) -> None:
            score_block(scratch, blocks, [system], [totals])

        each_block(iter(steps), BlockScratch.take, work, self._threads, all_faults=True)
        return totals


def _check_unknown(state: State) -> None:
    """Refuse what needs the number of labels, where nothing declares it."""
    needing: list[object] = [*state.setup.program.needing_labels]
    needing += ["by_frequency"] if state.setup.options.by_frequency is not None else []
    if needing:
        raise DataError(f"{listed(needing)}: no batch declares the number of labels (hint: pass n_labels)")


def _widen(state: State, width: Width) -> State:
    """Return the state with a number of labels, which was not known before."""
    width.check_cutoff(state.setup.program.deepest)
    if state.setup.filter is not None:
        state.setup.filter.check_labels(width)
    setup = state.setup.with_width(width)
    wider = empty(setup)
    has_rows = state.n_rows > 0  # also those of a file, or of another Evaluator
    return replace(state, setup=setup, totals=wider.merge(state.totals) if has_rows else wider)
