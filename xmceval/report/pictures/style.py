"""Style: what all pictures share: sizes, colours that the colour-blind can tell apart, markers, legends and names."""

from __future__ import annotations

import unicodedata
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # matplotlib is loaded when a picture is drawn
    from matplotlib.axes import Axes

COLUMN, PAGE = 3.3, 6.9  # inches: the width of a column and of a page of a paper
SIZES = {"column": COLUMN, "page": PAGE}
INK = "#111111"  # of text and lines; `svg` replaces it where the colours of a page apply
FAINT = 0.25  # opacity of grids
BAND = 0.16  # opacity of intervals
LONGEST_NAME = 30  # in a legend
DOTTED: dict[str, Any] = {"color": INK, "alpha": FAINT, "linewidth": 0.6, "linestyle": (0, (2, 2))}  # between groups
DOTS_PER_INCH = 300
MARGIN = 0.07  # inches around a picture
TALLEST = 8.5  # inches: what is left of a page above a caption
HANDLE, GAP = 0.4, 0.15  # inches that a legend takes beside a text, and between columns

# From the palette of Okabe and Ito, as far as it has a contrast of 3 with white and with black: one made for colour
# blindness. Markers, dashes and hatches repeat what colours say, for grey print and for more than six systems.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#b6609a", "#a87b00", "#767676")
MARKERS = ("o", "s", "^", "D", "v", "x", "P", "<", ">", "p", "*", "d")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (7, 2)), (0, (3, 1, 1, 1, 1, 1)))
HATCHES = ("", "////", "\\\\\\\\", "xxxx", "----", "||||", "++++", "//", "\\\\", "xx")

# Whatever a user's own matplotlibrc says, the same figures give the same picture.
RULES: dict[str, Any] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8,
    "axes.unicode_minus": True,
    "figure.facecolor": "white",
    "axes.facecolor": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 8,
    "grid.alpha": FAINT,
    "grid.color": INK,
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "xmceval",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "xtick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.color": INK,
    "ytick.labelsize": 7.5,
    "ytick.major.width": 0.6,
}


