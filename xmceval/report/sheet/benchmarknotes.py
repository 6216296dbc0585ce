"""Notes of a benchmark: its signs, what is missing and why, and how values came about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xmceval.errors import counted, listed
from xmceval.labels.propensity import Propensities
from xmceval.report.benchmark import FAILED, MISSING, Benchmark
from xmceval.report.comparison import RunsOf
from xmceval.report.forms.layout import Layout
from xmceval.report.sheet.bounds import describe_worst_tie
from xmceval.report.sheet.model import ASCII_SIGNS, PUBLISHED_SIGN
from xmceval.report.sheet.scoresheet import explain_bins, list_options
from xmceval.report.sheet.significance import describe_tests, find_signs
from xmceval.report.sheet.systemtable import Signs, explain_table
from xmceval.report.sheet.verdicts import describe_level
from xmceval.statistics.intervals import FEW_ROWS, FEWEST_ROWS

PUBLISHER = "XMLRepository"
EACH = "each data set"


def show_sign(sign: str, layout: Layout) -> str:
    """Return a sign, or what stands for it where the output has no such signs."""
    return sign if layout.is_unicode else ASCII_SIGNS[sign]


def show_system(benchmark: Benchmark, system: str, layout: Layout) -> str:
    """Return the name of a system, with a sign after that of a published one."""
    return f"{system} {show_sign(PUBLISHED_SIGN, layout)}" if system in benchmark.published else system


def explain_signs(benchmark: Benchmark, signs: Sequence[Signs], layout: Layout) -> Iterator[str]:
    """Explain which metrics are better where they are lower, the marks, how they were tested, and published values."""
    yield from explain_table({each.name: each for each in benchmark.measures}, Signs())
    comparisons = list(benchmark.values())
    if any(each.p is not None for own in comparisons for each in own.differences):
        yield _explain_marks(benchmark, sum(len(each.marks) for each in signs), layout)
        yield from describe_tests(benchmark.testing, comparisons)
    if benchmark.published:
        sign = show_sign(PUBLISHED_SIGN, layout)
        yield f"{sign} published by {PUBLISHER}: not tested, but may be best or second"
    for dataset in benchmark.datasets:
        for name, row in dataset.published.items():
            if row.suspect:
                yield f"suspect: {dataset.name}, {show_system(benchmark, name, layout)}: {row.suspect}"


def _explain_marks(benchmark: Benchmark, n_marked: int, layout: Layout) -> str:
    """Explain the marks of significant differences, and count them."""
    testing, comparisons = benchmark.testing, list(benchmark.values())
    tested = [(i, each) for i, own in enumerate(comparisons) for each in own.differences if each.p is not None]
    better, worse = find_signs(layout).values()
    level = describe_level(comparisons[0])
    if testing.against is not None:
        words = f"{better} better, {worse} worse than {testing.against}"
        return f"{words}, {level}: {n_marked} of {counted(len(tested), 'test')}"
    n_best = len({(i, each.bin, each.measure.name) for i, each in tested})
    words = f"{better} the best tested system is significantly better than the second"
    return f"{words}, {level}: {n_marked} of {counted(n_best, 'best value')}"


def describe_benchmark(benchmark: Benchmark, layout: Layout) -> Iterator[str]:
    """Describe what is missing, and how the values came about, one line for each kind."""
    yield from _describe_gaps(benchmark, layout)
    yield from _share_lines(benchmark, ((each.name, line) for each in benchmark.datasets for line in each.notes))
    yield from _describe_runs(benchmark, layout)
    yield from explain_bins([result for each in benchmark.values() for result in each.results])
    yield from _describe_propensities(benchmark)
    yield from _describe_options(benchmark)
    yield from _describe_cautions(benchmark) if layout.intervals else ()
    results = {f"{name}, {each.name}": each for name, own in benchmark.items() for each in own.results}
    tie = describe_worst_tie(results, layout)
    yield from [tie] if tie else []


def _describe_gaps(benchmark: Benchmark, layout: Layout) -> Iterator[str]:
    """Yield why cells are missing, which could not be scored, and where there is no baseline."""
    gaps: dict[tuple[str, str], list[str]] = {}
    for dataset in benchmark.datasets:
        for why, systems in dataset.group_reasons(MISSING).items():
            names = listed(show_system(benchmark, each, layout) for each in systems)
            gaps.setdefault((names, why), []).append(dataset.name)
    for (missing, why), datasets in gaps.items():
        yield f"{MISSING}: {missing} on {listed(datasets)}{f': {why}' if why else ''}"
    failed = {each.name: [cell.system for cell in each.cells if cell.status == FAILED] for each in benchmark.datasets}
    places = [f"{listed(systems)} on {name}" for name, systems in failed.items() if systems]
    if places:
        yield f"{FAILED}: could not be scored: {'; '.join(places)}"
    against = benchmark.testing.against
    untested = [name for name, own in benchmark.items() if against is not None and against not in own.systems]
    if untested:
        yield f"not tested on {listed(untested)}: {against} has no values there"


def _share_lines(benchmark: Benchmark, lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield each of the lines on data sets once, with the names of these where it is not on all."""
    datasets: dict[str, list[str]] = {}
    for name, line in lines:
        datasets.setdefault(line, []).append(name)
    for line, names in datasets.items():
        yield line if len(names) == len(benchmark.datasets) else f"{listed(names)}: {line}"


