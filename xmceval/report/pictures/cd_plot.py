"""Critical differences: the mean ranks of systems over data sets, and which of them a test does not tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from xmceval.errors import UsageError, listed
from xmceval.metrics.measure import Measure
from xmceval.report.benchmark import Benchmark
from xmceval.report.pictures.plottedvalues import Subject, choose, deepest
from xmceval.report.pictures.style import INK, LONGEST_NAME, MARGIN, RULES, Grid, Plan, fit, measure, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from xmceval.statistics.across import Across, Nemenyi

SHOWS = "metrics by which systems are ranked"
# In inches: where things are below the top, and what is between them.
TITLE, CAPTION, CRITICAL, LABELS, SCALE = 0.06, 0.27, 0.42, 0.56, 0.72
FIRST_BAR, BAR, BELOW_BARS, LINE = 0.12, 0.1, 0.15, 0.19
ELBOW, GAP, OVERHANG = 0.08, 0.05, 0.035
LEAST_SCALE, MOST_SCALE = 0.9, 3.8  # the width of the scale
MOST_IN_COLUMN = 6  # systems, and the inches of the longest name beside a scale in a column
LONGEST_IN_COLUMN = 0.72
SMALL, LARGE = RULES["legend.fontsize"], RULES["font.size"]
PALE = 0.75  # opacity of numbers


@dataclass(frozen=True)
class Diagram:
    """What the picture shows: systems from the best to the worst mean rank, and groups of them by their places.

    Attributes
    ----------
    title : str
    names : sequence of str
    ranks : sequence of float
    distance : float
        The critical difference.
    bars : sequence of (int, int, int)
        The first and the last system of each group that is not told apart, and the line that its bar is on.
    """

    title: str
    names: Sequence[str]
    ranks: Sequence[float]
    distance: float
    bars: Sequence[tuple[int, int, int]]

    @property
    def n_left(self) -> int:
        """How many systems are named on the left."""
        return (len(self.names) + 1) // 2

    @property
    def first_line(self) -> float:
        """Where the first names are, in inches below the top."""
        return SCALE + FIRST_BAR + BAR * len({line for _, _, line in self.bars}) + BELOW_BARS

    @property
    def height(self) -> float:
        """In inches."""
        return self.first_line + LINE * (self.n_left - 0.5)


def shows(measure: Measure) -> bool:  # noqa: ARG001 - kinds share one signature
    """Whether systems are ranked by a measure: by every one."""
    return True


def plan(subject: Subject | Benchmark, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan one panel, for a single metric; by default the first one at its largest cutoff.

    Raises
    ------
    UsageError
        No benchmark; several metrics, or no critical difference: too few data sets or systems.
    """
    if not isinstance(subject, Benchmark):
        raise UsageError("the picture 'cd' needs a benchmark (hint: use benchmark)")
    chosen = choose("cd", subject.measures, metrics, shows, SHOWS)
    chosen = deepest(chosen)[:1] if metrics is None else chosen
    if len(chosen) > 1:
        raise UsageError(f"the picture 'cd' shows one metric, not {listed(chosen)} (hint: pass metrics={chosen[-1]})")
    across = subject.across(chosen[0].name)
    nemenyi = _require_nemenyi(chosen[0], across)
    diagram = _arrange(chosen[0], across, nemenyi, subject.systems)
    widest = max(measure(each, LARGE) for each in diagram.names)
    is_small = len(diagram.names) <= MOST_IN_COLUMN and widest <= LONGEST_IN_COLUMN
    text = _describe(diagram, nemenyi, subject.systems)
    grid = Grid(1, diagram.height)
    return Plan([partial(_draw, diagram)], None, text, grid, grid, size="column" if is_small else "page")


def _require_nemenyi(metric: Measure, across: Across) -> Nemenyi:
    """Return the test that has a critical difference.

    Raises
    ------
    UsageError
        There is none.
    """
    if across.nemenyi is None:
        why = across.untested or "of 2 systems there is none, only a test of one against the other"
        raise UsageError(f"the picture 'cd' needs a critical difference on {metric}: {why}")
    return across.nemenyi


def _arrange(metric: Measure, across: Across, nemenyi: Nemenyi, systems: Sequence[str]) -> Diagram:
    """Sort systems by their mean ranks, and put bars that do not overlap on one line."""
    rank_of = dict(zip(across.systems, across.mean_ranks, strict=True))
    order = sorted(rank_of, key=lambda system: rank_of[system])
    ranks = [rank_of[system] for system in order]
    ends: list[float] = []  # of the last bar on each line
    bars = []
    for group in nemenyi.groups:
        first, last = order.index(group[0]), order.index(group[-1])
        free = [i for i, end in enumerate(ends) if end + len(order) / 12 < ranks[first]]
        line = free[0] if free else len(ends)
        ends[line : line + 1] = [ranks[last]]
        bars.append((first, last, line))
    names = shorten([systems[system] for system in order], LONGEST_NAME)
    title = f"mean rank by {metric} over {len(across.datasets)} data sets"
    return Diagram(title, names, ranks, nemenyi.critical_difference, bars)


