"""Find shards from glob patterns, in natural order, or from lists of files, and match the shards of inputs."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from xmceval.errors import DataError, UsageError, counted
from xmceval.files.io.addresses import split_query
from xmceval.files.io.paths import (
    RemotePath,
    beside,
    describe_missing,
    has_pair,
    identify,
    name_of,
    pair_of,
    split_ending,
    to_path,
)
from xmceval.files.io.signatures import COMPRESSED_ENDINGS, TABLE_ENDINGS
from xmceval.files.io.streams import STDIN, pipe_key, read_all_bytes, renew_pipes
from xmceval.rows.matrices.lists import is_pair
from xmceval.rows.matrices.storage import BY_NAME
from xmceval.rows.shards import Shards, parts_of

_HIDDEN = ("_", ".")
_NUMBER = re.compile(r"([0-9]+)")


def check_files(paths: Sequence[Path], may_have_shards: Container[Path] = ()) -> None:
    """Refuse paths that cannot be read, and copy pipes anew; a folder in `may_have_shards` could contain shards."""
    pipes = dict[object, Path]()
    for path in paths:
        key = pipe_key(path)
        if key is not None and key in pipes:
            what = "- is standard input, which" if STDIN in {path, pipes[key]} else f"{path}: a pipe"
            raise UsageError(f"{what} can stand for one file only")
        pipes[key] = path
    faults = [fault for path in paths if (fault := _find_fault(path, may_have_shards))]
    if faults:
        raise DataError(*dict.fromkeys(faults))
    renew_pipes(paths)


def is_present(path: Path) -> bool:
    """Return whether a file, folder or pair exists, even if opening it may show that it is invalid."""
    try:
        return path.exists() or has_pair(path)
    except DataError:  # of a store that does not answer
        raise
    except (OSError, ValueError):  # such as a NUL in the path
        return True


def _find_fault(path: Path, may_have_shards: Container[Path]) -> str:
    """Describe the problem with a path, or return an empty string."""
    if path == STDIN:
        return ""
    try:
        if not (path.exists() or has_pair(path)):
            return describe_missing(path)
    except DataError:  # a store that does not answer is not asked again for the other files
        raise
    except (OSError, ValueError) as error:  # such as a NUL in the path
        return f"{path}: {getattr(error, 'strerror', None) or error}"
    if path.is_dir() and not has_pair(path):
        hint = ""
        if path in may_have_shards:
            hint = " (hint: pass a pattern such as 'shards/*', to take its files as shards)"
        return f"{path}: is a directory; expected a file{hint}"
    is_local = not isinstance(path, RemotePath)
    if is_local and path.exists() and not os.access(path, os.R_OK):
        return f"{path}: Permission denied"
    return ""


def find_shards(value: Any, *, are_scores: bool = False) -> Any:
    """Return the path that a string means, or the shards named by a pattern, ``@LIST`` or a list.

    Anything else is returned unchanged.

    A pattern such as ``"preds-*.npz"`` stands for the matching files in natural order: 2 before 10. A folder of
    tables stands for all of them. ``@LIST`` is a file with one path per line, and a list has paths or matrices, in the
    given order. With `are_scores`, a list of labels and their scores is a pair, not two shards. The path of an
    existing file always means that file.
    """
    if isinstance(value, list):
        are_shards = value and all(map(is_matrix, value)) and not (are_scores and is_pair(value, "y_score"))
        if not are_shards:
            return value
        if all(map(_is_name, value)):
            raise DataError(f"{value[0]}: no such file{BY_NAME}")
        value = Shards(value)
    if isinstance(value, Shards):
        return _distinct(value.with_parts([to_path(part) if isinstance(part, str) else part for part in value.parts]))
    if not isinstance(value, (str, Path)):
        return value
    path = to_path(value)
    if is_present(path):
        return _find_tables(path) or path
    text = str(value)  # of a list, the address has two slashes, and a path as it is shown has one
    if text.startswith("@") and len(text) > 1:
        return _read_list(text)
    if not glob.has_magic(str(path)):
        return path
    parts = _match(path)
    if not parts:
        raise DataError(f"{path}: no file matches this pattern")
    return Shards(parts, name_of(path), is_listed=False)


def is_matrix(value: Any) -> bool:
    """Return whether a value is a path or a matrix, rather than a row of numbers, names or labels."""
    if isinstance(value, (str, Path)) or hasattr(value, "tocsr"):
        return True
    if isinstance(value, tuple) and len(value) == 2:
        return all(getattr(array, "ndim", 0) == 2 for array in value)
    return getattr(value, "ndim", 0) == 2


def _is_name(part: Any) -> bool:
    """Return whether a part of a list is perhaps the name of a label: a word that is no file."""
    return isinstance(part, str) and part == Path(part).stem and not is_present(Path(part))


def _distinct(shards: Shards) -> Shards:
    files = dict[Any, Any]()
    for part in shards.parts:
        (file,) = identify(part)
        if file in files and isinstance(file, Path):
            raise DataError(
                f"{shards.name}: {part} is listed twice" + f", also as {files[file]}" * (files[file] != part)
            )
        files[file] = part
    return shards


def _find_tables(path: Path) -> Shards | None:
    """Return the files of a folder of tables, as Spark writes them; None for another folder or a file."""
    if not path.is_dir() or has_pair(path):
        return None
    if isinstance(path, RemotePath):
        plain, query = split_query(path.address)
        pattern: Path = RemotePath(f"{plain.rstrip('/')}/*{query}")
    else:
        pattern = Path(glob.escape(str(path)), "*")
    parts = _match(pattern)
    are_tables = all(split_ending(part.name)[1].startswith(TABLE_ENDINGS) for part in parts)
    if not parts or not are_tables:
        return None
    return Shards(parts, path.name or str(path), is_listed=False)


def _match(pattern: Path) -> list[Path]:
    """Return the files that match a pattern, in natural order; the two files of a pair are one shard.

    Files whose names begin with ``_`` or ``.`` only match patterns that do so too: Spark's hold no rows.
    """
    if isinstance(pattern, RemotePath):
        paths = list(map(to_path, pattern.remote.match()))
    else:
        paths = [path for path in map(Path, glob.glob(str(pattern), recursive=True)) if not path.is_dir()]
    if not pattern.name.startswith(_HIDDEN):
        paths = [path for path in paths if not path.name.startswith(_HIDDEN)]
    by_pair = {pair_of(path): path for path in sorted(paths, key=natural_key, reverse=True)}
    return list(reversed(by_pair.values()))


def _read_list(text: str, file: Path | None = None) -> Shards:
    """Return the shards listed in a file; its name, and those in it, are relative to `file`."""
    path = beside(file, text[1:])
    lines = read_all_bytes(path).decode(errors="surrogateescape").split("\n")
    parts = [beside(file, line.strip()) for line in lines if line.strip()]
    if not parts:
        raise DataError(f"{path}: has no lines; expected one path of a shard per line")
    return _distinct(Shards(parts, path.name))


def find_beside(file: Path | None, name: str) -> Path | Shards | None:
    """Return the path, or shards, that a name in a file means, relative to the file; None if missing."""
    path = beside(file, name)
    try:
        is_file = is_present(path)
    except DataError:  # of a store that does not answer
        return path
    if is_file:
        return _find_tables(path) or path
    if name.startswith("@") and len(name) > 1:
        if not is_present(beside(file, name[1:])):
            return None
        return _read_list(name, file)
    if not glob.has_magic(name):
        return None
    pattern = path
    is_below = file is not None and not (isinstance(path, RemotePath) or isinstance(file, RemotePath))
    if is_below and not to_path(name).is_absolute():
        pattern = beside(to_path(glob.escape(str(file))), name)
    try:
        parts = _match(pattern)
    except DataError:  # of a store that does not answer
        return path
    if not parts:
        return None
    return Shards(parts, name_of(path), is_listed=False)


def natural_key(path: str | Path) -> tuple[object, ...]:
    """Return a sort key that orders numbers in names by value: 2 before 10."""
    words = _NUMBER.split(str(path))
    return (*((word, int(number)) for word, number in zip(words[::2], [*words[1::2], "-1"], strict=True)), str(path))


def check_pairing(truth: Any, scores: Any) -> None:
    """Refuse shards of truth and predictions that do not match, as far as their number and names show.

    Names must have the same numbers, or numbers that differ by a constant, as if one counts from 1; without
    numbers their other parts must be equal. A single file for all shards of the other is allowed.
    """
    if len(parts_of(truth)) == 1 or len(parts_of(scores)) == 1:
        return
    ours: Sequence[Any] = ()
    theirs: Sequence[Any] = ()
    if all(isinstance(part, (str, Path)) for part in (*truth.parts, *scores.parts)):
        ours = _find_keys(truth.parts)
        theirs = _find_keys(scores.parts)
    if len(truth) != len(scores):
        missing = ""  # the first shard without a partner, if names show it
        for keys, shards, others, partners in ((ours, truth, theirs, scores), (theirs, scores, ours, truth)):
            alone = [part for key, part in zip(keys, shards.parts, strict=False) if key not in others]
            if not missing and alone and len(alone) < len(shards):
                missing = f" ({alone[0]} has no partner in {partners.name})"
        raise DataError(
            f"{truth.name}: {counted(len(truth), 'shard')}, {scores.name}: {counted(len(scores), 'shard')}"
            f"{missing}; expected a shard of predictions for each of the truth, or one file"
        )
    steps = set[tuple[int, ...]]()  # differences between the numbers, if all names have equally many
    if all(isinstance(key, tuple) and len(key) == len(ours[0]) for key in (*ours, *theirs)):
        steps = {tuple(a - b for a, b in zip(*keys, strict=True)) for keys in zip(ours, theirs, strict=True)}
    if ours == theirs or len(steps) == 1:
        return
    if truth.is_listed and scores.is_listed and sorted(map(str, ours)) != sorted(map(str, theirs)):
        return
    wrong = next(i for i, (first, second) in enumerate(zip(ours, theirs, strict=True)) if first != second)
    raise DataError(
        f"{truth.parts[wrong]} would be scored with {scores.parts[wrong]}, shard {wrong + 1} of each: are they of the "
        "same rows? (hint: list the shards in the order of their rows, one path per line, and pass @LIST)"
    )


def _find_keys(parts: Sequence[Any]) -> list[tuple[int, ...]] | list[str]:
    """Return the parts that distinguish the names of shards: the numbers that differ, or else other parts."""
    names = [str(to_path(part)) for part in parts]
    for ending in COMPRESSED_ENDINGS:
        names = [name.removesuffix(ending) for name in names]
    numbers = [tuple(int(word) for word in _NUMBER.split(name)[1::2]) for name in names]
    if len(set(map(len, numbers))) == 1:
        varying = [i for i, column in enumerate(zip(*numbers, strict=True)) if len(set(column)) > 1]
        keys = [tuple(of_name[i] for i in varying) for of_name in numbers]
        if len(set(keys)) == len(parts):
            return keys
    stems = [str(to_path(name).parent / to_path(name).name.partition(".")[0]) for name in names]
    start = len(os.path.commonprefix(stems))  # noqa: RUF071 - letters are meant
    stop = len(os.path.commonprefix([stem[start:][::-1] for stem in stems]))  # noqa: RUF071
    return [stem[start : len(stem) - stop] for stem in stems]
