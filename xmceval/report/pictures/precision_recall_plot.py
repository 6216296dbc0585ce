"""Precision-recall: the share of decisions that are right against the share of positives found, at every threshold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from xmceval.errors import listed
from xmceval.report.pictures.roc_plot import Scored, points_of
from xmceval.report.pictures.style import GUIDE, Grid, Look, Plan, lines_of
from xmceval.statistics.curves import RocPoints

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plan(subject: Sequence[Scored], metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan one panel with a curve for each file."""
    all_points = points_of("precision-recall", subject, metrics)
    errors = [f"average precision {100 * each.average_precision:.2f} %" for each in all_points]
    text = f"precision-recall curve of {listed(each.name for each in subject)}"
    legend = lines_of([each.name for each in subject], errors, has_markers=False, guide="chance")
    return Plan([partial(_draw, all_points)], legend, text, column=Grid(1, 2.9), page=Grid(1, 5.6))


def _draw(all_points: Sequence[RocPoints], ax: Axes) -> None:
    """Draw precision as steps: between two thresholds it is that of the lower one."""
    for i, points in enumerate(all_points):
        look = Look.of(i)
        n_decided = points.true_positives[1:] + points.false_positives[1:]
        recall = 100 * points.true_positives[1:] / points.n_positive
        precision = 100 * points.true_positives[1:] / n_decided
        ax.step(recall, precision, where="pre", color=look.color, linestyle=look.dashes)
        chance = 100 * points.n_positive / (points.n_positive + points.n_negative)
        ax.axhline(chance, **GUIDE)
    ax.set_xlabel("recall, %")
    ax.set_ylabel("precision, %")
    ax.set_xlim(-1, 101)
    ax.set_ylim(-1, 101)
    ax.set_aspect("equal")
    ax.grid()
