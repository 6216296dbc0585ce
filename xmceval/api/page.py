"""Page: systems scored or compared, and the files that they were read from, as one HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmceval.api.comparing.compare import compare_systems
from xmceval.api.comparing.pairtests import Watch
from xmceval.api.scoring.saving import check_saving
from xmceval.api.scoring.score import score_systems
from xmceval.api.scoring.setup import Named, OpenedTruth, are_runs
from xmceval.files.io.digests import digest_files
from xmceval.files.io.inputfiles import kept_pipes
from xmceval.files.io.paths import to_path
from xmceval.files.io.shardfiles import find_shards
from xmceval.report.comparison import Comparison
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.page import render_page
from xmceval.report.page.provenance import InputFile, Provenance
from xmceval.report.result import Result
from xmceval.rows.shards import parts_of
from xmceval.rows.threads import Progress, default_threads
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options, specs

# What the files of some options are, where the name of the option is not clear by itself.
ROLES = {"train": "training labels", "counts": "training counts", "labels": "names of labels"}


@dataclass(frozen=True)
class Page:
    """A page as text, with what it shows."""

    text: str
    results: tuple[Result, ...]
    comparison: Comparison | None


def make_page(
    truth: Any,
    systems: Sequence[Named],
    options: Options,
    testing: Testing,
    *,
    title: str | None = None,
    command: str = "",
    layout: Layout = DEFAULT,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Page:
    """Score one system or compare several, and show all of it on a page, with the command that makes it again."""
    inputs = list(list_inputs(truth, systems, options))
    paths = [path for _, path in inputs]
    comparison = None
    with kept_pipes(paths):
        check_saving(options, systems)
        opened = OpenedTruth.of(truth, options, systems)
        if len(systems) > 1 or any(are_runs(system.y_score) for system in systems):
            comparison = compare_systems(opened, systems, testing, progress=progress, watch=watch)
            results = comparison.results
        else:
            results = score_systems(opened, systems, progress=progress)
        digests = digest_files(paths, options.threads or default_threads())
    files = [
        InputFile(role, digest.path, digest.n_bytes, digest.sha256)
        for (role, _), of_path in zip(inputs, digests, strict=True)
        for digest in of_path
    ]
    provenance = Provenance(tuple(files), command)
    text = render_page(results, comparison, title=title, provenance=provenance, layout=layout)
    return Page(text, results, comparison)


def list_inputs(truth: Any, systems: Sequence[Named], options: Options) -> Iterator[tuple[str, Path]]:
    """Yield what each file is for, and its path; a file of several systems once."""
    yield from (("truth", path) for path in _find_files(truth))
    runs = [run for system in systems for run in (system.y_score if are_runs(system.y_score) else [system.y_score])]
    yield from (("predictions", path) for path in dict.fromkeys(path for run in runs for path in _find_files(run)))
    for name, spec in specs().items():
        if spec.is_file:
            role = ROLES.get(name, name.replace("_", " "))
            yield from ((role, path) for path in _find_files(getattr(options, name)))


def _find_files(value: Any) -> list[Path]:
    """Return the file that a value is the path of, or those of its shards."""
    return [to_path(part) for part in parts_of(find_shards(value)) if isinstance(part, (str, Path))]
