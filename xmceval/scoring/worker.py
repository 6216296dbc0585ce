"""Worker: one thread's way from blocks of truth and scores to totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xmceval.rows.block import Block, Float64, Rows, Scratch
from xmceval.rows.checks import stored_zeros, validated_scores, validated_truth
from xmceval.rows.width import Width
from xmceval.scoring.batch import NO_WEIGHTS, Batch, Ranking, Terms, check_lengths, rank, rows_where
from xmceval.scoring.observers import BlockValues, Observer, copy_fractions, copy_ranking
from xmceval.scoring.program import Program
from xmceval.scoring.totals import Filtered, Totals, largest_label


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
        truth, explicit_zeros = validated_truth(
            block, self._truth, self._width, self._program.largest_grade, may_merge=True
        )
        zeros = stored_zeros(block, self._zeros) if self._program.needs_zeros else None
        seen = -1 if self._width.is_known else largest_label(truth)
        in_truth = 0
        if terms.filter is not None:
            in_truth = terms.filter.apply(block.first_row, truth, remove=terms.filter_truth)[0]
        weights = NO_WEIGHTS if terms.weights is None else terms.weights[block.first_row :][: truth.indptr.size - 1]
        kept = weights > 0 if weights.size and not weights.all() else None
        if kept is not None:
            truth, weights = rows_where(truth, kept, self._kept_truth), weights[kept]
            zeros = None if zeros is None else rows_where(zeros, kept, self._kept_zeros)
        fractions: list[list[tuple[Float64, Float64]]] = []
        rankings: list[Ranking] = []
        for run, other in zip(self._runs, others, strict=True):
            scores, filtered, largest = self._checked_scores(run.terms, other, in_truth)
            if kept is not None:
                scores = rows_where(scores, kept, self._kept_scores)
            batch = Batch(
                *(run.terms, block, truth, scores, rank(scores, self._program.deepest + 1, self._scores), weights),
                *(None if kept is None else np.flatnonzero(kept), self._scores, zeros, other),
            )
            run.totals.tally.add(batch, self._program.cutoffs, explicit_zeros, filtered, max(seen, largest))
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

    def _checked_scores(self, terms: Terms, block: Block, in_truth: int) -> tuple[Rows, Filtered, int]:
        """Parse and filter the scores of a system; also return what the filter did, and the largest label."""
        scores = validated_scores(block, self._scores, terms.width, may_merge=True)
        check_lengths(block, scores, terms)
        largest = -1 if terms.width.is_known else largest_label(scores)
        if terms.filter is None:
            return scores, Filtered(), largest
        removed, rows_changed = terms.filter.apply(block.first_row, scores)
        return scores, Filtered(removed, rows_changed, in_truth), largest
