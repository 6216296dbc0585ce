"""Curves: metrics against the cutoff with 95% intervals: bands of few systems, of more points beside each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.report.pictures.plottedvalues import Subject, choose, choosing, ends, results_of, scale, unit
from xmceval.report.pictures.style import BAND, DOTTED, Grid, Look, Plan, lines_of
from xmceval.report.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWS = "metrics at a cutoff"
MOST_TICKS = 8
MOST_BANDS = 3  # systems, whose bands can be told apart where they overlap
MOST_POINTS = 72  # beside each other in a panel; more are lines without intervals
FEW_POINTS = {4: 18, 3: 27}  # by panels side by side on a page: up to how many points each has room for
FEW_PANELS = 3  # in a column, up to which they are as high as on a page
WIDTH = 0.78  # of the points of a cutoff together


def shows(measure: Measure) -> bool:
    """Whether a measure has a value at a cutoff."""
    return measure.k is not None


def plan(subject: Subject, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan one panel for each metric."""
    results = results_of(subject)
    measures = choose("curves", (each.measure for each in results[0].figures), metrics, shows, SHOWS)
    heads: dict[str, list[Measure]] = {}
    for measure in measures:
        heads.setdefault(measure.head, []).append(measure)
    most = max(map(len, heads.values()))
    n_points = len(results) * most
    has_points = (most == 1 or len(results) > MOST_BANDS) and n_points <= MOST_POINTS
    has_intervals = has_points or len(results) <= MOST_BANDS
    panels = [
        partial(_draw, results, sorted(each, key=lambda m: m.k or 0), has_points, has_intervals)
        for each in heads.values()
    ]
    columns = next((n for n, few in FEW_POINTS.items() if n_points <= few), 2) if has_points else 2
    intervals = ", with 95% intervals," if has_intervals else ""
    return Plan(
        panels,
        lines_of([each.name for each in results], has_lines=not has_points),
        f"{listed(heads)} against the cutoff k{intervals} for {listed(r.name for r in results)}",
        Grid(columns, 2.1),
        Grid(1, 2.1 if len(panels) <= FEW_PANELS else 1.55),
        note="" if has_intervals else f"95% intervals are left out: {n_points} would overlap in each panel",
        hint=choosing("metrics", "NAMES"),
    )


def _draw(
    results: Sequence[Result], measures: Sequence[Measure], has_points: bool, has_intervals: bool, ax: Axes
) -> None:
    """Draw one metric of all systems."""
    for i, result in enumerate(results):
        estimates = [result.estimates[measure.name] for measure in measures]
        factor = scale(measures[0])
        values = [factor * each.value for each in estimates]
        bounds = [ends(each, factor) if has_intervals else (math.nan, math.nan) for each in estimates]
        if has_points:
            shift = WIDTH / len(results) * (i - (len(results) - 1) / 2)
            _draw_points([x + shift for x in range(len(measures))], values, bounds, Look.of(i), ax)
        else:
            _draw_line([float(each.k or 0) for each in measures], values, bounds, Look.of(i), ax)
    places = range(len(measures)) if has_points else [measure.k or 0 for measure in measures]
    if has_points:
        ax.set_xlim(-0.5, len(measures) - 0.5)
        ax.tick_params(axis="x", length=0)
        for x in range(len(measures) - 1):
            ax.axvline(x + 0.5, **DOTTED)
    if has_points or len(measures) <= MOST_TICKS:
        ax.set_xticks(places, [str(measure.k) for measure in measures])
    ax.set_xlabel("cutoff k")
    ax.set_ylabel(f"{measures[0].head}@k{unit(measures[0])}")
    ax.locator_params(axis="y", nbins=6, steps=(1, 2, 5, 10))
    ax.grid(axis="y")


def _draw_points(
    x: Sequence[float], values: Sequence[float], bounds: Sequence[tuple[float, float]], look: Look, ax: Axes
) -> None:
    """Draw values and their intervals."""
    has_errors = not all(math.isnan(low) for low, _ in bounds)
    errors = [[y - low for y, (low, _) in zip(values, bounds, strict=True)],
              [high - y for y, (_, high) in zip(values, bounds, strict=True)]]  # fmt: skip
    how = {**look.mark, "linestyle": "none", "elinewidth": 1.0, "markersize": 3.6}
    ax.errorbar(x, values, yerr=errors if has_errors else None, **how)


def _draw_line(
    x: Sequence[float], values: Sequence[float], bounds: Sequence[tuple[float, float]], look: Look, ax: Axes
) -> None:
    """Draw values that belong together, and the band of their intervals."""
    ax.plot(x, values, **look.line)
    if not all(math.isnan(low) for low, _ in bounds):
        lows, highs = zip(*bounds, strict=True)
        ax.fill_between(x, lows, highs, color=look.color, alpha=BAND, linewidth=0)
