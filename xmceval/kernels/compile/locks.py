"""Locks between processes of one machine, so that one of them compiles a kernel while the others wait.

The system releases the lock of a process that has ended, however it ended. Lock files lie in the temporary folder, not
beside the cache, whose file system may have no locks, as NFS sometimes. So processes on several machines do not wait
for each other: each machine compiles for itself, in the time that this takes alone.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows: there every process compiles for itself
    fcntl = None  # type: ignore[assignment]

PAUSE = 0.01  # seconds between two tries


class Lock:
    """A lock that this process holds."""

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def release(self) -> None:
        """Let others have it."""
        with suppress(OSError):
            os.unlink(self._path)  # first: as long as the lock is held, nobody else removes or replaces its file
        os.close(self._descriptor)


def take_lock(name: str, patience: float) -> Lock | None:
    """Take the lock of a name, when it is free; return None after `patience` seconds, or where there are no locks."""
    folder = make_private_folder()
    if folder is None or fcntl is None:
        return None
    path = str(folder / f"{hashlib.blake2b(name.encode(errors='surrogateescape'), digest_size=16).hexdigest()}.lock")
    deadline = time.monotonic() + patience
    try:
        lock = _try_lock(path)
        while lock is None and time.monotonic() < deadline:
            time.sleep(PAUSE)
            lock = _try_lock(path)
    except OSError:
        return None
    return lock


def _try_lock(path: str) -> Lock | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):  # else its holder has just removed it
            return Lock(path, descriptor)
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


@cache
def make_private_folder() -> Path | None:
    """Return a folder in the temporary one that only this user can read and write, or None."""
    if not hasattr(os, "getuid"):
        return None
    import tempfile

    try:
        folder = Path(tempfile.gettempdir()) / f"xmceval-{os.getuid()}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        return folder if is_private(folder) else None
    except OSError:
        return None


def is_private(folder: Path) -> bool:
    """Whether only this user can read and write in a folder, as far as the system knows."""
    found = folder.lstat()
    is_open = hasattr(os, "getuid") and (found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077)
    return stat.S_ISDIR(found.st_mode) and not is_open
