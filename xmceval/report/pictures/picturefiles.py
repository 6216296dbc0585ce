"""Files of pictures: svg, png and pdf whose bytes depend on the picture alone, and svg as part of a page."""

from __future__ import annotations

import hashlib
import io
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmceval.errors import UsageError, listed
from xmceval.files.io.paths import to_path
from xmceval.report.pictures.style import DOTS_PER_INCH, INK, printable, style
from xmceval.report.pictures.svgtidying import REFERENCE, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What matplotlib would write into each file: its version, and the time.
METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Creator": None, "Date": None, "Format": None, "Type": None},
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
}
ENDINGS = tuple(f".{form}" for form in METADATA)
THEMES = ("light", "auto")


def check_ending(path: str | Path) -> str:
    """Return the form of a file by its ending."""
    form = to_path(path).suffix.lower().removeprefix(".")
    if form not in METADATA:
        raise UsageError(f"{path}: expected a name that ends with {listed(ENDINGS)}")
    return form


def to_bytes(figure: Figure, form: str) -> bytes:
    """Return the file of a figure: the same bytes for the same picture."""
    if form == "svg":
        return to_svg(figure, theme="light").encode()
    return _render(figure, form, facecolor="white")


def _render(figure: Figure, form: str, **how: Any) -> bytes:
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, **{"format": form, "metadata": METADATA[form], "dpi": DOTS_PER_INCH, **how})
    return buffer.getvalue()


def to_svg(figure: Figure, *, theme: str = "auto", prefix: str | None = None) -> str:
    """Return a figure as an svg element that can stand in a page.

    Parameters
    ----------
    figure : Figure
    theme : {"auto", "light"}
        ``auto``: text and lines have the colour of the text of the page (``currentColor``) on its background;
        ``light``: black on white.
    prefix : str, optional
        What ids begin with; default a digest of the picture, so that those of different pictures differ.
    """
    if theme not in THEMES:
        raise UsageError(f"theme must be one of {listed(THEMES)}, got {theme!r}")
    face = "none" if theme == "auto" else "white"
    root = ET.fromstring(_render(figure, "svg", facecolor=face))  # noqa: S314 - it was written just now
    with style():
        tidy(root)
    digest = hashlib.blake2b(ET.tostring(root), digest_size=4).hexdigest()
    found = (element.get("id") for element in root.iter())
    ids = {name: f"{prefix or f'p{digest}'}-{i}" for i, name in enumerate(filter(None, found))}
    for element in root.iter():
        element.attrib = {name: _attribute(name, value, ids, theme) for name, value in element.attrib.items()}
    root.set("xmlns", "http://www.w3.org/2000/svg")
    if figure.get_label():
        root.set("role", "img")
        title = ET.Element("title")
        title.text = printable(figure.get_label())
        root.insert(0, title)
    else:
        root.set("aria-hidden", "true")
    return ET.tostring(root, encoding="unicode") + "\n"


def _attribute(name: str, value: str, ids: Mapping[str, str], theme: str) -> str:
    """Return the value of an attribute with the ids and colours of this picture."""
    if name == "id":
        return ids[value]
    if name == "href":
        return f"#{ids[value.removeprefix('#')]}"
    value = REFERENCE.sub(lambda found: f"url(#{ids[found[1]]})", value)
    return value.replace(INK, "currentColor") if name == "style" and theme == "auto" else value


def save(figure: Figure, path: str | Path, *, force: bool = True) -> None:
    """Write a figure to a file: svg, png or pdf by its ending; with `force` a file of this name is overwritten."""
    from xmceval.files.io.outputs import write_output

    write_output(path, to_bytes(figure, check_ending(path)), force=force)
