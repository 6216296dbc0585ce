"""Provenance: how a page was made: definitions, the program, the files that were read, and the command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xmceval.metrics.measure import Measure
from xmceval.report.forms.html import Child, Markup, element, isolate, join, name
from xmceval.report.page.tables import draw_lines, draw_listings
from xmceval.report.result import Result
from xmceval.report.scored import shared_lines
from xmceval.report.sheet.model import Listing


@dataclass(frozen=True)
class InputFile:
    """A file that was read: what it is for, its path, its bytes as they are on the disk, and their SHA-256."""

    role: str
    path: str
    n_bytes: int
    sha256: str


@dataclass(frozen=True)
class Provenance:
    """The files that were read, and the command that makes the page again."""

    files: tuple[InputFile, ...] = ()
    command: str = ""


NOTHING = Provenance()


def draw_definitions(result: Result) -> Markup:
    """Draw each metric once, whatever its cutoffs, with its source and how other tools compute it."""
    groups: dict[str, list[Measure]] = {}
    for figure in result.figures:
        groups.setdefault(figure.measure.head, []).append(figure.measure)
    return _draw_facts(map(_define, groups.values()))


def _define(measures: Sequence[Measure]) -> tuple[Child, Child]:
    first = measures[0]
    formula = first.definition if first.k is None else first.definition.removesuffix(f"; k = {first.k}")
    parts: list[Child] = [element("div", first.metric.title), element("div", element("code", formula))]
    if first.k is not None:
        parts.append(element("div", f"Here k = {', '.join(measure.cutoff for measure in measures)}."))
    parts += [element("div", line, class_="note") for line in (first.metric.note, first.metric.source) if line]
    return first.head, join(parts)


def draw_provenance(results: Sequence[Result], provenance: Provenance, names: Sequence[str]) -> Markup:
    """Draw how the page can be made again."""
    parts: list[Child] = [
        _draw_facts([("Program", f"xmceval {results[0].version}"), ("Truth", name(results[0].truth))]),
        draw_lines(
            (isolate(line, names) for kind in ("inputs", "notes") for line in shared_lines(results, kind)), "lines"
        ),
    ]
    if provenance.files:
        rows = [(file.path, file.role, f"{file.n_bytes:,}", file.sha256) for file in provenance.files]
        head = ("File", "read as", "bytes", "SHA-256")
        parts.append(draw_listings([Listing("Files that were read", (head, *rows), frozenset({2}), has_head=True)]))
    if provenance.command:
        command = element("pre", element("code", provenance.command), tabindex="0")
        parts += [element("h3", "Command that makes this page"), command]
    return join(parts)


def _draw_facts(facts: Iterable[tuple[Child, Child]]) -> Markup:
    """Draw pairs of a term and what it is."""
    return element("dl", [[element("dt", term), element("dd", fact)] for term, fact in facts])
