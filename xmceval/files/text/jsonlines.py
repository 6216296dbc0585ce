"""Read JSON lines: raw XMLRepository files as truth, PECOS text2text predictions, and lists of labels."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

from xmceval.errors import AmbiguousError, listed
from xmceval.files.io.chunks import explain_decimal, read_lines
from xmceval.files.io.paths import to_path
from xmceval.files.sidecars.values import LARGEST_ID, Names, unknown_name
from xmceval.rows.readings import LEAST_IDS, LOOKED_AT, Axis

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
    row = _load_row(line)
    if isinstance(row, list):
        for item in row:
            if not isinstance(item, dict) or "label" not in item or (are_scores and "score" not in item):
                example = '{"label": 12, "score": 0.9}' if are_scores else '{"label": 12}'
                raise ValueError(f"expected objects such as {example} in the list, found {ascii(item)[:60]}")
            yield _to_label(item["label"], names), _to_number(item.get("score", 1.0), "score")
        return
    labels = row.get("data" if are_scores else "target_ind")
    if not isinstance(labels, list):
        expected = 'a list "data" of [name, score]' if are_scores else 'a list "target_ind"'
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


def check_ids(truth: Sequence[str], scores: Sequence[str]) -> None:
    """Refuse files, or shards, that have row ids under the same key but differ in them or in their order."""
    heads = [list(islice(_read_rows(files), LOOKED_AT)) for files in (truth, scores)]
    for key in heads[0][0] if all(heads) else ():
        if not all(_ids_of(rows, key) for rows in heads) or _are_written_alike(truth, scores, key):
            continue
        ours, theirs = (_ids_of(_read_rows(files), key) for files in (truth, scores))
        if ours == theirs or not ours or not theirs:
            continue
        known, given = set(ours), set(theirs)
        words = json.dumps(key)
        without = f"json.dumps({{key: value for key, value in json.loads(line).items() if key != {words}}})"
        ways = [f"{_rewrite(scores, without)} leaves {key!r} out"] if len(ours) == len(theirs) else []
        difference = f"has the ids of {truth[0]} in another order"
        if known == given:
            order = f", key=lambda line: str(json.loads(line)[{words}])"
            both = (_rewrite(files, "line.strip()", order) for files in (truth, scores))
            ways.insert(0, f"{' and '.join(both)} sort both")
        elif extra := [name for name in theirs if name not in known][:3]:
            difference = f"has {listed(map(repr, extra), 'and')}, which {truth[0]} lacks"
        else:
            difference = (
                f"lacks {listed(map(repr, [name for name in ours if name not in given][:3]), 'and')} of {truth[0]}"
            )
        hint = f" (hint: {'; '.join(ways)})" if ways else ""
        raise AmbiguousError(f"{scores[0]}: its {key!r} {difference}{hint}")


def _ids_of(rows: Iterable[dict[str, Any]], key: str) -> list[Any]:
    """Return the values of a key in rows, if they are distinct whole numbers or text; else none."""
    values = [row.get(key) for row in rows]
    least = 1 if key in {"uid", "id"} else LEAST_IDS  # other keys of few rows may differ by chance
    if len(values) < least or not all(type(value) in {str, int, float} for value in values):
        return []
    ids = Axis.of("", "row", values).listed
    return ids if len(set(ids)) == len(ids) and float not in map(type, ids) else []


def _are_written_alike(truth: Sequence[str], scores: Sequence[str], key: str) -> bool:
    """Return whether a key has the same text in all lines of truth and predictions."""
    find = re.compile(json.dumps(key).encode() + rb'\s*:\s*("[^"\\]*"|-?\d+)\s*[,}]').search
    lines = (chain.from_iterable(read_lines(to_path(file)) for file in files) for files in (truth, scores))
    for ours, theirs in zip_longest(*lines, fillvalue=b""):
        known, given = find(ours), find(theirs)
        if known is None or given is None or known[1] != given[1]:
            return False
    return True


def _read_rows(files: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the object in each line of files; {} for an invalid line, which the reader refuses later."""
    for line in chain.from_iterable(read_lines(to_path(file)) for file in files):
        try:
            row = _load_row(line)
        except ValueError:
            row = {}
        yield row if isinstance(row, dict) else {}


def _rewrite(files: Sequence[str], line: str, order: str = "") -> str:
    """Return a shell command that rewrites the lines of files, sorted by a key if one is given."""
    lines = f'fileinput.input({json.dumps(list(files))}, openhook=fileinput.hook_compressed, encoding="utf-8")'
    lines = f"sorted({lines}{order})" if order else lines
    new = f"{to_path(files[0]).name.partition('.')[0]}-new.jsonl"
    code = f"import fileinput, json; [print({line}) for line in {lines}]"
    return f"python -c {shlex.quote(code)} > {shlex.quote(new)}"


def _describe(row: dict[str, Any]) -> str:
    """Describe an object of unknown shape by its keys."""
    if not row:
        return "found an empty object"
    keys = ", ".join(ascii(key)[:20] for key in list(row)[:5])
    return f"found the {'key' if len(row) == 1 else 'keys'} {keys}{' ...' if len(row) > 5 else ''}"


def _load_row(line: bytes) -> Any:
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
    """Convert a number or name in JSON to a label."""
    if isinstance(label, str):
        if names is None or label not in names.labels:
            raise ValueError(unknown_name(label[:40], names))
        return names.labels[label]
    if type(label) is not int or abs(label) > LARGEST_ID:
        raise ValueError(f"expected a label, as a 0-based column number or a name, found {ascii(label)[:40]}")
    return label


def _to_number(value: Any, field: str) -> float:
    """Convert a value in JSON to a number; `field` is named in messages."""
    if type(value) not in {int, float}:
        hint = explain_decimal(value.encode(errors="replace"), is_json=True) if isinstance(value, str) else ""
        raise ValueError(f'expected a number in "{field}", found {ascii(value)[:40]}{hint}')
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f'a number in "{field}" is too large') from None
