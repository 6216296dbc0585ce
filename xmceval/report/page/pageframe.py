"""Page frame: what every page has around its sections: a head that allows its own script only, and landmarks."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from xmceval.files.io.streams import read_resource
from xmceval.report.forms.markup import Child, Markup, element, raw
from xmceval.report.page.pageparts import PageSection
from xmceval.version import VERSION


def frame_page(title: str, header: Markup, contents: Markup | None, main: Child) -> str:
    """Write a page; something in what it shows has the id ``results``."""
    style, script = (read_resource(__package__, each) for each in ("style.css", "script.js"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        element("meta", name="generator", content=f"xmceval {VERSION}"),
        element("title", title),
        element("style", raw(style)),
    )
    body = element(
        "body",
        element("a", "Skip to the results", href="#results", class_="skip"),
        header,
        contents,
        element("main", main),
        element("footer", f"Made by xmceval {VERSION}."),
        element("div", id="status", class_="unseen", role="status"),
        element("script", raw(script)),
    )
    page: str = element("html", head, body, lang="en")
    return f"<!doctype html>\n{page}\n"


def draw_contents(title: str, sections: Sequence[PageSection]) -> Markup:
    """Draw links to sections, which stay where they can be seen."""
    items = [element("li", element("a", each.title, href=f"#{each.anchor}")) for each in sections]
    heading = element("h2", title, id="contents-title")
    return element("nav", heading, element("ul", items), aria_labelledby="contents-title")


def _policy(script: str) -> str:
    """Return what a browser may do with the page: run this one script, and load nothing."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}'"
    return f"default-src 'none'; style-src 'unsafe-inline'; {scripts}; base-uri 'none'; form-action 'none'"
