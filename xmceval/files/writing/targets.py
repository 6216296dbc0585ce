"""Targets: the files that are written, which appear under their names only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from xmceval.errors import DataError, UsageError, listed

_unfinished: set[Path] = set()


@contextmanager
def open_targets(targets: Sequence[Path], *, force: bool) -> Iterator[list[BinaryIO]]:
    """Open temporary files beside the targets, which replace them at the end, or are removed after an error.

    Raises
    ------
    UsageError
        A target that exists, without `force`, or that is not a file.
    DataError
        A target that cannot be written.
    """
    existing = [target for target in targets if target.exists()]
    for target in existing:
        if not target.is_file():
            raise UsageError(f"{target}: is not a file, so it cannot be overwritten (hint: standard output is -)")
    if existing and not force:
        exist = "exists" if len(existing) == 1 else "exist"
        raise UsageError(f"{listed(existing)}: already {exist} (hint: pass --force to overwrite)")
    targets = [target.resolve() for target in targets]  # the target of a link is overwritten, not the link
    temporary = [target.with_name(f".{target.name}.{os.getpid()}.part") for target in targets]
    files: list[BinaryIO] = []
    _unfinished.update(temporary)
    try:
        files.extend(path.open("w+b") for path in temporary)
        yield files
        for file in files:
            file.close()
        for path, target in zip(temporary, targets, strict=True):
            path.replace(target)
    except OSError as error:
        raise DataError(f"{targets[0]}: {error.strerror or error}") from None
    finally:
        for file in files:
            file.close()
        for path in temporary:
            path.unlink(missing_ok=True)
        _unfinished.difference_update(temporary)


def remove_unfinished() -> None:
    """Remove the files that are not yet complete: for whoever ends the process at once."""
    while _unfinished:
        _unfinished.pop().unlink(missing_ok=True)
