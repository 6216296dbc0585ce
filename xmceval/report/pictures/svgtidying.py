"""Tidying of svg: what matplotlib writes in full is said once, and texts are as wide in any font."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from xmceval.report.pictures.style import measure

# A viewer without the first has a narrower one, which also fits.
FONTS = "font-family: DejaVu Sans, Verdana, Arial, sans-serif"
LINES = "stroke-linejoin: round; stroke-linecap: butt"  # what matplotlib says in a style sheet, for a page as a whole
FAMILY = re.compile(r"font-family: [^;\"]*;? ?")
SIZE, BOLD = re.compile(r"font(?:-size)?: [^;]*?([0-9.]+)px"), re.compile(r"font(?:-weight)?: (?:bold|700)")
REFERENCE = re.compile(r"url\(#([^)]+)\)")
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")  # in points, of which a hundredth is not seen
UNTURNED = re.compile(r"rotate\(-?0 [^)]*\)")
INVISIBLE = "fill: none"  # the whole style of a path


def tidy(root: ET.Element) -> None:
    """Remove what draws nothing, say what all elements share once, and fix the widths of texts."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        found = ((name.rpartition("}")[2], _shorten(value)) for name, value in element.attrib.items())
        element.attrib = {name: value for name, value in found if value}
        element.text = element.text if element.text and element.text.strip() else None
        element.tail = None
    _remove_unused_ids(root)
    _remove_unseen(root)
    _fix_widths(root)
    root.attrib.pop("version", None)
    root.set("style", f"{FONTS}; {LINES}")


def _shorten(value: str) -> str:
    """Write an attribute without needless spaces, digits, fonts and turns."""
    value = LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), " ".join(value.split()))
    return UNTURNED.sub("", FAMILY.sub("", value))


def _remove_unused_ids(root: ET.Element) -> None:
    """Remove the ids that matplotlib gives to parts of its own."""
    values = [value for element in root.iter() for name, value in element.attrib.items() if name != "id"]
    used = {name for value in values for name in (*REFERENCE.findall(value), value.removeprefix("#"))}
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)


def _remove_unseen(parent: ET.Element) -> None:
    """Remove what draws nothing, and groups that say nothing of what is in them."""
    children: list[ET.Element] = []
    for child in parent:
        _remove_unseen(child)
        if child.tag == "g" and not child.attrib:
            children += child
        elif not _is_unseen(child):
            children.append(child)
    parent[:] = children


def _is_unseen(element: ET.Element) -> bool:
    is_empty = element.tag in {"g", "defs"} and not len(element)
    return is_empty or element.tag in {"metadata", "style"} or element.get("style") == INVISIBLE


def _fix_widths(root: ET.Element) -> None:
    """Say how wide each text is, so that another font than the one that was measured takes as much room."""
    for element in root.iter("text"):
        how = element.get("style", "")
        size = SIZE.search(how)
        if element.text and size:
            width = measure(element.text, float(size[1]), bold=bool(BOLD.search(how)))
            element.set("textLength", f"{72 * width:.2f}")
            element.set("lengthAdjust", "spacingAndGlyphs")
