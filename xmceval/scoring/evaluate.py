"""Compute totals from blocks of the truth and of systems, read in parallel and scored in threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from xmceval.errors import Fault, argument, counted
from xmceval.rows.block import Block, Float64, Int64, Rows, Scratch
from xmceval.rows.checks import validated_scores, validated_truth, without_unpredicted
from xmceval.rows.matrices.source import selecting
from xmceval.rows.matrices.storage import rounded
from xmceval.rows.progress import phase
from xmceval.rows.source import Lockstep, Source
from xmceval.rows.threads import Progress, each_block
from xmceval.scoring.alignment import OF_FEW, FirstRows, copy_first_rows
from xmceval.scoring.batch import NONE_OMITTED, Batch, JointRows, rank
from xmceval.scoring.setup.setup import NO_WEIGHTS, OpenedSystem, Setup
from xmceval.scoring.tasks.task import RowValues
from xmceval.scoring.totals import (
    BINARY_ROWS,
    EXPLICIT_ZEROS,
    IN_TRUTH,
    LARGEST_LABEL,
    REMOVED,
    ROWS_CHANGED,
    UNPREDICTED,
    Totals,
    empty,
    empty_whole,
    largest_label,
)

MOST_NUMBERS = 1 << 20  # numbers for rankings and values of a block: 8 MiB per thread
MOST_SPARE = 1 << 20  # bytes
FRACTION = 2  # numerator and denominator of a row


class BlockScratch(NamedTuple):
    """The arrays of one thread for scoring blocks."""

    truth: Scratch
    scores: Scratch  # also of copies of rows, for weights of 0 or groups

    @classmethod
    def take(cls) -> BlockScratch:
        """Reuse small arrays of an earlier call, or make new ones."""
        try:
            return _spare.pop()
        except IndexError:
            return cls(Scratch(), Scratch())

    def leave(self) -> None:
        """Keep small arrays for the next call: scoring a few rows is faster than making new arrays."""
        arrays = *self.truth.arrays.values(), *self.scores.arrays.values()
        if sum([array.nbytes for array in arrays]) <= MOST_SPARE:
            _spare[:] = [self]


_spare: list[BlockScratch] = []


def evaluate(
    truth: Source,
    systems: Sequence[OpenedSystem],
    joint: Sequence[JointRows] = (),
    *,
    first: list[FirstRows] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Totals]:
    """Return the totals of systems on the same truth, which is read once; bit-identical to scoring each alone.

    Systems share rows, program, weights and filter. Per-row values are also added to `joint`, and `first`
    receives copies of the first rows; `progress` is called with numbers of finished rows.
    """
    totals = [empty(system.setup) for system in systems]
    sources = [select_scores(system.setup, system.scores) for system in systems]
    setup = systems[0].setup
    n_weights = None if setup.weights is None else setup.weights.size
    steps = Lockstep(truth, sources, n_weights, most_rows=rows_at_once([system.setup for system in systems]))
    are_few = truth.n_rows is not None and truth.n_rows <= OF_FEW**2  # too few hits for a clear difference
    taken: list[BlockScratch] = []

    def start() -> BlockScratch:
        taken.append(BlockScratch.take())
        return taken[-1]

    def work(scratch: BlockScratch, blocks: tuple[Block, ...]) -> None:
        score_block(scratch, blocks, systems, totals, joint, first, are_few=are_few)
        n_rows = blocks[0].n_rows
        add(n_rows)
        if progress is not None:
            progress(n_rows)

    name = systems[0].scores.name if len(systems) == 1 else counted(len(systems), "system")
    with phase(name, truth.n_rows) as add:
        each_block(iter(steps), start, work, threads, all_faults=True)
    for scratch in taken:
        scratch.leave()
    if setup.filter is not None:
        setup.filter.check_rows(steps.n_rows, truth.name)
    if setup.groups is not None:
        setup.groups.check_number(steps.n_rows)
    return totals


def select_scores(setup: Setup, scores: Source) -> Source:
    """Return dense scores as a source that selects the labels that count, if all metrics are at cutoffs."""
    program = setup.program
    if program.needs_scores or setup.filter is not None:
        return scores
    return selecting(scores, program.deepest + 1)


def rows_at_once(setups: Sequence[Setup]) -> int:
    """Return the number of rows with MOST_NUMBERS numbers in rankings and in the largest task."""
    most = max([task.numbers_per_row(setup) for setup in setups for task in setup.program.row_tasks], default=0)
    return max(MOST_NUMBERS // (2 * (setups[0].program.deepest + 1) + most), 1)


def score_block(
    scratch: BlockScratch,
    blocks: Sequence[Block],
    systems: Sequence[OpenedSystem],
    totals: Sequence[Totals],
    joint: Sequence[JointRows] = (),
    first: list[FirstRows] | None = None,
    *,
    are_few: bool = False,
) -> None:
    """Add the rows of a block of truth, and of one block of scores per system, to the totals of each system.

    With `are_few`, there are too few rows in all to detect that low scores are best.
    """
    values: list[Float64] = []  # numerators and denominators by system, [n_rows, n_measures, 2]
    shares: list[Float64] = []  # the same for bins, [n_rows, n_measures * n_bins, 2], if any
    batch = None
    for number, (batch, whole) in enumerate(make_batches(scratch, blocks, systems)):
        if first is not None:
            copy_first_rows(number, batch, None if are_few else blocks[number + 1], first)
        of_block, by_task = totals[number].begin(), []
        for rows in _add_rows(batch, of_block, whole):
            if joint:  # the next task overwrites the arrays
                by_task += [(rows.values[:, :, :FRACTION].copy(), rows.shares[:, :, :FRACTION].copy())]
        totals[number].absorb(of_block)
        values.append(_join([of_values for of_values, _ in by_task], batch.n_rows))
        shares.append(_join([of_shares for _, of_shares in by_task], batch.n_rows))
        groups, block = batch.setup.groups, batch.block
        for code, inside in () if groups is None else groups.split(block.first_row, block.n_rows, batch.kept):
            group = totals[number].groups[code]
            of_block = group.begin()
            for _ in _add_rows(batch.where(inside, "group"), of_block, empty_whole()):
                pass
            group.absorb(of_block)
    if batch is not None:
        for rows_of_systems in joint:
            rows_of_systems.add_batch(batch, values, shares)


def add_block(scratch: BlockScratch, blocks: Sequence[Block], system: OpenedSystem, totals: Totals) -> None:
    """Add the rows of a block of truth and scores to totals that no other thread uses."""
    for batch, whole in make_batches(scratch, blocks, [system]):
        for _ in _add_rows(batch, totals, whole):
            pass


def _add_rows(batch: Batch, totals: Totals, whole: Int64) -> Iterator[RowValues]:
    """Add the rows of a batch to totals that no other thread uses, and yield their values, task by task.

    `whole` has the counts for `Tally.whole`.
    """
    program = batch.setup.program
    totals.tally.add(batch, program.cutoffs, whole)
    for task, part in zip(program.tasks, totals.parts, strict=True):
        rows = task.add(batch, part)
        if rows is not None:
            yield rows


def _join(arrays: Sequence[Float64], n_rows: int) -> Float64:
    """Join the fractions [n_rows, n_columns, 2] of several tasks; some may have no columns."""
    filled = [array for array in arrays if array.shape[1]] or [np.empty((n_rows, 0, FRACTION))]
    return filled[0] if len(filled) == 1 else np.concatenate(filled, axis=1)


def make_batches(
    scratch: BlockScratch, blocks: Sequence[Block], systems: Sequence[OpenedSystem]
) -> Iterator[tuple[Batch, Int64]]:
    """Yield the batch of each system, valid until the next one, with its counts for `Tally.whole`."""
    block, *others = blocks
    setup = systems[0].setup
    # The smallest width: a label outside it is an error for one system, and hence for all.
    width = min([system.setup.width for system in systems], key=lambda width: width.n_labels)
    truth, explicit_zeros = validated_truth(block, scratch.truth, width, setup.largest_value, may_merge=True)
    largest = -1 if width.is_known else largest_label(truth)
    in_truth = 0
    if setup.filter is not None:
        in_truth = setup.filter.apply(block.first_row, truth, remove=setup.options.filter_truth)[0]
    weights = NO_WEIGHTS if setup.weights is None else setup.weights_of(block.first_row, block.n_rows)
    are_kept = weights > 0 if weights.size and not weights.all() else None
    for system, other in zip(systems, others, strict=True):
        batch, whole = _make_batch(scratch.scores, system, block, other, truth, weights)
        whole[EXPLICIT_ZEROS], whole[IN_TRUTH] = explicit_zeros, in_truth
        whole[LARGEST_LABEL] = max(whole[LARGEST_LABEL], largest)
        yield batch if are_kept is None else batch.where(are_kept, "kept"), whole


def _make_batch(
    scratch: Scratch, system: OpenedSystem, block: Block, other: Block, truth: Rows, weights: Float64
) -> tuple[Batch, Int64]:
    """Return the batch of a system, with scores parsed, checked and filtered, or only those that count."""
    setup, whole, ends, omitted, threshold = system.setup, empty_whole(), None, NONE_OMITTED, -np.inf
    program, options = setup.program, setup.options
    selected = other.select(truth, scratch)
    if selected is not None:
        scores, ends, omitted = selected
        whole[UNPREDICTED] = other.n_rows * (other.stored.n_columns or 0) - int(ends[-1])
    else:
        scores = validated_scores(other, scratch, setup.width, may_merge=True)
        n_columns = other.stored.n_columns
        lengths = np.diff(scores.indptr) if n_columns is None else n_columns
        scores = without_unpredicted(scores)
        lost = lengths - np.diff(scores.indptr)
        whole[UNPREDICTED] = lost.sum()
        if whole[UNPREDICTED] and setup.zero_unscored and program.ranks_unscored:
            row, option = int(np.argmax(lost > 0)), argument("unscored", "zero")
            raise Fault(
                other.first_row + row,
                f"{other.place(row)}: has a score of -inf, which says that the label is not predicted, but {option} "
                "gives such labels the score 0",
                f"hint: pass {argument('unscored', 'bottom')}, or finite scores",
            )
        if n_columns is not None and program.decides and options.threshold is None:
            _check_binary(other, scores)
            whole[BINARY_ROWS], threshold = other.n_rows, 1.0
        if setup.longest_row is not None and np.diff(scores.indptr).max(initial=0) > setup.longest_row:
            row = int(np.argmax(np.diff(scores.indptr) > setup.longest_row))
            n_predicted = int(scores.indptr[row + 1] - scores.indptr[row])
            raise Fault(
                other.first_row + row,
                f"{other.place(row)}: {setup.declaration}, and this row has {counted(n_predicted, 'prediction')}: "
                "the header's second number is neither the number of labels nor of predictions per row",
            )
        if not setup.width.is_known:
            whole[LARGEST_LABEL] = largest_label(scores)
        if setup.filter is not None:
            whole[REMOVED], whole[ROWS_CHANGED] = setup.filter.apply(block.first_row, scores)
    if options.threshold is not None:
        threshold = rounded(options.threshold, system.scores.dtype)
    ranking = rank(scores, program.deepest + 1, scratch)
    return Batch(setup, block, truth, scores, ranking, weights, None, scratch, ends, omitted, threshold), whole


def _check_binary(block: Block, scores: Rows) -> None:
    """Refuse dense scores other than 0 and 1 without a threshold, since they would predict all labels."""
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
