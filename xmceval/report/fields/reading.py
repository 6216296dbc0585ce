"""Reading: JSON back into the values that it was written from; what is wrong has its place in the document."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from xmceval.errors import DataError, listed

T = TypeVar("T")
Read = Callable[[Any], Any]

NUMBERS, LARGEST = frozenset({float, int}), sys.float_info.max
LONGEST = 40  # characters of a value in a message
TYPES = {dict: "an object", list: "an array", tuple: "an array", type(None): "null"}

# The classes that read documents, by the kind of the document.
READERS = {"score": "Results", "merge": "Results", "compare": "Comparison"}


class Misfit(ValueError):  # noqa: N818 - it is caught on its way and becomes a DataError
    """A value of a document that is not what its field describes; its path is known from the inside out."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.steps: list[str | int] = []

    def __str__(self) -> str:
        words = (f"[{step}]" if isinstance(step, int) else _name_step(step) for step in reversed(self.steps))
        place = "".join(words).removeprefix(".")
        return f"{place}: {self.args[0]}" if place else str(self.args[0])


def _name_step(step: str) -> str:
    return f".{step}" if step.isidentifier() else f"[{json.dumps(step, ensure_ascii=False)}]"


def show(value: Any) -> str:
    """Write a value, or what kind of value it is, for a message."""
    if type(value) in TYPES:
        return TYPES[type(value)]
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, (str, int, float)) else type(value).__name__
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def expect(what: str, value: Any) -> Misfit:
    """Return the error of a value that is something else than what is expected."""
    return Misfit(f"expected {what}, got {show(value)}")


def reader_of_text(choices: Sequence[str] = ()) -> Read:
    """Return what reads a string, or one of some strings."""
    known, what = frozenset(choices), f"one of {listed(choices)}" if choices else "a string"

    def read(value: Any) -> str:
        if type(value) is not str or (known and value not in known):
            raise expect(what, value)
        return value

    return read


def read_number(value: Any) -> float:
    """Read a finite number; whole ones stay whole, so that they are written the same way again."""
    if type(value) not in NUMBERS or not -LARGEST <= value <= LARGEST:
        raise expect("a number", value)
    number: float = value
    return number


def reader_of_whole(low: float = -math.inf) -> Read:
    """Return what reads a whole number."""
    what = "a whole number" if low == -math.inf else f"a whole number of at least {low}"

    def read(value: Any) -> int:
        if type(value) is not int or value < low:
            raise expect(what, value)
        return value

    return read


def read_flag(value: Any) -> bool:
    """Read true or false."""
    if type(value) is not bool:
        raise expect("true or false", value)
    return value


def read_object(value: Any) -> dict[str, Any]:
    """Read an object as it is."""
    if not isinstance(value, Mapping):
        raise expect("an object", value)
    return dict(value)


def reader_of_record(parts: Sequence[tuple[str, Read, str, bool]]) -> Read:
    """Return what reads an object into a dict by the targets of its fields, in which paths are dicts themselves.

    Parameters
    ----------
    parts : sequence of (str, callable, str, bool)
        Of each field the name, what reads it, its target, and whether it may be left out.
    """
    fields = [(name, read, target.split("."), is_optional) for name, read, target, is_optional in parts]

    def read_record(value: Any) -> dict[str, Any]:
        document, tree, name = read_object(value), dict[str, Any](), ""
        try:
            for name, read, (*outer, inner), is_optional in fields:
                if name in document:
                    owner, found = tree, read(document[name])
                    for step in outer:
                        owner = owner.setdefault(step, {})
                    _put(owner, inner, found)
                elif not is_optional:
                    raise Misfit("is missing")
        except Misfit as misfit:
            misfit.steps.append(name)
            raise
        return tree

    return read_record


def _put(owner: dict[str, Any], name: str, value: Any) -> None:
    """Put a value into a dict; without a name what it has itself, into the same dicts."""
    if name:
        owner[name] = value
        return
    for key, each in value.items():
        owner[key] = {**owner[key], **each} if isinstance(each, dict) and key in owner else each


def read_array(reads: Sequence[Read] | Read, value: Any) -> tuple[Any, ...]:
    """Read an array, of items that are all read alike or each in its own way."""
    if not isinstance(value, (list, tuple)):
        raise expect("an array", value)
    if not callable(reads) and len(reads) != len(value):
        raise Misfit(f"expected {len(reads)} values, got {len(value)}")
    items, place = [], 0
    try:
        for place, item in enumerate(value):
            items.append(reads(item) if callable(reads) else reads[place](item))
    except Misfit as misfit:
        misfit.steps.append(place)
        raise
    return tuple(items)


def read_items(read: Read, key: Callable[[str], T], value: Any) -> dict[T, Any]:
    """Read an object whose keys are not known beforehand."""
    items, name = {}, ""
    try:
        for name, item in read_object(value).items():
            items[make(key, name)] = read(item)
    except Misfit as misfit:
        if name:
            misfit.steps.append(name)
        raise
    return items


def make(kind: Callable[..., T], /, *values: Any, **fields: Any) -> T:
    """Make something of what was read; what it refuses is wrong in the document."""
    try:
        return kind(*values, **fields)
    except Misfit:
        raise
    except (ValueError, OverflowError) as error:
        raise Misfit(str(error)) from None


def find_kind(kind: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return a class or a function, which may be named by its place: ``"labels.bins:Bin"``."""
    return _load_kind(kind) if isinstance(kind, str) else kind


@cache
def _load_kind(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    loaded: Callable[..., Any] = getattr(import_module(f"xmceval.{module}"), name)
    return loaded


def check_schema(document: Any, expected: str) -> None:
    """Refuse a document that does not say that it has a schema.

    Raises
    ------
    DataError
        Says what it is, and what reads it.
    """
    found = document.get("schema") if isinstance(document, Mapping) else None
    if found == expected:
        return
    if isinstance(document, str):
        raise DataError(f"expected a dict with the schema {expected}, got a string (hint: from_json reads a file)")
    if not isinstance(found, str):
        got = "an object without a schema" if isinstance(document, Mapping) else show(document)
        raise DataError(
            f"expected a document with the schema {expected}, got {got} (hint: to_dict and to_json make it)"
        )
    kind = found.split("/")[1] if found.startswith("xmceval/") and found.count("/") > 1 else ""
    hint = ""
    if kind == expected.split("/")[1]:
        hint = ", which another version of xmceval wrote (hint: make it again with this version)"
    elif kind in READERS:
        hint = f" (hint: xmceval.{READERS[kind]} reads it)"
    raise DataError(f"expected a document with the schema {expected}, got {show(found)}{hint}")


def read_file(path: str | Path, read: Callable[[Any], T]) -> T:
    """Read a file of JSON.

    Raises
    ------
    DataError
        A missing file, or one that is not such a document, with the place.
    """
    if isinstance(path, str) and path.lstrip().startswith("{"):
        raise DataError("from_json expects a path, got JSON itself (hint: pass json.loads of it to from_dict)")
    from xmceval.files.io.paths import to_path
    from xmceval.files.io.streams import read_all_bytes

    file = to_path(path)
    content = read_all_bytes(file)
    try:
        document = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file}: not a JSON document: {error}") from None
    try:
        return read(document)
    except DataError as error:
        raise DataError(f"{file}: {error}") from None


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is not a number of JSON")
