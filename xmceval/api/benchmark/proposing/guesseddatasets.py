"""Data sets of a folder: their truth, training labels and other inputs, and the predictions that belong to each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from xmceval.api.benchmark.proposing.folderfiles import LABEL_FILES, SCORE_FILES, FolderFiles, FoundFile
from xmceval.api.benchmark.proposing.nameparts import alias_pattern, find_dataset_names
from xmceval.errors import UsageError, counted
from xmceval.files.io.shardfiles import natural_key
from xmceval.files.io.signatures import split_ending
from xmceval.labels.catalogue import Dataset, Sizes, datasets, find_dataset

_ORDER_OF_PARTS = {"test": 0, "": 1, "valid": 2, "train": 3}


@dataclass
class GuessedDataset:
    """A data set.

    Attributes
    ----------
    key : str
        What it is called; empty where no name says it.
    truths, trains : list of FoundFile
        Candidates, the best first.
    options : dict of str to list of FoundFile
        Candidates for further inputs, by option.
    scores : list of FoundFile
        Its predictions.
    aliases : set of str
        What paths may call it.
    """

    key: str
    truths: list[FoundFile] = field(default_factory=list)
    trains: list[FoundFile] = field(default_factory=list)
    options: dict[str, list[FoundFile]] = field(default_factory=dict)
    scores: list[FoundFile] = field(default_factory=list)
    aliases: set[str] = field(default_factory=set)

    @property
    def truth(self) -> FoundFile:
        """The file that is taken as its truth."""
        return self.truths[0]

    @property
    def pattern(self) -> re.Pattern[str]:
        """What finds its names in a path."""
        return alias_pattern(self.aliases)

    @property
    def folder(self) -> str:
        """What paths of its predictions call it."""
        found = Counter(match[0] for file in self.scores for match in self.pattern.finditer(file.name))
        return found.most_common(1)[0][0] if found else self.key

    @property
    def sizes(self) -> Sizes:
        """The sizes as far as they are known."""
        train = self.trains[0].peek.n_rows if self.trains else None
        return Sizes(train, self.truth.peek.n_rows, self.truth.peek.n_labels)

    @cached_property
    def fitting_entries(self) -> list[Dataset]:
        """The data sets of the catalogue that have its sizes."""
        if self.sizes.test is None or self.sizes.labels is None:
            return []
        return [each for each in datasets().values() if any(not s.differences(self.sizes) for s in each.splits)]


def entry_named(name: str) -> Dataset | None:
    """Return the data set of the catalogue that a name means, if there is one."""
    try:
        return find_dataset(name)
    except UsageError:
        return None


def guess_datasets(files: FolderFiles, home: str) -> list[GuessedDataset]:
    """Find the data sets of a folder, and give each its predictions and inputs; what fits none is left out.

    Parameters
    ----------
    files : FolderFiles
    home : str
        The name of the folder, for a data set that no name tells.
    """
    guessed = [_sort_candidates(each, files) for each in _group_label_files(files)]
    guessed = [each for each in guessed if each.truths]
    _name(guessed, home)
    _assign_scores(guessed, files)
    for each in [each for each in guessed if not each.scores]:
        for file in (*each.truths, *each.trains):
            files.leave_out(file, f"no predictions fit its {counted(file.peek.n_rows or 0, 'row')}")
    guessed = [each for each in guessed if each.scores]
    _learn_aliases(guessed)
    _assign_options(guessed, files)
    return sorted(guessed, key=lambda each: natural_key(each.key.lower()))


def explain_misfit(scores: FoundFile, truth: FoundFile) -> str:
    """Return why predictions do not belong to a truth; empty if they may."""
    own, true = scores.peek, truth.peek
    if own.are_queries != true.are_queries:
        return "a TREC run; the truth is no TREC qrels" if own.are_queries else "no TREC run; the truth is TREC qrels"
    if own.are_queries:
        return ""
    if None not in {own.n_rows, true.n_rows} and own.n_rows != true.n_rows:
        return f"{counted(own.n_rows or 0, 'row')}; the truth has {true.n_rows:,}"
    if true.n_labels is None:
        return ""
    most = true.n_labels + own.may_have_extra_column
    is_number_of_labels = own.n_labels is not None and (own.is_exact or own.longest < own.n_labels)
    if (is_number_of_labels and not true.n_labels <= own.labels <= most) or own.largest_label >= most:
        return f"{counted(own.labels, 'label')}; the truth has {true.n_labels:,}"
    return ""


def _group_label_files(files: FolderFiles) -> list[GuessedDataset]:
    """Return the label files by data set, all of them as candidates for the truth."""
    groups: dict[str, GuessedDataset] = {}
    paths = [file.name for file in files.of_kind(SCORE_FILES)]
    for folder in dict.fromkeys(file.folder for file in files.of_kind(LABEL_FILES)):
        members = [file for file in files.of_kind(LABEL_FILES) if file.folder == folder]
        tests = [file for file in members if file.part not in {"train", "valid"}] or members
        names = sorted({own for file in tests if (own := find_dataset_names(file.name)[1])})
        have_one_size = len({file.peek.n_rows for file in tests}) == 1
        is_single = have_one_size and (len(names) < 2 or not all(_is_named(name, paths) for name in names))
        for file in members:
            in_folders, own = find_dataset_names(file.name)
            name = own or in_folders
            if is_single:
                is_better = names and _is_named(names[0], paths) and not _is_named(in_folders, paths)
                name = names[0] if is_better else in_folders or (names[0] if names else own)
            entry = entry_named(name)
            group = groups.setdefault(_plain(entry.name if entry else name), GuessedDataset(name))
            group.truths.append(file)
            group.aliases.update({name, *([in_folders, *names] if is_single else [])} - {""})
    return list(groups.values())


def _is_named(name: str, paths: Iterable[str]) -> bool:
    """Return whether any of some paths has the name of a data set in it."""
    pattern = alias_pattern({name})
    return bool(name) and any(pattern.search(path) for path in paths)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _sort_candidates(guessed: GuessedDataset, files: FolderFiles) -> GuessedDataset:
    """Decide which label files of a data set are of its test instances, and which of its training instances."""
    scores = files.of_kind(SCORE_FILES)
    n_fitting = {file.name: sum(not explain_misfit(each, file) for each in scores) for file in guessed.truths}

    def rank(file: FoundFile) -> tuple[object, ...]:
        peek = file.peek
        is_plain = peek.can_be_scores and not peek.has_names and not peek.are_lists
        return not n_fitting[file.name], _ORDER_OF_PARTS[file.part], not is_plain, natural_key(file.name)

    candidates = sorted(guessed.truths, key=rank)
    tests = [file for file in candidates if file.part != "train"]
    trains = [file for file in candidates if file.part == "train"]
    if not tests:
        for file in trains:
            files.leave_out(file, "training labels without a truth")
        return GuessedDataset(guessed.key)
    truth = tests[0]
    others = [file for file in tests[1:] if file.peek.n_rows != truth.peek.n_rows]
    if not trains:
        trains = [file for file in others if not n_fitting[file.name] and not file.part and _has_labels_of(file, truth)]
    for file in [file for file in others if file not in trains]:
        files.leave_out(file, f"{counted(file.peek.n_rows or 0, 'row')}; the truth has {truth.peek.n_rows or 0:,}")
    for file in [file for file in trains if not _has_labels_of(file, truth)]:
        files.leave_out(file, f"{counted(file.peek.labels, 'label')}; the truth has {truth.peek.labels:,}")
    guessed.truths = [truth, *(file for file in tests[1:] if file not in others)]
    guessed.trains = [file for file in trains if _has_labels_of(file, truth)]
    return guessed


def _has_labels_of(file: FoundFile, truth: FoundFile) -> bool:
    """Return whether training labels may be those of a truth."""
    return None in {file.peek.n_labels, truth.peek.n_labels} or file.peek.n_labels == truth.peek.n_labels


def _name(guessed: Sequence[GuessedDataset], home: str) -> None:
    """Complete what data sets may be called: as the catalogue calls them too, where that means one of them only."""
    for each in guessed:
        entries = each.fitting_entries if len(each.fitting_entries) == 1 else []
        taken = {other.key for other in guessed}
        free = (*(entry.name for entry in entries), home, *(f"{home} ({i})" for i in range(2, len(guessed) + 2)))
        each.key = each.key or next(name for name in free if name not in taken)
        each.aliases.add(each.key)
    further = [_names_in_catalogue(each) for each in guessed]
    counts = Counter(name for i, each in enumerate(guessed) for name in set(map(_plain, each.aliases | further[i])))
    for each, names in zip(guessed, further, strict=True):
        own = set(map(_plain, each.aliases))
        each.aliases |= {name for name in names if _plain(name) in own or counts[_plain(name)] == 1}


def _names_in_catalogue(guessed: GuessedDataset) -> set[str]:
    entry = entry_named(guessed.key)
    entries = [entry] if entry else guessed.fitting_entries if len(guessed.fitting_entries) == 1 else []
    return {alias for each in entries for alias in (each.name, *each.aliases)}


def _assign_scores(guessed: Sequence[GuessedDataset], files: FolderFiles) -> None:
    """Give each file of predictions to its data set: to the one that its path names, or the only one that it fits."""
    for file in files.of_kind(SCORE_FILES):
        named = _find_named(file.name, guessed)
        misfits = {each.key: explain_misfit(file, each.truth) for each in ([named] if named else guessed)}
        fitting = [each for each in guessed if misfits.get(each.key) == ""]
        if len(fitting) > 1:
            fitting = _find_nearest(file, fitting)
        if len(fitting) == 1 and (named or file.peek.n_rows is not None or len(guessed) == 1 or file.peek.are_queries):
            fitting[0].scores.append(file)
        elif len(fitting) == 1:
            files.leave_out(file, "too large to count its rows; its path names no data set")
        elif fitting:
            files.leave_out(file, f"fits {' and '.join(each.key for each in fitting)}; its path names none of them")
        elif named or len(guessed) == 1:
            files.leave_out(file, next(iter(misfits.values())))
        else:
            files.leave_out(
                file, f"{counted(file.peek.n_rows or 0, 'row')}; no truth has as many" if guessed else "no truth"
            )


def _find_named(name: str, guessed: Iterable[GuessedDataset]) -> GuessedDataset | None:
    """Return the data set that a path names, of several the one with the longest name."""
    found = [
        (len(match[0]), match.start(), i, each)
        for i, each in enumerate(guessed)
        for match in each.pattern.finditer(split_ending(name)[0])
    ]
    return max(found)[-1] if found else None


def _find_nearest(file: FoundFile, fitting: Sequence[GuessedDataset]) -> list[GuessedDataset]:
    """Return the data sets with the truth in the folder of a file, or in the nearest folder above it."""
    for parent in PurePosixPath(file.name).parents:
        near = [each for each in fitting if each.truth.folder == str(parent)]
        if near:
            return near
    return list(fitting)


def _learn_aliases(guessed: Sequence[GuessedDataset]) -> None:
    """Find what only the paths of one data set have, where these do not name it: ``runs/eurlex/`` of EURLex-4K."""
    for each in guessed if len(guessed) > 1 else ():
        paths = [file.name for file in each.scores if not each.pattern.search(file.name)]
        others = {word for other in guessed if other is not each for file in other.scores for word in _words(file.name)}
        words = [word for word in _words(paths[0]) if word not in others] if paths else []
        common = [word for word in words if all(word in _words(path) for path in paths)]
        each.aliases.update(common[:1])


def _words(name: str) -> list[str]:
    """Return what may name a data set in a path: its folders, then the words of the file's name."""
    *folders, stem = PurePosixPath(split_ending(name)[0]).parts
    return [*folders, *(word for word in re.split(r"[-_. ]+", stem) if any(map(str.isalpha, word)))]


