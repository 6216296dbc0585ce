"""Field: a value that programs read: what it means, where a record has it, and how JSON has it.

Each record is described once, by its fields. Its JSON, the JSON Schema of that (draft 2020-12, where every field has a
description and no object has other fields), how it is read back, and columns of CSV and frames follow from them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Any

from xmceval.errors import DataError
from xmceval.report.fields.reading import (
    Misfit,
    Read,
    check_schema,
    find_kind,
    make,
    read_array,
    read_flag,
    read_items,
    read_number,
    read_object,
    reader_of_record,
    reader_of_text,
    reader_of_whole,
)

Schema = dict[str, Any]
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
    schema : dict
        Its JSON Schema.
    write : callable
        Makes JSON of the value.
    source : callable or None
        Finds the value in its record; None where the record has it under the name of the field.
    fields : mapping of str to Field
        Those of the value, where it is a record itself.
    is_optional : bool
        Whether it is left out where the value is None.
    is_last : bool
        Whether JSON has it after all fields that are not, wherever the schema has it.
    read : callable or None
        Makes the value of JSON; None where it follows from the other fields.
    target : str or None
        The path of attributes that the value is read into; None where that is the name of the field, empty where its
        own fields are read into the record that it is in.
    """

    schema: Schema
    write: Callable[[Any], Any] = itself
    source: Callable[[Any], Any] | None = None
    fields: Fields = field(default_factory=dict)
    is_optional: bool = False
    is_last: bool = False
    read: Read | None = None
    target: str | None = None

    def of(self, source: Source, *, to: str | None = None) -> Field:
        """Return the field with its value found by a path of attributes, or by a function of the record.

        It is read into the same path, or into that of `to`.
        """
        if isinstance(source, str):
            return replace(self, source=attrgetter(source), target=source if to is None else to)
        return replace(self, source=source, target="" if source is itself and to is None else to)

    def into(self, kind: str | Callable[..., Any]) -> Field:
        """Return the field of a record, of which `kind` makes the value by the names of what was read.

        It may be named by its place, ``"labels.bins:Bin"``, from which it is loaded when it is first used.
        """
        read = self.read or itself
        return replace(self, read=lambda found: make(find_kind(kind), **read(found)))

    def back(self, convert: Callable[[Any], Any]) -> Field:
        """Return the field with a function that makes the value of what was read."""
        read = self.read or itself
        return replace(self, read=lambda found: make(convert, read(found)))

    def finder(self, name: str) -> Callable[[Any], Any]:
        """Return what finds the value in a record, an object or a dict, for this field of a name."""

        def find(owner: Any) -> Any:
            return owner.get(name) if isinstance(owner, dict) else getattr(owner, name)

        return self.source or find

    @property
    def type(self) -> str:
        """The type of the values that are not null."""
        kinds = self.schema["type"]
        return kinds if isinstance(kinds, str) else str(kinds[0])


@dataclass(frozen=True)
class Document:
    """What a command writes as JSON: a record whose field ``schema`` names what describes it."""

    name: str
    record: Field
    indent: int = 1
    is_ascii: bool = True

    def make(self, owner: Any) -> dict[str, Any]:
        """Make the document of a record."""
        made: dict[str, Any] = self.record.write(owner)
        return made

    def write(self, owner: Any) -> str:
        """Write the document of a record as text."""
        return json.dumps(self.make(owner), indent=self.indent, ensure_ascii=self.is_ascii, allow_nan=False) + "\n"

    def read(self, document: Any) -> Any:
        """Read a record back from its document; fields that a later version has added are left out.

        Raises
        ------
        DataError
            Another document, or one that is damaged, with the place.
        """
        check_schema(document, self.name)
        try:
            return (self.record.read or itself)(document)
        except Misfit as misfit:
            raise DataError(f"{misfit} (hint: write the document again with this version of xmceval)") from None


def document(
    name: str,
    description: str,
    fields: Fields,
    /,
    *,
    indent: int = 1,
    is_ascii: bool = True,
    kind: Callable[..., Any] = dict,
) -> Document:
    """Return a document with a schema of this name and these fields; `kind` makes what it was written from of them."""
    own = Field({"const": name, "description": "The name of this schema, with its version."}).of(lambda _: name)
    return Document(name, record(description, schema=own, **fields).into(kind), indent, is_ascii)


def record(description: str, /, **fields: Field) -> Field:
    """Return an object that always has these fields, but for optional ones, and no other."""
    schema = {
        "type": "object",
        "description": description,
        "properties": {name: each.schema for name, each in fields.items()},
        "required": [name for name, each in fields.items() if not each.is_optional],
        "additionalProperties": False,
    }
    in_order = sorted(fields.items(), key=lambda item: item[1].is_last)
    parts = [(name, each.finder(name), each.write, each.is_optional) for name, each in in_order]

    def write_record(owner: Any) -> dict[str, Any]:
        found = ((name, find(owner), write, is_optional) for name, find, write, is_optional in parts)
        return {name: write(value) for name, value, write, is_optional in found if value is not None or not is_optional}

    readers = [
        (name, each.read, name if each.target is None else each.target, each.is_optional)
        for name, each in fields.items()
        if each.read is not None
    ]
    return Field(schema, write_record, fields=fields, read=reader_of_record(readers))


