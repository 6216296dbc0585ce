"""Board: what the parts of a leaderboard are drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from xmceval.metrics.measure import Measure
from xmceval.report.benchmark import Benchmark
from xmceval.report.forms.layout import Layout
from xmceval.report.sheet.benchmarksheet import RANKS, build_benchmark_sheet
from xmceval.report.sheet.model import NO_VALUE, Cell, Section, Sheet


@dataclass(frozen=True)
class Board:
    """A benchmark, its sheet, and the addresses of the pages of its data sets."""

    benchmark: Benchmark
    sheet: Sheet
    reports: Mapping[str, str]

    @classmethod
    def of(cls, benchmark: Benchmark, layout: Layout, reports: Mapping[str, str]) -> Board:
        """Build the sheet, with intervals only where they are asked for."""
        layout = replace(layout, intervals=bool(layout.intervals))
        return cls(benchmark, build_benchmark_sheet(benchmark, layout), reports)

    @property
    def groups(self) -> tuple[Section, ...]:
        """The section of each data set, whose rows begin with those of the systems."""
        return self.sheet.sections[: len(self.benchmark.datasets)]

    @cached_property
    def names(self) -> list[str]:
        """What sentences may begin with as it is: the names of systems, data sets and metrics."""
        heads = (each.head for each in self.benchmark.measures)
        return [*self.benchmark.systems, *(each.name for each in self.benchmark.datasets), *dict.fromkeys(heads)]

    def rank_cells(self, measure: Measure) -> dict[str, Cell]:
        """Return the mean ranks of systems on a metric; empty where there is nothing to rank."""
        for section in self.sheet.sections[len(self.groups) :][:1]:
            cells = {row.head: row.cells[measure.name] for row in section.rows}
            if section.name == RANKS:
                return {system: cell for system, cell in cells.items() if cell.value != NO_VALUE}
        return {}

    def cells(self, measure: Measure) -> dict[int, list[Cell]]:
        """Return the cells of all systems by the place of the data set; those that lack the metric are left out.

        A data set without any values, since nothing could be scored, is none of these.
        """
        n, found = len(self.benchmark.systems), {}
        for i, (dataset, section) in enumerate(zip(self.benchmark.datasets, self.groups, strict=True)):
            figures = [dataset.list_figures(each, self.benchmark.measures) for each in self.benchmark.systems]
            have = {figure.name for own in figures for figure in own}
            if measure.name in have or not have:
                found[i] = [row.cells[measure.name] for row in section.rows[:n]]
        return found

    def ceilings(self, measure: Measure) -> dict[int, Cell]:
        """Return the ceilings that all systems share, by the place of the data set."""
        return {
            i: row.cells[measure.name]
            for i, section in enumerate(self.groups)
            for row in section.rows
            if row.ceiling_of == "" and measure.name in row.cells
        }

    def order(self, measure: Measure) -> list[int]:
        """Return the places of the systems: by mean rank, then those without one as they are, published ones last."""
        systems, published = self.benchmark.systems, set(self.benchmark.published)
        ranks = self.benchmark.ranks(measure.name) if self.rank_cells(measure) else {}
        places = range(len(systems))
        return sorted(places, key=lambda i: (systems[i] in published, ranks.get(systems[i], float("inf"))))
