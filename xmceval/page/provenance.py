"""Describe how a page was made: metric definitions, program version, input files, and the command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmceval.errors import as_here, listed
from xmceval.files.io.paths import find_files, to_path
from xmceval.files.io.streams import digest_of
from xmceval.files.shards import find_shards
from xmceval.metrics.measure import Measure
from xmceval.page.tables import draw_lines, draw_listings
from xmceval.report.forms.html import Child, Markup, element, isolate, join, name
from xmceval.report.result import Result
from xmceval.report.scored import shared_lines
from xmceval.report.sheet import Listing
from xmceval.rows.nouns import Nouns
from xmceval.rows.shards import parts_of
from xmceval.rows.threads import default_threads
from xmceval.scoring.options import Options, specs

# Descriptions of files whose option is not clear by name.
ROLES = {"train": "training labels", "counts": "training counts", "labels": "names of labels"}


@dataclass(frozen=True)
class Digest:
    """An input file: its role, path, size on disk, and SHA-256."""

    role: str
    path: str
    n_bytes: int
    sha256: str


@dataclass(frozen=True)
class Provenance:
    """The input files, and the command that reproduces the page."""

    files: tuple[Digest, ...] = ()
    command: str = ""


NOTHING = Provenance()


def list_inputs(truth: Any, systems: Iterable[Any], options: Options) -> Iterator[tuple[str, Path]]:
    """Yield the role and path of each file, once if several systems share it. Lists in `systems` are runs."""
    runs = [run for scores in systems for run in (scores if isinstance(scores, list) else [scores])]
    values = [("truth", truth), *(("predictions", run) for run in runs)]
    values += [(ROLES.get(k, k.replace("_", " ")), getattr(options, k)) for k, spec in specs().items() if spec.is_file]
    listed = ((role, part) for role, value in values for part in parts_of(find_shards(value)))
    yield from dict.fromkeys((role, to_path(part)) for role, part in listed if isinstance(part, (str, Path)))


def digest_inputs(inputs: Iterable[tuple[str, Path]], threads: int | None) -> tuple[Digest, ...]:
    """Read each file again for its size and SHA-256; a pair of npy files gives two."""
    files = [(role, file) for role, path in inputs for file in find_files(path)]
    unique = list(dict.fromkeys(file for _, file in files))
    with ThreadPoolExecutor(threads or default_threads()) as pool:
        digests = dict(zip(unique, pool.map(as_here(digest_of), unique), strict=True))
    return tuple(Digest(role, str(file), *digests[file]) for role, file in files)


def draw_definitions(result: Result) -> Markup:
    """Draw each metric once, for all cutoffs, with its source."""
    groups: dict[str, list[Measure]] = {}
    for figure in result.figures:
        groups.setdefault(figure.measure.head, []).append(figure.measure)
    return _draw_facts(_define(measures, result.nouns) for measures in groups.values())


def _define(measures: Sequence[Measure], nouns: Nouns) -> tuple[Child, Child]:
    first = measures[0]
    formula = nouns.name_rows(first.definition).removesuffix(f"; k = {first.k}")
    parts: list[Child] = [element("div", first.metric.title), element("div", element("code", formula))]
    if first.k is not None:
        parts.append(element("div", f"Here k = {', '.join(measure.cutoff for measure in measures)}."))
    parts.append(element("div", first.metric.source, class_="note"))
    return first.head, join(parts)


def draw_provenance(results: Sequence[Result], provenance: Provenance, names: Sequence[str]) -> Markup:
    """Draw how to reproduce the page."""
    parts: list[Child] = [
        _draw_facts(
            [
                ("Program", f"xmceval {results[0].version}"),
                ("Truth", name(listed({result.truth: None for result in results}))),
            ]
        ),
        draw_lines(
            (isolate(line, names) for kind in ("inputs", "notes") for line in shared_lines(results, kind)), "lines"
        ),
    ]
    if provenance.files:
        rows = [(file.path, file.role, f"{file.n_bytes:,}", file.sha256) for file in provenance.files]
        head = ("File", "read as", "bytes", "SHA-256")
        parts.append(draw_listings([Listing("Files that were read", head, tuple(rows), frozenset({2}))]))
    if provenance.command:
        command = element("pre", element("code", provenance.command), tabindex="0")
        parts += [element("h3", "Command that makes this page"), command]
    return join(parts)


def _draw_facts(facts: Iterable[tuple[Child, Child]]) -> Markup:
    return element("dl", [[element("dt", term), element("dd", fact)] for term, fact in facts])
