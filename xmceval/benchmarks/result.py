"""The Benchmark class that `benchmark` returns, and its table as a sheet, which report/forms lays out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby, product
from statistics import fmean
from typing import TYPE_CHECKING, overload

from xmceval.comparison.comparison import Comparison, record_comparison
from xmceval.comparison.options import Testing
from xmceval.comparison.sheet import describe_runs, describe_tests, find_signs, mark_against, mark_best, settle_runs
from xmceval.errors import UsageError, counted, listed
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import find_name
from xmceval.report.forms import load_form
from xmceval.report.forms.data import Record, make_frame, pick
from xmceval.report.pictures import check_installed
from xmceval.report.records import VALUE_COLUMNS, VALUE_TYPES, list_values, record_figure, record_gates, record_measure
from xmceval.report.renderable import Tabular, join_facts, shorten
from xmceval.report.result import Result
from xmceval.report.score_sheet import Signs, SystemLine, describe_propensities, explain_direction, make_section
from xmceval.report.scored import GateOutcome, describe_size, shared_lines
from xmceval.report.sheet import DEFAULT, NO_VALUE, PUBLISHED_SIGN, Cell, Layout, Row, Section, Sheet
from xmceval.rows.nouns import OF_LABELS, OF_QUERIES, Nouns
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.options import specs
from xmceval.scoring.summary import Slice, Value
from xmceval.version import BENCHMARK_SCHEMA, VERSION

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from pandas import DataFrame

NUMBER = frozenset({"is", "are", "has", "have"})  # words that differ between singular and plural
MEAN = "mean"
OVER = "mean over data sets"  # in the place of a data set's name
MOST_GAPS = 3  # missing files that are named below a table
# Status of one system on one data set: "error" means that its files exist and could not be scored.
STATUSES = SCORED, PUBLISHED, MISSING, FAILED = ("scored", "published", "missing", "error")


@dataclass(frozen=True)
class DatasetOutcome:
    """A data set of a benchmark.

    The comparison covers the systems with predictions that could be scored; it has no differences if there is only one
    system or the baseline is missing, and is None if the data set, or each of its systems, failed.
    """

    name: str
    comparison: Comparison | None
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # values by system and metric
    missing: Mapping[str, str] = field(default_factory=dict)  # by system, why it has no values
    failed: Mapping[str, str] = field(default_factory=dict)  # by system, why its files could not be scored
    notes: tuple[str, ...] = ()  # such as the columns that it lacks, and why
    why: str = ""  # the whole data set failed, or, where it was scored, the metrics of training labels

    @property
    def systems(self) -> Mapping[str, Result]:
        """The results of the systems that were scored."""
        return {} if self.comparison is None else self.comparison.systems

    @property
    def scored(self) -> tuple[Result, ...]:
        """The results of these systems and their runs; the first one has what all share, such as bins and nouns."""
        return () if self.comparison is None else self.comparison.results

    def find_status(self, system: str) -> str:
        """Return the status of a system, one of STATUSES."""
        if system in self.missing:
            return MISSING
        if system in self.published:
            return PUBLISHED
        if self.comparison is None or system in self.failed:
            return FAILED
        return SCORED

    def list_failures(self) -> list[str]:
        """Return why the data set, or systems on it, failed, one line for each mistake."""
        of_systems = [f"{system}: {line}" for system, why in self.failed.items() for line in why.splitlines()]
        return [*self.why.splitlines(), *of_systems]

    def list_figures(self, system: str, measures: Iterable[Measure]) -> tuple[Value, ...]:
        """Return the figures of a system: computed, means over runs, or published."""
        if system in self.systems:
            return self.systems[system].figures
        values = self.published.get(system, {})
        return tuple(Value(measure, Estimate(values[measure.name])) for measure in measures if measure.name in values)


def shared_nouns(datasets: Iterable[DatasetOutcome]) -> Nouns:
    """Return what rows and labels of a benchmark are called: queries and documents where all data sets have them."""
    nouns = {result.nouns for dataset in datasets for result in dataset.scored}
    if nouns == {OF_QUERIES}:
        return OF_QUERIES
    return OF_LABELS


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Tabular, Mapping[str, Comparison]):
    """Comparisons by data set: ``benchmark["Bibtex"]`` is one, ``benchmark["Bibtex", "Ours", "P@5"]`` a value.

    ``str(benchmark)`` is the table; it is written in other forms by ``to_json``, ``to_csv``, ``to_markdown``,
    ``to_latex``, ``to_dict`` and ``to_frame``, and drawn by ``plot``.

    Attributes
    ----------
    datasets : tuple of DatasetOutcome
    systems : tuple of str
        In the order of the file, including published systems.
    measures : tuple of Measure
        The columns.
    testing : Testing
    published : mapping of str to str
        The sources of published values, by system; such systems are not tested.
    file : str
        The file that describes the benchmark; empty for a dict.
    gates : tuple of GateOutcome
        Whether each gate passed.
    version : str
        The version of xmceval that computed it.
    """

    datasets: tuple[DatasetOutcome, ...]
    systems: tuple[str, ...]
    measures: tuple[Measure, ...]
    testing: Testing
    published: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    gates: tuple[GateOutcome, ...] = ()
    version: str = VERSION

    _columns = ("dataset", *VALUE_COLUMNS, "n_runs", "sd", "mark")

    @overload
    def __getitem__(self, key: str) -> Comparison: ...
    @overload
    def __getitem__(self, key: tuple[str, str, str]) -> float: ...
    def __getitem__(self, key: str | tuple[str, str, str]) -> Comparison | float:
        by_name = {dataset.name: dataset for dataset in self.datasets}
        name = key
        if isinstance(key, tuple) and len(key) == 3:
            name = key[0]
        if isinstance(name, tuple):
            raise KeyError(f"{key!r} is not a data set, or a data set, a system and a metric")
        if name not in by_name:
            raise KeyError(f"{name!r} is not one of the data sets {listed(by_name)}")
        if isinstance(key, tuple):
            return self._find_value(by_name[name], key[1], find_name(key[2], self.measures))
        comparison = by_name[name].comparison
        if comparison is None:
            raise KeyError(f"{name}: {'; '.join(by_name[name].list_failures())}")
        return comparison

    def __iter__(self) -> Iterator[str]:
        return (dataset.name for dataset in self.datasets if dataset.comparison is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @cached_property
    def means(self) -> dict[str, dict[str, float]]:
        """By system and metric, the mean over all data sets with a comparison, if it has a value on each of several."""
        means: dict[str, dict[str, float]] = {system: {} for system in self.systems}
        if len(self) > 1:
            for system, measure in product(self.systems, self.measures):
                with suppress(KeyError):  # a data set lacks a value
                    means[system][measure.name] = fmean(self[name, system, measure.name] for name in self)
        return means

    def _sheet(self, layout: Layout, *, is_joined: bool = False) -> Sheet:
        """Build the table with sections by bin of labels and data set, or joined with data sets as columns."""
        layout = settle_runs(layout.settle(shared_nouns(self.datasets)), self.values())
        mark = mark_against
        if self.testing.against is None:
            mark = mark_best
        signs = {name: mark(comparison, layout) for name, comparison in self.items()}
        by_bin: dict[str, dict[str, Section]] = {"": {}}  # then by data set
        for dataset in self.datasets:
            marks = signs.get(dataset.name, Signs())
            by_bin[""][dataset.name] = _make_section(self, dataset, layout, marks)
            for result in dataset.scored[:1]:
                for part in result.slices:
                    section = _make_section(self, dataset, layout, marks, part)
                    by_bin.setdefault(part.bin.name, {})[dataset.name] = section
        if any(self.means.values()):
            # These rows are like those of published values.
            section = _make_section(self, DatasetOutcome(MEAN, None, self.means), layout, Signs())
            by_bin[""][OVER] = replace(section, title=OVER)
        sections = [section for of_bin in by_bin.values() for section in of_bin.values()]
        propensities = {name: describe_propensities(comparison.results[0]) for name, comparison in self.items()}
        about = [f"{name}: {words}" for name, words in propensities.items() if words]
        heads: dict[str, tuple[str, str]] = {}
        if is_joined:
            about = [" · ".join(filter(None, [by_bin[""][name].title, words])) for name, words in propensities.items()]
            about += [section.title for section in sections[len(by_bin[""]) :]]
            places = [(name, measure.name) for name in by_bin[""] for measure in self.measures]
            heads = {f"{name} {metric}": (MEAN if name == OVER else name, metric) for name, metric in places}
            sections = [_join_datasets(bin_name, of_bin) for bin_name, of_bin in by_bin.items()]
        n_marks = sum(len(of_dataset.marks) for of_dataset in signs.values())
        groups = [name for name, _ in heads.values()] or [measure.head for measure in self.measures]
        below = [*_describe_gaps(self), *about]
        if not layout.is_quiet:
            below.extend(by_kind(list_lines(self, "facts"), self))
        return Sheet(
            above=(),
            columns=tuple(heads or [measure.name for measure in self.measures]),
            sections=tuple(sections),
            below=tuple(below),
            layout=layout,
            notes=tuple(_explain_signs(self, n_marks, layout)),
            groups=tuple(len(list(same)) for _, same in groupby(groups)),
            is_grouped=True,
            heads=heads,
        )

    def _render(self, form: str, layout: Layout = DEFAULT) -> str:
        """Write the benchmark in one of the FORMS; by default only a plain table with room has intervals.

        Data sets with the same metrics are columns if a line has room for two; Markdown and HTML, which have lines of
        any length, show them one below the other.
        """
        if form in {"json", "csv"}:
            return super()._render(form, layout)
        if layout.transpose:
            raise UsageError("transpose=True is not available for a benchmark")
        drawing = load_form(form)
        layout = settle_runs(layout, self.values())
        narrow = replace(layout, intervals=bool(layout.intervals))
        candidates = []  # layouts, joined or not, with at most so many blocks of columns
        has_same_metrics = all(
            {figure.measure for figure in comparison.results[0].figures} == set(self.measures)
            for comparison in self.values()
        )
        if form in {"table", "latex"} and len(self.datasets) > 1 and has_same_metrics:
            n_groups = len(self.datasets) + any(self.means.values())
            candidates = [(narrow, True, (n_groups + 1) // 2)]  # two data sets in each
        if form == "table" and layout.intervals is None:
            wide = replace(layout, intervals=True)
            candidates = [*((wide, is_joined, 1) for _, is_joined, _ in candidates), *candidates, (wide, False, 1)]
        for how, is_joined, most in candidates:
            sheet = self._sheet(how, is_joined=is_joined)
            if drawing.count_blocks(sheet) <= most:
                return str(drawing.draw(sheet))
        return str(drawing.draw(self._sheet(narrow)))

    def _records(self) -> Record:
        """Return the benchmark as a document for JSON."""
        return {
            "schema": BENCHMARK_SCHEMA,
            "version": self.version,
            "file": self.file or None,
            **pick(self.testing, specs(Testing)),
            "metrics": [measure.name for measure in self.measures],
            "systems": [{"name": name, "source": self.published.get(name) or None} for name in self.systems],
            "datasets": [
                {
                    "name": dataset.name,
                    "why": dataset.why or None,
                    "cells": [
                        {
                            "system": name,
                            "status": dataset.find_status(name),
                            "why": dataset.missing.get(name) or dataset.failed.get(name) or None,
                        }
                        for name in self.systems
                    ],
                    "published": [{"system": name, "metrics": values} for name, values in dataset.published.items()],
                    "notes": dataset.notes,
                    "comparison": None if dataset.comparison is None else record_comparison(dataset.comparison),
                }
                for dataset in self.datasets
            ],
            "means": [{"system": name, "metrics": values} for name, values in self.means.items()],
            **record_gates(self.gates),
        }

    def _lines(self) -> Iterator[Record]:
        """Yield a record per value, data set by data set, with published values last in each."""
        nouns = shared_nouns(self.datasets)
        for dataset in self.datasets:
            if dataset.comparison is not None:
                yield from ({**line, "dataset": dataset.name} for line in _list_computed(dataset.comparison))
            for system in dataset.published:
                for figure in dataset.list_figures(system, self.measures):
                    place = {"dataset": dataset.name, "system": system, "bin": "", "kind": PUBLISHED}
                    of_figure = {**record_figure(figure, nouns), **record_measure(figure.measure)}
                    yield {**of_figure, **place, "n_runs": None, "sd": None}

    def to_frame(self, *, bins: bool = False) -> DataFrame:
        """Return the values as a pandas DataFrame, indexed by dataset, metric, k and system.

        Parameters
        ----------
        bins : bool
            Include the values in bins of labels, with the level ``bin``, empty for all labels.

        Returns
        -------
        pandas.DataFrame
            Columns kind (total, share, average or published), value, low, high, tie_low, tie_high and ceiling;
            cells without a value are missing. Shares are fractions of 1.

        Raises
        ------
        DataError
            pandas is not installed.
        """
        columns = {"kind": "", **VALUE_TYPES, "n_runs": "Int64", "sd": "float64"}
        return make_frame(self._lines(), ["system"], columns, bins=bins, outer=["dataset"])

    def plot(self, *, metrics: str | Iterable[str] | None = None) -> Picture:
        """Draw the values of systems by data set, with one panel per metric; needs matplotlib.

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
            Metrics that are not columns.
        DataError
            matplotlib is not installed, or no data set has values.
        """
        check_installed()
        picture: Picture = load_form("benchmark").draw_benchmark(self, metrics)
        return picture

    def count_cells(self) -> dict[str, int]:
        """Return how many cells (a system on a data set) have each status."""
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
        reason = dataset.failed.get(system, dataset.why)
        if system in dataset.missing:
            reason = f"missing: {dataset.missing[system]}"
        raise KeyError(f"{dataset.name}, {system}: {reason.removesuffix(': ')}")

    def _describe(self) -> tuple[str, str]:
        cells = (f"{n:,} {status}" for status, n in self.count_cells().items() if n)
        what = f"{counted(len(self.systems), 'system')} on {counted(len(self.datasets), 'data set')}"
        example = shorten(next(iter(self), self.datasets[0].name))
        more = f'print() shows the table, ["{example}"] one Comparison, .to_frame() all'
        return join_facts(f"Benchmark of {what}", cells), more


def _list_computed(comparison: Comparison) -> Iterator[Record]:
    """Yield a record for each value of the systems on a data set, which is the mean over runs."""
    names_of_runs = {runs.name: runs.results for runs in comparison.runs}
    files = {result.name: result.scores for result in comparison.results}
    for name, result in comparison.systems.items():
        runs = names_of_runs.get(name, (name,))
        for line in list_values([result]):
            marks = comparison.marks(name, line["bin"]) or {}
            yield {
                **line,
                "n_runs": len(runs),
                "mark": marks.get(line["name"]),
                "scores": ", ".join(files[run] for run in runs),
            }


def _join_datasets(bin_name: str, sections: Mapping[str, Section]) -> Section:
    """Join the rows of data sets over all labels, or within a bin of labels, to rows with columns for all of them."""
    joined: dict[tuple[str, str | None], dict[str, Cell]] = {}
    for dataset, section in sections.items():
        for row in section.rows:
            cells = joined.setdefault((row.head, row.ceiling_of), {})
            cells.update((f"{dataset} {name}", cell) for name, cell in row.cells.items())
    rows = (Row(head, cells, ceiling_of) for (head, ceiling_of), cells in joined.items())
    return Section(bin_name, tuple(rows), bin_name)


def _make_section(
    benchmark: Benchmark, dataset: DatasetOutcome, layout: Layout, signs: Signs, part: Slice | None = None
) -> Section:
    """Make the rows of all systems on a data set, or within a bin of its labels, where nothing is published."""
    bin_name = ""
    name = dataset.name
    sizes = [size for result in dataset.scored[:1] for size in describe_size(result)]
    title = " · ".join([name, *sizes])
    systems = benchmark.systems
    if part is not None:
        bin_name = part.bin.name
        title = f"{name}, {part.bin.describe('', shared_nouns([dataset]))}"
        name = f"{name}, {bin_name}"
        systems = tuple(system for system in systems if system not in benchmark.published)
    lines = list[SystemLine]()
    for system in systems:
        by_bin = {"": dataset.list_figures(system, benchmark.measures)}
        if system in dataset.systems:
            by_bin |= dataset.systems[system].by_bin
        shown = system
        if system in benchmark.published:
            shown = f"{system} {layout.sign(PUBLISHED_SIGN)}"
        lines.append(SystemLine(system, by_bin, shown=shown))
    section = make_section(lines, layout, signs, bin_name=bin_name, title=title)
    columns = [measure.name for measure in benchmark.measures]
    if part is not None:
        columns = section.columns_with_values(columns)
    rows = list(section.rows)  # systems, then the ceiling
    for place, system in enumerate(systems):
        blank = layout.sign(NO_VALUE)
        if dataset.find_status(system) == FAILED:
            blank = FAILED
        rows[place] = replace(rows[place], cells={**dict.fromkeys(columns, Cell(blank)), **rows[place].cells})
    return replace(section, rows=tuple(rows), name=name)


def _explain_signs(benchmark: Benchmark, n_marks: int, layout: Layout) -> Iterator[str]:
    """Explain for which metrics lower is better, the marks and their tests, and published values."""
    yield from explain_direction(benchmark.measures)
    yield from describe_runs(benchmark.values(), layout)
    yield from _explain_means(benchmark)
    tests = [
        (name, difference.bin, difference.measure)
        for name, comparison in benchmark.items()
        for difference in comparison.differences
        if difference.p is not None
    ]
    if tests:
        better, worse = find_signs(layout).values()
        against = benchmark.testing.against
        best = "best of the tested systems" if benchmark.published else "best"
        if against is None:
            n = counted(len(set(tests)), "best value")
            yield f"{better} {best}, and significantly better than the second: {n_marks} of {n}"
        else:
            yield f"{better} better, {worse} worse than {against}: {n_marks} of {counted(len(tests), 'test')}"
        yield from describe_tests(benchmark.testing, benchmark)
    if benchmark.published:
        published = "published"
        sources = "; ".join(f"{name}: {source}" for name, source in benchmark.published.items() if source)
        if sources:
            published = f"published ({sources})"
        yield f"{layout.sign(PUBLISHED_SIGN)} {published}: not tested, but may be best or second"


def _explain_means(benchmark: Benchmark) -> Iterator[str]:
    """Say over which data sets means are, if not over all, and which systems lack some."""
    lacking = [name for name, values in benchmark.means.items() if len(values) < len(benchmark.measures)]
    if any(benchmark.means.values()):
        if len(benchmark) < len(benchmark.datasets):
            yield f"{MEAN} over {listed(benchmark)}"
        if lacking:
            yield f"no {MEAN} where a data set lacks a value: {listed(lacking)}"


def _describe_gaps(benchmark: Benchmark) -> Iterator[str]:
    """Say what failed, which data sets lack training labels for columns or bins, and what is not tested."""
    yield from (f"{FAILED}: {line}" for line in list_failures(benchmark))
    for dataset in benchmark.datasets:
        if dataset.notes and dataset.comparison is not None:
            yield f"{dataset.name}: {'; '.join(dataset.notes)}"
    gaps = [
        f"{system}: {why}"
        for dataset in benchmark.datasets
        for system, why in dataset.missing.items()
        if why.startswith("no file ")  # and not where none is named
    ]
    if gaps:
        line = f"missing: {'; '.join(gaps[:MOST_GAPS])}"
        if len(gaps) > MOST_GAPS:
            line += f" (and {len(gaps) - MOST_GAPS:,} more)"
        yield line
    against = benchmark.testing.against
    untested = [name for name, comparison in benchmark.items() if against not in (None, *comparison.systems)]
    if untested:
        yield f"not tested on {listed(untested)}: {against} has no values there"


def list_failures(benchmark: Benchmark) -> Iterator[str]:
    """Yield why data sets, or systems on them, failed."""
    for dataset in benchmark.datasets:
        yield from (f"{dataset.name}: {line}" for line in dataset.list_failures())


def list_lines(benchmark: Benchmark, kind: str) -> Iterator[str]:
    """Yield the doubts, facts or notes on data sets and their systems."""
    for name, comparison in benchmark.items():
        lines = (*getattr(comparison, kind, ()), *shared_lines(comparison.results, kind))
        yield from (f"{name}: {line}" for line in dict.fromkeys(lines))


def by_kind(lines: Iterable[str], benchmark: Benchmark, hint: str = "") -> Iterator[str]:
    """Yield the first line of each kind, and the number of others that differ only in numbers and names."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    ignored = {*NUMBER, *benchmark.systems, *(dataset.name for dataset in benchmark.datasets)}
    for line in lines:
        words = re.findall(r"(?<![^\s(])[a-z]+(?![^\s,;:.)])", line)
        kind = (word.removesuffix("s") for word in words if word not in ignored)
        kinds.setdefault(tuple(kind), []).append(line)
    for first, *others in kinds.values():
        if others:
            yield f"{first} (and {len(others):,} more of this kind{hint})"
        else:
            yield first
