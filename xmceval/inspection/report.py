"""The public function `inspect`, and the report it returns on files, their validity and whether they match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from xmceval.errors import DataError, agreeing, counted, escaped, listed
from xmceval.files.formats import FORMATS
from xmceval.files.io.paths import MAX_LINE, as_input, to_path
from xmceval.files.io.streams import kept_pipes
from xmceval.files.open import check_kind
from xmceval.files.opened import Role
from xmceval.files.shards import check_files
from xmceval.files.sidecars.values import read_names
from xmceval.inspection.file import FileInspection, inspect_file
from xmceval.inspection.pair import PairInspection, Training, inspect_pair
from xmceval.labels.propensity import NO_PROPENSITIES
from xmceval.report.forms.data import pick, to_plain, write_document
from xmceval.report.renderable import Displayed, join_facts
from xmceval.rows.progress import in_turn
from xmceval.scoring.options import IN_TABLE, OF_PROPENSITIES, UNRECORDED, specs
from xmceval.scoring.state import first_of
from xmceval.scoring.state_file import PROPENSITIES, is_state, load_state
from xmceval.version import INSPECT_SCHEMA

MOST_SHARDS = 10  # shard numbers to show
# What an entry is called, by the kind of a file and whether its rows are queries.
ENTRIES = {
    ("truth", False): "true label",
    ("truth", True): "judgment",
    ("scores", False): "prediction",
    ("scores", True): "retrieved document",
}
TRAINING = frozenset({"trn", "train", "training"})  # words in the names of files of training labels


@dataclass(frozen=True)
class StateInspection:
    """Description of a state.

    `version` is the version of xmceval that saved it. `n_labels` is None if no input declared it. `options` are
    those that differ from the default, except metrics; `propensities` describes their source and constants.
    `truth` and `scores` name the files or arrays that were scored; `shards` are its numbers out of `n_shards`,
    empty if it was saved without a number. `fault` says why ``merge`` would refuse it, or is empty.
    """

    path: str
    version: str = ""
    n_rows: int = 0
    n_labels: int | None = None
    metrics: tuple[str, ...] = ()
    options: dict[str, Any] | None = None
    propensities: dict[str, Any] | None = None
    truth: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    shards: tuple[int, ...] = ()
    n_shards: int = 0
    fault: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether ``merge`` would accept it."""
        return not self.fault


