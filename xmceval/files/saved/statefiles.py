"""State files: saved totals, as a line of JSON and integer arrays; nothing in them is ever run.

The first line is a JSON object, so ``head -n 1`` shows what a state is of. The rest are the arrays that the line lists,
one after the other, little-endian, each in the narrowest type that holds its numbers. They are not compressed: so a
file never asks for more memory than its own size justifies. The digest covers every byte but its own.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, argument
from xmceval.files.io.paths import to_path
from xmceval.files.io.streams import read_all_bytes, read_first_bytes
from xmceval.files.writing.targets import open_targets
from xmceval.rows.block import Int64
from xmceval.version import STATE_SCHEMA

FAMILY = "xmceval/state/"
FORM = STATE_SCHEMA.removeprefix(FAMILY)
DIGEST_SIZE = 16
TYPES = ("|i1", "<i2", "<i4", "<i8")
MOST_DIMENSIONS, LARGEST_SIZE = 4, 1 << 40

Document = dict[str, Any]
Arrays = dict[str, Int64]

_START = f'{{"schema": "{STATE_SCHEMA}", "digest": "'.encode()
_BODY = len(_START) + 2 * DIGEST_SIZE  # where it begins: what follows the digest
_HEAD = re.compile(rb'\{"schema": "xmceval/state/([0-9]{1,9})"(?:, "version": "([0-9A-Za-z.+]{1,40})")?')


def to_bytes(document: Mapping[str, Any], arrays: Mapping[str, Int64]) -> bytes:
    """Return a state, with int64 arrays of up to four dimensions, as bytes; the same state gives the same bytes."""
    stored = [_narrow(array) for array in arrays.values()]
    entries = [[name, each.dtype.str, list(each.shape)] for name, each in zip(arrays, stored, strict=True)]
    head = json.dumps({**document, "arrays": entries}, allow_nan=False)
    body = b"".join([b'", ', head[1:].encode(), b"\n", *(each.tobytes() for each in stored)])
    return b"".join([_START, _digest(body), body])


def from_bytes(content: bytes, name: str = "the state") -> tuple[Document, Arrays]:
    """Return the document and the arrays of a state."""
    body = memoryview(content)[_BODY:]
    if not content.startswith(_START):
        raise DataError(f"{name}: {_describe_other(content)}")
    if content[len(_START) : _BODY] != _digest(body):
        raise DataError(f"{name}: the state is damaged or cut short (hint: save it again)")
    line, _, payload = content.partition(b"\n")
    try:
        document = _parse_head(line)
        arrays = _parse_arrays(document.pop("arrays", None), payload)
    except (ValueError, OverflowError, RecursionError) as error:
        raise DataError(f"{name}: the state cannot be read ({error})") from None
    return document, arrays


def write_state(path: str | Path, content: bytes, *, force: bool = False) -> None:
    """Write a state, which appears under its name when it is complete."""
    with open_targets([to_path(path)], force=force) as [file]:
        file.write(content)


def read_state(path: str | Path) -> tuple[Document, Arrays]:
    """Read a state."""
    return from_bytes(read_all_bytes(to_path(path)), str(to_path(path)))


def is_state(path: Path) -> bool:
    """Return whether a file is a state, sound or not."""
    try:
        return read_first_bytes(path, 64).startswith(f'{{"schema": "{FAMILY}'.encode())
    except DataError:  # a pair of npy files by their stem, or an error that opening reports
        return False


def _narrow(array: Int64) -> np.ndarray[Any, Any]:
    """Return an array in the narrowest type that holds its numbers."""
    least, greatest = int(array.min(initial=0)), int(array.max(initial=0))
    narrowest = next(each for each in TYPES if np.iinfo(each).min <= least and greatest <= np.iinfo(each).max)
    return np.ascontiguousarray(array, dtype=narrowest)


def _digest(body: bytes | memoryview) -> bytes:
    """Return the digest of all that is before and after it."""
    digest = hashlib.blake2b(_START, digest_size=DIGEST_SIZE)
    digest.update(body)
    return digest.hexdigest().encode()


def _describe_other(content: bytes) -> str:
    """Describe what does not begin as a state does."""
    match = _HEAD.match(content)
    if match is None:
        return f"not a state of xmceval (hint: score with {argument('save_state', kind='FILE')} writes one)"
    form, version = match[1].decode(), (match[2] or b"").decode()
    if form == FORM:
        return "the state is damaged or cut short (hint: save it again)"
    if int(form) < int(FORM):
        return f"written by {f'xmceval {version}' if version else 'an older xmceval'}: score again"
    return f"a state under the schema {FAMILY}{form}; expected {STATE_SCHEMA}"


def _parse_head(line: bytes) -> Document:
    """Return the first line as an object, without schema and digest."""
    document = json.loads(line, parse_constant=_refuse_constant)
    if not isinstance(document, dict):
        raise ValueError("its first line is no object")
    return {name: value for name, value in document.items() if name not in {"schema", "digest"}}


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def _parse_arrays(entries: Any, payload: bytes) -> Arrays:
    """Return the arrays that are listed, which must fill the payload."""
    checked = [_check_entry(each) for each in entries] if isinstance(entries, list) else []
    sizes = [np.dtype(kind).itemsize * math.prod(shape) for _, kind, shape in checked]
    if (
        not isinstance(entries, list)
        or sum(sizes) != len(payload)
        or len({name for name, *_ in checked}) < len(checked)
    ):
        raise ValueError(f"its arrays are not those of {len(payload):,} bytes")
    arrays, first = {}, 0
    for (name, kind, shape), size in zip(checked, sizes, strict=True):
        numbers = np.frombuffer(payload, dtype=kind, count=math.prod(shape), offset=first if size else 0)
        arrays[name] = numbers.astype(np.int64).reshape(shape)
        first += size
    return arrays


def _check_entry(entry: Any) -> tuple[str, str, tuple[int, ...]]:
    """Return the name, type and shape of an array."""
    fields: list[Any] = entry if isinstance(entry, list) and len(entry) == 3 else [None] * 3
    name, kind, shape = fields
    is_shape = isinstance(shape, list) and len(shape) <= MOST_DIMENSIONS and all(map(_is_size, shape))
    if not isinstance(name, str) or kind not in TYPES or not is_shape:
        raise ValueError("one of its arrays has no name, type or shape")
    return name, kind, tuple(shape)


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < LARGEST_SIZE