def _describe_runs(benchmark: Benchmark, layout: Layout) -> Iterator[str]:
    """Say of which systems values are means over runs, and how far these are apart."""
    systems: dict[str, list[RunsOf]] = {}
    for comparison in benchmark.values():
        for runs in comparison.runs:
            systems.setdefault(runs.name, []).append(runs)
    for name, found in systems.items():
        numbers = sorted({len(each.results) for each in found})
        n = f"{numbers[0]} to {numbers[-1]} runs" if len(numbers) > 1 else counted(numbers[0], "run")
        spreads = [each for runs in found for each in runs.spreads]
        shares = [each for each in spreads if each.measure.metric.unit == "share"]
        by_size = sorted(shares or spreads, key=lambda each: each.sd)
        least, most = (layout.format(each.measure, each.sd) for each in (by_size[0], by_size[-1]))
        spread = least if least == most else f"{least} to {most}"
        yield f"{name}: mean of {n}, sd over runs {spread}{' points' if shares and layout.percent else ''}"


def _describe_propensities(benchmark: Benchmark) -> Iterator[str]:
    """Describe the constants and sources of propensities, once where data sets share them."""
    found = {name: each.results[0].propensities for name, each in benchmark.items()}
    texts: dict[str, list[str]] = {}
    for name, propensities in found.items():
        if propensities is not None:
            texts.setdefault(_name_source(propensities), []).append(name)
    parts = [text if len(texts) == 1 else f"{text} ({listed(names)})" for text, names in texts.items()]
    if parts:
        yield f"propensities: {', '.join(parts)}"


def _name_source(propensities: Propensities) -> str:
    if propensities.n is None:
        return "1/p as passed"
    source = "truth itself" if propensities.from_truth else "training labels"
    return f"A={propensities.a:g} B={propensities.b:g} from the {source} of {EACH}"


def _describe_options(benchmark: Benchmark) -> Iterator[str]:
    """Describe the options of scoring in one line: those of all data sets, then those of some."""
    datasets: dict[str, list[str]] = {}
    for name, each in benchmark.items():
        for text in list_options(each.results[0]):
            if text.casefold() != f"dataset={name}".casefold():
                datasets.setdefault(text, []).append(name)
    n = len(benchmark)
    texts = [text if len(names) == n else f"{text} ({listed(names)})" for text, names in datasets.items()]
    if texts:
        yield f"options: {' · '.join(texts)}"


def _describe_cautions(benchmark: Benchmark) -> Iterator[str]:
    """Say which intervals may be off, and why: of all data sets in one line for each reason."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for name, comparison in benchmark.items():
        for result in comparison.systems.values():
            for figure in result.figures:
                if figure.estimate.caution is not None:
                    found.setdefault(figure.estimate.caution, []).append((name, result.name, figure.name))
    for code, places in found.items():
        if code == FEW_ROWS:
            datasets = dict.fromkeys(name for name, *_ in places)
            yield f"caution: the intervals of {listed(datasets)} are from fewer than {FEWEST_ROWS} instances"
        else:
            (dataset, system, metric), *others = places
            more = f" and {counted(len(others), 'other value')}" if others else ""
            value = f"{metric} of {system} on {dataset}{more}"
            yield f"caution: a single instance carries more than a fifth of the variance of {value}"
