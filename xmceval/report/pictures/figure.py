"""Shared style of pictures: colours and markers of systems, legends, layout, and reproducible files."""

from __future__ import annotations

import io
import re
import textwrap
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from xmceval.files.io.paths import to_path

COLUMN = 3.3  # inches: the width of a column of a paper
PAGE = 6.9  # and of its page
SIZES = {"column": COLUMN, "page": PAGE}
ON_PAGE = 3.6  # inches: the width of a panel of an HTML page, which a phone shows without shrinking its letters
KEY = (0.36, 0.14)  # inches: the symbol next to a text of a legend on an HTML page
GAP = 0.07  # inches around panels, the legend and the note
BESIDE = 0.55  # inches that the symbol of a legend and the space between columns take
DOTS_PER_INCH = 300
SCREEN_DOTS_PER_INCH = 120  # of notebooks: letters are as large as in the text around
INK = "#111111"  # text and lines; a page replaces it by the colour of its text
BAND = 0.16  # opacity
GRID = 0.25

# Colours of the Okabe-Ito palette with a contrast of at least 3 to white and to black. Markers, dashes and
# hatches also distinguish systems, for grey print and for more than six systems.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#b6609a", "#a87b00", "#767676")
MARKERS = ("o", "s", "^", "D", "v", "x", "P", "<", ">", "p", "*", "d")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (7, 2)), (0, (3, 1, 1, 1, 1, 1)))
HATCHES = ("", "////", "\\\\\\\\", "xxxx", "----", "||||", "++++", "....")

# Equal results give equal pictures, whatever the user's matplotlibrc.
RULES: dict[str, Any] = {
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), INK),
    **dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize"), 8),
    **dict.fromkeys(("legend.fontsize", "xtick.labelsize", "ytick.labelsize"), 7.5),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    **dict.fromkeys(("axes.spines.right", "axes.spines.top", "legend.frameon", "text.parse_math"), False),
    **dict.fromkeys(("figure.constrained_layout.h_pad", "figure.constrained_layout.w_pad"), GAP),
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.dpi": DOTS_PER_INCH,
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],  # a viewer that lacks one takes the next
    "grid.alpha": GRID,
    "grid.color": INK,
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "xmceval",
}
# Omit metadata that matplotlib writes into files: its version and the time.
METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Creator": None, "Date": None, "Format": None, "Type": None},
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
}


@dataclass(frozen=True)
class Look:
    """How a system is drawn in every picture: colour, marker, dashes and hatch."""

    color: str
    marker: str
    face: str  # face of markers: hollow if a colour is reused
    dashes: Any
    hatch: str

    @classmethod
    def of(cls, number: int) -> Look:
        """Return the look of a system by its number."""
        color = COLORS[number % len(COLORS)]
        turn = number // len(COLORS)
        return cls(
            color,
            MARKERS[number % len(MARKERS)],
            "none" if turn % 2 else color,
            DASHES[(number + turn) % len(DASHES)],
            HATCHES[number % len(HATCHES)],
        )

    @property
    def points(self) -> dict[str, Any]:
        """The style of markers."""
        return {"color": self.color, "marker": self.marker, "markerfacecolor": self.face, "linestyle": "none"}

    @property
    def line(self) -> dict[str, Any]:
        """The style of a line with markers."""
        return {**self.points, "linestyle": self.dashes}

    @property
    def bar(self) -> dict[str, Any]:
        """The style of a bar: a tint without alpha, which svg would lose under a hatch."""
        tint = [(1 + channel) / 2 for channel in mpl.colors.to_rgb(self.color)]
        return {"facecolor": tint, "edgecolor": self.color, "hatch": self.hatch, "linewidth": 0.6}


@dataclass(frozen=True)
class Plan:
    """The parts of a picture, before anything is drawn."""

    panels: Sequence[Callable[[Axes], float]]  # functions that draw, and return the height in inches
    keys: Sequence[tuple[str, Artist]]  # texts of the legend and their symbols; may be empty
    caption: str
    text: str  # alternative text
    note: str = ""  # further notes, such as which measures are left out and how to see them


