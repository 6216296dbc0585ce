"""Presence: whether the files of a command can be read, checked before the first of them is."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

from xmceval.errors import DataError, UsageError, names_flags
from xmceval.files.arrays.npypairs import describe_missing, has_pair
from xmceval.files.io.paths import RemotePath, to_path
from xmceval.files.io.pipes import STDIN, pipe_key
from xmceval.rows.plain import BY_NAME


def check_files(inputs: Iterable[Any], may_have_shards: Container[Path] = ()) -> None:
    """Check that the paths in `inputs` are files that can be read; anything else is skipped.

    Parameters
    ----------
    inputs : iterable
    may_have_shards : container of Path
        Those of which a directory could be the shards, for the message.
    """
    paths = [to_path(each) for each in inputs if isinstance(each, (str, Path))]
    if not paths:
        return
    pipes = dict[object, Path]()
    for path in paths:
        key = pipe_key(path)
        if key is not None and key in pipes:
            what = "- is standard input, which" if STDIN in {path, pipes[key]} else f"{path}: a pipe"
            raise UsageError(f"{what} can stand for one file only")
        pipes[key] = path
    option = "--shard-dirs, or " if names_flags() else ""
    hint = f" (hint: pass {option}a pattern such as 'shards/*', to take its files as shards)"
    hints = {path: hint if path in may_have_shards else "" for path in paths}
    faults = dict.fromkeys(fault for path, hint in hints.items() for fault in _find_faults(path, hint))
    if faults:
        raise DataError(*faults)


def is_present(path: Path) -> bool:
    """Return whether there is such a file, folder or pair; also where only opening it tells what is wrong with it."""
    try:
        return path.exists() or has_pair(path)
    except DataError:  # of a store that does not answer
        raise
    except (OSError, ValueError):  # such as a NUL in the path
        return True


def _find_faults(path: Path, hint: str) -> Iterator[str]:
    """Yield what is wrong with a path."""
    if path == STDIN:
        return
    try:
        is_missing = not (path.exists() or has_pair(path))
    except DataError:  # of a store that does not answer, which is not asked for the other files too
        raise
    except (OSError, ValueError) as error:  # such as a NUL in the path
        yield f"{path}: {getattr(error, 'strerror', None) or error}"
        return
    if is_missing:
        is_in_list = not hint and not names_flags() and str(path) == path.stem  # perhaps of names, not of shards
        yield describe_missing(path) + (BY_NAME if is_in_list else "")
    elif path.is_dir() and not has_pair(path):
        yield f"{path}: is a directory; expected a file{hint}"
    elif not isinstance(path, RemotePath) and path.exists() and not os.access(path, os.R_OK):
        yield f"{path}: Permission denied"
