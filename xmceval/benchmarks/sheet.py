"""Build the table of a benchmark, grouped by data set, with a legend and a list of failures below it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from xmceval.benchmarks.outcome import FAILED, DatasetOutcome, Outcome
from xmceval.comparison.sheet import describe_level, describe_tests, find_signs, mark_against, mark_best
from xmceval.errors import counted, listed
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.score_sheet import Signs, SystemLine, explain_direction, make_section
from xmceval.report.scored import describe_size, shared_lines
from xmceval.report.sheet import ASCII_SIGNS, NO_VALUE, PUBLISHED_SIGN, Cell, Section, Sheet
from xmceval.scoring.summary import Slice

NUMBER = frozenset({"is", "are", "has", "have"})  # words that depend on how many there are


def build_benchmark_sheet(benchmark: Outcome, layout: Layout = DEFAULT) -> Sheet:
    """Build the sheet of a benchmark: all labels of each data set, then each bin of labels."""
    mark = mark_best if benchmark.testing.against is None else mark_against
    signs = defaultdict(Signs, {name: mark(comparison, layout) for name, comparison in benchmark.compared})
    of_all_labels = [_make_section(benchmark, dataset, layout, signs[dataset.name]) for dataset in benchmark.datasets]
    in_bins: dict[str, list[Section]] = {}
    for dataset in benchmark.datasets:
        for part in dataset.comparison.results[0].slices if dataset.comparison else ():
            section = _make_section(benchmark, dataset, layout, signs[dataset.name], part)
            in_bins.setdefault(part.bin.name, []).append(section)
    n_marks = sum(len(of_dataset.marks) for of_dataset in signs.values())
    facts = [  # how the input was counted
        f"{name}: {fact}"
        for name, comparison in benchmark.compared
        for fact in (*comparison.facts, *shared_lines(comparison.results, "facts"))
    ]
    return Sheet(
        above=(),
        columns=tuple(measure.name for measure in benchmark.measures),
        sections=(*of_all_labels, *(section for sections in in_bins.values() for section in sections)),
        below=(*_describe_gaps(benchmark), *by_kind(facts, benchmark)),
        layout=layout,
        notes=tuple(_explain_signs(benchmark, n_marks, layout)),
        groups=tuple(len(list(measures)) for _, measures in groupby(benchmark.measures, lambda measure: measure.head)),
        is_grouped=True,
    )


def _make_section(
    benchmark: Outcome, dataset: DatasetOutcome, layout: Layout, signs: Signs, part: Slice | None = None
) -> Section:
    """Make the rows of all systems on a data set, or within a bin of its labels, which published ones lack."""
    bin_name = part.bin.name if part else ""
    systems = [name for name in benchmark.systems if not (part and name in benchmark.published)]
    computed = dataset.comparison.systems if dataset.comparison else {}
    lines = [
        SystemLine(
            name,
            dataset.list_figures(name, benchmark.measures),
            computed[name].slices if name in computed else (),
            shown=f"{name} {_show_sign(PUBLISHED_SIGN, layout)}" if name in benchmark.published else name,
        )
        for name in systems
    ]
    section = make_section(lines, layout, signs, bin_name=bin_name)
    columns = [measure.name for measure in benchmark.measures]
    if part:
        columns = section.columns_with_values(columns)
    rows = list(section.rows)  # of the systems, and of the ceiling
    for place, name in enumerate(systems):
        blank = Cell(FAILED if dataset.find_status(name) == FAILED else _show_sign(NO_VALUE, layout))
        rows[place] = replace(rows[place], cells={**dict.fromkeys(columns, blank), **rows[place].cells})
    if part:
        return Section(f"{dataset.name}, {part.bin.describe()}", tuple(rows), f"{dataset.name}, {bin_name}")
    size = describe_size(dataset.comparison.results[0].counts) if dataset.comparison else ()
    return Section(" · ".join([dataset.name, *size]), tuple(rows), dataset.name)


def _show_sign(sign: str, layout: Layout) -> str:
    """Return a sign, or what stands for it where the output has no such signs."""
    return sign if layout.is_unicode else ASCII_SIGNS[sign]


def _explain_signs(benchmark: Outcome, n_marks: int, layout: Layout) -> Iterator[str]:
    """Explain which metrics are better where they are lower, the marks and their tests, and published values."""
    yield from explain_direction(benchmark.measures)
    comparisons = [comparison for _, comparison in benchmark.compared]
    tests = [
        (name, difference.bin, difference.measure)
        for name, comparison in benchmark.compared
        for difference in comparison.differences
        if difference.p is not None
    ]
    if tests:
        (better, worse), against = find_signs(layout).values(), benchmark.testing.against
        words = f"{better} the best tested system is significantly better than the second"
        n = counted(len(set(tests)), "best value")
        if against is not None:
            words, n = f"{better} better, {worse} worse than {against}", counted(len(tests), "test")
        yield f"{words}, {describe_level(comparisons[0])}: {n_marks} of {n}"
        yield from describe_tests(benchmark.testing, comparisons)
    if benchmark.published:
        sources = "; ".join(f"{name}: {source}" for name, source in benchmark.published.items() if source)
        published = f"published ({sources})" if sources else "published"
        yield f"{_show_sign(PUBLISHED_SIGN, layout)} {published}: not tested, but may be best or second"


def _describe_gaps(benchmark: Outcome) -> Iterator[str]:
    """Say which data sets failed, which lack columns or bins that need training labels, and where nothing is tested."""
    for dataset in benchmark.datasets:
        if dataset.why:
            yield f"{FAILED}: {dataset.name}: {'; '.join(dataset.why.splitlines())}"
        elif dataset.notes:
            yield f"{dataset.name}: {'; '.join(dataset.notes)}"
    against = benchmark.testing.against
    untested = [name for name, comparison in benchmark.compared if against not in (None, *comparison.systems)]
    if untested:
        yield f"not tested on {listed(untested)}: {against} has no values there"


def by_kind(lines: Iterable[str], benchmark: Outcome, hint: str = "") -> Iterator[str]:
    """Yield the first line of each kind, and how many more there are, which differ in numbers and names only."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    names = {*benchmark.systems, *(dataset.name for dataset in benchmark.datasets)}
    for line in lines:
        words = re.findall(r"(?<![^\s(])[a-z]+(?![^\s,;:.)])", line)
        kind = (word.removesuffix("s") for word in words if word not in names and word not in NUMBER)
        kinds.setdefault(tuple(kind), []).append(line)
    for first, *others in kinds.values():
        yield f"{first} (and {len(others):,} more of this kind{hint})" if others else first
