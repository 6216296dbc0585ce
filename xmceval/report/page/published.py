"""Published: where the values would rank in the published results of their data set."""

from __future__ import annotations

from collections.abc import Sequence

from xmceval.labels.catalogue import Published
from xmceval.labels.standings import Standing
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.markup import Child, isolate, join, name
from xmceval.report.page.pageparts import Section, draw_lines, draw_plain_table
from xmceval.report.result import Result
from xmceval.report.sheet.model import SUSPECT


def show_published(results: Sequence[Result], layout: Layout) -> Section | None:
    """Show the ranks of the values of each system, with the next higher and the next lower published one."""
    if all(result.published is None for result in results):
        return None
    names = [result.name for result in results]
    dataset = next(result.published.dataset for result in results if result.published is not None)
    reasons: list[Child] = []
    rows: list[Sequence[Child]] = []
    for result in results:
        standings = result.published
        if standings is None:
            continue
        if standings.not_ranked:
            reasons.append(isolate(f"{result.name} is not ranked: {standings.not_ranked}.", names))
        rows.extend([name(result.name), *_describe(each, layout)] for each in standings.places)
    if not rows and not reasons:
        reasons.append(f"There are no published results for {dataset} to compare these values with.")
    heads = ["System", "metric", "value", "rank", "next higher", "next lower"]
    unit = ", in percent" if layout.percent else ""
    caption = f"Rank within the published results for {dataset}{unit}; {SUSPECT} marks rows with suspect values."
    table = (
        draw_plain_table(caption, heads, rows, label="Rank within published results", numeric=(2, 3)) if rows else None
    )
    return Section("published", "Among published results", join([draw_lines(dict.fromkeys(reasons)), table]))


def _describe(place: Standing, layout: Layout) -> list[Child]:
    rank = f"{place.rank} of {place.n_published + 1}"
    return [
        place.metric,
        layout.share(place.value),
        rank,
        _neighbour(place.above, place.metric, layout),
        _neighbour(place.below, place.metric, layout),
    ]


def _neighbour(row: Published | None, metric: str, layout: Layout) -> str:
    return f"{row.method}{SUSPECT if row.suspect else ''} {layout.share(row.values[metric])}" if row else ""
