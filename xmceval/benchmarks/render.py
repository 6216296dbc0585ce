"""The table of a benchmark: data sets as groups of systems, and below it what is missing and how values came about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from itertools import groupby

from xmceval.benchmarks import records
from xmceval.benchmarks.outcome import FAILED, MISSING, Benchmark, DatasetOutcome
from xmceval.errors import UsageError, argument, counted, listed, names_flags
from xmceval.labels.propensity import Propensities
from xmceval.report.comparison import RunsOf
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.forms.registry import MODULES
from xmceval.report.result import describe_size
from xmceval.report.sheet.bounds import describe_worst_tie
from xmceval.report.sheet.model import ASCII_SIGNS, NO_VALUE, PUBLISHED_SIGN, Cell, Section, Sheet
from xmceval.report.sheet.scoresheet import explain_bins, list_options
from xmceval.report.sheet.significance import describe_tests, find_signs, mark_against, mark_best
from xmceval.report.sheet.systemtable import Signs, SystemLine, explain_table, make_section
from xmceval.report.sheet.verdicts import describe_level
from xmceval.statistics.intervals import FEW_ROWS, FEWEST_ROWS


def render_benchmark(form: str, benchmark: Benchmark, layout: Layout = DEFAULT) -> str:
    """Write a benchmark in one of the FORMS, or as html; by default only a plain table that fits has intervals."""
    if form == "json":
        return records.write_json(benchmark)
    if form == "csv":
        return records.write_csv(benchmark)
    if layout.transpose:
        raise UsageError(f"{argument('transpose', True)} is not available for a benchmark")
    module = import_module(MODULES[form])
    may_fit = form == "table" and layout.intervals is None
    settled = replace(layout.settle(form), intervals=may_fit or bool(layout.intervals))
    sheet = build_benchmark_sheet(benchmark, settled)
    if may_fit and sheet.has_intervals and (width := module.measure_width(sheet)) > layout.width:
        sheet = build_benchmark_sheet(benchmark, replace(settled, intervals=False))
        words = f"intervals would make the table {width} columns wide (hint: pass {argument('intervals', True)})"
        sheet = replace(sheet, notes=(*sheet.notes, *([words] if names_flags() else [])))
    return str(module.draw(sheet))


def build_benchmark_sheet(benchmark: Benchmark, layout: Layout = DEFAULT) -> Sheet:
    """Build the sheet of a benchmark: all labels of each data set, then each bin of labels."""
    signs = {dataset.name: _mark(benchmark, dataset, layout) for dataset in benchmark.datasets}
    bins = {dataset.name: _find_bins(dataset) for dataset in benchmark.datasets}
    groups = [(dataset, "", "") for dataset in benchmark.datasets]
    for name in dict.fromkeys(name for titles in bins.values() for name in titles):
        groups += [
            (dataset, name, bins[dataset.name][name]) for dataset in benchmark.datasets if name in bins[dataset.name]
        ]
    n_marks = sum(len(signs[name].marks) for name in signs)
    return Sheet(
        above=(),
        columns=tuple(measure.name for measure in benchmark.measures),
        sections=tuple(
            _make_group(benchmark, dataset, layout, signs[dataset.name], bin_name, title)
            for dataset, bin_name, title in groups
        ),
        below=tuple(_describe(benchmark, layout)),
        layout=layout,
        notes=tuple(_explain_signs(benchmark, n_marks, layout)),
        groups=tuple(len(list(measures)) for _, measures in groupby(benchmark.measures, lambda measure: measure.head)),
        is_grouped=True,
    )


def _mark(benchmark: Benchmark, dataset: DatasetOutcome, layout: Layout) -> Signs:
    if dataset.comparison is None:
        return Signs()
    mark = mark_best if benchmark.testing.against is None else mark_against
    return mark(dataset.comparison, layout)


def _find_bins(dataset: DatasetOutcome) -> dict[str, str]:
    """Return the bins of labels of a data set by name, with their descriptions."""
    results = () if dataset.comparison is None else dataset.comparison.results
    return {part.bin.name: part.bin.describe() for result in results for part in result.slices}


def _make_group(
    benchmark: Benchmark, dataset: DatasetOutcome, layout: Layout, signs: Signs, bin_name: str, bin_title: str
) -> Section:
    """Make the rows of all systems on a data set, or within a bin of its labels, which published ones lack."""
    systems = [name for name in benchmark.systems if not (bin_name and name in benchmark.published)]
    lines = [_make_line(benchmark, dataset, name, layout) for name in systems]
    section = make_section(lines, layout, signs, bin_name=bin_name)
    columns = [measure.name for measure in benchmark.measures if not bin_name or section.rows_with([measure.name])]
    rows = list(section.rows)  # of the systems, and of the ceiling
    for place, name in enumerate(systems):
        has_failed = dataset.find_cell(name).status == FAILED
        blank = dict.fromkeys(columns, Cell(FAILED if has_failed else _show_sign(NO_VALUE, layout)))
        rows[place] = replace(rows[place], cells={**blank, **rows[place].cells})
    size = () if dataset.comparison is None else describe_size(dataset.comparison.results[0].counts)
    title = f"{dataset.name}, {bin_title}" if bin_name else " · ".join([dataset.name, *size])
    return Section(title, tuple(rows), f"{dataset.name}, {bin_name}" if bin_name else dataset.name)


def _make_line(benchmark: Benchmark, dataset: DatasetOutcome, system: str, layout: Layout) -> SystemLine:
    result = None if dataset.comparison is None else dataset.comparison.systems.get(system)
    figures = dataset.list_figures(system, benchmark.measures)
    slices = () if result is None else result.slices
    return SystemLine(system, figures, slices, shown=_show_system(benchmark, system, layout))


def _show_sign(sign: str, layout: Layout) -> str:
    """Return a sign, or what stands for it where the output has no such signs."""
    return sign if layout.is_unicode else ASCII_SIGNS[sign]


def _show_system(benchmark: Benchmark, system: str, layout: Layout) -> str:
    """Return the name of a system, with a sign after that of a published one."""
    return f"{system} {_show_sign(PUBLISHED_SIGN, layout)}" if system in benchmark.published else system


def _explain_signs(benchmark: Benchmark, n_marks: int, layout: Layout) -> Iterator[str]:
    """Explain which metrics are better where they are lower, the marks and their tests, and published values."""
    yield from explain_table({measure.name: measure for measure in benchmark.measures}, Signs())
    comparisons = list(benchmark.values())
    if any(difference.p is not None for comparison in comparisons for difference in comparison.differences):
        yield _explain_marks(benchmark, n_marks, layout)
        yield from describe_tests(benchmark.testing, comparisons)
    if benchmark.published:
        sources = [f"{name}: {source}" for name, source in benchmark.published.items() if source]
        places = f" ({'; '.join(sources)})" if sources else ""
        yield f"{_show_sign(PUBLISHED_SIGN, layout)} published{places}: not tested, but may be best or second"


def _explain_marks(benchmark: Benchmark, n_marks: int, layout: Layout) -> str:
    """Explain the marks of significant differences, and count them."""
    comparisons, against = list(benchmark.values()), benchmark.testing.against
    tests = [
        (place, difference.bin, difference.measure)
        for place, comparison in enumerate(comparisons)
        for difference in comparison.differences
        if difference.p is not None
    ]
    better, worse = find_signs(layout).values()
    level = describe_level(comparisons[0])
    if against is not None:
        return f"{better} better, {worse} worse than {against}, {level}: {n_marks} of {counted(len(tests), 'test')}"
    words = f"{better} the best tested system is significantly better than the second"
    return f"{words}, {level}: {n_marks} of {counted(len(set(tests)), 'best value')}"


def _describe(benchmark: Benchmark, layout: Layout) -> Iterator[str]:
    """Describe what is missing, and how the values came about, one line for each kind."""
    yield from _describe_gaps(benchmark, layout)
    notes = _by_text((note, dataset.name) for dataset in benchmark.datasets for note in dataset.notes)
    for note, datasets in notes.items():
        yield note if len(datasets) == len(benchmark.datasets) else f"{listed(datasets)}: {note}"
    yield from _describe_runs(benchmark, layout)
    yield from explain_bins([result for comparison in benchmark.values() for result in comparison.results])
    yield from _describe_propensities(benchmark)
    yield from _describe_options(benchmark)
    yield from _describe_cautions(benchmark) if layout.intervals else ()
    results = {
        f"{name}, {result.name}": result for name, comparison in benchmark.items() for result in comparison.results
    }
    tie = describe_worst_tie(results, layout)
    yield from [tie] if tie else []


def _by_text(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return texts with the data sets, or systems, to which each applies."""
    names: dict[str, list[str]] = {}
    for text, name in pairs:
        names.setdefault(text, []).append(name)
    return names


