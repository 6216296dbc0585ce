"""Calibration: a reliability diagram of each system, how often predictions are true by their scores, and how many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from xmceval.metrics.measure import Measure
from xmceval.report.pictures.plottedvalues import Subject, not_collected, results_of, takes_no_metrics
from xmceval.report.pictures.style import GUIDE, RULES, Grid, Look, Plan, fit, measure, place_of, printable, shorten
from xmceval.scoring.tasks.reliability import Reliability
from xmceval.statistics.intervals import wilson_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from xmceval.report.result import Result

SHOWS = "scores and hits of metrics at a cutoff"
BARS = (0.0, -0.25, 1.0, 0.19)  # where the numbers of predictions are, below a diagram and in shares of it
MOST_PANELS = 16  # beyond which systems are shown without their bins or groups
ERRORS = 7  # the size of the letters below the name
INTERVALS = "95% intervals of Wilson, as if predictions were independent"


def shows(measure: Measure) -> bool:
    """Whether a measure has a cutoff; what is shown are the scores of the k best labels."""
    return measure.k is not None


def plan(subject: Subject, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan a panel for each system, and where they fit for each of its bins of labels or groups of rows."""
    results = results_of(subject)
    if metrics is not None:
        raise takes_no_metrics("calibration")
    if any(result.reliability is None for result in results):
        raise not_collected("calibration")
    is_weighted = "sample_weight" in results[0].options
    found = [[*_list_panels(each)] for each in results]
    fits = len(found[0]) == 1 or sum(map(len, found)) <= MOST_PANELS
    found = found if fits else [own[:1] for own in found]
    errors = (f"{result.name} {describe_errors(own[0][1])}" for result, own in zip(results, found, strict=True))
    text = f"share of predictions that are true by their scores: {'; '.join(errors)}"
    names = shorten([result.name for result in results])
    panels = [
        partial(_draw, Look.of(i), _title(name, part, is_alone=len(results) == 1), each, is_weighted)
        for i, (name, own) in enumerate(zip(names, found, strict=True))
        for part, each in own
    ]
    bars = "sums of weights" if is_weighted else "numbers of predictions"
    note = f"bars: {bars}; dashed: perfect calibration" + ("" if is_weighted else f"; {INTERVALS}")
    note += "" if fits else "; without bins, for which there are too many systems"
    height = 2.9 if len(panels) <= 2 else 2.35 if len(panels) <= 9 else 1.95
    narrow = Grid(1, 2.6) if len(panels) == 1 else Grid(2, 1.95)
    return Plan(panels, None, text, Grid(_columns(len(found[0])), height), narrow, note=note,
                hint="hint: pass fewer systems" + (" or bins" if len(found[0]) > 1 else ""))  # fmt: skip


def _list_panels(result: Result) -> Iterator[tuple[str, Reliability]]:
    """Yield the reliability of a system under no name, and that of each bin or group under its name."""
    if result.reliability is not None:
        yield "", result.reliability
    yield from ((each.bin.name, each.reliability) for each in result.slices if each.reliability is not None)


def _title(name: str, part: str, *, is_alone: bool) -> str:
    """Return the title of a panel; of a single system's bins it is their name alone."""
    return name if not part else printable(part) if is_alone else f"{name}, {printable(part)}"


def _columns(n_panels: int) -> int:
    """Return how many panels stand side by side, so that those of a system share a line where they fit."""
    return n_panels if n_panels in {2, 4} else 3


def describe_errors(reliability: Reliability) -> str:
    """Write the calibration error and the Brier score."""
    k = reliability.k
    return f"ECE@{k} {100 * reliability.ece:.2f} %, Brier@{k} {100 * reliability.brier:.2f} %"


def _draw(look: Look, name: str, reliability: Reliability, is_weighted: bool, ax: Axes) -> None:
    """Draw the share of predictions that are true against their mean score, and below, how many there are."""
    bins = reliability.bins
    x, y = [100 * each.mean_score for each in bins], [100 * each.hit_rate for each in bins]
    ax.plot([0, 100], [0, 100], **GUIDE)
    if not is_weighted:
        bounds = [wilson_interval(each.hit_rate, each.weight) for each in bins]
        ax.vlines(x, [100 * low for low, _ in bounds], [100 * high for _, high in bounds], color=look.color, lw=1.0)
    ax.plot(x, y, **{**look.line, "linestyle": "none", "markersize": 3.6})
    ax.set_xlim(0, 100)
    ax.set_ylim(-3, 103)
    ticks = (0, 25, 50, 75, 100)
    ax.set_xticks(ticks, [""] * len(ticks))
    ax.set_yticks(ticks, ["0", "", "50", "", "100"])
    ax.grid()
    is_first, room = place_of(ax)
    ax.set_title(fit([name], 0.8 * (room - 0.5), RULES["axes.titlesize"])[0], loc="left", fontweight="bold", pad=14)
    errors = f"ECE {100 * reliability.ece:.2f} %"
    both = f"{errors}, Brier {100 * reliability.brier:.2f} %"
    errors = both if measure(both, ERRORS) < room - 0.5 else errors
    ax.text(0.0, 1.04, errors, transform=ax.transAxes, fontsize=ERRORS)
    if is_first:
        ax.set_ylabel(f"hits@{reliability.k}, %")
    below = ax.inset_axes(BARS)
    width = 100 * (bins[0].high - bins[0].low) if bins else 1.0
    below.bar([50 * (each.low + each.high) for each in bins], [each.weight for each in bins], 0.9 * width,
              color=look.color, alpha=0.5)  # fmt: skip
    below.set_xlim(0, 100)
    below.set_xticks(ticks, ["0", "", "50", "", "100"])
    most = max((each.weight for each in bins), default=1.0)
    below.set_yticks([most], [_write_number(most)])
    below.tick_params(axis="y", length=0, labelsize=ERRORS)
    below.spines["left"].set_visible(False)
    below.set_xlabel("score, %")


def _write_number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
