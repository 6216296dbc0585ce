"""Drawing: the three kinds of pictures, each of panels that draw the values of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.report.compared import Difference
from xmceval.report.comparison import Comparison
from xmceval.report.pictures.chosen import Subject, choose_cutoffs, choose_pairs, keep_deepest, results_of
from xmceval.report.pictures.figure import BAND, COLORS, GRID, INK, Look, Plan, list_keys, printable, style, wrap
from xmceval.report.result import Result
from xmceval.report.sheet.comparesheet import describe_family
from xmceval.report.sheet.model import MINUS
from xmceval.report.sheet.verdicts import describe_level

HEIGHT = 2.1  # inches of a panel
LABEL = HEIGHT - 0.4  # inches for the text beside its axis
MOST_BANDS = 3  # systems whose bands can be told apart where they overlap
MOST_POINTS = 72  # beside each other in a panel; more are lines without intervals
MOST_TICKS = 8
WIDTH = 0.8  # of the points of a cutoff, or the bars of a bin, together
NAMES = 1.3  # inches for the names beside a panel of differences
TITLE = 1.6  # inches for a title above it
LINE, SPACE = 0.15, 0.25  # inches of a line of these names, and the space between two of them in lines
# What a difference is, in the order of every legend: its colour, its marker, and whether that is filled.
LOOKS = {
    "better": (COLORS[0], ">", COLORS[0]),
    "not significant": (INK, "o", "none"),
    "worse": (COLORS[1], "<", COLORS[1]),
    "not tested": (INK, "x", "none"),
}


def plan_picture(kind: str, subject: Subject, measures: Sequence[Measure], *, is_chosen: bool = False) -> Plan:
    """Plan a picture of some measures; of those that nobody chose it may leave some out, and say so."""
    with style():
        if kind == "curves":
            return _plan_curves(results_of(subject), measures)
        if kind == "bins":
            return _plan_bins(results_of(subject), measures if is_chosen else keep_deepest(measures))
        return _plan_differences(subject, measures, is_chosen=is_chosen)


def scale(measure: Measure) -> float:
    """Return what values are multiplied by: shares are drawn in percent."""
    return 100.0 if measure.metric.unit == "share" else 1.0


def draw_values(estimates: Iterable[Any], measure: Measure) -> Any:
    """Return values and both ends of their intervals as they are drawn, float64[3, n]; NaN without an interval."""
    return scale(measure) * np.array([(estimate.value, *estimate.interval) for estimate in estimates]).T


def _plan_curves(results: Sequence[Result], measures: Sequence[Measure]) -> Plan:
    """Plan a panel for each metric: lines with bands of few systems, of more points beside each other."""
    heads: dict[str, list[Measure]] = {measure.head: [] for measure in measures}
    for measure in sorted(measures, key=lambda measure: measure.k or 0):
        heads[measure.head].append(measure)
    n_cutoffs = max(map(len, heads.values()))
    n_points = len(results) * n_cutoffs
    has_points = (n_cutoffs == 1 or len(results) > MOST_BANDS) and n_points <= MOST_POINTS
    has_intervals = has_points or len(results) <= MOST_BANDS
    draw = _draw_points if has_points else partial(_draw_lines, has_intervals=has_intervals)
    intervals = ", with 95% intervals" if has_intervals else ""
    names = [result.name for result in results]
    return Plan(
        panels=[partial(draw, results, cutoffs) for cutoffs in heads.values()],
        heights=[HEIGHT] * len(heads),
        keys=list_keys(names, lambda look: Line2D([], [], **(look.points if has_points else look.line))),
        caption=f"metrics against the cutoff k{intervals}",
        text=f"{listed(heads)} against the cutoff k{intervals}{',' * has_intervals} for {listed(names)}",
        note="" if has_intervals else f"95% intervals are left out: {n_points} would overlap in each panel",
    )


def _draw_lines(results: Sequence[Result], measures: Sequence[Measure], ax: Axes, *, has_intervals: bool) -> None:
    """Draw one metric of all systems as lines, with the bands of their intervals."""
    cutoffs = [measure.k or 0 for measure in measures]
    for i, result in enumerate(results):
        values, lows, highs = draw_values((result.estimates[measure.name] for measure in measures), measures[0])
        look = Look.of(i)
        ax.plot(cutoffs, values, **look.line)
        if has_intervals:
            ax.fill_between(cutoffs, lows, highs, color=look.color, alpha=BAND, linewidth=0)
    if len(cutoffs) <= MOST_TICKS:
        ax.set_xticks(cutoffs)
    _name_axes(measures[0], ax)


def _draw_points(results: Sequence[Result], measures: Sequence[Measure], ax: Axes) -> None:
    """Draw one metric of all systems as points with their intervals, side by side at each cutoff."""
    for i, result in enumerate(results):
        values, lows, highs = draw_values((result.estimates[measure.name] for measure in measures), measures[0])
        places = np.arange(len(measures)) + WIDTH / len(results) * (i - (len(results) - 1) / 2)
        errors = [values - lows, highs - values]
        ax.errorbar(places, values, yerr=errors, elinewidth=1.0, markersize=3.6, **Look.of(i).points)
    for place in range(len(measures) - 1):
        ax.axvline(place + 0.5, color=INK, alpha=GRID, linewidth=0.6, linestyle=(0, (2, 2)))
    ax.set_xlim(-0.5, len(measures) - 0.5)
    ax.set_xticks(range(len(measures)), [str(measure.k) for measure in measures])
    ax.tick_params(axis="x", length=0)
    _name_axes(measures[0], ax)


def _name_axes(measure: Measure, ax: Axes) -> None:
    ax.set_xlabel("cutoff k")
    ax.set_ylabel(wrap(f"{measure.head}@k{', %' if scale(measure) == 100 else ''}", LABEL, 8))
    ax.locator_params(axis="y", nbins=6, steps=(1, 2, 5, 10))
    ax.grid(axis="y")


def _plan_bins(results: Sequence[Result], measures: Sequence[Measure]) -> Plan:
    """Plan a panel for each metric: in each bin a bar per system."""
    names = [result.name for result in results]
    bins = [part.bin for part in results[0].slices]
    are_groups = bins[0].noun == "group"
    of_truth = results[0].propensities is not None and results[0].propensities.from_truth
    instances = "instances of the truth" if of_truth else "training instances"
    axis = "groups of instances, instances per group" if are_groups else f"bins of labels, {instances} per label"
    noun = "group of instances" if are_groups else "bin of labels"
    return Plan(
        panels=[partial(_draw_bars, results, measure, axis) for measure in measures],
        heights=[HEIGHT] * len(measures),
        keys=list_keys(names, lambda look: look.patch),
        caption=f"metrics by {noun}, with 95% intervals",
        text=f"{listed(measures)} by {noun} ({listed(part.name for part in bins)}) for {listed(names)}",
    )


def _draw_bars(results: Sequence[Result], measure: Measure, axis: str, ax: Axes) -> None:
    """Draw one metric of all systems."""
    bins, width = [part.bin for part in results[0].slices], WIDTH / len(results)
    for i, result in enumerate(results):
        values, lows, highs = draw_values((part.estimates[measure.name] for part in result.slices), measure)
        places = np.arange(len(bins)) + (i - (len(results) - 1) / 2) * width
        ax.bar(places, values, 0.9 * width, **Look.of(i).bar)
        ax.errorbar(places, values, [values - lows, highs - values], fmt="none", ecolor=INK, elinewidth=0.8)
    are_many = len(bins) > MOST_TICKS
    room = 1.2 if are_many else 2.6 / len(bins)
    labels = [f"{wrap(part.name, room, 7.5)}{', ' if are_many else chr(10)}{part.extent}" for part in bins]
    ax.set_xticks(range(len(bins)), labels, rotation=90 if are_many else 0)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel(axis)
    ax.set_ylabel(wrap(_describe_values(measure, results[0]), LABEL, 8))
    ax.grid(axis="y")


def _describe_values(measure: Measure, result: Result) -> str:
    """Say what the values are: shares that add up to the metric, or averages within a bin."""
    kind = next(figure.kind for figure in result.slices[0].figures if figure.measure == measure)
    if kind == "share":
        return f"share of {measure.name}{_unit(measure)}"
    return f"{measure.name}{' within the bin' * (kind == 'average')}{', %' if scale(measure) == 100 else ''}"


def _plan_differences(comparison: Any, measures: Sequence[Measure], *, is_chosen: bool) -> Plan:
    """Plan a forest plot: a panel for each metric with a line for each pair; one pair has a line for each metric."""
    pairs, left_pairs = choose_pairs(comparison)
    measures, left_measures = (measures, "") if is_chosen else choose_cutoffs(measures, len(pairs))
    baselines = list(dict.fromkeys(baseline for _, baseline in pairs))
    differences = [comparison.by_key[(measure.name, *pair)] for measure in measures for pair in pairs]
    panels: dict[str, list[Difference]] = {}
    for difference in differences:
        measure = difference.measure
        panels.setdefault(measure.metric.unit if len(pairs) == 1 else measure.name, []).append(difference)
    drawn = [_plan_panel(lines, baselines, has_pairs=len(pairs) > 1) for lines in panels.values()]
    limits = _find_limits(differences)
    family = [line for line in describe_family(comparison.testing, [comparison]) if line.endswith("intervals are not")]
    return Plan(
        panels=[
            partial(_draw_differences, lines, labels, title, axis, limits)
            for lines, (labels, title, axis) in zip(panels.values(), drawn, strict=True)
        ],
        heights=[LINE * (_place_lines(labels)[1] + (title + axis).count("\n")) + 0.75 for labels, title, axis in drawn],
        keys=_explain_looks(differences, comparison, baselines),
        caption="differences between systems with their 95% intervals",
        text=f"differences of {listed(measures)} with 95% intervals: {'; '.join(f'{a} {MINUS} {b}' for a, b in pairs)}",
        note="; ".join(filter(None, (left_pairs, left_measures, *family))),
    )


def _plan_panel(
    differences: Sequence[Difference], baselines: Sequence[str], *, has_pairs: bool
) -> tuple[list[str], str, str]:
    """Return the labels of lines, the title and the text below the axis; a single pair is named there."""
    measure = differences[0].measure
    if has_pairs:
        labels = [_name_pair(difference, baselines) for difference in differences]
        title, axis = wrap(f"{measure.name}{_unit(measure)}", TITLE, 8), ""
    else:
        labels = [difference.measure.name for difference in differences]
        title, axis = "", wrap(f"{_name_pair(differences[0], [])}{_unit(measure)}", TITLE, 8)
    return [wrap(label, NAMES, 7.5) for label in labels], title, axis


def _name_pair(difference: Difference, baselines: Sequence[str]) -> str:
    """Name a line: its pair, or the system alone where all lines have one baseline."""
    names = [difference.system] if len(baselines) == 1 else [difference.system, difference.baseline]
    return f" {MINUS} ".join(map(printable, names))


def _unit(measure: Measure) -> str:
    return ", points" if scale(measure) == 100 else ""


def _place_lines(labels: Sequence[str]) -> tuple[list[float], float]:
    """Return where lines are from above, and where the last one ends; a label that is broken takes more room."""
    places, end = [], -SPACE
    for label in labels:
        n_lines = label.count("\n") + 1
        places.append(end + SPACE + n_lines / 2)
        end += SPACE + n_lines
    return places, end


def _find_limits(differences: Sequence[Difference]) -> dict[str, tuple[float, float]]:
    """Return the ends of the axis for each unit, which its panels share."""
    ends: dict[str, list[float]] = {}
    for difference in differences:
        factor = scale(difference.measure)
        numbers = (difference.low, difference.high, difference.difference)
        ends.setdefault(difference.measure.metric.unit, [0.0]).extend(factor * x for x in numbers if x is not None)
    rooms = {unit: 0.06 * (max(numbers) - min(numbers)) or 1.0 for unit, numbers in ends.items()}
    return {unit: (min(numbers) - rooms[unit], max(numbers) + rooms[unit]) for unit, numbers in ends.items()}


def _draw_differences(
    differences: Sequence[Difference],
    labels: Sequence[str],
    title: str,
    axis: str,
    limits: Mapping[str, tuple[float, float]],
    ax: Axes,
) -> None:
    """Draw differences with their intervals and their numbers, one per line."""
    measure = differences[0].measure
    factor, (places, end) = scale(measure), _place_lines(labels)
    ax.axvline(0.0, color=INK, linewidth=0.8)
    for difference, y in zip(differences, places, strict=True):
        look = _look_of(difference)
        if difference.low is not None and difference.high is not None:
            ends = [factor * difference.low, factor * difference.high]
            ax.plot(ends, [y, y], color=look["color"], linewidth=1.2)
        ax.plot([factor * difference.difference], [y], **look, linestyle="none")
        number = f"{factor * difference.difference:+.2f}".replace("-", MINUS)
        ax.text(1.02, y, number, transform=ax.get_yaxis_transform(), va="center", fontsize=7)
    ax.set_yticks(places, labels)
    ax.set_ylim(end + SPACE, -SPACE)
    ax.set_xlim(*limits[measure.metric.unit])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.locator_params(axis="x", nbins=5, steps=(1, 2, 5, 10))
    ax.grid(axis="x")
    ax.set_title(title, loc="left", fontweight="bold")
    ax.set_xlabel(axis)


def _verdict_of(difference: Difference) -> str:
    """Return which of LOOKS a difference has."""
    if difference.p is None:
        return "not tested"
    return "not significant" if not difference.is_detected else "better" if difference.is_better else "worse"


def _look_of(difference: Difference) -> dict[str, str]:
    """Return the style of a marker: a triangle points to where the difference is, and is filled if significant."""
    color, marker, face = LOOKS[_verdict_of(difference)]
    if difference.is_detected:  # of a metric that is better where it is lower, a better system is on the left
        marker = ">" if difference.difference > 0 else "<"
    return {"color": color, "marker": marker, "markerfacecolor": face}


def _explain_looks(
    differences: Sequence[Difference], comparison: Comparison, baselines: Sequence[str]
) -> list[tuple[str, Line2D]]:
    """Explain the markers that appear, always in the same order; the first significant one has the level."""
    looks = {_verdict_of(difference): _look_of(difference) for difference in differences}
    significant = [verdict for verdict in ("better", "worse") if verdict in looks]
    than = f" than {baselines[0]}" if len(baselines) == 1 else ""
    keys = []
    for verdict in (verdict for verdict in LOOKS if verdict in looks):
        text = f"{verdict}{than}" if verdict in significant else verdict
        level = f", {describe_level(comparison)}" if verdict in significant[:1] else ""
        keys.append((text + level, Line2D([], [], **looks[verdict], linewidth=1.2)))
    return keys
