"""Page content: what all sections of a page are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison
from xmceval.report.forms.layout import Layout
from xmceval.report.page.evidence import Evidence
from xmceval.report.page.systemranking import SystemRanking
from xmceval.report.result import Result, shared_lines
from xmceval.report.sheet.comparesheet import build_comparison_sheet
from xmceval.report.sheet.model import Sheet
from xmceval.report.sheet.scoresheet import build_sheet


@dataclass(frozen=True)
class PageContent:
    """What a page is drawn from: results, their comparison, what was found in the files, and the layout."""

    results: Sequence[Result]
    comparison: Comparison | None
    evidence: Evidence
    layout: Layout

    @cached_property
    def sheet(self) -> Sheet:
        """What the other forms draw."""
        return self.build_sheet(self.layout)

    def build_sheet(self, layout: Layout) -> Sheet:
        """Build what the other forms draw with a layout of theirs."""
        if self.comparison is not None:
            return build_comparison_sheet(self.comparison, layout)
        return build_sheet(self.results, layout)

    @cached_property
    def ranking(self) -> SystemRanking:
        """The systems in the order of their values."""
        return SystemRanking(self.results, self.comparison)

    @property
    def are_systems(self) -> bool:
        """Whether the rows of the table are systems; with a single one they are metrics."""
        return len(self.results) > 1

    @cached_property
    def measures(self) -> list[Measure]:
        """What was measured, of all results."""
        return list(dict.fromkeys(figure.measure for result in self.results for figure in result.figures))

    @cached_property
    def names(self) -> list[str]:
        """The names of systems and metrics, which sentences may begin with and which are written in any direction."""
        systems = [*self.ranking.names, *(result.name for result in self.results)]
        return list(dict.fromkeys([*systems, *(measure.head for measure in self.measures)]))

    @cached_property
    def warnings(self) -> list[str]:
        """The warnings of the comparison and of the results, and what was found in the files; each once."""
        lines = [*(self.comparison.warnings if self.comparison is not None else ())]
        lines += shared_lines(self.results, "warnings")
        for file in self.evidence.files:
            lines += (*file.faults, *file.warnings)
        for pair in self.evidence.pairs:
            lines += (*pair.faults, *pair.mistakes, *pair.warnings)
        return list(dict.fromkeys(lines))
