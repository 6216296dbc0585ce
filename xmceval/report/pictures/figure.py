"""Picture: the matplotlib figure of a picture, which notebooks show as it is, and which is saved in its own style."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from xmceval.files.io.paths import to_path
from xmceval.report.pictures.picturefiles import METADATA, to_bytes
from xmceval.report.pictures.style import DOTS_PER_INCH, MARGIN, PAGE, SIZES, Plan, add_legend, arrange, style

LINE = 0.17  # inches, of a legend
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


def draw_plan(plan: Plan, size: str | None) -> Picture:
    """Draw panels side by side and below each other, and the legend above them."""
    width = SIZES[size or plan.size or ("column" if len(plan.panels) == 1 else "page")]
    n_columns = min(len(plan.panels), plan.columns if width == PAGE else 1)
    n_lines = -(-len(plan.panels) // n_columns)
    with style():
        height = n_lines * plan.height + 2 * MARGIN
        if plan.legend is not None:
            n_texts = len(plan.legend.texts)
            height += LINE * max(n_texts / n_columns, -(-n_texts // arrange(plan.legend, width)[1]))
        figure = Picture(figsize=(width, height), layout="constrained")
        figure.set_label(plan.text)
        figure.get_layout_engine().set(w_pad=MARGIN, h_pad=MARGIN)
        ratios = plan.ratios if n_lines == len(plan.ratios) else None
        axes = figure.subplots(n_lines, n_columns, squeeze=False, height_ratios=ratios).flatten()
        for panel, ax in zip(plan.panels, axes, strict=False):
            panel(ax)
        for ax in axes[len(plan.panels) :]:
            ax.set_axis_off()
        if plan.legend is not None:
            add_legend(figure, plan.legend, width, loc="outside upper left")
        dpi = figure.dpi
        figure.set_dpi(DOTS_PER_INCH)  # with few dots letters are rounded to whole ones, and texts have other widths
        for _ in range(2):  # the first layout may change the ticks, and with them the room that their labels need
            figure.draw_without_rendering()
        figure.set_dpi(dpi)
        figure.set_layout_engine("none")  # a layout that is computed again may differ by rounding
    return figure
