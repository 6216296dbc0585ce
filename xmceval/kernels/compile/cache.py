"""The cache of compiled kernels: one file for each signature, in the first folder where one can be written.

To load a kernel is to run what a file says. So a folder or file counts as missing if anyone but this user and the
system's administrator owns it or may write to it; so does a file that is damaged. Several processes that need the same
kernel compile it once, and where nothing can be written kernels are compiled by each process.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from xmceval.kernels.compile.locks import is_private, make_private_folder, take_lock
from xmceval.kernels.compile.settings import import_numba

DIGEST_SIZE = 16
PATIENCE = 60.0  # seconds: far more than any kernel takes to compile; only a stopped process keeps a lock so long
NUMBAS = "numba"  # the folder of numba's own cache
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

unfinished: set[str] = set()  # files that are being written, one at a time
_reports: list[Callable[[], None]] = []


def on_compilation(report: Callable[[], None]) -> None:
    """Call `report` once, when a kernel has to be compiled: on the first run ever it takes seconds."""
    _reports.append(report)


def report_compilation() -> None:
    """Report that a kernel has to be compiled."""
    while _reports:
        _reports.pop()()


def forget_reports() -> None:
    """Report nothing: for a copy of a process."""
    _reports.clear()


def is_compiled(name: str) -> bool:
    """Whether a compiled form of a kernel is saved, perhaps of other source."""
    patterns = f"{name}-*.nbc", f"{NUMBAS}/*/{name}_x*.nbi"
    return any(next(folder.glob(pattern), None) for folder in _folders() for pattern in patterns)


class Slot:
    """The place of one compiled form of a function.

    A file starts with a digest of the kernel's source, of its own name and of what follows: one that is damaged, or
    older than the source, counts as missing, and is overwritten.

    Parameters
    ----------
    function : callable
        The function in Python.
    machine : str
        What all compiled code depends on besides its source.
    signature : str
        The types of the arguments.
    """

    def __init__(self, function: Callable[..., Any], machine: str, signature: str) -> None:
        module = sys.modules[function.__module__]
        self.name = f"{module.__name__.rpartition('.')[2]}.{function.__qualname__}"
        self._file = f"{self.name}-{_short_digest(machine + signature)}.nbc"
        self._source = digest_of_source(module)
        self.mark = f"x{_short_digest(machine, self._source)}"

    def read(self) -> Iterator[bytes]:
        """Yield what is saved, from each folder that has it."""
        for folder in _folders() if self._source else ():
            try:
                with open(folder / self._file, "rb") as file:
                    content = file.read() if _is_ours(os.fstat(file.fileno())) else b""
            except OSError:
                continue
            if content[:DIGEST_SIZE] == self._digest(content[DIGEST_SIZE:]):
                yield content[DIGEST_SIZE:]

    def write(self, payload: bytes) -> None:
        """Save a compiled form, if it can be; what cannot is compiled again by the next process."""
        folder = folder_to_write()
        if folder is None or not self._source or _digest_of_folder() != _digest_of_folder.__wrapped__():
            return
        path = str(folder / self._file)
        part = f"{path}.{os.urandom(8).hex()}"
        unfinished.add(part)
        try:
            with suppress(OSError):  # a full disk, for one
                with open(part, "xb", opener=_open_for_us) as file:
                    file.write(self._digest(payload) + payload)
                os.replace(part, path)
        finally:
            unfinished.discard(part)
            with suppress(OSError):
                os.unlink(part)

    def folder_of_numba(self) -> Path | None:
        """Return a folder for numba's own cache, which only this user can even read, or None.

        Numba does not look at who wrote a file.
        """
        folder = folder_to_write()
        if folder is None or not self._source:
            return None
        with suppress(OSError):
            (folder / NUMBAS).mkdir(mode=0o700, exist_ok=True)
            if is_private(folder / NUMBAS):
                return folder / NUMBAS
        return None

    def is_numbas(self) -> bool:
        """Whether numba has compiled this function and saved it, as the shorter way could not."""
        folder = folder_to_write()
        return folder is not None and next(folder.glob(f"{NUMBAS}/*/{self.name}_{self.mark}-*.nbi"), None) is not None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Wait for another process that is just compiling this form, then let others wait for this one."""
        folder = folder_to_write()
        lock = None if folder is None or not self._source else take_lock(str(folder / self._file), PATIENCE)
        try:
            yield
        finally:
            if lock is not None:
                lock.release()

    def _digest(self, payload: bytes) -> bytes:
        digest = hashlib.blake2b(self._file.encode(), digest_size=DIGEST_SIZE, key=self._source)
        digest.update(payload)
        return digest.digest()


