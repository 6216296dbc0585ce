"""Paths: what names an input or output: a local path, or the address of a remote file, such as ``s3://bucket/name``.

Credentials that an address holds, a query string or ``user:password@``, are in none of the names of a remote path:
its ``str()`` and ``name`` are safe to print.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xmceval.files.remote.stores import Remote

# A single letter before a colon is a drive of Windows. Chains such as simplecache::s3://bucket/name begin with ``::``.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?:://|::)")
_LOCAL = re.compile(r"(?:file|local)://", re.IGNORECASE)
_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://[^\s'\"<>]+")
_WEB = frozenset({"http", "https"})

_Local = type(Path())


class RemotePath(_Local):  # type: ignore[misc, valid-type]
    """The address of a remote file, which fsspec opens.

    It is a Path, so that what takes paths takes it, but nothing of the operating system can open it.

    Parameters
    ----------
    address : str
        With the credentials in it, if there are any.
    fingerprint : tuple, optional
        What identified the content when the file was first seen, in this process or another.
    """

    address: str
    fingerprint: tuple[tuple[str, str], ...] | None
    _remote: Remote | None

    def __new__(cls, address: str, fingerprint: tuple[tuple[str, str], ...] | None = None) -> RemotePath:
        """Make a path of which the operating system has only the name that is shown."""
        self: RemotePath = super().__new__(cls, shown(address))
        self.address, self.fingerprint, self._remote = address, fingerprint, None
        return self

    def __init__(self, address: str, fingerprint: tuple[tuple[str, str], ...] | None = None) -> None:  # noqa: ARG002
        if sys.version_info >= (3, 12):
            super().__init__(shown(address))

    def __str__(self) -> str:
        return shown(self.address)

    def __repr__(self) -> str:
        return f"RemotePath({shown(self.address)!r})"

    def __fspath__(self) -> str:
        raise TypeError(f"{self} is a remote file, which the operating system cannot open")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and other.address == self.address

    def __hash__(self) -> int:
        return hash(self.address)

    def __reduce__(self) -> Any:
        return RemotePath, (self.address, self.fingerprint)

    @property
    def protocol(self) -> str:
        """The first part of the address, such as ``s3``."""
        return re.split("::|://", self.address, maxsplit=1)[0]

    @property
    def remote(self) -> Remote:
        """The file on its store, as it is from now on.

        Raises
        ------
        DataError
            No fsspec, or an unknown protocol.
        """
        if self._remote is None:
            from xmceval.files.remote.stores import connect

            self._remote = connect(self)
        return self._remote

    def with_name(self, name: str) -> RemotePath:
        """Return the address of another file of the same folder; what follows ``?`` remains."""
        plain, query = _split_query(self.address)
        return RemotePath(f"{plain[: len(plain) - len(self.name)]}{name}{query}")

    def resolve(self, strict: bool = False) -> RemotePath:  # noqa: ARG002
        """Return this path: remote files have no links."""
        return self

    def exists(self, *, follow_symlinks: bool = True) -> bool:  # noqa: ARG002
        """Return whether there is such a file or folder.

        Raises
        ------
        DataError
            The store does not answer, or not without credentials.
        """
        return self.remote.exists()

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:  # noqa: ARG002
        """Return whether it is a folder."""
        return self.exists() and self.remote.is_folder

    def is_file(self, *, follow_symlinks: bool = True) -> bool:  # noqa: ARG002
        """Return whether it is a file."""
        return self.exists() and not self.remote.is_folder

    def open(self, *_: Any, **__: Any) -> Any:
        """Open the file for reading, in bytes."""
        from xmceval.files.remote.reading import RemoteFile

        return RemoteFile(self)

    def samefile(self, other_path: Any) -> bool:
        """Return whether another path is the same address."""
        return self == to_path(other_path)


def to_path(name: str | os.PathLike[str]) -> Path:
    """Return the path that a name means, local or remote."""
    if isinstance(name, str) and is_address(name):
        return RemotePath(_lower_protocol(name))
    if isinstance(name, RemotePath):
        return name
    return Path(_LOCAL.sub("", name, count=1) if isinstance(name, str) and _LOCAL.match(name) else name)


def is_address(name: str) -> bool:
    """Return whether a name is the address of a remote file."""
    return _ADDRESS.match(name) is not None and "://" in name and _LOCAL.match(name) is None


def as_input(value: Any) -> Any:
    """Return a value that may be an input: the path of an address, or of each in a list; the rest as it is."""
    if isinstance(value, str):
        return to_path(value) if is_address(value) or _LOCAL.match(value) else value
    if isinstance(value, (list, tuple)) and any(isinstance(each, str) and is_address(each) for each in value):
        return type(value)([as_input(each) for each in value])
    return value


def sibling(path: Path, text: str) -> Path:
    """Return the path of a file in the folder of another: `text` is its whole path, as `str` shows it."""
    return path.with_name(text.rpartition("/")[2]) if isinstance(path, RemotePath) else Path(text)


def shown(address: str) -> str:
    """Return an address without credentials: without its query string, and without ``user:password@``."""
    return "::".join(_shown_part(part) for part in address.split("::"))


def redacted(text: str, address: str = "") -> str:
    """Return a text, such as another package's message, without the credentials of addresses in it."""
    for part in sorted(_secrets(address), key=len, reverse=True):
        text = text.replace(part, "")
    return _IN_TEXT.sub(lambda found: shown(found.group()), text)


def _shown_part(part: str) -> str:
    protocol, separator, rest = _split_query(part)[0].partition("://")
    if not separator:
        return protocol
    host = rest.partition("/")[0]
    if "@" in host:
        return f"{protocol}://{rest[host.rindex('@') + 1 :]}"
    # A secret may have a slash in it: s3://KEY:SEC/RET@bucket/name.
    has_secret = "@" in rest and ":" in host and not host.rpartition(":")[2].isdigit()
    return f"{protocol}://{rest.partition('@')[2] if has_secret else rest}"


def _split_query(part: str) -> tuple[str, str]:
    """Split an address where its query begins; elsewhere than in the web, ``?`` may be a part of a name or pattern."""
    place = part.find("?")
    if part.partition("://")[0].lower().rpartition("::")[2] in _WEB:
        place = min((each for each in (place, part.find("#")) if each >= 0), default=-1)
    elif "=" not in part[place:]:
        place = -1
    return (part, "") if place < 0 else (part[:place], part[place:])


def _secrets(address: str) -> Iterable[str]:
    """Yield the parts of an address that must not be printed."""
    for part in address.split("::"):
        plain, query = _split_query(part)
        yield from (text for text in (query, query[1:]) if text)
        hidden = plain[len(plain.partition("://")[0]) + 3 :].removesuffix(_shown_part(part).partition("://")[2])
        yield from (text for text in (hidden, *hidden.rstrip("@").split(":")) if len(text) > 3)


def _lower_protocol(name: str) -> str:
    """Return an address whose protocols are in lower case, as fsspec expects them."""
    return re.sub(r"(?:^|(?<=::))[A-Za-z][A-Za-z0-9+.-]+(?=://|::)", lambda found: found.group().lower(), name)
