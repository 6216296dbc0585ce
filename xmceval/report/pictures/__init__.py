"""Choose, draw and save pictures of results; matplotlib is loaded only when a picture is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmceval.errors import UsageError, argument, listed, missing_package
from xmceval.files.io.paths import to_path
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import find_measures, split_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from xmceval.report.result import Result

# Kinds of pictures.
OF_RESULTS = ("curves", "bins")
OF_COMPARISON = (*OF_RESULTS, "differences")
ENDINGS = (".svg", ".png", ".pdf")


def _has_bins(measure: Measure) -> bool:
    is_of_labels = measure.metric.family in {"top-k", "label", "column"} or measure.average == "predicted"
    return is_of_labels and measure.metric.unit != "cells"


# The measures that each kind can draw, and their description.
KINDS: dict[str, tuple[Callable[[Measure], bool], str]] = {
    "curves": (lambda measure: measure.k is not None, "metrics at a cutoff"),
    "bins": (_has_bins, "metrics that have values of bins of labels"),
    "differences": (lambda _: True, "differences between systems"),
}


def plot(
    results: Sequence[Result],
    comparison: Any = None,
    kind: str | None = None,
    *,
    metrics: str | Iterable[str] | None = None,
    size: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw some metrics of results, or of their comparison; by default all that the kind of picture can show.

    `kind` is one of OF_COMPARISON, `size` "column" (3.3 inches) or "page" (6.9) of a paper; `ax` takes a single panel.
    """
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
        raise missing_package("drawing pictures", "matplotlib")


def check_ending(path: str | Path) -> str:
    """Return the ending of a picture file; refuse unknown ones."""
    ending = to_path(path).suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(f"{path}: expected a name that ends with {listed(ENDINGS)}")
    return ending


def save(figure: Figure, path: str | Path, *, force: bool = False) -> None:
    """Write a figure to an svg, png or pdf file; equal pictures give equal bytes."""
    from xmceval.files.io.write import open_output
    from xmceval.report.pictures.figure import to_bytes

    data = to_bytes(figure, check_ending(path).removeprefix("."))
    with open_output(to_path(path), force=force) as file:
        file.write(data)


def choose_measures(
    kind: str, results: Sequence[Result], comparison: Any, metrics: str | Iterable[str] | None = None
) -> list[Measure]:
    """Choose the measures that a picture of results, or of their comparison, shows; refuse what it cannot show."""
    if kind not in KINDS:
        raise UsageError(f"the kind of picture must be one of {listed(KINDS)}, got {kind!r}")
    if kind == "differences":
        if comparison is None:
            raise UsageError(f"the picture {kind!r} needs a comparison (hint: use compare)")
        measures = [difference.measure for difference in comparison.differences if not difference.bin]
        computed = list(dict.fromkeys(measures))
    elif not results:
        raise UsageError("there are no results to draw")
    else:
        computed = [figure.measure for figure in results[0].figures]
    if kind == "bins":
        require_bins(has_bins=bool(results[0].slices))
        in_bins = {figure.measure for figure in results[0].slices[0].figures}
        computed = [measure for measure in computed if measure in in_bins or not _has_bins(measure)]
    possible = require_any(kind, computed)
    if metrics is None:
        return possible
    chosen: list[Measure] = []
    for name, meant in find_chosen(metrics, computed):
        shown = [measure for measure in meant if measure in possible]
        if not shown:
            raise UsageError(f"the picture {kind!r} shows {KINDS[kind][1]}, not {name}; it can show {listed(possible)}")
        chosen += shown
    return list(dict.fromkeys(chosen))


def find_chosen(metrics: str | Iterable[str], computed: Sequence[Measure]) -> Iterator[tuple[str, list[Measure]]]:
    """Yield each name in the argument `metrics` of a picture, and the computed measures that it means."""
    texts = [metrics] if isinstance(metrics, str) else metrics
    for name in (name for text in texts for name in split_names(text)):
        whole = [measure for measure in computed if measure.head == name.strip()]
        meant = whole or find_measures(name, computed)
        if not meant:
            raise UsageError(f"metrics: {name.strip()} was not computed; expected any of {listed(computed)}")
        yield name, meant


def require_any(kind: str, measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that a kind of picture can show."""
    shows, words = KINDS[kind]
    possible = [measure for measure in measures if shows(measure)]
    if not possible:
        raise UsageError(f"the picture {kind!r} shows {words}, such as P@5; there are only {listed(measures)}")
    return possible


def require_bins(*, has_bins: bool) -> None:
    """Refuse a picture of bins without any."""
    if not has_bins:
        need = argument("by_frequency", "head,torso,tail")
        other = argument("by_group", kind="FILE")
        raise UsageError(
            "the picture 'bins' needs values of bins of labels or of groups of instances "
            f"(hint: pass {need} or {other})"
        )
