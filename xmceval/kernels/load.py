"""Load kernels from object files, which only this user can write, and call them.

A process that finds its kernels in the folder does not import numba, which takes half a second. The folder is
named after a digest of everything that their code depends on. ``python -m xmceval.kernels.load NAME...`` compiles
kernels into it, as long as its standard input is open.
"""

from __future__ import annotations

import atexit
import ctypes  # noqa: TID251 - the one file that calls C
import hashlib
import importlib
import os
import pkgutil
import shutil
import stat
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, update_wrapper
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from xmceval import kernels
from xmceval.kernels.compile import SYMBOL, Function, compile_in_process, compile_object, target_machine

if TYPE_CHECKING:
    from subprocess import Popen

try:
    import fcntl
except ImportError:  # on Windows: processes that start together compile the same kernels
    fcntl = None

MAX_AGE = 30 * 24 * 3600  # seconds without use after which a folder is removed
PAUSE = 0.005  # seconds between two looks for a file or a lock

CHECKSUM_SIZE = 32  # bytes, before the object file itself

PATIENCE = 1.0  # seconds of compiling before a note appears
COMPILING = "compiling kernels for this kind of run, once; this takes a few seconds"
NO_FOLDER = "no folder for kernels can be made that only this user can write (hint: set NUMBA_CACHE_DIR)"
UNSAVED = f"compiling kernels takes a few seconds in every process, as {NO_FOLDER}"
NO_OBJECTS = "compiling kernels takes a few seconds in every process, as their code cannot be saved here"

# Kernels that most runs need which import any of their folder, from the one that takes longest to compile.
USUAL = [
    "metrics.topk.compute_rows",
    "text.pairs.parse_pairs",
    "metrics.ties.bound_ties",
    "metrics.sums.add_values",
    "metrics.ranking.top_k",
    "metrics.topk.count_rows",
    "text.lines.count_rows",
    "rows.checks.notice",
    "rows.tally.count_labels",
]

KERNELS: dict[str, Kernel] = {}  # of the modules that are imported, by name

NUMBERS = {
    "i8": ctypes.c_int64,
    "u1": ctypes.c_uint8,
    "u4": ctypes.c_uint32,
    "u8": ctypes.c_uint64,
    "f8": ctypes.c_double,
    "b1": ctypes.c_bool,
}

# Held while a kernel is loaded. A fork waits for it: if another thread held it, or a lock of numba or LLVM, the
# forked process would wait forever.
_LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


def helper(function: Function) -> Function:
    """Mark a function that is compiled as part of each kernel that calls it."""
    function.is_helper = True
    return function


def kernel(*types: Any, returns: str | None = None) -> Callable[[Function], Kernel]:
    """Declare the types of a function that is compiled for calls from Python; it runs without the GIL.

    Parameters
    ----------
    *types : str or tuple
        For each argument: a number ("i8", "f8", "b1"), a contiguous array ("f8[:,:]" has two axes), or a tuple of
        these.
    returns : str, optional
        The number that it returns.
    """
    return lambda function: Kernel(types, returns, function)


class Kernel:
    """A function with declared types, loaded or compiled at its first call; `py_func` is the original."""

    def __init__(self, types: tuple[Any, ...], returns: str | None, function: Function) -> None:
        update_wrapper(self, function)
        self.types = types
        self.returns = returns
        self.py_func = function
        self.name = f"{function.__module__}.{function.__name__}".removeprefix("xmceval.kernels.")
        self.run: Function | None = None
        KERNELS[self.name] = self

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled function."""
        if self.run is None:
            with _LOCK:
                self.run = self.run or _load(self)
        return self.run(*arguments)

    def __reduce__(self) -> str:
        return self.__qualname__


def is_disabled() -> bool:
    """Whether kernels run as plain Python, since NUMBA_DISABLE_JIT is set."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}


