"""Calibration: a reliability diagram, how often predictions are true by their scores, and how many there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.report.pictures.plottedvalues import Subject, not_collected, results_of, takes_no_metrics
from xmceval.report.pictures.style import GUIDE, Look, Plan, lines_of
from xmceval.report.result import Result
from xmceval.scoring.tasks.reliability import Reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWS = "scores and hits of metrics at a cutoff"
HEIGHTS = (2.5, 1.0)


def shows(measure: Measure) -> bool:
    """Whether a measure has a cutoff; what is shown are the scores of the k best labels."""
    return measure.k is not None


def plan(subject: Subject, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan a panel for the hit rate, and one for the number of predictions."""
    results = results_of(subject)
    if metrics is not None:
        raise takes_no_metrics("calibration")
    if any(result.reliability is None for result in results):
        raise not_collected("calibration")
    names = [result.name for result in results]
    text = f"share of predictions that are true by their scores, for {listed(names)}"
    errors = [describe_errors(each.reliability) for each in results if each.reliability is not None]
    legend = lines_of(names, errors, guide="perfect calibration")
    panels = [partial(_draw_rates, results), partial(_draw_numbers, results)]
    return Plan(panels, legend, text, sum(HEIGHTS) / 2, 1, HEIGHTS, size="column", is_first_alone=True)


def describe_errors(reliability: Reliability) -> str:
    """Write the calibration error and the Brier score."""
    k = reliability.k
    return f"ECE@{k} {100 * reliability.ece:.2f} %, Brier@{k} {100 * reliability.brier:.2f} %"


def _draw_rates(results: Sequence[Result], ax: Axes) -> None:
    """Draw the share of predictions that are true against their mean score."""
    ax.plot([0, 100], [0, 100], **GUIDE)
    for i, reliability in enumerate(each.reliability for each in results if each.reliability is not None):
        look = Look.of(i)
        x = [100 * each.mean_score for each in reliability.bins]
        y = [100 * each.hit_rate for each in reliability.bins]
        ax.plot(x, y, color=look.color, marker=look.marker, linestyle=look.dashes)
        ax.set_ylabel(f"true among the {reliability.k} best, %")
    ax.set_xlim(0, 100)
    ax.set_ylim(-3, 103)
    ax.set_xlabel("mean score, %")
    ax.grid()


def _draw_numbers(results: Sequence[Result], ax: Axes) -> None:
    """Draw the number of predictions against their score."""
    for i, reliability in enumerate(each.reliability for each in results if each.reliability is not None):
        look = Look.of(i)
        x = [50 * (each.low + each.high) for each in reliability.bins]
        ax.plot(
            x, [each.weight for each in reliability.bins], color=look.color, marker=look.marker, linestyle=look.dashes
        )
    ax.set_yscale("log")
    ax.margins(y=0.2)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    ax.yaxis.set_minor_formatter(lambda value, _: "")  # noqa: ARG005 - matplotlib passes two arguments
    ax.set_xlim(0, 100)
    ax.set_xlabel("score, %")
    ax.set_ylabel("sum of weights" if "sample_weight" in results[0].options else "predictions")
    ax.grid(axis="y")
