"""Plots: what pictures need beside the figures, collected while systems are scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from xmceval.api.extras.extra import Extra, Outcome, Scoring
from xmceval.errors import UsageError
from xmceval.report.result import Result
from xmceval.scoring.comparing.densities import Densities
from xmceval.scoring.per_label.labelgain import count_hits, find_gain
from xmceval.scoring.sums import Sums
from xmceval.scoring.tasks.reliability import ReliabilityBins


class CollectDensities(Extra):
    """Count the rows of pairs of systems by their values, for the picture ``rows``."""

    def start(self, scoring: Scoring, files: ExitStack) -> None:  # noqa: ARG002 - extras share one signature
        """Make the observer.

        Raises
        ------
        UsageError
            Systems with several runs, or no metric whose values of rows lie from 0 to 1.
        """
        if scoring.has_runs:
            raise UsageError(
                "the picture 'rows' shows one value per instance; it is not available for systems with several runs"
            )
        self._densities = Densities(scoring.setup.program, scoring.pairs)
        self.observers = [self._densities]

    def finish(self, outcome: Outcome) -> Outcome:
        """Add the densities."""
        return replace(outcome, densities=tuple(self._densities.finish(outcome.scoring.names)))


class CollectGain(Extra):
    """Count the hits of each label, for the picture ``gain``."""

    needs_counts = True

    def start(self, scoring: Scoring, files: ExitStack) -> None:  # noqa: ARG002
        """Make the task.

        Raises
        ------
        UsageError
            No metric has a cutoff.
        DataError
            There are no training counts.
        """
        self._task = count_hits(scoring.setup.program, scoring.setup.frequencies)
        self.tasks = [self._task]

    def finish(self, outcome: Outcome) -> Outcome:
        """Add the gain of each system."""
        setup = outcome.scoring.setup
        unit, frequencies = setup.terms.weight_unit, setup.frequencies
        results = (
            replace(each, gain=find_gain(self._task, part, frequencies, each.counts.n_labels, unit))
            for each, part in zip(outcome.results, outcome.parts_of(self._task), strict=True)
        )
        return replace(outcome, results=tuple(results))


class CollectReliability(Extra):
    """Compare scores with hits, for the picture ``calibration``."""

    def start(self, scoring: Scoring, files: ExitStack) -> None:  # noqa: ARG002
        """Make the task.

        Raises
        ------
        UsageError
            No metric has a cutoff.
        """
        program, terms = scoring.setup.program, scoring.opened[0].terms
        self._task = ReliabilityBins.of(program.measures, program.deepest, terms.n_bins)
        self.tasks = [self._task]

    def finish(self, outcome: Outcome) -> Outcome:
        """Add the reliability of each system, and within each bin of labels and each group of rows."""
        unit = outcome.scoring.setup.terms.weight_unit

        def with_reliability(result: Result, part: Sums, groups: Sequence[Sums]) -> Result:
            found, *of_bins = self._task.find_reliability(part, unit)
            of_slices = [*of_bins, *(self._task.find_reliability(each, unit)[0] for each in groups)]
            slices = (replace(each, reliability=own) for each, own in zip(result.slices, of_slices, strict=True))
            return replace(result, reliability=found, slices=tuple(slices))

        parts = outcome.parts_of(self._task), outcome.group_parts_of(self._task)
        return replace(outcome, results=tuple(map(with_reliability, outcome.results, *parts)))


PLOTTED: Mapping[str, Callable[[], Extra]] = {
    "rows": CollectDensities,
    "gain": CollectGain,
    "calibration": CollectReliability,
}
