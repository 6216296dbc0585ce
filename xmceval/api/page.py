"""Page: systems scored or compared, and what is known of their files, as one HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xmceval.api.comparing.compare import compare_systems
from xmceval.api.comparing.pairtests import Watch
from xmceval.api.comparing.runs import are_runs
from xmceval.api.extras.choose import choose_extras
from xmceval.api.scoring.score import score_systems
from xmceval.api.scoring.setup import Named, Setup
from xmceval.errors import DataError
from xmceval.files.io.digests import digest_files
from xmceval.files.io.paths import to_path
from xmceval.files.io.pipes import kept_pipes
from xmceval.files.io.shardfiles import find_shards
from xmceval.files.sidecars.filterfile import read_filter
from xmceval.files.sidecars.labelnames import read_names
from xmceval.inspection.file import FileInspection, inspect_file
from xmceval.inspection.pair import PairInspection, inspect_pair
from xmceval.labels.training import count_training
from xmceval.report.comparison import Comparison
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.page import render_page
from xmceval.report.page.evidence import NOTHING, Evidence, InputFile
from xmceval.report.result import Result
from xmceval.rows.shards import parts_of
from xmceval.rows.threads import Progress, default_threads
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options, specs

# What the files of some options are, where the name of the option is not clear by itself.
ROLES = {"train": "training labels", "counts": "training counts", "labels": "names of labels"}


@dataclass(frozen=True)
class Work:
    """What a page is made from: a truth, systems, and the options of scoring and testing."""

    truth: Any
    systems: Sequence[Named]
    options: Options
    testing: Testing

    @property
    def is_comparison(self) -> bool:
        """Whether there are systems to compare, or a single one to score."""
        return len(self.systems) > 1 or any(are_runs(each.y_score) for each in self.systems)

    @property
    def predictions(self) -> list[Path]:
        """The files of predictions, those of fusions and runs too; each once."""
        return list(dict.fromkeys(path for each in self.systems for path in _paths(each.y_score)))

    @property
    def inputs(self) -> Iterator[tuple[str, Path]]:
        """What each file is for, and its path."""
        yield from (("truth", path) for path in _files(self.truth))
        yield from (("predictions", path) for path in self.predictions)
        of_options = [(name, getattr(self.options, name)) for name, spec in specs().items() if spec.is_file]
        for name, value in of_options:
            role = ROLES.get(name, name.replace("_", " "))
            yield from ((role, path) for path in _files(value))


@dataclass(frozen=True)
class Page:
    """A page as text, with what it shows."""

    text: str
    results: tuple[Result, ...]
    comparison: Comparison | None


def make_page(
    work: Work,
    *,
    title: str | None = None,
    command: str = "",
    layout: Layout = DEFAULT,
    inspect: bool = True,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Page:
    """Score one system or compare several, and show all of it on a page.

    Parameters
    ----------
    work : Work
    title : str, optional
        Default: the names of the systems.
    command : str
        That makes the page again.
    layout : Layout
        Decimal places, and whether shares are percent.
    inspect : bool
        Whether the files are read once more, for what may be wrong with them, histograms and checksums; that takes
        about as long as scoring.
    progress, watch : callable, optional
        As in `compare`.
    """
    pipes = [path for _, path in work.inputs] if inspect else []
    with kept_pipes(pipes):
        results, comparison = _evaluate(work, progress, watch)
        evidence = _gather(work) if inspect else NOTHING
    text = render_page(results, comparison, title=title, evidence=replace(evidence, command=command), layout=layout)
    return Page(text, results, comparison)


def _evaluate(
    work: Work, progress: Progress | None, watch: Watch | None
) -> tuple[tuple[Result, ...], Comparison | None]:
    """Score or compare."""
    options = work.options
    setup = Setup.of(work.truth, options, work.systems)
    extras = choose_extras(options, work.systems)
    if not work.is_comparison:
        return score_systems(setup, work.systems, extras, progress=progress).results, None
    comparison = compare_systems(setup, work.systems, work.testing, extras, progress=progress, watch=watch)
    return comparison.results, comparison


def _gather(work: Work) -> Evidence:
    """Read the files once more: what is in them, whether they fit each other, and their checksums."""
    options, inspect = work.options, _Inspector(work.options)
    truths = [inspect.file(path, "truth") for path in _files(work.truth)]
    scores = {path: each for path in work.predictions if (each := inspect.file(path, "scores")) is not None}
    leaves = dict.fromkeys(tuple(_files(leaf)) for each in work.systems for leaf in _runs(each.y_score))
    # Shards are compared one by one; a file of all rows beside shards is of other rows than each of them.
    partners = (pair for paths in leaves if len(paths) == len(truths) for pair in zip(truths, paths, strict=True))
    pairs = [inspect.pair(truth, scores[path]) for truth, path in partners if truth is not None and path in scores]
    inputs = list(work.inputs)
    digests = digest_files([path for _, path in inputs], options.threads or default_threads())
    return Evidence(
        files=(*(truth for truth in truths if truth is not None), *scores.values()),
        pairs=tuple(pairs),
        inputs=tuple(
            InputFile(role, each.path, each.n_bytes, each.sha256)
            for (role, _), of_path in zip(inputs, digests, strict=True)
            for each in of_path
        ),
        unread=tuple(inspect.unread),
    )


class _Inspector:
    """Inspects files as `inspect` does, with the options of scoring; `unread` is why some could not be."""

    def __init__(self, options: Options) -> None:
        names = None if options.labels is None else read_names(options.labels)
        self.n_labels = len(names) if options.n_labels is None and names is not None else options.n_labels
        self.how: dict[str, Any] = {"names": names, "max_line": options.max_line, "threads": options.threads}
        self.filter = read_filter(options.filter) if isinstance(options.filter, (str, Path)) else None
        self.training = None
        if isinstance(options.train, (str, Path)) and len(parts_of(find_shards(options.train))) == 1:
            self.training = count_training(options.train, max_line=options.max_line, threads=options.threads)
        self.unread: list[str] = []

    def file(self, path: str | Path, kind: str) -> FileInspection | None:
        """Inspect a file; None where it is of a form that cannot be inspected."""
        try:
            return inspect_file(path, kind=kind, n_labels=self.n_labels, **self.how)
        except DataError as error:
            self.unread.append(f"not inspected: {error}")
            return None

    def pair(self, truth: FileInspection, scores: FileInspection) -> PairInspection:
        """Inspect whether predictions fit the truth."""
        return inspect_pair(
            truth, scores, n_labels=self.n_labels, filter=self.filter, training=self.training, **self.how
        )


def _paths(y_score: Any) -> Iterator[Path]:
    """Yield the files that scores are made of: those of runs and of shards too."""
    yield from (path for run in _runs(y_score) for path in _files(run))


def _runs(y_score: Any) -> Sequence[Any]:
    """Return the runs of a system, each of all rows."""
    return y_score if are_runs(y_score) else [y_score]


def _files(value: Any) -> list[Path]:
    """Return the file that a value is the path of, or those of its shards."""
    return [to_path(part) for part in parts_of(find_shards(value)) if isinstance(part, (str, Path))]
