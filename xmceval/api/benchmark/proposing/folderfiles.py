"""Files of a folder: what each seems to be, by its name and its first rows, and which are left out and why."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from xmceval.api.benchmark.plan import FILE_NAME
from xmceval.api.benchmark.proposing.nameparts import (
    ARCHIVES,
    FEATURES,
    SCORES,
    TRUTH,
    alias_pattern,
    describe_part,
    find_dataset_names,
    stem_of_pair,
    words_of,
)
from xmceval.errors import DataError, counted
from xmceval.files.io.shardfiles import natural_key
from xmceval.files.io.signatures import DATA_ENDINGS, SCORES_ENDING, split_ending
from xmceval.files.sidecars.labelnames import read_names
from xmceval.inspection.peek import Peek, needs_names, peek

MOST_FILES = 100_000  # whose names are looked at

MOST_OPENED = 2_000

LABEL_FILES, SCORE_FILES = "truth", "scores"  # kinds of files; others are called as the option that takes them

_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages"})

_OPTION_WORDS = (  # an option, and the words of which all are in the names of its files
    ("filter", frozenset({"filter"})),
    ("inverse_propensities", frozenset({"inv", "prop"})),
    ("inverse_propensities", frozenset({"inverse", "propensities"})),
    ("labels", frozenset({"lbl"})),
    ("labels", frozenset({"label", "names"})),
    ("labels", frozenset({"label", "map"})),
    ("labels", frozenset({"output", "items"})),
)

_NO_LABELS, _ARCHIVE, _FEATURES, _SPLIT = "no labels", "an archive", "features", "a split into parts"
_NUMERIC_ENDINGS = (".npz", ".npy", ".mat", ".mtx", ".parquet", ".run", ".trec", ".qrels")


@dataclass(frozen=True)
class FoundFile:
    """A file, or a pair of npy files.

    Attributes
    ----------
    name : str
        Its path in the folder, with slashes; of a pair without the ending.
    kind : str
        LABEL_FILES, SCORE_FILES, or an option of scoring that takes such files.
    part : str
        ``train``, ``test``, ``valid`` or nothing, as its name says.
    peek : Peek
        What its first rows show; of the files of options nothing.
    names_file : str
        The file with the names of its labels.
    """

    name: str
    kind: str
    part: str
    peek: Peek = field(default=Peek("", "", None), repr=False)
    names_file: str = ""

    @property
    def folder(self) -> str:
        """The folder that it is in."""
        return str(PurePosixPath(self.name).parent)


@dataclass
class FolderFiles:
    """The files of a folder.

    Attributes
    ----------
    n_files : int
        How many were looked at.
    found : list of FoundFile
    left_out : dict of str to str
        Why others were left out, by name.
    """

    n_files: int = 0
    found: list[FoundFile] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    def of_kind(self, kind: str) -> list[FoundFile]:
        """Return the files of a kind."""
        return [file for file in self.found if file.kind == kind]

    def leave_out(self, file: FoundFile, why: str) -> None:
        """Leave a file out after all."""
        self.found.remove(file)
        self.left_out[file.name] = why


def look_at_folder(folder: Path) -> FolderFiles:
    """Look at all files of a folder and the folders in it, but for hidden ones."""
    files, unnamed = FolderFiles(), list[str]()
    names = list(_list_names(folder, files))
    stems = Counter(stem for name in names if (stem := stem_of_pair(name)))
    n_opened = 0
    for name in names:
        why, stem = _reject_name(name), stem_of_pair(name)
        stem = stem if stems[stem] == 2 else ""
        if stem and name.endswith(SCORES_ENDING):  # opened with the labels
            continue
        if not why and n_opened == MOST_OPENED:
            why = f"only {MOST_OPENED:,} files are opened"
        if why:
            files.left_out[name] = why
            continue
        n_opened += 1
        _look_at_file(folder, stem or name, files, unnamed)
    for name in unnamed:
        _look_at_names(folder, name, files)
    files.found.sort(key=lambda file: natural_key(file.name))
    return files


def _list_names(folder: Path, files: FolderFiles) -> Iterator[str]:
    """Yield the paths of all files, in natural order; links to folders are followed, once each."""
    seen = set[str]()

    def note(error: OSError) -> None:
        files.left_out[_relative(error.filename, folder)] = error.strerror or str(error)

    for parent, folders, names in os.walk(folder, onerror=note, followlinks=True):
        is_new = os.path.realpath(parent) not in seen
        seen.add(os.path.realpath(parent))
        kept = [each for each in folders if is_new and each not in _SKIPPED_FOLDERS and not each.startswith(".")]
        folders[:] = sorted(kept, key=natural_key)
        for name in sorted(names if is_new else [], key=natural_key):
            if name.startswith(".") or name == FILE_NAME:
                continue
            if files.n_files == MOST_FILES:
                files.left_out["others"] = f"only {counted(MOST_FILES, 'file')} are looked at"
                return
            files.n_files += 1
            path = os.path.join(parent, name)
            if os.path.isfile(path):
                yield _relative(path, folder)
            else:
                files.left_out[_relative(path, folder)] = "not a regular file"


def _relative(name: str, folder: Path) -> str:
    return os.path.relpath(name, folder).replace(os.sep, "/")


def _reject_name(name: str) -> str:
    """Return why a file is left out because of its name; empty if it is not."""
    if not name.isprintable():
        return "its name has characters that are no text"
    stem, ending = split_ending(PurePosixPath(name).name)
    suffixes = PurePosixPath(name).suffixes[-2:]
    if not ARCHIVES.isdisjoint(suffixes):
        return _ARCHIVE
    if PurePosixPath(stem).suffix and not ending.startswith(".") and _is_ending(PurePosixPath(stem).suffix):
        return _NO_LABELS
    words = words_of(stem)
    if words & FEATURES or ("x" in words and "y" not in words and describe_part(name)):
        return _FEATURES
    if words & {"split", "splits", "trsplit", "tstsplit"}:
        return _SPLIT
    return ""


def _is_ending(suffix: str) -> bool:
    """Return whether what follows a dot says how a file is stored, and is no part of its name such as ``.5``."""
    return suffix.lower() not in DATA_ENDINGS and suffix[1:].isalpha()


def _look_at_file(folder: Path, name: str, files: FolderFiles, unnamed: list[str]) -> None:
    """Find out what a file is; `unnamed` gets those that have names of labels."""
    stem, ending = split_ending(PurePosixPath(name).name)
    words, part = words_of(stem), describe_part(name)
    option = next((option for option, needed in _OPTION_WORDS if needed <= words), "")
    if option and not ending.startswith(".npz") and not (option == "filter" and words & SCORES):
        files.found.append(FoundFile(name, option, part))
        return
    try:
        found = peek(folder / name)
    except DataError as error:
        if stem == "labels":
            files.found.append(FoundFile(name, "labels", part))
        elif needs_names(error):
            unnamed.append(name)
        else:
            files.left_out[name] = _explain(error, folder / name)
        return
    are_names = stem == "labels" and found.are_lists and found.longest == 1
    files.found.append(FoundFile(name, "labels" if are_names else _decide_kind(name, found), part, found))


def _look_at_names(folder: Path, name: str, files: FolderFiles) -> None:
    """Find out what a file with names of labels is, with the file of names that it fits."""
    if split_ending(name)[1] and not _read_kind(name):  # any text
        files.left_out[name] = _NO_LABELS
        return
    for file in sorted(files.of_kind("labels"), key=lambda file: _distance(file, name)):
        try:
            found = peek(folder / name, read_names(folder / file.name))
        except DataError:
            continue
        names_file = file.name if found.has_names else ""
        files.found.append(FoundFile(name, _decide_kind(name, found), describe_part(name), found, names_file))
        return
    files.left_out[name] = "words; no file lists them as names of labels"


def _distance(file: FoundFile, name: str) -> tuple[bool, bool, int]:
    """Return how unlikely it is that a file of names is meant for a path: it may be above it, or its folder named."""
    is_above = PurePosixPath(name).is_relative_to(file.folder)
    own = find_dataset_names(file.name)[0]
    is_named = bool(own) and alias_pattern({own}).search(name) is not None
    return not is_named, not is_above, -len(file.folder)


def _explain(error: DataError, path: Path) -> str:
    """Return why a file cannot be read; of files that are hardly matrices only that they have no labels."""
    if not split_ending(path.name)[1].startswith(_NUMERIC_ENDINGS) and not path.name.endswith(_NUMERIC_ENDINGS):
        return _NO_LABELS
    return str(error).split("\n")[0].removeprefix(f"{path}: ").partition("; expected")[0].partition(" (hint")[0]


def _decide_kind(name: str, found: Peek) -> str:
    """Return what a file is: its values decide, and its name where they leave it open."""
    if not found.can_be_scores:
        return LABEL_FILES
    if found.kind == SCORE_FILES and not found.are_lists:
        return SCORE_FILES
    says = _read_kind(name)
    return says or found.kind


def _read_kind(name: str) -> str:
    """Return the kind of a file as its name says, or those of its folders; empty if neither does."""
    for component in reversed(PurePosixPath(split_ending(name)[0]).parts):
        words = words_of(component)
        if words & TRUTH:
            return LABEL_FILES
        if words & SCORES:
            return SCORE_FILES
        if describe_part(component):
            return LABEL_FILES
    return ""
