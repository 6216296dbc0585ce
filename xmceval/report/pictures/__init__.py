"""Draw and save pictures of results; matplotlib is loaded only when a picture is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmceval.errors import UsageError, listed, missing_package
from xmceval.files.io.paths import to_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from xmceval.report.result import Result

# Kinds of pictures.
OF_RESULTS = ("curves", "bins")
OF_COMPARISON = (*OF_RESULTS, "differences")
ENDINGS = (".svg", ".png", ".pdf")


def plot(
    results: Sequence[Result],
    comparison: Any = None,
    kind: str | None = None,
    *,
    metrics: str | Iterable[str] | None = None,
    size: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw a picture of some metrics of results, or of their comparison, by default of all that the kind can show.

    `kind` is one of OF_COMPARISON, `size` "column" (3.3 inches) or "page" (6.9) of a paper; `ax` takes a single panel.
    """
    from xmceval.report.pictures.chosen import choose_measures

    kind = kind or default_kind(results, comparison)
    measures = choose_measures(kind, results, comparison, metrics)
    check_installed()
    from xmceval.report.pictures.drawing import plan_picture
    from xmceval.report.pictures.figure import SIZES, draw_figure, draw_into

    if size is not None and size not in SIZES:
        raise UsageError(f"size must be one of {listed(SIZES)}, got {size!r}")
    plan = plan_picture(kind, results, comparison, measures, is_chosen=metrics is not None)
    if ax is None:
        return draw_figure(plan, size)
    if len(plan.panels) > 1:
        raise UsageError(f"ax needs a single panel, got {len(plan.panels)} (hint: pass metrics with a single one)")
    return draw_into(ax, plan)


def default_kind(results: Sequence[Result], comparison: Any = None) -> str:
    """Return the kind that fits: differences of a comparison, of results bins if there are any, else curves."""
    if comparison is not None:
        return "differences"
    return "bins" if any(result.slices for result in results) else "curves"


def check_installed() -> None:
    """Refuse to go on without matplotlib."""
    if find_spec("matplotlib") is None:
        raise missing_package("drawing pictures", "matplotlib", "plot")


def check_ending(path: str | Path) -> str:
    """Return the ending of a file that a picture can be written to."""
    ending = to_path(path).suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(f"{path}: expected a name that ends with {listed(ENDINGS)}")
    return ending


def save(figure: Figure, path: str | Path, *, force: bool = True) -> None:
    """Write a figure to an svg, png or pdf file; the same picture gives the same bytes."""
    from xmceval.files.io.write import open_output
    from xmceval.report.pictures.figure import to_bytes

    data = to_bytes(figure, check_ending(path).removeprefix("."))
    with open_output(to_path(path), force=force) as file:
        file.write(data)
