"""Bounds: how far ties could move values."""

from __future__ import annotations

from collections.abc import Iterator

from xmceval.errors import counted
from xmceval.report.forms.layout import Layout
from xmceval.report.result import Result
from xmceval.scoring.summary import Figure


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
