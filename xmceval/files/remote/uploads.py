"""Uploads: finished files are sent to their store, where they appear under their names only when they are complete."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from xmceval.errors import DataError
from xmceval.files.remote.storecalls import start
from xmceval.files.remote.storefaults import explain
from xmceval.files.remote.stores import Remote

# Stores in which a file appears only when its upload has ended well. In others it is renamed then.
_ATOMIC = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "hf", "oss", "oci", "r2", "http", "https"})


def upload(local: Path, target: Remote) -> None:
    """Send a finished file to its store; where that fails, nothing is left there."""
    system, name = target.system, target.name
    is_atomic = target.path.protocol in _ATOMIC
    sent = name if is_atomic else f"{name}.{uuid.uuid4().hex[:8]}.part"
    size = local.stat().st_size
    try:
        target.attempt(partial(_send, target, local, sent, size), "written", _wait)
        if not is_atomic:
            try:
                _wait(partial(_rename, system, sent, name))
            except Exception as error:  # packages of stores raise nearly anything
                raise explain(target.path, error, "written") from None
        _check_size(target, size)
    except BaseException:
        if not is_atomic:
            with suppress(Exception):
                system.rm_file(sent)
        raise


def remove(target: Remote) -> None:
    """Remove a file that belongs to others that could not be written."""
    with suppress(Exception):
        _wait(partial(target.system.rm_file, target.name))


def _send(target: Remote, local: Path, name: str, size: int) -> None:
    """Send a file; to the web by PUT, which names the file that it makes."""
    system = target.system
    if target.is_web:
        headers = dict(system.kwargs.get("headers", {})) | {"Content-Length": str(size)}
        system.put_file(os.fspath(local), name, method="put", headers=headers)
        return
    system.put_file(os.fspath(local), name)


def _rename(system: Any, old: str, new: str) -> None:
    """Rename a file; some stores refuse to replace another one."""
    try:
        system.mv(old, new)
    except (FileExistsError, OSError):
        if not system.exists(new):
            raise
        system.rm_file(new)
        system.mv(old, new)


def _check_size(target: Remote, size: int) -> None:
    """Check that a store has the whole file, as far as it tells."""
    found = None
    with suppress(Exception):
        target.system.invalidate_cache(target.name)
        found = _wait(partial(target.system.info, target.name)).get("size")
    if found is not None and int(found) != size:
        raise DataError(f"{target.path}: {size:,} bytes were written, but the store has {int(found):,}")


def _wait(work: Any) -> Any:
    """Do something in a thread, however long it takes: Ctrl-C still ends the process."""
    return start(work).result()
