"""Worker: one thread's way from blocks of truth and scores to totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import Fault, argument
from xmceval.rows.block import Block, Float64, Int64, Rows, Scratch
from xmceval.rows.checks import validated_scores, validated_truth, without_unpredicted
from xmceval.rows.matrices.storage import rounded
from xmceval.rows.readings import LEAST_IDS, refuse_id_label
from xmceval.rows.width import Width
from xmceval.scoring.batch import NONE_OMITTED, Batch, check_lengths, rank, rows_where
from xmceval.scoring.observing.firstrows import FirstRows
from xmceval.scoring.observing.observers import BlockValues, Observer, copy_fractions, join_columns
from xmceval.scoring.setup import NO_WEIGHTS, Setup
from xmceval.scoring.system import System
from xmceval.scoring.totals import Filtered, Totals, largest_label

MOST_SPARE = 1 << 20  # bytes
_spare: list[tuple[Scratch, Scratch]] = []  # of a worker that is done, for the next one


class CheckedScores(NamedTuple):
    """The scores of some rows; see `Batch` for `ends` and `omitted`."""

    rows: Rows
    unpredicted: int = 0  # labels whose score is -inf
    are_binary: bool = False  # whether they are dense and only 0 and 1, which are decisions
    filtered: Filtered = Filtered()
    largest_label: int = -1
    ends: Int64 | None = None
    omitted: Int64 = NONE_OMITTED

    def where(self, kept: NDArray[np.bool_], scratch: Scratch) -> CheckedScores:
        """Copy the rows that are kept, given as bool [n_rows]."""
        scores = self._replace(rows=rows_where(self.rows, kept, scratch))
        if self.ends is None:
            return scores
        ends = np.concatenate([[0], np.cumsum(np.diff(self.ends)[kept])])
        return scores._replace(ends=ends, omitted=self.omitted[kept])


class BatchCounts(NamedTuple):
    """What the tally counts of a batch beside its rows."""

    explicit_zeros: int
    unpredicted: int
    binary_rows: int
    filtered: Filtered
    largest_label: int


class Worker:
    """One thread's working space.

    Parameters
    ----------
    systems : sequence of System
        Scored on the same truth, with the same weights and filter.
    totals : sequence of Totals
        To which their rows are added, by all threads.
    observers : sequence of Observer
        See the values of rows.

    Attributes
    ----------
    systems : sequence of System
        May be replaced by others of the same width.
    """

    def __init__(self, systems: Sequence[System], totals: Sequence[Totals], observers: Sequence[Observer] = ()) -> None:
        self._program, self.systems, self._totals = systems[0].setup.program, systems, totals
        self._first_rows = [each for each in observers if isinstance(each, FirstRows)]
        self._observers = [each for each in observers if not isinstance(each, FirstRows)]
        self._largest_grade = self._program.largest_grade
        try:
            self._truth, self._scores = _spare.pop()
        except IndexError:
            self._truth, self._scores = Scratch(), Scratch()
        # The narrowest width: a label outside it is an error for one system, and so for all.
        self._width = min([system.setup.width for system in systems], key=lambda width: width.n_labels, default=Width())

    def close(self) -> None:
        """Leave small arrays to the next worker: a few rows are scored sooner than new ones are made."""
        if self._truth.n_bytes + self._scores.n_bytes <= MOST_SPARE:
            _spare[:] = [(self._truth, self._scores)]

    @cached_property
    def _rooms_of_kept(self) -> tuple[Scratch, Scratch]:
        """Where truth and scores of the rows that are kept are copied."""
        return Scratch(), Scratch()

    @cached_property
    def _rooms_of_group(self) -> tuple[Scratch, Scratch]:
        """Likewise of the rows of a group."""
        return Scratch(), Scratch()

    def add(self, blocks: tuple[Block, ...]) -> None:
        """Add the rows of a block of truth, and of one block of scores per system."""
        values: list[Float64] = []
        shares: list[Float64] = []
        batch = None
        for number, (batch, counted) in enumerate(self.batches(blocks)):
            totals = self._totals[number]
            for first_rows in self._first_rows:
                first_rows.add_batch(number, batch, blocks[number + 1])
            totals.tally.add(batch, self._program.cutoffs, *counted)
            fractions: list[tuple[Float64, Float64]] = []
            for task, part in zip(self._program.tasks, totals.parts, strict=True):
                rows = task.add(batch, part)
                if rows is not None and self._observers:
                    fractions.append(copy_fractions(rows))
            values.append(join_columns([each for each, _ in fractions]))
            shares.append(join_columns([each for _, each in fractions]))
            self._add_groups(batch, totals)
        if self._observers and batch is not None:
            block, rest = blocks[0], (batch.kept, batch.weights, batch.truth, values, shares)
            for observer in self._observers:
                observer.add(BlockValues(block.first_row, block.n_rows, *rest))

    def _add_groups(self, batch: Batch, totals: Totals) -> None:
        """Add the rows of each group to its own totals."""
        groups, block = batch.setup.groups, batch.block
        if groups is None:
            return
        for code, inside in groups.split(block.first_row, block.n_rows, batch.kept):
            own, rows = totals.groups[code], batch.where(inside, self._rooms_of_group)
            own.tally.add(rows, self._program.cutoffs)
            for task, part in zip(self._program.tasks, own.parts, strict=True):
                task.add(rows, part)

    def batches(self, blocks: tuple[Block, ...]) -> Iterator[tuple[Batch, BatchCounts]]:
        """Yield the batch of each system, valid until the next, with what the tally counts of it beside its rows."""
        block, *others = blocks
        setup = self.systems[0].setup
        truth, explicit_zeros = validated_truth(block, self._truth, self._width, self._largest_grade, may_merge=True)
        seen = -1 if self._width.is_known else largest_label(truth)
        in_truth = 0
        if setup.filter is not None:
            in_truth = setup.filter.apply(block.first_row, truth, remove=setup.options.filter_truth)[0]
        weights = NO_WEIGHTS if setup.weights is None else setup.weights_of(block.first_row, block.n_rows)
        is_kept = weights > 0 if weights.size and not weights.all() else None
        kept = None if is_kept is None else np.flatnonzero(is_kept)
        all_truth = truth
        if is_kept is not None:
            truth, weights = rows_where(truth, is_kept, self._rooms_of_kept[0]), weights[is_kept]
        for system, other in zip(self.systems, others, strict=True):
            scores = self._checked_scores(system.setup, other, all_truth, in_truth)
            if block.first_row < LEAST_IDS:
                refuse_id_label(all_truth, scores.rows, other.place(0))
            if is_kept is not None:
                scores = scores.where(is_kept, self._rooms_of_kept[1])
            ranking = rank(scores.rows, self._program.deepest + 1, self._scores)
            batch = Batch(
                *(system.setup, block, truth, scores.rows, ranking, weights, kept, self._scores),
                *(scores.ends, scores.omitted, _threshold_of(system, scores)),
            )
            yield (
                batch,
                BatchCounts(
                    explicit_zeros,
                    scores.unpredicted,
                    block.n_rows if scores.are_binary else 0,
                    scores.filtered,
                    max(seen, scores.largest_label),
                ),
            )

    def _checked_scores(self, setup: Setup, block: Block, truth: Rows, in_truth: int) -> CheckedScores:
        """Parse and filter the scores of a system, or select those that count; `in_truth` pairs of it are true."""
        selected = block.select(truth, self._scores)
        if selected is not None:
            unpredicted = block.n_rows * (block.n_columns or 0) - int(selected.ends[-1])
            return CheckedScores(selected.rows, unpredicted, ends=selected.ends, omitted=selected.omitted)
        scores = validated_scores(block, self._scores, setup.width, may_merge=True)
        lengths = np.diff(scores.indptr) if block.n_columns is None else block.n_columns
        scores = without_unpredicted(scores)
        lost = lengths - np.diff(scores.indptr)
        unpredicted = int(lost.sum())
        if unpredicted and setup.zero_unscored and self._program.ranks_unscored:
            raise _refuse_unpredicted(block, int(np.argmax(lost > 0)))
        are_binary = block.n_columns is not None and self._program.decides and setup.options.threshold is None
        if are_binary:
            _check_binary(block, scores)
        check_lengths(block, scores, setup)
        largest = -1 if setup.width.is_known else largest_label(scores)
        if setup.filter is None:
            return CheckedScores(scores, unpredicted, are_binary, largest_label=largest)
        removed, rows_changed = setup.filter.apply(block.first_row, scores)
        return CheckedScores(scores, unpredicted, are_binary, Filtered(removed, rows_changed, in_truth), largest)


def _threshold_of(system: System, scores: CheckedScores) -> float:
    """Return the score from which on a label is a decision, in the type of the scores."""
    threshold = system.setup.options.threshold
    if threshold is not None:
        return rounded(threshold, system.scores.dtype)
    return 1.0 if scores.are_binary else -np.inf


def _refuse_unpredicted(block: Block, row: int) -> Fault:
    """Return the fault of a row with a score of -inf, where labels without a score have score 0."""
    option = argument("unscored", "zero")
    return Fault(
        block.first_row + row,
        f"{block.place(row)}: has a score of -inf, which says that the label is not predicted, but {option} gives "
        "such labels the score 0",
        f"hint: pass {argument('unscored', 'bottom')}, or finite scores",
    )


def _check_binary(block: Block, scores: Rows) -> None:
    """Refuse dense scores other than 0 and 1 without a threshold: nobody means that all labels are predicted."""
    values = scores.values[: scores.indptr[-1]]
    others = np.flatnonzero((values != 0) & (values != 1))
    if others.size:
        row = int(np.searchsorted(scores.indptr, others[0], side="right")) - 1
        raise Fault(
            block.first_row + row,
            f"{block.place(row)}: label {scores.indices[others[0]]} has the score {values[others[0]]:g}; metrics of "
            "decisions need a threshold for dense scores other than 0 and 1",
            f"hint: pass {argument('threshold', 0.5)} for probabilities, {argument('threshold', 0)} for logits, or a "
            "sparse matrix of the predicted labels",
        )
