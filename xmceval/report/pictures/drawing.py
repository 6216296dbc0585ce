"""Draw pictures of results as panels with the values of all systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from xmceval.errors import listed, plural
from xmceval.metrics.measure import Measure
from xmceval.report.forms import load_form
from xmceval.report.pictures.figure import BAND, GRID, INK, Look, Plan, list_keys, style, wrap
from xmceval.report.result import Result
from xmceval.rows.nouns import Nouns

HEIGHT = 2.1  # inches of a panel
LABEL = HEIGHT - 0.4  # inches for the text of its axis
MOST_BANDS = 3  # systems whose overlapping bands can be distinguished
MOST_POINTS = 72  # points in a panel; more are drawn as lines without intervals
MOST_TICKS = 8
WIDTH = 0.8  # of the points of a cutoff, or the bars of a bin, together
NAMES = 1.3  # inches for the names next to a panel
LINE = 0.15  # inches of a line of these names


def plan_picture(
    kind: str, results: Sequence[Result], comparison: Any, measures: Sequence[Measure], *, is_chosen: bool = False
) -> Plan:
    """Plan a picture of some measures; default measures may be left out, with a note."""
    if comparison is not None:
        results = list(comparison.systems.values())  # means, and not each run
    with style():
        if kind == "curves":
            return _plan_curves(results, measures)
        if kind == "bins":
            return _plan_bins(results, measures if is_chosen else keep_deepest(measures))
        plan: Plan = load_form(kind).plan_differences(comparison, measures, is_chosen)
        return plan


def keep_deepest(measures: Sequence[Measure]) -> list[Measure]:
    """Return one measure per metric: that with the largest cutoff."""
    heads = dict.fromkeys(measure.head for measure in measures)
    return [max((m for m in measures if m.head == head), key=lambda measure: measure.k or 0) for head in heads]


def scale(measure: Measure, nouns: Nouns) -> float:
    """Return the factor of the values of a measure: shares are drawn in percent, but of queries as fractions."""
    if measure.metric.unit == "share" and not nouns.are_of_queries:
        return 100.0
    return 1.0


def draw_values(estimates: Iterable[Any], measure: Measure, nouns: Nouns) -> Any:
    """Return values and both ends of their error bars, in the unit drawn, float64[3, n]; NaN without an interval."""
    return scale(measure, nouns) * np.array([(estimate.value, *estimate.bar) for estimate in estimates]).T


def describe_bars(results: Iterable[Result]) -> str:
    """Say what the error bars of a picture are."""
    sds = (result.figures[0].estimate.sd for result in results)
    return " or ".join(dict.fromkeys("95% intervals" if sd is None else "± sd over runs" for sd in sds))


def name_with_unit(name: str, measure: Measure, nouns: Nouns, of_percent: str = "%") -> str:
    """Return a name with the unit of the values drawn, which shares in percent have."""
    if scale(measure, nouns) == 100:
        return f"{name}, {of_percent}"
    return name


def _plan_curves(results: Sequence[Result], measures: Sequence[Measure]) -> Plan:
    """Plan a panel for each metric: lines with bands for few systems, points side by side for more."""
    heads: dict[str, list[Measure]] = {measure.head: [] for measure in measures}
    for measure in sorted(measures, key=lambda measure: measure.k or 0):
        heads[measure.head].append(measure)
    n_cutoffs = max(map(len, heads.values()))
    n_points = len(results) * n_cutoffs
    has_points = (n_cutoffs == 1 or len(results) > MOST_BANDS) and n_points <= MOST_POINTS
    has_intervals = has_points or len(results) <= MOST_BANDS
    draw = _draw_points if has_points else partial(_draw_lines, has_intervals=has_intervals)
    intervals = ""
    bars = describe_bars(results)
    note = f"{bars} are left out: {n_points} would overlap in each panel"
    if has_intervals:
        intervals = f", with {bars}"
        note = ""
    names = [result.name for result in results]
    return Plan(
        panels=[partial(draw, results, cutoffs) for cutoffs in heads.values()],
        keys=list_keys(names, lambda look: Line2D([], [], **(look.points if has_points else look.line))),
        caption=f"metrics against the cutoff k{intervals}",
        text=f"{listed(heads)} against the cutoff k{intervals}{',' * has_intervals} for {listed(names)}",
        note=note,
    )


def _draw_lines(results: Sequence[Result], measures: Sequence[Measure], ax: Axes, *, has_intervals: bool) -> float:
    """Draw one metric of all systems as lines with bands for their intervals."""
    cutoffs = [measure.k or 0 for measure in measures]
    for i, result in enumerate(results):
        values, lows, highs = draw_values(
            (result.estimates[measure.name] for measure in measures), measures[0], result.nouns
        )
        look = Look.of(i)
        ax.plot(cutoffs, values, **look.line)
        if has_intervals:
            ax.fill_between(cutoffs, lows, highs, color=look.color, alpha=BAND, linewidth=0)
    if len(cutoffs) <= MOST_TICKS:
        ax.set_xticks(cutoffs)
    return _name_axes(measures[0], results[0].nouns, ax)


def _draw_points(results: Sequence[Result], measures: Sequence[Measure], ax: Axes) -> float:
    """Draw one metric of all systems as points with their intervals, side by side at each cutoff."""
    for i, result in enumerate(results):
        values, lows, highs = draw_values(
            (result.estimates[measure.name] for measure in measures), measures[0], result.nouns
        )
        places = np.arange(len(measures)) + WIDTH / len(results) * (i - (len(results) - 1) / 2)
        errors = [values - lows, highs - values]
        ax.errorbar(places, values, yerr=errors, elinewidth=1.0, markersize=3.6, **Look.of(i).points)
    for place in range(len(measures) - 1):
        ax.axvline(place + 0.5, color=INK, alpha=GRID, linewidth=0.6, linestyle=(0, (2, 2)))
    ax.set_xlim(-0.5, len(measures) - 0.5)
    ax.set_xticks(range(len(measures)), [str(measure.k) for measure in measures])
    ax.tick_params(axis="x", length=0)
    return _name_axes(measures[0], results[0].nouns, ax)


def _name_axes(measure: Measure, nouns: Nouns, ax: Axes) -> float:
    """Name the axes of a panel against cutoffs, and return its height."""
    ax.set_xlabel("cutoff k")
    ax.set_ylabel(wrap(name_with_unit(f"{measure.head}@k", measure, nouns), LABEL, 8))
    ax.locator_params(axis="y", nbins=6, steps=(1, 2, 5, 10))
    ax.grid(axis="y")
    return HEIGHT


def _plan_bins(results: Sequence[Result], measures: Sequence[Measure]) -> Plan:
    """Plan a panel for each metric: in each bin a bar per system."""
    names = [result.name for result in results]
    bins = [part.bin for part in results[0].slices]
    are_groups = bins[0].noun == "group"
    of_truth = results[0].propensities is not None and results[0].propensities.from_truth
    nouns = results[0].nouns
    rows = plural(nouns.row)
    if are_groups:
        noun = f"group of {rows}"
        axis = f"groups of {rows}, {rows} per group"
    else:
        labels = plural(nouns.label)
        counted_rows = f"{rows} of the truth" if of_truth else f"training {rows}"
        noun = f"bin of {labels}"
        axis = f"bins of {labels}, {counted_rows} per {nouns.label}"
    return Plan(
        panels=[partial(_draw_bars, results, measure, axis) for measure in measures],
        keys=list_keys(names, lambda look: Patch(**look.bar)),
        caption=f"metrics by {noun}, with {describe_bars(results)}",
        text=f"{listed(measures)} by {noun} ({listed(part.name for part in bins)}) for {listed(names)}",
    )


def _draw_bars(results: Sequence[Result], measure: Measure, axis: str, ax: Axes) -> float:
    """Draw one metric of all systems."""
    bins = [part.bin for part in results[0].slices]
    nouns = results[0].nouns
    width = WIDTH / len(results)
    for i, result in enumerate(results):
        values, lows, highs = draw_values((part.estimates[measure.name] for part in result.slices), measure, nouns)
        places = np.arange(len(bins)) + (i - (len(results) - 1) / 2) * width
        ax.bar(places, values, 0.9 * width, **Look.of(i).bar)
        ax.errorbar(places, values, [values - lows, highs - values], fmt="none", ecolor=INK, elinewidth=0.8)
    if len(bins) > MOST_TICKS:
        labels = [f"{wrap(part.name, 1.2, 7.5)}, {part.extent}" for part in bins]
        ax.tick_params(axis="x", rotation=90)
    else:
        labels = [f"{wrap(part.name, 2.6 / len(bins), 7.5)}\n{part.extent}" for part in bins]
    ax.set_xticks(range(len(bins)), labels)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel(axis)
    kind = next(figure.kind for figure in results[0].slices[0].figures if figure.measure == measure)
    unit = "%"
    words = measure.name
    if kind == "share":  # the shares of all bins add up to the metric
        unit = "points"
        words = f"share of {words}"
    elif kind == "average":
        words = f"{words} within the bin"
    ax.set_ylabel(wrap(name_with_unit(words, measure, nouns, unit), LABEL, 8))
    ax.grid(axis="y")
    return HEIGHT
