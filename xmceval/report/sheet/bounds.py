"""Bounds: how far ties could move values, and the best values that any ranking could have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xmceval.errors import counted
from xmceval.report.forms.layout import Layout
from xmceval.report.result import Result
from xmceval.report.sheet.model import Listing
from xmceval.scoring.summary import Figure

ORDERS = {"label": "by label id", "expected": "by the mean over all orders", "best": "in the best order"}
WORST_ORDER = "in the worst order"


def describe_ties(result: Result, layout: Layout) -> Iterator[str]:
    """Describe the ties of a system: how many instances have any, then what they could move furthest."""
    counts = " · ".join(_count_ties(result))
    if counts:
        yield counts
    moves = ", ".join(_largest_moves(result, layout))
    if moves:
        yield f"ties could move {moves}"


def _count_ties(result: Result) -> Iterator[str]:
    """Count the instances with ties that matter."""
    counts = result.counts
    across = [(k, rows) for k, rows in counts.tied_rows.items() if rows]
    if across:
        (k, rows), *others = across
        numbers = [f"{counted(rows, 'instance')} @{k}", *(f"{rows:,} @{k}" for k, rows in others)]
        yield f"ties across a cutoff: {', '.join(numbers)}"
    if counts.inside_ties:
        inside = "inside only" if across else "ties inside the cutoffs only"
        yield f"{inside}: {counts.inside_ties:,}"


def _largest_moves(result: Result, layout: Layout) -> Iterator[str]:
    """Find for each cutoff the metric that ties could move furthest, with its bounds."""
    by_cutoff: dict[str, list[tuple[float, str]]] = {figure.measure.cutoff: [] for figure in result.figures}
    for figure, size, low, high in _find_moves(result, layout):
        by_cutoff[figure.measure.cutoff].append((size, f"{figure.name} {low}..{high}"))
    yield from (max(moves, key=lambda move: move[0])[1] for moves in by_cutoff.values() if moves)


def _find_moves(result: Result, layout: Layout) -> Iterator[tuple[Figure, float, str, str]]:
    """Find the values that ties could move: by how much, and their bounds, where these differ as printed."""
    for figure in result.figures:
        least, greatest = figure.estimate.tie_low, figure.estimate.tie_high
        if least is None or greatest is None:
            continue
        low, high = layout.format(figure.measure, least), layout.format(figure.measure, greatest)
        if low != high:
            yield figure, greatest - least, low, high


def describe_worst_tie(results: Mapping[str, Result], layout: Layout) -> str:
    """Describe the value that ties could move furthest, of systems by name; shares come first. Empty without any."""
    moves = [(name, *move) for name, result in results.items() for move in _find_moves(result, layout)]
    shares = [move for move in moves if move[1].measure.metric.unit == "share"]
    if not moves:
        return ""
    name, figure, size, low, high = max(shares or moves, key=lambda move: move[2])
    points = " points" if shares and layout.percent else ""
    moved = f"{layout.format(figure.measure, size)}{points}"
    return f"ties across a cutoff move values by at most {moved} ({name}, {figure.name} {low}..{high})"


def list_ties(results: Sequence[Result], layout: Layout) -> Iterator[Listing]:
    """List for each system the instances with ties that matter, then all values that they could move."""
    cutoffs = [k for k in results[0].counts.tied_rows if any(each.counts.tied_rows.get(k) for each in results)]
    has_inside = any(each.counts.inside_ties for each in results)
    if not cutoffs and not has_inside:
        return
    head = ("", *(f"across @{k}" for k in cutoffs), *(["inside the cutoffs only"] if has_inside else []))
    rows = []
    for each in results:
        numbers = [*(each.counts.tied_rows.get(k, 0) for k in cutoffs), *([each.counts.inside_ties] * has_inside)]
        rows.append((each.name, *(f"{number:,}" for number in numbers)))
    rule = results[0].options.get("ties", "label")
    title = "instances in which labels of equal score lie on both sides of a cutoff, or inside the cutoffs only"
    lines = (f"ties are ordered {ORDERS.get(rule, WORST_ORDER)} (ties={rule})",)
    yield Listing(title, (head, *rows), frozenset(range(1, len(head))), lines, has_head=True)
    moved = [
        (each.name, figure.name, layout.format(figure.measure, figure.estimate.value), low, high)
        for each in results
        for figure, _, low, high in _find_moves(each, layout)
    ]
    if moved:
        head = ("", "metric", "value", "lowest", "highest")
        title = "values that another order of equal scores would change"
        yield Listing(title, (head, *moved), frozenset({2, 3, 4}), has_head=True)


def list_ceilings(results: Sequence[Result], layout: Layout) -> Iterator[Listing]:
    """List the ceilings of the truth, and what share of them each system reaches."""
    figures = [figure for figure in results[0].figures if figure.estimate.ceiling is not None]
    if not figures:
        return
    rows = []
    for figure in figures:
        reached = [each.estimates[figure.name] for each in results]
        shares = (layout.share(each.value / each.ceiling) if each.ceiling else "" for each in reached)
        rows.append((figure.name, layout.format(figure.measure, figure.estimate.ceiling or 0.0), *shares))
    unit = " · percent" if layout.percent else ""
    title = f"ceiling: the best value that any ranking could have on this truth · the share of it that is reached{unit}"
    head = ("", "ceiling", *(["reached"] if len(results) == 1 else [each.name for each in results]))
    yield Listing(title, (head, *rows), frozenset(range(1, len(head))), has_head=True)
