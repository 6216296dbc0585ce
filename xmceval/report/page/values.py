"""Values: the table of results, as blocks that fit on paper, and those of bins of labels, ties and ceilings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison
from xmceval.report.layout import Layout
from xmceval.report.markup import Child, Markup, element, join, name
from xmceval.report.page.parts import Column, Section, draw_lines, draw_table
from xmceval.report.page.ranking import Ranking
from xmceval.report.result import Result
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.finish import Figure

WIDEST = 6  # columns of values that fit on A4

FEWEST_TO_FILTER = 2  # metrics


def show_results(results: Sequence[Result], comparison: Comparison | None, layout: Layout) -> Section:
    """Show all values: one line per system, or of one system one line per metric."""
    heads = list(dict.fromkeys(figure.measure.head for figure in results[0].figures))
    controls = draw_filter(heads) if len(heads) >= FEWEST_TO_FILTER else None
    if len(results) == 1:
        content = _draw_one(results[0], layout)
    else:
        content = _draw_several(Ranking(results, comparison), layout)
    return Section("results", "Results", join([controls, content]))


def draw_filter(heads: Sequence[str]) -> Markup:
    """Draw a box to tick for each metric; they are hidden until a script can use them."""
    boxes = [
        element("label", element("input", type="checkbox", value=head, checked=True), f" {head}") for head in heads
    ]
    return element("fieldset", element("legend", "Show"), boxes, class_="controls", hidden=True)


def describe_units(measures: Sequence[Measure], layout: Layout, *, has_intervals: bool) -> str:
    """Describe what the numbers of a table are."""
    shares = [each for each in measures if each.metric.unit == "share"]
    words = []
    if shares and layout.percent:
        words.append("Percent" if len(shares) == len(measures) else "Shares in percent")
    if has_intervals and layout.intervals:
        words.append("± is half the 95% interval")
    return "; ".join(words)


def _draw_one(result: Result, layout: Layout) -> Markup:
    """Draw one line per metric and one column per cutoff."""
    rows: dict[str, dict[str, Figure]] = {}
    for figure in result.figures:
        rows.setdefault(figure.measure.head, {})[figure.measure.cutoff] = figure
    cutoffs = list(dict.fromkeys(cutoff for cells in rows.values() for cutoff in cells))
    columns = [Column("Metric", numeric=False), *(Column(f"@{each}" if each else "value") for each in cutoffs)]
    drawn = [
        element(
            "tr",
            element("th", head, scope="row"),
            [
                _draw_figure(column, cells.get(cutoff), layout)
                for column, cutoff in zip(columns[1:], cutoffs, strict=True)
            ],
            data_key=head,
            data_metric=head,
        )
        for head, cells in rows.items()
    ]
    has_intervals = any(figure.estimate.high is not None for figure in result.figures)
    caption = describe_units([figure.measure for figure in result.figures], layout, has_intervals=has_intervals)
    class_ = "sortable wide" if len(cutoffs) > WIDEST else "sortable"
    return draw_table(
        caption,
        columns,
        [element("tbody", drawn)],
        label="Results",
        longest=max(map(len, rows)),
        class_=class_,
        data_group="results",
    )


def _draw_figure(column: Column, figure: Figure | None, layout: Layout) -> Markup:
    if figure is None:
        return column.draw_cell(None)
    return column.draw_cell(draw_value(figure.measure, figure.estimate, layout), figure.estimate.value)


def draw_value(measure: Measure, estimate: Estimate, layout: Layout, mark: str = "") -> Markup:
    """Draw a value with its margin; `mark` is ``best`` or ``second``."""
    text: Child = layout.format(measure, estimate.value)
    if mark:
        text = element("b" if mark == "best" else "span", text, class_=mark)
    if estimate.high is None or not layout.intervals:
        return join([text])
    return join(
        [text, " ", element("span", f"±{layout.format(measure, estimate.high - estimate.value)}", class_="margin")]
    )


def split(measures: Sequence[Measure]) -> Iterator[list[Measure]]:
    """Split measures into blocks that fit on paper; those of one metric stay together where they can."""
    block: list[Measure] = []
    groups: dict[str, list[Measure]] = {}
    for each in measures:
        groups.setdefault(each.head, []).append(each)
    for group in groups.values():
        if block and len(block) + len(group) > WIDEST:
            yield block
            block = []
        block += group
        while len(block) > WIDEST:
            yield block[:WIDEST]
            block = block[WIDEST:]
    if block:
        yield block


def _draw_several(ranking: Ranking, layout: Layout) -> Markup:
    """Draw one line per system and one column per metric and cutoff."""
    has_intervals = any(ranking.estimate(each, m).high is not None for each in ranking.names for m in ranking.measures)
    units = describe_units(ranking.measures, layout, has_intervals=has_intervals)
    marks = element("b", "best", class_="best"), element("span", "second best", class_="second")
    caption = [
        f"{units}. " if units else "",
        "The ",
        marks[0],
        " value and the ",
        marks[1],
        " of each column are marked.",
    ]
    blocks = [
        _draw_block(ranking, block, layout, caption if i == 0 else None, f"Results, {block[0]} to {block[-1]}")
        for i, block in enumerate(split(ranking.measures))
    ]
    runs = () if ranking.comparison is None else ranking.comparison.runs
    lines = [[name(each.name), f" is the mean of {len(each.results)} runs."] for each in runs]
    return join([*blocks, draw_lines(lines)])


def _draw_block(ranking: Ranking, measures: Sequence[Measure], layout: Layout, caption: Child, label: str) -> Markup:
    columns = [Column("System", numeric=False), *(Column(each.name, metric=each.head) for each in measures)]
    marks = {each.name: mark_best(ranking, each, layout) for each in measures}
    rows = []
    for system in ranking.names:
        cells = [
            column.draw_cell(
                draw_value(each, ranking.estimate(system, each), layout, marks[each.name].get(system, "")),
                ranking.value(system, each),
            )
            for column, each in zip(columns[1:], measures, strict=True)
        ]
        rows.append(element("tr", element("th", name(system), scope="row"), cells, data_key=system))
    return draw_table(
        caption,
        columns,
        [element("tbody", rows)],
        label=label,
        longest=max(map(len, ranking.names)),
        class_="sortable",
        data_group="results",
    )


def mark_best(ranking: Ranking, measure: Measure, layout: Layout) -> Mapping[str, str]:
    """Return which systems have the best and the second best value as it is shown; nothing where all have the same."""
    shown = {system: layout.format(measure, ranking.value(system, measure)) for system in ranking.names}
    order = list(dict.fromkeys(shown[system] for system in ranking.order(measure)))
    if len(order) == 1:
        return {}
    words = {order[0]: "best"} | ({order[1]: "second"} if len(shown) > 2 else {})
    return {system: words[text] for system, text in shown.items() if text in words}
