"""Accumulator: a state to which batches of rows are added one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xmceval.errors import DataError, Fault, UsageError, listed
from xmceval.rows.block import Block, Float64, Source
from xmceval.rows.readings import EARLIER, Axis
from xmceval.rows.repairs import RepairedSource
from xmceval.rows.sources import BatchSource, Lockstep
from xmceval.rows.threads import each_block
from xmceval.rows.width import Width
from xmceval.scoring.evaluate import BlockScratch, add_rows, make_batches, rows_at_once, score_block
from xmceval.scoring.setup import System
from xmceval.scoring.states.state import State, each_once
from xmceval.scoring.totals import Totals, empty


class Accumulator:
    """A state that grows batch by batch, each as a whole or not at all.

    The rows of a batch are added to spare totals, which are adopted once all of them were found to be right. A batch of
    one block is scored in this thread, in a working space that is kept; larger ones by a pool of threads.

    Parameters
    ----------
    state : State
        To go on from; of mergeable metrics.
    threads : int, optional
        For large batches; default one per processor.
    """

    def __init__(self, state: State, threads: int | None = None) -> None:
        self._threads, self._scratch = threads, BlockScratch.take()
        self.take(state)

    def take(self, state: State) -> None:
        """Go on from another state of the same configuration."""
        self._base: State = state
        self._totals: Totals = state.totals
        self._is_torn = self._is_described = False
        self.ids: Sequence[Any] = ()  # the columns of ids in the first batch
        self.were_ids: bool | None = None  # whether whole numbers were ids of labels, or scores
        self._n_new, self._system = 0, ""  # rows since then, and how reports call their system
        self._most_rows = 0  # of a batch of one block, where it is known
        self._weight_range: tuple[float, float] = state.weight_range
        self._removed: tuple[int, int] = state.removed

    def clear(self) -> None:
        """Forget all rows."""
        self.take(self._base.emptied())

    @property
    def state(self) -> State:
        """The state of all rows."""
        self._check_whole()
        if self._system:
            base = self._base
            state = replace(
                base,
                totals=self._totals,
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
        base, width = self._base, self._agree(truth, scores, hint)
        totals = self._totals
        if width is not base.setup.width:
            base, self._most_rows = _widen(self.state, width), 0
            totals = base.totals
        setup = base.setup
        if weights is not None:
            setup = replace(setup, weights=weights / setup.weight_unit, weights_from=truth.first_row)
        spare = totals.spare()
        if not self._add_block(truth, System(scores, setup), spare):
            spare = totals.spare()
            spare.absorb(self._add_blocks(truth, System(scores, setup)))
        self._is_torn = True  # counters by label are added to in place
        try:
            self._totals = totals.adopt(spare)
        except DataError:  # before anything was added
            self._is_torn = False
            raise
        self._base, self._is_torn = base, False
        self._n_new += truth.n_rows or 0
        self._system = self._system or scores.source.name
        if isinstance(truth.source, RepairedSource) and isinstance(scores.source, RepairedSource):
            self._removed = self._removed[0] + truth.source.n_removed, self._removed[1] + scores.source.n_removed
        if weights is not None:
            used, (least, greatest) = weights[weights > 0], self._weight_range
            self._weight_range = float(used.min(initial=least)), float(used.max(initial=greatest))

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
        if width is not known and self._totals.tally.largest_label >= width.n_labels:
            raise DataError(f"earlier batches have label {self._totals.tally.largest_label}, but {width}{hint}")
        return width

    def _add_block(self, truth: Source, system: System, totals: Totals) -> bool:
        """Add a batch of one block to totals; return False for one of several, or whose rows are not all right."""
        n_rows, scores = truth.n_rows, system.scores
        self._most_rows = self._most_rows or rows_at_once([system.setup])
        if n_rows is None or n_rows != scores.n_rows or not 0 < n_rows <= self._most_rows:
            return False
        blocks = next(truth.blocks()), next(scores.blocks())
        if not blocks[0].n_rows == blocks[1].n_rows == n_rows:
            return False
        try:
            [(batch, whole)] = make_batches(self._scratch, blocks, [system])
            for _ in add_rows(batch, totals, whole):
                pass
        except Fault:  # then all faults are found, and reported
            return False
        return True

    def _add_blocks(self, truth: Source, system: System) -> Totals:
        """Return the totals of a batch, whose blocks are scored in threads."""
        totals = empty(system.setup)

        def work(scratch: BlockScratch, blocks: tuple[Block, ...]) -> None:
            score_block(scratch, blocks, [system], [totals])

        steps = Lockstep(truth, [system.scores], most_rows=self._most_rows)
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
