"""Compile measures into a program, the list of tasks that compute them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from xmceval.errors import UsageError
from xmceval.metrics.measure import Measure
from xmceval.rows.checks import LARGEST_EXPONENT, LARGEST_GRADE
from xmceval.scoring.setup.setup import Program, ranks_all_labels
from xmceval.scoring.tasks.task import RowTask, Task
from xmceval.scoring.tasks.topk import BY_ORDER, TopK

MAX_CUTOFF = 10_000


def compile_program(measures: Sequence[Measure]) -> Program:
    """Turn measures into a program; equal measures give the same, immutable program."""
    return _compile(tuple(measures))


def without_propensities(program: Program) -> Program | None:
    """Return the program without measures that need propensities, or None if none are left."""
    kept = [measure for measure in program.measures if not measure.needs_propensities]
    return compile_program(kept) if kept else None


@lru_cache(maxsize=8)
def _compile(measures: tuple[Measure, ...]) -> Program:
    if not measures:
        raise UsageError("no metric was requested")
    cutoffs = sorted({measure.k for measure in measures if measure.k is not None})
    if cutoffs and cutoffs[-1] > MAX_CUTOFF:
        raise UsageError(f"k = {cutoffs[-1]:,} is above {MAX_CUTOFF:,}, the deepest cutoff")
    for measure in measures:
        names_labels = measure.option("over", "all") != "all" or measure.option("of") == "means"
        if names_labels and measure.metric.family == "confusion" and measure.average != "macro":
            raise UsageError(f"{measure}: over= and of= are for macro averages (hint: add average=macro)")
    # by kind, at cutoffs before decisions, these before those at n, then by grade
    groups: dict[tuple[int, bool, bool, float], list[Measure]] = {}
    for measure in measures:
        metric = measure.metric
        key = _kind_of(measure).place, metric.family == "confusion", metric.cuts_at_n, measure.rel
        groups.setdefault(key, []).append(measure)
    tasks: list[Task] = []
    for key in sorted(groups):
        of_task = tuple(groups[key])
        tasks.append(_kind_of(of_task[0]).compile(of_task, of_task[0].rel))
    row_tasks = tuple(task for task in tasks if isinstance(task, RowTask))
    row_measures = [measure for task in row_tasks for measure in task.measures]
    by_name = {measure.name: column for column, measure in enumerate(row_measures)}
    has_exponents = any(measure.option("gain") == "exp" for measure in measures)
    return Program(
        measures,
        np.array(cutoffs, dtype=np.int64),
        tuple(tasks),
        row_tasks=row_tasks,
        row_measures=row_measures,
        columns={measure: by_name[measure.name] for measure in measures if measure.name in by_name},
        deepest=cutoffs[-1] if cutoffs else 0,
        needs_scores=any(task.needs_scores for task in tasks),
        needs_propensities=any(measure.needs_propensities for measure in measures),
        needing_training=tuple(measure for measure in measures if measure.option("over") == "train"),
        needing_labels=tuple(measure for measure in measures if measure.needs_labels),
        largest_grade=LARGEST_EXPONENT if has_exponents else LARGEST_GRADE,
        decides=any(measure.metric.takes_threshold for measure in measures),
        ranks_unscored=any(map(ranks_all_labels, measures)),
    )


def _kind_of(measure: Measure) -> type[Task]:
    """Return the kind of task that computes a measure; the modules of the other kinds are not loaded."""
    family = measure.metric.family
    if family == "top-k" and measure.k is not None and measure.norm.divisor != BY_ORDER:
        return TopK
    if measure.metric.cuts_at_n:
        family = "confusion"
    if family in {"top-k", "row"}:
        from xmceval.scoring.tasks.wholerow import WholeRow

        return WholeRow
    if family == "confusion":
        from xmceval.scoring.tasks.decisions import Decisions, adds_up_over_rows

        if adds_up_over_rows(measure):
            return Decisions
    if family in {"confusion", "label"}:
        from xmceval.scoring.tasks.labelwise import Labelwise

        return Labelwise
    if family == "column":
        from xmceval.scoring.tasks.column import LabelAreas

        return LabelAreas
    raise LookupError(f"no task computes {measure}")
