"""Write outputs so that a file appears only when it is complete, and replaces another only if forced.

Until then its bytes are in a temporary file in the same folder. Its name is random, and opening it fails if the
name is taken, even by a symbolic link, so that another file is never written to or removed.
"""

from __future__ import annotations

import csv
import os
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, TextIO, cast

from xmceval.errors import DataError, UsageError, argument
from xmceval.files.io.paths import RemotePath, find_files, to_path
from xmceval.files.io.streams import TEMPORARY, remove


def check_output(path: Path, *, force: bool, inputs: Iterable[str | Path] = ()) -> None:
    """Before any work, refuse an output that cannot be written, is an input, or exists without `force`."""
    is_remote = isinstance(path, RemotePath)
    if not is_remote:
        try:
            if path.exists() and not path.is_file():
                raise UsageError(f"{path}: is not a file, so it cannot be overwritten")
            folder = path.absolute().parent
            if not folder.is_dir():
                raise UsageError(f"{path}: there is no folder {folder}")
        except (OSError, ValueError) as error:  # such as a NUL in the path
            if isinstance(error, UsageError):
                raise
            raise DataError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise DataError(f"{path}: no permission to write to {folder}")
    if not (path.exists() if is_remote else os.path.lexists(path)):  # a broken link exists too
        return
    for file in (file for value in inputs for file in find_files(to_path(value))):
        if is_remote or isinstance(file, RemotePath):
            is_same = str(path) == str(file)
        else:
            is_same = path.exists() and file.exists() and path.samefile(file)  # even under another name or link
        if is_same:
            raise UsageError(f"{path}: is an input itself, which cannot be overwritten (hint: choose another name)")
    if not force:
        raise _already_exists(path)


@contextmanager
def open_output(path: Path, *, force: bool, inputs: Iterable[str | Path] = ()) -> Iterator[BinaryIO]:
    """Open a temporary file that gets its final name when the block ends, and is removed after an error."""
    check_output(path, force=force, inputs=inputs)
    # A file to upload is written in the system's temporary folder.
    folder = path.absolute().parent
    if isinstance(path, RemotePath):
        folder = Path(tempfile.gettempdir())
    temporary = folder / f".xmceval-{secrets.token_hex(8)}"
    TEMPORARY.add(temporary)
    try:
        with temporary.open("x+b") as file:  # O_EXCL does not follow links
            yield cast(BinaryIO, file)
        if isinstance(path, RemotePath):
            path.remote.put(temporary)
        elif force:
            if path.exists() and not path.is_symlink():  # the new file gets the mode and, if permitted, the owner
                status = path.stat()
                if hasattr(os, "chown"):
                    with suppress(PermissionError):
                        os.chown(temporary, status.st_uid, status.st_gid)
                temporary.chmod(stat.S_IMODE(status.st_mode))
            temporary.replace(path)
        else:
            try:
                os.link(temporary, path)
            except FileExistsError:
                raise _already_exists(path) from None
            except OSError:  # a file system without hard links
                if os.path.lexists(path):
                    raise _already_exists(path) from None
                temporary.replace(path)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    finally:
        remove(temporary)


def write_output(path: str | Path, content: bytes | str, *, force: bool) -> None:
    """Write a whole file; text in UTF-8."""
    if isinstance(content, str):
        content = content.encode(errors="backslashreplace")
    with open_output(to_path(path), force=force) as file:
        file.write(content)


def csv_writer(text: TextIO) -> Any:
    """Return a writer of CSV whose lines end with a line feed.

    csv quotes a carriage return in a cell before Python 3.13 only where the end of a line has one.
    """
    lines = SimpleNamespace(write=lambda line: text.write(line.removesuffix("\r\n") + "\n"))
    return csv.writer(lines, lineterminator="\r\n")


def _already_exists(path: Path) -> UsageError:
    return UsageError(f"{path}: already exists (hint: pass {argument('force', True)} to overwrite)")
