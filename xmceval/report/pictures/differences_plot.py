"""Differences: a forest plot of the differences between systems, with their 95% intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.pictures.plottedvalues import (
    Subject,
    choose,
    choosing,
    comparison_of,
    deepest,
    main_pairs,
    scale,
)
from xmceval.report.pictures.style import (
    COLORS,
    INK,
    MARGIN,
    RULES,
    Grid,
    Legend,
    Plan,
    fit,
    measure,
    place_of,
    shorten,
)
from xmceval.report.sheet.model import MINUS
from xmceval.report.sheet.significance import describe_family
from xmceval.report.sheet.verdicts import describe_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Pair = tuple[str, str]

BETTER, WORSE = COLORS[0], COLORS[1]
LINE, GAP = 0.17, 0.4  # inches per difference; how many of these are between metrics
MOST = 40  # differences, above which only the largest cutoff of each metric is shown
MOST_LINES = 40  # of one pair, in a panel
MOST_WIDTH = 0.55  # of the picture, for the names of its lines
LONGEST_NAME = 16  # characters: systems with longer names leave room for a single metric in a column of a paper
NUMBER, ROOM = 7, 0.9  # the size of written differences, and from how many inches on a panel has room for them
SHOWS = "differences between systems"
# What a difference is, in the order of every legend: its colour, its marker, and whether that is filled.
LOOKS = {
    "better": (BETTER, ">", BETTER),
    "not significant": (INK, "o", "none"),
    "worse": (WORSE, "<", WORSE),
    "not tested": (INK, "x", "none"),
}


def shows(measure: Measure) -> bool:  # noqa: ARG001 - kinds share one signature
    """Whether a measure has differences: every one does."""
    return True


def plan(subject: Subject, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan one panel for each metric; of one pair one for each unit of metrics: points, and what is no share."""
    comparison = comparison_of("differences", subject)
    whole = [each for each in comparison.differences if not each.bin]
    measures = choose("differences", (each.measure for each in whole), metrics, shows, SHOWS)
    draft = _plan_one_pair if len(comparison.pairs) == 1 else _plan_panels
    found = draft(comparison, measures)
    fewer = deepest(measures)
    if metrics is not None or len(fewer) == len(measures):
        return found
    smaller = draft(comparison, fewer)
    note = f"metrics at their largest cutoff ({choosing('metrics', 'NAMES')})"
    smaller = replace(smaller, note="; ".join(filter(None, (note, smaller.note))))
    is_much = len(measures) * len(main_pairs(comparison)[0]) > MOST
    return smaller if is_much else replace(found, smaller=smaller)


@dataclass(frozen=True)
class Line:
    """A line of a panel: its name, its place from above, and its difference."""

    name: str
    place: float
    difference: Difference


def _plan_one_pair(comparison: Comparison, measures: Sequence[Measure]) -> Plan:
    """Plan a panel whose lines are metrics, and another one for those that are no shares."""
    [pair] = comparison.pairs
    whole = [comparison.by_key[(each.name, *pair)] for each in measures]
    shown = whole[:MOST_LINES]
    left = f"{len(shown)} of {len(whole)} metrics ({choosing('metrics', 'NAMES')})" if len(shown) < len(whole) else ""
    units = dict.fromkeys(each.measure.metric.unit for each in shown)
    panels = [_list_metrics([each for each in shown if each.measure.metric.unit == unit]) for unit in units]
    heights = [LINE * (lines[-1].place + 1) + 0.75 for lines in panels]  # both names may be below, on two lines
    grid = Grid(1, sum(heights) / len(heights))
    return Plan(
        [partial(_draw_metrics, each, pair) for each in panels],
        _explain(shown, comparison),
        _describe(measures, [pair]),
        *(grid, grid),
        heights,
        size="column",
        note="; ".join(filter(None, (left, _describe_intervals(comparison)))),
    )


def _describe_intervals(comparison: Comparison) -> str:
    """Describe the tests that p is adjusted over where intervals and marks can disagree for that reason."""
    family = next(describe_family(comparison.testing, [comparison]), "")
    return family if family.endswith("intervals are not") else ""


