"""FORMS: the forms of a report, which are the choices of ``-o``; each is one file, loaded when it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from xmceval.errors import argument, names_flags
from xmceval.report.forms.layout import DEFAULT, Layout

if TYPE_CHECKING:
    from xmceval.report.benchmark import Benchmark
    from xmceval.report.comparison import Comparison
    from xmceval.report.result import Result
    from xmceval.report.sheet.model import Listing, Sheet

# Forms for people; each module has the function draw(sheet).
DRAWN: Mapping[str, str] = MappingProxyType(
    {
        "table": "xmceval.report.forms.plain",
        "md": "xmceval.report.forms.markdown",
        "latex": "xmceval.report.forms.latex",
    }
)
# Forms for programs; each module has the functions render(results), render_comparison(comparison) and
# render_benchmark(benchmark). All modules but JSON have draw_listings(listings, layout) too.
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


def render_benchmark(form: str, benchmark: Benchmark, layout: Layout = DEFAULT) -> str:
    """Write a benchmark in one of the FORMS, or as html; only a plain table that is wide enough has intervals."""
    module = import_module(MODULES[form])
    if form in WRITTEN:
        return str(module.render_benchmark(benchmark))
    from xmceval.report.sheet.benchmarksheet import build_benchmark_sheet

    may_fit = form == "table" and layout.intervals is None
    settled = replace(layout.settle(form), intervals=may_fit or bool(layout.intervals))
    sheet = build_benchmark_sheet(benchmark, settled)
    if may_fit and sheet.has_intervals and (width := module.measure_width(sheet)) > layout.width:
        sheet = build_benchmark_sheet(benchmark, replace(settled, intervals=False))
        words = f"intervals would make the table {width} columns wide (hint: pass {argument('intervals', True)})"
        hint = [words] if names_flags() else []
        sheet = replace(sheet, notes=(*sheet.notes, *hint))
    return str(module.draw(sheet))


def render_sheet(form: str, sheet: Sheet) -> str:
    """Write a sheet in one of the forms for people."""
    return str(import_module(DRAWN[form]).draw(sheet))


def render_listings(form: str, listings: Sequence[Listing], layout: Layout = DEFAULT) -> str:
    """Write lists, such as the catalogue of data sets, in one of the FORMS but JSON, or as html."""
    return str(import_module(MODULES[form]).draw_listings(listings, layout))