@dataclass(frozen=True)
class Look:
    """How a system is drawn wherever it appears."""

    color: str
    marker: str
    dashes: Any
    hatch: str
    face: str  # of markers: hollow where a colour comes again

    @property
    def line(self) -> dict[str, Any]:
        """The style of a line with markers."""
        return {"linestyle": self.dashes, **self.mark}

    @property
    def mark(self) -> dict[str, Any]:
        """The style of markers."""
        return {"color": self.color, "marker": self.marker, "markerfacecolor": self.face}

    @property
    def bars(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The styles of two bars on top of each other: svg files show a hatch only where a bar has no filling."""
        filling = {"facecolor": f"{self.color}80", "linewidth": 0}
        return filling, {"facecolor": "none", "edgecolor": self.color, "hatch": self.hatch, "linewidth": 0.6}

    @classmethod
    def of(cls, number: int) -> Look:
        """Return the look of a system by its number."""
        return cls(
            COLORS[number % len(COLORS)],
            MARKERS[number % len(MARKERS)],
            DASHES[(number // len(COLORS) + number) % len(DASHES)],
            HATCHES[number % len(HATCHES)],
            "none" if number // len(COLORS) % 2 else COLORS[number % len(COLORS)],
        )


@dataclass(frozen=True)
class Legend:
    """What a legend shows: a patch or a line for each text, which is cut where it is long."""

    texts: Sequence[str]
    handles: Callable[[], Sequence[Any]]


class Grid(NamedTuple):
    """How panels are arranged: how many side by side at most, and the height of each in inches."""

    columns: int
    height: float


PANELS, PANEL = Grid(2, 2.1), Grid(1, 2.1)  # of a page and of a column, where a picture has no others


@dataclass(frozen=True)
class Plan:
    """What a picture consists of, before anything is drawn.

    Attributes
    ----------
    panels : sequence of callable
        Each draws into Axes.
    legend : Legend or None
        Above the panels, where there is more than one thing to tell apart.
    text : str
        What the picture shows, for those who cannot see it.
    page, column : Grid
        How panels are arranged in each of SIZES.
    ratios : sequence of float
        The heights of the lines of panels to each other; empty where they are equal.
    size : str
        One of SIZES, where it is not that of the number of panels.
    note : str
        What a reader must know beside, such as what is left out and how to see it.
    hint : str
        How to choose what is shown, where not all panels fit.
    smaller : Plan or None
        What is drawn instead where this is higher than a page.
    """

    panels: Sequence[Callable[[Axes], None]]
    legend: Legend | None = None
    text: str = ""
    page: Grid = PANELS
    column: Grid = PANEL
    ratios: Sequence[float] = ()
    size: str = ""
    note: str = ""
    hint: str = ""
    smaller: Plan | None = None


@contextmanager
def style() -> Iterator[None]:
    """Draw by RULES alone, without warnings of characters that the font lacks."""
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        warnings.filterwarnings("ignore", message=r"Matplotlib currently does not support .* natively")
        mpl.rcdefaults()
        mpl.rcParams.update(RULES)
        yield


def add_legend(parent: Any, legend: Legend, width: float, **where: Any) -> None:
    """Add a legend; its texts may begin with an underscore, which matplotlib would leave out."""
    texts, n_columns = arrange(legend, width)
    handles = legend.handles()
    # matplotlib fills column after column, and people read line after line
    order = [i for column in range(n_columns) for i in range(column, len(texts), n_columns)]
    drawn = parent.legend([handles[i] for i in order], ["x"] * len(texts), ncols=n_columns, handlelength=2.4, **where)
    for text, i in zip(drawn.get_texts(), order, strict=True):
        text.set_text(texts[i])


def arrange(legend: Legend, width: float) -> tuple[list[str], int]:
    """Return the texts of a legend, cut as far as they are wider than some inches, and in how many columns they fit."""
    size, n = RULES["legend.fontsize"], len(legend.texts)
    texts = fit(legend.texts, width - HANDLE - 2 * MARGIN, size)
    widest = max(measure(each, size) for each in texts)
    return texts, max(1, min(n, int(width / (HANDLE + GAP + widest))))


def lines_of(names: Sequence[str], *, has_lines: bool = True) -> Legend | None:
    """Return the legend of systems that are drawn as lines, or as points; None for a single one."""

    def handles() -> list[Any]:
        from matplotlib.lines import Line2D

        hidden = {} if has_lines else {"linestyle": "none"}
        return [Line2D([], [], **{**Look.of(i).line, **hidden}) for i in range(len(names))]

    return Legend(shorten(names), handles) if len(names) > 1 else None


def bars_of(names: Sequence[str]) -> Legend | None:
    """Return the legend of systems that are drawn as bars; None for a single one."""

    def handles() -> list[Any]:
        from matplotlib.patches import Patch

        looks = map(Look.of, range(len(names)))
        return [tuple(Patch(**how) for how in each.bars) for each in looks]

    return Legend(shorten(names), handles) if len(names) > 1 else None


def shorten(names: Sequence[str], longest: int = LONGEST_NAME) -> list[str]:
    """Make names short enough for a picture, and still distinct; what no file may hold becomes a question mark."""
    clean = [printable(name) for name in names]
    short = [each if len(each) <= longest else f"{each[: longest // 2 - 1]}…{each[-longest // 2 :]}" for each in clean]
    return [_isolate(f"{each} ({i + 1})" if short.count(each) > 1 else each) for i, each in enumerate(short)]


def measure(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text in inches, as the font of pictures has it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=RULES["font.family"], size=size, weight="bold" if bold else "normal")
    width: float = text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]
    return width / 72


def place_of(ax: Axes) -> tuple[bool, float]:
    """Return whether Axes are the first of their line, and how many inches of the picture's width they have."""
    place, width = ax.get_subplotspec(), float(ax.figure.bbox.width / ax.figure.dpi)
    return (True, width) if place is None else (place.is_first_col(), width / place.get_gridspec().ncols)


def wrap(text: str, inches: float, size: float) -> str:
    """Break a text into lines that are no wider than some inches."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        lines[-1:] = [longer] if not lines[-1] or measure(longer, size) <= inches else [lines[-1], word]
    return "\n".join(lines)


def fit(texts: Sequence[str], inches: float, size: float) -> list[str]:
    """Cut texts in the middle as far as they are wider than some inches; they stay distinct."""
    cut = [_cut(text, inches, size) for text in texts]
    for i, text in enumerate(texts):
        if cut[i] != text and cut.count(cut[i]) > 1:
            number = f" ({i + 1})"
            cut[i] = _cut(text, inches - measure(number, size), size) + number
    return cut


def _cut(text: str, inches: float, size: float) -> str:
    if measure(text, size) <= inches:
        return text
    n_kept = bisect_right(range(2, len(text)), inches, key=lambda n: measure(_leave(text, n), size)) + 1
    return _leave(text, max(n_kept, 2))


def _leave(text: str, n: int) -> str:
    """Leave the first and the last of the characters of a text, n in all."""
    return f"{text[: n - n // 2]}…{text[len(text) - n // 2 :]}"


def _isolate(name: str) -> str:
    """Keep a name that is read from right to left from reordering the text that it is in."""
    is_reversed = any(unicodedata.bidirectional(character) in {"R", "AL"} for character in name)
    return f"\N{LEFT-TO-RIGHT MARK}{name}\N{LEFT-TO-RIGHT MARK}" if is_reversed else name


def printable(text: str) -> str:
    """Replace the characters that an XML file must not hold, and line breaks."""
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    is_allowed = unicodedata.category(character) not in {"Cc", "Cs"} and ord(character) & 0xFFFE != 0xFFFE
    return character if is_allowed else "\N{REPLACEMENT CHARACTER}"
