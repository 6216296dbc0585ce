"""Bins: metrics of bins of labels by training frequency, such as head and tail, or of groups of instances."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from xmceval.errors import UsageError, argument, listed
from xmceval.metrics.measure import Measure
from xmceval.report.pictures.plottedvalues import Subject, choose, deepest, ends, results_of, scale
from xmceval.report.pictures.style import Look, Plan, bars_of, printable
from xmceval.report.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWS = "metrics that have values of bins of labels"
WIDTH = 0.8  # of the bars of a bin together
MOST_UPRIGHT = 8  # bins whose names fit side by side
NEWLINE = "\n"


def explain_need() -> str:
    """Return the message for a result that has no bins."""
    need, other = argument("by_frequency", "head,torso,tail"), argument("by_group", kind="FILE")
    return f"the picture 'bins' needs values of bins of labels or of groups of instances (hint: pass {need} or {other})"


def shows(measure: Measure) -> bool:
    """Whether a measure may have values of bins."""
    is_of_labels = measure.metric.family in {"top-k", "label", "column"} or measure.average == "predicted"
    return is_of_labels and measure.metric.unit != "cells"


def plan(subject: Subject, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan one panel for each metric, by default at its largest cutoff."""
    results = results_of(subject)
    if not results[0].slices:
        raise UsageError(explain_need())
    in_bins = {figure.measure for figure in results[0].slices[0].figures}
    measures = choose(
        "bins", (each.measure for each in results[0].figures), metrics, lambda m: m in in_bins and shows(m), SHOWS
    )
    measures = deepest(measures) if metrics is None else measures
    names = [part.bin.name for part in results[0].slices]
    text = f"{listed(measures)} by {_whole(results[0])} ({listed(names)}) for {listed(r.name for r in results)}"
    return Plan([partial(_draw, results, each) for each in measures], bars_of([r.name for r in results]), text)


def _draw(results: Sequence[Result], measure: Measure, ax: Axes) -> None:
    """Draw one metric of all systems."""
    factor, width = scale(measure), WIDTH / len(results)
    for i, result in enumerate(results):
        look = Look.of(i)
        estimates = [part.estimates[measure.name] for part in result.slices]
        places = [b + (i - (len(results) - 1) / 2) * width for b in range(len(estimates))]
        values = [factor * each.value for each in estimates]
        for style in look.bars:
            ax.bar(places, values, width * 0.9, **style)
        bars = [(x, y, *ends(each, factor)) for x, y, each in zip(places, values, estimates, strict=True)]
        for x, y, low, high in bars:
            if not math.isnan(low):
                errors = [[y - low], [high - y]]
                ax.errorbar([x], [y], yerr=errors, fmt="none", ecolor=ax.xaxis.label.get_color(), elinewidth=0.8)
    bins = [part.bin for part in results[0].slices]
    are_many = len(bins) > MOST_UPRIGHT
    names = [f"{printable(each.name)}{', ' if are_many else NEWLINE}{each.extent}" for each in bins]
    ax.set_xticks(range(len(bins)), names, rotation=90 if are_many else 0)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel(f"{_whole(results[0]).replace(' ', 's ', 1)}, {_frequency(results[0])}")
    ax.set_ylabel(_name(measure, results[0]))
    ax.grid(axis="y")
    ax.set_axisbelow(True)


def _whole(result: Result) -> str:
    """Say what has values of its own."""
    return "group of instances" if result.slices[0].bin.noun == "group" else "bin of labels"


def _frequency(result: Result) -> str:
    """Say what the numbers below the names of bins are."""
    if result.slices[0].bin.noun == "group":
        return "instances per group"
    is_own = result.propensities is not None and result.propensities.from_truth
    return "instances of the truth per label" if is_own else "training instances per label"


def _name(measure: Measure, result: Result) -> str:
    """Say what the values are: shares that add up to the metric, or averages within a bin."""
    figure = next(each for each in result.slices[0].figures if each.measure == measure)
    in_percent = measure.metric.unit == "share"
    if figure.kind == "group":
        return measure.name + (", %" if in_percent else "")
    if figure.kind == "share":
        return f"share of {measure.name}" + (", points" if in_percent else "")
    return f"{measure.name} within the bin" + (", %" if in_percent else "")