class Picture(Figure):  # type: ignore[misc]
    """A matplotlib Figure that is saved in the style in which it was drawn, and that notebooks show."""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write a file as matplotlib does: on white, with fonts embedded, and without the time."""
        suffix = to_path(fname).suffix if isinstance(fname, (str, Path)) else ".png"
        form = options.get("format") or suffix.removeprefix(".").lower()
        with style():
            super().savefig(fname, **{"facecolor": "white", "metadata": METADATA.get(form), **options})

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """Return the PNG for notebooks, with its size in screen pixels and its alternative text."""
        width, height = (round(SCREEN_DOTS_PER_INCH * inches) for inches in self.get_size_inches())
        return to_bytes(self, "png"), {"width": width, "height": height, "alt": self.get_label()}


@contextmanager
def style() -> Iterator[None]:
    """Draw only by RULES, without warnings about missing characters."""
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        warnings.filterwarnings("ignore", message=r"Matplotlib currently does not support .* natively")
        mpl.rcdefaults()
        mpl.rcParams.update(RULES)
        yield


def draw_figure(plan: Plan, size: str | None = None) -> Picture:
    """Draw panels side by side and below each other, the legend above them and the note below."""
    n = len(plan.panels)
    width = SIZES[size or ("column" if n == 1 else "page")]
    n_columns = min(n, 2 if width == PAGE else 1)
    starts = range(0, n, n_columns)
    with style():
        figure = Picture(layout="constrained")
        figure.set_label("; ".join(filter(None, (plan.text, plan.note))))
        grid = figure.add_gridspec(len(starts), n_columns)
        needed = [panel(figure.add_subplot(grid[i])) for i, panel in enumerate(plan.panels)]
        heights = [max(needed[i : i + n_columns]) for i in starts]
        grid.set_height_ratios(heights)
        add_legend(figure, plan, width, loc="outside upper left")
        outside = [*figure.legends]
        if plan.note:
            note = wrap(plan.note, width - 4 * GAP, 6.5)
            outside.append(figure.supxlabel(note, x=GAP / width, ha="left", fontsize=6.5))
        inches = [artist.get_window_extent().height / figure.dpi for artist in outside]
        figure.set_size_inches(width, sum(heights) + sum(inches) + 2 * GAP)
        _lay_out(figure)
    return figure


def draw_into(ax: Axes, plan: Plan) -> Any:
    """Draw the only panel of a picture into Axes, with its legend above, and return their figure."""
    with style():
        plan.panels[0](ax)
        add_legend(ax, plan, COLUMN, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    return ax.figure


def draw_panels(plan: Plan, prefix: str) -> Iterator[str]:
    """Draw each panel as an svg element, for an HTML page that arranges them as it has room."""
    for i, panel in enumerate(plan.panels):
        with style():
            figure = Picture(layout="constrained")
            ax = figure.subplots()
            figure.set_size_inches(ON_PAGE, panel(ax))
            words = ", ".join(filter(None, (ax.get_title("left"), ax.get_ylabel(), ax.get_xlabel())))
            figure.set_label(words.replace("\n", " "))
            _lay_out(figure)
        yield to_svg(figure, f"{prefix}-{i}")


def draw_keys(plan: Plan, prefix: str) -> Iterator[tuple[str, str]]:
    """Draw the symbol of each text of the legend as an svg element."""
    for i, (text, symbol) in enumerate(plan.keys):
        with style():
            figure = Picture(figsize=KEY)
            figure.legend([symbol], [""], loc="center", handlelength=3, handletextpad=0, borderpad=0)
        yield text, to_svg(figure, f"{prefix}-key{i}")


def _lay_out(figure: Picture) -> None:
    """Compute the layout once: a repeated layout may differ by rounding."""
    for _ in range(2):  # the first layout may change the ticks and hence the width of their labels
        figure.draw_without_rendering()
    figure.set_layout_engine("none")


def list_keys(names: Sequence[str], symbol: Callable[[Look], Artist]) -> list[tuple[str, Artist]]:
    """Return the legend of systems, each with the symbol of its look; empty for a single one."""
    if len(names) == 1:
        return []
    return [(name, symbol(Look.of(i))) for i, name in enumerate(names)]


def add_legend(parent: Any, plan: Plan, width: float, **place: Any) -> None:
    """Add a legend with the number of columns that fit a width in inches."""
    if not plan.keys:
        return
    size = RULES["legend.fontsize"]
    keys = [(wrap(text, width - BESIDE, size), symbol) for text, symbol in plan.keys]
    widest = max(measure(text, size) for text, _ in keys)
    n_columns = max(1, int(width / (widest + BESIDE)))
    # matplotlib fills column after column, and people read line after line
    order = [key for column in range(n_columns) for key in keys[column::n_columns]]
    symbols = [symbol for _, symbol in order]
    legend = parent.legend(symbols, ["x"] * len(keys), ncols=n_columns, handlelength=2.4, **place)
    for drawn, (text, _) in zip(legend.get_texts(), order, strict=True):
        drawn.set_text(text)  # not in the call above: matplotlib leaves out texts that begin with _


def measure(text: str, size: float) -> float:
    """Return the width of the widest line of a text in inches."""
    font = FontProperties(family=["sans-serif"], size=size)
    widths = (text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in text.split("\n"))
    return float(max(widths)) / 72


def wrap(text: str, inches: float, size: float) -> str:
    """Break a text into lines of a width in inches: at spaces and after hyphens, else anywhere."""
    clean = printable(text)
    wrapped = clean
    letters = len(clean)
    while (width := measure(wrapped, size)) > inches:
        letters = int(letters * inches / width)  # fewer than before, so that this ends
        wrapped = "\n".join(textwrap.wrap(clean, letters))
    return wrapped


def printable(text: str) -> str:
    """Replace what an svg file must not hold, and keep a name that is read from right to left from turning others."""
    clean = re.sub("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\N{REPLACEMENT CHARACTER}", text)
    if any(unicodedata.bidirectional(character) in {"R", "AL"} for character in clean):
        return f"\N{LEFT-TO-RIGHT MARK}{clean}\N{LEFT-TO-RIGHT MARK}"
    return clean


def to_bytes(figure: Figure, form: str, **options: Any) -> bytes:
    """Return a figure as the bytes of a file: equal pictures give equal bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, **options)
    data = buffer.getvalue()
    label = figure.get_label()
    if form == "svg" and label:  # alternative text
        title = f"<title>{escape(printable(str(label)))}</title>".encode()
        data = re.sub(rb"(<svg [^>]*>)", lambda start: start[0] + title, data, count=1)
    return data


def to_svg(figure: Figure, prefix: str) -> str:
    """Return a figure as an svg element for a page, in the colour of its text; its ids begin with a prefix."""

    def adapt(tag: re.Match[str]) -> str:
        return re.sub(r'( id="|href="#|url\(#)', rf"\1{prefix}-", tag[0]).replace(INK, "currentColor")

    text = to_bytes(figure, "svg", facecolor="none").decode()
    body = re.sub("<[^>]*>", adapt, text[text.index("<svg ") :]).strip()
    return body.replace("<svg ", '<svg role="img" ' if figure.get_label() else '<svg aria-hidden="true" ', 1)
