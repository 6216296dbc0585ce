"""The results of a benchmark as plain data, from which its pictures are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from xmceval.comparison.comparison import Comparison
from xmceval.comparison.options import Testing
from xmceval.metrics.measure import Measure
from xmceval.report.scored import GateOutcome
from xmceval.rows.nouns import OF_LABELS, OF_QUERIES, Nouns
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.summary import Value
from xmceval.version import VERSION

# Status of one system on one data set: "error" means that its files exist and could not be scored.
STATUSES = SCORED, PUBLISHED, MISSING, FAILED = ("scored", "published", "missing", "error")


@dataclass(frozen=True)
class DatasetOutcome:
    """A data set of a benchmark.

    The comparison covers the systems with predictions; it has no differences if there is only one system or the
    baseline is missing, and is None if the data set failed.
    """

    name: str
    comparison: Comparison | None
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # values by system and metric
    missing: Mapping[str, str] = field(default_factory=dict)  # by system, why it has no values
    notes: tuple[str, ...] = ()  # such as the columns that it lacks, and why
    why: str = ""  # it failed

    def find_status(self, system: str) -> str:
        """Return the status of a system, one of STATUSES."""
        if system in self.missing:
            return MISSING
        if system in self.published:
            return PUBLISHED
        return FAILED if self.comparison is None else SCORED

    def list_figures(self, system: str, measures: Iterable[Measure]) -> tuple[Value, ...]:
        """Return the figures of a system: computed, means over runs, or published."""
        if self.comparison is not None and system in self.comparison.systems:
            return self.comparison.systems[system].figures
        values = self.published.get(system, {})
        return tuple(Value(measure, Estimate(values[measure.name])) for measure in measures if measure.name in values)


def shared_nouns(datasets: Iterable[DatasetOutcome]) -> Nouns:
    """Return what rows and labels of a benchmark are called: queries and documents where all data sets have them."""
    nouns = {dataset.comparison.results[0].nouns for dataset in datasets if dataset.comparison is not None}
    return OF_QUERIES if nouns == {OF_QUERIES} else OF_LABELS


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """The data of a Benchmark, for pictures; see Benchmark for the fields."""

    datasets: tuple[DatasetOutcome, ...]
    systems: tuple[str, ...]
    measures: tuple[Measure, ...]
    testing: Testing
    published: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    gates: tuple[GateOutcome, ...] = ()
    version: str = VERSION

    def count_cells(self) -> dict[str, int]:
        """Return how many cells (a system on a data set) have each status."""
        statuses = [dataset.find_status(system) for dataset in self.datasets for system in self.systems]
        return {status: statuses.count(status) for status in STATUSES}
