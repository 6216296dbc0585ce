"""Differences: a forest plot of the differences between systems, with their 95 % intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from xmceval.errors import UsageError, argument, listed
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Difference
from xmceval.report.pictures.plottedvalues import Subject, choose, comparison_of, deepest, scale
from xmceval.report.pictures.style import COLORS, INK, MARGIN, RULES, Legend, Plan, fit, measure, shorten
from xmceval.report.sheet.model import MINUS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BETTER, WORSE = COLORS[0], COLORS[1]
LINE, GAP = 0.17, 0.4  # inches per difference; how many of these are between metrics
LONGEST_LABEL = 28  # characters, in a column of a paper
MOST_WIDTH = 0.55  # of the picture, for the names of its lines
MOST = 40  # differences, above which only the largest cutoff of each metric is shown
TOO_MANY = 500  # for a picture
ADJUSTED = {"holm": ", adjusted by Holm", "tukey": ", adjusted by Tukey", "none": ""}
SHOWS = "differences between systems"


def shows(measure: Measure) -> bool:  # noqa: ARG001 - kinds share one signature
    """Whether a measure has differences: every one does."""
    return True


def plan(subject: Subject, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan one panel for each unit of metrics: points, and what is no share."""
    comparison = comparison_of("differences", subject)
    whole = [each for each in comparison.differences if not each.bin]
    measures = choose("differences", (each.measure for each in whole), metrics, shows, SHOWS)
    if metrics is None and len(whole) > MOST:
        measures = deepest(measures)
    shown = [each for measure in measures for each in whole if each.measure == measure]
    if len(shown) > TOO_MANY:
        raise UsageError(
            f"the picture 'differences' would have {len(shown):,} lines, of at most {TOO_MANY} "
            f"(hint: compare with a single system: {argument('against', kind='NAME')})"
        )
    is_one = len(comparison.pairs) == 1
    units = dict.fromkeys(each.measure.metric.unit for each in shown)
    groups = [[each for each in shown if each.measure.metric.unit == name] for name in units]
    panels = [list(_lines(each, is_one=is_one)) for each in groups]
    pairs = "; ".join(f"{a} {MINUS} {b}" for a, b in comparison.pairs)
    below = 0.75 if is_one else 0.6  # of one pair, both names may be below, on two lines
    heights = [LINE * (lines[-1].place + 1) + below for lines in panels]
    longest = max(len(line.name) for lines in panels for line in lines)
    return Plan(
        [partial(_draw, each, comparison.pairs) for each in panels],
        _legend(shown, ADJUSTED[comparison.testing.adjust]),
        f"differences of {listed(measures)} with 95 % intervals: {pairs}",
        sum(heights) / len(heights),
        1,
        heights,
        size="column" if longest <= LONGEST_LABEL else "page",
    )


class Line(NamedTuple):
    """A line of the picture: its name or the pair's, its place from above, and its difference; a heading has none."""

    name: str
    place: float
    difference: Difference | None = None
    pair: tuple[str, ...] = ()


def _lines(differences: Sequence[Difference], *, is_one: bool) -> Iterator[Line]:
    """Yield the lines of a panel: of one pair the metrics, of several a heading for each metric and its pairs below."""
    systems = list(dict.fromkeys(name for each in differences for name in (each.system, each.baseline)))
    short = dict(zip(systems, shorten(systems, 18), strict=True))
    place, last = -1.0, ""
    for each in differences:
        group = each.measure.head if is_one else each.measure.name
        place += 1.0 + (GAP if last not in {"", group} else 0.0)
        if group != last and not is_one:
            yield Line(each.measure.name, place)
            place += 1.0
        pair = () if is_one else (short[each.system], short[each.baseline])
        yield Line(each.measure.name if is_one else f" {MINUS} ".join(pair), place, each, pair)
        last = group


def _draw(lines: Sequence[Line], pairs: Sequence[tuple[str, str]], ax: Axes) -> None:
    """Draw the differences of one unit."""
    shown = [(line.place, line.difference) for line in lines if line.difference is not None]
    factor = scale(shown[0][1].measure)
    ax.axvline(0.0, color=INK, linewidth=0.8)
    for y, each in shown:
        color, marker, face = _look(each)
        if each.low is not None and each.high is not None:
            ax.plot([factor * each.low, factor * each.high], [y, y], color=color, linewidth=1.2)
        ax.plot([factor * each.difference], [y], color=color, marker=marker, markerfacecolor=face, linestyle="none")
    width = ax.figure.bbox.width / ax.figure.dpi
    ax.set_yticks([line.place for line in lines], _fit_names(lines, MOST_WIDTH * width))
    for label, line in zip(ax.get_yticklabels(), lines, strict=True):
        label.set_fontweight("bold" if line.difference is None else "normal")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(lines[-1].place + 0.6, -0.6)
    ax.set_xlabel(_name_difference(pairs, ", points" if factor == 100 else "", width * (1 - MOST_WIDTH / 2)))
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x")
    ax.set_axisbelow(True)


def _fit_names(lines: Sequence[Line], inches: float) -> list[str]:
    """Return the names of lines, cut as far as they are wider; of a pair both names, and never the sign between."""
    size, minus = RULES["ytick.labelsize"], f" {MINUS} "
    systems = list(dict.fromkeys(name for line in lines for name in line.pair))
    short = dict(zip(systems, fit(systems, (inches - measure(minus, size)) / 2, size), strict=True))
    whole = list(dict.fromkeys(line.name for line in lines))
    heads = dict(zip(whole, fit(whole, 0.9 * inches, size), strict=True))  # some are bold
    return [minus.join(short[name] for name in line.pair) if line.pair else heads[line.name] for line in lines]


def _name_difference(pairs: Sequence[tuple[str, str]], unit: str, width: float) -> str:
    """Say what is subtracted from what, on two lines where one is too short."""
    if len(pairs) > 1:
        return f"difference{unit}"
    size = RULES["axes.labelsize"]
    room = width - 2 * MARGIN - measure(f" {MINUS}{unit}", size)
    system, baseline = fit(shorten(pairs[0], 26), room, size)
    is_short = measure(system + baseline, size) < room
    return f"{system} {MINUS}{' ' if is_short else chr(10)}{baseline}{unit}"


def _look(each: Difference) -> tuple[str, str, str]:
    """Return colour, marker and filling: a triangle points to the better side, and is filled if significant."""
    if each.p is None:
        return INK, "x", "none"
    if not each.is_detected:
        return INK, "o", "none"
    color = BETTER if each.is_better else WORSE
    return color, ">" if each.difference > 0 else "<", color


def _legend(differences: Sequence[Difference], adjusted: str) -> Legend:
    """Explain the markers that appear."""
    texts = {
        True: ("better", BETTER),
        False: ("worse", WORSE),
    }
    entries: list[tuple[str, str, str, str]] = []
    for each in differences:
        color, marker, face = _look(each)
        if each.p is None:
            text = "not tested"
        elif not each.is_detected:
            text = "not significant"
        else:
            text = f"{texts[each.is_better][0]} (p < 0.05{adjusted})"
        if text not in {entry[0] for entry in entries}:
            entries.append((text, color, marker, face))

    def handles() -> list[Any]:
        from matplotlib.lines import Line2D

        return [
            Line2D([], [], color=color, marker=marker, markerfacecolor=face, linewidth=1.2)
            for _, color, marker, face in entries
        ]

    return Legend([entry[0] for entry in entries], handles)
