"""FORMS: the forms of a report, which are the choices of ``-o``; each is one file, loaded when it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType

PLACES = 2  # decimal places of tables for people

# Each module has a function render(results, places).
FORMS: Mapping[str, str] = MappingProxyType(
    {
        "table": "xmceval.report.plain",
        "json": "xmceval.report.json",
        "csv": "xmceval.report.csv",
    }
)


def render(form: str, results: Sequence[object], places: int = PLACES) -> str:
    """Write results in one of the FORMS."""
    text: str = import_module(FORMS[form]).render(results, places)
    return text


def render_comparison(form: str, comparison: object, places: int = PLACES) -> str:
    """Write a comparison in one of the FORMS."""
    text: str = import_module(FORMS[form]).render_comparison(comparison, places)
    return text
