"""DOCUMENTS: what is written as JSON, by the command that writes it, and the JSON Schemas of these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from xmceval.errors import UsageError, listed
from xmceval.report.fields.comparefields import COMPARE
from xmceval.report.fields.field import Document, Schema
from xmceval.report.fields.filefields import CHECK_TABLE, LOG_AUC
from xmceval.report.fields.inspectfields import INSPECTION
from xmceval.report.fields.scorefields import SCORE
from xmceval.report.forms.columns import align_columns
from xmceval.report.listings.datasetlist import DATASETS
from xmceval.report.listings.formatlist import FORMATS
from xmceval.report.listings.metriclist import DEFINITIONS

DOCUMENTS: Mapping[str, Document] = MappingProxyType(
    {
        "score": SCORE,
        "compare": COMPARE,
        "merge": SCORE,
        "auc": LOG_AUC,
        "inspect": INSPECTION,
        "check-table": CHECK_TABLE,
        "metrics": DEFINITIONS,
        "datasets": DATASETS,
        "formats": FORMATS,
    }
)


def find_schema(name: str) -> Schema:
    """Return the JSON Schema of a command's output, by the command or by the name that documents have.

    Raises
    ------
    UsageError
        Another name.
    """
    by_name = {each.name: each for each in DOCUMENTS.values()}
    found = DOCUMENTS.get(name) or by_name.get(name)
    if found is None:
        raise UsageError(f"unknown schema {name!r}; expected one of {listed(DOCUMENTS)}, or of {listed(by_name)}")
    return found.schema


def schema_json(name: str) -> str:
    """Write the JSON Schema of a command's output.

    Raises
    ------
    UsageError
        Another name.
    """
    return json.dumps(find_schema(name), indent=1, ensure_ascii=False) + "\n"


def schemas_table() -> str:
    """Write all schemas as a table, one per line."""
    rows = [("COMMAND", "SCHEMA", "DESCRIPTION")]
    rows += [(command, each.name, each.schema["description"]) for command, each in DOCUMENTS.items()]
    return "\n".join([*align_columns(rows), "", "one schema: xmceval schema COMMAND"]) + "\n"
