"""FORMS: the forms of a report, which are the choices of ``-o``; each is one file, loaded when it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from xmceval.report.forms.layout import DEFAULT, Layout

if TYPE_CHECKING:
    from xmceval.report.comparison import Comparison
    from xmceval.report.result import Result
    from xmceval.report.sheet.model import Listing

# Forms for people; each module has the function draw(sheet).
DRAWN: Mapping[str, str] = MappingProxyType(
    {
        "table": "xmceval.report.forms.plain",
        "md": "xmceval.report.forms.markdown",
        "latex": "xmceval.report.forms.latex",
    }
)
# Forms for programs; each module has the functions render(results) and render_comparison(comparison).
# All modules but JSON have draw_listings(listings, layout) too.
WRITTEN: Mapping[str, str] = MappingProxyType({"csv": "xmceval.report.forms.csv", "json": "xmceval.report.forms.json"})
FORMS: Mapping[str, str] = MappingProxyType({**DRAWN, **WRITTEN})
# Of notebooks: a fragment, which is no choice of ``-o``; the page of ``xmceval report`` is more than a form.
MODULES: Mapping[str, str] = MappingProxyType({**FORMS, "html": "xmceval.report.forms.html"})


def render(form: str, results: Sequence[Result], layout: Layout = DEFAULT) -> str:
    """Write results in one of the FORMS, or as html."""
    module = import_module(MODULES[form])
    if form in WRITTEN:
        return str(module.render(results))
    from xmceval.report.sheet.scoresheet import build_sheet

    return str(module.draw(build_sheet(results, layout.settle(form))))


def render_comparison(form: str, comparison: Comparison, layout: Layout = DEFAULT) -> str:
    """Write a comparison in one of the FORMS, or as html."""
    module = import_module(MODULES[form])
    if form in WRITTEN:
        return str(module.render_comparison(comparison))
    from xmceval.report.sheet.comparesheet import build_comparison_sheet

    return str(module.draw(build_comparison_sheet(comparison, layout.settle(form))))


def render_listings(form: str, listings: Sequence[Listing], layout: Layout = DEFAULT) -> str:
    """Write lists, such as the catalogue of data sets, in one of the FORMS but JSON, or as html."""
    return str(import_module(MODULES[form]).draw_listings(listings, layout))
