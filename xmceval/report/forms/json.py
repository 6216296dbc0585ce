"""JSON: everything in a result under the versioned schema; fractions in full precision, null where there is none."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xmceval.report.comparison import Comparison
    from xmceval.report.result import Result


def render(results: Sequence[Result]) -> str:
    """Write results as JSON."""
    from xmceval.report.records import record_results

    return write_document(record_results(results))


def render_comparison(comparison: Comparison) -> str:
    """Write a comparison as JSON."""
    from xmceval.report.records import record_comparison

    return write_document(record_comparison(comparison))


def write_document(document: Mapping[str, Any], *, is_ascii: bool = True) -> str:
    """Write a document as JSON."""
    return json.dumps(to_plain(document), indent=1, ensure_ascii=is_ascii, allow_nan=False) + "\n"


def to_plain(value: Any) -> Any:
    """Return a value as JSON has it: dataclasses as objects, and null for numbers that are not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    return value
