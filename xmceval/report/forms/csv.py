"""CSV: results in long form, one line per value, each with all that it depends on; fractions in full precision.

Programs read it, so cells are what they are: a name that begins with =, +, - or @, which a spreadsheet takes for a
formula, is not altered.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xmceval.report.forms.json import to_plain

if TYPE_CHECKING:
    from xmceval.report.comparison import Comparison
    from xmceval.report.forms.layout import Layout
    from xmceval.report.result import Result
    from xmceval.report.sheet.model import Listing


def render(results: Sequence[Result]) -> str:
    """Write results, one line per value."""
    from xmceval.report.records import VALUE_COLUMNS, list_values

    return write_lines(VALUE_COLUMNS, list_values(results))


def render_comparison(comparison: Comparison) -> str:
    """Write a comparison, one line per difference."""
    from xmceval.report.records import DIFFERENCE_COLUMNS, list_differences

    return write_lines(DIFFERENCE_COLUMNS, list_differences(comparison))


def draw_listings(listings: Sequence[Listing], layout: Layout) -> str:  # noqa: ARG001 - forms share one signature
    """Write lists as they are shown to people, one below the other."""
    return "\n".join(write_rows(listing.rows) for listing in listings)


def write_lines(columns: Sequence[str], lines: Iterable[Mapping[str, Any]]) -> str:
    """Write these columns of lines below a head; what a line lacks is empty, so is a number that is none."""
    return write_rows([columns, *([_write_cell(line.get(name)) for name in columns] for line in lines)])


def write_rows(rows: Iterable[Sequence[str]]) -> str:
    """Write rows of text."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _write_cell(value: Any) -> str:
    """Write a value; lists and objects as JSON."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, (bool, list, tuple, Mapping)):
        return json.dumps(to_plain(value), ensure_ascii=False, allow_nan=False)
    return value if isinstance(value, str) else repr(value)
