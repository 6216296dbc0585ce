"""Intervals by the bootstrap, for values that are no sums over rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from xmceval.api.comparing.runs import Lineup
from xmceval.api.extras.extra import Drawn, Extra, Outcome, Scoring
from xmceval.errors import UsageError, argument, counted, listed
from xmceval.kernels.metrics.resampling import count_draws
from xmceval.report.comparison import Difference
from xmceval.report.result import Result
from xmceval.rows.block import Float64
from xmceval.rows.threads import default_threads
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.summary import Figure
from xmceval.scoring.tasks.heldrows import HeldRows, HoldRows
from xmceval.scoring.tasks.task import RowTask, ScoredRows, Task
from xmceval.scoring.totals import Totals
from xmceval.statistics.intervals import FEW_ROWS, FEWEST_ROWS, t_quantile
from xmceval.statistics.paired import t_test
from xmceval.statistics.resampling import Resampling

SEED = 0
UNIT = 16.0  # a row is drawn 32 times or more once in 10^36 draws


class BootstrapIntervals(Extra):
    """Add intervals to the values that have none: value ± t s, s being the standard deviation of resamples.

    Each row, or each cluster of rows, is drawn a Poisson number of times, of mean 1 (Hanley and MacGibbon, 2006;
    Chamandy et al., 2012), and the labels that a mean is over stay those of all rows.
    """

    def __init__(self, n_resamples: int) -> None:
        self._n = n_resamples

    def start(self, scoring: Scoring, files: ExitStack) -> None:  # noqa: ARG002 - extras share one signature
        """Make the task that holds the rows.

        Raises
        ------
        UsageError
            All metrics have intervals without it.
        """
        program = scoring.setup.program
        tasks = tuple(task for task in program.tasks if task.measures and not isinstance(task, RowTask))
        if not tasks:
            raise UsageError(
                f"{argument('bootstrap')} has no effect: {listed(program.measures)} "
                f"{'has an interval' if len(program.measures) == 1 else 'have intervals'} without it "
                "(hint: it is for metrics such as macroF1@5, coverage@5 and macroAUC)"
            )
        self._task = HoldRows(tasks)
        self.tasks = [self._task]

    def finish(self, outcome: Outcome) -> Outcome:
        """Return the results with these intervals."""
        parts, setup = outcome.parts_of(self._task), outcome.scoring.setup
        systems = zip(outcome.results, outcome.totals, parts, outcome.scoring.opened, strict=True)
        clusters = None if setup.terms.clusters is None else setup.terms.clusters.codes
        threads = setup.options.threads or default_threads()
        results, drawn = [], []
        for result, totals, part, system in systems:
            terms = system.terms
            terms = replace(terms, width=terms.width.or_seen(totals.tally.largest_label), bins=None, groups=None)
            scored = ScoredRows(totals.tally.n_rows, terms)
            draws = _Draws(self._task, part, self._with_sizes(scored, totals, setup.program.tasks), clusters)
            drawn.append(_draw(draws, self._n, threads))
            results.append(_with_intervals(result, drawn[-1], self._n))
        return replace(outcome, results=tuple(results), drawn=tuple(drawn))

    def _with_sizes(self, scored: ScoredRows, totals: Totals, tasks: tuple[Task, ...]) -> ScoredRows:
        """Keep the labels that means are over as they are."""
        own = [each for each in zip(tasks, totals.parts, strict=True) if each[0] in self._task.tasks]
        return scored._replace(sizes={k: v for task, part in own for k, v in task.sizes(part, scored).items()})


class _Draws:
    """Values of one system in resamples of its rows."""

    def __init__(self, task: HoldRows, part: HeldRows, scored: ScoredRows, clusters: object) -> None:
        self._task, self._part, self._scored = task, part, scored
        self._clusters = None if clusters is None else np.asarray(clusters)
        self.names = [measure.name for each in task.tasks for measure in each.measures]
        self._n_rows = max((each.block.first_row + each.block.n_rows for each in part.batches), default=0)
        self.n = scored.n_rows if self._clusters is None else self._count_clusters()

    def _count_clusters(self) -> int:
        """Count the clusters with a row that counts: one of a weight above 0 that is not left out."""
        found = [np.empty(0, dtype=np.int64)]
        for each in self._part.batches:
            rows = np.arange(each.block.n_rows) if each.kept is None else each.kept
            counted_rows = each.block.first_row + rows[each.is_counted(each.truth)]
            found.append(np.asarray(self._clusters)[counted_rows])
        return int(np.unique(np.concatenate(found)).size)

    def draw(self, first: int, values: Float64) -> None:
        """Write the values in resamples from one on, float64 [n_resamples, n_names]."""
        for i, row in enumerate(values):
            n = self._n_rows if self._clusters is None else int(self._clusters.max(initial=-1)) + 1
            counts = np.empty(n, dtype=np.int64)
            count_draws(SEED, first + i, counts)
            of_rows = (counts if self._clusters is None else counts[self._clusters]).astype(np.float64)
            found = self._task.recompute(self._part, of_rows, UNIT, self._scored)
            row[:] = [found.get(name, np.nan) for name in self.names]


def _draw(draws: _Draws, n_resamples: int, threads: int) -> Drawn:
    """Draw resamples in threads."""
    values = np.full((n_resamples, len(draws.names)), np.nan)
    if draws.n > 1:
        Resampling(n_resamples, SEED, threads).run(draws.draw, values)
    return Drawn(dict(zip(draws.names, values.T, strict=True)), draws.n)


def _spread(values: Float64) -> float:
    """Return the standard deviation of values in resamples; 0 where too few of them are defined."""
    defined = values[~np.isnan(values)]
    return float(np.std(defined, ddof=1)) if 2 * defined.size > values.size else 0.0


def _with_intervals(result: Result, drawn: Drawn, n_resamples: int) -> Result:
    """Return a result with intervals where it has none; a standard deviation of 0 says nothing."""
    spreads = {name: spread for name, values in drawn.values.items() if (spread := _spread(values))}

    def with_interval(estimate: Estimate, name: str) -> Estimate:
        if estimate.low is not None or estimate.undefined or name not in spreads:
            return estimate
        margin = t_quantile(drawn.n - 1) * spreads[name]
        caution = FEW_ROWS if drawn.n < FEWEST_ROWS else None
        return replace(estimate, low=estimate.value - margin, high=estimate.value + margin, caution=caution)

    figures = tuple(Figure(each.measure, with_interval(each.estimate, each.name), each.kind) for each in result.figures)
    note = f"intervals of {listed(spreads)} are from {counted(n_resamples, 'bootstrap resample')}"
    return replace(result, figures=figures, notes=(*result.notes, *([note] if spreads else [])))


def drawn_differences(
    lineup: Lineup, results: Sequence[Result], drawn: Sequence[Drawn], pairs: Sequence[tuple[int, int]]
) -> Iterator[Difference]:
    """Yield the differences of pairs of systems with one run each, tested by those in the same resamples.

    t is the difference divided by the standard deviation of these, with n - 1 degrees of freedom. Results and what was
    `drawn` are by run; nothing was, where there are no resamples.
    """
    names, groups = lineup.names, lineup.groups
    for system, baseline in pairs if drawn else ():
        if len(groups[system]) > 1 or len(groups[baseline]) > 1:
            continue
        (run, other) = groups[system][0], groups[baseline][0]
        own, its = drawn[run], drawn[other]
        for figure, against in zip(results[run].figures, results[other].figures, strict=True):
            if figure.name not in own.values or figure.estimate.undefined or against.estimate.undefined:
                continue
            spread = _spread(own.values[figure.name] - its.values[figure.name])
            if spread:
                tested = t_test(figure.estimate.value - against.estimate.value, spread, own.n)
                yield Difference(figure.measure, names[system], names[baseline], **vars(tested), n=own.n)
