"""Picture: the matplotlib figure of a picture, which notebooks show as it is, and which is saved in its own style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from xmceval.files.io.paths import to_path
from xmceval.report.pictures.picturefiles import METADATA, to_bytes
from xmceval.report.pictures.style import (
    DOTS_PER_INCH,
    MARGIN,
    PAGE,
    SIZES,
    TALLEST,
    Grid,
    Legend,
    Plan,
    add_legend,
    arrange,
    style,
    wrap,
)

LINE = 0.17  # inches, of a legend
NOTE, NOTE_LINE = 6.5, 0.12  # the size of the letters of a note, and the inches that a line of it takes
BESIDE, MOST_BESIDE = {1: 1, 2: 2, 4: 2}, 3  # by the number of panels, how many a wide screen has side by side
PANEL_WIDTHS = {1: 3.6, 2: 3.6, 3: 2.6}  # inches of these, in which letters are as large as those of the text beside
KEY, KEY_LENGTH = (0.28, 0.13), 2.4  # inches of what stands for a text of a legend, and its length in letters
SCREEN_DOTS_PER_INCH = 120  # of notebooks: letters are as large as those of the text beside


class Picture(Figure):  # type: ignore[misc]
    """A matplotlib Figure that keeps the style that it was drawn in."""

    def savefig(self, fname: Any, **how: Any) -> None:
        """Write a file as matplotlib does: on white, with fonts embedded, and without the time."""
        is_path = isinstance(fname, (str, Path))
        form = how.get("format") or (to_path(fname).suffix.removeprefix(".") if is_path else "png")
        defaults = {"facecolor": "white", "dpi": DOTS_PER_INCH, "metadata": METADATA.get(form.lower())}
        with style():
            super().savefig(fname, **{**defaults, **how})

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """Return what notebooks show, with its size there in pixels of a screen, and a text for who cannot see it."""
        width, height = (round(SCREEN_DOTS_PER_INCH * inches) for inches in self.get_size_inches())
        return to_bytes(self, "png"), {"width": width, "height": height, "alt": self.get_label()}


@dataclass(frozen=True)
class Panels:
    """What a page shows of a picture: its panels one by one, what stands for the texts of its legend, and its note."""

    pictures: Sequence[Picture]
    keys: Sequence[tuple[str, Picture]]
    beside: int
    text: str
    note: str


def draw_plan(plan: Plan, size: str | None) -> Picture:
    """Draw panels side by side and below each other, the legend above them and the note below; no more than a page."""
    with style():
        plan, grid = _fit_page(plan, size)
        width, n_lines = _width(plan, size), -(-len(plan.panels) // grid.columns)
        height = min(n_lines * grid.height + _around(plan, width), TALLEST)
        figure = Picture(figsize=(width, height), layout="constrained")
        figure.set_label("; ".join(filter(None, (plan.text, plan.note))))
        figure.get_layout_engine().set(w_pad=MARGIN, h_pad=MARGIN)
        ratios = plan.ratios if n_lines == len(plan.ratios) else None
        axes = figure.subplots(n_lines, grid.columns, squeeze=False, height_ratios=ratios).flatten()
        for panel, ax in zip(plan.panels, axes, strict=False):
            panel(ax)
        for ax in axes[len(plan.panels) :]:
            ax.set_axis_off()
        _add_texts(figure, plan, width)
        _lay_out(figure)
    return figure


def draw_panels(plan: Plan) -> Panels:
    """Draw each panel as a picture of its own, which a page arranges as it has room."""
    plan, grid = _fit_page(plan, "page")
    n = len(plan.panels)
    beside = BESIDE.get(n, MOST_BESIDE)
    heights = plan.ratios or [grid.height] * n
    pictures = []
    with style():
        for panel, height in zip(plan.panels, heights, strict=True):
            picture = Picture(figsize=(PANEL_WIDTHS[beside], height), layout="constrained")
            picture.get_layout_engine().set(w_pad=MARGIN, h_pad=MARGIN)
            ax = picture.subplots()
            panel(ax)
            words = filter(None, (ax.get_title("left"), ax.get_ylabel(), ax.get_xlabel()))
            picture.set_label("; ".join(words) or plan.text)
            _lay_out(picture)
            pictures.append(picture)
    keys = [] if plan.legend is None else [*zip(plan.legend.texts, _draw_keys(plan.legend), strict=True)]
    return Panels(pictures, keys, beside, plan.text, plan.note)


def _draw_keys(legend: Legend) -> Iterator[Picture]:
    """Draw what stands for each text of a legend."""
    with style():
        for handle in legend.handles():
            picture = Picture(figsize=KEY)
            picture.legend([handle], [""], loc="center", handlelength=KEY_LENGTH, handletextpad=0, borderpad=0)
            yield picture


def _fit_page(plan: Plan, size: str | None) -> tuple[Plan, Grid]:
    """Return what of a plan fits on a page, and how it is arranged."""
    width = _width(plan, size)
    columns, height = plan.page if width == PAGE else plan.column
    n_lines = -(-len(plan.panels) // columns)
    most = max(1, int((TALLEST - _around(plan, width)) / height))
    if n_lines > most and plan.smaller is not None:
        return _fit_page(plan.smaller, size)
    if n_lines > most:
        shown = f"{most * columns} of {len(plan.panels)} panels, as many as fit on a page"
        note = "; ".join(filter(None, (shown + (f" ({plan.hint})" if plan.hint else ""), plan.note)))
        plan, n_lines = replace(plan, panels=plan.panels[: most * columns], note=note), most
    return plan, Grid(-(-len(plan.panels) // n_lines), height)


def _width(plan: Plan, size: str | None) -> float:
    return SIZES[size or plan.size or ("column" if len(plan.panels) == 1 else "page")]


def _around(plan: Plan, width: float) -> float:
    """Return the inches that the legend, the note and the margins take."""
    height = 2 * MARGIN
    if plan.legend is not None:
        height += LINE * -(-len(plan.legend.texts) // arrange(plan.legend, width)[1])
    return height + (NOTE_LINE * len(_wrap_note(plan, width).splitlines()) + MARGIN if plan.note else 0.0)


def _wrap_note(plan: Plan, width: float) -> str:
    return wrap(plan.note, width - 4 * MARGIN, NOTE)


def _add_texts(figure: Picture, plan: Plan, width: float) -> None:
    """Add the legend and the note."""
    if plan.legend is not None:
        add_legend(figure, plan.legend, width, loc="outside upper left")
    if plan.note:
        figure.supxlabel(_wrap_note(plan, width), x=MARGIN / width, ha="left", fontsize=NOTE)


def _lay_out(figure: Picture) -> None:
    """Compute where everything is, once."""
    dpi = figure.dpi
    figure.set_dpi(DOTS_PER_INCH)  # with few dots letters are rounded to whole ones, and texts have other widths
    for _ in range(2):  # the first layout may change the ticks, and with them the room that their labels need
        figure.draw_without_rendering()
    figure.set_dpi(dpi)
    figure.set_layout_engine("none")  # a layout that is computed again may differ by rounding
