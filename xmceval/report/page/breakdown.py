"""Breakdown: how far ties could move values, and the ceilings of values."""

from __future__ import annotations

from collections.abc import Sequence

from xmceval.report.forms.layout import Layout
from xmceval.report.forms.markup import Child, join, name
from xmceval.report.page.pageparts import Section, draw_lines, draw_plain_table
from xmceval.report.result import Result
from xmceval.scoring.summary import Figure


def show_ties(results: Sequence[Result], layout: Layout) -> Section | None:
    """Show the instances with ties that matter, and between which bounds values could be."""
    cutoffs = [k for k in results[0].counts.tied_rows if any(each.counts.tied_rows.get(k) for each in results)]
    has_inside = any(each.counts.inside_ties for each in results)
    if not cutoffs and not has_inside:
        return None
    heads = ["System", *(f"across @{k}" for k in cutoffs), *(["inside the cutoffs only"] if has_inside else [])]
    rows = []
    for result in results:
        counts = result.counts
        inside = [f"{counts.inside_ties:,}"] if has_inside else []
        rows.append([name(result.name), *(f"{counts.tied_rows.get(k, 0):,}" for k in cutoffs), *inside])
    tied = draw_plain_table(None, heads, rows, label="Instances with ties", numeric=range(1, len(heads)))
    moved = [row for result in results for row in _list_moves(result, layout)]
    rule = results[0].options.get("ties", "label")
    how = {"label": "by label id", "expected": "by the mean over all orders", "best": "in the best order"}
    lines = [
        "Instances in which labels of equal score lie on both sides of a cutoff, or inside the cutoffs only.",
        f"Here ties are ordered {how.get(rule, 'in the worst order')} (ties={rule}).",
    ]
    bounds = draw_plain_table(
        "Values that another order of equal scores would change.",
        ["System", "metric", "value", "lowest", "highest"],
        moved,
        label="Bounds of values over orders of ties",
        numeric=(2, 3, 4),
    )
    return Section("ties", "Ties", join([draw_lines(lines), tied, bounds if moved else None]))


def _list_moves(result: Result, layout: Layout) -> list[list[Child]]:
    rows: list[list[Child]] = []
    for figure in result.figures:
        estimate = figure.estimate
        if estimate.tie_low is None or estimate.tie_high is None:
            continue
        numbers = (estimate.value, estimate.tie_low, estimate.tie_high)
        value, low, high = (layout.format(figure.measure, number) for number in numbers)
        if low != high:
            rows.append([name(result.name), figure.name, value, low, high])
    return rows


def show_ceilings(results: Sequence[Result], layout: Layout) -> Section | None:
    """Show the best value that any ranking could have, and what share of it each system reaches."""
    figures = [figure for figure in results[0].figures if figure.estimate.ceiling is not None]
    if not figures:
        return None
    several = len(results) > 1
    heads = ["Metric", "ceiling", *([name(each.name) for each in results] if several else ["reached"])]
    rows = [_ceiling_row(figure, results, layout) for figure in figures]
    line = (
        "The ceiling is the best value that any ranking could have on this truth; beside it, the share of it that "
        f"{'each system' if several else 'the system'} reaches{', in percent' if layout.percent else ''}."
    )
    table = draw_plain_table(None, heads, rows, label="Ceilings of metrics", numeric=range(1, len(heads)))
    return Section("ceilings", "Ceilings", join([draw_lines([line]), table]))


def _ceiling_row(figure: Figure, results: Sequence[Result], layout: Layout) -> list[Child]:
    ceiling = figure.estimate.ceiling or 0.0
    shares = []
    for result in results:
        estimate = result.estimates[figure.name]
        shares.append(layout.share(estimate.value / estimate.ceiling) if estimate.ceiling else "")
    return [figure.name, layout.format(figure.measure, ceiling), *shares]