def choice_of(description: str, /, **fields: Field) -> Field:
    """Return an object that has some of these fields and no other; its values are those of a mapping, as they are."""
    properties = {name: each.schema for name, each in fields.items()}
    schema = {"type": "object", "description": description, "properties": properties, "additionalProperties": False}
    return Field(schema, dict, read=read_object)


def by(key: str, description: str, values: Field, kind: Callable[[str], Any] = str) -> Field:
    """Return an object whose keys are not known beforehand, written from a mapping.

    `key` says what they are, `kind` makes them of text.
    """
    schema = {"type": "object", "description": f"{description} By {key}.", "additionalProperties": values.schema}

    def write(found: Mapping[Any, Any]) -> dict[str, Any]:
        return {str(name): values.write(value) for name, value in found.items()}

    return Field(schema, write, read=partial(read_items, values.read or itself, kind))


def many(description: str, items: Field) -> Field:
    """Return an array."""
    schema = {"type": "array", "description": description, "items": items.schema}
    return Field(
        schema, lambda values: [items.write(value) for value in values], read=partial(read_array, items.read or itself)
    )


def several(description: str, *items: Field) -> Field:
    """Return an array with one item of each of these kinds."""
    n, kinds = len(items), [item.schema for item in items]
    schema = {"type": "array", "description": description, "prefixItems": kinds, "minItems": n, "maxItems": n}

    def write(values: Sequence[Any]) -> list[Any]:
        return [item.write(value) for item, value in zip(items, values, strict=True)]

    return Field(schema, write, read=partial(read_array, [item.read or itself for item in items]))


def text(description: str, choices: Sequence[str] = ()) -> Field:
    """Return a string, or one of some strings."""
    schema = {"type": "string", "description": description, **({"enum": list(choices)} if choices else {})}
    return Field(schema, read=reader_of_text(choices))


def number(description: str, **bounds: float) -> Field:
    """Return a number; JSON has no others than finite ones, and null instead."""
    return Field({"type": "number", "description": description, **bounds}, _finite, read=read_number)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def whole(description: str, **bounds: int) -> Field:
    """Return a whole number."""
    read = reader_of_whole(bounds.get("minimum", -math.inf))
    return Field({"type": "integer", "description": description, **bounds}, read=read)


def count(description: str) -> Field:
    """Return a whole number of at least 0."""
    return whole(description, minimum=0)


def share(description: str) -> Field:
    """Return a fraction of 1."""
    return number(description, minimum=0, maximum=1)


def flag(description: str) -> Field:
    """Return true or false."""
    return Field({"type": "boolean", "description": description}, read=read_flag)


def maybe(of: Field, when: str) -> Field:
    """Return a field that may be null, as None is written; `when` says what null stands for."""
    kinds = [of.schema["type"]] if isinstance(of.schema["type"], str) else list(of.schema["type"])
    choices = {"enum": [*of.schema["enum"], None]} if "enum" in of.schema else {}
    described = {"description": f"{of.schema['description']} Null {when}."}
    schema = {**of.schema, "type": [*kinds, "null"], **choices, **described}
    read = of.read or itself
    return replace(
        of,
        schema=schema,
        write=lambda value: None if value is None else of.write(value),
        read=lambda found: None if found is None else read(found),
    )


def unless_empty(of: Field, when: str, empty: Any = "") -> Field:
    """Return a field that is null where the value is empty; `when` says what null stands for."""
    may_be_null, read = maybe(of, when), of.read or itself
    return replace(
        may_be_null,
        write=lambda value: of.write(value) if value else None,
        read=lambda found: empty if found is None else read(found),
    )


def optional(of: Field) -> Field:
    """Return a field that is left out where the value is None."""
    return replace(of, is_optional=True)


def derived(of: Field) -> Field:
    """Return a field that is not read, since it follows from the others."""
    return replace(of, read=None)


def last(of: Field) -> Field:
    """Return a field that JSON has after the others, wherever the schema has it."""
    return replace(of, is_last=True)


def inside(source: Source, fields: Fields) -> dict[str, Field]:
    """Return fields of what a record has under a path of attributes, or by a function, as fields of that record."""
    outer = attrgetter(source) if isinstance(source, str) else source

    def find_inside(inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda owner: inner(outer(owner))

    prefix = source if isinstance(source, str) else ""
    return {
        name: replace(
            each,
            source=find_inside(each.finder(name)),
            target=".".join(filter(None, (prefix, name if each.target is None else each.target))),
        )
        for name, each in fields.items()
    }


def find_numbers(fields: Fields) -> list[str]:
    """Return the names of the fields that are numbers."""
    return [name for name, each in fields.items() if each.type in {"number", "integer"}]
