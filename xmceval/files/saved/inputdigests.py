"""Input digests: those of input files, of which only the ones that may have changed since are read."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from xmceval.errors import DataError, as_here
from xmceval.files.io.contentdigests import digest_file, digest_text
from xmceval.files.io.paths import RemotePath
from xmceval.rows.threads import default_threads

SETTLED = 2_000_000_000  # nanoseconds: clocks of file systems may be that coarse, so a later change could look the same

_DATES = frozenset({"LastModified", "Last-Modified", "last_modified", "updated", "mtime", "modified", "created"})

Status = list[Any]  # of a file: its size, dates and the like, from the system or a store


class InputDigests:
    """Digests of files, and the status of each file when it was read.

    A local file counts as unchanged if its size, mtime, ctime and inode are as recorded, and it was not modified within
    the 2 s before. A remote one is not read: what its store tells, its tag or version, or else its size and date, is
    what distinguishes it.

    Parameters
    ----------
    records : mapping
        Those of an earlier run, as JSON has them: status, time of reading, and digest, by the name of the file.
    verify : bool
        Read all files anyway, remote ones too.
    """

    def __init__(self, records: Mapping[str, Any] | None = None, *, verify: bool = False) -> None:
        self.records = {name: each for name, each in (records or {}).items() if _is_record(each)}
        self.is_changed = False
        self._verify = verify
        self._found: dict[Path, tuple[Status, str]] = {}  # in this run
        self._asked = set[Path]()

    def find(self, paths: Iterable[Path]) -> dict[Path, str | None]:
        """Return the digest of each file; None for a pipe, and for a file that is missing, or changes meanwhile."""
        unique = list(dict.fromkeys(paths))
        self._asked.update(unique)
        digests = {path: self._recall(path) for path in unique}
        unknown = [path for path in unique if digests[path] is None]
        if unknown:
            with ThreadPoolExecutor(default_threads()) as pool:
                digests.update(zip(unknown, pool.map(as_here(self._read), unknown), strict=True))
        return digests

    def begin(self) -> None:
        """Begin with the files of another data set."""
        self._asked.clear()

    def are_same(self) -> bool:
        """Return whether the files of this data set are still as they were when their digests were found."""
        return all(_find_status(path) == self._found[path][0] for path in self._asked if path in self._found)

    def _recall(self, path: Path) -> str | None:
        """Return the digest of a file that is known to be unchanged."""
        name, status = _name(path), _find_status(path)
        if status is None:
            return None
        found = self._found.get(path)
        if found is not None and found[0] == status:
            return found[1]
        if self._verify:
            return None
        before, at, digest = self.records.get(name, (None, 0, ""))
        if before != status or not _is_settled(path, status, at):
            if not isinstance(path, RemotePath):
                return None
            digest = digest_text(repr([name, status]))
        self._found[path] = status, digest
        return str(digest)

    def _read(self, path: Path) -> str | None:
        """Read a file, and record its digest."""
        name, at, status = _name(path), time.time_ns(), _find_status(path)
        is_file = isinstance(path, RemotePath) or (status is not None and stat.S_ISREG(path.stat().st_mode))
        if not is_file:
            return None
        try:
            digest = digest_file(path)
        except DataError:
            return None
        if _find_status(path) != status:
            return None
        if status is not None:
            self._found[path] = status, digest
            self.records[name] = [status, at, digest]
            self.is_changed = True
        return digest


def _name(path: Path) -> str:
    return str(path) if isinstance(path, RemotePath) else os.path.abspath(path)


def _find_status(path: Path) -> Status | None:
    """Return the status of a file, without reading it; None where that is too little to tell by."""
    if isinstance(path, RemotePath):
        return _find_remote_status(path)
    with suppress(OSError, ValueError):
        found = path.stat()
        return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
    return None


def _find_remote_status(path: RemotePath) -> Status | None:
    from xmceval.files.remote.stores import identity

    with suppress(DataError):
        facts = dict(identity(path.remote.info))
        tags = [[name, value] for name, value in facts.items() if name not in _DATES and name != "size"]
        dates = [[name, value] for name, value in facts.items() if name in _DATES]
        if "size" in facts and (tags or dates):
            return [facts["size"], *(tags or dates)]
    return None


def _is_settled(path: Path, status: Status, at: int) -> bool:
    """Return whether a file was old enough when it was read for any later change to show in its status."""
    return isinstance(path, RemotePath) or status[1] + SETTLED <= at


def _is_record(each: Any) -> bool:
    return isinstance(each, list) and list(map(type, each)) == [list, int, str]