def _share(pairs: Iterable[tuple[str, str]], n: int) -> list[str]:
    """Return each text, followed by the data sets to which it applies unless it is all `n`."""
    return [text if len(names) == n else f"{text} ({listed(names)})" for text, names in _by_text(pairs).items()]


def _describe_gaps(benchmark: Benchmark, layout: Layout) -> Iterator[str]:
    """Yield why cells are missing, which data sets failed, and where there is no baseline."""
    gaps: dict[tuple[str, str], list[str]] = {}
    for dataset in benchmark.datasets:
        missing = [cell for cell in dataset.cells if cell.status == MISSING]
        whys = _by_text((cell.why, _show_system(benchmark, cell.system, layout)) for cell in missing)
        for why, names in whys.items():
            gaps.setdefault((listed(names), why), []).append(dataset.name)
    for (systems, why), datasets in gaps.items():
        yield f"{MISSING}: {systems} on {listed(datasets)}{f': {why}' if why else ''}"
    for dataset in benchmark.datasets:
        if dataset.why:
            yield f"{FAILED}: {dataset.name}: {'; '.join(dataset.why.splitlines())}"
    against = benchmark.testing.against
    untested = [name for name, comparison in benchmark.items() if against not in (None, *comparison.systems)]
    if untested:
        yield f"not tested on {listed(untested)}: {against} has no values there"


