"""Ranking: the order of systems on each metric, and what is known of their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.result import Result
from xmceval.scoring.comparing.testoptions import BETTER, NONE, UNTESTED, WORSE
from xmceval.scoring.estimates import Estimate

TURNED = {BETTER: WORSE, WORSE: BETTER}  # seen from the other system


class SystemRanking:
    """The systems of a page with their values; one that was trained several times has the means of its runs.

    Parameters
    ----------
    results : sequence of Result
    comparison : Comparison or None
        Their differences.
    """

    def __init__(self, results: Sequence[Result], comparison: Comparison | None) -> None:
        self.results = results
        self.comparison = comparison
        self._estimates: dict[str, Mapping[str, Estimate]] = {}
        of_runs: set[str] = set()
        for system in () if comparison is None else comparison.runs:
            self._estimates[system.name] = {each.measure.name: Estimate(each.mean) for each in system.spreads}
            of_runs.update(system.results)
        self._estimates |= {each.name: each.estimates for each in results if each.name not in of_runs}

    @property
    def names(self) -> list[str]:
        """The systems; those with several runs come first."""
        return list(self._estimates)

    @cached_property
    def measures(self) -> list[Measure]:
        """What all systems have a value of."""
        measures = (figure.measure for figure in self.results[0].figures)
        return [each for each in measures if all(each.name in own for own in self._estimates.values())]

    def value(self, system: str, measure: Measure) -> float:
        """Return the value of a system."""
        return self._estimates[system][measure.name].value

    def order(self, measure: Measure) -> list[str]:
        """Return the systems, best first; equal ones in their own order."""
        sign = -1.0 if measure.metric.higher_is_better else 1.0
        return sorted(self.names, key=lambda system: sign * self.value(system, measure))

    def leader(self, measure: Measure) -> str | None:
        """Return the system with the best value; None where several have it, or there is no other."""
        if len(self.names) < 2:
            return None
        best, second, *_ = self.order(measure)
        return None if self.value(best, measure) == self.value(second, measure) else best

    def group_by_leader(self, measures: Sequence[Measure]) -> dict[str, list[Measure]]:
        """Return the metrics on which each system has the best value, the system with the most of them first."""
        led: dict[str, list[Measure]] = {}
        for measure in measures:
            leader = self.leader(measure)
            if leader is not None:
                led.setdefault(leader, []).append(measure)
        return dict(sorted(led.items(), key=lambda item: -len(item[1])))

    def difference(self, measure: Measure, system: str, other: str) -> Difference | None:
        """Return the difference between two systems, whichever of them is the baseline."""
        found: Mapping[tuple[str, str, str], Difference] = {} if self.comparison is None else self.comparison.by_key
        return found.get((measure.name, system, other)) or found.get((measure.name, other, system))

    @property
    def differences(self) -> list[Difference]:
        """All differences over all labels in what all systems have a value of."""
        found = () if self.comparison is None else self.comparison.values()
        return [each for each in found if each.measure in self.measures]

    @property
    def is_tested(self) -> bool:
        """Whether any difference over all labels was tested."""
        return any(each.p is not None for each in self.differences)

    def mark(self, measure: Measure, system: str, other: str) -> str:
        """Return whether a system was found to be better or worse than another: one of MARKS."""
        found = self.difference(measure, system, other)
        mark = UNTESTED if found is None else found.mark
        is_turned = found is not None and found.system != system
        return TURNED.get(mark, mark) if is_turned else mark

    def split(self, system: str, other: str) -> tuple[list[Difference], list[Difference], list[Difference]]:
        """Return the differences in which a system is better, those in which it is worse, and those not detected.

        Those that were not tested are in none of them.
        """
        better: list[Difference] = []
        worse: list[Difference] = []
        undetected: list[Difference] = []
        groups = {BETTER: better, WORSE: worse, NONE: undetected}
        for measure in self.measures:
            found, mark = self.difference(measure, system, other), self.mark(measure, system, other)
            if found is not None and mark in groups:
                groups[mark].append(found)
        return better, worse, undetected

    def leads_over_all(self, system: str) -> list[Difference]:
        """Return the leads over the next system where a system is detectably better than each other one."""
        others = [each for each in self.names if each != system]
        leads = []
        for measure in self.measures:
            if all(self.mark(measure, system, other) == BETTER for other in others):
                ahead = (self.difference(measure, system, other) for other in others)
                leads.append(min(filter(None, ahead), key=lambda each: abs(each.difference)))
        return leads
