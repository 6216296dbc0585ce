"""Copying: tables of a page as LaTeX, Markdown and CSV, for the buttons that copy them.

The texts are those of the forms, and are in the page where nothing shows them: were they drawn by its script, there
would be a second source of what a table says. Each table has its own, so that a page grows with what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape

from xmceval.report.comparison import Comparison
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.markup import Markup, element, raw
from xmceval.report.forms.registry import render, render_comparison, render_listings, render_sheet
from xmceval.report.page.pagecontent import PageContent
from xmceval.report.result import Result
from xmceval.report.sheet.model import Listing, Section

TITLES = {"latex": "LaTeX", "md": "Markdown", "csv": "CSV"}


def copy_values(
    content: PageContent, choose: Callable[[Sequence[Section]], Sequence[Section]], results: Sequence[Result]
) -> Markup:
    """Hold the table of some sections of the sheet without the lines around it, and the values of results as CSV."""
    texts = {}
    for form in ("latex", "md"):
        sheet = content.build_sheet(content.layout.settle(form))
        sheet = replace(sheet.take_sections(choose(sheet.sections)), above=(), below=(), listings=(), verdicts=())
        texts[form] = render_sheet(form, sheet)
    return _hold({**texts, "csv": render("csv", results)})


def copy_listings(listings: Sequence[Listing], layout: Layout, comparison: Comparison | None = None) -> Markup:
    """Hold lists; their CSV is that of the differences of a comparison, or else has the cells as they are shown."""
    texts = {form: render_listings(form, listings, layout) for form in TITLES}
    return _hold(texts if comparison is None else {**texts, "csv": render_comparison("csv", comparison)})


def _hold(texts: Mapping[str, str]) -> Markup:
    """Hold texts for buttons, which a script adds; quotes need no escape there, and CSV has many."""
    plain = {TITLES[form]: raw(escape(text, quote=False)) for form, text in texts.items()}
    held = [element("template", text, data_form=title) for title, text in plain.items()]
    return element("div", held, class_="copy", hidden=True)
