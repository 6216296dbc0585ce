"""Program: measures, and the tasks that compute them; `compile_program` makes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from xmceval.errors import UsageError, listed
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Int64
from xmceval.rows.checks import LARGEST_EXPONENT, LARGEST_GRADE


@dataclass(frozen=True)
class Program:
    """What is computed."""

    measures: tuple[Measure, ...]  # in the order in which they were asked for
    cutoffs: Int64  # the distinct cutoffs, ascending
    tasks: tuple[Any, ...]  # a Task each; they compute all measures, each one once

    @cached_property
    def deepest(self) -> int:
        """The largest cutoff, 0 where there is none."""
        return int(self.cutoffs[-1]) if self.cutoffs.size else 0

    @cached_property
    def needs_propensities(self) -> bool:
        """Whether any measure weighs hits by inverse propensities."""
        return any(measure.needs_propensities for measure in self.measures)

    @cached_property
    def needing_labels(self) -> tuple[Measure, ...]:
        """The measures that need the number of labels."""
        return tuple(measure for measure in self.measures if measure.metric.needs_labels)

    @cached_property
    def largest_grade(self) -> float:
        """The largest grade that exact sums can hold."""
        has_exponents = any(measure.option("gain") == "exp" for measure in self.measures)
        return LARGEST_EXPONENT if has_exponents else LARGEST_GRADE

    @cached_property
    def needs_scores(self) -> bool:
        """Whether any task looks at the scores of all labels, not only at the ranking and the ties at its end."""
        return any(task.needs_scores for task in self.tasks)

    @cached_property
    def decides(self) -> bool:
        """Whether any measure counts decisions, for which a threshold may be passed."""
        return any(measure.takes_threshold for measure in self.measures)

    @cached_property
    def ranks_unscored(self) -> bool:
        """Whether any measure ranks labels without a score too."""
        return any(ranks_all_labels(measure) for measure in self.measures)

    @cached_property
    def row_tasks(self) -> tuple[Any, ...]:
        """The tasks that have values of rows."""
        return tuple(task for task in self.tasks if task.has_values)

    @property
    def row_measures(self) -> list[Measure]:
        """The measures that have values of rows, in the order of the columns of these values."""
        return [measure for task in self.row_tasks for measure in task.measures]

    @cached_property
    def columns(self) -> Mapping[Measure, int]:
        """The column of each measure that has values of rows, in the order in which they were asked for."""
        by_column = {measure: column for column, measure in enumerate(self.row_measures)}
        return {each: by_column[each] for each in self.measures if each in by_column}

    def check_mergeable(self, what: str) -> None:
        """Refuse metrics whose sums grow with the rows, for what carries sums from one place to another.

        Parameters
        ----------
        what : str
            Such as ``"Evaluator"`` or ``"shards"``, for the message.
        """
        growing = [measure for measure in self.measures if not measure.metric.mergeable]
        if growing:
            raise UsageError(
                f"{listed(growing)}: not available for {what}, because all cells must be held at once "
                "(hint: score whole matrices or files)"
            )

    def remarks(self, parts: Sequence[Any], n_labels: int) -> list[str]:
        """Return what the tasks have to remark on their parts of the totals."""
        tasks = zip(self.tasks, parts, strict=True)
        return [remark for task, part in tasks for remark in task.remarks(part, n_labels)]

    def check_ties(self, ties: str) -> None:
        """Refuse a treatment of ties for metrics that have none; where a definition settles ties itself, that holds."""
        fixed = [measure for task in self.tasks for measure in task.tied_by_label.get(ties, ())]
        if fixed:
            raise UsageError(
                f"ties={ties} applies to metrics of the k best labels; it is not available for {listed(fixed)}, "
                "which follow the order by label"
            )


def ranks_all_labels(measure: Measure) -> bool:
    """Return whether labels without a score are ranked too; a micro average may be over the stored cells alone."""
    metric = measure.metric
    if metric.family == "column":
        return metric.needs_labels or measure.norm.over != "micro"
    return metric.needs_labels and metric.family == "row"
