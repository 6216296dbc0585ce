"""Writers: a source of rows as a file of another form, streamed; what is read back is the same bit for bit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from xmceval.errors import DataError, UsageError
from xmceval.files.writing.forms import LABELS, SCORES, Form


def _targets(path: Path, kind: Form) -> list[Path]:
    if kind.name != "npy":
        return [path]
    stem = str(path).removesuffix(LABELS).removesuffix(SCORES)
    return [Path(stem + LABELS), Path(stem + SCORES)]


@contextmanager
def _beside(targets: list[Path], *, force: bool) -> Iterator[list[BinaryIO]]:
    """Open files beside the targets, which take their names if all goes well, and go away if not."""
    there = [each for each in targets if each.exists()]
    for each in there:
        if not each.is_file():
            raise UsageError(f"{each}: is no file that could be overwritten (standard output is -)")
    if there and not force:
        raise UsageError(f"{' and '.join(map(str, there))}: is there already (hint: --force)")
    targets = [each.resolve() for each in targets]  # what a link points to is overwritten, not the link
    names = [each.with_name(f".{each.name}.{os.getpid()}.part") for each in targets]
    files: list[BinaryIO] = []
    try:
        files.extend(name.open("w+b") for name in names)
        yield files
        for file in files:
            file.close()
        for name, target in zip(names, targets, strict=True):
            name.replace(target)
    except OSError as error:
        raise DataError(f"{targets[0]}: {error.strerror or error}") from None
    finally:
        for file in files:
            file.close()
        for name in names:
            name.unlink(missing_ok=True)
