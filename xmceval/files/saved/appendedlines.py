"""Appended lines: a file that processes append to, one write per line, so that lines of two never mix."""

from __future__ import annotations

import os
from pathlib import Path


def append_line(path: Path, line: str) -> None:
    """Append a line; one before it that was cut remains a line of its own.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
    try:
        size = os.fstat(descriptor).st_size
        os.lseek(descriptor, max(size - 1, 0), os.SEEK_SET)
        is_cut = size > 0 and os.read(descriptor, 1) != b"\n"
        os.write(descriptor, (("\n" if is_cut else "") + line + "\n").encode())
    finally:
        os.close(descriptor)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file; none where there is no such file."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []
