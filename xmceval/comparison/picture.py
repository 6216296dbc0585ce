"""Draw a comparison as a forest plot of the differences between systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from xmceval.comparison.comparison import Comparison
from xmceval.comparison.difference import Difference
from xmceval.comparison.options import BETTER, NONE, UNTESTED, WORSE
from xmceval.comparison.sheet import describe_level
from xmceval.errors import argument, listed
from xmceval.metrics.measure import Measure
from xmceval.report.pictures.drawing import LINE, NAMES, keep_deepest, name_with_unit, scale
from xmceval.report.pictures.figure import COLORS, INK, Plan, printable, wrap
from xmceval.report.sheet import MINUS

MOST_PAIRS = 6  # pairs in a picture without a common baseline
MOST_PANELS = 6
MOST_LINES = 40  # beyond these, only the largest cutoff of each metric is shown
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
    pairs = comparison.pairs
    notes = []
    if comparison.testing.against is None and len(pairs) > MOST_PAIRS:  # only pairs with the first system
        first = pairs[0][1]
        pairs = [pair for pair in comparison.pairs if first in pair]
        hint = f"hint: {argument('against', kind='NAME')} chooses others"
        notes.append(f"{len(pairs)} of {len(comparison.pairs)} pairs, those with {first} ({hint})")
    deepest = keep_deepest(measures)
    are_many = len(measures) > (MOST_PANELS if len(pairs) > 1 else MOST_LINES)
    if are_many and not is_chosen and len(deepest) < len(measures):
        measures = deepest
        notes.append(f"metrics at their largest cutoff (hint: {argument('metrics', kind='NAMES')} chooses others)")
    level = describe_level([comparison])
    if "Holm" in level:
        notes.append("intervals are not adjusted")
    baselines = list(dict.fromkeys(baseline for _, baseline in pairs))
    panels: dict[str, list[Difference]] = {}
    ends: dict[str, list[float]] = {}  # what the axes of a unit show, which panels share
    for difference in (comparison.by_key[(measure.name, *pair)] for measure in measures for pair in pairs):
        measure = difference.measure
        panels.setdefault(measure.metric.unit if len(pairs) == 1 else measure.name, []).append(difference)
        numbers = [end for end in (difference.low, difference.high, difference.difference) if end is not None]
        ends.setdefault(measure.metric.unit, []).extend(scale(measure, difference.nouns) * end for end in numbers)
    looks = {difference.mark: _look_of(difference) for lines in panels.values() for difference in lines}
    significant = [mark for mark in (BETTER, WORSE) if mark in looks]
    than = f" than {baselines[0]}" if len(baselines) == 1 else ""
    keys = []
    for mark in (mark for mark in LOOKS if mark in looks):
        text = LOOKS[mark][0]
        if mark in significant:
            text += than
        if mark in significant[:1]:
            text += f", {level}"
        keys.append((text, Line2D([], [], **looks[mark], linewidth=1.2)))
    draw = partial(_draw_differences, baselines, ends, has_pairs=len(pairs) > 1)
    return Plan(
        panels=[partial(draw, lines) for lines in panels.values()],
        keys=keys,
        caption="differences between systems with their 95% intervals",
        text=f"differences of {listed(measures)} with 95% intervals: {'; '.join(f'{a} {MINUS} {b}' for a, b in pairs)}",
        note="; ".join(notes),
    )


def _name_pair(difference: Difference, baselines: Sequence[str]) -> str:
    """Name a line by its pair, or by the system alone if all lines share a baseline."""
    if len(baselines) == 1:
        return printable(difference.system)
    return f"{printable(difference.system)} {MINUS} {printable(difference.baseline)}"


def _draw_differences(
    baselines: Sequence[str],
    ends: Mapping[str, Sequence[float]],
    differences: Sequence[Difference],
    ax: Axes,
    *,
    has_pairs: bool,
) -> float:
    """Draw differences with their intervals and numbers, one per line; a single pair is named below the axis."""
    measure = differences[0].measure
    nouns = differences[0].nouns
    factor = scale(measure, nouns)
    if has_pairs:
        names = [_name_pair(difference, baselines) for difference in differences]
        ax.set_title(
            wrap(name_with_unit(measure.name, measure, nouns, "points"), TITLE, 8), loc="left", fontweight="bold"
        )
    else:
        names = [difference.measure.name for difference in differences]
        pair = _name_pair(differences[0], [])
        ax.set_xlabel(wrap(name_with_unit(pair, measure, nouns, "points"), TITLE, 8))
    labels = [wrap(name, NAMES, 7.5) for name in names]
    rooms = np.array([1 + label.count("\n") + SPACE for label in labels])  # in lines
    below = np.cumsum(rooms)
    places = below - rooms / 2
    places_of_number = 2
    if measure.metric.unit == "share" and factor == 1:
        places_of_number = 4
    ax.axvline(0.0, color=INK, linewidth=0.8)
    for difference, y in zip(differences, places, strict=True):
        look = _look_of(difference)
        if difference.low is not None and difference.high is not None:
            interval = [factor * difference.low, factor * difference.high]
            ax.plot(interval, [y, y], color=look["color"], linewidth=1.2)
        ax.plot([factor * difference.difference], [y], **look, linestyle="none")
        number = f"{factor * difference.difference:+.{places_of_number}f}".replace("-", MINUS)
        ax.text(1.02, y, number, transform=ax.get_yaxis_transform(), va="center", fontsize=7)
    ax.update_datalim([(end, 0.0) for end in ends[measure.metric.unit]])
    ax.set_yticks(places, labels)
    ax.set_ylim(below[-1], 0.0)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.locator_params(axis="x", nbins=5, steps=(1, 2, 5, 10))
    ax.grid(axis="x")
    n_breaks = f"{ax.get_title('left')}{ax.get_xlabel()}".count("\n")
    return LINE * (float(below[-1]) + n_breaks) + 0.7


def _look_of(difference: Difference) -> dict[str, str]:
    """Return the style of a marker: a triangle, filled, points in the direction of a significant difference."""
    _, color, marker, face = LOOKS[difference.mark]
    if difference.is_detected:  # if lower is better, a better system is on the left
        marker = ">" if difference.difference > 0 else "<"
    return {"color": color, "marker": marker, "markerfacecolor": face}
