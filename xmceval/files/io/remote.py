"""Find remote files with fsspec, download inputs to temporary files, and upload outputs.

A file is fetched once and whole, so it does not matter whether its store gives ranges of bytes or knows the size. The
last copies are kept until the process ends, for tasks that read the same file: they are used again where the store
still gives the same tags and times.
"""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

from xmceval.errors import DataError
from xmceval.files.io.addresses import protocol_of, redacted, shown
from xmceval.files.io.copies import Copy, copying
from xmceval.rows.progress import phase

T = TypeVar("T")

PATIENCE = 10.0  # seconds without an answer
RETRIES = 3  # where a connection is lost, or the server is busy: not all stores of fsspec try again
FIRST_PAUSE = 0.2  # seconds; each further one takes twice as long
KEPT = 4  # copies

WEB = frozenset({"http", "https"})
# Stores in which a file appears only when its upload has ended well; in others it is renamed then.
ATOMIC = WEB | {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "hf", "oss", "oci"}
# What tells whether a file has changed, as stores call it.
TAGS = ("ETag", "etag", "md5Hash", "LastModified", "Last-Modified", "last_modified", "updated", "mtime", "created")
# Words in the names of errors, of packages that are not imported here, and statuses of the web.
SILENT = ("timeout",)
NOWHERE = ("gaierror", "refused", "connectordns", "endpointconnection", "connectorerror", "nameresolution")
DENIED = ("permission", "credential", "refresherror", "forbidden", "accessdenied", "authentication", 401, 403, 407)
MISSING = ("filenotfound", 404, 410)
PASSING = ("connectionreset", "connectionaborted", "brokenpipe", "disconnected", "payload", 408, 425, 429)

_copies: dict[Hashable, Copy] = {}
_lock = threading.Lock()


class MissingError(DataError):
    """There is no such file."""


