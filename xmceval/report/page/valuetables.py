"""Values: the table of results, as blocks that fit on paper, and that of each bin of labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xmceval.metrics.measure import Measure
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.markup import Child, Markup, element, join, name
from xmceval.report.page.pagecontent import PageContent
from xmceval.report.page.pageparts import PageColumn, PageSection, draw_lines, draw_table, write_sentence
from xmceval.report.result import Result
from xmceval.report.sheet.model import BEST, EMPTY, SECOND, Cell, Row, Section, Sheet, split_columns
from xmceval.report.sheet.scoresheet import explain_bins
from xmceval.report.sheet.systemtable import SystemLine, describe_cautions

WIDEST = 6  # columns of values that fit on A4
FEWEST_TO_FILTER = 2  # metrics


def show_results(content: PageContent) -> PageSection:
    """Show all values: one line per system, or of one system one line per metric."""
    table, sheet, names = Table(content.results, content.sheet), content.sheet, content.names
    heads = list(dict.fromkeys(figure.measure.head for figure in content.results[0].figures))
    controls = _draw_filter(heads) if len(heads) >= FEWEST_TO_FILTER else None
    blocks = [
        table.draw_block(columns, caption=table.describe() if i == 0 else None)
        for i, columns in enumerate(table.blocks())
    ]
    systems = [SystemLine.of(result) for result in content.results]
    cautions = describe_cautions(systems) if content.layout.intervals else ()
    warned = [element("p", write_sentence(line, names), class_="caution") for line in cautions]
    notes = draw_lines(write_sentence(line, names) for line in sheet.notes)
    return PageSection("results", "Results", join([controls, blocks, warned, notes]))


def show_bins(content: PageContent) -> PageSection | None:
    """Show the values within bins of labels: for each bin one line per system."""
    sections = [each for each in content.sheet.sections if each.name]
    if not sections:
        return None
    table = Table(content.results, content.sheet)
    lines: list[Child] = [
        [element("b", each.name), each.title.removeprefix(each.name), "."] for each in sections if each.title
    ]
    lines += (write_sentence(line, content.names) for line in explain_bins(content.results))
    blocks = [
        table.draw_bins(columns, sections, caption=table.describe(bins=True) if i == 0 else None)
        for i, columns in enumerate(table.blocks())
    ]
    return PageSection("bins", "By label frequency", join([draw_lines(lines), *blocks]))


def _draw_filter(heads: Sequence[str]) -> Markup:
    """Draw a box to tick for each metric; they are hidden until a script can use them."""
    boxes = [
        element("label", element("input", type="checkbox", value=head, checked=True), f" {head}") for head in heads
    ]
    return element("fieldset", element("legend", "Show"), boxes, class_="controls", hidden=True)


def _describe_units(measures: Sequence[Measure], layout: Layout) -> str:
    """Describe what the numbers of a table are."""
    shares = [each for each in measures if each.metric.unit == "share"]
    if not shares or not layout.percent:
        return ""
    return "Percent" if len(shares) == len(measures) else "Shares in percent"


class Table:
    """The tables of a sheet: of several systems columns are metrics, of one system rows are.

    Parameters
    ----------
    results : sequence of Result
    sheet : Sheet
    """

    def __init__(self, results: Sequence[Result], sheet: Sheet) -> None:
        self.sheet = sheet
        self.are_systems = len(results) > 1
        self.measures = list(dict.fromkeys(figure.measure for result in results for figure in result.figures))
        self._metrics = {each.name: each.head for each in self.measures} if self.are_systems else {}

    def blocks(self) -> Iterator[tuple[str, ...]]:
        """Yield the columns of each block that fits on paper; those of one metric stay together."""
        columns = self.sheet.columns
        return split_columns(columns, [1] * len(columns), WIDEST, self.sheet.groups)

    def describe(self, *, bins: bool = False) -> Child:
        """Describe what the numbers are, and how the best ones are marked."""
        cells = [cell for row in self.sheet.rows for cell in row.cells.values()]
        units = [_describe_units(self.measures, self.sheet.layout)]
        units += [", ".join(_explain_intervals([cell.interval for cell in cells]))]
        words: list[Child] = ["; ".join(filter(None, units)), ". " if any(units) else ""]
        emphases = {cell.emphasis for cell in cells}
        if BEST in emphases:
            of = "in each bin" if bins else "of each column"
            second = [" and the ", element("span", "second best", class_=SECOND)] if SECOND in emphases else []
            verb = "are" if second else "is"
            words += ["The ", element("b", "best", class_=BEST), " value", *second, f" {of} {verb} marked."]
        return words

    def draw_block(self, names: Sequence[str], caption: Child) -> Markup:
        """Draw the rows of all labels, which can be sorted; a row of ceilings follows them."""
        rows = self.sheet.sections[0].rows_with(names)
        values = [row for row in rows if row.ceiling_of is None]
        ceilings = [row for row in rows if self.are_systems and row.ceiling_of == ""]
        columns = self._columns(names, [*values, *ceilings])
        foot = element("tfoot", [self._row(row, columns) for row in ceilings]) if ceilings else None
        return draw_table(
            caption,
            columns,
            [element("tbody", [self._row(row, columns) for row in values]), foot],
            label=f"Results, {names[0]} to {names[-1]}" if self.are_systems and len(names) > 1 else "All results",
            longest=max((len(row.head) for row in values), default=0),
            class_="sortable",
            data_group="results",
        )

    def draw_bins(self, names: Sequence[str], bins: Sequence[Section], caption: Child) -> Markup:
        """Draw the rows of each bin below its name."""
        rows = [row for each in bins for row in each.rows_with(names)]
        columns = self._columns(names, rows)
        groups = [
            element(
                "tbody",
                element("tr", element("th", each.name, scope="rowgroup", colspan=len(columns))),
                [self._row(row, columns) for row in each.rows_with(names)],
                class_="group",
            )
            for each in bins
        ]
        label = f"Values by label frequency, {names[0]} to {names[-1]}"
        return draw_table(caption, columns, groups, label=label, longest=max(len(row.head) for row in rows))

    def _columns(self, names: Sequence[str], rows: Sequence[Row]) -> list[_Values]:
        first = _Values("System" if self.are_systems else "Metric", numeric=False)
        return [first, *(_Values.of(each, rows, self._metrics.get(each, "")) for each in names)]

    def _row(self, row: Row, columns: Sequence[_Values]) -> Markup:
        head = element("th", name(row.head) if self.are_systems else row.head, scope="row")
        return element(
            "tr",
            head,
            [column.draw_value(row.cells.get(column.name, EMPTY)) for column in columns[1:]],
            data_key=row.head,
            data_metric=None if self.are_systems else row.ceiling_of or row.head,
            class_=None if row.ceiling_of is None else "ceiling",
        )


@dataclass(frozen=True)
class _Values(PageColumn):
    """A column of values, with the widths of their intervals and letters where these differ, so that points line up."""

    name: str = ""
    intervals: int = 0
    letters: int = 0

    @classmethod
    def of(cls, name: str, rows: Sequence[Row], metric: str) -> _Values:
        cells = [row.cells[name] for row in rows if name in row.cells]
        widths = [{len(cell.interval) for cell in cells}, {len(cell.marks) for cell in cells}]
        intervals, letters = (max(each) if len(each) > 1 else 0 for each in widths)
        return cls(name or "value", metric=metric, name=name, intervals=intervals, letters=letters)

    def draw_value(self, cell: Cell) -> Markup:
        """Draw a value with its emphasis, its interval and its letters."""
        value: Child = cell.value
        if cell.emphasis:
            value = element("b" if cell.emphasis == BEST else "span", value, class_=cell.emphasis)
        content = [
            value,
            _draw_aside("span", cell.interval, self.intervals),
            _draw_aside("sup", cell.marks, self.letters),
        ]
        return self.draw_cell(content, cell.value.replace(",", "") or None)


def _draw_aside(tag: str, text: str, width: int) -> Markup | None:
    """Draw what follows a value, as wide as the widest of its column."""
    if not text and not width:
        return None
    return join([" ", element(tag, text, class_="margin", style=f"min-width: {width}ch" if width else None)])


def _explain_intervals(intervals: Sequence[str]) -> Iterator[str]:
    """Explain what follows values: half of an interval, or both ends."""
    if any(each.startswith("±") for each in intervals):
        yield "± is half the 95% interval"
    if any(".." in each for each in intervals):
        yield "a..b is the 95% interval"
