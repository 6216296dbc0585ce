"""Plots: what pictures need beside the figures, collected while systems are scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace

from xmceval.api.extras.extra import Extra, Outcome, Scoring
from xmceval.errors import UsageError
from xmceval.scoring.comparing.densities import Densities
from xmceval.scoring.per_label.labelgain import count_hits, find_gain


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


PLOTTED: Mapping[str, Callable[[], Extra]] = {
    "rows": CollectDensities,
    "gain": CollectGain,
}
