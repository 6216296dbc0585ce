"""Definitions: what each metric of a page is, in full."""

from __future__ import annotations

from collections.abc import Sequence

from xmceval.metrics.measure import Measure
from xmceval.report.forms.markup import Child, element, join
from xmceval.report.page.pageparts import Section, draw_facts
from xmceval.report.result import Result


def show_definitions(results: Sequence[Result]) -> Section:
    """Show each metric once, whatever its cutoffs, with its source and how other tools compute it."""
    groups: dict[str, list[Measure]] = {}
    for figure in results[0].figures:
        groups.setdefault(figure.measure.head, []).append(figure.measure)
    return Section("definitions", "Definitions", draw_facts(map(_describe, groups.values()), "definitions"))


def _describe(measures: Sequence[Measure]) -> tuple[Child, Child]:
    first = measures[0]
    metric = first.metric
    formula = first.definition if first.k is None else first.definition.removesuffix(f"; k = {first.k}")
    cutoffs = ", ".join(each.cutoff for each in measures if each.cutoff)
    parts: list[Child] = [element("div", metric.title), element("div", element("code", formula))]
    if cutoffs:
        parts.append(element("div", f"Here k = {cutoffs}.") if first.k is not None else None)
    source = [part for part in (metric.note, metric.source) if part]
    parts += [element("div", part, class_="note") for part in source]
    return first.head, join(parts)