def flatten(parts: tuple[Any, ...]) -> list[Any]:
    """Return the parts, and those of tuples among them, in order."""
    flat = []
    for part in parts:
        if isinstance(part, tuple):
            flat += part
        else:
            flat.append(part)
    return flat


def _load(kernel: Kernel) -> Function:
    """Return a function that runs a kernel."""
    if is_disabled():
        return kernel.py_func
    try:
        return _caller(kernel, _link(_obtain(kernel, find_folder())))
    except (OSError, RuntimeError):  # no object files on this platform, or the kernel needs what numba alone has
        with _note.during(NO_OBJECTS):
            return compile_in_process(kernel.py_func)


# A call.


def _caller(kernel: Kernel, address: int) -> Function:
    """Return a function that checks arguments and passes them on; ctypes releases the GIL.

    Without checks ctypes would cut whole numbers to their width, and pass the address of any array.
    """
    kinds = []
    c_types: list[Any] = []
    for name in flatten(kernel.types):
        dtype, _, axes = name.partition("[")
        n_axes = axes.count(":")
        kinds.append((name, n_axes, np.dtype(dtype)))
        c_types += [ctypes.c_void_p, *[ctypes.c_ssize_t] * n_axes] if axes else [NUMBERS[dtype]]
    function = ctypes.CFUNCTYPE(NUMBERS.get(kernel.returns), *c_types)(address)
    view = (ctypes.c_char * 0).from_buffer  # the fastest way to an address, for arrays that can be written

    def run(*arguments: Any) -> Any:
        passed: list[Any] = []
        for value, (name, n_axes, dtype) in zip(flatten(arguments), kinds, strict=True):
            if n_axes == 0:
                number = value.item() if isinstance(value, np.generic) else value
                if NUMBERS[name](number).value != number == number:  # not for NaN
                    raise OverflowError(f"{kernel.name}: {number} is no {name}")
                passed.append(number)
                continue
            flags = value.flags
            shape = value.shape
            is_fit = flags.carray or (flags.c_contiguous and flags.aligned)  # carray: and writable
            if not is_fit or len(shape) != n_axes or value.dtype != dtype:
                raise TypeError(f"{kernel.name}: no contiguous {name}: {value.dtype.str}, strides {value.strides}")
            passed.append(view(value) if flags.writeable else value.ctypes.data)
            passed += shape
        return function(*passed)

    return run


_libraries: list[Any] = []  # code lives as long as its library


@cache
def _linker() -> Any:
    from llvmlite import binding

    return binding.create_lljit_compiler(target_machine())


def _link(code: bytes) -> int:
    """Return the address of the function in an object file; each is a library, as they share names."""
    from llvmlite import binding

    builder = binding.JITLibraryBuilder().add_object_img(code).add_current_process().export_symbol(SYMBOL)
    library = builder.link(_linker(), str(len(_libraries)))
    _libraries.append(library)
    return library[SYMBOL]


# The files.


def _obtain(kernel: Kernel, folder: Path | None) -> bytes:
    """Return the object file of a kernel: from the folder, or compiled now."""
    if folder is None:
        with _note.during(UNSAVED):
            return _compile(kernel)
    saved = read_object(kernel.name, folder)
    if saved is not None:
        return saved
    with _note.during(COMPILING):
        if _is_command:
            share(kernel.name, folder)
        return make_object(kernel, folder)


def _compile(kernel: Kernel) -> bytes:
    return compile_object(kernel.py_func, kernel.types, kernel.returns)


def make_object(kernel: Kernel, folder: Path, max_wait: float = 60.0) -> bytes:
    """Return the object file of a kernel, compiled and saved unless another process does so.

    After `max_wait` seconds it is compiled all the same; return nothing if there is no time to wait.
    """
    with (folder / "lock").open("ab") as file:
        is_held = hold(file, kernel.name, max_wait)
        code = read_object(kernel.name, folder)
        if code is None and (is_held or max_wait > 0):
            code = _compile(kernel)
            write_object(kernel.name, folder, code)
        return code or b""


