"""Picture: the matplotlib figure of a picture, which notebooks show as it is, and which is saved in its own style."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from xmceval.files.paths import to_path
from xmceval.report.pictures.files import METADATA, to_bytes
from xmceval.report.pictures.style import DOTS_PER_INCH, style


class Picture(Figure):  # type: ignore[misc]
    """A matplotlib Figure that keeps the style that it was drawn in."""

    def savefig(self, fname: Any, **how: Any) -> None:
        """Write a file as matplotlib does: on white, with fonts embedded, and without the time."""
        is_path = isinstance(fname, (str, Path))
        form = how.get("format") or (to_path(fname).suffix.removeprefix(".") if is_path else "png")
        defaults = {"facecolor": "white", "dpi": DOTS_PER_INCH, "metadata": METADATA.get(form.lower())}
        with style():
            super().savefig(fname, **{**defaults, **how})

    def _repr_png_(self) -> bytes:
        return to_bytes(self, "png")
