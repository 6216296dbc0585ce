"""Pictures of results: each kind is one file; matplotlib is loaded when one is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from xmceval.errors import DataError, UsageError, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from xmceval.report.pictures.values import Subject

RESULTS, COMPARISON = "results", "comparison"


@dataclass(frozen=True)
class Kind:
    """A kind of picture.

    Attributes
    ----------
    shows : str
        What it shows, in a few words.
    subject : str
        ``results`` (also those of a comparison) or ``comparison``.
    """

    shows: str
    subject: str = RESULTS


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "curves": Kind("metrics against the cutoff k, with 95 % intervals"),
        "bins": Kind("metrics of bins of labels by training frequency, such as head, torso and tail"),
        "differences": Kind("differences between systems with their 95 % intervals", COMPARISON),
    }
)


def default_kind(subject: Any) -> str:
    """Return the kind that fits a subject: differences of a comparison, bins where there are any, else curves."""
    from xmceval.report.comparison import Comparison

    if isinstance(subject, Comparison):
        return "differences"
    return "bins" if any(result.slices for result in subject) else "curves"


def check(kind: str, subject: Subject, metrics: str | Iterable[str] | None = None) -> None:
    """Refuse what a kind of picture cannot show.

    Raises
    ------
    UsageError
        A kind that is none of KINDS, another subject than it needs, or a metric that it cannot show: the message names
        those that it can.
    """
    _module(kind).plan(subject, metrics)


def check_installed() -> None:
    """Refuse to go on without matplotlib.

    Raises
    ------
    DataError
        Names the command that installs it.
    """
    if find_spec("matplotlib") is None:
        raise DataError("pictures need the package matplotlib (hint: pip install 'xmceval[plot]')")


def draw(
    kind: str,
    subject: Subject,
    *,
    metrics: str | Iterable[str] | None = None,
    size: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw a picture.

    Parameters
    ----------
    kind : str
        One of KINDS.
    subject : sequence of Result, or Comparison
    metrics : str or iterable of str, optional
        Only these, such as ``"P,PSP"`` or ``["P@5"]``; default all that the kind can show.
    size : {"column", "page"}, optional
        As wide as a column of a paper (3.3 inches) or its page (6.9 inches); default a page for several panels.
    ax : Axes, optional
        Draw there, instead of in a figure of its own; for pictures of one panel.

    Returns
    -------
    Figure
        Of matplotlib.

    Raises
    ------
    UsageError
        What the kind cannot show; several panels for one `ax`.
    DataError
        matplotlib is not installed.
    """
    plan = _module(kind).plan(subject, metrics)
    check_installed()
    from xmceval.report.pictures.style import COLUMN, SIZES, add_legend, draw_plan, style

    if size is not None and size not in SIZES:
        raise UsageError(f"size must be one of {listed(SIZES)}, got {size!r}")
    if ax is None:
        return draw_plan(plan, size)
    if len(plan.panels) > 1:
        raise UsageError(f"ax takes one panel, and there are {len(plan.panels)} (hint: pass metrics with a single one)")
    with style():
        plan.panels[0](ax)
        if plan.legend is not None:
            add_legend(ax, plan.legend, COLUMN, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    figure: Figure = ax.figure
    return figure


def to_svg(figure: Figure, *, theme: str = "auto", prefix: str | None = None) -> str:
    """Return a figure as an svg element for a page; see `xmceval.report.pictures.files.to_svg`."""
    from xmceval.report.pictures import files

    return files.to_svg(figure, theme=theme, prefix=prefix)


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure to an svg, png or pdf file; see `xmceval.report.pictures.files.save`."""
    from xmceval.report.pictures import files

    files.save(figure, path)


def _module(kind: str) -> Any:
    if kind not in KINDS:
        raise UsageError(f"the kind of picture must be one of {listed(KINDS)}, got {kind!r}")
    return import_module(f"xmceval.report.pictures.{kind.replace('-', '')}")