def _checksum(name: str, code: bytes) -> bytes:
    return hashlib.blake2b(code, key=name.encode(), digest_size=CHECKSUM_SIZE).digest()


def read_object(name: str, folder: Path) -> bytes | None:
    """Return the object file of a kernel, or None if it is missing, damaged or that of another kernel."""
    try:
        content = (folder / f"{name}.o").read_bytes()
    except OSError:
        return None
    code = content[CHECKSUM_SIZE:]
    return code if content[:CHECKSUM_SIZE] == _checksum(name, code) else None


def write_object(name: str, folder: Path, code: bytes) -> None:
    """Save an object file, whole or not at all."""
    part = folder / f"{name}.{os.getpid()}"
    try:
        part.write_bytes(_checksum(name, code) + code)
        part.replace(folder / f"{name}.o")
    except OSError:  # such as a full disk
        part.unlink(missing_ok=True)


def hold(file: IO[bytes], name: str, max_wait: float) -> bool:
    """Lock a kernel in the file of locks, so that no other process compiles it; return whether it succeeded in time.

    The system releases locks when a process dies or closes the file; forks do not inherit them.
    """
    deadline = time.monotonic() + max_wait
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, zlib.crc32(name.encode()))
        except (BlockingIOError, PermissionError):  # another process holds it
            if time.monotonic() >= deadline:
                return False
            time.sleep(PAUSE)
        except (OSError, AttributeError):  # this disk or system has no locks
            return True
        else:
            return True


# Side by side.

_others: list[Popen[bytes]] = []
_theirs: set[str] = set()  # the names of the kernels that they compile


def share(name: str, folder: Path) -> None:
    """Let other processes compile what a run needs, unless that is one kernel, and wait for a kernel of theirs."""
    used = {imported.partition(".")[0] for imported in KERNELS}
    needed = [usual for usual in USUAL if usual.partition(".")[0] in used and read_object(usual, folder) is None]
    if len(needed) > 1 and not _others:
        start(needed)
    _wait(name, folder)


def warm(names: list[str], folder: Path) -> Iterator[str]:
    """Compile kernels on all processors; yield the name of each when it is in the folder."""
    missing = [name for name in names if read_object(name, folder) is None]
    if missing:
        start(missing)
    for name in names:
        _wait(name, folder)
        with suppress(RuntimeError):  # of a kernel that numba compiles in every process
            make_object(KERNELS[name], folder)
        yield name


def start(names: list[str]) -> None:
    """Start processes that compile kernels, one per processor; they end with this one, and write nothing."""
    from subprocess import DEVNULL, PIPE, Popen

    n_processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_processors == 1 or not sys.executable:
        return
    atexit.register(_end_others)
    # An empty entry is the working folder, from which nothing is imported.
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-m", __name__, *names]
    for _ in range(min(n_processors, len(names))):
        _others.append(Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, env=environ))  # noqa: PERF401, S603
    _theirs.update(names)


def _wait(name: str, folder: Path) -> None:
    """Wait until other processes have compiled a kernel, if they were asked to, or have ended."""
    while name in _theirs and read_object(name, folder) is None:
        if all(process.poll() is not None for process in _others):
            break
        time.sleep(PAUSE)


def _end_others() -> None:
    for process in _others:
        with process:
            process.kill()


def all_kernels() -> dict[str, Kernel]:
    """Import and return all kernels by name."""
    for module in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        importlib.import_module(module.name)
    return KERNELS


