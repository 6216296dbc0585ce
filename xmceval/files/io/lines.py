"""Lines of text files: some of them, picked by number while all are counted."""

from __future__ import annotations

import io
import re
from collections.abc import Collection
from pathlib import Path

from xmceval.files.io.inputfiles import claim_pipe
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import open_bytes, read_into

CHUNK = 1 << 20

_COMMENT = re.compile(rb"(?:\A|(?<=[ \t\r]))#.*", re.DOTALL)


def without_comment(line: bytes) -> bytes:
    """Return a line without its comment: ``#`` begins one only where a word may begin."""
    return _COMMENT.sub(b"", line, count=1) if b"#" in line else line


def pick_lines(path: Path, numbers: Collection[int]) -> tuple[dict[int, str], int]:
    """Return the lines with these numbers, counted from 0, and how many lines the file has.

    Lines end in a newline, the last one may lack it; bytes that are not UTF-8 become replacement characters.

    Raises
    ------
    DataError
        A file that cannot be read.
    """
    claim_pipe(path)
    found, parts = dict[int, bytes](), list[bytes]()
    number, is_open = 0, False  # of the current line, and whether it has any bytes
    buffer = bytearray(CHUNK)
    with open_bytes(path) as stream:
        while n_read := read_into(stream, memoryview(buffer), path):
            for line in io.BytesIO(buffer[:n_read]):
                is_open = not line.endswith(b"\n")
                if number in numbers:
                    parts.append(line)
                if not is_open:
                    found |= {number: b"".join(parts)} if parts else {}
                    parts.clear()
                    number += 1
    if is_open:
        found |= {number: b"".join(parts)} if parts else {}
        number += 1
    texts = {i: line.rstrip(b"\r\n") for i, line in found.items()}
    if 0 in texts:
        texts[0] = texts[0].removeprefix(UTF8_BOM)
    return {i: text.decode(errors="replace") for i, text in texts.items()}, number
