"""Rows: the values of rows of a system against those of its baseline, as counts of rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison
from xmceval.report.pictures.plottedvalues import (
    Subject,
    choose,
    choosing,
    comparison_of,
    deepest,
    main_pairs,
    not_collected,
)
from xmceval.report.pictures.style import (
    COLORS,
    GUIDE,
    INK,
    RULES,
    Grid,
    Plan,
    fit,
    measure,
    place_of,
    shorten,
    wrap,
)
from xmceval.scoring.comparing.densities import Density, has_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWS = "metrics with per-instance values from 0 to 1"
MOST_NUMBERS = 6  # values per axis up to which cells show their numbers
# By the most panels, how they are arranged on a page and in a column.
GRIDS = (
    (2, Grid(2, 2.9), Grid(1, 2.9)),
    (9, Grid(3, 2.3), Grid(2, 1.85)),
    (math.inf, Grid(4, 1.85), Grid(2, 1.65)),
)
AROUND = 0.65  # inches beside a panel, for the names on its axes
ROOM = 3.1  # inches that a panel takes at most
NARROW, NARROW_TICKS = 1.3, 4  # inches of a panel in which more labels than these would touch
CELL, TITLE = 7, 7  # the sizes of the numbers in cells, and of those above
PALEST, DARK = 0.05, 0.85  # opacities of a cell: the least, and from which on its number is white


def shows(measure: Measure) -> bool:
    """Whether the values of rows of a measure lie from 0 to 1."""
    return has_shares(measure)


def plan(subject: Subject, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan one panel for each pair and metric, by default the first metric at its largest cutoff."""
    comparison = comparison_of("rows", subject)
    if not comparison.densities:
        raise not_collected("rows")
    counted = {each.measure for each in comparison.densities}
    everything = (each.measure for each in comparison.results[0].figures)
    measures = choose("rows", everything, metrics, lambda measure: measure in counted, SHOWS)
    measures = deepest(measures)[:1] if metrics is None else measures
    main, note = main_pairs(comparison)
    shown = [
        each
        for measure in measures
        for each in comparison.densities
        if each.measure == measure and (each.system, each.baseline) in main
    ]
    pairs = (f"{each.system} against {each.baseline}" for each in shown)
    text = f"numbers of instances by their values of {listed(measures)}: {listed(dict.fromkeys(pairs))}"
    panels = [partial(_draw, comparison, each) for each in shown]
    hint = choosing("metrics", "NAMES") if len(measures) > 1 else "hint: pass fewer systems"
    page, column = next((page, column) for most, page, column in GRIDS if len(shown) <= most)
    return Plan(panels, None, text, page, column, note=note, hint=hint)


def _draw(comparison: Comparison, density: Density, ax: Axes) -> None:
    """Draw one pair: the darker a cell, the more rows it has."""
    name, size = density.measure.name, RULES["axes.labelsize"]
    _, room = place_of(ax)
    room = min(room, ROOM) - AROUND
    names = shorten([density.system, density.baseline], 22)
    system, baseline = fit(names, room + 0.1 - measure(f"{name} of , %", size), size)
    step = 100 / density.n_steps
    ends = [-step / 2, 100 + step / 2]
    has_numbers = density.n_steps < MOST_NUMBERS and _widest(density) < (room - 0.05) / (density.n_steps + 1)
    _draw_cells(density, ax, has_bar=not has_numbers)
    if has_numbers:
        _write_numbers(density, ax)
    else:
        ax.plot(ends, ends, **GUIDE)
    ax.set_xlabel(f"{name} of {baseline}, %")
    ax.set_ylabel(f"{name} of {system}, %")
    ax.set_title(wrap(_count_wins(comparison, density), room + 0.1, TITLE), loc="left", fontsize=TITLE)
    ax.set_xlim(*ends)
    ax.set_ylim(*ends)
    ax.set_aspect("equal")
    ticks = [
        100 * i / min(density.n_steps, MOST_NUMBERS - 1) for i in range(min(density.n_steps, MOST_NUMBERS - 1) + 1)
    ]
    every = 2 if room < NARROW and len(ticks) > NARROW_TICKS else 1
    ax.set_xticks(ticks, ["" if i % every else f"{tick:.0f}" for i, tick in enumerate(ticks)])
    ax.set_yticks(ticks, [f"{tick:.0f}" for tick in ticks])


def _widest(density: Density) -> float:
    """Return the inches that the widest number of a cell takes."""
    return measure(f"{int(density.counts.max(initial=0)):,}", CELL)


def _draw_cells(density: Density, ax: Axes, *, has_bar: bool) -> None:
    """Fill each cell by the number of its rows."""
    import numpy as np
    from matplotlib.colors import BoundaryNorm, ListedColormap, to_rgba

    counts = density.counts.T
    bounds = _levels(int(counts.max(initial=0)))
    edges = (np.arange(density.n_steps + 2) - 0.5) * (100 / density.n_steps)
    mesh = ax.pcolormesh(
        *(edges, edges, np.ma.masked_equal(counts, 0)),
        cmap=ListedColormap([to_rgba(COLORS[0], alpha) for alpha in _alphas(bounds)]),
        norm=BoundaryNorm(bounds, len(bounds) - 1),
        linewidth=0,
        antialiased=False,
    )
    if has_bar:
        bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.8, pad=0.03, label="rows")
        bar.set_ticks(bounds, labels=[f"{bound:,}" for bound in bounds])
        bar.ax.tick_params(length=0)
        bar.outline.set_visible(False)


def _write_numbers(density: Density, ax: Axes) -> None:
    """Write the number of rows into each cell, and frame those in which both systems are as good."""
    import numpy as np
    from matplotlib.patches import Rectangle

    step = 100 / density.n_steps
    bounds = _levels(int(density.counts.max(initial=0)))
    alphas = _alphas(bounds)
    for i, j in np.argwhere(density.counts).tolist():
        number = density.counts[i, j]
        is_dark = alphas[int(np.searchsorted(bounds, number, side="right")) - 1] > DARK
        color = "white" if is_dark else INK
        ax.text(i * step, j * step, f"{number:,}", ha="center", va="center", fontsize=CELL, color=color)
    for i in range(density.n_steps + 1):
        place = (i - 0.5) * step, (i - 0.5) * step
        ax.add_patch(Rectangle(place, step, step, fill=False, edgecolor=INK, linewidth=0.8))


def _alphas(bounds: Sequence[int]) -> list[float]:
    """Return the opacity of each level of numbers of rows: the more, the darker."""
    n = len(bounds) - 1
    return [PALEST + (1 - PALEST) * (i + 1) / n for i in range(n)]


def _levels(most: int) -> list[int]:
    """Return where the shades of numbers of rows begin: 1, 2, 5, 10 ... as far as there are so many."""
    steps = [factor * 10**power for power in range(len(str(most)) + 1) for factor in (1, 2, 5)]
    return [*(step for step in steps if step <= max(most, 1)), most + 1]


def _count_wins(comparison: Comparison, density: Density) -> str:
    """Say in how many rows the system is better, as good and worse."""
    each: Any = comparison.by_key.get((density.measure.name, density.system, density.baseline))
    if each is None or each.wins is None:
        return ""
    return f"{each.wins:,} better, {each.ties:,} equal, {each.losses:,} worse"