class RemoteFile:
    """A file on a store that fsspec knows."""

    def __init__(self, address: str) -> None:
        self.address, self.protocol = address, protocol_of(address)
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            hint = "(hint: pip install 'xmceval[remote]')"
            raise DataError(f"{shown(address)}: remote files need the package fsspec {hint}") from None
        self.system, self.name = self._ask(lambda: url_to_fs(address, **_options_of(self.protocol)))

    @cached_property
    def info(self) -> dict[str, Any]:
        """The metadata of the file in its store."""
        self.system.invalidate_cache(self.name)
        return dict(self._ask(lambda: self.system.info(self.name)))

    @property
    def exists(self) -> bool:
        """Whether there is such a file or folder."""
        try:
            return bool(self.info)
        except MissingError:
            return False

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.info.get("type") == "directory" or (self.protocol in WEB and self.name.endswith("/"))

    def match(self) -> list[str]:
        """Return the addresses of the files that match this one, a pattern."""
        self.system.invalidate_cache()
        infos = self._ask(lambda: dict(self.system.glob(self.name, detail=True)))
        names = [name for name, info in infos.items() if info.get("type") != "directory"]
        return [name if "://" in name else f"{self.protocol}://{name}" for name in names]

    @cached_property
    def copy(self) -> Copy:
        """A temporary file with the bytes."""
        if self.is_folder:
            raise DataError(f"{shown(self.address)}: is a directory; expected a file")
        tags = [str(self.info[tag]) for tag in TAGS if self.info.get(tag)]
        key = (self.address, self.info.get("size"), *tags)
        with _lock:
            copy = _copies.pop(key, None) or self._attempt(self._fetch)
            if tags:
                _copies[key] = copy
            while len(_copies) > KEPT:
                del _copies[next(iter(_copies))]
        return copy

    def _fetch(self) -> Copy:
        """Copy the file, all of it."""
        from fsspec.callbacks import Callback

        name, size, n_seen = shown(self.address), self.info.get("size"), 0
        with copying(name):
            copy = Copy()
        with phase(name, size) as add:

            def show(_size: int | None, n_bytes: int, **_: Any) -> None:
                nonlocal n_seen
                add(n_bytes - n_seen)
                n_seen = n_bytes

            callback = Callback(hooks={"progress": show})
            self.system.get_file(self.name, str(copy.path), callback=callback, **self._headers())
        n_bytes = copy.path.stat().st_size
        if size is not None and n_bytes != size:
            raise DataError(f"{name}: its size is {size:,}, but {n_bytes:,} bytes came (hint: try again)")
        return copy

    def put(self, file: Path) -> None:
        """Send a finished file, which appears under its name only when all of it has come."""
        how: dict[str, Any] = self._headers(**{"Content-Length": str(file.stat().st_size)})
        if self.protocol in WEB:
            how["method"] = "put"  # which names the file that it makes
        sent = self.name if self.protocol in ATOMIC else f"{self.name}.{token_hex(8)}"
        try:
            self._attempt(lambda: self.system.put_file(str(file), sent, **how), "written")
            if sent != self.name:
                self._attempt(lambda: self.system.mv(sent, self.name), "written")
        except BaseException:
            if sent != self.name:
                with suppress(Exception):
                    self.system.rm_file(sent)
            raise

    def _headers(self, **more: str) -> dict[str, Any]:
        """Return the request headers for a web server, so that it sends the bytes unencoded."""
        if self.protocol not in WEB:
            return {}
        return {"headers": {**self.system.kwargs.get("headers", {}), "Accept-Encoding": "identity", **more}}

    def _ask(self, work: Callable[[], T]) -> T:
        """Ask the store something, which it answers in time."""
        return self._attempt(lambda: _in_time(work))

    def _attempt(self, work: Callable[[], T], what: str = "read") -> T:
        """Do something, again where it fails for a moment, and explain what fails for longer."""
        attempt = 0
        while True:
            try:
                return work()
            except DataError:
                raise
            except Exception as error:  # packages of stores raise nearly anything
                if attempt == RETRIES or _is_a(error, NOWHERE) or not _is_a(error, PASSING, *range(500, 600)):
                    raise self._explain(error, what) from None
                time.sleep(FIRST_PAUSE * 2**attempt)
                attempt += 1

    def _explain(self, error: Exception, what: str) -> DataError:
        """Return the error that another package's error means, on one line and without credentials."""
        *_, last = _chain(error)
        text = str(getattr(last, "strerror", None) or getattr(last, "message", None) or last or type(last).__name__)
        status = next((f"status {link.status}, " for link in _chain(error) if hasattr(link, "status")), "")
        text = status + redacted(" ".join(text.split()), self.address)[:200]
        if _is_a(error, SILENT):
            problem = f"no answer within {PATIENCE:.0f} seconds (hint: check the address and the network)"
        elif _is_a(error, NOWHERE):
            problem = f"cannot connect ({text}) (hint: check the address and the network)"
        elif _is_a(error, DENIED):
            hint = "check that the address is public, or has its token or signature"
            hint = hint if self.protocol in WEB else f"set the credentials as fsspec expects them for {self.protocol}"
            problem = f"access is denied ({text}) (hint: {hint})"
        elif _is_a(last if self.protocol in WEB else error, MISSING):  # in the web all is a missing file at first
            return MissingError(f"{shown(self.address)}: no such file")
        elif what == "read" and getattr(error, "errno", None) in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            problem = f"cannot be copied to a temporary file: {text} (hint: set TMPDIR)"
        elif isinstance(error, ImportError):
            package = getattr(last, "name", None) or "another one"
            problem = f"the protocol {self.protocol!r} needs the package {package} (hint: pip install {package})"
        elif "Protocol not known" in text:
            problem = f"fsspec does not know the protocol {self.protocol!r}; expected one such as s3, gs, hf or https"
        else:
            problem = f"cannot be {what} ({text})"
        return DataError(f"{shown(self.address)}: {problem}")


def _options_of(protocol: str) -> dict[str, Any]:
    """Return the options of a store: aiohttp would end every request after five minutes, but none that is silent."""
    if protocol not in WEB:
        return {}
    from aiohttp import ClientTimeout
    from fsspec.config import conf

    timeout = ClientTimeout(total=None, sock_connect=PATIENCE, sock_read=PATIENCE)
    return {"client_kwargs": {"timeout": timeout, **conf.get(protocol, {}).get("client_kwargs", {})}}


def _in_time(work: Callable[[], T]) -> T:
    """Do something in a daemon thread, so that an unresponsive store cannot keep the process alive."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="xmceval-remote", daemon=True).start()
    return future.result(PATIENCE)


def _is_a(error: BaseException, words: tuple[str | int, ...], *statuses: int) -> bool:
    """Return whether an error, or one that it comes from, has a status, or a word in the name of its class."""
    for link in _chain(error):
        names = " ".join(kind.__name__.lower() for kind in type(link).__mro__)
        status = getattr(link, "status", None)
        if status in {*words, *statuses} or any(isinstance(word, str) and word in names for word in words):
            return True
    return False


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and those that it comes from."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
