"""Calibration: a reliability diagram of each system, how often predictions are true by their scores, and how many."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from xmceval.metrics.measure import Measure
from xmceval.report.pictures.plottedvalues import Subject, not_collected, results_of, takes_no_metrics
from xmceval.report.pictures.style import GUIDE, RULES, Grid, Look, Plan, fit, measure, place_of, shorten
from xmceval.scoring.tasks.reliability import Reliability
from xmceval.statistics.intervals import wilson_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWS = "scores and hits of metrics at a cutoff"
BARS = (0.0, -0.25, 1.0, 0.19)  # where the numbers of predictions are, below a diagram and in shares of it
ERRORS = 7  # the size of the letters below the name
INTERVALS = "95% intervals of Wilson, as if predictions were independent"


def shows(measure: Measure) -> bool:
    """Whether a measure has a cutoff; what is shown are the scores of the k best labels."""
    return measure.k is not None


def plan(subject: Subject, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan a panel for each system."""
    results = results_of(subject)
    if metrics is not None:
        raise takes_no_metrics("calibration")
    if any(result.reliability is None for result in results):
        raise not_collected("calibration")
    names = [result.name for result in results]
    is_weighted = "sample_weight" in results[0].options
    found = [each.reliability for each in results if each.reliability is not None]
    errors = (f"{name} {describe_errors(each)}" for name, each in zip(names, found, strict=True))
    text = f"share of predictions that are true by their scores: {'; '.join(errors)}"
    panels = [
        partial(_draw, Look.of(i), name, each, is_weighted)
        for i, (name, each) in enumerate(zip(shorten(names), found, strict=True))
    ]
    bars = "sums of weights" if is_weighted else "numbers of predictions"
    note = f"bars: {bars}; dashed: perfect calibration" + ("" if is_weighted else f"; {INTERVALS}")
    height = 2.9 if len(results) <= 2 else 2.35 if len(results) <= 9 else 1.95
    narrow = Grid(1, 2.6) if len(results) == 1 else Grid(2, 1.95)
    return Plan(panels, None, text, Grid(3, height), narrow, note=note,
                hint="hint: pass fewer systems")  # fmt: skip


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
