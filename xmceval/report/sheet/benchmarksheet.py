"""The sheet of a benchmark: data sets as groups of systems, or beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from xmceval.report.benchmark import FAILED, Benchmark, DatasetOutcome
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.result import describe_size
from xmceval.report.sheet.benchmarknotes import describe_benchmark, explain_signs, show_sign, show_system
from xmceval.report.sheet.model import NO_VALUE, Cell, Row, Section, Sheet
from xmceval.report.sheet.significance import mark_against, mark_best
from xmceval.report.sheet.systemtable import Signs, SystemLine, make_section


def build_benchmark_sheet(benchmark: Benchmark, layout: Layout = DEFAULT) -> Sheet:
    """Build the sheet of a benchmark: all labels of each data set, then each bin of labels."""
    signs = {each.name: _mark(benchmark, each, layout) for each in benchmark.datasets}
    columns = tuple(each.name for each in benchmark.measures)
    groups = tuple(len(list(own)) for _, own in groupby(benchmark.measures, lambda each: each.head))
    main = [_make_group(benchmark, each, layout, signs[each.name]) for each in benchmark.datasets]
    bins = {
        bin_name: [
            _make_group(benchmark, each, layout, signs[each.name], bin_name)
            for each in benchmark.datasets
            if bin_name in _find_bins(each)
        ]
        for bin_name in dict.fromkeys(name for each in benchmark.datasets for name in _find_bins(each))
    }
    sheet = Sheet(
        above=(),
        columns=columns,
        sections=(*main, *(section for sections in bins.values() for section in sections)),
        below=tuple(describe_benchmark(benchmark, layout)),
        layout=layout,
        notes=tuple(explain_signs(benchmark, list(signs.values()), layout)),
        groups=groups,
        is_grouped=True,
    )
    return _put_beside(sheet, main, bins) if layout.transpose else sheet


def _mark(benchmark: Benchmark, dataset: DatasetOutcome, layout: Layout) -> Signs:
    if dataset.comparison is None:
        return Signs()
    mark = mark_best if benchmark.testing.against is None else mark_against
    return mark(dataset.comparison, layout)


def _find_bins(dataset: DatasetOutcome) -> dict[str, str]:
    """Return the bins of labels of a data set by name, and what they are."""
    results = () if dataset.comparison is None else dataset.comparison.results
    return {part.bin.name: part.bin.describe() for result in results for part in result.slices}


def _make_group(
    benchmark: Benchmark, dataset: DatasetOutcome, layout: Layout, signs: Signs, bin_name: str = ""
) -> Section:
    """Make the rows of all systems on a data set, or within one of its bins of labels, which published ones lack."""
    systems = [name for name in benchmark.systems if not (bin_name and name in benchmark.published)]
    lines = [_make_line(benchmark, dataset, name, layout) for name in systems]
    section = make_section(lines, layout, signs, bin_name=bin_name)
    columns = [each.name for each in benchmark.measures if not bin_name or section.rows_with([each.name])]
    empty = dict.fromkeys(columns, Cell(show_sign(NO_VALUE, layout)))
    failed = dict.fromkeys(columns, Cell(FAILED))
    cells = (dataset.find_cell(name) for name in systems)
    blanks = [failed if cell is not None and cell.status == FAILED else empty for cell in cells]
    n = len(systems)
    rows = (replace(row, cells={**blank, **row.cells}) for row, blank in zip(section.rows[:n], blanks, strict=True))
    name = f"{dataset.name}, {bin_name}" if bin_name else dataset.name
    title = f"{dataset.name}, {_find_bins(dataset)[bin_name]}" if bin_name else " · ".join([name, *_describe(dataset)])
    return Section(title, (*rows, *section.rows[n:]), name)


def _make_line(benchmark: Benchmark, dataset: DatasetOutcome, system: str, layout: Layout) -> SystemLine:
    result = None if dataset.comparison is None else dataset.comparison.systems.get(system)
    figures = dataset.list_figures(system, benchmark.measures)
    shown = show_system(benchmark, system, layout)
    return SystemLine(system, figures, () if result is None else result.slices, shown=shown)


def _describe(dataset: DatasetOutcome) -> tuple[str, ...]:
    return () if dataset.comparison is None else describe_size(dataset.comparison.results[0].counts)


def _put_beside(sheet: Sheet, main: Sequence[Section], bins: Mapping[str, Sequence[Section]]) -> Sheet:
    """Put data sets into columns, side by side for each metric, so that a wide table is wrapped between metrics."""
    measures = iter(sheet.columns)
    families = [[next(measures) for _ in range(size)] for size in sheet.groups]
    groups = [(section.name, own) for own in families for section in main]
    columns = {f"{head} {name}": name for head, own in groups for name in own}
    parts = {"": main, **bins}
    return replace(
        sheet,
        above=tuple(section.title for section in main),
        columns=tuple(columns),
        sections=tuple(Section(name, tuple(_join_rows(each, name)), name) for name, each in parts.items()),
        groups=tuple(len(own) for _, own in groups),
        heads=columns,
        spans=tuple((head, len(own)) for head, own in groups),
    )


def _join_rows(sections: Sequence[Section], bin_name: str) -> Iterator[Row]:
    """Join the rows of systems on several data sets."""
    rows: dict[str, Row] = {}
    for section in sections:
        dataset = section.name.removesuffix(f", {bin_name}")
        for row in section.rows:
            cells = {f"{dataset} {name}": cell for name, cell in row.cells.items()}
            before = rows.get(row.head, replace(row, cells={}))
            rows[row.head] = replace(before, cells={**before.cells, **cells})
    yield from rows.values()
