"""Stores: where remote files are; what fsspec knows of one, and whether it is still the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from xmceval.errors import DataError
from xmceval.files.io.addresses import Address
from xmceval.files.io.copies import Copy
from xmceval.files.remote.storecalls import RETRIES, call, pause
from xmceval.files.remote.storefaults import MissingError, describe_missing_package, explain, is_permanent
from xmceval.files.remote.webranges import WrongRangeError, read_range

T = TypeVar("T")

# What identifies the content of a file, as stores call it; those that a store does not have are not compared.
_IDENTITY = (
    *("size", "ETag", "etag", "e_tag", "md5Hash", "content_md5", "Content-MD5", "Digest", "checksum", "crc32c"),
    *("generation", "VersionId", "version_id", "blob_id", "oid", "sha"),
    *("LastModified", "Last-Modified", "last_modified", "updated", "mtime", "modified", "created"),
)
WEB = frozenset({"http", "https"})


@dataclass
class Remote:
    """A remote file: its store, its name there, and what the store told of it when it was first asked.

    Attributes
    ----------
    path : Address
    system : fsspec file system
    name : str
        Its name on the store.
    fingerprint : tuple or None
        What identified the content when the file was first seen, in this process or another.
    head : bytes
        Its first bytes, as far as they were read.
    copy : Copy or None
        A temporary copy, made where reading needs jumps that the store does not allow.
    trusts_tags : bool
        Whether its tag may be sent with requests, so that the store refuses them when the file has changed.
    is_checked : bool
        Whether it was found unchanged since it was first seen.
    """

    path: Address
    system: Any
    name: str
    fingerprint: tuple[tuple[str, str], ...] | None = None
    head: bytes = b""
    copy: Copy | None = None
    trusts_tags: bool = True
    is_checked: bool = False
    _info: dict[str, Any] | None = field(default=None, repr=False)
    _missing: MissingError | None = field(default=None, repr=False)
    _has_ranges: bool | None = field(default=None, repr=False)

    @property
    def info(self) -> dict[str, Any]:
        """What the store knows of the file."""
        if self._info is None:
            if self._missing is not None:
                raise self._missing
            try:
                self._info = self.ask()
            except MissingError as error:
                self._missing = error
                raise
            fingerprint = identity(self._info)
            if self.fingerprint is None:
                self.fingerprint = fingerprint
            self._compare(fingerprint)
        return self._info

    def ask(self) -> dict[str, Any]:
        """Ask the store anew."""

        def ask_once() -> dict[str, Any]:
            self.system.invalidate_cache(self.name)
            return dict(self.system.info(self.name))

        return self.attempt(ask_once)

    def attempt(self, work: Callable[[], T], what: str = "read", run: Callable[[Callable[[], T]], T] = call) -> T:
        """Do something that may fail for a moment, in a thread for which `run` waits, by default PATIENCE at most."""
        failures = 0
        while True:
            try:
                return run(work)
            except Exception as error:  # packages of stores raise nearly anything
                if failures == RETRIES or is_permanent(error):
                    raise explain(self.path, error, what) from None
                pause(failures)
                failures += 1

    def exists(self) -> bool:
        """Return whether there is such a file or folder."""
        try:
            return bool(self.info)
        except MissingError:
            return False

    @property
    def is_web(self) -> bool:
        """Whether it is on a web server."""
        return self.path.protocol in WEB

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.info.get("type") == "directory" or (self.is_web and self.name.endswith("/"))

    @property
    def size(self) -> int | None:
        """The number of bytes, None where the store does not know it."""
        size = self.info.get("size")
        return None if size is None else int(size)

    @property
    def has_ranges(self) -> bool:
        """Whether the store gives any range of bytes; a web server may know only whole files."""
        if self._has_ranges is None:
            self._has_ranges = self._try_range()
        return self._has_ranges

    def _try_range(self) -> bool:
        if self.size is None or self.info.get("partial") is False:
            return False
        if not self.is_web or self.size < 2:
            return True
        size = self.size

        def read_last() -> bool:
            try:
                return len(read_range(self, size - 1, 1)) == 1
            except WrongRangeError:
                return False

        return self.attempt(read_last)

    def open(self, **how: Any) -> Any:
        """Open the file for reading, without a cache: blocks that were read are kept here."""
        if self.is_web:
            how["headers"] = self.headers()
        return self.system.open(self.name, "rb", cache_type="none", **how)

    def headers(self) -> dict[str, str]:
        """Return what a request to a web server has: it must be for the bytes of this very file."""
        headers = dict(self.system.kwargs.get("headers", {}))
        etag = str(self.info.get("ETag", ""))
        if etag.startswith('"') and self.trusts_tags:  # weak tags do not identify bytes
            headers["If-Match"] = etag
        return headers | {"Accept-Encoding": "identity"}

    def match(self) -> list[str]:
        """Return the addresses of the files that match this one, a pattern."""

        def match_once() -> dict[str, dict[str, Any]]:
            self.system.invalidate_cache()
            return dict(self.system.glob(self.name, detail=True))

        found = self.attempt(match_once)
        names = [name for name, info in found.items() if info.get("type") != "directory"]
        return [name if "://" in name else f"{self.path.protocol}://{name}" for name in names]

    def check_unchanged(self) -> None:
        """Check that the file is still what it was when it was first seen."""
        _ = self.info
        try:
            self._compare(identity(self.ask()))
        except MissingError:
            raise DataError(f"{self.path}: was removed while it was read") from None
        self.is_checked = True

    def _compare(self, fingerprint: tuple[tuple[str, str], ...]) -> None:
        before, after = dict(self.fingerprint or ()), dict(fingerprint)
        changed = [name for name in before.keys() & after.keys() if before[name] != after[name]]
        if changed:
            name = "size" if "size" in changed else min(changed)
            raise DataError(
                f"{self.path}: changed while it was read: its {name} was {before[name]}, now it is {after[name]} "
                "(hint: try again)"
            )


def identity(info: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return what identifies the content of a file."""
    return tuple((name, str(info[name])) for name in _IDENTITY if info.get(name) is not None)


def connect(path: Address, fingerprint: tuple[tuple[str, str], ...] | None = None) -> Remote:
    """Find the store of an address."""
    try:
        from fsspec.core import url_to_fs
        from fsspec.registry import known_implementations, registry
    except ImportError:
        raise DataError(f"{path}: remote files need the package fsspec (hint: pip install 'xmceval[remote]')") from None
    try:
        system, name = call(lambda: url_to_fs(path.text))
    except ImportError as error:
        raise DataError(f"{path}: {describe_missing_package(path, error)}") from None
    except ValueError as error:
        if path.protocol not in {*registry, *known_implementations}:
            raise DataError(
                f"{path}: fsspec does not know the protocol {path.protocol!r}; expected one such as s3, gs, hf or https"
            ) from None
        raise explain(path, error) from None
    except Exception as error:
        raise explain(path, error) from None
    return Remote(path, system, name, fingerprint)
