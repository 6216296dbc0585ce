"""The cache of compiled kernels: one file for each signature, in the first folder where one can be written.

A file that is damaged counts as missing, several processes that need the same kernel compile it once, and where nothing
can be written kernels are compiled by each process.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from xmceval.kernels.locks import make_private_folder, take_lock

DIGEST_SIZE = 16
PATIENCE = 60.0  # seconds: far more than any kernel takes to compile; only a stopped process keeps a lock so long
COMPILER = (
    "compiler.py",
    "decorators.py",
    "eightrows.py",
    "eights.py",
    "entries.py",
    "forms.py",
    "instructions.py",
    "pipeline.py",
)  # what compiled forms also depend on

IMPORT = re.compile(rb"^from xmceval\.kernels\.(\w+) import ", re.MULTILINE)

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
    return any(next(folder.glob(f"{name}-*.nbc"), None) for folder in _folders())


class Slot:
    """The place of one compiled form of a function.

    A file starts with a digest of the kernel's source and of what follows: one that is damaged, or older than the
    source, counts as missing, and is overwritten.
    """

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        module = sys.modules[function.__module__]
        key = hashlib.blake2b(signature.encode(errors="surrogateescape"), digest_size=DIGEST_SIZE).hexdigest()
        self.name = f"{module.__name__.rpartition('.')[2]}.{function.__qualname__}"
        self._file = f"{self.name}-{key}.nbc"
        self._source = digest_of_source(module)

    def read(self) -> Iterator[bytes]:
        """Yield what is saved, from each folder that has it."""
        for folder in _folders() if self._source else ():
            try:
                content = (folder / self._file).read_bytes()
            except OSError:
                continue
            if content[:DIGEST_SIZE] == self._digest(content[DIGEST_SIZE:]):
                yield content[DIGEST_SIZE:]

    def write(self, payload: bytes) -> None:
        """Save a compiled form, if it can be; what cannot is compiled again by the next process."""
        folder = folder_to_write()
        if folder is None or not self._source:
            return
        path = str(folder / self._file)
        part = f"{path}.{os.urandom(8).hex()}"
        unfinished.add(part)
        try:
            with suppress(OSError):  # a full disk, for one
                with open(part, "xb") as file:
                    file.write(self._digest(payload) + payload)
                os.replace(part, path)
        finally:
            unfinished.discard(part)
            with suppress(OSError):
                os.unlink(part)

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
        return hashlib.blake2b(payload, digest_size=DIGEST_SIZE, key=self._source).digest()


@cache
def folders() -> list[Path]:
    """Return where compiled kernels may lie: the first folder that can be written comes last."""
    return list(_folders())


def _folders() -> Iterator[Path]:
    """Yield these folders; whether one can be written is tried only where it has not what is looked for."""
    for folder in _candidates():
        yield folder
        if _is_writable(folder):
            break


def folder_to_write() -> Path | None:
    """Return the folder where kernels are saved, or None."""
    return folders()[-1] if _is_writable(folders()[-1]) else None


def _candidates() -> Iterator[Path]:
    """Yield NUMBA_CACHE_DIR, the folder beside the sources, the user's cache, and a temporary one, as far as known.

    The last is used only if nobody else can write there, as loading a kernel runs it.
    """
    home = Path(__file__).parent
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
    """Return numba's file of its version, without importing it."""
    spec = importlib.util.find_spec("numba")
    if spec is None or spec.origin is None:
        raise ImportError("numba is not installed")
    return Path(spec.origin).with_name("_version.py").read_text(encoding="utf-8")


@cache
def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
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
    """Return a digest of the source of a module, of the kernels it imports from and of the compiler, or nothing.

    It shows that one was edited. It is to be asked for when the module is imported: later the source may be another
    than that of what runs.
    """
    try:
        digests = [*map(_digest, _sources(module)), *_digests_of_compiler()]
    except (AttributeError, OSError):
        return b""
    return _digest(b"".join(digests))


def _sources(module: Any) -> list[bytes]:
    """Return the source of a module and of the kernel files that it imports from, or they."""
    found, sources = [module], []
    for each in found:  # which grows meanwhile
        sources.append(each.__loader__.get_data(str(each.__file__)))
        names = map(bytes.decode, IMPORT.findall(sources[-1]))
        homes = [sys.modules[f"{__package__}.{name}"] for name in names if f"{name}.py" not in COMPILER]
        found += [home for home in dict.fromkeys(homes) if home not in found]
    return sources


@cache
def _digests_of_compiler() -> list[bytes]:
    read = sys.modules[__name__].__loader__.get_data  # type: ignore[union-attr]
    return [_digest(read(str(Path(__file__).with_name(name)))) for name in COMPILER]


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def remove_unfinished() -> None:
    """Remove the files that are not yet complete: for whoever ends the process at once."""
    while unfinished:
        with suppress(OSError):
            os.unlink(unfinished.pop())