def _describe_runs(benchmark: Benchmark, layout: Layout) -> Iterator[str]:
    """Say of which systems values are means over runs, and how far these are apart."""
    by_system: dict[str, list[RunsOf]] = {}
    for comparison in benchmark.values():
        for runs in comparison.runs:
            by_system.setdefault(runs.name, []).append(runs)
    for name, several in by_system.items():
        numbers = sorted({len(runs.results) for runs in several})
        n = f"{numbers[0]} to {numbers[-1]} runs" if len(numbers) > 1 else counted(numbers[0], "run")
        spreads = [spread for runs in several for spread in runs.spreads]
        shares = [spread for spread in spreads if spread.measure.metric.unit == "share"]
        by_size = sorted(shares or spreads, key=lambda spread: spread.sd)
        least, most = (layout.format(spread.measure, spread.sd) for spread in (by_size[0], by_size[-1]))
        sd = least if least == most else f"{least} to {most}"
        yield f"{name}: mean of {n}, sd over runs {sd}{' points' if shares and layout.percent else ''}"


def _describe_propensities(benchmark: Benchmark) -> Iterator[str]:
    """Describe the constants and sources of propensities, once where data sets share them."""
    propensities = {name: comparison.results[0].propensities for name, comparison in benchmark.items()}
    sources = [(_name_source(source), name) for name, source in propensities.items() if source is not None]
    if sources:
        yield f"propensities: {', '.join(_share(sources, len(sources)))}"


def _name_source(propensities: Propensities) -> str:
    if propensities.n is None:
        return "1/p as passed"
    source = "truth itself" if propensities.from_truth else "training labels"
    return f"A={propensities.a:g} B={propensities.b:g} from the {source} of each data set"


def _describe_options(benchmark: Benchmark) -> Iterator[str]:
    """Describe the options of scoring in one line: with the data sets that they are for, unless it is all."""
    options = [
        (text, name)
        for name, comparison in benchmark.items()
        for text in list_options(comparison.results[0])
        if text.casefold() != f"dataset={name}".casefold()
    ]
    if options:
        yield f"options: {' · '.join(_share(options, len(benchmark)))}"


def _describe_cautions(benchmark: Benchmark) -> Iterator[str]:
    """Say which intervals may be off, and why: one line for each reason."""
    places: dict[str, list[tuple[str, str, str]]] = {}
    for name, comparison in benchmark.items():
        for result in comparison.systems.values():
            for figure in result.figures:
                if figure.estimate.caution is not None:
                    places.setdefault(figure.estimate.caution, []).append((name, result.name, figure.name))
    for caution, values in places.items():
        if caution == FEW_ROWS:
            datasets = listed(dict.fromkeys(name for name, *_ in values))
            yield f"caution: the intervals of {datasets} are from fewer than {FEWEST_ROWS} instances"
        else:
            (dataset, system, metric), *others = values
            more = f" and {counted(len(others), 'other value')}" if others else ""
            value = f"{metric} of {system} on {dataset}{more}"
            yield f"caution: a single instance carries more than a fifth of the variance of {value}"
