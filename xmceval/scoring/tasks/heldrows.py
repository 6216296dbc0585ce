"""Held rows: copies of the rows of all batches, from which tasks compute their measures again with other weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Rows, Scratch
from xmceval.scoring.batch import Batch, Terms
from xmceval.scoring.mergeable import Mergeable, PartField
from xmceval.scoring.tasks.task import Estimates, ScoredRows, Task

NO_ENTRIES = np.empty(0, dtype=np.int64), np.empty(0)


@dataclass(frozen=True)
class BlockPlace:
    """Where the rows of a batch were: what is left of their block."""

    first_row: int
    n_rows: int


class HeldRows(Mergeable):
    """Batches in any order."""

    fields = (PartField("batches", lambda left, right: [*left, *right], is_stored=False),)

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[Batch] = []


@dataclass(frozen=True)
class HoldRows(Task):
    """Copies the rows of a system: their truth and ranking, and all scores where a task needs them."""

    tasks: Sequence[Task]

    measures: tuple[Measure, ...] = ()
    rel: int = 1

    @property
    def needs_scores(self) -> bool:
        """Whether a task needs them."""
        return any(task.needs_scores for task in self.tasks)

    @staticmethod
    def computes(measure: Measure) -> bool:  # noqa: ARG004 - tasks share one signature
        """None."""
        return False

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[Any]:  # noqa: ARG003
        """Return no task."""
        return []

    def empty(self, terms: Terms) -> HeldRows:  # noqa: ARG002
        """Return no rows."""
        return HeldRows()

    def add(self, batch: Batch, part: HeldRows) -> None:
        """Copy the rows of a batch."""
        every = np.ones(batch.n_rows, dtype=np.bool_)
        if not self.needs_scores:
            nothing = Rows(np.zeros(batch.n_rows + 1, dtype=np.int64), *NO_ENTRIES)
            batch = replace(batch, scores=nothing, ends=None, omitted=NO_ENTRIES[0])
        copied = batch.where(every, (Scratch(), Scratch(), Scratch()))
        place: Any = BlockPlace(batch.block.first_row, batch.block.n_rows)
        part.combine(batches=[replace(copied, block=place, score_block=None, scratch=Scratch())])

    def finish(self, part: HeldRows, scored: ScoredRows) -> Estimates:  # noqa: ARG002
        """Return nothing."""
        return {}

    def recompute(self, part: HeldRows, counts: Float64, unit: float, scored: ScoredRows) -> dict[str, float]:
        """Compute the measures of the tasks, each row drawn so often.

        Parameters
        ----------
        part : HeldRows
        counts : float64 array [n_rows]
            By the number of the row.
        unit : float
            A power of two above half of the largest count.
        scored : ScoredRows

        Returns
        -------
        dict of str to float
            NaN where a measure has no value.
        """
        terms = replace(scored.terms, weights=counts, weight_unit=scored.terms.weight_unit * unit)
        parts = [task.empty(terms) for task in self.tasks]
        rooms = Scratch(), Scratch(), Scratch()
        for batch in part.batches:
            first, n_rows = batch.block.first_row, batch.block.n_rows
            drawn = counts[first : first + n_rows] / unit
            weights = drawn if batch.kept is None else drawn[batch.kept]
            weights = weights * batch.weights if batch.weights.size else weights
            is_drawn = weights > 0
            rows = replace(batch, terms=terms, weights=weights, scratch=Scratch()).where(is_drawn, rooms)
            for task, own in zip(self.tasks, parts, strict=True):
                task.add(rows, own)
        values: dict[str, float] = {}
        for task, own in zip(self.tasks, parts, strict=True):
            found = task.finish(own, scored._replace(terms=terms))
            values |= {name: np.nan if each.undefined else each.value for name, each in found.items()}
        return values
