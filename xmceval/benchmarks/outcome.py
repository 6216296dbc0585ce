"""Benchmark: what came of comparing systems on several data sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, overload

from xmceval.errors import counted, listed
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import find_name
from xmceval.report.comparison import Comparison
from xmceval.report.forms.layout import Layout
from xmceval.report.gateoutcomes import GateOutcome
from xmceval.report.pictures import check_installed
from xmceval.report.renderable import Tabular, join_facts, shorten
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.summary import Figure
from xmceval.version import VERSION

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from pandas import DataFrame

# How the values of a system on a data set came about. What has failed is not missing: its files are there.
STATUSES = SCORED, PUBLISHED, MISSING, FAILED = ("scored", "published", "missing", "error")


@dataclass(frozen=True)
class DatasetOutcome:
    """A data set of a benchmark.

    The comparison has the systems with predictions; it has no differences where there is only one system or the
    baseline is missing, and is None where the data set failed.
    """

    name: str
    comparison: Comparison | None
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by system and metric
    missing: Mapping[str, str] = field(default_factory=dict)  # by system without predictions or values, the reason
    notes: tuple[str, ...] = ()  # such as which columns it lacks, and why
    why: str = ""  # it failed

    def find_status(self, system: str) -> str:
        """Return which of STATUSES the values of a system have."""
        if system in self.missing:
            return MISSING
        if system in self.published:
            return PUBLISHED
        return FAILED if self.comparison is None else SCORED

    def list_figures(self, system: str, measures: Iterable[Measure]) -> tuple[Figure, ...]:
        """Return the figures of a system: computed, means over runs, or published."""
        if self.comparison is not None and system in self.comparison.systems:
            return self.comparison.systems[system].figures
        values = self.published.get(system, {})
        return tuple(Figure(measure, Estimate(values[measure.name])) for measure in measures if measure.name in values)


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Tabular, Mapping[str, Comparison]):
    """Comparisons by data set: ``benchmark["Bibtex"]`` is one, ``benchmark["Bibtex", "Ours", "P@5"]`` a value.

    ``str(benchmark)`` is the table; it is written in other forms by ``to_json``, ``to_csv``, ``to_markdown``,
    ``to_latex``, ``to_dict`` and ``to_frame``, and drawn by ``plot``.

    Attributes
    ----------
    datasets : tuple of DatasetOutcome
    systems : tuple of str
        In the order of the file, published ones included.
    measures : tuple of Measure
        The columns.
    testing : Testing
    published : mapping of str to str
        The systems whose values are published ones, which are not tested, and where they were published.
    file : str
        The file that describes it; empty for a dict.
    gates : tuple of GateOutcome
        Whether each gate passed.
    version : str
        The version of xmceval that made it.
    """

    datasets: tuple[DatasetOutcome, ...]
    systems: tuple[str, ...]
    measures: tuple[Measure, ...]
    testing: Testing
    published: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    gates: tuple[GateOutcome, ...] = ()
    version: str = VERSION

    @overload
    def __getitem__(self, key: str) -> Comparison: ...
    @overload
    def __getitem__(self, key: tuple[str, str, str]) -> float: ...
    def __getitem__(self, key: str | tuple[str, str, str]) -> Comparison | float:
        by_name = {dataset.name: dataset for dataset in self.datasets}
        name = key[0] if isinstance(key, tuple) and len(key) == 3 else key
        if isinstance(name, tuple):
            raise KeyError(f"{key!r} is not a data set, or a data set, a system and a metric")
        if name not in by_name:
            raise KeyError(f"{name!r} is not one of the data sets {listed(by_name)}")
        if isinstance(key, tuple):
            return self._find_value(by_name[name], key[1], find_name(key[2], self.measures))
        comparison = by_name[name].comparison
        if comparison is None:
            raise KeyError(f"{name}: {by_name[name].why}")
        return comparison

    def __iter__(self) -> Iterator[str]:
        return (dataset.name for dataset in self.datasets if dataset.comparison is not None)

    def __len__(self) -> int:
        return sum(dataset.comparison is not None for dataset in self.datasets)

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
        frame: DataFrame = import_module("xmceval.benchmarks.records").make_frame(self, bins=bins)
        return frame

    def plot(self, *, metrics: str | Iterable[str] | None = None) -> Picture:
        """Draw the values of systems by data set, a panel per metric; needs matplotlib.

        Parameters
        ----------
        metrics : str or iterable of str, optional
            Only these, such as ``"P@5"``.

        Returns
        -------
        matplotlib.figure.Figure
            ``figure.savefig(path)`` writes it.

        Raises
        ------
        UsageError
            Metrics that are no columns.
        DataError
            matplotlib is not installed, or no data set has values.
        """
        check_installed()
        drawn: Picture = import_module("xmceval.benchmarks.picture").draw_benchmark(self, metrics=metrics)
        return drawn

    def count_cells(self) -> dict[str, int]:
        """Return how many systems on data sets have each status."""
        statuses = [dataset.find_status(system) for dataset in self.datasets for system in self.systems]
        return {status: statuses.count(status) for status in STATUSES}

    def _find_value(self, dataset: DatasetOutcome, system: str, metric: str) -> float:
        if system not in self.systems:
            raise KeyError(f"{system!r} is not one of the systems {listed(self.systems)}")
        values = {figure.name: figure.estimate.value for figure in dataset.list_figures(system, self.measures)}
        if metric in values:
            return values[metric]
        if values:
            raise KeyError(f"{dataset.name}, {system}: no value of {metric}; there is {listed(values)}")
        reason = f"missing: {dataset.missing[system]}" if system in dataset.missing else dataset.why
        raise KeyError(f"{dataset.name}, {system}: {reason.removesuffix(': ')}")

    def _render(self, form: str, layout: Layout) -> str:
        return str(import_module("xmceval.benchmarks.render").render_benchmark(form, self, layout))

    def _describe(self) -> tuple[str, str]:
        cells = (f"{n:,} {status}" for status, n in self.count_cells().items() if n)
        what = f"{counted(len(self.systems), 'system')} on {counted(len(self.datasets), 'data set')}"
        example = shorten(next(iter(self), self.datasets[0].name))
        more = f'print() shows the table, ["{example}"] one Comparison, .to_frame() all'
        return join_facts(f"Benchmark of {what}", cells), more
