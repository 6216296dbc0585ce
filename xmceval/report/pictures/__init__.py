"""Pictures of results: each kind is one file; matplotlib is loaded when one is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from xmceval.errors import UsageError, listed, missing_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from xmceval.metrics.measure import Measure
    from xmceval.report.comparison import Comparison
    from xmceval.report.pictures.figure import Panels

    Subject: TypeAlias = Sequence[Any] | Comparison  # a sequence of Result

RESULTS, COMPARISON = "results", "comparison"


@dataclass(frozen=True)
class Kind:
    """A kind of picture.

    Attributes
    ----------
    shows : str
        What it shows, in a few words.
    subject : str
        ``results`` (also those of a comparison), or ``comparison``.
    """

    shows: str
    subject: str = RESULTS


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "curves": Kind("metrics against the cutoff k, with 95% intervals"),
        "bins": Kind(
            "metrics of bins of labels by training frequency, such as head and tail, or of groups of instances"
        ),
        "differences": Kind("differences between systems with their 95% intervals", COMPARISON),
    }
)


def default_kind(subject: Any) -> str:
    """Return the kind that fits a subject; of results bins if there are any, else curves."""
    from xmceval.report.comparison import Comparison

    if isinstance(subject, Comparison):
        return "differences"
    return "bins" if any(result.slices for result in subject) else "curves"


def kinds_of(subject: str) -> tuple[str, ...]:
    """Return the kinds of pictures of a subject; those of results are also pictures of a comparison."""
    subjects = {subject, RESULTS} if subject == COMPARISON else {subject}
    return tuple(name for name, kind in KINDS.items() if kind.subject in subjects)


def check_measures(kind: str, measures: Sequence[Measure], *, has_bins: bool = False) -> None:
    """Refuse a kind of picture that can show none of the measures, before anything is scored."""
    from xmceval.report.pictures.plottedvalues import require_any

    module = _module(kind)
    if kind == "bins" and not has_bins:
        raise UsageError(module.explain_need())
    require_any(kind, measures, module.shows, module.SHOWS)


def check(kind: str, subject: Subject, metrics: str | Iterable[str] | None = None) -> None:
    """Refuse what a kind of picture cannot show."""
    _module(kind).plan(subject, metrics)


def check_installed() -> None:
    """Refuse to go on without matplotlib."""
    if find_spec("matplotlib") is None:
        raise missing_package("drawing pictures", "matplotlib", "plot")


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
    """
    plan = _module(kind).plan(subject, metrics)
    check_installed()
    from xmceval.report.pictures.figure import draw_plan
    from xmceval.report.pictures.style import COLUMN, SIZES, add_legend, style

    if size is not None and size not in SIZES:
        raise UsageError(f"size must be one of {listed(SIZES)}, got {size!r}")
    if ax is None:
        return draw_plan(plan, size)
    if len(plan.panels) > 1:
        raise UsageError(f"ax needs a single panel, got {len(plan.panels)} (hint: pass metrics with a single one)")
    with style():
        plan.panels[0](ax)
        if plan.legend is not None:
            add_legend(ax, plan.legend, COLUMN, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    figure: Figure = ax.figure
    return figure


def draw_panels(kind: str, subject: Subject) -> Panels:
    """Draw each panel of a picture as one of its own, for a page; see `draw`."""
    plan = _module(kind).plan(subject, None)
    check_installed()
    from xmceval.report.pictures import figure

    return figure.draw_panels(plan)


def plot(subject: Subject, kind: str | None, **choices: Any) -> Figure:
    """Draw a picture of the default kind, or of another one."""
    return draw(kind or default_kind(subject), subject, **choices)


def to_svg(figure: Figure, *, theme: str = "auto", prefix: str | None = None) -> str:
    """Return a figure as an svg element for a page; see `xmceval.report.pictures.picturefiles.to_svg`."""
    from xmceval.report.pictures import picturefiles

    return picturefiles.to_svg(figure, theme=theme, prefix=prefix)


def save(figure: Figure, path: str | Path, *, force: bool = True) -> None:
    """Write a figure to an svg, png or pdf file; see `xmceval.report.pictures.picturefiles.save`."""
    from xmceval.report.pictures import picturefiles

    picturefiles.save(figure, path, force=force)


def _module(kind: str) -> Any:
    if kind not in KINDS:
        raise UsageError(f"the kind of picture must be one of {listed(KINDS)}, got {kind!r}")
    return import_module(f"xmceval.report.pictures.{kind.replace('-', '_')}_plot")
