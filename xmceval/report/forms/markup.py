"""Markup: HTML made of elements; whatever is not an element is text and is escaped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from html import escape

# Elements without content, which have no end tag.
VOID = frozenset({"meta", "wbr"})

# What HTML does not allow even as a reference, and characters that would reorder the text after them.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


class Markup(str):
    """HTML that is complete: no part of it is escaped again."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]


def element(tag: str, /, *children: Child, **attributes: object) -> Markup:
    """Make an element; `class_` is ``class``, `data_sort` is ``data-sort``, and what is None or False is left out."""
    head = tag + "".join(_attributes(attributes))
    return Markup(f"<{head}>" if tag in VOID else f"<{head}>{join(children)}</{tag}>")


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
    """Escape text; characters that HTML forbids, or that reorder what follows, become replacement characters."""
    return raw(escape(words))


def name(words: str) -> Markup:
    """Mark a name, such as that of a file: it may be of any direction and length, and reorders nothing beside it."""
    return element("bdi", words)


def isolate(words: str, names: Iterable[str]) -> Markup:
    """Escape a sentence in which those of the names that are written from right to left are isolated."""
    isolated = sorted(filter(_is_reversed, set(names)), key=len, reverse=True)
    if not isolated:
        return text(words)
    parts = re.split("(" + "|".join(map(re.escape, isolated)) + ")", words)
    return join(name(part) if part in isolated else part for part in parts)


def raw(html: str) -> Markup:
    """Take HTML as it is, except for forbidden characters: only for what this package wrote."""
    return Markup(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", html))


def _attributes(attributes: dict[str, object]) -> Iterable[str]:
    for key, value in attributes.items():
        attribute = key.rstrip("_").replace("_", "-")
        if value is True:
            yield f" {attribute}"
        elif value is not None and value is not False:
            yield f' {attribute}="{text(str(value))}"'


def _is_reversed(words: str) -> bool:
    return any(unicodedata.bidirectional(letter) in {"R", "AL", "AN"} for letter in words)
