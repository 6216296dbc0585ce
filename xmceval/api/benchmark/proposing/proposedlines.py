"""What people are told of a proposed benchmark: what was taken for what and why, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from xmceval.api.benchmark.planning.predictionfiles import join_first
from xmceval.api.benchmark.proposing.cataloguematch import CatalogueMatch
from xmceval.api.benchmark.proposing.folderfiles import FolderFiles, FoundFile
from xmceval.api.benchmark.proposing.guesseddatasets import GuessedDataset
from xmceval.api.benchmark.proposing.guessedsystems import GuessedSystem, describe_missing
from xmceval.errors import counted, listed
from xmceval.files.io.shardfiles import natural_key
from xmceval.report.forms.columns import align_columns, clean, text_width

_SHOWN_OF_A_REASON = 3


def describe(
    files: FolderFiles,
    guessed: Sequence[GuessedDataset],
    systems: Sequence[GuessedSystem],
    matches: Sequence[CatalogueMatch],
    n_with_rows: Mapping[int | None, int],
    exists: Callable[[str], bool],
) -> Iterator[str]:
    """Yield lines on files, data sets, systems, and what was left out.

    Parameters
    ----------
    files : FolderFiles
    guessed, systems, matches : sequences
        Data sets with what the catalogue says of each, and systems.
    n_with_rows : mapping of int to int
        How many files of predictions have so many rows.
    exists : callable
        Whether there is a file of a path in the folder.
    """
    n_datasets, n_systems = counted(len(guessed), "data set"), counted(len(systems), "system")
    yield f"{counted(files.n_files, 'file')} looked at: {n_datasets}, {n_systems}"
    yield ""
    yield from _list_datasets(guessed, matches, n_with_rows)
    yield ""
    yield from _list_systems(guessed, systems, exists)
    if files.left_out:
        yield ""
        yield f"left out: {', '.join(list_left_out(files.left_out))}"


def _list_datasets(
    guessed: Sequence[GuessedDataset], matches: Sequence[CatalogueMatch], n_with_rows: Mapping[int | None, int]
) -> Iterator[str]:
    rows = [list(_input_rows(each, n_with_rows)) for each in guessed]
    sizes = [row[3] for own in rows for row in own]
    widths = [max(len(size.partition(" × ")[i]) for size in sizes) for i in (0, 2)]
    for own in rows:
        for row in own:
            n_rows, cross, n_labels = row[3].partition(" × ")
            row[3] = f"{n_rows:>{widths[0]}}{cross or '   '}{n_labels:<{widths[1]}}"
    lines = iter(align_columns([row for own in rows for row in own]))
    margin = " " * (max(text_width(each.key) for each in guessed) + 2)
    for own, match in zip(rows, matches, strict=True):
        yield from (next(lines) for _ in own)
        yield from (f"{margin}{line}" for line in match.lines)


def _input_rows(guessed: GuessedDataset, n_with_rows: Mapping[int | None, int]) -> Iterator[list[str]]:
    """Yield a row of cells for each input: data set, option, path, size, reason."""
    truth, *others = guessed.truths
    why = _add_others(f"{truth.peek.why}; {_count_fitting(guessed)}", others)
    yield [clean(guessed.key), "truth", clean(truth.name), _size(truth), why]
    if guessed.trains:
        train, *others = guessed.trains
        fitting = _with_verb(n_with_rows.get(train.peek.n_rows, 0), "prediction", "has")
        why = f"{train.peek.why}; {fitting} {counted(train.peek.n_rows or 0, 'row')}"
        yield ["", "train", clean(train.name), _size(train), _add_others(why, others)]
    for option, (file, *others) in guessed.options.items():
        yield ["", option, clean(file.name), "", _add_others("by its name", others)]


def _count_fitting(guessed: GuessedDataset) -> str:
    """Return how many predictions have the rows of the truth, and how many may have them."""
    if guessed.truth.peek.are_queries:
        return _with_verb(len(guessed.scores), "TREC run", "belongs") + " to it"
    n_counted = sum(file.peek.n_rows is not None for file in guessed.scores)
    text = f"{_with_verb(n_counted, 'prediction', 'has')} {counted(guessed.truth.peek.n_rows or 0, 'row')}"
    n_others = len(guessed.scores) - n_counted
    return f"{text}, {n_others:,} {'is' if n_others == 1 else 'are'} too large to count" if n_others else text


def _with_verb(number: int, noun: str, verb: str) -> str:
    """Return a number with its noun and verb: ``1 prediction has``, ``no predictions have``."""
    plural = {"has": "have", "belongs": "belong"}
    return f"{counted(number, noun) if number else f'no {noun}s'} {verb if number == 1 else plural[verb]}"


def _add_others(why: str, others: Sequence[FoundFile]) -> str:
    return f"{why}; or {listed(clean(other.name) for other in others)}" if others else why


def _size(file: FoundFile) -> str:
    n_rows, n_labels = file.peek.n_rows, file.peek.n_labels
    return f"{'?' if n_rows is None else f'{n_rows:,}'} × {'?' if n_labels is None else f'{n_labels:,}'}"


def _list_systems(
    guessed: Sequence[GuessedDataset], systems: Sequence[GuessedSystem], exists: Callable[[str], bool]
) -> Iterator[str]:
    rows = []
    for each in systems:
        templates, paths = each.split_paths(guessed, exists)
        title = each.title if templates else join_first([path for own in paths.values() for path in own] or [""])
        rows.append(
            [clean(each.name), clean(title), _count_cells(each, guessed), "; ".join(_notes(each, templates, paths))]
        )
    has_several = len(guessed) > 1
    yield from align_columns([row if has_several else [*row[:2], row[3]] for row in rows])


def _count_cells(system: GuessedSystem, guessed: Sequence[GuessedDataset]) -> str:
    missing = describe_missing(system, guessed)
    return f"{len(system.cells)} of {len(guessed)}{f', {clean(missing)}' if missing else ''}"


def _notes(system: GuessedSystem, templates: Sequence[str], paths: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if system.are_runs:
        yield "names differ in a number: runs of one system"
    for key, runs in system.cells.items():
        lacking = [seed for seed in system.seeds if seed not in runs]
        if lacking:
            yield f"{clean(key)} lacks {listed(lacking)}"
    if templates:
        yield from (clean(f"{key}: {listed(own)}") for key, own in paths.items())


def list_left_out(left_out: Mapping[str, str]) -> Iterator[str]:
    """Yield files that were left out with the reason, and only how many where many share one."""
    n_of = Counter(left_out.values())
    are_many = {why: n > _SHOWN_OF_A_REASON for why, n in n_of.items()}
    in_order = sorted(left_out.items(), key=lambda item: natural_key(item[0]))
    ordered = sorted(in_order, key=lambda item: (are_many[item[1]], item[1] if are_many[item[1]] else ""))
    for why, items in groupby(ordered, key=lambda item: item[1]):
        names = [clean(name) for name, _ in items]
        if are_many[why]:
            yield f"{join_first(names)} ({why})"
        else:
            yield from (f"{name} ({why})" for name in names)
