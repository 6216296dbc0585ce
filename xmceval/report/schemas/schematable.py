"""SCHEMAS: what is written as JSON, by the command that writes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from xmceval.errors import UsageError, listed
from xmceval.report.forms.columns import align_columns
from xmceval.report.schemas import compareschema, fileschemas, listingschemas, scoreschema
from xmceval.report.schemas.words import Schema
from xmceval.version import (
    AUC_SCHEMA,
    CHECK_TABLE_SCHEMA,
    COMPARE_SCHEMA,
    DATASETS_SCHEMA,
    FORMATS_SCHEMA,
    INSPECT_SCHEMA,
    METRICS_SCHEMA,
    SCORE_SCHEMA,
)


@dataclass(frozen=True)
class Entry:
    """A schema: its name, which documents have in their field ``schema``, and the function that makes it."""

    name: str
    make: Callable[[], Schema]


SCHEMAS: Mapping[str, Entry] = MappingProxyType(
    {
        "score": Entry(SCORE_SCHEMA, scoreschema.make_schema),
        "compare": Entry(COMPARE_SCHEMA, compareschema.make_schema),
        "merge": Entry(SCORE_SCHEMA, scoreschema.make_schema),
        "auc": Entry(AUC_SCHEMA, fileschemas.make_auc_schema),
        "inspect": Entry(INSPECT_SCHEMA, fileschemas.make_inspect_schema),
        "check-table": Entry(CHECK_TABLE_SCHEMA, fileschemas.make_check_table_schema),
        "metrics": Entry(METRICS_SCHEMA, listingschemas.make_metrics_schema),
        "datasets": Entry(DATASETS_SCHEMA, listingschemas.make_datasets_schema),
        "formats": Entry(FORMATS_SCHEMA, listingschemas.make_formats_schema),
    }
)


def find_schema(name: str) -> Schema:
    """Return the JSON Schema of a command's output, by the command or by the name that documents have.

    Raises
    ------
    UsageError
        Another name.
    """
    by_name = {each.name: each for each in SCHEMAS.values()}
    entry = SCHEMAS.get(name) or by_name.get(name)
    if entry is None:
        raise UsageError(f"unknown schema {name!r}; expected one of {listed(SCHEMAS)}, or of {listed(by_name)}")
    return entry.make()


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
    rows += [(command, entry.name, entry.make()["description"]) for command, entry in SCHEMAS.items()]
    return "\n".join([*align_columns(rows), "", "one schema: xmceval schema COMMAND"]) + "\n"
