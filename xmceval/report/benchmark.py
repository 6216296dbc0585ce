"""Benchmark: systems compared on several data sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from xmceval.errors import counted, listed
from xmceval.labels.catalogue import Published
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison
from xmceval.report.forms.layout import Layout
from xmceval.report.gateoutcomes import GateOutcome
from xmceval.report.lookup import find_name
from xmceval.report.renderable import Tabular, join_facts, load, shorten
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.summary import Figure
from xmceval.version import VERSION

if TYPE_CHECKING:
    from pandas import DataFrame

# How a cell came about. What has failed is not missing: its files are there.
STATUSES = SCORED, PUBLISHED, MISSING, FAILED = ("scored", "published", "missing", "error")


@dataclass(frozen=True)
class CellOutcome:
    """A system on a data set.

    Attributes
    ----------
    system : str
    status : str
        One of STATUSES.
    why : str
        Why it is missing or has failed.
    n_runs : int
    is_published : bool
        Whether the system is one whose values are published, also where they are left out.
    """

    system: str
    status: str
    why: str = ""
    n_runs: int = 1
    is_published: bool = False


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

    def find_cell(self, system: str) -> CellOutcome | None:
        """Return the cell of a system."""
        return next((each for each in self.cells if each.system == system), None)

    def group_reasons(self, status: str) -> dict[str, list[str]]:
        """Return why cells have a status, and of each reason the systems."""
        systems: dict[str, list[str]] = {}
        for cell in self.cells:
            if cell.status == status:
                systems.setdefault(cell.why, []).append(cell.system)
        return systems

    def list_figures(self, system: str, measures: Iterable[Measure]) -> tuple[Figure, ...]:
        """Return those of some measures that a system has a value of: computed, a mean over runs, or published."""
        published = self.published.get(system)
        if published is not None:
            values = published.values
            return tuple(Figure(each, Estimate(values[each.name])) for each in measures if each.name in values)
        found = {} if self.comparison is None else self.comparison.systems
        return found[system].figures if system in found else ()


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Tabular, Mapping[str, Comparison]):
    """Comparisons by data set: ``benchmark["Bibtex"]`` is one, ``benchmark["Bibtex", "Ours", "P@5"]`` a value.

    ``str(benchmark)`` is the table; it is written in other forms by ``to_json``, ``to_csv``, ``to_markdown``,
    ``to_latex``, ``to_dict`` and ``to_frame``.

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
    gates : tuple of GateOutcome
        What gates came to, where they were asked for.
    version : str
        The version of xmceval that made it.
    """

    datasets: tuple[DatasetOutcome, ...]
    systems: tuple[str, ...]
    measures: tuple[Measure, ...]
    testing: Testing
    file: str = ""
    warnings: tuple[str, ...] = ()
    gates: tuple[GateOutcome, ...] = ()
    version: str = VERSION

    @overload
    def __getitem__(self, key: str) -> Comparison: ...
    @overload
    def __getitem__(self, key: tuple[str, str, str]) -> float: ...
    def __getitem__(self, key: str | tuple[str, str, str]) -> Comparison | float:
        if not isinstance(key, tuple):
            return self._find_comparison(key)
        if len(key) != 3:
            raise KeyError(f"{key!r} is not a data set, or a data set, a system and a metric")
        dataset, system, metric = key
        return self._find_value(self._find_dataset(dataset), system, find_name(metric, self.measures))

    def __iter__(self) -> Iterator[str]:
        return (each.name for each in self.datasets if each.comparison is not None)

    def __len__(self) -> int:
        return sum(each.comparison is not None for each in self.datasets)

    @property
    def published(self) -> tuple[str, ...]:
        """The systems whose values are published ones, which are not tested."""
        names = {each.system for dataset in self.datasets for each in dataset.cells if each.is_published}
        names.update(name for dataset in self.datasets for name in dataset.published)
        return tuple(name for name in self.systems if name in names)

    def to_frame(self, *, bins: bool = False) -> DataFrame:
        """Return the values as a pandas DataFrame, indexed by dataset, metric, k and system.

        Parameters
        ----------
        bins : bool
            Also the values of bins of labels, with the level ``bin``, empty for all labels.

        Returns
        -------
        pandas.DataFrame
            Columns kind (total, share, average or published), value, low, high, tie_low, tie_high and ceiling; missing
            where there is none. Shares are fractions of 1.

        Raises
        ------
        DataError
            pandas is not installed.
        """
        frame: DataFrame = load("forms.frame").make_benchmark_frame(self, bins=bins)
        return frame

    def _find_dataset(self, name: Any) -> DatasetOutcome:
        by_name = {each.name: each for each in self.datasets}
        if name not in by_name:
            raise KeyError(f"{name!r} is not one of the data sets {listed(by_name)}")
        return by_name[name]

    def _find_comparison(self, name: Any) -> Comparison:
        dataset = self._find_dataset(name)
        if dataset.comparison is None:
            raise KeyError(f"{name}: no system has values")
        return dataset.comparison

    def _find_value(self, dataset: DatasetOutcome, system: Any, metric: str) -> float:
        if system not in self.systems:
            raise KeyError(f"{system!r} is not one of the systems {listed(self.systems)}")
        figures = dataset.list_figures(system, self.measures)
        values = {each.name: each.estimate.value for each in figures}
        if metric in values:
            return values[metric]
        cell = dataset.find_cell(system)
        if values or cell is None:
            raise KeyError(f"{dataset.name}, {system}: no value of {metric}; there is {listed(values) or 'none'}")
        status = "could not be scored" if cell.status == FAILED else cell.status
        raise KeyError(f"{dataset.name}, {system}: {status}{f': {cell.why}' if cell.why else ''}")

    def _render(self, form: str, layout: Layout) -> str:
        return str(load("forms.registry").render_benchmark(form, self, layout))

    def _describe(self) -> tuple[str, str]:
        statuses = Counter(cell.status for each in self.datasets for cell in each.cells)
        cells = (f"{statuses[each]:,} {each}" for each in STATUSES if statuses[each])
        what = f"{counted(len(self.systems), 'system')} on {counted(len(self.datasets), 'data set')}"
        example = shorten(next(iter(self), self.datasets[0].name))
        return (
            join_facts(f"Benchmark of {what}", cells),
            f'print() shows the table, ["{example}"] one Comparison, .to_frame() all',
        )
