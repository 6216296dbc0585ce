"""Parts: what the sections of a page are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xmceval.report.forms.markup import Child, Markup, element, isolate, join, name
from xmceval.report.sheet.model import Listing

MOST_LINES = 8  # of a list that is open at first
LONG_HEAD = 20  # characters of the head of a column, from which on it breaks anywhere


@dataclass(frozen=True)
class PageSection:
    """A section of a page: its anchor, its title and what it shows."""

    anchor: str
    title: str
    content: Markup

    def draw(self) -> Markup:
        """Draw it."""
        return element(
            "section",
            element("h2", self.title, id=f"{self.anchor}-title"),
            self.content,
            id=self.anchor,
            aria_labelledby=f"{self.anchor}-title",
        )


@dataclass(frozen=True)
class PageColumn:
    """A column of a table: its head, whether it is of numbers, and its attributes."""

    head: Child
    numeric: bool = True
    metric: str = ""  # that a filter shows or hides

    def draw_head(self) -> Markup:
        """Draw the cell at its top; without a head an empty one."""
        if not self.head:
            return element("td")
        return element("th", self.head, scope="col", class_=self._class, data_metric=self.metric or None)

    def draw_cell(self, content: Child, value: str | None = None) -> Markup:
        """Draw one of its cells; `value` is what it is sorted by."""
        attributes = {"data_value": value, "data_metric": self.metric or None}
        return element("td", content, class_=self._class, **attributes)

    @property
    def _class(self) -> str | None:
        return "number" if self.numeric else None


def draw_table(
    caption: Child,
    columns: Sequence[PageColumn],
    bodies: Iterable[Child],
    *,
    label: str,
    longest: int,
    **attributes: object,
) -> Markup:
    """Draw a table in a box that scrolls, as a keyboard can; `longest` is the length of the longest head of a row."""
    heads = element("thead", element("tr", [column.draw_head() for column in columns]))
    table = element(
        "table",
        element("caption", caption) if caption else None,
        heads if any(column.head for column in columns) else None,
        *bodies,
        style=f"--head: {longest}ch; --columns: {len(columns)}",
        **attributes,
    )
    return element("div", table, class_="scroll", role="group", tabindex="0", aria_label=label)


def draw_listing(listing: Listing, names: Sequence[str] = (), *, has_caption: bool = True) -> Markup:
    """Draw a list: its table, whose rows begin with their head, below its title, and its lines."""
    lines = draw_lines(write_sentence(line, names) for line in listing.lines)
    if not listing.rows:
        return join([draw_lines([write_sentence(listing.title, names)]), lines])
    caption = write_title(listing.title, names) if has_caption else None
    heads = listing.head or ("",) * len(listing.rows[0])
    columns = [
        PageColumn(name(head) if len(head) > LONG_HEAD else head, i in listing.numeric) for i, head in enumerate(heads)
    ]
    rows = [_draw_row(row, columns, is_detected=i in listing.detected) for i, row in enumerate(listing.body)]
    longest = max(len(row[0]) for row in listing.body)
    return join([draw_table(caption, columns, [element("tbody", rows)], label=listing.title, longest=longest), lines])


def _draw_row(row: Sequence[str], columns: Sequence[PageColumn], *, is_detected: bool) -> Markup:
    """Draw a row of a list; the first number of a difference that was detected is bold."""
    head = element("th", name(row[0]), scope="row") if row[0] else element("td")
    cells: list[Child] = [
        cell if column.numeric or not cell else name(cell) for cell, column in zip(row, columns, strict=True)
    ]
    if is_detected:
        cells[1] = element("b", cells[1], class_="best")
    drawn = (column.draw_cell(cell) for column, cell in zip(columns[1:], cells[1:], strict=True))
    return element("tr", head, drawn)


def write_title(line: str, names: Sequence[str]) -> Markup:
    """Write a line of the sheet with a capital, unless it begins with a name."""
    begins_with_name = any(re.match(rf"{re.escape(each)}(?!\w)", line) for each in names)
    return isolate(line if begins_with_name else line[:1].upper() + line[1:], names)


def write_sentence(line: str, names: Sequence[str]) -> Markup:
    """Write a line of the sheet as a sentence: with a capital, unless it begins with a name, and with a full stop."""
    return join([write_title(line, names), "."])


def draw_facts(facts: Iterable[tuple[Child, Child]], class_: str | None = None) -> Markup:
    """Draw pairs of a term and what it is."""
    return element("dl", [[element("dt", term), element("dd", fact)] for term, fact in facts], class_=class_)


def draw_lines(lines: Iterable[Child], class_: str = "lines") -> Markup | None:
    """Draw lines as a list; None without any."""
    items = [element("li", line) for line in lines]
    return element("ul", items, class_=class_) if items else None


def fold(title: Child, content: Child, *, is_closed: bool = True) -> Markup:
    """Draw what is closed below its title until a reader opens it, or as it is."""
    return element("details", element("summary", title), content) if is_closed else join(content)


def draw_bars(caption: Child, heads: tuple[str, str], bars: Sequence[tuple[str, int, str]]) -> Markup:
    """Draw a histogram as a table: for each bar its range, its number, the bar itself, and a remark."""
    most = max(number for _, number, _ in bars)
    rows = [
        element(
            "tr",
            element("th", span, scope="row"),
            element("td", f"{number:,}", class_="number"),
            element("td", _draw_bar(number / most), class_="bar"),
            element("td", remark, class_="number"),
        )
        for span, number, remark in bars
    ]
    head = element(
        "tr",
        element("th", heads[0], scope="col"),
        element("th", heads[1], scope="col", class_="number"),
        element("td"),
        element("th", "of entries", scope="col", class_="number"),
    )
    return element("table", element("caption", caption), element("thead", head), element("tbody", rows))


def _draw_bar(share: float) -> Markup:
    rect = element("rect", width=f"{max(100 * share, 0.5):.1f}%", height="100%")
    return element("svg", rect, aria_hidden="true", focusable="false")


def spaced(parts: Iterable[Child], separator: Child = " · ") -> Markup:
    """Join parts with a separator between them."""
    return join(_separated(parts, separator))


def _separated(parts: Iterable[Child], separator: Child) -> Iterator[Child]:
    for i, part in enumerate(parts):
        if i:
            yield separator
        yield part
