"""Words of JSON Schema (draft 2020-12): every field has a description, and no object has other fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def document(name: str, description: str, /, **fields: Schema) -> Schema:
    """Return the schema of a document, whose field ``schema`` has its name."""
    own: Schema = {"const": name, "description": "The name of this schema, with its version."}
    return {"$schema": DRAFT, "title": name, **record(description, schema=own, **fields)}


def record(description: str, /, **fields: Schema) -> Schema:
    """Return the schema of an object that always has these fields and no other."""
    return {
        "type": "object",
        "description": description,
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def choice_of(description: str, /, **fields: Schema) -> Schema:
    """Return the schema of an object that has some of these fields and no other."""
    return {"type": "object", "description": description, "properties": fields, "additionalProperties": False}


def by(key: str, description: str, values: Schema) -> Schema:
    """Return the schema of an object whose keys are not known beforehand; `key` says what they are."""
    return {"type": "object", "description": f"{description} By {key}.", "additionalProperties": values}


def many(description: str, items: Schema) -> Schema:
    """Return the schema of an array."""
    return {"type": "array", "description": description, "items": items}


def several(description: str, *items: Schema) -> Schema:
    """Return the schema of an array with one item for each of these schemas."""
    n = len(items)
    return {"type": "array", "description": description, "prefixItems": list(items), "minItems": n, "maxItems": n}


def text(description: str, choices: Sequence[str] = ()) -> Schema:
    """Return the schema of a string, or of one of some strings."""
    return {"type": "string", "description": description, **({"enum": list(choices)} if choices else {})}


def number(description: str, **bounds: float) -> Schema:
    """Return the schema of a number."""
    return {"type": "number", "description": description, **bounds}


def whole(description: str, **bounds: int) -> Schema:
    """Return the schema of a whole number."""
    return {"type": "integer", "description": description, **bounds}


def count(description: str) -> Schema:
    """Return the schema of a whole number of at least 0."""
    return whole(description, minimum=0)


def share(description: str) -> Schema:
    """Return the schema of a fraction of 1."""
    return number(description, minimum=0, maximum=1)


def flag(description: str) -> Schema:
    """Return the schema of true or false."""
    return {"type": "boolean", "description": description}


def maybe(schema: Schema, when: str) -> Schema:
    """Return a schema that also allows null; `when` says what null stands for."""
    kinds = [schema["type"]] if isinstance(schema["type"], str) else list(schema["type"])
    choices = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {
        **schema,
        "type": [*kinds, "null"],
        **choices,
        "description": f"{schema['description']} Null {when}.",
    }
