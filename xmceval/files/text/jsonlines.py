"""JSON lines: XMLRepository's raw files as truth, and the predictions of PECOS text2text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from xmceval.files.names import LARGEST_ID, Names, unknown_name


def read_truth(line: bytes, names: Names | None) -> Iterator[tuple[int, float]]:
    """Yield the labels of ``{"target_ind": [12, 90562], "target_rel": [1.0, 1.0]}`` with their grades.

    Raises
    ------
    ValueError
        Another line.
    """
    fields = _load_object(line)
    labels = fields.get("target_ind")
    if not isinstance(labels, list):
        raise ValueError('expected an object with a list "target_ind"; predictions have a list "data"')
    grades = fields.get("target_rel", [1.0] * len(labels))
    if not isinstance(grades, list) or len(grades) != len(labels):
        raise ValueError('expected "target_rel" to be a list as long as "target_ind"')
    for label, grade in zip(labels, grades, strict=True):
        yield _to_label(label, names), _to_number(grade, "target_rel")


def read_scores(line: bytes, names: Names | None) -> Iterator[tuple[int, float]]:
    """Yield the labels of ``{"data": [["name", 0.9], ...]}`` with their scores.

    Raises
    ------
    ValueError
        Another line.
    """
    pairs = _load_object(line).get("data")
    if not isinstance(pairs, list):
        raise ValueError('expected an object with a list "data" of [name, score]; truth has a list "target_ind"')
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError(f'expected [name, score] in "data", found {ascii(pair)[:60]}')
        yield _to_label(pair[0], names), _to_number(pair[1], "data")


def _load_object(line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8, {error.reason} at byte {error.start} of the line") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"expected one JSON object per line ({error.msg}: character {error.pos})") from None
    except (RecursionError, ValueError):
        raise ValueError("expected one JSON object per line, without deep nesting and huge numbers") from None
    if not isinstance(fields, dict):
        raise ValueError(f"expected one JSON object per line, found {ascii(fields)[:40]}")
    return fields


def _to_label(label: Any, names: Names | None) -> int:
    if isinstance(label, str):
        if names is None or label not in names.labels:
            raise ValueError(unknown_name(label[:40], names))
        return names.labels[label]
    if type(label) is not int or abs(label) > LARGEST_ID:
        raise ValueError(f"expected a label, as a 0-based column number or a name, found {ascii(label)[:40]}")
    return label


def _to_number(value: Any, field: str) -> float:
    if type(value) not in {int, float}:
        raise ValueError(f'expected a number in "{field}", found {ascii(value)[:40]}')
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f'a number in "{field}" is too large') from None