def main() -> None:
    """Compile the kernels that are named, except those that another process compiles or has compiled."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    folder = find_folder()
    for name in sys.argv[1:]:
        module, _, function = name.rpartition(".")
        kernel = getattr(importlib.import_module(f"{kernels.__name__}.{module}"), function)
        with suppress(RuntimeError):  # of a kernel without an object file, which its process compiles
            if folder is not None:
                make_object(kernel, folder, max_wait=0.0)


def _end_with_parent() -> None:
    sys.stdin.buffer.read()  # returns when the other end of the pipe is closed
    os._exit(1)


# The folder.


def read_sources(folder: Path) -> list[tuple[str, bytes]]:
    """Return the names and contents of all Python files in a folder; none of a zip archive."""
    return [(str(path.relative_to(folder)), path.read_bytes()) for path in sorted(folder.rglob("*.py"))]


# Read before any kernel is imported, so that no kernel is older than the digest it is saved under.
SOURCES = read_sources(Path(__file__).parent)

# Variables of numba that change no code, and one that moves the folder.
HARMLESS = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "NUMBA_DISABLE_JIT"}


@cache
def digest() -> str:
    """Return a digest of everything that compiled code depends on."""
    import llvmlite
    from llvmlite import binding

    # The file in which numba has its version, as importing numba, or importlib.metadata, is slow.
    numba = [path.read_bytes() for path in Path(find_spec("numba").origin).parent.glob("_version.py")]
    versions = (numba, llvmlite.__version__, np.__version__, sys.implementation.cache_tag)
    processor = (binding.get_process_triple(), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    settings = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_") and item[0] not in HARMLESS)
    return hashlib.blake2b(repr((SOURCES, versions, processor, settings)).encode(), digest_size=8).hexdigest()


def find_folder() -> Path | None:
    """Return the folder for compiled kernels, or None if no folder is writable only by this user."""
    if not SOURCES:
        return None
    try:
        folder = _cache_home() / f"xmceval-{digest()}"
        is_new = not folder.exists()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(folder):
            return None
        os.utime(folder)
        if is_new:
            _remove_old(folder.parent)
    except (OSError, RuntimeError):  # RuntimeError if the user has no home
        return None
    return folder


def _cache_home() -> Path:
    """Return NUMBA_CACHE_DIR, or the folder of the user's caches."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"]).absolute()
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return chosen if chosen.is_absolute() else Path.home() / ".cache"


def _is_private(folder: Path) -> bool:
    """Whether a folder is not a link, belongs to this user, and is not writable by others."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or not os.access(folder, os.W_OK):
        return False
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def _remove_old(home: Path) -> None:
    """Remove folders that have not been used for a long time."""
    for folder in home.glob("xmceval-" + 16 * "[0-9a-f]"):
        with suppress(OSError):
            if _is_private(folder) and time.time() - folder.stat().st_mtime > MAX_AGE:
                shutil.rmtree(folder, ignore_errors=True)


# The note.


class _Note:
    """A note that kernels are being compiled, each shown once, after a second of compiling."""

    def __init__(self) -> None:
        self.show: Callable[[str], None] = _print_for_people
        self.patience = PATIENCE
        self.shown = set[str]()

    @contextmanager
    def during(self, text: str) -> Iterator[None]:
        """Show the note if the work inside takes long."""
        begin = time.monotonic()
        timer = threading.Timer(self.patience, self._appear, [text])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            self.patience = max(self.patience - (time.monotonic() - begin), 0.0)

    def _appear(self, text: str) -> None:
        if text not in self.shown:
            self.shown.add(text)
            with suppress(Exception):  # stderr may be closed, and a note must not cause a failure
                self.show(text)


def _print_for_people(text: str) -> None:
    """Print a note if stderr is a terminal or belongs to a notebook."""
    if sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules):
        print(f"xmceval: {text}", file=sys.stderr)  # noqa: T201 - logging and warnings would reach programs


_note = _Note()
_is_command = False


def begin_command(show: Callable[[str], None]) -> None:
    """Let other processes compile what this one needs, and show the note about compiling in another way."""
    global _is_command  # noqa: PLW0603 - a process is one command
    _is_command = True
    _note.show = show


if __name__ == "__main__":
    main()
