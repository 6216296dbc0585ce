"""Values: the table of results, as blocks that fit on paper, and that of each bin of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from xmceval.metrics.measure import Measure
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.markup import Child, Markup, element, join, name
from xmceval.report.page.copying import copy_values
from xmceval.report.page.pagecontent import PageContent
from xmceval.report.page.pageparts import PageColumn, PageSection, draw_lines, draw_table, write_sentence
from xmceval.report.sheet.model import BEST, EMPTY, SECOND, Cell, Row, Section, split_columns
from xmceval.report.sheet.scoresheet import explain_bins
from xmceval.report.sheet.systemtable import SystemLine, describe_cautions

WIDEST = 6  # columns of values that fit on A4
FEWEST_TO_FILTER = 2  # metrics


def show_results(content: PageContent) -> PageSection:
    """Show all values: one line per system, or of one system one line per metric."""
    heads = list(dict.fromkeys(figure.measure.head for figure in content.results[0].figures))
    controls = _draw_filter(heads) if len(heads) >= FEWEST_TO_FILTER else None
    systems = [SystemLine.of(result) for result in content.results]
    cautions = () if content.layout.intervals is False else describe_cautions(systems)
    warned = [element("p", write_sentence(line, content.names), class_="caution") for line in cautions]
    notes = draw_lines(write_sentence(line, content.names) for line in content.sheet.notes)
    tables = _draw_blocks(content, _draw_results, "of each column", content.sheet.sections)
    whole = [replace(each, slices=()) for each in content.results]
    copies = copy_values(content, lambda sections: sections[:1], whole)
    return PageSection("results", "Results", join([controls, tables, copies, warned, notes]))


def show_bins(content: PageContent) -> PageSection | None:
    """Show the values within bins of labels: for each bin one line per system."""
    bins = content.sheet.sections[1:]
    if not bins:
        return None
    lines: list[Child] = [
        [element("b", each.name), each.title.removeprefix(each.name), "."] for each in bins if each.title
    ]
    lines += (write_sentence(line, content.names) for line in explain_bins(content.results))
    tables = _draw_blocks(content, _draw_bins, f"in each {_noun(content)}", bins)
    of_bins = [replace(each, figures=()) for each in content.results]
    copies = copy_values(content, lambda sections: sections[1:], of_bins)
    return PageSection("bins", _title(content), join([draw_lines(lines), tables, copies]))


def _noun(content: PageContent) -> str:
    """Return what the slices are: bin or group."""
    return next((part.bin.noun for result in content.results for part in result.slices), "bin")


def _title(content: PageContent) -> str:
    return "By group" if _noun(content) == "group" else "By label frequency"


def _draw_filter(heads: Sequence[str]) -> Markup:
    """Draw a box to tick for each metric; they are hidden until a script can use them."""
    boxes = [
        element("label", element("input", type="checkbox", value=head, checked=True), f" {head}") for head in heads
    ]
    return element("fieldset", element("legend", "Show"), boxes, class_="controls", hidden=True)


def _draw_blocks(
    content: PageContent,
    draw_block: Callable[[PageContent, Sequence[str], Child], Markup],
    best_of: str,
    sections: Sequence[Section],
) -> list[Markup]:
    """Draw the columns in blocks that fit on paper, the first with a caption; those of one metric stay together.

    Blocks of which no section has a value, such as of metrics without values of bins, are left out.
    """
    columns = content.sheet.columns
    split = split_columns(columns, [1] * len(columns), WIDEST, content.sheet.groups)
    blocks = (names for names in split if any(each.rows_with(names) for each in sections))
    return [draw_block(content, names, None if i else _describe(content, best_of)) for i, names in enumerate(blocks)]


def _describe(content: PageContent, best_of: str) -> Child:
    """Describe what the numbers are, and how the best ones are marked."""
    cells = [cell for row in content.sheet.rows for cell in row.cells.values()]
    units = [describe_units(content.measures, content.layout)]
    units += [", ".join(_explain_intervals([cell.interval for cell in cells]))]
    words: list[Child] = ["; ".join(filter(None, units)), ". " if any(units) else ""]
    emphases = {cell.emphasis for cell in cells}
    if BEST in emphases:
        second = [" and the ", element("span", "second best", class_=SECOND)] if SECOND in emphases else []
        verb = "are" if second else "is"
        words += ["The ", element("b", "best", class_=BEST), " value", *second, f" {best_of} {verb} marked."]
    return words


def describe_units(measures: Sequence[Measure], layout: Layout) -> str:
    """Describe the unit of values in a word or three; empty where it needs none."""
    shares = [each for each in measures if each.metric.unit == "share"]
    if not shares or not layout.percent:
        return ""
    return "Percent" if len(shares) == len(measures) else "Shares in percent"


def _draw_results(content: PageContent, names: Sequence[str], caption: Child) -> Markup:
    """Draw the rows of all labels, which can be sorted; a row of ceilings follows them."""
    rows = content.sheet.sections[0].rows_with(names)
    values = [row for row in rows if row.ceiling_of is None]
    ceilings = [row for row in rows if content.are_systems and row.ceiling_of == ""]
    columns = _make_columns(content, names, [*values, *ceilings])
    foot = element("tfoot", [_draw_row(content, row, columns) for row in ceilings]) if ceilings else None
    return draw_table(
        caption,
        columns,
        [element("tbody", [_draw_row(content, row, columns) for row in values]), foot],
        label=f"Results, {names[0]} to {names[-1]}" if content.are_systems and len(names) > 1 else "All results",
        longest=max((len(row.head) for row in values), default=0),
        class_="sortable",
        data_group="results",
    )


def _draw_bins(content: PageContent, names: Sequence[str], caption: Child) -> Markup:
    """Draw the rows of each bin below its name."""
    bins = {each.name: each.rows_with(names) for each in content.sheet.sections[1:]}
    rows = [row for own in bins.values() for row in own]
    columns = _make_columns(content, names, rows)
    groups = [
        element(
            "tbody",
            element("tr", element("th", bin_name, scope="rowgroup", colspan=len(columns))),
            [_draw_row(content, row, columns) for row in own],
            class_="group",
        )
        for bin_name, own in bins.items()
    ]
    label = f"Values {_title(content).lower()}, {names[0]} to {names[-1]}"
    return draw_table(caption, columns, groups, label=label, longest=max(len(row.head) for row in rows))


def _make_columns(content: PageContent, names: Sequence[str], rows: Sequence[Row]) -> list[ValueColumn]:
    """Make the columns: of several systems they are metrics, which a filter can hide; of one system rows are."""
    metrics = {each.name: each.head for each in content.measures} if content.are_systems else {}
    first = ValueColumn("System" if content.are_systems else "Metric", numeric=False)
    return [first, *(ValueColumn.of(each, rows, metrics.get(each, "")) for each in names)]


def _draw_row(content: PageContent, row: Row, columns: Sequence[ValueColumn]) -> Markup:
    return element(
        "tr",
        element("th", name(row.head) if content.are_systems else row.head, scope="row"),
        [column.draw_value(row.cells.get(column.name, EMPTY)) for column in columns[1:]],
        data_key=row.head,
        data_metric=None if content.are_systems else row.ceiling_of or row.head,
        class_=None if row.ceiling_of is None else "ceiling",
    )


@dataclass(frozen=True)
class ValueColumn(PageColumn):
    """A column of values, with the widths of their intervals and letters where these differ, so that points line up."""

    name: str = ""
    intervals: int = 0
    letters: int = 0

    @classmethod
    def of(cls, name: str, rows: Sequence[Row], metric: str) -> ValueColumn:
        """Make the column of the cells of this name."""
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
            draw_aside("span", cell.interval, self.intervals),
            draw_aside("sup", cell.marks, self.letters),
        ]
        return self.draw_cell(content, cell.value.replace(",", "") or None)


def draw_aside(tag: str, text: str, width: int) -> Markup | None:
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
