"""Curves: metrics against the cutoff, with bands for 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.report.pictures.plottedvalues import Subject, choose, ends, results_of, scale, unit
from xmceval.report.pictures.style import BAND, Look, Plan, lines_of
from xmceval.report.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWS = "metrics at a cutoff"
MOST_TICKS = 8
DODGE = 0.06  # between systems, where there is one cutoff and no line


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
    panels = [partial(_draw, results, sorted(each, key=lambda m: m.k or 0)) for each in heads.values()]
    text = f"{listed(heads)} against the cutoff k, with 95 % intervals, for {listed(r.name for r in results)}"
    return Plan(panels, lines_of([each.name for each in results]), text)


def _draw(results: Sequence[Result], measures: Sequence[Measure], ax: Axes) -> None:
    """Draw one metric of all systems."""
    cutoffs, factor = [float(measure.k or 0) for measure in measures], scale(measures[0])
    for i, result in enumerate(results):
        look = Look.of(i)
        estimates = [result.estimates[measure.name] for measure in measures]
        values = [factor * each.value for each in estimates]
        bounds = [ends(each, factor) for each in estimates]
        if len(cutoffs) == 1:
            _draw_point(cutoffs[0] + DODGE * (i - (len(results) - 1) / 2), values[0], *bounds[0], look, ax)
            continue
        ax.plot(cutoffs, values, color=look.color, marker=look.marker, linestyle=look.dashes)
        if not all(math.isnan(low) for low, _ in bounds):
            lows, highs = zip(*bounds, strict=True)
            ax.fill_between(cutoffs, lows, highs, color=look.color, alpha=BAND, linewidth=0)
    if len(cutoffs) == 1:
        ax.set_xlim(cutoffs[0] - 0.5, cutoffs[0] + 0.5)
    if len(cutoffs) <= MOST_TICKS:
        ax.set_xticks(cutoffs, [str(measure.k) for measure in measures])
    ax.set_xlabel("cutoff k")
    ax.set_ylabel(f"{measures[0].head}@k{unit(measures[0])}")
    ax.grid(axis="y")


def _draw_point(x: float, value: float, low: float, high: float, look: Look, ax: Axes) -> None:
    """Draw a single value and its interval."""
    errors = None if math.isnan(low) else [[value - low], [high - value]]
    ax.errorbar([x], [value], yerr=errors, color=look.color, marker=look.marker, linestyle="none", capsize=2)
