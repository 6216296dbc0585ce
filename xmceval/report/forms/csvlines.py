"""Lines of CSV, from values of every kind."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def write_lines(head: Sequence[str], lines: Iterable[Mapping[str, Any]]) -> str:
    """Write lines as CSV with a head; what a line lacks is empty, so is a number that is none; lists are JSON."""
    return write_rows([head, *([_write(line.get(name)) for name in head] for line in lines)])


def write_rows(rows: Iterable[Sequence[str]]) -> str:
    """Write rows of text as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _write(value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, (bool, list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    return value if isinstance(value, str) else repr(value)
