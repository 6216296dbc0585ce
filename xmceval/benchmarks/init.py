"""Propose a benchmark file for a folder, based on the names and sizes of its files."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from xmceval.benchmarks import FILE_NAME
from xmceval.benchmarks.config import PLACEHOLDER, quote, quote_key
from xmceval.errors import DataError, XmcevalError, counted, escaped, listed
from xmceval.files.io.paths import pair_of, split_ending
from xmceval.files.open import open_source
from xmceval.files.opened import Opened, Request
from xmceval.files.ranking.queries import Judgments

ROLES = {"truth": frozenset({"tst", "test"}), "train": frozenset({"trn", "train"})}  # words in file names
SEPARATORS = re.compile(r"[_-]")  # between words in file names
# The last number, if it is a word of its own or follows seed or run: unlike those of bonsai-v2 and xlnet-670k
NUMBER = re.compile(r"(?:(?<=seed)|(?<=run)|(?<![^\W_]))\d+(?![^\W_])(?=\D*$)", re.IGNORECASE)
OF_RUN = re.compile(r"[-_. ]?(seed|run)?[-_. ]?#", re.IGNORECASE)  # what tells runs apart, with # for their number
IGNORED = frozenset({FILE_NAME, "corpus.jsonl", "queries.jsonl"})  # those of BEIR are texts
DEEPEST = 4  # levels of folders to search

HEAD = """\
# A benchmark of {what}, proposed by the names and sizes of files: check it.
# Paths are relative to this file. Options go above the first table, such as: against = "{system}"
"""


@dataclass(frozen=True, eq=False)
class DataSet:
    """A folder with true labels; paths are relative to the proposed file."""

    folder: PurePosixPath
    name: str
    inputs: Mapping[str, PurePosixPath]  # truth, and train where there are training labels
    n_rows: int
    judgments: Judgments | None = None  # of queries, which tell how to read runs


def propose(home: Path) -> tuple[str, list[str]]:
    """Propose the TOML file of a benchmark, and return it with a line for each thing left out or in doubt.

    Each folder with true labels, at any depth, is a data set. A file with tst or test in its name is its truth,
    one with trn or train has its training labels; of several, the one with a Y in its name, as in tst_X_Y.txt
    and Y.tst.npz. A score file with the truth's number of rows belongs to the data set that its path names, as
    in runs/MODEL/SET.npz, or whose folder contains it. Files whose paths differ only in the data set are one
    system, and those that differ in the number of a seed or run too are its runs. As in BEIR, qrels/test.tsv is
    the truth of the folder above it.
    """
    paths = list(_list_files(home))
    doubts: list[str] = []
    sets = _find_data_sets(home, paths, doubts)
    if not sets:
        names = listed(paths[:8]) or "none"
        if len(paths) > 8:
            names += f" and {len(paths) - 8} more"
        raise DataError(
            f"{home}: no file of true labels was found; files: {names} "
            "(hint: its name has the word tst or test, such as tst_X_Y.txt)"
        )
    systems = _find_systems(home, paths, sets, doubts)
    if not systems:
        rows = listed([f"{data_set.n_rows:,} of {data_set.name}" for data_set in sets])
        raise DataError(f"{home}: no file of scores has as many rows as the truth ({rows})")
    used = {name for files in systems.values() for name in files}
    kept = [data_set for data_set in sets if data_set.name in used]
    doubts += [f"{data_set.name}: no system has a file for it" for data_set in sets if data_set not in kept]
    alone = [name for name, files in systems.items() if len(files) == 1 < len(kept)]
    if alone:
        doubts.append(f"in one data set only: {listed(alone)}; if two of them are one system, join their paths")
    lines = list(map(escaped, doubts))
    what = f"{counted(len(systems), 'system')} on {counted(len(kept), 'data set')}"
    text = [HEAD.format(what=what, system=next(iter(systems)))]
    text += [_write_data_set(data_set) for data_set in kept]
    text += ["\n[systems]\n", *(_write_system(name, files, len(kept)) for name, files in systems.items())]
    if lines:
        text += ["\n# Left out, or in doubt:\n", *(f"#   {line}\n" for line in lines)]
    return "".join(text), lines


def _list_files(home: Path) -> Iterator[PurePosixPath]:
    """Yield the files below a folder, except hidden ones, relative to it and sorted by name."""
    for folder, folders, names in os.walk(home):
        relative = PurePosixPath(Path(folder).relative_to(home))
        below = [name for name in sorted(folders) if not name.startswith(".") and len(relative.parts) < DEEPEST]
        folders[:] = below  # which os.walk then visits
        yield from (relative / name for name in sorted(names) if not name.startswith(".") and name not in IGNORED)


def _find_data_sets(home: Path, paths: Sequence[PurePosixPath], doubts: list[str]) -> list[DataSet]:
    """Find the folders with true labels."""
    by_folder: dict[PurePosixPath, dict[PurePosixPath, set[str]]] = {}  # words by path
    for path in paths:
        if path.name.isprintable():
            by_folder.setdefault(path.parent, {})[path] = _words(path)
    sets: list[DataSet] = []
    for folder, files in by_folder.items():
        inputs = {}
        for role, words in ROLES.items():
            fitting = [path for path, in_name in files.items() if in_name & words and "filter" not in in_name]
            chosen = [path for path in fitting if len(fitting) == 1 or "y" in files[path]]
            if len(chosen) == 1:
                inputs[role] = chosen[0]
            elif role == "truth" and fitting:
                doubts.append(f"{folder}: several files may be the truth: {listed([path.name for path in fitting])}")
        if "truth" not in inputs:
            continue
        opened, n_rows = _open_rows(home / inputs["truth"], Request("truth"))
        if opened is None:
            doubts.append(f"{inputs['truth']}: has no true labels")
            continue
        if opened.judgments is not None:
            inputs.pop("train", None)  # has other queries
        place = folder.parent if folder.name == "qrels" else folder
        name = place.name or home.resolve().name
        if name in {data_set.name for data_set in sets}:
            name = str(place)
        sets.append(DataSet(place, name, inputs, n_rows, opened.judgments))
    return sets


def _find_systems(
    home: Path, paths: Sequence[PurePosixPath], sets: Sequence[DataSet], doubts: list[str]
) -> dict[str, dict[str, list[PurePosixPath]]]:
    """Find the files of each system, by the name of the data set."""
    inputs = {path for data_set in sets for path in data_set.inputs.values()}
    others: dict[str, list[str]] = {}
    by_set: dict[str, dict[PurePosixPath, tuple[str, ...]]] = {}  # score files, with the parts of their paths
    for path in paths:
        data_set = _data_set_of(path, sets)
        if path in inputs or data_set is None:
            continue
        pair = PurePosixPath(pair_of(home / path)).relative_to(home)  # the stem, for one of two files
        stem = split_ending(str(pair))[0]
        match = _find_name(stem, data_set.name)
        if match is not None:
            stem = stem[: match.start()] + stem[match.end() :]
        parts = tuple(part for text in stem.split("/") if (part := text.strip("_-. ")))
        files = by_set.setdefault(data_set.name, {})
        if pair in files:
            continue
        has_role = any(_words(path) & words for words in ROLES.values())
        n_rows = 0
        if not has_role and parts not in files.values() and path.name.isprintable():
            _, n_rows = _open_rows(home / path, Request("scores", judgments=data_set.judgments))
        if n_rows == data_set.n_rows:
            files[pair] = parts
            continue
        why = f" ({n_rows:,} rows, the truth has {data_set.n_rows:,})" if n_rows else ""
        others.setdefault(data_set.name, []).append(f"{path}{why}")
    doubts += [f"{name}: not used: {listed(texts)}" for name, texts in others.items()]
    tags = _find_tags({name: list(files.values()) for name, files in by_set.items() if files})
    found = [
        (name, path, "/".join(_without_words(part, tags.get(name, ())) for part in parts).strip("/") or "/".join(parts))
        for name, files in by_set.items()
        for path, parts in files.items()
    ]
    n_alike = Counter((name, NUMBER.sub("#", text)) for name, _, text in found)
    texts = {text for _, _, text in found}
    systems: dict[tuple[str, ...], dict[str, list[PurePosixPath]]] = {}
    for name, path, text in found:
        alike = NUMBER.sub("#", text)
        key = OF_RUN.sub("", alike)
        if n_alike[name, alike] == 1 or key in texts:
            key = text
        systems.setdefault(tuple(filter(None, key.split("/"))), {}).setdefault(name, []).append(path)
    return dict(zip(_name_systems(list(systems)), systems.values(), strict=True))


def _data_set_of(path: PurePosixPath, sets: Sequence[DataSet]) -> DataSet | None:
    """Return the data set with the longest name in a path, or else the one that is not in a folder below."""
    named = [data_set for data_set in sets if _find_name(str(path), data_set.name) is not None]
    above = [data_set for data_set in sets if not data_set.folder.name]
    return max(named or above, key=lambda data_set: len(data_set.name), default=None)


def _find_name(text: str, name: str) -> re.Match[str] | None:
    """Find the name of a data set as whole words of a path."""
    return re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text, re.IGNORECASE)


def _name_systems(keys: Sequence[tuple[str, ...]]) -> list[str]:
    """Name systems by the parts of their paths that differ; name a single system by its last part."""
    shared = {part for key in keys for part in key if all(part in other for other in keys)}
    return ["/".join([part for part in key if part not in shared] or key[-1:] or ["scores"]) for key in keys]


def _find_tags(by_set: Mapping[str, Sequence[tuple[str, ...]]]) -> dict[str, set[str]]:
    """Find the words that all files of a data set and no others share; none unless each data set has some."""
    words = {name: [set(SEPARATORS.split("_".join(parts))) for parts in keys] for name, keys in by_set.items()}
    tags = {}
    for name, of_files in words.items():
        others = [of_file for other in words if other != name for of_file in words[other]]
        tags[name] = set.intersection(*of_files).difference(*others)
    return tags if len(by_set) > 1 and all(tags.values()) else {}


def _without_words(part: str, words: Collection[str]) -> str:
    """Leave out words that only the files of this data set share: another name of the data set."""
    kept = [word for word in re.split(r"([_-])", part) if word not in words]
    return re.sub(r"([_-])[_-]+", r"\1", "".join(kept)).strip("_-") if words else part


def _words(path: PurePosixPath) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", split_ending(path.name)[0].lower()))


def _open_rows(path: Path, request: Request) -> tuple[Opened | None, int]:
    """Open a file of scores or of true labels, and count its rows, 0 if it is neither."""
    try:
        opened = open_source(path, request)
        n_rows = opened.source.n_rows
        if n_rows is None:
            n_rows = sum(block.n_rows for block in opened.source.blocks())
    except (XmcevalError, OSError):
        return None, 0
    return opened, n_rows


def _write_data_set(data_set: DataSet) -> str:
    lines = [f"{role} = {quote(str(path))}\n" for role, path in data_set.inputs.items()]
    if "train" not in data_set.inputs and data_set.judgments is None:
        lines.append('# train = "FILE"  # without training labels there are no PSP and PSnDCG\n')
    return f"\n[datasets.{quote_key(data_set.name)}]\n{''.join(lines)}"


def _write_system(name: str, files: Mapping[str, Sequence[PurePosixPath]], n_sets: int) -> str:
    """Write a system in one line: with one path or list for all data sets, or one per data set if they differ."""
    texts = {}
    for set_name, paths in files.items():
        first, *more = map(str, paths)
        texts[set_name] = quote([first, *more] if more else first)
    pattern, *others = {text.replace(set_name, PLACEHOLDER) for set_name, text in texts.items()}
    is_shared = PLACEHOLDER in pattern and len(files) > 1
    if others or not (is_shared or n_sets == 1):
        by_set = (f"{quote_key(set_name)} = {text}" for set_name, text in texts.items())
        pattern = f"{{ paths = {{ {', '.join(by_set)} }} }}"
    comment = "  # runs, which only a number tells apart" if max(map(len, files.values())) > 1 else ""
    return f"{quote_key(name)} = {pattern}{comment}\n"
