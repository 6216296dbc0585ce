"""Picture: the matplotlib figure of a picture, which notebooks show as it is."""

from __future__ import annotations

from matplotlib.figure import Figure


class Picture(Figure):  # type: ignore[misc]
    """A matplotlib Figure that notebooks show without pyplot."""

    def _repr_png_(self) -> bytes:
        from xmceval.report.pictures.files import to_bytes

        return to_bytes(self, "png")
