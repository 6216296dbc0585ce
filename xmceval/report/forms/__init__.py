"""The table FORMS of report formats, one module each, loaded when first used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

FORMS: Mapping[str, str] = MappingProxyType(
    {
        # For people: draw(sheet).
        "table": "xmceval.report.forms.plain",
        "md": "xmceval.report.forms.markdown",
        "latex": "xmceval.report.forms.latex",
        # Not choices of -o: a fragment for notebooks, and the drawings of results, comparisons and benchmarks.
        "html": "xmceval.page.tables",
        "page": "xmceval.page.page",
        "picture": "xmceval.report.pictures",
        "differences": "xmceval.comparison.picture",
        "benchmark": "xmceval.benchmarks.picture",
    }
)
DRAWN = ("table", "md", "latex")
CHOICES = (*DRAWN, "csv", "json")


def load_form(form: str) -> Any:
    """Load the module of a form."""
    return import_module(FORMS[form])
