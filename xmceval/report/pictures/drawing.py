"""Drawing: the three kinds of pictures, each of panels that draw the values of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.pictures.chosen import (
    Subject,
    as_drawn,
    choose_cutoffs,
    choose_pairs,
    keep_deepest,
    results_of,
    scale,
)
from xmceval.report.pictures.figure import (
    BAND,
    COLORS,
    GRID,
    INK,
    Look,
    Plan,
    bar_keys,
    line_keys,
    printable,
    style,
    wrap,
)
from xmceval.report.result import Result
from xmceval.report.sheet.model import MINUS
from xmceval.report.sheet.significance import describe_family
from xmceval.report.sheet.verdicts import describe_level

HEIGHT = 2.1  # inches of a panel
MOST_BANDS = 3  # systems whose bands can be told apart where they overlap
MOST_POINTS = 72  # beside each other in a panel; more are lines without intervals
MOST_TICKS = 8
WIDTH = 0.8  # of the points of a cutoff, or the bars of a bin, together
NAMES = 1.3  # inches for the names beside a panel of differences
TITLE = 1.6  # inches for a title above it
LINE = 0.15  # inches of a line of these names
# What a difference is, in the order of every legend: its colour, its marker, and whether that is filled.
LOOKS = {
    "better": (COLORS[0], ">", COLORS[0]),
    "not significant": (INK, "o", "none"),
    "worse": (COLORS[1], "<", COLORS[1]),
    "not tested": (INK, "x", "none"),
}


@dataclass(frozen=True)
class Line:
    """A line of a panel of differences: its label, its difference, and where it is and ends, in lines from above."""

    label: str
    difference: Difference
    place: float
    end: float


def plan_picture(kind: str, subject: Subject, measures: Sequence[Measure], *, is_chosen: bool = False) -> Plan:
    """Plan a picture of some measures; of those that nobody chose it may leave some out, and say so."""
    with style():
        if kind == "curves":
            return _plan_curves(results_of(subject), measures)
        if kind == "bins":
            return _plan_bins(results_of(subject), measures if is_chosen else keep_deepest(measures))
        return _plan_differences(subject, measures, is_chosen=is_chosen)


def _plan_curves(results: Sequence[Result], measures: Sequence[Measure]) -> Plan:
    """Plan a panel for each metric: lines with bands of few systems, of more points beside each other."""
    heads: dict[str, list[Measure]] = {}
    for measure in sorted(measures, key=lambda measure: measure.k or 0):
        heads.setdefault(measure.head, []).append(measure)
    heads = {measure.head: heads[measure.head] for measure in measures}
    names = [result.name for result in results]
    n_cutoffs = max(map(len, heads.values()))
    n_points = len(results) * n_cutoffs
    has_points = (n_cutoffs == 1 or len(results) > MOST_BANDS) and n_points <= MOST_POINTS
    has_intervals = has_points or len(results) <= MOST_BANDS
    draw = _draw_points if has_points else partial(_draw_lines, has_intervals=has_intervals)
    intervals = ", with 95% intervals," if has_intervals else ""
    return Plan(
        [partial(draw, results, own) for own in heads.values()],
        line_keys(names, has_lines=not has_points),
        f"{listed(heads)} against the cutoff k{intervals} for {listed(names)}",
        [HEIGHT] * len(heads),
        note="" if has_intervals else f"95% intervals are left out: {n_points} would overlap in each panel",
    )


def _draw_lines(results: Sequence[Result], measures: Sequence[Measure], ax: Axes, *, has_intervals: bool) -> None:
    """Draw one metric of all systems as lines, with the bands of their intervals."""
    cutoffs = [measure.k or 0 for measure in measures]
    for i, (values, lows, highs) in enumerate(_values_of(results, measures)):
        look = Look.of(i)
        ax.plot(cutoffs, values, **look.line)
        if has_intervals:
            ax.fill_between(cutoffs, lows, highs, color=look.color, alpha=BAND, linewidth=0)
    if len(cutoffs) <= MOST_TICKS:
        ax.set_xticks(cutoffs)
    _name_axes(measures[0], ax)


def _draw_points(results: Sequence[Result], measures: Sequence[Measure], ax: Axes) -> None:
    """Draw one metric of all systems as points with their intervals, side by side at each cutoff."""
    for i, (values, lows, highs) in enumerate(_values_of(results, measures)):
        shift = WIDTH / len(results) * (i - (len(results) - 1) / 2)
        places = [place + shift for place in range(len(measures))]
        errors = [
            [value - low for value, low in zip(values, lows, strict=True)],
            [high - value for value, high in zip(values, highs, strict=True)],
        ]
        ax.errorbar(places, values, yerr=errors, elinewidth=1.0, markersize=3.6, **Look.of(i).points)
    for place in range(len(measures) - 1):
        ax.axvline(place + 0.5, color=INK, alpha=GRID, linewidth=0.6, linestyle=(0, (2, 2)))
    ax.set_xlim(-0.5, len(measures) - 0.5)
    ax.set_xticks(range(len(measures)), [str(measure.k) for measure in measures])
    ax.tick_params(axis="x", length=0)
    _name_axes(measures[0], ax)


def _values_of(results: Sequence[Result], measures: Sequence[Measure]) -> list[tuple[list[float], ...]]:
    """Return the values of each system, and both ends of their intervals."""
    factor = scale(measures[0])
    of_systems = ([as_drawn(result.estimates[each.name], factor) for each in measures] for result in results)
    return [tuple(map(list, zip(*own, strict=True))) for own in of_systems]


def _name_axes(measure: Measure, ax: Axes) -> None:
    ax.set_xlabel("cutoff k")
    ax.set_ylabel(wrap(f"{measure.head}@k{', %' if scale(measure) == 100 else ''}", HEIGHT - 0.4, 8))
    ax.locator_params(axis="y", nbins=6, steps=(1, 2, 5, 10))
    ax.grid(axis="y")


def _plan_bins(results: Sequence[Result], measures: Sequence[Measure]) -> Plan:
    """Plan a panel for each metric: in each bin a bar per system."""
    names = [result.name for result in results]
    bins = listed(part.bin.name for part in results[0].slices)
    return Plan(
        [partial(_draw_bars, results, measure) for measure in measures],
        bar_keys(names),
        f"{listed(measures)} by {_describe_bins(results[0])} ({bins}) for {listed(names)}",
        [HEIGHT] * len(measures),
    )


def _draw_bars(results: Sequence[Result], measure: Measure, ax: Axes) -> None:
    """Draw one metric of all systems."""
    factor, width = scale(measure), WIDTH / len(results)
    for i, result in enumerate(results):
        drawn = [as_drawn(part.estimates[measure.name], factor) for part in result.slices]
        places = [place + (i - (len(results) - 1) / 2) * width for place in range(len(drawn))]
        ax.bar(places, [value for value, _, _ in drawn], 0.9 * width, **Look.of(i).bar)
        errors = [[value - low for value, low, _ in drawn], [high - value for value, _, high in drawn]]
        ax.errorbar(places, [value for value, _, _ in drawn], errors, fmt="none", ecolor=INK, elinewidth=0.8)
    bins = [part.bin for part in results[0].slices]
    are_many = len(bins) > MOST_TICKS
    room = 1.2 if are_many else 2.6 / len(bins)
    labels = [f"{wrap(each.name, room, 7.5)}{', ' if are_many else chr(10)}{each.extent}" for each in bins]
    ax.set_xticks(range(len(bins)), labels, rotation=90 if are_many else 0)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel(f"{_describe_bins(results[0]).replace(' ', 's ', 1)}, {_describe_counts(results[0])}")
    ax.set_ylabel(wrap(_describe_values(measure, results[0]), HEIGHT - 0.4, 8))
    ax.grid(axis="y")


def _describe_bins(result: Result) -> str:
    """Say what has values of its own."""
    return "group of instances" if result.slices[0].bin.noun == "group" else "bin of labels"


def _describe_counts(result: Result) -> str:
    """Say what the numbers below the names of bins are."""
    if result.slices[0].bin.noun == "group":
        return "instances per group"
    is_of_truth = result.propensities is not None and result.propensities.from_truth
    return "instances of the truth per label" if is_of_truth else "training instances per label"


def _describe_values(measure: Measure, result: Result) -> str:
    """Say what the values are: shares that add up to the metric, or averages within a bin."""
    kind = next(figure.kind for figure in result.slices[0].figures if figure.measure == measure)
    is_share = scale(measure) == 100
    if kind == "share":
        return f"share of {measure.name}{', points' if is_share else ''}"
    within = " within the bin" if kind == "average" else ""
    return f"{measure.name}{within}{', %' if is_share else ''}"


def _plan_differences(comparison: Any, measures: Sequence[Measure], *, is_chosen: bool) -> Plan:
    """Plan a forest plot: a panel for each metric with a line for each pair; one pair has a line for each metric."""
    pairs, left_pairs = choose_pairs(comparison)
    shown, left_measures = (measures, "") if is_chosen else choose_cutoffs(measures, len(pairs))
    baselines = list(dict.fromkeys(baseline for _, baseline in pairs))
    differences = [comparison.by_key[(each.name, *pair)] for each in shown for pair in pairs]
    if len(pairs) == 1:
        panels = _split_by_unit(differences)
    else:
        panels = [
            (
                wrap(f"{measure.name}{_unit(measure)}", TITLE, 8),
                "",
                [(_name_pair(each, baselines), each) for each in differences if each.measure == measure],
            )
            for measure in shown
        ]
    limits = _find_limits(differences)
    adjusted = [
        line for line in describe_family(comparison.testing, [comparison]) if line.endswith("intervals are not")
    ]
    return Plan(
        [partial(_draw_differences, title, axis, _place_lines(lines), limits) for title, axis, lines in panels],
        _explain_looks(differences, comparison, baselines),
        f"differences of {listed(shown)} with 95% intervals: {'; '.join(f'{a} {MINUS} {b}' for a, b in pairs)}",
        [LINE * (_place_lines(lines)[-1].end + (title + axis).count("\n")) + 0.75 for title, axis, lines in panels],
        note="; ".join(filter(None, (left_pairs, left_measures, *adjusted))),
    )


def _split_by_unit(differences: Sequence[Difference]) -> list[tuple[str, str, list[tuple[str, Difference]]]]:
    """Return the panels of one pair, one for each unit of metrics; the pair is below their axes."""
    panels: dict[str, list[Difference]] = {}
    for each in differences:
        panels.setdefault(each.measure.metric.unit, []).append(each)
    axes = [wrap(f"{_name_pair(own[0], [])}{_unit(own[0].measure)}", TITLE, 8) for own in panels.values()]
    lines = [[(each.measure.name, each) for each in own] for own in panels.values()]
    return [("", axis, own) for axis, own in zip(axes, lines, strict=True)]


def _name_pair(each: Difference, baselines: Sequence[str]) -> str:
    """Name a line: its pair, or the system alone where all lines have one baseline."""
    names = [each.system] if len(baselines) == 1 else [each.system, each.baseline]
    return f" {MINUS} ".join(map(printable, names))


def _unit(measure: Measure) -> str:
    return ", points" if scale(measure) == 100 else ""


def _place_lines(differences: Sequence[tuple[str, Difference]]) -> list[Line]:
    """Place lines from above; a name that is wide is broken and takes more room."""
    lines: list[Line] = []
    end = 0.0
    for name, difference in differences:
        label = wrap(name, NAMES, 7.5)
        height = len(label.splitlines())
        lines.append(Line(label, difference, end + height / 2, end + height))
        end += height + 0.25
    return lines


def _find_limits(differences: Sequence[Difference]) -> dict[str, tuple[float, float]]:
    """Return the ends of the axis for each unit, which its panels share."""
    limits = {}
    for unit in {each.measure.metric.unit for each in differences}:
        own = [each for each in differences if each.measure.metric.unit == unit]
        factor = scale(own[0].measure)
        ends = [factor * end for each in own for end in (each.low, each.high, each.difference) if end is not None]
        low, high = min(*ends, 0.0), max(*ends, 0.0)
        room = 0.06 * (high - low) or 1.0
        limits[unit] = low - room, high + room
    return limits


def _draw_differences(
    title: str, axis: str, lines: Sequence[Line], limits: Mapping[str, tuple[float, float]], ax: Axes
) -> None:
    """Draw differences with their intervals and their numbers, one per line."""
    factor = scale(lines[0].difference.measure)
    ax.axvline(0.0, color=INK, linewidth=0.8)
    for line in lines:
        each, y = line.difference, line.place
        color, marker, face = _look_of(each)
        if each.low is not None and each.high is not None:
            ax.plot([factor * each.low, factor * each.high], [y, y], color=color, linewidth=1.2)
        ax.plot([factor * each.difference], [y], color=color, marker=marker, markerfacecolor=face, linestyle="none")
        number = f"{factor * each.difference:+.2f}".replace("-", MINUS)
        ax.text(1.02, y, number, transform=ax.get_yaxis_transform(), va="center", fontsize=7)
    ax.set_yticks([line.place for line in lines], [line.label for line in lines])
    ax.set_ylim(lines[-1].end + 0.25, -0.25)
    ax.set_xlim(*limits[lines[0].difference.measure.metric.unit])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.locator_params(axis="x", nbins=5, steps=(1, 2, 5, 10))
    ax.grid(axis="x")
    ax.set_title(title, loc="left", fontweight="bold")
    ax.set_xlabel(axis)


def _verdict_of(each: Difference) -> str:
    """Return which of LOOKS a difference has."""
    if each.p is None:
        return "not tested"
    return "not significant" if not each.is_detected else "better" if each.is_better else "worse"


def _look_of(each: Difference) -> tuple[str, str, str]:
    """Return colour, marker and filling: a triangle points to where the difference is, and is filled if significant."""
    color, marker, face = LOOKS[_verdict_of(each)]
    return color, (">" if each.difference > 0 else "<") if each.is_detected else marker, face


def _explain_looks(
    differences: Sequence[Difference], comparison: Comparison, baselines: Sequence[str]
) -> list[tuple[str, Line2D]]:
    """Explain the markers that appear, always in the same order."""
    appear = {_verdict_of(each): _look_of(each) for each in differences}
    than = f" than {baselines[0]}" if len(baselines) == 1 else ""
    level = f", {describe_level(comparison)}"
    keys = []
    for verdict in (verdict for verdict in LOOKS if verdict in appear):
        color, marker, face = appear[verdict]
        is_significant = verdict in {"better", "worse"}
        text = f"{verdict}{than}{level}" if is_significant else verdict
        level = "" if is_significant else level
        keys.append((text, Line2D([], [], color=color, marker=marker, markerfacecolor=face, linewidth=1.2)))
    return keys
