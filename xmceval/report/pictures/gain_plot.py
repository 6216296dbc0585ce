"""Gain: the share of all hits against labels, the most frequent in training first, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.report.pictures.plottedvalues import Subject, not_collected, results_of, takes_no_metrics
from xmceval.report.pictures.style import GUIDE, RULES, Grid, Look, Plan, fit, lines_of, measure, shorten
from xmceval.report.result import Result
from xmceval.scoring.per_label.labelgain import LabelGain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRUTH = "all true labels"
SHOWS = "hits of metrics at a cutoff"
SIDE = 1.5  # inches, of the text beside a panel
N_MARKERS, N_POINTS = 6, 200  # of a curve


def shows(measure: Measure) -> bool:
    """Whether a measure has a cutoff; what is shown are the hits at the deepest one."""
    return measure.k is not None


def plan(subject: Subject, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan a panel with a curve for each system and the true labels, and one for their differences to the first."""
    results = results_of(subject)
    if metrics is not None:
        raise takes_no_metrics("gain")
    if any(result.gain is None for result in results):
        raise not_collected("gain")
    names = [result.name for result in results]
    text = f"share of all hits against labels by training frequency, for {listed(names)}"
    panels = [partial(_draw_shares, results), partial(_draw_differences, results)]
    return Plan(
        panels[: len(names)], lines_of(names, guide=TRUTH), text, Grid(2, 2.5), Grid(1, 2.1), is_first_alone=True
    )


def cumulate(gain: LabelGain, weights: Any) -> tuple[Any, Any]:
    """Return numbers of labels, from 1 to all, and which shares of `weights`, such as hits, they have, in percent.

    The most frequent labels come first; of those with the same frequency each has the same share.
    """
    import numpy as np

    x = np.concatenate([[0], np.cumsum(gain.n_labels)])
    y = np.concatenate([[0.0], np.cumsum(weights)]) / (weights.sum() or 1.0)
    points = np.unique(np.rint(np.geomspace(1, max(x[-1], 1), N_POINTS)))
    return points, 100 * np.interp(points, x, y)


def _draw_shares(results: Sequence[Result], ax: Axes) -> None:
    """Draw the share of hits of each system, and that of the true labels."""
    gains = [result.gain for result in results if result.gain is not None]
    ax.plot(*cumulate(gains[0], gains[0].true), **GUIDE)
    for i, gain in enumerate(gains):
        x, y = cumulate(gain, gain.hits)
        ax.plot(x, y, **Look.of(i).line, markevery=_places_of_markers(x, i / len(gains)))
    ax.set_ylabel(f"share of all hits@{gains[0].k}, %")
    ax.set_ylim(0, 102)
    _set_axis(gains[0], ax)


def _draw_differences(results: Sequence[Result], ax: Axes) -> None:
    """Draw how far the shares of systems are above or below those of the first."""
    gains = [result.gain for result in results if result.gain is not None]
    x, first = cumulate(gains[0], gains[0].hits)
    for i, gain in enumerate(gains):
        y = cumulate(gain, gain.hits)[1] - first
        ax.plot(x, y, **Look.of(i).line, markevery=_places_of_markers(x, i / len(gains)))
    size = RULES["axes.labelsize"]
    [name] = fit(shorten([results[0].name]), SIDE - measure(", points", size), size)
    is_short = measure(f"difference to {name}, points", size) < SIDE
    ax.set_ylabel(f"difference to{' ' if is_short else chr(10)}{name}, points")
    _set_axis(gains[0], ax)


def _set_axis(gain: LabelGain, ax: Axes) -> None:
    source = "the truth" if gain.from_truth else "training"
    ax.set_xlabel(f"labels, the most frequent in {source} first")
    ax.set_xscale("log")
    ax.set_xlim(1, max(int(gain.n_labels.sum()), 2))
    ax.xaxis.set_major_formatter(lambda value, _: _write_number(value))
    ax.xaxis.set_minor_formatter(lambda value, _: "")  # noqa: ARG005 - matplotlib passes two arguments
    ax.grid()


def _write_number(value: float) -> str:
    """Write a power of ten in few characters."""
    return f"{value:,.0f}" if value < 1e4 else f"{value / 1e3:,.0f}k" if value < 1e6 else f"{value / 1e6:,.0f}M"


def _places_of_markers(x: Any, offset: float) -> list[int]:
    """Return the points at which markers are, evenly spread over the axis; those of different systems differ."""
    import numpy as np

    places = np.searchsorted(x, x[-1] ** ((np.arange(N_MARKERS) + 0.3 + 0.7 * offset) / N_MARKERS))
    return sorted({int(each) for each in places if each < len(x) - 1})
