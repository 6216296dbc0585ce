"""Presence: whether the files of a command can be read, checked before the first of them is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from xmceval.errors import DataError, UsageError
from xmceval.files.arrays.pairs import describe_missing, has_pair
from xmceval.files.paths import RemotePath, to_path
from xmceval.files.pipes import STDIN


def check_files(inputs: Iterable[Any]) -> None:
    """Check that the paths in `inputs` are files that can be read; anything else is skipped.

    Raises
    ------
    DataError
        Paths that are missing, directories or not readable: all of them, one per line.
    UsageError
        Standard input, ``-``, more than once.
    """
    paths = [to_path(each) for each in inputs if isinstance(each, (str, Path))]
    if paths.count(STDIN) > 1:
        raise UsageError("standard input, -, can be only one of the files")
    faults = dict.fromkeys(fault for path in paths for fault in _find_faults(path))
    if faults:
        raise DataError("\n".join(faults))


def _find_faults(path: Path) -> Iterator[str]:
    """Yield what is wrong with a path."""
    if path == STDIN:
        return
    try:
        is_missing = not (path.exists() or has_pair(path))
    except DataError as error:  # of a store that does not answer
        yield str(error)
        return
    except (OSError, ValueError) as error:  # such as a NUL in the path
        yield f"{path}: {getattr(error, 'strerror', None) or error}"
        return
    if is_missing:
        yield describe_missing(path)
    elif path.is_dir() and not has_pair(path):
        yield f"{path}: is a directory; expected a file"
    elif not isinstance(path, RemotePath) and path.exists() and not os.access(path, os.R_OK):
        yield f"{path}: Permission denied"
