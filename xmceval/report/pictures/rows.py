"""Rows: the values of rows of a system against those of its baseline, as counts of rows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from xmceval.errors import UsageError, listed
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison
from xmceval.report.pictures.style import COLORS, GUIDE, INK, Plan, shorten
from xmceval.report.pictures.values import Subject, choose
from xmceval.scoring.densities import Density, has_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWS = "metrics with values of rows from 0 to 1"
MOST_NUMBERS = 6  # values per axis up to which cells show their numbers
PALEST = 0.1


def shows(measure: Measure) -> bool:
    """Whether the values of rows of a measure lie from 0 to 1."""
    return has_shares(measure)


def plan(subject: Subject, metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan one panel for each pair and metric, by default the first metric."""
    if not isinstance(subject, Comparison):
        raise UsageError("the picture 'rows' needs a comparison (hint: compare two systems or more)")
    if not subject.densities:
        raise UsageError("the picture 'rows' needs data that were not collected (hint: pass plots='rows' to compare)")
    counted = {each.measure for each in subject.densities}
    everything = (each.measure for each in subject.results[0].figures)
    measures = choose("rows", everything, metrics, lambda measure: measure in counted, SHOWS)
    measures = measures[:1] if metrics is None else measures
    shown = [each for measure in measures for each in subject.densities if each.measure == measure]
    pairs = (f"{each.system} against {each.baseline}" for each in shown)
    text = f"numbers of rows by their values of {listed(measures)}: {listed(dict.fromkeys(pairs))}"
    return Plan([partial(_draw, subject, each) for each in shown], None, text, 2.9, 2)


def _draw(comparison: Comparison, density: Density, ax: Axes) -> None:
    """Draw one pair: the darker a cell, the more rows it has."""
    system, baseline = shorten([density.system, density.baseline], 22)
    step = 100 / density.n_steps
    has_numbers = density.n_steps < MOST_NUMBERS  # which the diagonal must not cross
    ends = [-step / 2, 100 + step / 2]
    ax.plot(ends, ends, zorder=0 if has_numbers else 3, **GUIDE)
    _draw_cells(density, ax)
    name = density.measure.name
    ax.set_xlabel(f"{name} of {baseline}, %")
    ax.set_ylabel(f"{name} of {system}, %")
    ax.set_title(_count_wins(comparison, density), loc="left", fontsize=7)
    ax.set_xlim(*ends)
    ax.set_ylim(*ends)
    ax.set_aspect("equal")
    ax.set_xticks([0, 20, 40, 60, 80, 100])
    ax.set_yticks([0, 20, 40, 60, 80, 100])


def _draw_cells(density: Density, ax: Axes) -> None:
    """Fill each cell by the logarithm of its rows, and write their number into it where there is room."""
    import numpy as np
    from matplotlib.colors import BoundaryNorm, ListedColormap, to_rgba

    counts = density.counts.T
    most = max(int(counts.max(initial=0)), 1)
    bounds = _levels(most)
    alphas = np.linspace(PALEST, 1.0, len(bounds) - 1) if len(bounds) > 2 else np.array([0.6])
    colors = ListedColormap([to_rgba(COLORS[0], alpha) for alpha in alphas])
    edges = (np.arange(density.n_steps + 2) - 0.5) * (100 / density.n_steps)
    mesh = ax.pcolormesh(
        *(edges, edges, np.ma.masked_equal(counts, 0)),
        cmap=colors,
        norm=BoundaryNorm(bounds, len(bounds) - 1),
        linewidth=0,
        antialiased=False,
    )
    if density.n_steps < MOST_NUMBERS:
        for j, i in np.argwhere(counts).tolist():
            is_dark = alphas[min(np.searchsorted(bounds, counts[j, i], side="right") - 1, len(alphas) - 1)] > 0.5
            place = i * 100 / density.n_steps, j * 100 / density.n_steps
            ax.text(
                *place, f"{counts[j, i]:,}", ha="center", va="center", fontsize=6, color="white" if is_dark else INK
            )
    else:
        bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.8, pad=0.03, label="rows")
        bar.set_ticks(bounds, labels=[f"{bound:,}" for bound in bounds])
        bar.ax.tick_params(length=0)
        bar.outline.set_visible(False)


def _levels(most: int) -> list[int]:
    """Return where the shades of numbers of rows begin: 1, 2, 5, 10 ... as far as there are so many."""
    steps = [factor * 10**power for power in range(len(str(most)) + 1) for factor in (1, 2, 5)]
    below = [step for step in steps if step <= most]
    return [*below, most + 1]


def _count_wins(comparison: Comparison, density: Density) -> str:
    """Say in how many rows the system is better, as good and worse."""
    each: Any = comparison.by_key.get((density.measure.name, density.system, density.baseline))
    if each is None or each.wins is None:
        return ""
    return f"rows: {each.wins:,} better, {each.ties:,} equal, {each.losses:,} worse"
