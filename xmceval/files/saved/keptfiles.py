"""Kept files: a folder of what need not be computed again, each under a key of all that it depends on.

A file appears under its name when it is complete, so a process that is killed leaves nothing that is wrong, and two at
once do no harm. What is damaged counts as not kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import time
import zipfile
from collections.abc import Container, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from xmceval.errors import DataError
from xmceval.files.io.paths import RemotePath
from xmceval.files.writing.targets import open_targets, remove_stale_parts

CELLS, COMPARISONS = KINDS = ("cells", "comparisons")
ENDINGS = {CELLS: ".npz", COMPARISONS: ".jsonl"}
UNUSED = 30 * 86_400  # seconds after which an entry goes
DIGITS = 64  # of a checksum
KEY = re.compile(r"[0-9a-f]{32}\Z")


class KeptFiles:
    """A folder of kept files, which is made if it does not exist.

    Raises
    ------
    DataError
        A remote folder, or one that cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        if isinstance(folder, RemotePath):
            raise DataError(f"{folder}: is remote, so nothing can be kept there")
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not any(folder.iterdir()):  # one that holds other files is not hidden from git
                (folder / ".gitignore").write_text("*\n", encoding="utf-8")
            for kind in KINDS:
                (folder / kind).mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise DataError(f"{folder}: {error.strerror or error}") from None

    def path(self, kind: str, key: str) -> Path:
        """Return where an entry is, or would be."""
        return self.folder / kind / f"{key}{ENDINGS[kind]}"

    def has_archive(self, path: Path) -> bool:
        """Return whether there is an archive that was not cut; its members are checked when they are read."""
        return zipfile.is_zipfile(path)

    def read(self, path: Path) -> Any:
        """Return a document that was written here; None where there is none, or it is damaged."""
        try:
            content = path.read_bytes()
        except OSError:
            return None
        checksum, _, text = content.partition(b"\n")
        return json.loads(text) if checksum == _checksum(text) else None

    def write(self, path: Path, document: Any) -> None:
        """Write a document.

        Raises
        ------
        DataError
            It cannot be written, as on a full disk.
        """
        text = json.dumps(document, separators=(",", ":")).encode()
        with open_targets([path], force=True) as [file]:
            file.write(_checksum(text) + b"\n" + text)

    def remove(self, path: Path) -> None:
        """Remove an entry."""
        with suppress(OSError):
            path.unlink(missing_ok=True)

    def sweep(self, used: Container[Path], *, prune: bool = False) -> None:
        """Mark entries as used now, and remove others that were not for 30 days, or with `prune` all of them."""
        now = time.time()
        for kind in KINDS:
            remove_stale_parts(self.folder / kind)
        remove_stale_parts(self.folder)
        for path in list(self._entries()):
            with suppress(OSError):
                if path in used:
                    os.utime(path)
                elif prune or path.stat().st_mtime < now - UNUSED:
                    path.unlink()

    @property
    def n_bytes(self) -> int:
        """The size of all files together."""
        total = 0
        for parent, _, names in os.walk(self.folder):
            for name in names:
                with suppress(OSError):
                    total += os.stat(os.path.join(parent, name)).st_size
        return total

    def _entries(self) -> Iterator[Path]:
        for kind in KINDS:
            paths = (self.folder / kind).glob(f"*{ENDINGS[kind]}")
            yield from (path for path in paths if KEY.match(path.stem))  # others may be anyone's


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()
