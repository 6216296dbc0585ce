"""Ranges of web servers: some bytes of a file, checked against what was asked for."""

from __future__ import annotations

import re
from typing import Any

PIECE = 1 << 18  # bytes
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")


class WrongRangeError(ValueError):
    """A web server sent other bytes than those asked for."""


def read_range(remote: Any, begin: int, size: int) -> bytes:
    """Read from a place on; fewer bytes than asked for are no error.

    fsspec takes the bytes of any answer with status 206, whatever range the server says it is.
    """
    from fsspec.asyn import sync

    return bytes(sync(remote.system.loop, _fetch, remote, begin, size))


async def _fetch(remote: Any, begin: int, size: int) -> bytearray:
    system = remote.system
    session = await system.set_session()
    headers = {**remote.headers(), "Range": f"bytes={begin}-{begin + size - 1}"}
    async with session.get(system.encode_url(remote.name), **{**system.kwargs, "headers": headers}) as answer:
        if answer.status == 416:  # outside the file
            return bytearray()
        answer.raise_for_status()
        n_bytes, text = _check_range(answer, begin, size), bytearray()
        while len(text) <= n_bytes and (piece := await answer.content.read(PIECE)):
            text += piece
    if len(text) > n_bytes and answer.status == 206:
        raise WrongRangeError(f"the server sent more than the {n_bytes:,} bytes of a range")
    return text[:n_bytes]


def _check_range(answer: Any, begin: int, size: int) -> int:
    """Return how many bytes of an answer are those asked for."""
    if answer.status != 206:
        if begin:
            raise WrongRangeError("the server sent the whole file for a range of it")
        return size
    text = answer.headers.get("Content-Range", "")
    found = _CONTENT_RANGE.fullmatch(text.strip())
    is_encoded = answer.headers.get("Content-Encoding", "identity") not in {"", "identity"}
    first, last = (int(found[1]), int(found[2])) if found else (-1, -1)
    if is_encoded or first != begin or not begin <= last < begin + size:
        shown = "an unknown range" if not found or is_encoded else f"bytes {first:,} to {last:,}"
        raise WrongRangeError(f"the server sent {shown} for bytes {begin:,} to {begin + size - 1:,}")
    return last - first + 1
