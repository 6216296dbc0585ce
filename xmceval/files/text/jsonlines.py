"""Read JSON lines: raw XMLRepository files as truth, PECOS text2text predictions, and lists of labels."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from xmceval.errors import agreeing
from xmceval.files.io.chunks import explain_decimal, read_lines
from xmceval.files.sidecars.values import LARGEST_ID, Names, unknown_name
from xmceval.rows.names import Axis

LAYOUT = (  # for hints
    'a line of truth is {"target_ind": [label, ...]}, one of predictions {"data": [[label, score], ...]}, '
    'each with its "uid" if rows have ids'
)


class RepeatedKeyError(ValueError):
    """A JSON object repeats a key; json would keep the last value."""


def to_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict, as json's object_pairs_hook, and refuse repeated keys."""
    members = dict(pairs)
    if len(members) < len(pairs):
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise RepeatedKeyError(f"{key[:60]!r} appears twice in an object; expected each key once")
    return members


def read_row(line: bytes, names: Names | None, *, are_scores: bool) -> Iterator[tuple[int, float]]:
    """Yield the labels of a line with their grades or scores.

    Truth is ``{"target_ind": [12, 90562], "target_rel": [1.0, 1.0]}``, or a list of ``{"label": 12}``, and predictions
    are ``{"data": [["name", 0.9], ...]}``, or a list of ``{"label": 12, "score": 0.9}``.
    """
    row = load_row(line)
    if isinstance(row, list):
        for item in row:
            if not isinstance(item, dict) or "label" not in item or (are_scores and "score" not in item):
                example = '{"label": 12}'
                if are_scores:
                    example = '{"label": 12, "score": 0.9}'
                shown = ascii(item)[:60]
                raise ValueError(f"expected objects such as {example} in the list, found {shown} (hint: {LAYOUT})")
            yield _to_label(item["label"], names), _to_number(item.get("score", 1.0), "score")
        return
    key = "target_ind"
    expected = 'a list "target_ind"'
    if are_scores:
        key = "data"
        expected = 'a list "data" of [name, score]'
    labels = row.get(key)
    if not isinstance(labels, list):
        raise ValueError(f"expected an object with {expected}, {_describe(row)} (hint: {LAYOUT})")
    if are_scores:
        for pair in labels:
            if not isinstance(pair, list) or len(pair) != 2:
                raise ValueError(f'expected [name, score] in "data", found {ascii(pair)[:60]}')
            yield _to_label(pair[0], names), _to_number(pair[1], "data")
        return
    grades = row.get("target_rel", [1.0] * len(labels))
    if not isinstance(grades, list) or len(grades) != len(labels):
        raise ValueError('expected "target_rel" to be a list as long as "target_ind"')
    for label, grade in zip(labels, grades, strict=True):
        yield _to_label(label, names), _to_number(grade, "target_rel")


def keys_beside(line: bytes) -> list[str]:
    """Return the keys of an object beside its labels, with text or whole numbers, which may name the rows."""
    try:
        row = load_row(line)
    except ValueError:  # which the reader refuses
        return []
    if isinstance(row, dict):
        return [key for key, value in row.items() if type(value) in {str, int}]
    return []


def read_key(path: Path, key: str) -> Axis:
    """Return the rows as a key of their objects names them."""
    find = re.compile(json.dumps(key).encode() + rb'\s*:\s*("[^"\\]*"|-?\d+)\s*[,}]').search
    values = list[Any]()
    for line in read_lines(path):
        match = find(line)
        if match is not None:
            word = match[1].decode(errors="replace")
            values.append(word[1:-1] if word.startswith('"') else int(word))
        elif line.strip():
            value = None
            with suppress(ValueError):
                row = load_row(line)
                if isinstance(row, dict):
                    value = row.get(key)
            values.append(value)
    return Axis.of(str(path), "row", values, column=key)


def _describe(row: dict[str, Any]) -> str:
    if not row:
        return "found an empty object"
    keys = ", ".join(ascii(key)[:20] for key in list(row)[:5])
    if len(row) > 5:
        keys += " ..."
    return f"found the {agreeing(len(row), 'key', 'keys')} {keys}"


def load_row(line: bytes) -> Any:
    """Parse a line: an object or a list."""
    try:
        row = json.loads(line.decode("utf-8-sig"), object_pairs_hook=to_dict)
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8, {error.reason} at byte {error.start} of the line") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"expected one JSON object per line ({error.msg}: character {error.pos})") from None
    except RepeatedKeyError:
        raise
    except (RecursionError, ValueError):
        raise ValueError("expected one JSON object per line, without deep nesting and huge numbers") from None
    if not isinstance(row, (dict, list)):
        raise ValueError(f"expected one JSON object per line, found {ascii(row)[:40]}")
    return row


def _to_label(label: Any, names: Names | None) -> int:
    if isinstance(label, str):
        number = -1
        if names is not None:
            number = names.label_of(label)
        if number < 0:
            raise ValueError(unknown_name(label[:40], names))
        return number
    if type(label) is not int or abs(label) > LARGEST_ID:
        raise ValueError(f"expected a label, as a 0-based column number or a name, found {ascii(label)[:40]}")
    return label


def _to_number(value: Any, field: str) -> float:
    """Convert a value in JSON to a number; `field` is named in messages."""
    if type(value) not in {int, float}:
        hint = ""
        if isinstance(value, str):
            hint = explain_decimal(value.encode(errors="replace"))
        raise ValueError(f'expected a number in "{field}", found {ascii(value)[:40]}{hint}')
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f'a number in "{field}" is too large') from None
