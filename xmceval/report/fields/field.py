"""Field: a value that programs read: where a record has it, and how JSON has it.

Each record is described once, by its fields; its JSON and columns of CSV and frames follow from them. None is null in
JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

Fields = Mapping[str, "Field"]
Source = str | Callable[[Any], Any]


def itself(value: Any) -> Any:
    """Return a value as it is: of a field, the record that it is in."""
    return value


@dataclass(frozen=True)
class Field:
    """A value of a record.

    Attributes
    ----------
    write : callable
        Makes JSON of a value that is not None.
    source : callable or None
        Finds the value in its record; None where the record has it under the name of the field.
    fields : mapping of str to Field
        Those of the value, where it is a record itself.
    dtype : str
        Of a column of a frame, where the value is a number; empty elsewhere.
    is_optional : bool
        Whether it is left out where the value is None.
    """

    write: Callable[[Any], Any] = itself
    source: Callable[[Any], Any] | None = None
    fields: Fields = field(default_factory=dict)
    dtype: str = ""
    is_optional: bool = False

    def of(self, source: Source) -> Field:
        """Return the field with its value found by a path of attributes, or by a function of the record."""
        return replace(self, source=attrgetter(source) if isinstance(source, str) else source)

    def finder(self, name: str) -> Callable[[Any], Any]:
        """Return what finds the value in a record, an object or a dict, for this field of a name."""

        def find(owner: Any) -> Any:
            return owner.get(name) if isinstance(owner, dict) else getattr(owner, name)

        return self.source or find


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


PLAIN = Field()  # written as it is: text, true or false
UNLESS_EMPTY = Field(lambda value: value or None)
NUMBER = Field(_finite, dtype="float64")  # JSON has no others than finite ones, and null instead
WHOLE = Field(dtype="Int64")
MAPPING = Field(dict)  # of values that are written as they are


@dataclass(frozen=True)
class Document:
    """What a command writes as JSON: a record whose field ``schema`` names what it is."""

    record: Field
    is_ascii: bool = True

    def make(self, owner: Any) -> dict[str, Any]:
        """Make the document of a record."""
        made: dict[str, Any] = self.record.write(owner)
        return made

    def write(self, owner: Any) -> str:
        """Write the document of a record as text."""
        return json.dumps(self.make(owner), indent=1, ensure_ascii=self.is_ascii, allow_nan=False) + "\n"


def document(name: str, fields: Fields, /, *, is_ascii: bool = True) -> Document:
    """Return a document with the name of a schema and these fields."""
    return Document(record(schema=PLAIN.of(lambda _: name), **fields), is_ascii)


def record(**fields: Field) -> Field:
    """Return an object that has these fields."""
    parts = [(name, each.finder(name), each.write, each.is_optional) for name, each in fields.items()]

    def write_record(owner: Any) -> dict[str, Any]:
        found = ((name, find(owner), write, is_optional) for name, find, write, is_optional in parts)
        return {
            name: None if value is None else write(value)
            for name, value, write, is_optional in found
            if value is not None or not is_optional
        }

    return Field(write_record, fields=fields)


def by(values: Field) -> Field:
    """Return an object whose keys are not known beforehand, written from a mapping."""

    def write(found: Mapping[Any, Any]) -> dict[str, Any]:
        return {str(name): None if value is None else values.write(value) for name, value in found.items()}

    return Field(write)


def many(items: Field) -> Field:
    """Return an array."""
    return Field(lambda values: [None if value is None else items.write(value) for value in values])


def optional(of: Field) -> Field:
    """Return a field that is left out where the value is None."""
    return replace(of, is_optional=True)


def inside(source: Source, fields: Fields) -> dict[str, Field]:
    """Return fields of what a record has under a path of attributes, or by a function, as fields of that record."""
    outer = attrgetter(source) if isinstance(source, str) else source

    def find_inside(inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda owner: inner(outer(owner))

    return {name: each.of(find_inside(each.finder(name))) for name, each in fields.items()}


def find_numbers(fields: Fields) -> list[str]:
    """Return the names of the fields that are numbers."""
    return [name for name, each in fields.items() if each.dtype]