def _describe(diagram: Diagram, nemenyi: Nemenyi, systems: Sequence[str]) -> str:
    """Write what the picture shows."""
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(diagram.names, diagram.ranks, strict=True))
    groups = "; ".join(", ".join(systems[each] for each in group) for group in nemenyi.groups)
    apart = f"not told apart: {groups}" if groups else "all are told apart"
    return f"{diagram.title}: {ranks}; critical difference {diagram.distance:.2f}; {apart}"


def _draw(diagram: Diagram, ax: Axes) -> None:
    """Draw everything in inches: x from the left, y from the top."""
    is_alone = len(ax.figure.axes) == 1
    box = ax.figure.bbox if is_alone else ax.bbox
    width = box.width / ax.figure.dpi - (2 * MARGIN if is_alone else 0.0)
    ax.set_axis_off()
    ax.set_xlim(0, width)
    ax.set_ylim(diagram.height, 0)
    names, left, right = _make_room(diagram, width)
    step = (right - left) / (len(names) - 1)

    def place(rank: float) -> float:
        return left + step * (rank - 1)

    _draw_scale(ax, len(names), place)
    _write(ax, (left + right) / 2, TITLE, diagram.title, width)
    _draw_distance(ax, place(1), place(1 + diagram.distance), f"critical difference {diagram.distance:.2f}", width)
    for first, last, line in diagram.bars:
        y = SCALE + FIRST_BAR + BAR * line
        ends = [place(diagram.ranks[first]) - OVERHANG, place(diagram.ranks[last]) + OVERHANG]
        _line(ax, ends, [y, y], linewidth=2.4, solid_capstyle="round")
    for i, name in enumerate(names):
        is_left = i < diagram.n_left
        y = diagram.first_line + LINE * (i if is_left else len(names) - 1 - i)
        end = left - ELBOW if is_left else right + ELBOW
        _line(ax, [place(diagram.ranks[i])] * 2 + [end], [SCALE, y, y])
        _name(ax, end, y, name, diagram.ranks[i], is_left=is_left)


def _make_room(diagram: Diagram, width: float) -> tuple[list[str], float, float]:
    """Return the names, cut as far as they do not fit, and where the scale begins and ends."""
    number = ELBOW + 2 * GAP + max(measure(f"{rank:.2f}", SMALL) for rank in diagram.ranks)
    names = fit(diagram.names, (width - LEAST_SCALE) / 2 - number, LARGE)
    sides = names[: diagram.n_left], names[diagram.n_left :]
    left, right = (number + max(measure(each, LARGE) for each in side) for side in sides)
    spare = max(width - left - right - MOST_SCALE, 0.0) / 2
    return names, left + spare, width - right - spare


def _draw_scale(ax: Axes, k: int, place: Any) -> None:
    """Draw the scale of ranks, with as many numbers as there is room for."""
    _line(ax, [place(1), place(k)], [SCALE, SCALE], linewidth=0.8)
    each = next(n for n in (1, 2, 5, 10, k) if n * (place(2) - place(1)) >= measure(f"{k}", SMALL) + GAP or n == k)
    for half in range(2, 2 * k + 1):
        is_whole = half % 2 == 0
        _line(ax, [place(half / 2)] * 2, [SCALE - (0.07 if is_whole else 0.04), SCALE])
        if is_whole and (half // 2 - 1) % each == 0:
            _text(ax, place(half / 2), LABELS, f"{half // 2}", ha="center", alpha=PALE)


def _draw_distance(ax: Axes, start: float, end: float, caption: str, width: float) -> None:
    """Draw how far ranks must be apart."""
    _line(ax, [start, end], [CRITICAL, CRITICAL], linewidth=0.8)
    for x in (start, end):
        _line(ax, [x, x], [CRITICAL - 0.03, CRITICAL + 0.03], linewidth=0.8)
    _write(ax, (start + end) / 2, CAPTION, caption, width)


def _write(ax: Axes, centre: float, y: float, text: str, width: float) -> None:
    """Write a text around a place, or as near to it as it is inside the picture."""
    [text] = fit([text], width, SMALL)
    half = measure(text, SMALL) / 2
    _text(ax, min(max(centre, half), width - half), y, text, ha="center", alpha=PALE)


def _name(ax: Axes, end: float, y: float, name: str, rank: float, *, is_left: bool) -> None:
    """Write a name and its rank beside the end of its line; the rank is next to the line."""
    sign, side = (-1, "right") if is_left else (1, "left")
    number = f"{rank:.2f}"
    _text(ax, end + sign * GAP, y, number, ha=side, alpha=PALE)
    _text(ax, end + sign * (2 * GAP + measure(number, SMALL)), y, name, ha=side, fontsize=LARGE)


def _line(ax: Axes, x: Sequence[float], y: Sequence[float], **how: Any) -> None:
    ax.plot(x, y, **{"color": INK, "linewidth": 0.6, "clip_on": False, "solid_capstyle": "butt", **how})


def _text(ax: Axes, x: float, y: float, text: str, **how: Any) -> None:
    ax.text(x, y, text, **{"color": INK, "fontsize": SMALL, "va": "center", "in_layout": False, **how})
