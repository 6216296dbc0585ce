"""Writing a text: whole or not at all."""

from __future__ import annotations

from pathlib import Path

from xmceval.files.io.paths import to_path
from xmceval.files.writing.targets import open_targets


def save_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8 to a file, which is replaced if it exists.

    Raises
    ------
    UsageError
        A path that is not a file.
    DataError
        A file that cannot be written.
    """
    with open_targets([to_path(path)], force=True) as [file]:
        file.write(text.encode(errors="backslashreplace"))
