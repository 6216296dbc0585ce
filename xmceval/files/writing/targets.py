"""Targets: the files that are written, which appear under their names only when they are complete."""

from __future__ import annotations

import glob
import os
import platform
import re
import stat
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from xmceval.errors import DataError, UsageError, argument, listed
from xmceval.files.arrays.npypairs import find_files
from xmceval.files.io.paths import RemotePath, to_path

_unfinished: set[Path] = set()


def check_new_file(path: str | Path, endings: Iterable[str], what: str) -> Path:
    """Check that a path has one of some endings, and names no file yet."""
    path = to_path(path)
    if path.suffix not in endings:
        raise UsageError(f"{path}: {what} are written as {listed(endings)}")
    if path.is_file():
        raise UsageError(f"{path}: already exists (hint: remove it, or choose another name)")
    return path


def check_targets(targets: Sequence[Path], *, force: bool, inputs: Iterable[str | Path] = ()) -> None:
    """Check that files can be written, before the work for them begins."""
    for target in targets:
        check_target(target)
    existing = [target for target in targets if target.exists()]
    files = [file for each in inputs for file in find_files(to_path(each))] if existing else []
    for target in existing:
        if any(_is_same(target, file) for file in files):
            raise UsageError(f"{target}: is an input itself, which cannot be overwritten (hint: choose another name)")
    if existing and not force:
        exist = "exists" if len(existing) == 1 else "exist"
        raise UsageError(f"{listed(existing)}: already {exist} (hint: pass {argument('force', True)} to overwrite)")


def _is_same(target: Path, file: Path) -> bool:
    """Return whether a target that exists is a file, also by another name or link."""
    if isinstance(target, RemotePath) or isinstance(file, RemotePath):
        return str(target) == str(file)
    return file.exists() and target.samefile(file)


@contextmanager
def open_targets(
    targets: Sequence[Path], *, force: bool, inputs: Iterable[str | Path] = ()
) -> Iterator[list[BinaryIO]]:
    """Open temporary files beside the targets, which replace them at the end, or are removed after an error.

    They are called ``.NAME.MACHINE.PROCESS.part``. One that a process left when it was killed is removed when the same
    target is written again. A file that replaces another has its mode. Those of remote targets are in the system's
    temporary folder, and are sent when all are complete.
    """
    check_targets(targets, force=force, inputs=inputs)
    existing = [target for target in targets if target.exists()]
    remote = [target for target in targets if isinstance(target, RemotePath)]
    names = listed(targets)
    targets = [target.resolve() for target in targets]  # the target of a link is overwritten, not the link
    temporary = [_part_name(target) for target in targets]
    files: list[BinaryIO] = []
    _unfinished.update(temporary)
    try:
        for target in targets:
            if target not in remote:
                _remove_stale_parts(target)
        files.extend(path.open("w+b") for path in temporary)
        yield files
        for file in files:
            file.close()  # which writes the rest
        if remote:
            from xmceval.files.remote.uploads import upload_all

            pairs = zip(temporary, targets, strict=True)
            upload_all(
                [(file, target.remote) for file, target in pairs if isinstance(target, RemotePath)],
                [target.remote for target in remote if target in existing],
            )
        for path, target in zip(temporary, targets, strict=True):
            if target not in remote:
                _copy_permissions(target, path)
                path.replace(target)
    except OSError as error:
        raise DataError(f"{names}: {error.strerror or error}") from None
    finally:
        for file in files:
            with suppress(OSError):  # of a full disk, which has room again once the files are gone
                file.close()
        for path in temporary:
            path.unlink(missing_ok=True)
        _unfinished.difference_update(temporary)


def save_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8 to a file, which is replaced if it exists."""
    with open_targets([to_path(path)], force=True) as [file]:
        file.write(text.encode(errors="backslashreplace"))


def spool_folder(target: Path) -> Path | None:
    """Return the folder for temporary files of a target: its own, or None, the system's, where it is remote."""
    return None if isinstance(target, RemotePath) else target.parent


def check_target(target: Path) -> None:
    """Check that a file can be written, before the work for it begins."""
    if isinstance(target, RemotePath):
        return
    try:
        if target.exists() and not target.is_file():
            raise UsageError(f"{target}: is not a file, so it cannot be overwritten")
        folder = target.resolve().parent
        if not folder.is_dir():
            raise UsageError(f"{target}: there is no folder {folder}")
    except (OSError, ValueError) as error:  # such as a NUL in the path
        if isinstance(error, UsageError):
            raise
        raise DataError(f"{target}: {getattr(error, 'strerror', None) or error}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DataError(f"{target}: no permission to write to {folder}")


def remove_unfinished() -> None:
    """Remove the files that are not yet complete: for whoever ends the process at once."""
    while _unfinished:
        with suppress(OSError):
            _unfinished.pop().unlink(missing_ok=True)


def _part_name(target: Path) -> Path:
    """Return the name of a temporary file, which says what process of what machine writes it."""
    name = f".{target.name}.{_host()}.{os.getpid()}.part"
    if isinstance(target, RemotePath):
        import tempfile

        return Path(tempfile.gettempdir()) / f"{uuid.uuid4().hex[:8]}{name}"
    return target.with_name(name)


def _host() -> str:
    return re.sub(r"[^\w-]", "_", platform.node()) or "localhost"


def _remove_stale_parts(target: Path) -> None:
    """Remove the temporary files of a target that killed processes of this machine left."""
    for path in target.parent.glob(f".{glob.escape(target.name)}.{_host()}.*.part"):
        pid = path.name.split(".")[-2]
        if pid.isdigit() and not _is_alive(int(pid)):
            path.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    if os.name != "posix":  # elsewhere, asking would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it belongs to someone else, or is no number of a process
        return True
    return True


def _copy_permissions(target: Path, path: Path) -> None:
    """Give a file the mode, and where this is allowed the owner, of the one that it replaces."""
    if not target.exists():
        return
    status = target.stat()
    if hasattr(os, "chown"):
        with suppress(PermissionError):
            os.chown(path, status.st_uid, status.st_gid)
    path.chmod(stat.S_IMODE(status.st_mode))
