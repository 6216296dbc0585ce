"""Compute totals from blocks of the truth and of systems, read in parallel and scored in threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import Fault, argument, counted
from xmceval.rows.block import Block, Float64, Rows, Scratch
from xmceval.rows.checks import validated_scores, validated_truth, without_unpredicted
from xmceval.rows.matrices.dense import Dense
from xmceval.rows.matrices.source import whole_block
from xmceval.rows.matrices.storage import rounded
from xmceval.rows.progress import phase
from xmceval.rows.source import Lockstep, Source
from xmceval.rows.threads import Progress, each_block
from xmceval.rows.width import BEYOND, Width
from xmceval.scoring.alignment import OF_FEW, FirstRows, copy_first_rows
from xmceval.scoring.batch import NONE_OMITTED, Batch, JointRows, Whole, rank
from xmceval.scoring.setup.setup import NO_WEIGHTS, OpenedSystem, Setup
from xmceval.scoring.tasks.task import RowValues
from xmceval.scoring.totals import Totals, empty, largest_label

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
        if self.truth.n_bytes + self.scores.n_bytes <= MOST_SPARE:
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
    setups = [system.setup for system in systems]
    setup = setups[0]
    totals = [empty(of_system) for of_system in setups]
    sources = [select_scores(system.setup, system.scores) for system in systems]
    most_rows = rows_at_once(setups)
    n_weights = None
    if setup.weights is not None:
        n_weights = setup.weights.size
    are_few = truth.n_rows is not None and truth.n_rows <= OF_FEW**2  # too few hits for a clear difference
    taken: list[BlockScratch] = []

    def start() -> BlockScratch:
        taken.append(BlockScratch.take())
        return taken[-1]

    def work(scratch: BlockScratch, blocks: Sequence[Block], *, are_shared: bool = True) -> None:
        score_block(scratch, blocks, systems, totals, joint, first, are_few=are_few, are_shared=are_shared)
        n_rows = blocks[0].n_rows
        add(n_rows)
        if progress is not None:
            progress(n_rows)

    name = systems[0].scores.name
    if len(systems) > 1:
        name = counted(len(systems), "system")
    blocks = whole_blocks([truth, *sources], most_rows)
    with phase(name, truth.n_rows) as add:
        if blocks is not None:
            n_rows = blocks[0].n_rows
            try:
                work(start(), blocks, are_shared=False)
            except Fault:  # the threads then find and report all faults
                blocks = None
                totals = [empty(of_system) for of_system in setups]
        if blocks is None:
            steps = Lockstep(truth, sources, n_weights, most_rows=most_rows)
            each_block(iter(steps), start, work, threads, all_faults=True)
            n_rows = steps.n_rows
    for scratch in taken:
        scratch.leave()
    if setup.filter is not None:
        setup.filter.check_rows(n_rows, truth.name)
    if setup.groups is not None:
        setup.groups.check_number(n_rows)
    return totals


def whole_blocks(sources: Sequence[Source], most_rows: int, first_row: int = 0, prefix: str = "") -> list[Block] | None:
    """Return all rows of matrices in memory as one block each; None if these have too many rows, or unequal numbers.

    Rows are numbered from `first_row` on, and `prefix` precedes their places in messages.
    """
    blocks = list[Block]()
    for source in sources:
        n_rows = source.n_rows
        if source.stored is None or n_rows is None or n_rows > most_rows or n_rows != sources[0].n_rows:
            return None
        block = whole_block(source, first_row, prefix)
        if block is None:
            return None
        blocks.append(block)
    return blocks


def select_scores(setup: Setup, scores: Source) -> Source:
    """Return dense scores as a source that selects the labels that count, if all metrics are at cutoffs."""
    depth = depth_of(setup)
    if depth is None:
        return scores
    return selecting(scores, depth)


def selecting(scores: Source, depth: int) -> Source:
    """Return dense scores with a selection of the `depth` best labels (at least 2) per row; others as they are."""
    if scores.shards:
        return replace(scores, shards=tuple(selecting(shard, depth) for shard in scores.shards))
    may_be_dense = isinstance(scores.stored, Dense) or callable(scores.stored)
    if scores.repairs or not may_be_dense:
        return scores
    return replace(scores, depth=depth)


def depth_of(setup: Setup) -> int | None:
    """Return how many of the best labels per row count; None if the scores of all labels do."""
    program = setup.program
    if program.needs_scores or setup.filter is not None or setup.subset is not None:
        return None
    return program.deepest + 1


def rows_at_once(setups: Sequence[Setup]) -> int:
    """Return the number of rows with MOST_NUMBERS numbers in rankings and values."""
    most: int = max([sum([task.numbers_per_row(setup) for task in setup.program.row_tasks]) for setup in setups])
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
    are_shared: bool = True,
) -> None:
    """Add the rows of a block of truth, and of one block of scores per system, to the totals of each system.

    With `are_few`, there are too few rows in all to detect that low scores are best. Totals that are
    not shared with other threads are added to directly.
    """
    add = absorb_batch if are_shared else add_batch
    values: list[Float64] = []  # numerators and denominators by system, [n_rows, n_measures, 2], for `joint`
    shares: list[Float64] = []  # the same for bins, [n_rows, n_measures * n_bins, 2], if any
    block, *others = blocks
    # The smallest width: a label outside it is an error for one system, and hence for all.
    width = min([system.setup.width for system in systems], key=lambda width: width.n_labels)
    truth = check_truth(scratch, block, systems[0].setup, width)
    for number, (system, other) in enumerate(zip(systems, others, strict=True)):
        batch = make_batch(scratch, truth, other, system)
        if first is not None:
            copy_first_rows(number, batch, None if are_few else other, first)
        computed = compute_batch(batch)
        add(batch, computed, totals[number])
        if joint:  # the next system overwrites the arrays
            of_rows = [rows for rows in computed if isinstance(rows, RowValues)]
            values.append(_join([rows.values for rows in of_rows], batch.n_rows))
            shares.append(_join([rows.shares for rows in of_rows], batch.n_rows))
            for rows_of_systems in joint:
                rows_of_systems.add_system(number, batch, computed)
        if batch.setup.groups is not None:
            for code, inside in batch.setup.groups.split(block.first_row, block.n_rows, batch.kept):
                of_group = batch.where(inside, "group")
                add(of_group, compute_batch(of_group), totals[number].groups[code])
    for rows_of_systems in joint:
        rows_of_systems.add_batch(batch, values, shares)


def compute_batch(batch: Batch) -> list[Any]:
    """Return what each task adds for the rows of a batch, valid until the next batch of this thread."""
    return [task.compute(batch) for task in batch.setup.program.tasks]


def add_batch(batch: Batch, computed: Sequence[Any], totals: Totals) -> None:
    """Add the rows of a batch to totals that no other thread uses."""
    totals.tally.add(batch)
    for task, of_task, part in zip(batch.setup.program.tasks, computed, totals.parts, strict=True):
        task.add(batch, of_task, part)


def absorb_batch(batch: Batch, computed: Sequence[Any], totals: Totals) -> None:
    """Add the rows of a batch to totals that threads share."""
    of_block = totals.begin()
    add_batch(batch, computed, of_block)
    totals.absorb(of_block)


def _join(arrays: Sequence[Float64], n_rows: int) -> Float64:
    """Return the fractions of several tasks, [n_rows, n_columns, 2]; some may have no columns."""
    filled = [array[:, :, :FRACTION] for array in arrays if array.shape[1]]
    if not filled:
        return np.empty((n_rows, 0, FRACTION))
    return np.concatenate(filled, axis=1)


class CheckedTruth(NamedTuple):
    """A block of truth, parsed and checked, and what was counted in it."""

    block: Block
    rows: Rows
    weights: Float64  # float64 [n_rows]; empty if all rows count 1
    kept: NDArray[np.bool_] | None  # bool [n_rows]; which rows have a weight above 0, if some have not
    explicit_zeros: int
    in_truth: int  # filtered pairs that are true
    largest_label: int  # if no input declares the number of labels; else -1


def check_truth(scratch: BlockScratch, block: Block, setup: Setup, width: Width) -> CheckedTruth:
    """Parse and check a block of truth, whose labels are within a width; valid until the next block of this thread."""
    rows, explicit_zeros = validated_truth(
        block, scratch.truth, width, setup.largest_value, may_merge=True, may_be_fractions=setup.options.grades
    )
    largest = -1
    if not width.is_known:
        largest = largest_label(rows)
    if setup.subset is not None:
        rows = setup.subset.cut(rows)
    weights = NO_WEIGHTS
    kept = None
    in_truth = 0
    if setup.filter is not None:
        in_truth = setup.filter.apply(block.first_row, rows, remove=setup.options.filter_truth)[0]
    if setup.weights is not None:
        weights = setup.weights_of(block.first_row, block.n_rows)
        if not weights.all():
            kept = weights > 0
    return CheckedTruth(block, rows, weights, kept, explicit_zeros, in_truth, largest)


def make_batch(scratch: BlockScratch, truth: CheckedTruth, block: Block, system: OpenedSystem) -> Batch:
    """Parse, check and filter a block of scores, or select those that count; valid until the next batch."""
    setup = system.setup
    rows = truth.rows
    n_columns = block.stored.n_columns
    ends = None
    omitted = NONE_OMITTED
    threshold = -np.inf
    largest = truth.largest_label
    n_binary = 0
    n_removed = 0
    n_changed = 0
    if setup.options.threshold is not None:
        threshold = rounded(setup.options.threshold, system.scores.dtype)
    selected = block.select(rows, scratch.scores)
    if selected is not None:
        scores, ends, omitted = selected
        n_unpredicted = block.n_rows * (n_columns or 0) - int(ends[-1])
    else:
        may_be_unknown = setup.options.unknown_labels == "miss"
        scores = validated_scores(block, scratch.scores, setup.width, may_merge=True, may_be_unknown=may_be_unknown)
        if not setup.width.is_known:
            largest = max(largest, largest_label(scores))
        if setup.subset is not None:
            scores = setup.subset.cut(scores)
            if n_columns is not None:
                n_columns = setup.n_labels
        if may_be_unknown:
            scores = Rows(*scores)
            labels = scores.indices[: scores.indptr[-1]]
            labels[labels >= BEYOND] += setup.n_labels - BEYOND  # above all labels
        if setup.program.ranks_unscored and setup.zero_unscored:
            _refuse_unpredicted(block, scores, n_columns)
        n_stored = int(scores.indptr[-1])
        if n_columns is not None:
            n_stored = block.n_rows * n_columns
        scores = without_unpredicted(scores)
        n_unpredicted = n_stored - int(scores.indptr[-1])
        if n_columns is not None and setup.program.decides and setup.options.threshold is None:
            _check_binary(block, scores)
            n_binary = block.n_rows
            threshold = 1.0
        if setup.longest_row is not None:
            _check_lengths(block, scores, setup.longest_row, setup.declaration)
        if setup.filter is not None:
            n_removed, n_changed = setup.filter.apply(block.first_row, scores)
    batch = Batch(
        setup,
        truth.block,
        rows,
        scores,
        rank(scores, setup.program.deepest + 1, scratch.scores),
        truth.weights,
        Whole(truth.explicit_zeros, largest, 0, n_unpredicted, n_binary, n_removed, n_changed, truth.in_truth),
        None,
        scratch.scores,
        ends,
        omitted,
        threshold,
    )
    if truth.kept is None:
        return batch
    return batch.where(truth.kept, "kept")


def _refuse_unpredicted(block: Block, scores: Rows, n_columns: int | None) -> None:
    """Refuse scores of -inf where labels without a score have score 0; dense rows lack them already."""
    if n_columns is None:
        entries = np.flatnonzero(scores.values[: scores.indptr[-1]] == -np.inf)
        rows = np.searchsorted(scores.indptr, entries, side="right") - 1
    else:
        rows = np.flatnonzero(np.diff(scores.indptr) < n_columns)
    if rows.size:
        row = int(rows[0])
        option = argument("unscored", "zero")
        raise Fault(
            block.first_row + row,
            f"{block.place(row)}: has a score of -inf, which says that the label is not predicted, but {option} "
            "gives such labels the score 0",
            f"hint: pass {argument('unscored', 'bottom')}, or finite scores",
        )


def _check_lengths(block: Block, scores: Rows, longest: int, declaration: str) -> None:
    """Refuse rows with more predictions than a header declares."""
    lengths = np.diff(scores.indptr)
    if lengths.max(initial=0) > longest:
        row = int(np.argmax(lengths > longest))
        raise Fault(
            block.first_row + row,
            f"{block.place(row)}: {declaration}, and this row has {counted(int(lengths[row]), 'prediction')}: "
            "the header's second number is neither the number of labels nor of predictions per row",
        )


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
