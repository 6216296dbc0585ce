"""Metric tables: the table of a metric on a leaderboard, systems as rows and data sets as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xmceval.errors import counted
from xmceval.metrics.measure import Measure
from xmceval.report.benchmark import FAILED, PUBLISHED, Benchmark, DatasetOutcome
from xmceval.report.forms.markup import Child, Markup, element, name
from xmceval.report.leaderboard.board import Board
from xmceval.report.page.pageparts import PageColumn, draw_table, spaced
from xmceval.report.page.valuetables import draw_aside
from xmceval.report.sheet.model import BEST, DOWN, EMPTY, NO_VALUE, PUBLISHED_SIGN, SECOND, UP, Cell
from xmceval.report.sheet.significance import find_signs
from xmceval.report.sheet.systemtable import CEILING

SYSTEM, ASCENDING = "System", "ascending"
CLASSES = {UP: "better", DOWN: "worse"}


@dataclass(frozen=True)
class DatasetColumn(PageColumn):
    """The column of a data set, with the width of its intervals, and whether it has room for marks."""

    intervals: int = 0
    has_marks: bool = False

    @classmethod
    def of(cls, dataset: DatasetOutcome, measure: Measure, cells: Sequence[Cell]) -> DatasetColumn:
        """Make the column of these cells; the first click on its head puts the best one at the top."""
        first = "" if measure.metric.higher_is_better else ASCENDING
        intervals = max(len(each.interval) for each in cells)
        return cls(_write_head(dataset), first=first, intervals=intervals, has_marks=any(each.marks for each in cells))

    def draw_value(self, cell: Cell, words: Mapping[str, str]) -> Markup:
        """Draw a value with its interval and its mark, or that there is none."""
        if cell.value == FAILED:
            return self._draw(element("span", FAILED, class_="worse"), Cell(""))
        if cell.value in {NO_VALUE, ""}:
            return self._draw(_draw_nothing("missing") if cell.value else None, Cell(""))
        said = _unseen(f" {words[cell.marks]}") if cell.marks else None
        return self._draw([_emphasize(cell), said], cell, cell.value.replace(",", ""))

    def _draw(self, shown: Child, cell: Cell, value: str | None = None) -> Markup:
        mark = element("span", cell.marks, class_=f"mark {CLASSES.get(cell.marks, '')}".strip(), aria_hidden="true")
        aside = draw_aside("span", cell.interval, self.intervals)
        return self.draw_cell([shown, aside, mark if self.has_marks else None], value)


def draw_metric(board: Board, measure: Measure) -> Markup:
    """Draw the table of a metric: mean ranks beside the systems, then the data sets that have it."""
    ranks, cells, ceilings = board.rank_cells(measure), board.cells(measure), board.ceilings(measure)
    datasets, systems = board.benchmark.datasets, board.benchmark.systems
    before = [PageColumn(SYSTEM, numeric=False), *_make_rank_column(board, measure, bool(ranks))]
    columns = {i: DatasetColumn.of(datasets[i], measure, own) for i, own in cells.items()}
    words = _explain_marks(board)
    rows = []
    for place in board.order(measure):
        rank = [_draw_rank(each, ranks.get(systems[place])) for each in before[1:]]
        values = [column.draw_value(cells[i][place], words) for i, column in columns.items()]
        rows.append(_draw_row(board.benchmark, systems[place], [*rank, *values]))
    foot = None
    if ceilings:
        blank = [each.draw_cell(None) for each in before[1:]]
        values = [column.draw_value(ceilings.get(i, EMPTY), words) for i, column in columns.items()]
        foot = element("tfoot", element("tr", element("th", CEILING, scope="row"), blank, values, class_=CEILING))
    return draw_table(
        _write_caption(board, measure, [cell for own in cells.values() for cell in own]),
        [*before, *columns.values()],
        [element("tbody", rows), foot],
        label=f"{measure.name} of all systems",
        longest=max(map(len, systems)),
        class_="sortable board ranked" if ranks else "sortable board",
        data_group=measure.name,
    )


def _make_rank_column(board: Board, measure: Measure, is_ranked: bool) -> Iterator[PageColumn]:
    if is_ranked:
        across = board.benchmark.across(measure.name)
        of = element("small", f"of {len(across.systems)}, over {len(across.datasets)}")
        yield PageColumn(["Mean rank ", of], first=ASCENDING, order=ASCENDING)


def _write_head(dataset: DatasetOutcome) -> Child:
    """Write the name of a data set and its size."""
    if dataset.comparison is None:
        return name(dataset.name)
    counts = dataset.comparison.results[0].counts
    sizes = [f"{n:,}" for n in (counts.n_instances, counts.n_labels) if n]
    return [name(dataset.name), " ", element("small", " × ".join(sizes))]


def _explain_marks(board: Board) -> dict[str, str]:
    """Return what the marks after values mean, in words."""
    return {sign: f"{word} than {_name_other(board)}" for word, sign in find_signs(board.sheet.layout).items()}


def _name_other(board: Board) -> str:
    """Name what marked values are better or worse than."""
    against = board.benchmark.testing.against
    return "the second of the tested systems" if against is None else against


def _write_caption(board: Board, measure: Measure, cells: Sequence[Cell]) -> list[Child]:
    """Write the unit of the values, and what is marked."""
    emphases, marks = {each.emphasis for each in cells}, {each.marks for each in cells}
    units = ["percent"] if measure.metric.unit == "share" and board.sheet.layout.percent else []
    units += [] if measure.metric.higher_is_better else ["lower is better"]
    parts: list[Child] = [", ".join(units).capitalize()] if units else []
    if BEST in emphases:
        second = [" and the ", element("span", "second best", class_=SECOND)] if SECOND in emphases else []
        best = element("b", "best", class_=BEST)
        parts.append(["The ", best, " value", second, f" of each data set {'are' if second else 'is'} marked"])
    if signs := [
        [element("span", sign, class_=CLASSES[sign]), f"\N{NO-BREAK SPACE}{word}"]
        for word, sign in find_signs(board.sheet.layout).items()
        if sign in marks
    ]:
        parts.append([spaced(signs, ", "), f" than {_name_other(board)}"])
    return [spaced(parts, ". "), "."] if parts else []


def _draw_row(benchmark: Benchmark, system: str, cells: Iterable[Markup]) -> Markup:
    """Draw the line of a system, with how many runs it is the mean of, or that its values are published."""
    is_published = system in benchmark.published
    sign = [" ", element("span", PUBLISHED_SIGN, aria_hidden="true"), _unseen(" published")] if is_published else None
    runs = _count_runs(benchmark, system)
    head = element("th", name(system), sign, [" ", element("small", runs)] if runs else None, scope="row")
    return element("tr", head, list(cells), data_key=system, class_=PUBLISHED if is_published else None)


def _count_runs(benchmark: Benchmark, system: str) -> str:
    """Return of how many runs the values of a system are means; empty of one that was trained once."""
    numbers = sorted({len(runs.results) for each in benchmark.values() for runs in each.runs if runs.name == system})
    if len(numbers) > 1:
        return f"{numbers[0]} to {numbers[-1]} runs"
    return counted(numbers[0], "run") if numbers else ""


def _draw_rank(column: PageColumn, cell: Cell | None) -> Markup:
    if cell is None:
        return column.draw_cell(_draw_nothing("not ranked"))
    return column.draw_cell(_emphasize(cell), cell.value)


def _emphasize(cell: Cell) -> Child:
    return element("b" if cell.emphasis == BEST else "span", cell.value, class_=cell.emphasis or None)


def _draw_nothing(why: str) -> list[Markup]:
    return [element("span", NO_VALUE, class_="nothing", aria_hidden="true"), _unseen(why)]


def _unseen(words: str) -> Markup:
    """Write words for those who hear the page."""
    return element("span", words, class_="unseen")
