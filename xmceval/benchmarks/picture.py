"""Draw a benchmark with one panel per metric, in which each system has one point per data set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from xmceval.benchmarks.result import Benchmark, shared_nouns
from xmceval.errors import DataError, listed
from xmceval.metrics.measure import Measure
from xmceval.report.pictures import find_chosen
from xmceval.report.pictures.drawing import LINE, NAMES, describe_bars, draw_values, name_with_unit
from xmceval.report.pictures.figure import GRID, INK, Look, Picture, Plan, draw_figure, style, wrap


def draw_benchmark(benchmark: Benchmark, metrics: str | Iterable[str] | None) -> Picture:
    """Draw the figure of a benchmark."""
    return draw_figure(plan_benchmark(benchmark, metrics))


def plan_benchmark(benchmark: Benchmark, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan the values of systems on each data set with their error bars; published ones are hollow."""
    measures = _choose(benchmark, metrics)
    systems = benchmark.systems
    names = [f"{system} (published)" if system in benchmark.published else system for system in systems]
    with style():
        keys = [(name, Line2D([], [], **_look(benchmark, i).points)) for i, name in enumerate(names)]
    bars = describe_bars(result for dataset in benchmark.datasets for result in dataset.systems.values())
    caption = f"metrics by data set, with {bars}"
    text = f"{listed(measures)} by data set, with {bars}, for {listed(names)}"
    panels = [partial(_draw_panel, benchmark, measure) for measure in measures]
    return Plan(panels, keys, caption, text)


def _choose(benchmark: Benchmark, metrics: str | Iterable[str] | None) -> list[Measure]:
    """Return the measures to draw: those with values among those asked for."""
    drawable = {
        figure.measure
        for dataset in benchmark.datasets
        for system in benchmark.systems
        for figure in dataset.list_figures(system, benchmark.measures)
    }
    measures = [measure for measure in benchmark.measures if measure in drawable]
    if not measures:
        raise DataError("there is nothing to draw: no data set has values")
    if metrics is None:
        return measures
    return list(dict.fromkeys(measure for _, meant in find_chosen(metrics, measures) for measure in meant))


def _look(benchmark: Benchmark, place: int) -> Look:
    look = Look.of(place)
    if benchmark.systems[place] in benchmark.published:
        look = replace(look, face="none")
    return look


def _draw_panel(benchmark: Benchmark, measure: Measure, ax: Axes) -> float:
    """Draw one metric: data sets from top to bottom, and in each the systems."""
    step = len(benchmark.systems) + 1
    nouns = shared_nouns(benchmark.datasets)
    middles = [row * step + (step - 2) / 2 for row in range(len(benchmark.datasets))]
    for row, dataset in enumerate(benchmark.datasets):
        for place, system in enumerate(benchmark.systems):
            figures = dataset.list_figures(system, [measure])
            estimates = [figure.estimate for figure in figures if figure.measure == measure]
            if estimates:
                value, low, high = draw_values(estimates, measure, nouns)[:, 0].tolist()
                y = row * step + place
                look = _look(benchmark, place)
                ax.plot([low, high], [y, y], color=look.color, linewidth=1.0)  # draws nothing for NaN
                ax.plot([value], [y], **look.points)
        if dataset.comparison is None:
            ax.text(0.5, middles[row], "not scored", transform=ax.get_yaxis_transform(), ha="center", va="center")
        if row:
            ax.axhline(row * step - 1, color=INK, alpha=GRID, linewidth=0.6)
    ax.set_yticks(middles, [wrap(dataset.name, NAMES, 7.5) for dataset in benchmark.datasets])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(middles) * step - 1, -1)
    ax.locator_params(axis="x", nbins=5, steps=(1, 2, 5, 10))
    ax.grid(axis="x")
    ax.set_title(name_with_unit(measure.name, measure, nouns))
    return 0.55 + LINE * step * len(middles)