@dataclass(frozen=True, repr=False)
class InspectionReport(Displayed):
    """Inspected files, and the pairs of truth and predictions among them; ``print(report)`` shows it.

    Attributes
    ----------
    files : tuple of FileInspection
        One for each file, in the order given.
    pairs : tuple of PairInspection
        The first truth with each other file; empty if no file is truth.
    states : tuple of StateInspection
        One per file of saved totals.
    """

    files: tuple[FileInspection, ...]
    pairs: tuple[PairInspection, ...] = ()
    states: tuple[StateInspection, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether ``score`` or ``merge`` would accept the files, and no evidence separates them."""
        parts: list[Any] = [*self.files, *self.pairs, *self.states]
        return all(part.is_sound for part in parts)

    def to_json(self) -> str:
        """Return everything as a JSON document."""
        files, pairs, states = (
            [{**to_plain(part), "is_sound": part.is_sound} for part in parts]
            for parts in (self.files, self.pairs, self.states)
        )
        for file in files:
            del file["file"]
        parts = {"files": files, "together": pairs, "states": states}
        return write_document({"schema": INSPECT_SCHEMA, "is_sound": self.is_sound, **parts})

    def to_text(self, *, verbose: bool = False) -> str:
        """Return a line for each file and for each pair, with problems below it, and facts that matter.

        Parameters
        ----------
        verbose : bool
            Whether headers, values, and how entries spread over rows and labels follow for each file.
        """
        blocks: list[Iterable[str]] = [[*chain(*self._findings(), self._facts())]]
        if verbose:
            blocks += [*map(_file_details, self.files), *map(_state_details, self.states)]
            blocks += [
                [f"{pair.truth} and {pair.scores}", f"  P@1 {pair.precision_at_1:.2%} · P@5 {pair.precision:.2%}"]
                for pair in self.pairs
                if pair.precision is not None
            ]
        return "\n".join("\n".join(map(escaped, lines)) + "\n" for lines in blocks)

    def __str__(self) -> str:
        return self.to_text()

    def _findings(self) -> list[list[str]]:
        """Return, for each file, state and pair, a line on its validity and lines on its problems."""
        findings = [_find(_file_line(file), file.faults, file.warnings) for file in self.files]
        for state in self.states:
            errors = list[str]()
            if state.fault:
                errors.append(state.fault)
            findings.append(_find(_state_line(state), errors))
        for pair in self.pairs:
            line = pair.describe(is_only=len(self.pairs) == 1)
            findings.append(_find(line, (*pair.faults, *pair.mistakes), pair.warnings))
        return findings

    def _facts(self) -> list[str]:
        """Return what may surprise: a line on all files, or on each where several are truth or several scores."""
        truth = _find_truth(self.files)
        facts = [(file.path, list(_file_facts(file, is_first=file is truth))) for file in self.files if file.is_sound]
        if len({file.kind for file in self.files}) == len(self.files):
            together = " · ".join(fact for _, of_file in facts for fact in of_file)
            return [line for line in [together] if line]
        return [f"{path}: {' · '.join(of_file)}" for path, of_file in facts if of_file]

    def _describe(self) -> tuple[str, ...]:
        n_problems = sum(len(lines) - 1 for lines in self._findings())
        verdict = "all valid"
        if not self.is_sound:
            verdict = "not all valid"
        problems = "no problems found"
        if n_problems:
            problems = counted(n_problems, "problem")
        what = f"InspectionReport of {counted(len(self.files) + len(self.states), 'file')}"
        return join_facts(what, (verdict, problems)), "print() shows what was found, .files and .pairs have all numbers"


def _find(line: str, errors: Iterable[str], warnings: Iterable[str] = ()) -> list[str]:
    return [line, *(f"  error: {error}" for error in errors), *(f"  warning: {warning}" for warning in warnings)]


def _find_truth(files: Iterable[FileInspection]) -> FileInspection | None:
    """Return the first truth; a file named like training labels only if there is no other."""
    truths = [file for file in files if file.kind == "truth"]
    truths.sort(key=_is_training)
    return next(iter(truths), None)


def _is_training(file: FileInspection) -> bool:
    return file.kind == "truth" and not TRAINING.isdisjoint(re.split(r"[\W_]+", Path(file.path).name.lower()))


def _file_line(file: FileInspection) -> str:
    """Say whether a file is valid, what it holds, and in which format."""
    if not file.is_sound:
        return f"{file.path}: not valid, score refuses it"
    is_guessed = not (file.is_declared or file.has_queries) and file.n_labels == file.largest_label + 1
    labels = counted(file.n_labels, file.label)
    if is_guessed:
        labels += " (not declared)"
    entries = counted(file.n_entries, ENTRIES[file.kind, file.has_queries])
    form = FORMATS[file.format].title
    if file.format == "pairs" and file.is_declared:
        form = "XMLRepository text"
    if file.kind == "scores" and file.are_ranks:
        form += ", ranked by their order"
    elif file.kind == "scores" and file.least is not None:
        form += f", scores from {file.least:g} to {file.greatest:g}"
    return f"{file.path}: valid: {counted(file.n_rows, file.row)}, {labels}, {entries}; {form}"


def _file_facts(file: FileInspection, *, is_first: bool) -> Iterator[str]:
    """Yield what is seldom meant in a file, although it may be valid; `is_first` says whether it is the first truth."""
    if file.kind == "truth":
        if _is_training(file) and not is_first:
            yield "named like training labels, so not compared"
        elif not is_first or file.are_ranks:
            yield f"read as truth: {file.why}"
    if file.empty_rows:
        without = "a true label"
        if file.kind == "scores":
            without = "predictions"
        elif file.has_queries:
            without = "judgments"
        yield f"{counted(file.empty_rows, file.row)} without {without}"
    if file.zeros and file.has_queries and file.kind == "truth":
        yield f"{file.zeros:,} judged 0"
    elif file.zeros:
        yield counted(file.zeros, "stored zero")


def _file_details(file: FileInspection) -> Iterator[str]:
    """Yield the path of a file and, line by line, what it contains."""
    yield file.path
    if file.faults:
        yield f"  {file.description}; not counted, as it is not valid"
        return
    yield f"  {file.description}; read as {file.kind}: {file.why}"
    labels = counted(file.n_labels, file.label)
    if not file.has_queries:
        origin = "as given"
        if file.is_declared:
            origin = "declared"
        elif file.n_labels == file.largest_label + 1:
            origin = "the largest label + 1"
        labels += f" ({origin})"
    yield f"  {counted(file.n_rows, file.row)} · {labels} · {counted(file.n_entries, 'entry')}"
    if not file.has_queries:
        yield f"  {counted(file.labels_seen, 'label')} with entries, the largest is {file.largest_label}"
    if file.least is not None:
        values = f"from {file.least:g} to {file.greatest:g}"
        if file.are_ranks and file.kind == "truth":
            yield f"  no values: each {file.label} of a list counts 1"
        elif file.are_ranks:
            yield f"  no values: ranks {values}, the highest for the first {file.label} of a {file.row}"
        else:
            yield f"  values {values}"
    if file.per_row is not None:
        yield f"  entries per {file.row}: {file.per_row}"
    if file.per_label is not None:
        yield f"  entries per {file.label} with any: {file.per_label}"


def _state_line(state: StateInspection) -> str:
    """Say whether a state is valid, and what was scored."""
    if state.fault:
        return f"{state.path}: not valid, merge refuses it"
    labels = "number of labels unknown"
    if state.n_labels is not None:
        labels = counted(state.n_labels, "label")
    facts = [f"state of xmceval {state.version}"]
    if state.scores:
        facts.append(f"{first_of(state.scores)} on {first_of(state.truth)}")
    if state.shards:
        more = ""
        if len(state.shards) > MOST_SHARDS:
            more = f" and {len(state.shards) - MOST_SHARDS:,} more"
        noun = agreeing(len(state.shards), "shard", "shards")
        facts.append(f"{noun} {listed(state.shards[:MOST_SHARDS])}{more} of {state.n_shards:,}")
    return f"{state.path}: valid: {counted(state.n_rows, 'row')}, {labels}; {', '.join(facts)}"


def _state_details(state: StateInspection) -> Iterator[str]:
    """Yield the path of a state and, line by line, how it was scored."""
    yield state.path
    if state.fault:
        yield "  state of xmceval; it cannot be read"
        return
    yield f"  metrics: {listed(state.metrics)}"
    shown = specs().keys() - {*IN_TABLE, *OF_PROPENSITIES, *UNRECORDED}
    options = {name: value for name, value in (state.options or {}).items() if name in shown}
    if options:
        words = [f"{name}={value}".removesuffix("=True") for name, value in options.items()]
        yield f"  options: {' · '.join(words)}"
    if model := state.propensities:
        constants = (f"{name.upper()}={model[name]:,}" for name in "abn" if model[name] is not None)
        yield f"  propensities: {' '.join([*constants, 'from', str(model['source'])])}"


def inspect(
    files: str | Path | Iterable[str | Path],
    *,
    kind: Role | None = None,
    filter: ArrayLike | str | Path | None = None,  # noqa: A002 - the field's word
    train: str | Path | None = None,
    n_labels: int | None = None,
    labels: ArrayLike | str | Path | None = None,
    max_line: int = MAX_LINE,
    threads: int | None = None,
) -> InspectionReport:
    """Inspect files of truth or predictions, and look for common mistakes.

    Each file is read completely and described: its format, its size, how its entries spread over rows and
    labels, and why `score` would refuse it. The first truth is compared with every other file to find 1-based
    labels, shuffled rows, a transposed matrix, predictions for the training set, or a filter that was not
    applied. True labels in a file named like training labels, with trn or train, are compared only if they come
    with no other truth.

    Parameters
    ----------
    files : path or iterable of path
        Files that `score` reads, or states that it saves.
    kind : {"truth", "scores"}, optional
        The kind of all files; by default their content decides.
    filter : array of int [n_pairs, 2], list of pairs of str or path, optional
        Pairs of row and label (or of query and document) that the predictions should not contain.
    train : path, optional
        Training labels, to compare with the truth.
    n_labels : int, optional
        The number of labels, if a file does not declare it; default the number of `labels`.
    labels, max_line, threads : path, int and int, optional
        As in `read`.

    Returns
    -------
    InspectionReport
        ``report.is_sound``, ``report.files``, ``report.pairs``; ``str(report)`` is readable text.

    Raises
    ------
    DataError
        A file is missing or has an unknown format. Problems inside a file are part of the report.
    UsageError
        An invalid argument.
    """
    check_kind(kind)
    paths = list(map(as_input, [files] if isinstance(files, (str, Path)) or not isinstance(files, Iterable) else files))
    filter, train, labels = map(as_input, (filter, train, labels))  # noqa: A001 - the field's word
    passed = (*paths, filter, train, labels)
    check_files([to_path(value) for value in passed if isinstance(value, (str, Path))])
    with kept_pipes():
        saved = [path for path in paths if kind is None and is_state(to_path(path))]
        states = tuple(_inspect_state(to_path(path)) for path in saved)
        others = [path for path in paths if path not in saved]
        if not others:
            return InspectionReport((), (), states)
        names = None
        if labels is not None:
            names = read_names(labels)
        if n_labels is None and names is not None:
            n_labels = len(names)
        inspect_one = partial(inspect_file, n_labels=n_labels, names=names, max_line=max_line, threads=threads)
        inspections = [inspect_one(path, kind=kind) for path in in_turn(counted(len(others), "file"), others)]
        are_scores = all(file.kind == "scores" for file in inspections)
        if kind is None and len(others) > 1 and are_scores and not inspections[0].has_queries:
            first = inspect_one(others[0], kind="truth")  # lists can be either
            inspections[0] = replace(first, why="the first of several files, as in score")
        truth = _find_truth(inspections)
        training = None
        if train is not None:
            training = Training.of(train, names, max_line=max_line, threads=threads)
        options = {"filter": filter, "n_labels": n_labels, "labels": labels, "max_line": max_line, "threads": threads}
        pairs = [
            inspect_pair(truth, file, training, **options)
            for file in inspections
            if truth and file is not truth and not _is_training(file)
        ]
        return InspectionReport(tuple(inspections), tuple(pairs), states)


def _inspect_state(path: Path) -> StateInspection:
    """Describe a state."""
    try:
        state = load_state(path)
    except DataError as error:
        return StateInspection(str(path), fault=str(error))
    setup = state.setup
    propensities = None
    if setup.propensities is not NO_PROPENSITIES:
        propensities = pick(setup.propensities, ("digest", *PROPENSITIES))
    return StateInspection(
        str(path),
        state.version,
        state.n_rows,
        setup.width.or_none,
        tuple(map(str, setup.program.measures)),
        dict(setup.options.changed()),
        propensities,
        state.truth,
        state.scores,
        state.shards,
        state.n_shards,
    )
