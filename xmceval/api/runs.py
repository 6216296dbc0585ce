"""Runs: systems that were trained several times, such as with other seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmceval.api.setup import Named
from xmceval.errors import UsageError
from xmceval.report.comparison import Difference, RunsOf, Spread
from xmceval.report.result import Result
from xmceval.rows.lists import is_pair
from xmceval.statistics.paired import welch

FEWEST = 3  # runs of both systems from which on the run is the unit of a test


@dataclass(frozen=True)
class Lineup:
    """Systems, and the runs that each consists of.

    Attributes
    ----------
    names : tuple of str
        Of the systems.
    groups : tuple of tuple of int
        The runs of each system, by number.
    runs : tuple of Named
        All runs, in the order of the systems.
    """

    names: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    runs: tuple[Named, ...]

    @classmethod
    def of(cls, systems: Sequence[Named]) -> Lineup:
        """Take systems apart: one whose scores are a list of matrices or paths has several runs."""
        groups: list[tuple[int, ...]] = []
        runs: list[Named] = []
        for each in systems:
            first = len(runs)
            if are_runs(each.y_score):
                runs.extend(Named(scores, f"{each.name} ({i})") for i, scores in enumerate(each.y_score, start=1))
            else:
                runs.append(each)
            groups.append(tuple(range(first, len(runs))))
        names = [str(each.name) for each in systems]
        repeated = [name for i, name in enumerate(names) if name in names[:i]]
        if repeated:
            raise UsageError(f"several systems are named {repeated[0]!r}; expected a name of its own for each")
        return cls(tuple(names), tuple(groups), tuple(runs))

    @property
    def has_runs(self) -> bool:
        """Whether a system has more than one run."""
        return len(self.runs) > len(self.names)

    def by_runs(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the pairs in which both systems have enough runs for tests whose unit is the run."""
        return [pair for pair in pairs if min(len(self.groups[each]) for each in pair) >= FEWEST]

    def differences(self, results: Sequence[Result], pairs: Sequence[tuple[int, int]]) -> Iterator[Difference]:
        """Yield the differences of pairs by Welch's t test of the values of their runs."""
        for system, baseline in pairs:
            for i, figure in enumerate(results[0].figures):
                own, other = (self._values(results, each, i) for each in (system, baseline))
                tested = welch(own, other)
                yield Difference(
                    figure.measure,
                    self.names[system],
                    self.names[baseline],
                    tested.difference,
                    tested.low,
                    tested.high,
                    tested.p,
                    detectable=tested.detectable,
                    n=len(own) + len(other),
                    unit="run",
                )

    def mean(self, results: Sequence[Result], system: int, figure: int) -> float:
        """Return the mean of a metric over the runs of a system."""
        values = self._values(results, system, figure)
        return math.fsum(values) / len(values)

    def spreads(self, results: Sequence[Result]) -> Iterator[RunsOf]:
        """Yield how far the runs of each system that has several lie apart."""
        for s, (name, group) in enumerate(zip(self.names, self.groups, strict=True)):
            if len(group) > 1:
                figures = enumerate(results[group[0]].figures)
                spreads = tuple(Spread.of(figure.measure, self._values(results, s, i)) for i, figure in figures)
                yield RunsOf(name, tuple(results[run].name for run in group), spreads)

    def _values(self, results: Sequence[Result], system: int, figure: int) -> list[float]:
        return [results[run].figures[figure].estimate.value for run in self.groups[system]]


def are_runs(y_score: Any) -> bool:
    """Return whether scores are a list of matrices or paths: the runs of one system."""
    return (
        isinstance(y_score, (list, tuple))
        and len(y_score) > 0
        and all(isinstance(each, (str, Path)) or len(getattr(each, "shape", ())) == 2 for each in y_score)
        and not is_pair(y_score, "y_score")
    )
