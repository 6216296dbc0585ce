"""CSV: results in long form, one line per value, each with all that it depends on; fractions in full precision.

Programs read it, so cells are what they are: a name that begins with =, +, - or @, which a spreadsheet takes for a
formula, is not altered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xmceval.report.comparison import Comparison
from xmceval.report.fields.field import Fields, record
from xmceval.report.fields.lines import DIFFERENCES, VALUES, list_differences, list_values
from xmceval.report.forms.csvlines import write_lines, write_rows
from xmceval.report.forms.layout import Layout
from xmceval.report.result import Result
from xmceval.report.sheet.model import Listing


def render(results: Sequence[Result]) -> str:
    """Write results as CSV in long form, one line per value."""
    return write_values(VALUES, list_values(results))


def render_comparison(comparison: Comparison) -> str:
    """Write a comparison as CSV in long form, one line per difference."""
    return write_values(DIFFERENCES, list_differences(comparison))


def draw_listings(listings: Sequence[Listing], layout: Layout) -> str:  # noqa: ARG001 - forms share one signature
    """Write lists as they are shown to people, one below the other."""
    return "\n".join(write_rows(each.rows) for each in listings)


def write_values(fields: Fields, lines: Iterable[Any]) -> str:
    """Write one line per value, with the fields as columns."""
    return write_lines(list(fields), map(record(**fields).write, lines))
