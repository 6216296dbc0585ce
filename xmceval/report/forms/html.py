"""Build HTML elements with escaped text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from xmceval.report.forms.plain import has_right_to_left

# Void elements, which have no end tag.
VOID = frozenset({"meta", "wbr"})

# Characters that HTML does not allow even as references, or that would reorder the following text.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


class Markup(str):
    """Finished HTML, which is not escaped again."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]


def element(tag: str, /, *children: Child, **attributes: object) -> Markup:
    """Make an element: `class_` is ``class``, `aria_label` is ``aria-label``; None omits an attribute."""
    head = tag
    for key, value in attributes.items():
        if value is not None:
            head += f' {key.rstrip("_").replace("_", "-")}="{text(str(value))}"'
    if tag in VOID:
        return Markup(f"<{head}>")
    return Markup(f"<{head}>{join(children)}</{tag}>")


def join(children: Child) -> Markup:
    """Join children; text is escaped."""
    if children is None:
        return Markup("")
    if isinstance(children, Markup):
        return children
    if isinstance(children, (str, int)):
        return text(str(children))
    return Markup("".join(map(join, children)))


def text(words: str) -> Markup:
    """Escape text; replace characters that HTML forbids or that reorder the following text."""
    return raw(escape(words))


def name(words: str) -> Markup:
    """Mark a name, such as of a file: it may have any direction and length, and reorders no text around it."""
    return element("bdi", words)


def isolate(words: str, names: Iterable[str]) -> Markup:
    """Escape a sentence, and isolate right-to-left names in it."""
    reversed_names = {word for word in names if has_right_to_left(word)}
    isolated = sorted(reversed_names, key=len, reverse=True)
    if not isolated:
        return text(words)
    parts = re.split("(" + "|".join(map(re.escape, isolated)) + ")", words)
    return join(name(part) if part in isolated else part for part in parts)


def raw(html: str) -> Markup:
    """Use HTML unchanged, except for forbidden characters; only for HTML from this package."""
    return Markup(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", html))
