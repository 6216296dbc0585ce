"""Turn the totals of an evaluation into values and counts, over all rows, per group and per bin of labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from xmceval.kernels.metrics.topk import (
    EMPTY_ROWS,
    FIRST_CUTOFF,
    INSIDE_TIES,
    LOWEST,
    PREDICTIONS,
    ROUNDED,
    ROWS,
    TRUE_LABELS,
)
from xmceval.labels.bins import Bin
from xmceval.metrics.measure import Measure
from xmceval.rows.groups import Group
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.setup.setup import Setup
from xmceval.scoring.tasks.task import RowTask, Unscored
from xmceval.scoring.totals import Totals


@dataclass(frozen=True)
class Value:
    """One number of a report: its measure, its estimate, and its scope.

    The kind is ``total``; within a bin of labels ``share`` if the shares of all bins add up, or else
    ``average``; and ``group`` for a group of rows.
    """

    measure: Measure
    estimate: Estimate
    kind: str = "total"

    @property
    def name(self) -> str:
        """Canonical name of the measure."""
        return self.measure.name


@dataclass(frozen=True)
class Counts:
    """Counts of the input, which show whether the right files were scored.

    ``short_rows`` and ``tied_rows`` count, by cutoff, rows with fewer predictions than k, and rows with a tie
    across it. ``left_out`` counts, by metric, rows without a value. ``unscored`` counts true labels without a
    score, by the lowest grade of a true label, only for metrics of whole rows. ``grades`` are the least and the
    greatest grade of the truth. ``unpredicted`` counts scores of -inf; ``binary_rows`` dense rows of 0 and 1
    whose ones are decisions; ``lowest_rows`` rows with the lowest finite float within a cutoff; and
    ``rounded_rows`` rows with ties of numbers so large that they may have been rounded. A CSV of per-row values
    has no counts: they are then 0, meaning unknown, except for the instances.
    """

    n_instances: int
    n_labels: int
    n_true: int
    n_predictions: int
    empty_rows: int
    inside_ties: int
    explicit_zeros: int
    short_rows: Mapping[int, int]
    tied_rows: Mapping[int, int]
    left_out: Mapping[str, int] = field(default_factory=dict)
    unscored: Mapping[float, Unscored] = field(default_factory=dict)
    grades: tuple[float, float] = (1, 1)
    unpredicted: int = 0
    binary_rows: int = 0
    lowest_rows: int = 0
    rounded_rows: int = 0
    are_known: bool = True

    @property
    def unscored_true(self) -> int | None:
        """True labels without a score, counted for the lowest grade; None if no metric needs whole rows."""
        return self.unscored[min(self.unscored)].number if self.unscored else None


@dataclass(frozen=True)
class Slice:
    """The figures of one bin of labels, or of one group of rows."""

    bin: Bin | Group
    figures: tuple[Value, ...]

    @classmethod
    def of(cls, bin_: Bin | Group, figures: Iterable[Value]) -> Slice:
        """Take the figures of a bin or group; one without labels or rows has no values, but NaN."""
        if bin_.is_empty:
            figures = (replace(figure, estimate=Estimate(math.nan, undefined=True)) for figure in figures)
        return cls(bin_, tuple(figures))

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Estimates by canonical name."""
        return {figure.name: figure.estimate for figure in self.figures}


@dataclass(frozen=True)
class Summary:
    """All numbers of one system: its figures and counts, and its slices by bin or group."""

    figures: tuple[Value, ...]
    counts: Counts
    slices: tuple[Slice, ...] = ()


def finish_totals(totals: Totals, setup: Setup) -> Summary:
    """Compute the numbers of a system from its totals, given a known number of labels."""
    slices = list[Slice]()
    if setup.bins is not None:
        by_bin: list[dict[str, Estimate]] = [{} for _ in setup.bins.bins]
        for task, part in zip(setup.program.tasks, totals.parts, strict=True):
            of_task = task.finish_bins(part, setup, totals.tally.n_rows)
            for estimates, task_estimates in zip(by_bin, of_task, strict=True):
                estimates.update(task_estimates)
        for bin_, estimates in zip(setup.bins.bins, by_bin, strict=True):
            figures = []
            for measure in setup.program.measures:
                if measure.name in estimates:
                    kind = "share" if measure.metric.is_additive else "average"
                    figures.append(Value(measure, estimates[measure.name], kind))
            slices.append(Slice.of(bin_, figures))
    if setup.groups is not None:  # computed from their rows alone
        for name, of_group in zip(setup.groups.names, totals.groups, strict=True):
            slices.append(Slice.of(Group(name, of_group.tally.n_rows), _list_figures(of_group, setup, "group")))
    return Summary(_list_figures(totals, setup, "total"), _count_input(totals, setup), tuple(slices))


def _list_figures(totals: Totals, setup: Setup, kind: str) -> tuple[Value, ...]:
    estimates: dict[str, Estimate] = {}
    for task, part in zip(setup.program.tasks, totals.parts, strict=True):
        estimates |= task.finish(part, setup, totals.tally.n_rows)
    return tuple(Value(measure, estimates[measure.name], kind) for measure in setup.program.measures)


def _count_input(totals: Totals, setup: Setup) -> Counts:
    program = setup.program
    cutoffs = program.cutoffs.tolist()
    counts = totals.tally["counts"].tolist()
    whole = totals.tally.whole
    tasks = list(zip(program.tasks, totals.parts, strict=True))
    grades = [int(grade) if grade % 1 == 0 else grade for grade in totals.tally["grades"].tolist()]
    if not counts[TRUE_LABELS]:
        grades = [1, 1]
    left_out = {
        measure.name: n
        for task, part in tasks
        if isinstance(task, RowTask)
        for measure, n in zip(task.measures, part["left_out"].tolist(), strict=True)
        if n
    }
    unscored = {task.rel: number for task, part in tasks if (number := task.unscored(part)) is not None}
    return Counts(
        n_instances=counts[ROWS],
        n_labels=setup.n_labels,
        n_true=counts[TRUE_LABELS],
        n_predictions=counts[PREDICTIONS],
        empty_rows=counts[EMPTY_ROWS],
        inside_ties=counts[INSIDE_TIES],
        explicit_zeros=whole.explicit_zeros,
        short_rows=dict(zip(cutoffs, counts[FIRST_CUTOFF::2], strict=True)),
        tied_rows=dict(zip(cutoffs, counts[FIRST_CUTOFF + 1 :: 2], strict=True)),
        left_out=left_out,
        unscored=unscored,
        grades=(grades[0], grades[1]),
        unpredicted=whole.unpredicted,
        binary_rows=whole.binary_rows,
        lowest_rows=counts[LOWEST],
        rounded_rows=counts[ROUNDED],
    )
