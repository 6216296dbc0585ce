"""Propose the file of a benchmark for a folder, by the names and sizes of the files in it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from xmceval.benchmarks.config import PLACEHOLDER
from xmceval.errors import DataError, XmcevalError, counted, escaped, listed
from xmceval.files.arrays.npypairs import pair_of
from xmceval.files.io.signatures import split_ending
from xmceval.files.opening import open_scores, open_truth
from xmceval.rows.block import Source

TEST, TRAIN = frozenset({"tst", "test"}), frozenset({"trn", "train"})

HEAD = """\
# A benchmark of {what}, proposed by the names and sizes of files: check it.
# The guide xmceval/guide/benchmark.md explains all keys; paths are relative to this file.

# metrics = "P,nDCG,PSP,PSnDCG"
# k = "1,3,5"
# against = "{system}"  # compare with this system only
"""

PUBLISHED = """
# Values of a paper, in percent, are shown beside these, and not tested:
# [systems."A method"]
# source = "its authors, 2024"
# published.{dataset} = {{ "P@1" = 60.5, "P@5" = 28.1 }}
"""


@dataclass(frozen=True)
class Folder:
    """A folder that is a data set; its files are named relative to it."""

    path: str  # relative to the proposed file
    name: str
    truth: str
    train: str  # empty where there are no training labels
    systems: Mapping[str, str]  # by name the file, or the stem of a pair of npy files
    others: tuple[str, ...]  # files that were not understood


def propose(home: Path) -> tuple[str, list[str]]:
    """Propose the TOML file of a benchmark, and return it with the lines of what was left out.

    A folder is a data set: `home` itself and those in it. A file with tst or test in its name is its truth, one with
    trn or train has its training labels; of several, the one with a Y in its name, as in tst_X_Y.txt and Y.tst.npz.
    What else can be read as scores and has the truth's number of rows is a system, and files of the same name in
    several folders are one system. Where there are several data sets, systems that occur once are left out.
    """
    paths = [home, *sorted(path for path in home.iterdir() if path.is_dir() and not path.name.startswith("."))]
    folders = [folder for path in paths if (folder := _read_folder(path, home)) is not None]
    if not folders:
        hint = "(hint: its name has the word tst or test, such as tst_X_Y.txt)"
        raise DataError(f"{home}: there is no file of true labels in it or its folders {hint}")
    numbers = Counter(name for folder in folders for name in folder.systems)
    least = min(2, len(folders))
    kept = []
    for folder in folders:
        shared = {name: file for name, file in folder.systems.items() if numbers[name] >= least}
        kept += [replace(folder, systems=shared)] if shared else []
    if not kept:
        where = "in two folders under the same name" if least == 2 else "with the truth's number of rows"
        raise DataError(f"{home}: no system was found {where}; systems are {listed(numbers) or 'missing'}")
    names = [folder.name for folder in kept]
    left_out = list(_list_left_out(folders, names, [name for name, n in numbers.items() if n < least]))
    systems = dict.fromkeys(name for folder in kept for name in folder.systems)
    what = f"{counted(len(systems), 'system')} on {counted(len(kept), 'data set')}"
    parts = [
        HEAD.format(what=what, system=next(iter(systems))),
        *map(_write_dataset, kept),
        "\n[systems]\n",
        *(_write_system(name, kept) for name in systems),
        PUBLISHED.format(dataset=_quote_key(kept[0].name)),
        *(["\n# Left out:\n", *(f"#   {line}\n" for line in left_out)] if left_out else []),
    ]
    return "".join(parts), left_out


def _read_folder(path: Path, home: Path) -> Folder | None:
    """Read a folder; None where it has no truth."""
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    names = [file.name for file in files if file.name.isprintable()]
    truth, train = _choose(names, TEST), _choose(names, TRAIN)
    n_rows = _count_rows(path / truth, are_scores=False) if truth else None
    if n_rows is None:
        return None
    systems: dict[str, str] = {}
    others: list[str] = []
    for file in files:
        name = pair_of(file).removeprefix(f"{path}/")  # of the two files of a pair their stem
        system = split_ending(name)[0]
        has_role = bool(_words(name) & (TEST | TRAIN)) or not name.isprintable()
        if name in {truth, train} or systems.get(system) == name:
            continue
        if has_role or system in systems or _count_rows(file, are_scores=True) != n_rows:
            others.append(file.name)
        else:
            systems[system] = name
    place = "." if path == home else path.name
    return Folder(place, path.resolve().name, truth, train, systems, tuple(others))


def _choose(names: Sequence[str], role: frozenset[str]) -> str:
    """Return the file with a word of a role in its name, of several the only one with a Y; empty without one."""
    fitting = [name for name in names if _words(name) & role and "filter" not in _words(name)]
    with_y = [name for name in fitting if "y" in _words(name)]
    return fitting[0] if len(fitting) == 1 else with_y[0] if len(with_y) == 1 else ""


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", split_ending(name)[0].lower()))


def _count_rows(path: Path, *, are_scores: bool) -> int | None:
    """Return the number of rows of a file of scores, or of true labels; None where it is no such file."""
    try:
        source: Source = (open_scores if are_scores else open_truth)(path).source
        return sum(block.n_rows for block in source.blocks()) if source.n_rows is None else source.n_rows
    except (XmcevalError, OSError):
        return None


def _list_left_out(folders: Sequence[Folder], kept: Sequence[str], systems: Sequence[str]) -> Iterator[str]:
    """Yield what was left out: data sets and systems that share nothing with another folder, and unknown files."""
    for folder in folders:
        alone = listed(name for name in folder.systems if name in systems)
        if folder.name not in kept:
            yield escaped(f"{folder.name}: no system of another folder (it has {alone or 'none'})")
            continue
        if alone:
            yield escaped(f"{folder.name}: systems that no other folder has: {alone}")
        if folder.others:
            yield escaped(f"{folder.name}: files that were not understood: {listed(folder.others)}")


def _write_dataset(folder: Folder) -> str:
    files = {"truth": folder.truth, **({"train": folder.train} if folder.train else {})}
    lines = [f"{name} = {_quote(_join(folder, file))}" for name, file in files.items()]
    if not folder.train:
        lines.append('# train = "FILE"  # without training labels there are no PSP and PSnDCG')
    if folder.path != folder.name:
        lines.insert(0, f"folder = {_quote(folder.path)}  # what {PLACEHOLDER} stands for below")
    return "\n".join(["", f"[datasets.{_quote_key(folder.name)}]", *lines, ""])


def _write_system(name: str, folders: Sequence[Folder]) -> str:
    """Write a system in one line: with a path for all data sets, or where files differ one for each."""
    having = [folder for folder in folders if name in folder.systems]
    files = {folder.systems[name] for folder in having}
    if len(files) == 1:
        return f"{_quote_key(name)} = {_quote(f'{PLACEHOLDER}/{files.pop()}')}\n"
    paths = (f"{_quote_key(folder.name)} = {_quote(_join(folder, folder.systems[name]))}" for folder in having)
    return f"{_quote_key(name)} = {{ paths = {{ {', '.join(paths)} }} }}\n"


def _join(folder: Folder, file: str) -> str:
    return file if folder.path == "." else f"{folder.path}/{file}"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _quote_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quote(key)
