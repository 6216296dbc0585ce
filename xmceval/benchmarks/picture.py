"""The picture of a benchmark: a panel per metric, in which each data set has a point per system."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from xmceval.benchmarks.outcome import Benchmark
from xmceval.errors import DataError, UsageError, listed
from xmceval.metrics.measure import Measure
from xmceval.report.lookup import find_measures
from xmceval.report.pictures import check_installed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 6.9  # inches: the page of a paper
LINE = 0.15  # inches per system of a data set
MOST_BESIDE = 4  # panels
LONGEST = 24  # letters of a line in a name
# Colours of Okabe and Ito, which differ for the colour-blind; markers differ in greyscale.
COLORS = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#555555", "#000000"
MARKERS = "o", "s", "^", "D", "v", "P", "X", "*", "<", ">"
INK = {"color": "#777777", "horizontalalignment": "center", "verticalalignment": "center"}
STYLE = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,  # names of systems may have a $
    "svg.fonttype": "none",
}


def draw_benchmark(benchmark: Benchmark, *, metrics: str | Iterable[str] | None = None) -> Figure:
    """Draw the values of systems on each data set with their 95% intervals; published ones are hollow."""
    measures = _choose(benchmark, metrics)
    check_installed()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    datasets, systems = benchmark.datasets, benchmark.systems
    n_beside = min(MOST_BESIDE, max(Counter(measure.head for measure in measures).values()))
    n_beside = n_beside if n_beside > 1 else min(MOST_BESIDE, len(measures))
    n_below = -(-len(measures) // n_beside)
    height = 0.55 + LINE * len(datasets) * (len(systems) + 1)
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, n_below * height + LINE * len(systems)), layout="constrained")
        panels = list(figure.subplots(n_below, n_beside, sharey=True, squeeze=False).flat)
        for panel, measure in zip(panels, measures, strict=False):
            _draw_panel(panel, benchmark, measure)
        for panel in panels[len(measures) :]:
            panel.remove()
        handles = [_point(system, place, benchmark) for place, system in enumerate(systems)]
        figure.legend(handles=handles, loc="outside upper left", ncols=max(1, min(3, len(systems))), frameon=False)
    return figure


def _choose(benchmark: Benchmark, metrics: str | Iterable[str] | None) -> list[Measure]:
    """Return the measures to draw: those that are asked for, of those that have values."""
    having = {
        figure.measure
        for dataset in benchmark.datasets
        for system in benchmark.systems
        for figure in dataset.list_figures(system, benchmark.measures)
    }
    measures = [measure for measure in benchmark.measures if measure in having]
    if not measures:
        raise DataError("there is nothing to draw: no data set has values")
    if metrics is None:
        return measures
    texts = [metrics] if isinstance(metrics, str) else metrics
    chosen = dict.fromkeys(measure for text in texts for measure in find_measures(text, measures))
    if not chosen:
        raise UsageError(f"there is nothing to draw; the metrics are {listed(measures)}")
    return list(chosen)


def _draw_panel(panel: Axes, benchmark: Benchmark, measure: Measure) -> None:
    """Draw one metric: data sets from top to bottom, and in each the systems."""
    factor = 100 if measure.metric.unit == "share" else 1
    step = len(benchmark.systems) + 1
    middles = [row * step + (step - 2) / 2 for row in range(len(benchmark.datasets))]
    for row, dataset in enumerate(benchmark.datasets):
        for place, system in enumerate(benchmark.systems):
            figures = {figure.measure: figure for figure in dataset.list_figures(system, [measure])}
            if measure in figures:
                y, estimate = row * step + place, figures[measure].estimate
                look = _look(place, system in benchmark.published)
                panel.plot([factor * estimate.value], [y], linestyle="none", **look)
                if estimate.low is not None and estimate.high is not None:
                    ends = [factor * estimate.low, factor * estimate.high]
                    panel.plot(ends, [y, y], color=look["color"], linewidth=1)
        if dataset.comparison is None:
            panel.text(0.5, middles[row], "not scored", INK, transform=panel.get_yaxis_transform())
        if row:
            panel.axhline(row * step - 1, color="#cccccc", linewidth=0.6)
    names = [textwrap.fill(dataset.name, LONGEST) for dataset in benchmark.datasets]
    panel.set_yticks(middles, names)
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(len(names) * step - 1, -1)
    panel.grid(axis="x", color="#e5e5e5", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.set_title(f"{measure.name}{', %' if factor == 100 else ''}", fontsize=8)


def _look(place: int, is_published: bool) -> dict[str, Any]:
    """Return the colour and marker of a system."""
    color, marker = COLORS[place % len(COLORS)], MARKERS[place % len(MARKERS)]
    return {"color": color, "marker": marker, "markersize": 4.5, "markerfacecolor": "none" if is_published else color}


def _point(system: str, place: int, benchmark: Benchmark) -> Any:
    """Return the key of a system in the legend."""
    from matplotlib.lines import Line2D

    is_published = system in benchmark.published
    label = textwrap.fill(f"{system} (published)" if is_published else system, LONGEST)
    return Line2D([], [], linestyle="none", label=label, **_look(place, is_published))
