"""Build HTML elements with escaped text, and plain tables for notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from xmceval.report.forms.plain import has_right_to_left
from xmceval.report.sheet import BEST, SECOND, Listing, Sheet

# Void elements, which have no end tag.
VOID = frozenset({"meta", "wbr"})

# Characters that HTML does not allow even as references, or that would reorder the following text.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


class Markup(str):
    """Finished HTML, which is not escaped again."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]


def element(tag: str, /, *children: Child, **attributes: object) -> Markup:
    """Make an element: `class_` is ``class``, `data_sort` is ``data-sort``; None and False omit attributes."""
    head = tag
    for key, value in attributes.items():
        if value is not None and value is not False:
            attribute = key.rstrip("_").replace("_", "-")
            head += f" {attribute}" if value is True else f' {attribute}="{text(str(value))}"'
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


TAGS = {BEST: "b", SECOND: "u"}
LEFT = "text-align: left"
RIGHT = "text-align: right"


def draw(sheet: Sheet) -> str:
    """Draw the verdicts, one table of all sections, the notes and the lists."""
    heads = element("tr", element("td"), (element("th", column, scope="col") for column in sheet.columns), style=RIGHT)
    body = []
    for section in sheet.sections:
        if section.title:
            title = element("th", section.title, colspan=len(sheet.columns) + 1, scope="rowgroup", style=LEFT)
            body.append(element("tr", title))
        for row in section.rows:
            head = element("th", name(row.head), scope="row", style=LEFT)
            cells = []
            for cell in row.select(sheet.columns):
                value = element(TAGS[cell.emphasis], cell.value) if cell.emphasis else cell.value
                interval = f"\N{NO-BREAK SPACE}{cell.interval}" if cell.interval else None
                cells.append(element("td", value, interval, element("sup", cell.marks) if cell.marks else None))
            body.append(element("tr", head, cells, style=RIGHT))
    parts = [
        _draw_lines((*sheet.verdicts, *sheet.above)),
        element("table", element("thead", heads), element("tbody", body)),
        _draw_lines((*sheet.notes, *sheet.below)),
        (_draw_listing(listing) for listing in sheet.listings),
    ]
    return element("div", parts)


def _draw_listing(listing: Listing) -> Markup:
    head = element("tr", _draw_items("th", listing.head, listing))
    rows: Child = (element("tr", _draw_items("td", row, listing)) for row in listing.rows)
    table = element("table", element("thead", head), element("tbody", rows))
    return join([_draw_lines([listing.title]), table, _draw_lines(listing.lines)])


def _draw_items(tag: str, row: Sequence[str], listing: Listing) -> Iterator[Markup]:
    for column, item in enumerate(row):
        yield element(tag, name(item), style=RIGHT if column in listing.numeric else LEFT)


def _draw_lines(lines: Iterable[str]) -> list[Markup]:
    return [element("div", line) for line in lines]
