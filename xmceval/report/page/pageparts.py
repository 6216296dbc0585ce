"""Parts: what the sections of a page are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape

from xmceval.report.forms.markup import Child, Markup, element, join


@dataclass(frozen=True)
class Section:
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
class Column:
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
    columns: Sequence[Column],
    bodies: Iterable[Child],
    *,
    label: str,
    longest: int,
    **attributes: object,
) -> Markup:
    """Draw a table in a box that scrolls, as a keyboard can; `longest` is the length of the longest head of a row."""
    head = element("thead", element("tr", [column.draw_head() for column in columns]))
    table = element(
        "table",
        element("caption", caption) if caption else None,
        head,
        *bodies,
        style=f"--head: {longest}ch",
        **attributes,
    )
    return element("div", table, class_="scroll", role="group", tabindex="0", aria_label=label)


def draw_plain_table(
    caption: Child, heads: Sequence[Child], rows: Iterable[Sequence[Child]], *, label: str, numeric: Iterable[int] = ()
) -> Markup:
    """Draw a table whose rows begin with their head; the columns in `numeric` are of numbers."""
    numbers, lines = frozenset(numeric), list(rows)
    columns = [Column(head, i in numbers) for i, head in enumerate(heads)]
    drawn = [
        element(
            "tr",
            element("th", row[0], scope="row") if row[0] else element("td"),
            [column.draw_cell(cell) for column, cell in zip(columns[1:], row[1:], strict=True)],
        )
        for row in lines
    ]
    longest = max((length(row[0]) for row in lines), default=0)
    return draw_table(caption, columns, [element("tbody", drawn)], label=label, longest=longest)


def length(child: Child) -> int:
    """Return the length of what a reader sees of it."""
    return len(unescape(re.sub("<[^>]*>", "", join(child))))


def draw_facts(facts: Iterable[tuple[Child, Child]], class_: str | None = None) -> Markup:
    """Draw pairs of a term and what it is."""
    return element("dl", [[element("dt", term), element("dd", fact)] for term, fact in facts], class_=class_)


def draw_lines(lines: Iterable[Child], class_: str = "lines") -> Markup | None:
    """Draw lines as a list; None without any."""
    items = [element("li", line) for line in lines]
    return element("ul", items, class_=class_) if items else None


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


def spaced(parts: Iterable[Child], separator: str = " · ") -> Markup:
    """Join parts with a separator between them."""
    return join(_separated(parts, separator))


def _separated(parts: Iterable[Child], separator: str) -> Iterator[Child]:
    for i, part in enumerate(parts):
        if i:
            yield separator
        yield part