def _plan_panels(comparison: Comparison, measures: Sequence[Measure]) -> Plan:
    """Plan a panel for each metric, whose lines are systems, or pairs where these have several baselines."""
    pairs, note = main_pairs(comparison)
    baselines = {baseline for _, baseline in pairs}
    shown = [[comparison.by_key[(each.name, *pair)] for pair in pairs] for each in measures]
    short = dict(zip(comparison.systems, shorten([*comparison.systems], 26), strict=True))
    names = [(short[a],) if len(baselines) == 1 else (short[a], short[b]) for a, b in pairs]
    longest = max(sum(map(len, pair)) for pair in names)
    height = LINE * len(pairs) + (0.62 if len(pairs) > 2 else 0.7)
    cutoffs = Counter(Counter(each.head for each in measures).values()).most_common(1)[0][0]
    columns = min(cutoffs if cutoffs in {2, 3} else 4, 4 if longest < LONGEST_NAME else 3)
    differences = [each for panel in shown for each in panel]
    baseline = f" than {shorten([*baselines], 20)[0]}" if len(baselines) == 1 else ""
    return Plan(
        [partial(_draw_pairs, each, names, _limits(each, differences)) for each in shown],
        _explain(differences, comparison, baseline),
        _describe(measures, pairs),
        Grid(columns, height),
        Grid(2 if longest < LONGEST_NAME else 1, height),
        size="page",
        note="; ".join(filter(None, (note, _describe_intervals(comparison)))),
        hint=choosing("metrics", "NAMES"),
    )


def _describe(measures: Sequence[Measure], pairs: Sequence[Pair]) -> str:
    shown = "; ".join(f"{a} {MINUS} {b}" for a, b in pairs)
    return f"differences of {listed(measures)} with 95% intervals: {shown}"


def _list_metrics(differences: Sequence[Difference]) -> list[Line]:
    """Return a line for each metric, with gaps between those of different names."""
    lines: list[Line] = []
    for each in differences:
        gap = GAP if lines and lines[-1].difference.measure.head != each.measure.head else 0.0
        lines.append(Line(each.measure.name, (lines[-1].place + 1.0 if lines else 0.0) + gap, each))
    return lines


def _limits(panel: Sequence[Difference], everything: Sequence[Difference]) -> tuple[float, float]:
    """Return the ends of the axis of a panel: those of all panels with the same unit, tested or not."""
    unit, factor = panel[0].measure.metric.unit, scale(panel[0].measure)
    kind = unit, panel[0].p is None
    alike = [each for each in everything if (each.measure.metric.unit, each.p is None) == kind]
    ends = [factor * end for each in alike for end in (each.low, each.high, each.difference) if end is not None]
    low, high = min(*ends, 0.0), max(*ends, 0.0)
    pad = 0.06 * (high - low) or 1.0
    return low - pad, high + pad


def _draw_pairs(
    differences: Sequence[Difference], names: Sequence[tuple[str, ...]], limits: tuple[float, float], ax: Axes
) -> None:
    """Draw the differences of one metric; names are beside the first panel of each line."""
    lines = [Line("", float(i), each) for i, each in enumerate(differences)]
    _draw(lines, ax)
    ax.set_xlim(*limits)
    width = ax.figure.bbox.width / ax.figure.dpi
    is_first, room = place_of(ax)
    n_columns = round(width / room)
    labels = _fit_names(names, MOST_WIDTH * width if n_columns == 1 else MOST_WIDTH / 1.6 * width)
    ax.set_yticks([line.place for line in lines], labels if is_first else [""] * len(lines))
    widest = max(sum(measure(each, RULES["ytick.labelsize"]) for each in pair) for pair in names)
    own = (width - min(widest, MOST_WIDTH * width)) / n_columns - 3 * MARGIN
    ax.set_title(_title(differences[0].measure, own), loc="left", fontweight="bold")
    if own > ROOM:
        _write_numbers(lines, own, ax)


def _title(shown: Measure, inches: float) -> str:
    """Return the name of a metric, and the unit of its differences where there is room."""
    size = RULES["axes.titlesize"]
    whole = f"{shown.name}{', points' if scale(shown) == 100 else ''}"
    return whole if measure(whole, size, bold=True) < inches else fit([shown.name], 0.85 * inches, size)[0]


