"""Propose a benchmark file for a folder, based on the names and sizes of its files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from xmceval.benchmarks.config import PLACEHOLDER, quote, quote_key
from xmceval.errors import DataError, XmcevalError, counted, escaped, listed
from xmceval.files.arrays.pairs import pair_of
from xmceval.files.io.paths import split_ending
from xmceval.files.open import open_source
from xmceval.files.opened import Request, Role

ROLES = {"truth": frozenset({"tst", "test"}), "train": frozenset({"trn", "train"})}  # words in the names of files

HEAD = """\
# A benchmark of {what}, proposed by the names and sizes of files: check it.
# The guide xmceval/guide/benchmark.md explains all keys; paths are relative to this file.
# Options go above the first table, such as: against = "{system}"
"""


@dataclass(frozen=True, eq=False)
class Folder:
    """A folder that is a data set; its files are named relative to it."""

    path: PurePosixPath  # relative to the proposed file
    name: str
    inputs: Mapping[str, str]  # truth, and train where there are training labels
    systems: Mapping[str, str]  # by name the file, or the stem of a pair of npy files
    others: Sequence[str]  # files that were not understood


def propose(home: Path) -> tuple[str, list[str]]:
    """Propose the TOML file of a benchmark, and return it with a line for each thing left out.

    A folder is a data set: `home` itself and those in it. A file with tst or test in its name is its truth, one with
    trn or train has its training labels; of several, the one with a Y in its name, as in tst_X_Y.txt and Y.tst.npz.
    Any other file that can be read as scores with as many rows as the truth is a system; files of the same name in
    several folders are one system. Where there are several data sets, systems that occur once are left out.
    """
    paths = [home, *sorted(path for path in home.iterdir() if path.is_dir() and not path.name.startswith("."))]
    folders = [folder for path in paths if (folder := _read_folder(path, home)) is not None]
    if not folders:
        hint = "(hint: its name has the word tst or test, such as tst_X_Y.txt)"
        raise DataError(f"{home}: there is no file of true labels in it or its folders {hint}")
    numbers = Counter(name for folder in folders for name in folder.systems)
    systems = [name for name, number in numbers.items() if number >= min(2, len(folders))]
    if not systems:
        where = "with the truth's number of rows" if len(folders) == 1 else "in two folders under the same name"
        raise DataError(f"{home}: no system was found {where}; systems are {listed(numbers) or 'missing'}")
    kept = [folder for folder in folders if not folder.systems.keys().isdisjoint(systems)]
    left_out = []
    for folder in folders:
        alone = listed(name for name in folder.systems if name not in systems)
        if alone or folder not in kept:
            left_out.append(escaped(f"{folder.name}: systems that no other folder has: {alone or 'none'}"))
        if folder.others:
            left_out.append(escaped(f"{folder.name}: files that were not understood: {listed(folder.others)}"))
    what = f"{counted(len(systems), 'system')} on {counted(len(kept), 'data set')}"
    text = [HEAD.format(what=what, system=systems[0])]
    text += [_write_dataset(folder) for folder in kept]
    text += ["\n[systems]\n", *(_write_system(name, kept) for name in systems)]
    text += ["\n# Left out:\n", *(f"#   {line}\n" for line in left_out)] if left_out else []
    return "".join(text), left_out


def _read_folder(path: Path, home: Path) -> Folder | None:
    """Read a folder; None where it has no truth."""
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    names = [file.name for file in files if file.name.isprintable()]
    inputs = {key: name for key, words in ROLES.items() if (name := _choose(names, words))}
    n_rows = _count_rows(path / inputs["truth"], "truth") if "truth" in inputs else None
    if n_rows is None:
        return None
    systems: dict[str, str] = {}
    others: list[str] = []
    for file in files:
        name = pair_of(file).removeprefix(f"{path}/")  # of the two files of a pair their stem
        system = split_ending(name)[0]
        if name in inputs.values() or systems.get(system) == name:
            continue
        has_role = any(_words(name) & words for words in ROLES.values())
        if has_role or system in systems or not name.isprintable() or _count_rows(file, "scores") != n_rows:
            others.append(file.name)
        else:
            systems[system] = name
    return Folder(PurePosixPath("." if path == home else path.name), path.resolve().name, inputs, systems, others)


def _choose(names: Sequence[str], role: frozenset[str]) -> str:
    """Return the file with a word of a role in its name, of several the only one with a Y; empty without one."""
    fitting = [name for name in names if _words(name) & role and "filter" not in _words(name)]
    with_y = [name for name in fitting if "y" in _words(name)]
    return fitting[0] if len(fitting) == 1 else with_y[0] if len(with_y) == 1 else ""


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", split_ending(name)[0].lower()))


def _count_rows(path: Path, role: Role) -> int | None:
    """Return the number of rows of a file of scores, or of true labels; None where it is no such file."""
    try:
        source = open_source(path, Request(role)).source
        return sum(block.n_rows for block in source.blocks()) if source.n_rows is None else source.n_rows
    except (XmcevalError, OSError):
        return None


def _write_dataset(folder: Folder) -> str:
    lines = [f"{key} = {quote(str(folder.path / file))}\n" for key, file in folder.inputs.items()]
    if str(folder.path) != folder.name:
        lines.insert(0, f"folder = {quote(str(folder.path))}  # what {PLACEHOLDER} stands for below\n")
    if "train" not in folder.inputs:
        lines.append('# train = "FILE"  # without training labels there are no PSP and PSnDCG\n')
    return f"\n[datasets.{quote_key(folder.name)}]\n{''.join(lines)}"


def _write_system(name: str, folders: Sequence[Folder]) -> str:
    """Write a system in one line: with a path for all data sets, or where files differ one for each."""
    files = {folder: folder.systems[name] for folder in folders if name in folder.systems}
    if len(set(files.values())) == 1:
        value = quote(f"{PLACEHOLDER}/{min(files.values())}")
    else:
        paths = (f"{quote_key(folder.name)} = {quote(str(folder.path / file))}" for folder, file in files.items())
        value = f"{{ paths = {{ {', '.join(paths)} }} }}"
    return f"{quote_key(name)} = {value}\n"
