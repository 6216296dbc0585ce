"""Report: results as text, one file a form; FORMS is the table of forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from xmceval.report.data import as_csv, as_json
from xmceval.report.plain import as_table
from xmceval.report.result import Result

Form = Callable[[Sequence[Result], int], str]

FORMS: Mapping[str, Form] = MappingProxyType({"table": as_table, "json": as_json, "csv": as_csv})
