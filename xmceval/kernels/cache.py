"""The cache of compiled kernels: one file for each signature, in the first folder where one can be written.

Numba's own cache has to find a folder at import, fails for good after a damaged file, can mix up signatures that two
processes save at once, and lets ten processes compile the same function ten times. This one belongs to the kernels
alone; nothing of numba is changed for anyone else.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from xmceval.kernels.locks import Lock, make_private_folder, take_lock

VERSIONS = f"{numba.__version__} {llvmlite.__version__} {sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
DIGEST_SIZE = 16
PATIENCE = 60.0  # seconds: far more than any kernel takes to compile; only a stopped process keeps a lock so long

unfinished: set[str] = set()  # files that are being written, one at a time
_reports: list[Callable[[], None]] = []


def cached(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """Give the functions that a decorator of numba makes a cache of their own; plain Python functions need none."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        dispatcher = compiled(function)
        if not numba.config.DISABLE_JIT:
            dispatcher._cache = KernelCache(function)
            dispatcher.compile = dispatcher._cache.released_after(dispatcher.compile)
        return dispatcher

    return decorate


def on_compilation(report: Callable[[], None]) -> None:
    """Call `report` once, when a kernel has to be compiled: on the first run ever it takes seconds."""
    _reports.append(report)


class KernelCache:
    """The compiled forms of one function on disk, with the interface of numba's caches.

    A file starts with a digest of the kernel's source and of what follows: one that is damaged, or older than the
    source, counts as missing, and is overwritten.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        module = sys.modules[function.__module__]
        self._name = f"{module.__name__.rpartition('.')[2]}.{function.__qualname__}"
        self._source = _source_of(module)
        self._lock: Lock | None = None

    @property
    def cache_path(self) -> str | None:
        """The folder where compiled forms are saved, or None."""
        folder = folder_to_write()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """Return the compiled form of a signature, also one that another process is just compiling, or None."""
        target_context.refresh()
        name = self._file_name(sig, target_context.codegen())
        found = self._load(name, sig, target_context)
        if found is not None:
            return found
        while _reports:
            _reports.pop()()
        folder = folder_to_write()
        if folder is not None and self._source:
            self._lock = take_lock(str(folder / name), PATIENCE)
            found = self._load(name, sig, target_context)
        return found

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        """Save the compiled form of a signature, if it can be; what cannot is compiled again by the next process."""
        folder = folder_to_write()
        if folder is None or not self._source or data.library.has_dynamic_globals or data.lifted:
            return
        payload = dumps(data._reduce())
        path = str(folder / self._file_name(sig, data.codegen))
        part = f"{path}.{os.urandom(8).hex()}"
        unfinished.add(part)
        try:
            with suppress(OSError):  # a full disk, for one
                with open(part, "xb") as file:
                    file.write(self._digest(payload) + payload)
                os.replace(part, path)
        finally:
            remove_unfinished()

    def flush(self) -> None:
        """Do nothing: files of an older source are overwritten one by one."""

    def released_after(self, compile_signature: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Wrap the method that loads, or compiles and saves, so that others can go on afterwards, even if it failed."""

        def compile_and_release(sig: Any) -> Any:
            with global_compiler_lock:
                try:
                    return compile_signature(sig)
                finally:
                    lock, self._lock = self._lock, None
                    if lock is not None:
                        lock.release()

        return compile_and_release

    def _file_name(self, sig: Any, codegen: Any) -> str:
        key = f"{VERSIONS} {sig} {codegen.magic_tuple()}".encode()
        return f"{self._name}-{hashlib.blake2b(key, digest_size=DIGEST_SIZE).hexdigest()}.nbc"

    def _digest(self, payload: bytes) -> bytes:
        return hashlib.blake2b(payload, digest_size=DIGEST_SIZE, key=hashlib.sha256(self._source).digest()).digest()

    def _load(self, name: str, sig: Any, target_context: Any) -> CompileResult | None:
        for folder in folders() if self._source else ():
            try:
                content = (folder / name).read_bytes()
                payload = content[DIGEST_SIZE:]
                if content[:DIGEST_SIZE] == self._digest(payload):
                    found = CompileResult._rebuild(target_context, *pickle.loads(payload))  # noqa: S301
                    if found.signature.args == tuple(sig):
                        return found
            except Exception:  # noqa: S112 - whatever is wrong with a file, the kernel can be compiled
                continue
        return None


@cache
def folders() -> list[Path]:
    """Return where compiled kernels may lie: the first folder that can be written comes last."""
    found = []
    for folder in _candidates():
        found.append(folder)
        if _is_writable(folder):
            break
    return found


def folder_to_write() -> Path | None:
    """Return the folder where kernels are saved, or None."""
    return folders()[-1] if _is_writable(folders()[-1]) else None


def _candidates() -> list[Path]:
    """Return NUMBA_CACHE_DIR, the folder beside the sources, the user's cache, and a temporary one, as far as known.

    The last is used only if nobody else can write there, as loading a kernel runs it.
    """
    home = Path(__file__).parent
    own = f"{home.name}_{hashlib.blake2b(str(home).encode(errors='surrogateescape'), digest_size=20).hexdigest()}"
    user = Path(AppDirs("numba", appauthor=False).user_cache_dir)
    temporary = make_private_folder()
    return [
        *([Path(numba.config.CACHE_DIR).absolute() / own] if numba.config.CACHE_DIR else []),
        home / "__pycache__",
        *([user / own] if user.is_absolute() else []),
        *([] if temporary is None else [temporary / own]),
    ]


@cache
def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def _source_of(module: Any) -> bytes:
    """Return the source of a module, to notice that it was edited; nothing where there is none."""
    try:
        return bytes(module.__loader__.get_data(module.__file__))
    except (AttributeError, OSError):
        return b""


def remove_unfinished() -> None:
    """Remove the files that are not yet complete: for whoever ends the process at once."""
    while unfinished:
        with suppress(OSError):
            os.unlink(unfinished.pop())
