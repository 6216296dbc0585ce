"""Files of pictures: svg, png and pdf whose bytes depend on the picture alone, and svg as part of a page."""

from __future__ import annotations

import hashlib
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmceval.errors import UsageError, listed
from xmceval.files.io.paths import to_path
from xmceval.report.pictures.style import DOTS_PER_INCH, INK, measure, printable, style

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
FONTS = "DejaVu Sans, Verdana, Arial, sans-serif"  # a viewer without the first has a narrower one, which also fits
SIZE, BOLD = re.compile(r"font(?:-size)?: [^;]*?([0-9.]+)px"), re.compile(r"font(?:-weight)?: (?:bold|700)")
REFERENCE = re.compile(r"url\(#([^)]+)\)")


def check_ending(path: str | Path) -> str:
    """Return the form of a file by its ending.

    Raises
    ------
    UsageError
        Another ending than .svg, .png or .pdf.
    """
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
    for parent in root.iter():
        for child in [each for each in parent if each.tag.endswith("}metadata")]:
            parent.remove(child)
    _remove_unused_ids(root)
    _remove_spaces(root)
    with style():
        _fix_widths(root)
    digest = hashlib.blake2b(ET.tostring(root), digest_size=4).hexdigest()
    start = f"{prefix or f'p{digest}'}-"
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for name, value in list(element.attrib.items()):
            del element.attrib[name]
            element.set(name.rpartition("}")[2], _attribute(name.rpartition("}")[2], value, start, theme))
    root.set("xmlns", "http://www.w3.org/2000/svg")
    root.set("role", "img")
    root.attrib.pop("version", None)
    if figure.get_label():
        title = ET.Element("title")
        title.text = printable(figure.get_label())
        root.insert(0, title)
    return ET.tostring(root, encoding="unicode") + "\n"


def _remove_unused_ids(root: ET.Element) -> None:
    """Remove the ids that matplotlib gives to parts of its own."""
    values = [value for element in root.iter() for name, value in element.attrib.items() if name != "id"]
    used = {name for value in values for name in (*REFERENCE.findall(value), value.removeprefix("#"))}
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)


def _fix_widths(root: ET.Element) -> None:
    """Say how wide each text is, so that another font than the one that was measured takes as much room."""
    for element in root.iter():
        how = element.get("style", "")
        size = SIZE.search(how)
        if element.tag.endswith("}text") and element.text and size:
            width = measure(element.text, float(size[1]), bold=bool(BOLD.search(how)))
            element.set("textLength", f"{72 * width:.2f}")
            element.set("lengthAdjust", "spacingAndGlyphs")


def _remove_spaces(root: ET.Element) -> None:
    """Remove the indents and line breaks between elements and within paths, but not those of texts."""
    for element in root.iter():
        element.text = element.text if element.text and element.text.strip() else None
        element.tail = None
        if "d" in element.attrib:
            element.set("d", " ".join(element.get("d", "").split()))


def _attribute(name: str, value: str, start: str, theme: str) -> str:
    """Return the value of an attribute with the ids and colours of this picture."""
    if name == "id":
        return f"{start}{value}"
    if name == "href":
        return f"#{start}{value.removeprefix('#')}"
    value = REFERENCE.sub(rf"url(#{start}\1)", value)
    if name == "style":
        value = value.replace("'DejaVu Sans'", FONTS)
        value = value.replace(INK, "currentColor") if theme == "auto" else value
    return value


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure to a file: svg, png or pdf by its ending; a file of this name is overwritten.

    Raises
    ------
    UsageError
        Another ending.
    DataError
        A file that cannot be written.
    """
    from xmceval.files.writing.targets import open_targets

    data = to_bytes(figure, check_ending(path))
    with open_targets([to_path(path)], force=True) as [file]:
        file.write(data)
