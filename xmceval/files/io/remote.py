"""Find remote files with fsspec, download inputs, and upload outputs.

A file is fetched once and completely, so its store need not support byte ranges or know the size.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from secrets import token_hex
from typing import Any

from xmceval.errors import DataError
from xmceval.files.io.addresses import WEB, redacted, shown
from xmceval.rows.progress import watch_work

PATIENCE = 10.0  # seconds to wait for a web server

# Stores in which a file appears only after a complete upload; in others it is renamed afterwards.
ATOMIC = WEB | {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "hf", "oss", "oci"}
# Keys of metadata that change with the file, as named by stores.
TAGS = ("ETag", "etag", "md5Hash", "LastModified", "Last-Modified", "last_modified", "updated", "mtime", "created")
# Names of errors from packages that are not imported here.
_NOWHERE = re.compile("gaierror|refused|connectordns|endpointconnection|connectorerror|nameresolution")
_DENIED = re.compile("permission|credential|refresherror|forbidden|accessdenied|authentication")


class MissingError(DataError):
    """The file does not exist."""


class RemoteFile:
    """A file on a store that fsspec knows."""

    copy: Any = None  # a Copy with its bytes, once they were fetched

    def __init__(self, address: str) -> None:
        self.address = address
        self.protocol = re.split("::|://", address, maxsplit=1)[0]
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            packages = "fsspec"
            if self.protocol in WEB:
                packages = "fsspec aiohttp"
            hint = f"(hint: pip install {packages})"
            raise DataError(f"{shown(address)}: remote files need the package fsspec {hint}") from None
        options = {}
        with self._explaining():
            if self.protocol in WEB:  # by default aiohttp ends requests after five minutes, but not silent ones
                from aiohttp import ClientTimeout
                from fsspec.config import conf

                chosen = conf.get(self.protocol, {}).get("client_kwargs", {})
                timeout = ClientTimeout(total=None, sock_connect=PATIENCE, sock_read=PATIENCE)
                options = {"client_kwargs": {"timeout": timeout, **chosen}}
            self.system, self.name = url_to_fs(address, **options)

    @cached_property
    def info(self) -> dict[str, Any]:
        """The metadata of the file in its store; none if there is no such file."""
        try:
            with self._explaining():
                self.system.invalidate_cache(self.name)
                info = dict(self.system.info(self.name))
        except MissingError:
            return {}
        is_folder = self.protocol in WEB and self.name.endswith("/")
        if is_folder:
            return {**info, "type": "directory"}
        return info

    def match(self) -> list[str]:
        """Return the addresses of the files that match this pattern."""
        with self._explaining():
            self.system.invalidate_cache()
            infos = dict(self.system.glob(self.name, detail=True))
        names = [name for name, info in infos.items() if info.get("type") != "directory"]
        return [name if "://" in name else f"{self.protocol}://{name}" for name in names]

    @property
    def key(self) -> tuple[Any, ...]:
        """What changes with the content of the file, as far as its store tells; empty if it does not."""
        if not self.info:
            raise MissingError(f"{shown(self.address)}: no such file")
        if self.info.get("type") == "directory":
            raise DataError(f"{shown(self.address)}: is a directory; expected a file")
        tags = [str(self.info[tag]) for tag in TAGS if self.info.get(tag)]
        if tags:
            return (self.address, self.info.get("size"), *tags)
        return ()

    def fetch(self, path: Path) -> None:
        """Copy the whole file to a local one."""
        from fsspec.callbacks import Callback

        name = shown(self.address)
        size = self.info.get("size")
        callback = Callback()
        if size:
            watch_work(callback, name, size, attrgetter("value"))
        with self._explaining():
            self.system.get_file(self.name, str(path), callback=callback, **self._headers())
        n_bytes = path.stat().st_size
        if size is not None and n_bytes != size:
            raise DataError(f"{name}: its size is {size:,}, but {n_bytes:,} bytes came (hint: try again)")

    def put(self, file: Path) -> None:
        """Upload a finished file, which appears under its name only once it is complete."""
        how: dict[str, Any] = self._headers(**{"Content-Length": str(file.stat().st_size)})
        if self.protocol in WEB:
            how["method"] = "put"  # names the file that it creates
        sent = self.name if self.protocol in ATOMIC else f"{self.name}.{token_hex(8)}"
        try:
            with self._explaining("written"):
                self.system.put_file(str(file), sent, **how)
                if sent != self.name:
                    self.system.mv(sent, self.name)
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

    @contextmanager
    def _explaining(self, what: str = "read") -> Iterator[None]:
        """Translate an error of another package into one that is clear, on one line and without credentials."""
        try:
            yield
        except DataError:
            raise
        except Exception as error:  # storage packages raise nearly anything, maybe with credentials
            raise self._explain(error, what) from None

    def _explain(self, error: Exception, what: str) -> DataError:
        chain: list[BaseException] = [error]  # followed by its causes
        while cause := chain[-1].__cause__ if chain[-1].__suppress_context__ else chain[-1].__context__:
            chain.append(cause)
        last = chain[-1]
        names = " ".join(kind.__name__ for link in chain for kind in type(link).__mro__).lower()
        text = str(getattr(last, "strerror", None) or getattr(last, "message", None) or last or type(last).__name__)
        text = redacted(" ".join(text.split()), self.address)[:200]
        status = next((link.status for link in chain if hasattr(link, "status")), None)
        if status is not None:
            text = f"status {status}, {text}"
        missing = chain
        hint = f"set the credentials as fsspec expects them for {self.protocol}"
        if self.protocol in WEB:
            missing = chain[-1:]  # other errors of the web may look like missing files
            hint = "check that the address is public, or has its token or signature"
        if "timeout" in names:
            problem = f"no answer within {PATIENCE:.0f} seconds (hint: check the address and the network)"
        elif _NOWHERE.search(names):
            problem = f"cannot connect ({text}) (hint: check the address and the network)"
        elif _DENIED.search(names) or status in {401, 403, 407}:
            problem = f"access is denied ({text}) (hint: {hint})"
        elif status in {404, 410} or any(isinstance(link, FileNotFoundError) for link in missing):
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
