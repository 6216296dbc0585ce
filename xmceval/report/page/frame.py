"""Frame: what every page has around its sections: a head that lets a browser load nothing, links, and landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xmceval.files.io.streams import read_resource
from xmceval.report.forms.markup import Markup, element, raw
from xmceval.version import VERSION

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class PageSection:
    """A section of a page: its anchor, its title and what it shows."""

    anchor: str
    title: str
    content: Markup

    def draw(self) -> Markup:
        """Draw it."""
        heading = element("h2", self.title, id=f"{self.anchor}-title")
        return element("section", heading, self.content, id=self.anchor, aria_labelledby=f"{self.anchor}-title")


def frame_page(title: str, header: Markup, sections: Sequence[PageSection]) -> str:
    """Write a page of sections."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="generator", content=f"xmceval {VERSION}"),
        element("title", title),
        element("style", raw(read_resource(__package__, "style.css"))),
    )
    links = [element("li", element("a", section.title, href=f"#{section.anchor}")) for section in sections]
    body = element(
        "body",
        element("a", "Skip to the results", href="#results", class_="skip"),
        header,
        element("nav", element("ul", links), aria_label="On this page"),
        element("main", [section.draw() for section in sections]),
        element("footer", f"Made by xmceval {VERSION}."),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"
