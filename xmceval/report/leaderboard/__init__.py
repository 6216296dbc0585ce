"""Leaderboard: a benchmark as one HTML file, in which every data set leads to its report where there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from xmceval.errors import counted
from xmceval.labels.catalogue import find_dataset
from xmceval.metrics.measure import Measure
from xmceval.report.benchmark import FAILED, MISSING, Benchmark, DatasetOutcome
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.forms.markup import Child, Markup, element, join, name
from xmceval.report.leaderboard.acrosssections import show_across
from xmceval.report.leaderboard.board import Board
from xmceval.report.leaderboard.metrictables import draw_metric
from xmceval.report.page.pageframe import draw_contents, frame_page
from xmceval.report.page.pageparts import PageColumn, PageSection, draw_lines, draw_table, write_sentence
from xmceval.report.pictures import check_installed
from xmceval.report.pictures.plottedvalues import deepest
from xmceval.report.result import Result, shared_lines
from xmceval.report.sheet.model import NO_VALUE

NOWHERE: Mapping[str, str] = MappingProxyType({})
FEWEST_TO_CHOOSE = 2  # metrics
INSTANCES, LABELS, PER_INSTANCE, WARNINGS = "instances", "labels", "labels per instance", "warnings"
NUMERIC = frozenset({INSTANCES, LABELS, PER_INSTANCE, WARNINGS})


def render_leaderboard(
    benchmark: Benchmark,
    *,
    title: str | None = None,
    layout: Layout = DEFAULT,
    reports: Mapping[str, str] = NOWHERE,
) -> str:
    """Write the page of a benchmark; the same benchmark gives the same bytes.

    Parameters
    ----------
    benchmark : Benchmark
    title : str, optional
        Default: Benchmark.
    layout : Layout
        Decimal places, whether shares are percent, and whether values have intervals, which by default they do not.
    reports : mapping of str to str
        The addresses of the pages of data sets, by name.

    Raises
    ------
    DataError
        matplotlib is not installed.
    """
    check_installed()
    board = Board.of(benchmark, layout, reports)
    sections = [_show_metric(board, each) for each in benchmark.measures]
    shown = deepest(list(benchmark.measures))[0]
    main = [
        element("div", [each.draw() for each in sections], id="results", data_shown=shown.name),
        [each.draw() for each in (_show_notes(board), _show_datasets(board)) if each is not None],
    ]
    # Of several metrics a script shows one at a time.
    choice = draw_contents("Metrics", sections, "choice") if len(sections) >= FEWEST_TO_CHOOSE else None
    n_datasets, n_systems = counted(len(benchmark.datasets), "data set"), counted(len(benchmark.systems), "system")
    return frame_page(title or f"Benchmark: {n_datasets}, {n_systems}", _draw_header(benchmark, title), choice, main)


def _draw_header(benchmark: Benchmark, title: str | None) -> Markup:
    n_published = len(benchmark.published)
    systems = counted(len(benchmark.systems) - n_published, "system")
    cells = Counter(cell.status for dataset in benchmark.datasets for cell in dataset.cells)
    n_cells = cells.total()
    facts = [
        counted(len(benchmark.datasets), "data set"),
        f"{systems} and {n_published} published" if n_published else systems,
        f"{n_cells - cells[MISSING] - cells[FAILED]:,} of {counted(n_cells, 'cell')}",
    ]
    heading = name(title) if title else "Benchmark"
    return element("header", element("h1", heading), element("p", " · ".join(facts), class_="about"))


def _show_metric(board: Board, measure: Measure) -> PageSection:
    content = join([draw_metric(board, measure), show_across(board, measure)])
    return PageSection(measure.name, measure.name, content, class_="metric")


def _show_notes(board: Board) -> PageSection | None:
    """Show what the tables leave out: how differences were tested, what is missing, how values came about."""
    warned = draw_lines((write_sentence(each, board.names) for each in board.benchmark.warnings), "lines caution")
    notes = draw_lines(write_sentence(each, board.names) for each in (*board.sheet.notes, *board.sheet.below))
    return PageSection("notes", "Notes", join([warned, notes])) if warned or notes else None


def _show_datasets(board: Board) -> PageSection:
    """Show the size of each data set, its place in the catalogue, and the link to its report."""
    facts = [dict(_describe_dataset(each, board.reports.get(each.name))) for each in board.benchmark.datasets]
    heads = dict.fromkeys(head for own in facts for head in own)
    columns = [PageColumn("Data set", numeric=False), *(PageColumn(each, each in NUMERIC) for each in heads)]
    rows = [
        element(
            "tr",
            element("th", _link(board, each.name), scope="row"),
            [column.draw_cell(own.get(head, NO_VALUE)) for column, head in zip(columns[1:], heads, strict=True)],
        )
        for each, own in zip(board.benchmark.datasets, facts, strict=True)
    ]
    longest = max(len(each.name) for each in board.benchmark.datasets)
    table = draw_table(None, columns, [element("tbody", rows)], label="Data sets", longest=longest)
    note = element("p", "Each name leads to its report.", class_="note") if board.reports else None
    return PageSection("datasets", "Data sets", join([table, note]))


def _link(board: Board, dataset: str) -> Markup:
    address = board.reports.get(dataset)
    return element("a", name(dataset), href=address) if address else name(dataset)


def _describe_dataset(dataset: DatasetOutcome, report: str | None) -> Iterator[tuple[str, Child]]:
    """Yield facts on a data set: its sizes where it was scored, its name in the catalogue, and its warnings."""
    if dataset.comparison is not None:
        result, counts = dataset.comparison.results[0], dataset.comparison.results[0].counts
        yield INSTANCES, f"{counts.n_instances:,}"
        if counts.n_labels:
            yield LABELS, f"{counts.n_labels:,}"
            yield PER_INSTANCE, f"{counts.n_true / max(counts.n_instances, 1):.2f}"
        if result.propensities is not None:
            yield "propensities", _name_constants(result)
    if dataset.entry:
        yield "in the catalogue", [name(dataset.entry), ", of other sizes" if _is_unlike(dataset) else None]
    if dataset.comparison is not None:
        warnings = {*dataset.comparison.warnings, *shared_lines(dataset.comparison.results, "warnings")}
        if warnings:
            number = f"{len(warnings):,}"
            yield WARNINGS, element("a", number, href=f"{report}#files") if report else number


def _is_unlike(dataset: DatasetOutcome) -> bool:
    """Whether the sizes of a data set are not those that the catalogue has."""
    results = () if dataset.comparison is None else dataset.comparison.results
    return any(find_dataset(dataset.entry).forbids_ranking(each.sizes) for each in results[:1])


def _name_constants(result: Result) -> str:
    propensities = result.propensities
    if propensities is None or propensities.n is None:
        return "1/p as passed"
    return f"A={propensities.a:g} B={propensities.b:g}"
