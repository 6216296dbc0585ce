"""FORMS: the forms of a report, which are the choices of ``-o``; each is one file, loaded when it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType

from xmceval.report.layout import DEFAULT, Layout

# Each module has the functions render(results, layout) and render_comparison(comparison, layout).
FORMS: Mapping[str, str] = MappingProxyType(
    {
        "table": "xmceval.report.plain",
        "csv": "xmceval.report.csv",
        "json": "xmceval.report.json",
    }
)


def render(form: str, results: Sequence[object], layout: Layout = DEFAULT) -> str:
    """Write results in one of the FORMS."""
    text: str = import_module(FORMS[form]).render(results, layout)
    return text


def render_comparison(form: str, comparison: object, layout: Layout = DEFAULT) -> str:
    """Write a comparison in one of the FORMS."""
    text: str = import_module(FORMS[form]).render_comparison(comparison, layout)
    return text
