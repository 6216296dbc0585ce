"""State files: saved totals, as a line of JSON and compressed int64 arrays; nothing in them is ever run.

The first line is a JSON object, so ``head -n 1`` shows what a state is of. The rest is zlib data: the arrays that the
line lists, one after the other, little-endian.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError
from xmceval.files.paths import to_path
from xmceval.files.streams import read_all_bytes
from xmceval.files.writing.targets import open_targets
from xmceval.rows.block import Int64

SCHEMA = "xmceval/state/1"
FAMILY = "xmceval/state/"
LEVEL = 1  # of compression: counters are mostly zeros and small numbers, which any level packs well
DIGEST_SIZE = 16

Document = dict[str, Any]
Arrays = dict[str, Int64]


def to_bytes(document: Mapping[str, Any], arrays: Mapping[str, Int64]) -> bytes:
    """Return a state as bytes; the same state gives the same bytes."""
    stored = [np.ascontiguousarray(array, dtype="<i8") for array in arrays.values()]
    payload = zlib.compress(b"".join(array.tobytes() for array in stored), LEVEL)
    shapes = [[name, list(array.shape)] for name, array in zip(arrays, stored, strict=True)]
    head = {"schema": SCHEMA, **document, "digest": _digest(payload), "arrays": shapes}
    return json.dumps(head, allow_nan=False).encode() + b"\n" + payload


def from_bytes(content: bytes, name: str = "the state") -> tuple[Document, Arrays]:
    """Return the document and the arrays of a state.

    Raises
    ------
    DataError
        Anything but a whole state of this schema.
    """
    line, _, payload = content.partition(b"\n")
    document = _parse_head(line, name)
    if document.get("digest") != _digest(payload):
        raise DataError(f"{name}: the state is damaged or cut short (hint: save it again)")
    try:
        shapes = [(str(each), tuple(map(int, shape))) for each, shape in document.pop("arrays")]
        sizes = [int(np.prod(shape, dtype=np.int64)) for _, shape in shapes]
        numbers = np.frombuffer(_decompress(payload, 8 * sum(sizes)), dtype="<i8").astype(np.int64)
        parts = np.split(numbers, np.cumsum(sizes)[:-1]) if sizes else []
        arrays = {each: part.reshape(shape) for (each, shape), part in zip(shapes, parts, strict=True)}
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise DataError(f"{name}: the arrays of the state cannot be read ({error})") from None
    return document, arrays


def write_state(path: str | Path, content: bytes, *, force: bool = False) -> None:
    """Write a state, which appears under its name when it is complete.

    Raises
    ------
    UsageError
        The file exists, without `force`.
    """
    with open_targets([to_path(path)], force=force) as [file]:
        file.write(content)


def read_state(path: str | Path) -> tuple[Document, Arrays]:
    """Read a state.

    Raises
    ------
    DataError
        A missing file, or one that is no state.
    """
    return from_bytes(read_all_bytes(to_path(path)), str(to_path(path)))


def _parse_head(line: bytes, name: str) -> Document:
    """Return the first line as an object of this schema."""
    try:
        document = json.loads(line)
    except ValueError:
        document = None
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not str(schema).startswith(FAMILY):
        raise DataError(
            f"{name}: not a state of xmceval (hint: xmceval score --save-state and Evaluator.save write them)"
        )
    if schema != SCHEMA:
        raise DataError(f"{name}: a state under the schema {schema}; expected {SCHEMA}")
    return document


def _decompress(payload: bytes, size: int) -> bytes:
    """Return the data of a payload, which must be of the declared size; a forged one cannot fill the memory."""
    stream = zlib.decompressobj()
    data = stream.decompress(payload, size + 1)
    if len(data) != size:
        raise ValueError(f"expected {size:,} bytes")
    return data


def _digest(payload: bytes) -> str:
    return hashlib.blake2b(payload, digest_size=DIGEST_SIZE).hexdigest()
