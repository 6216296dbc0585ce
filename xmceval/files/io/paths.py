"""Paths of inputs and outputs, local or remote, such as ``s3://bucket/name``.

The names of a remote path omit credentials in its address, such as a query string or ``user:password@``:
``str()`` and ``name`` are safe to print.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmceval.errors import DataError, UsageError, argument, describe_type
from xmceval.files.io.addresses import redacted, shown, split_query
from xmceval.files.io.signatures import COMPRESSED_ENDINGS, DATA_ENDINGS, LABELS_ENDING, SCORES_ENDING
from xmceval.rows.shards import Shards, parts_of

if TYPE_CHECKING:
    from xmceval.files.io.remote import RemoteFile

MAX_LINE = 128  # default limit for a line, in MiB: twice a row with all labels of the largest public sets
_Local = type(Path())

# A single letter before a colon is a Windows drive. Chains such as simplecache::s3://bucket/name begin with
# ``::``.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?:://|::)")
_PROTOCOLS = re.compile(r"(?:^|(?<=::))[A-Za-z][A-Za-z0-9+.-]+(?=://|::)")
_CUT_ADDRESS = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+::)*[A-Za-z][A-Za-z0-9+.-]+:/")  # as pathlib makes it
_ONE_SLASH = re.compile(r":/(?!/)")
LOCAL = re.compile(r"\A(?:file|local)://", re.IGNORECASE)


class RemotePath(_Local):  # type: ignore[misc, valid-type]
    """The address of a remote file, passed as any Path, which fsspec opens and the operating system cannot."""

    address: str  # including any credentials

    def __new__(cls, address: str) -> RemotePath:
        """Make a path that shows the address without credentials; only `address` keeps them."""
        self: RemotePath = super().__new__(cls, shown(address))
        self.address = address
        return self

    def __init__(self, address: str) -> None:
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
        return RemotePath, (self.address,)

    @cached_property
    def remote(self) -> RemoteFile:
        """The file on its store, as of the first access."""
        from xmceval.files.io.remote import RemoteFile

        return RemoteFile(self.address)

    def with_name(self, name: str) -> RemotePath:
        """Return the address of another file in the same folder; keep the text after ``?``."""
        plain, query = split_query(self.address)
        return RemotePath(f"{plain[: len(plain) - len(self.name)]}{name}{query}")

    def resolve(self) -> RemotePath:
        """Return this path: remote files have no links."""
        return self

    def exists(self) -> bool:
        """Return whether there is such a file or folder."""
        return bool(self.remote.info)

    def is_dir(self) -> bool:
        """Return whether it is a folder."""
        return self.remote.info.get("type") == "directory"

    def is_file(self) -> bool:
        """Return whether it is a file."""
        return self.exists() and not self.is_dir()


def is_address(name: str) -> bool:
    """Return whether a name is the address of a remote file."""
    return _ADDRESS.match(name) is not None and "://" in name and LOCAL.match(name) is None


def without_secrets(text: str) -> str:
    """Remove the credentials from an address, or from a text with addresses."""
    if is_address(text):
        return shown(text)
    return redacted(text)


def to_path(name: str | os.PathLike[str]) -> Path:
    """Convert a name to a path, local or remote."""
    if isinstance(name, str) and is_address(name):
        return RemotePath(_PROTOCOLS.sub(lambda protocol: protocol.group().lower(), name))  # as fsspec expects
    if isinstance(name, RemotePath):
        return name
    if not isinstance(name, (str, os.PathLike)):
        raise UsageError(f"expected the path of a file, got {describe_type(name)}")
    hint = "pass an address such as s3://bucket/name as a string, not as a Path"
    if isinstance(name, str):
        name = LOCAL.sub("", name)
        hint = "an address has two slashes, as in s3://bucket/name"
    path = Path(name)
    if _CUT_ADDRESS.match(str(path)) and not os.path.lexists(path.parts[0]):
        raise DataError(f"{shown(_ONE_SLASH.sub('://', str(path)))}: no such file (hint: {hint})")
    return path


def is_pattern(path: Path) -> bool:
    """Return whether a path is a pattern of files, and not a file whose name looks like one."""
    return glob.has_magic(str(path)) and (isinstance(path, RemotePath) or not os.path.exists(path))


def named_path(path: Path) -> Path:
    """Return the path that gives an input its name: a pattern of all files of a folder is named like the folder."""
    if path.name != "*" or not is_pattern(path):
        return path
    if isinstance(path, RemotePath):
        plain, query = split_query(path.address)
        folder: Path = RemotePath(f"{plain.removesuffix('/*')}{query}")
    elif path.parent.name:
        folder = path.parent
    else:
        folder = path.absolute().parent
    if is_pattern(folder):
        return path
    return folder


def name_of(path: Path) -> str:
    """Return the name of an input in reports: of its file or folder; any other pattern as it was passed."""
    named = named_path(path)
    if is_pattern(named):
        return str(named)
    return named.name or str(path)


def number_alike(names: list[str]) -> list[str]:
    """Number names that several systems share: ``a.txt (1)``, ``a.txt (2)``."""
    return [f"{name} ({names[: i + 1].count(name)})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def as_input(value: Any) -> Any:
    """Convert addresses, alone or in a list, to paths; return any other input unchanged."""
    if isinstance(value, str):
        if is_address(value) or LOCAL.match(value):
            return to_path(value)
        return value
    if isinstance(value, Shards):
        parts = as_input(value.parts)
        if parts is value.parts:
            return value
        return value.with_parts(parts)
    if isinstance(value, (list, tuple)) and any(isinstance(part, str) and is_address(part) for part in value):
        return type(value)([as_input(part) for part in value])
    return value


def beside(file: Path | None, name: str | os.PathLike[str]) -> Path:
    """Resolve a path named in a file relative to that file, or without a file to the current folder."""
    path = to_path(name)
    if file is None or isinstance(path, RemotePath) or path.is_absolute():
        return path
    if isinstance(file, RemotePath):
        return file.with_name(str(path))
    return file.parent / path


def split_ending(name: str) -> tuple[str, str]:
    """Split off the ending of a path that tells its format and compression, in upper or lower case.

    Examples
    --------
    >>> split_ending("runs/model.v2.txt.gz"), split_ending("model.v2"), split_ending("A.NPZ")
    (('runs/model.v2', '.txt.gz'), ('model.v2', ''), ('A', '.NPZ'))
    """
    rest = next((name[: -len(ending)] for ending in COMPRESSED_ENDINGS if name.lower().endswith(ending)), name)
    stem, point, suffix = rest.rpartition(".")
    is_ending = f".{suffix}".lower() in DATA_ENDINGS and stem and not stem.endswith("/")
    if not (point and is_ending):
        stem = rest
    if stem and not stem.endswith("/"):
        return (stem, name[len(stem) :])
    return (name, "")


def pair_of(path: Path) -> str:
    """Return the common part of the two names if a path is one of a pair of npy files, otherwise the path itself."""
    plain = str(path)
    for ending in COMPRESSED_ENDINGS:
        plain = plain.removesuffix(ending)
    if plain.endswith((LABELS_ENDING, SCORES_ENDING)):
        return plain[: -len(LABELS_ENDING)]
    return str(path)


def find_pair(path: Path) -> tuple[Path, Path]:
    """Return the two files of a pair under their existing names, which may have a suffix of compression."""
    stem = pair_of(path)
    is_remote = isinstance(path, RemotePath)
    endings = ["", *COMPRESSED_ENDINGS]
    if is_remote:  # the other file is compressed in the same way
        endings = [""]
        if path.suffix in COMPRESSED_ENDINGS:
            endings = [path.suffix, ""]
    files = []
    for ending in (LABELS_ENDING, SCORES_ENDING):
        names = [stem + ending + more for more in endings]
        candidates = [path.with_name(name.rpartition("/")[2]) if is_remote else Path(name) for name in names]
        files.append(next((file for file in candidates if file.exists()), candidates[0]))
    return files[0], files[1]


def has_pair(path: Path) -> bool:
    """Return whether a file of the pair that a path names exists."""
    return any(file.is_file() for file in find_pair(path))


def is_pair(path: Path) -> bool:
    """Return whether a path names a pair of npy files: either of them, or their stem."""
    return pair_of(path) != str(path) or (not path.is_file() and has_pair(path))


def find_files(path: Path) -> list[Path]:
    """Return the files that a path names: the file itself, or the existing files of a pair."""
    if is_pair(path):
        return [file for file in find_pair(path) if file.is_file()]
    return [path]


def identify(value: Any) -> tuple[Path | int, ...]:
    """Return the files of an input without links, one for all names of a pair, or the ids of its matrices."""
    identities = list[Path | int]()
    for part in parts_of(value):
        if isinstance(part, (str, Path)):
            path = to_path(part)
            with suppress(OSError, ValueError):  # such as of a store that does not answer, which opening will report
                if is_pair(path):
                    path, _ = find_pair(path)
                path = path.resolve()
            identities.append(path)
        else:
            identities.append(id(part))
    return tuple(identities)


def describe_missing(path: Path) -> str:
    """Describe a missing file; if it may be a pair, with the names of both files."""
    if pair_of(path) != str(path):
        labels, scores = find_pair(path)
        return f"{path}: no such file; a pair is {labels.name} and {scores.name}"
    hint = ""
    if path.name.isdecimal():
        hint = f" (hint: join several cutoffs by commas: {argument('k', '1,3,5')})"
    return f"{path}: no such file{hint}"
