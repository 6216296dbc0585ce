"""Benchmark: systems compared on several data sets, and what these come to together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from xmceval.labels.catalogue import Published
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison
from xmceval.report.forms.layout import Layout
from xmceval.report.renderable import Renderable
from xmceval.scoring.comparing.testoptions import Testing

# How a cell came about. What has failed is not missing: its files are there.
STATUSES = SCORED, KEPT, PUBLISHED, MISSING, FAILED = ("scored", "kept", "published", "missing", "error")


@dataclass(frozen=True)
class CellOutcome:
    """A system on a data set.

    Attributes
    ----------
    system : str
    status : str
        One of STATUSES.
    why : str
        Why it is missing or has failed; of a cell that was scored again, what has changed.
    n_runs : int
    digest : str
        Of all that its values depend on; empty where there are none.
    """

    system: str
    status: str
    why: str = ""
    n_runs: int = 1
    digest: str = ""


@dataclass(frozen=True)
class DatasetOutcome:
    """A data set of a benchmark.

    Attributes
    ----------
    name : str
    comparison : Comparison or None
        Of the systems that have values; without differences where there is one only, or the baseline is missing; None
        where there is no system with values.
    cells : tuple of CellOutcome
        One for each system, in the order of the benchmark.
    published : mapping of str to Published
        The published rows that are shown, by the name of the system.
    entry : str
        Its name in the catalogue; empty for others.
    notes : tuple of str
        Such as which columns it lacks, and why.
    """

    name: str
    comparison: Comparison | None
    cells: tuple[CellOutcome, ...]
    published: Mapping[str, Published] = field(default_factory=dict)
    entry: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Renderable, Mapping[str, Comparison]):
    """Comparisons by data set: ``benchmark["Bibtex"]`` is one, ``benchmark["Bibtex", "Ours", "P@5"]`` a value.

    Attributes
    ----------
    datasets : tuple of DatasetOutcome
    systems : tuple of str
        In the order of the file, published ones included.
    measures : tuple of Measure
        The columns.
    testing : Testing
    file : str
        The file that describes it; empty for a dict.
    warnings : tuple of str
        What a reader must know before trusting the values, beside the warnings of the comparisons.
    """

    datasets: tuple[DatasetOutcome, ...]
    systems: tuple[str, ...]
    measures: tuple[Measure, ...]
    testing: Testing
    file: str = ""
    warnings: tuple[str, ...] = ()

    def __getitem__(self, key: Any) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        return (each.name for each in self.datasets if each.comparison is not None)

    def __len__(self) -> int:
        return sum(each.comparison is not None for each in self.datasets)

    def _render(self, form: str, layout: Layout) -> str:
        raise NotImplementedError

    def _draw_page(self, title: str | None, layout: Layout) -> str:
        raise NotImplementedError

    @property
    def _subject(self) -> Any:
        raise NotImplementedError

    def _describe(self) -> tuple[str, str, str]:
        raise NotImplementedError