def _short_digest(text: str, key: bytes = b"") -> str:
    return hashlib.blake2b(text.encode(errors="surrogateescape"), digest_size=DIGEST_SIZE, key=key).hexdigest()


def _is_ours(found: os.stat_result) -> bool:
    """Whether only this user or the administrator owns and may write a file or folder, as far as the system knows."""
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid in {0, os.geteuid()} and not found.st_mode & OTHERS_WRITE


def _open_for_us(path: str, flags: int) -> int:
    return os.open(path, flags, 0o644)


@cache
def folders() -> list[Path]:
    """Return where compiled kernels may lie: the first folder that can be written comes last."""
    return list(_folders())


def _folders() -> Iterator[Path]:
    """Yield these folders; whether one can be written is tried only where it has not what is looked for."""
    for folder in _candidates():
        if _may_be_used(folder):
            yield folder
            if _is_writable(folder):
                break


def folder_to_write() -> Path | None:
    """Return the folder where kernels are saved, or None."""
    last = next(reversed(folders()), None)
    return last if last is not None and _is_writable(last) else None


def _candidates() -> Iterator[Path]:
    """Yield NUMBA_CACHE_DIR, the folder beside the sources, the user's cache, and a temporary one, as far as known."""
    home = Path(__file__).parents[1]
    own = f"{home.name}_{hashlib.blake2b(str(home).encode(errors='surrogateescape'), digest_size=20).hexdigest()}"
    chosen, user = os.environ.get("NUMBA_CACHE_DIR"), _user_cache()
    if chosen:
        yield Path(chosen).absolute() / own
    yield home / "__pycache__"
    if user.is_absolute():
        yield user / own
    temporary = make_private_folder()
    if temporary is not None:
        yield temporary / own


def version_of_numba() -> str:
    """Return numba's file of its version, without importing it; its version alone where it has no such file."""
    spec = importlib.util.find_spec("numba")
    if spec is None or spec.origin is None:
        raise ImportError("numba is not installed")
    try:
        return Path(spec.origin).with_name("_version.py").read_text(encoding="utf-8")
    except OSError:
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("numba")
        except PackageNotFoundError:
            return str(import_numba().__version__)


@cache
def _may_be_used(folder: Path) -> bool:
    """Whether a folder is missing, or of this user alone."""
    try:
        return _is_ours(folder.lstat())
    except OSError:
        return True


@cache
def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        if not _is_ours(folder.lstat()):
            return False
        import tempfile

        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _user_cache() -> Path:
    """Return the folder of the user's caches; it may not be absolute where the system names none."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "")) / "numba"
    home = Path.home() if "HOME" in os.environ else Path()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "numba"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "numba"


@cache
def digest_of_source(module: Any) -> bytes:
    """Return a digest of the source of a module, and of all kernels and what compiles them, or nothing.

    It shows that one was edited. It is to be asked for when the module is imported: later the source may be another
    than that of what runs.
    """
    try:
        own = module.__loader__.get_data(str(module.__file__))
        return hashlib.sha256(_digest_of_folder() + own).digest()
    except (AttributeError, OSError):
        return b""


@cache
def _digest_of_folder() -> bytes:
    """Return a digest of every source below the folder of this file, or of the archive that it is in."""
    home = Path(__file__).parents[1]
    total = hashlib.sha256()
    for path in find_sources(str(home)) if home.is_dir() else (str(next(filter(Path.is_file, home.parents))),):
        with open(path, "rb") as file:
            content = file.read()
        total.update(f"{path[len(str(home)) :]}\n{len(content)}\n".encode(errors="surrogateescape") + content)
    return total.digest()


def find_sources(folder: str) -> Iterator[str]:
    """Yield the path of every source below a folder, always in the same order."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name.endswith(".py"):
            yield entry.path
        elif entry.name.isidentifier() and entry.name != "__pycache__" and entry.is_dir():
            yield from find_sources(entry.path)


def remove_unfinished() -> None:
    """Remove the files that are not yet complete: for whoever ends the process at once."""
    while unfinished:
        with suppress(OSError):
            os.unlink(unfinished.pop())
