"""Worker: one thread's way from blocks of truth and scores to totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.rows.block import Block, Float64, Int64, Rows, Scratch
from xmceval.rows.checks import stored_zeros, validated_scores, validated_truth
from xmceval.rows.dense import SelectingBlock
from xmceval.rows.width import Width
from xmceval.scoring.batch import NO_WEIGHTS, NONE_OMITTED, Batch, Ranking, Terms, check_lengths, rank, rows_where
from xmceval.scoring.observers import BlockValues, Observer, copy_fractions, copy_ranking
from xmceval.scoring.program import Program
from xmceval.scoring.totals import Filtered, Totals, largest_label


class CheckedScores(NamedTuple):
    """The scores of some rows; see `Batch` for `ends` and `omitted`."""

    rows: Rows
    filtered: Filtered = Filtered()
    largest_label: int = -1
    ends: Int64 | None = None
    omitted: Int64 = NONE_OMITTED

    def where(self, kept: NDArray[np.bool_], scratch: Scratch) -> CheckedScores:
        """Copy the rows that are kept."""
        scores = self._replace(rows=rows_where(self.rows, kept, scratch))
        if self.ends is None:
            return scores
        ends = np.concatenate([[0], np.cumsum(np.diff(self.ends)[kept])])
        return scores._replace(ends=ends, omitted=self.omitted[kept])


@dataclass(frozen=True)
class Run:
    """One system: on what terms it is scored, and the totals to which all threads add."""

    terms: Terms
    totals: Totals


class Worker:
    """One thread's working space.

    Parameters
    ----------
    program : Program
    runs : sequence of Run
        One per system, scored on the same truth: with the same weights and filter.
    observers : sequence of Observer
        See the values of rows.
    """

    def __init__(self, program: Program, runs: Sequence[Run], observers: Sequence[Observer] = ()) -> None:
        self._program, self._runs, self._observers = program, runs, observers
        self._copies_rankings = any(each.needs_rankings for each in observers)
        self._truth, self._scores = Scratch(), Scratch()
        self._kept_truth, self._kept_scores = Scratch(), Scratch()
        self._zeros, self._kept_zeros = Scratch(), Scratch()
        self._spaces: list[Any] = [task.workspace() for task in program.tasks]
        # The narrowest width: a label outside it is an error for one system, and so for all.
        self._width = min((run.terms.width for run in runs), key=lambda width: width.n_labels, default=Width())

    def add(self, blocks: tuple[Block, ...]) -> None:
        """Add the rows of a block of truth, and of one block of scores per system."""
        block, *others = blocks
        n_rows = block.n_rows
        terms = self._runs[0].terms
        truth, explicit_zeros = validated_truth(block, self._truth, self._width, self._program.largest_grade)
        zeros = stored_zeros(block, self._zeros) if self._program.needs_zeros else None
        seen = -1 if self._width.is_known else largest_label(truth)
        in_truth = 0
        if terms.filter is not None:
            in_truth = terms.filter.apply(block.first_row, truth, remove=terms.filter_truth)[0]
        weights = NO_WEIGHTS if terms.weights is None else terms.weights[block.first_row :][: truth.indptr.size - 1]
        kept = weights > 0 if weights.size and not weights.all() else None
        all_truth = truth
        if kept is not None:
            truth, weights = rows_where(truth, kept, self._kept_truth), weights[kept]
            zeros = None if zeros is None else rows_where(zeros, kept, self._kept_zeros)
        fractions: list[list[tuple[Float64, Float64]]] = []
        rankings: list[Ranking] = []
        for run, other in zip(self._runs, others, strict=True):
            scores = self._checked_scores(run.terms, other, all_truth, in_truth)
            if kept is not None:
                scores = scores.where(kept, self._kept_scores)
            ranking = rank(scores.rows, self._program.deepest + 1, self._scores)
            batch = Batch(
                *(run.terms, block, truth, scores.rows, ranking, weights),
                *(None if kept is None else np.flatnonzero(kept), self._scores, zeros, other),
                *(scores.ends, scores.omitted),
            )
            largest = max(seen, scores.largest_label)
            run.totals.tally.add(batch, self._program.cutoffs, explicit_zeros, scores.filtered, largest)
            fractions.append([])
            if self._copies_rankings:
                rankings.append(copy_ranking(batch.ranking))
            for task, space, part in zip(self._program.tasks, self._spaces, run.totals.parts, strict=True):
                rows = task.add(batch, space, part)
                if self._observers and rows is not None:
                    fractions[-1].append(copy_fractions(rows))
        if self._observers:
            values, shares = ([[each[i] for each in of] for of in fractions] for i in (0, 1))
            where = None if kept is None else np.flatnonzero(kept)
            for observer in self._observers:
                observer.add(BlockValues(block.first_row, n_rows, where, weights, truth, values, shares, rankings))

    def _checked_scores(self, terms: Terms, block: Block, truth: Rows, in_truth: int) -> CheckedScores:
        """Parse and filter the scores of a system, or select those that count; `in_truth` pairs of it are true."""
        if isinstance(block, SelectingBlock):
            selected = block.select(truth, self._scores)
            return CheckedScores(selected.rows, ends=selected.ends, omitted=selected.omitted)
        scores = validated_scores(block, self._scores, terms.width)
        check_lengths(block, scores, terms)
        largest = -1 if terms.width.is_known else largest_label(scores)
        if terms.filter is None:
            return CheckedScores(scores, largest_label=largest)
        removed, rows_changed = terms.filter.apply(block.first_row, scores)
        return CheckedScores(scores, Filtered(removed, rows_changed, in_truth), largest)
