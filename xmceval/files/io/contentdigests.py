"""Content digests: what distinguishes the bytes of a file or an array from all others, at the speed of reading them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.files.io.inputfiles import input_at
from xmceval.files.io.streams import read_into

PIECE, BLOCK = 1 << 18, 1 << 12  # bytes: a piece stays in the processor's cache

Words = NDArray[np.uint64]


def digest_file(path: Path) -> str:
    """Return a digest of a file as it is stored, compressed or not.

    Raises
    ------
    DataError
        It cannot be read.
    """
    with input_at(path).open() as stream:
        return _digest(_read_pieces(stream, path))


def digest_array(array: NDArray[Any]) -> str:
    """Return a digest of the numbers, the dtype and the shape of an array of numbers."""
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    view = content.data
    pieces = (view[i : i + PIECE] for i in range(0, content.size, PIECE))
    return _digest(pieces, f"{array.dtype.str} {array.shape}")


def digest_text(text: str) -> str:
    """Return a digest of a text."""
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]


def join_digests(digests: Sequence[str | None]) -> str | None:
    """Return one digest for several, in their order; None where there is none, or one is not known."""
    known = [each for each in digests if each is not None]
    if not known or len(known) < len(digests):
        return None
    return known[0] if len(known) == 1 else digest_text(" ".join(known))


def _digest(pieces: Iterable[memoryview], kind: str = "") -> str:
    """Return SHA-256 of sums over the blocks of whole pieces, and of the last piece as it is.

    SHA-256 of all bytes would take a quarter of the time that scoring takes, the sums take a fortieth.
    """
    digest, n_bytes = hashlib.sha256(kind.encode()), 0
    for piece in pieces:
        digest.update(_hash_blocks(piece) if len(piece) == PIECE else piece)
        n_bytes += len(piece)
    digest.update(n_bytes.to_bytes(8, "little"))
    return digest.hexdigest()[:32]


def _read_pieces(stream: Any, path: Path) -> Iterator[memoryview]:
    view = memoryview(bytearray(PIECE))
    while n_read := read_into(stream, view, path):
        yield view[:n_read]


def _hash_blocks(piece: memoryview) -> bytes:
    """Return two sums of 64 bits for each block of a whole piece."""
    from xmceval.kernels.rows.bytehashes import hash_blocks

    words = np.frombuffer(piece, dtype=np.uint64).reshape(-1, BLOCK // 8)
    sums = np.empty((words.shape[0], 2), dtype=np.uint64)
    with np.errstate(over="ignore"):
        hash_blocks(words, _keys(), sums)
    return sums.tobytes()


@cache
def _keys() -> Words:
    """Return the keys of the sums, uint64 [2, n_words]: any numbers without a pattern, the same in every process."""
    digests = (hashlib.sha512(f"xmceval {i}".encode()).digest() for i in range(2 * BLOCK // 64))
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64).reshape(2, -1)
