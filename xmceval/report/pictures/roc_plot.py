"""ROC: the share of positives found against the share of negatives mistaken for them, at every threshold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from xmceval.errors import UsageError, listed, names_flags
from xmceval.report.pictures.plottedvalues import not_collected, takes_no_metrics
from xmceval.report.pictures.style import GUIDE, Grid, Look, Plan, lines_of
from xmceval.statistics.curves import RocPoints

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Scored(Protocol):
    """A file of labels and scores: what `xmceval.auc` returns."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def auc(self) -> float:
        """The area under its ROC curve."""

    @property
    def points(self) -> RocPoints | None:
        """The points of its curves, where these were asked for."""


def plan(subject: Sequence[Scored], metrics: str | Iterable[str] | None = None) -> Plan:
    """Plan one panel with a curve for each file."""
    all_points = points_of("roc", subject, metrics)
    errors = [f"AUC {100 * each.auc:.2f} %" for each in subject]
    text = f"ROC curve of {listed(each.name for each in subject)}"
    legend = lines_of([each.name for each in subject], errors, has_markers=False, guide="chance")
    return Plan([partial(_draw, all_points)], legend, text, column=Grid(1, 2.9), page=Grid(1, 5.6))


def points_of(kind: str, subject: Sequence[Scored], metrics: str | Iterable[str] | None) -> list[RocPoints]:
    """Return the points of the curves of each file.

    Raises
    ------
    UsageError
        Metrics, of which there are none; points that were not collected; a file with only one class.
    """
    if metrics is not None:
        raise takes_no_metrics(kind)
    if not isinstance(subject, Sequence) or not subject or any(not hasattr(each, "points") for each in subject):
        tool = "xmceval auc FILE --plot PICTURE" if names_flags() else "auc(FILE, plots=)"
        raise UsageError(f"{kind!r} is a plot of xmceval auc (hint: {tool})")
    found = [each.points for each in subject if each.points is not None]
    if len(found) < len(subject):
        raise not_collected(kind)
    for each, points in zip(subject, found, strict=True):
        if not points.n_positive or not points.n_negative:
            raise UsageError(f"{each.name} has only one class: there is no curve to draw")
    return found


def _draw(all_points: Sequence[RocPoints], ax: Axes) -> None:
    ax.plot([0, 100], [0, 100], **GUIDE)
    for i, points in enumerate(all_points):
        look = Look.of(i)
        x = 100 * points.false_positives / points.n_negative
        ax.plot(x, 100 * points.true_positives / points.n_positive, color=look.color, linestyle=look.dashes)
    ax.set_xlabel("false positive rate, %")
    ax.set_ylabel("true positive rate, %")
    ax.set_xlim(-1, 101)
    ax.set_ylim(-1, 101)
    ax.set_aspect("equal")
    ax.grid()
