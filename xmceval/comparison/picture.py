"""Draw a comparison as a forest plot of the differences between systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from xmceval.comparison.comparison import Comparison
from xmceval.comparison.difference import Difference
from xmceval.comparison.options import BETTER, NONE, UNTESTED, WORSE
from xmceval.comparison.sheet import describe_level
from xmceval.errors import argument, listed
from xmceval.metrics.measure import Measure
from xmceval.report.pictures.drawing import LINE, NAMES, describe_unit, keep_deepest, scale
from xmceval.report.pictures.figure import COLORS, INK, Plan, printable, wrap
from xmceval.report.sheet import MINUS

MOST_PAIRS = 6  # pairs in a picture without a common baseline
MOST_PANELS, MOST_LINES = 6, 40  # beyond these, only the largest cutoff of each metric is shown
TITLE = 1.6  # inches for a title above a panel
SPACE = 0.25  # the space between two lines of names, in lines
# Outcomes in the order of the legend: words, colour, marker, and whether the marker is filled.
LOOKS = {
    BETTER: ("better", COLORS[0], ">", COLORS[0]),
    NONE: ("not significant", INK, "o", "none"),
    WORSE: ("worse", COLORS[1], "<", COLORS[1]),
    UNTESTED: ("not tested", INK, "x", "none"),
}


def plan_differences(comparison: Comparison, measures: Sequence[Measure], is_chosen: bool) -> Plan:
    """Plan a forest plot: one panel per metric with a line per pair; a single pair has a line per metric."""
    pairs, left_pairs = comparison.pairs, ""
    if comparison.testing.against is None and len(pairs) > MOST_PAIRS:  # only pairs with the first system
        first = pairs[0][1]
        pairs = [pair for pair in comparison.pairs if first in pair]
        hint = f"hint: {argument('against', kind='NAME')} chooses others"
        left_pairs = f"{len(pairs)} of {len(comparison.pairs)} pairs, those with {first} ({hint})"
    deepest, left_measures = keep_deepest(measures), ""
    are_many = len(measures) > (MOST_PANELS if len(pairs) > 1 else MOST_LINES)
    if are_many and not is_chosen and len(deepest) < len(measures):
        measures = deepest
        left_measures = f"metrics at their largest cutoff (hint: {argument('metrics', kind='NAMES')} chooses others)"
    baselines = list(dict.fromkeys(baseline for _, baseline in pairs))
    differences = [comparison.by_key[(measure.name, *pair)] for measure in measures for pair in pairs]
    panels: dict[str, list[Difference]] = {}
    ends: dict[str, list[float]] = {}  # ends of the axis by unit, which panels share
    for difference in differences:
        measure = difference.measure
        panels.setdefault(measure.metric.unit if len(pairs) == 1 else measure.name, []).append(difference)
        numbers = (number for number in (difference.low, difference.high, difference.difference) if number is not None)
        ends.setdefault(measure.metric.unit, [0.0]).extend(
            scale(measure, difference.nouns) * number for number in numbers
        )
    rooms = {unit: 0.06 * (max(of_unit) - min(of_unit)) or 1.0 for unit, of_unit in ends.items()}
    limits = {unit: (min(of_unit) - rooms[unit], max(of_unit) + rooms[unit]) for unit, of_unit in ends.items()}
    drawn = [_plan_panel(lines, baselines, has_pairs=len(pairs) > 1) for lines in panels.values()]
    is_adjusted = "Holm" in describe_level([comparison])
    looks = {difference.mark: _look_of(difference) for difference in differences}
    significant = [mark for mark in (BETTER, WORSE) if mark in looks]
    than = f" than {baselines[0]}" if len(baselines) == 1 else ""
    keys = []
    for mark in (mark for mark in LOOKS if mark in looks):
        text = LOOKS[mark][0] + (than if mark in significant else "")
        level = f", {describe_level([comparison])}" if mark in significant[:1] else ""
        keys.append((text + level, Line2D([], [], **looks[mark], linewidth=1.2)))
    return Plan(
        panels=[
            partial(_draw_differences, lines, labels, title, axis, limits)
            for lines, (labels, title, axis) in zip(panels.values(), drawn, strict=True)
        ],
        heights=[LINE * (_place_lines(labels)[1] + (title + axis).count("\n")) + 0.75 for labels, title, axis in drawn],
        keys=keys,
        caption="differences between systems with their 95% intervals",
        text=f"differences of {listed(measures)} with 95% intervals: {'; '.join(f'{a} {MINUS} {b}' for a, b in pairs)}",
        note="; ".join(filter(None, (left_pairs, left_measures, "intervals are not adjusted" if is_adjusted else ""))),
    )


def _plan_panel(
    differences: Sequence[Difference], baselines: Sequence[str], *, has_pairs: bool
) -> tuple[list[str], str, str]:
    """Return the labels of lines, the title and the text below the axis, which names a single pair."""
    measure, nouns = differences[0].measure, differences[0].nouns
    if has_pairs:
        labels = [_name_pair(difference, baselines) for difference in differences]
        title, axis = wrap(f"{measure.name}{describe_unit(measure, nouns)}", TITLE, 8), ""
    else:
        labels = [difference.measure.name for difference in differences]
        title, axis = "", wrap(f"{_name_pair(differences[0], [])}{describe_unit(measure, nouns)}", TITLE, 8)
    return [wrap(label, NAMES, 7.5) for label in labels], title, axis


def _name_pair(difference: Difference, baselines: Sequence[str]) -> str:
    """Name a line by its pair, or by the system alone if all lines share a baseline."""
    names = [difference.system] if len(baselines) == 1 else [difference.system, difference.baseline]
    return f" {MINUS} ".join(map(printable, names))


def _place_lines(labels: Sequence[str]) -> tuple[list[float], float]:
    """Return the position of each line from the top, and where the last ends; broken labels take more room."""
    places, end = [], -SPACE
    for label in labels:
        n_lines = label.count("\n") + 1
        places.append(end + SPACE + n_lines / 2)
        end += SPACE + n_lines
    return places, end


def _draw_differences(
    differences: Sequence[Difference],
    labels: Sequence[str],
    title: str,
    axis: str,
    limits: Mapping[str, tuple[float, float]],
    ax: Axes,
) -> None:
    """Draw differences with their intervals and numbers, one per line."""
    measure = differences[0].measure
    factor, (places, end) = scale(measure, differences[0].nouns), _place_lines(labels)
    places_of_number = 4 if measure.metric.unit == "share" and factor == 1 else 2
    ax.axvline(0.0, color=INK, linewidth=0.8)
    for difference, y in zip(differences, places, strict=True):
        look = _look_of(difference)
        if difference.low is not None and difference.high is not None:
            ends = [factor * difference.low, factor * difference.high]
            ax.plot(ends, [y, y], color=look["color"], linewidth=1.2)
        ax.plot([factor * difference.difference], [y], **look, linestyle="none")
        number = f"{factor * difference.difference:+.{places_of_number}f}".replace("-", MINUS)
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


def _look_of(difference: Difference) -> dict[str, str]:
    """Return the style of a marker: a triangle, filled, points in the direction of a significant difference."""
    _, color, marker, face = LOOKS[difference.mark]
    if difference.is_detected:  # if lower is better, a better system is on the left
        marker = ">" if difference.difference > 0 else "<"
    return {"color": color, "marker": marker, "markerfacecolor": face}
