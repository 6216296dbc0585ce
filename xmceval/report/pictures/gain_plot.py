"""Gain: the share of all hits against the share of labels, the most frequent in training first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.report.pictures.plottedvalues import Subject, not_collected, results_of, takes_no_metrics
from xmceval.report.pictures.style import GUIDE, Look, Plan, lines_of
from xmceval.report.result import Result
from xmceval.scoring.per_label.labelgain import LabelGain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRUTH = "all true labels"
SHOWS = "hits of metrics at a cutoff"
N_MARKERS = 6


def shows(measure: Measure) -> bool:
    """Whether a measure has a cutoff; what is shown are the hits at the deepest one."""
    return measure.k is not None


def plan(subject: Subject, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan one panel with a curve for each system, and one for the true labels."""
    results = results_of(subject)
    if metrics is not None:
        raise takes_no_metrics("gain")
    if any(result.gain is None for result in results):
        raise not_collected("gain")
    names = [result.name for result in results]
    text = f"share of all hits against labels by training frequency, for {listed(names)}"
    return Plan([partial(_draw, results)], lines_of(names, guide=TRUTH), text, 2.3)


def cumulate(gain: LabelGain, weights: Any) -> tuple[Any, Any]:
    """Return the shares of labels and of `weights`, such as hits, in percent, from the most frequent label on."""
    import numpy as np

    x = np.concatenate([[0], np.cumsum(gain.n_labels)]) / max(gain.n_labels.sum(), 1)
    total = weights.sum()
    y = np.concatenate([[0.0], np.cumsum(weights)]) / (total or 1.0)
    return 100 * x, 100 * y


def _draw(results: Sequence[Result], ax: Axes) -> None:
    gains = [result.gain for result in results if result.gain is not None]
    ax.plot(*cumulate(gains[0], gains[0].true), **GUIDE)
    for i, gain in enumerate(gains):
        look = Look.of(i)
        x, y = cumulate(gain, gain.hits)
        ax.plot(
            *(x, y),
            color=look.color,
            linestyle=look.dashes,
            marker=look.marker,
            markevery=_places_of_markers(x, i / len(gains)),
        )
    source = "the truth" if gains[0].from_truth else "training"
    ax.set_xlabel(f"labels, the most frequent in {source} first, %")
    ax.set_ylabel(f"share of all hits@{gains[0].k}, %")
    ax.set_xlim(0, 100)
    ax.set_ylim(0, 102)
    ax.grid(axis="y")


def _places_of_markers(x: Any, offset: float) -> list[int]:
    """Return the points at which markers are, evenly spread over labels; those of different systems differ."""
    import numpy as np

    places = np.searchsorted(x, (np.arange(N_MARKERS) + 0.5 + offset / 2) * (100 / N_MARKERS))
    return sorted({int(each) for each in places if each < len(x) - 1})