def _write_numbers(lines: Sequence[Line], inches: float, ax: Axes) -> None:
    """Write each difference on the right of what is drawn."""
    each = [line.difference for line in lines]
    texts = [f"{scale(one.measure) * one.difference:+.2f}".replace("-", MINUS) for one in each]
    share = (max(measure(text, NUMBER) for text in texts) + MARGIN) / inches
    low, high = ax.get_xlim()
    ax.set_xlim(low, high + share / (1 - share) * (high - low))
    for line, text in zip(lines, texts, strict=True):
        color = LOOKS[_verdict(line.difference)][0]
        ax.text(1.0, line.place, text, transform=ax.get_yaxis_transform(), ha="right", va="center",
                fontsize=NUMBER, color=color)  # fmt: skip


def _draw_metrics(lines: Sequence[Line], pair: Pair, ax: Axes) -> None:
    """Draw the differences of one pair, in one unit."""
    _draw(lines, ax)
    width, size = ax.figure.bbox.width / ax.figure.dpi, RULES["ytick.labelsize"]
    names = fit([line.name for line in lines], MOST_WIDTH * width, size)
    ax.set_yticks([line.place for line in lines], names)
    unit = ", points" if scale(lines[0].difference.measure) == 100 else ""
    ax.set_xlabel(_name_difference(pair, unit, width * (1 - MOST_WIDTH / 2)))


def _draw(lines: Sequence[Line], ax: Axes) -> None:
    """Draw differences and their intervals."""
    factor = scale(lines[0].difference.measure)
    ax.axvline(0.0, color=INK, linewidth=0.8)
    for line in lines:
        each, y = line.difference, line.place
        color, marker, face = _look(each)
        if each.low is not None and each.high is not None:
            ax.plot([factor * each.low, factor * each.high], [y, y], color=color, linewidth=1.2)
        ax.plot([factor * each.difference], [y], color=color, marker=marker, markerfacecolor=face, linestyle="none")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(lines[-1].place + 0.6, -0.6)
    ax.spines["left"].set_visible(False)
    ax.locator_params(axis="x", nbins=5, steps=(1, 2, 5, 10))
    ax.grid(axis="x")
    ax.set_axisbelow(True)


def _fit_names(names: Sequence[tuple[str, ...]], inches: float) -> list[str]:
    """Return the names of lines, cut as far as they are wider; of a pair both names, and never the sign between."""
    size, minus = RULES["ytick.labelsize"], f" {MINUS} "
    systems = list(dict.fromkeys(name for pair in names for name in pair))
    is_pair = any(len(pair) > 1 for pair in names)
    room = (inches - measure(minus, size)) / 2 if is_pair else inches
    short = dict(zip(systems, fit(systems, room, size), strict=True))
    return [minus.join(short[name] for name in pair) for pair in names]


def _name_difference(pair: Pair, unit: str, width: float) -> str:
    """Say what is subtracted from what, on two lines where one is too short."""
    size = RULES["axes.labelsize"]
    room = width - 2 * MARGIN - measure(f" {MINUS}{unit}", size)
    system, baseline = fit(shorten(pair, 26), room, size)
    is_short = measure(system + baseline, size) < room
    return f"{system} {MINUS}{' ' if is_short else chr(10)}{baseline}{unit}"


def _verdict(each: Difference) -> str:
    """Return which of LOOKS a difference has."""
    if each.p is None:
        return "not tested"
    return "not significant" if not each.is_detected else "better" if each.is_better else "worse"


def _look(each: Difference) -> tuple[str, str, str]:
    """Return colour, marker and filling: a triangle points to where the difference is, and is filled if significant."""
    color, marker, face = LOOKS[_verdict(each)]
    return color, (">" if each.difference > 0 else "<") if each.is_detected else marker, face


def _explain(differences: Sequence[Difference], comparison: Comparison, baseline: str = "") -> Legend:
    """Explain the markers that appear, always in the same order."""
    appear = {_verdict(each): _look(each) for each in differences}
    looks = [(name, appear[name]) for name in LOOKS if name in appear]

    def handles() -> list[Any]:
        from matplotlib.lines import Line2D

        return [
            Line2D([], [], color=color, marker=marker, markerfacecolor=face, linewidth=1.2)
            for _, (color, marker, face) in looks
        ]

    level = f", {describe_level(comparison)}"
    is_tested = {"better": f"better{baseline}{level}", "worse": f"worse{baseline}"}
    if "better" not in appear:
        is_tested["worse"] += level
    return Legend([is_tested.get(name, name) for name, _ in looks], handles)
