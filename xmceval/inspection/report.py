"""Inspect files: what they are, whether they are sound, and whether truth and predictions belong together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from numpy.typing import ArrayLike

from xmceval.errors import counted
from xmceval.files.io.inputfiles import kept_pipes
from xmceval.files.io.limits import MAX_LINE
from xmceval.files.io.paths import as_input, to_path
from xmceval.files.io.shardfiles import check_files
from xmceval.files.opened import Role
from xmceval.files.opening import check_kind
from xmceval.files.sidecars.labelnames import read_names
from xmceval.inspection.file import FileInspection, inspect_file
from xmceval.inspection.pair import PairInspection, inspect_pair
from xmceval.inspection.savedstate import StateInspection, inspect_state
from xmceval.inspection.text import inspection_table, list_files, list_findings, list_pairs
from xmceval.labels.training import count_training
from xmceval.report.displayed import Displayed, join_facts
from xmceval.report.forms import render_listings
from xmceval.report.forms.json import to_plain, write_document
from xmceval.report.forms.layout import Layout
from xmceval.report.sheet.model import Listing
from xmceval.scoring.states.file import is_state
from xmceval.version import INSPECT_SCHEMA


@dataclass(frozen=True, repr=False)
class InspectionReport(Displayed):
    """Inspected files, and the pairs of truth and predictions in them; ``print(report)`` shows it.

    Attributes
    ----------
    files : tuple of FileInspection
        One for each file, in the order given.
    pairs : tuple of PairInspection
        The first truth with each other file; empty where no file is truth.
    states : tuple of StateInspection
        One for each file of saved totals.
    """

    files: tuple[FileInspection, ...]
    pairs: tuple[PairInspection, ...] = ()
    states: tuple[StateInspection, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether ``score`` or ``merge`` would accept the files, and nothing shows that they do not belong together."""
        are_sound = all(file.is_sound for file in self.files) and all(pair.is_sound for pair in self.pairs)
        return are_sound and all(state.is_sound for state in self.states)

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

    def _render(self, form: str, layout: Layout) -> str:
        if form == "table":
            return inspection_table(self.files, self.pairs, self.states)
        return render_listings(form, list(self._list(layout)), layout)

    def _list(self, layout: Layout) -> Iterator[Listing]:
        """List what was found, what the files contain, and how well pairs agree."""
        for head, *lines in list_findings(self.files, self.pairs, self.states):
            yield Listing(head, (), lines=tuple(lines))
        read = [file for file in self.files if not file.is_unread]
        yield from [list_files(read)] if read else []
        compared = [pair for pair in self.pairs if pair.precision is not None]
        yield from [list_pairs(compared, layout)] if compared else []
        for head, *lines in map(StateInspection.describe, self.states):
            yield Listing(head, (), lines=tuple(lines))

    def _describe(self) -> tuple[str, ...]:
        findings = list_findings(self.files, self.pairs, self.states)
        n_problems = sum(len(lines) - 1 for lines in findings)
        verdict = "all valid" if self.is_sound else "not all valid"
        problems = counted(n_problems, "problem") if n_problems else "no problems found"
        what = f"InspectionReport of {counted(len(self.files) + len(self.states), 'file')}"
        return join_facts(what, (verdict, problems)), "print() shows what was found, .files and .pairs have all numbers"


def inspect(
    files: str | Path | Iterable[str | Path],
    *,
    kind: Role | None = None,
    filter: ArrayLike | str | Path | None = None,  # noqa: A002 - the field's word
    train: str | Path | None = None,
    n_labels: int | None = None,
    labels: str | Path | None = None,
    max_line: int = MAX_LINE,
    threads: int | None = None,
) -> InspectionReport:
    """Inspect files of truth or predictions, and look for the usual mistakes.

    Each file is read whole and described: its form, its size, how its entries spread over rows and labels, and why
    `score` would refuse it. The first truth is compared with every other file: labels that are 1-based, shuffled rows,
    a transposed matrix, predictions for the training set, a filter that was not applied.

    Parameters
    ----------
    files : path or iterable of path
        Files that `score` reads, or states that it saves.
    kind : {"truth", "scores"}, optional
        What all files are; by default their content decides.
    filter : array of int [n_pairs, 2], list of pairs of str or path, optional
        Pairs of row and label, beside queries of query and document, that the predictions should not contain.
    train : path, optional
        Training labels, to compare with the truth.
    n_labels : int, optional
        The number of labels, where a file does not declare it; default that of `labels`.
    labels : path, optional
        A file with the name of label l in line l, from 0 on, for files that have names instead of numbers.
    max_line : int
        The longest line of a text file, in MiB; a file with a longer one is refused.
    threads : int, optional
        Default: one per processor.

    Returns
    -------
    InspectionReport
        ``report.is_sound``, ``report.files``, ``report.pairs``; ``str(report)`` is the report for people.

    Raises
    ------
    DataError
        A file that is missing or of unknown form. What is wrong inside a file is part of the report.
    UsageError
        An argument that is wrong.
    """
    check_kind(kind)
    paths = list(map(as_input, [files] if isinstance(files, (str, Path)) or not isinstance(files, Iterable) else files))
    filter, train, labels = map(as_input, (filter, train, labels))  # noqa: A001 - the field's word
    check_files([*paths, filter, train, labels])
    with kept_pipes(map(to_path, paths)):
        saved = [str(path) for path in paths if kind is None and is_state(to_path(path))]
        states = tuple(inspect_state(to_path(path)) for path in paths if str(path) in saved)
        others = [path for path in paths if str(path) not in saved]
        if not others:
            return InspectionReport((), (), states)
        names = None if labels is None else read_names(labels)
        n_labels = len(names) if n_labels is None and names is not None else n_labels
        inspect_one = partial(inspect_file, n_labels=n_labels, names=names, max_line=max_line, threads=threads)
        inspections = [inspect_one(path, kind=kind) for path in others]
        are_scores = all(file.kind == "scores" for file in inspections)
        if kind is None and len(others) > 1 and are_scores and not inspections[0].is_joined:
            first = inspect_one(others[0], kind="truth")  # lists can be either
            inspections[0] = replace(first, why="the first of several files, as in score")
        truth = next((file for file in inspections if file.kind == "truth"), None)
        compare = partial(
            inspect_pair,
            n_labels=n_labels,
            names=names,
            max_line=max_line,
            filter=filter,
            training=None if train is None else count_training(train, max_line=max_line, threads=threads),
            threads=threads,
        )
        compared = (compare(truth, file) for file in inspections if truth is not None and file is not truth)
        return InspectionReport(tuple(inspections), tuple(compared), states)
