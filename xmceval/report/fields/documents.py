"""DOCUMENTS: what is written as JSON, by the command that writes it, and the JSON Schemas of these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from xmceval.errors import UsageError, listed
from xmceval.report.fields.field import Document, Schema
from xmceval.report.forms.columns import align_columns

# The module and the name of each; loaded when it is used.
DOCUMENTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "score": ("xmceval.report.fields.scorefields", "SCORE"),
        "compare": ("xmceval.report.fields.comparefields", "COMPARE"),
        "benchmark": ("xmceval.report.fields.benchmarkfields", "BENCHMARK"),
        "merge": ("xmceval.report.fields.scorefields", "SCORE"),
        "inspect": ("xmceval.report.fields.inspectfields", "INSPECTION"),
        "metrics": ("xmceval.report.listings.metriclist", "DEFINITIONS"),
        "datasets": ("xmceval.report.listings.datasetlist", "DATASETS"),
        "formats": ("xmceval.report.listings.formatlist", "FORMAT_LIST"),
    }
)


def load_document(command: str) -> Document:
    """Return what a command writes as JSON."""
    module, name = DOCUMENTS[command]
    loaded: Document = getattr(import_module(module), name)
    return loaded


def find_schema(name: str) -> Schema:
    """Return the JSON Schema of a command's output, by the command or by the name that documents have.

    Raises
    ------
    UsageError
        Another name.
    """
    if name in DOCUMENTS:
        return load_document(name).schema
    by_name = {each.name: each for each in map(load_document, DOCUMENTS)}
    if name not in by_name:
        raise UsageError(f"unknown schema {name!r}; expected one of {listed(DOCUMENTS)}, or of {listed(by_name)}")
    return by_name[name].schema


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
    documents = {command: load_document(command) for command in DOCUMENTS}
    rows += [(command, each.name, each.schema["description"]) for command, each in documents.items()]
    return "\n".join([*align_columns(rows), "", "one schema: xmceval schema COMMAND"]) + "\n"