def _assign_options(guessed: Sequence[GuessedDataset], files: FolderFiles) -> None:
    """Give the files of options to the data sets that their paths name, or in whose folders they are."""
    for file in [file for file in files.found if file.kind not in {LABEL_FILES, SCORE_FILES}]:
        if file.kind == "filter" and file.part == "train":
            files.leave_out(file, "a filter of the training instances")
            continue
        named = _find_named(file.name, guessed)
        owners = [named] if named else [each for each in guessed if _is_beside(file, each)]
        if file.kind == "labels":
            owners = [each for each in guessed if file.name in _names_files(each)]
        elif not owners and len(guessed) == 1:
            owners = list(guessed)
        for each in owners:
            each.options.setdefault(file.kind, []).append(file)
        if not owners:
            files.leave_out(file, "names of labels, which no file needs" if file.kind == "labels" else "of no data set")
    for each in guessed:
        for candidates in each.options.values():
            candidates.sort(key=lambda file: (_ORDER_OF_PARTS[file.part], "." in split_ending(file.name)[0]))
        if each.trains:
            for file in each.options.pop("inverse_propensities", []):
                files.leave_out(file, "propensities, which training labels give too")


def _is_beside(file: FoundFile, guessed: GuessedDataset) -> bool:
    return any(file.folder == each.folder for each in (*guessed.truths, *guessed.trains))


def _names_files(guessed: GuessedDataset) -> Iterator[str]:
    """Yield the files of label names that the files of a data set need."""
    for file in (guessed.truth, *guessed.trains[:1], *guessed.scores):
        yield file.names_file
