"""Data sections: what was read, with histograms; what was wrong with the files; definitions; how to make it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from xmceval.errors import averaged, counted, listed
from xmceval.files.io.paths import to_path
from xmceval.inspection.file import FileInspection
from xmceval.inspection.tally import Spread
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison
from xmceval.report.forms.markup import Child, Markup, element, isolate, join, name
from xmceval.report.listings.inspectionlist import list_files
from xmceval.report.page.evidence import InputFile
from xmceval.report.page.pagecontent import PageContent
from xmceval.report.page.pageparts import (
    MOST_LINES,
    PageSection,
    draw_bars,
    draw_facts,
    draw_lines,
    draw_listing,
    fold,
    spaced,
    write_sentence,
)
from xmceval.report.result import Result, shared_lines
from xmceval.report.sheet.model import Listing
from xmceval.report.sheet.scoresheet import describe_option, describe_propensities

MOST_DEFINITIONS = 2  # of some four lines, that are open at first
MOST_HISTOGRAMS = 2  # of predictions
PROPENSITY = "1/p = 1 + C (n + B)^−A, C = (ln N − 1)(B + 1)^A, where n of the N training instances have the label."


def describe_data(content: PageContent) -> PageSection | None:
    """Describe what was read, in numbers and histograms."""
    counts = content.results[0].counts
    if not counts.n_labels:  # values of rows that another tool wrote
        return None
    facts: dict[str, Child] = {
        "Instances": f"{counts.n_instances:,}",
        "Labels": f"{counts.n_labels:,}",
        "True labels": f"{counts.n_true:,}, {averaged(counts.n_true / max(counts.n_instances, 1))} per instance",
    }
    if counts.empty_rows:
        how = {"zero": "each counts 0", "drop": "left out"}[content.results[0].empty_rows]
        facts["Without a true label"] = f"{counted(counts.empty_rows, 'instance')}, {how}"
    if counts.grades != (1, 1):
        facts["Grades"] = f"{counts.grades[0]} to {counts.grades[1]}"
    if counts.explicit_zeros:
        facts["Stored zeros in the truth"] = f"{counts.explicit_zeros:,}, not labels"
    parts = [draw_facts(facts.items()), _list_predictions(content.results)]
    histograms = [*_draw_histograms(content.evidence.files)]
    if histograms:
        parts += [element("h3", "How labels and predictions are spread"), *histograms]
    return PageSection("data", "Data", join(parts))


def _list_predictions(results: Sequence[Result]) -> Markup:
    """List for each system its predictions, and the rows that have fewer than a cutoff."""
    cutoffs = list(dict.fromkeys(k for result in results for k, n in result.counts.short_rows.items() if n))
    heads = [
        "System",
        "predictions",
        "per instance",
        *(f"instances with {f'fewer than {k}' if k > 1 else 'none'}" for k in cutoffs),
    ]
    filtered = any(result.filtered is not None for result in results)
    rows = []
    for result in results:
        counts = result.counts
        mean = f"{counts.n_predictions / max(counts.n_instances, 1):.4g}"
        short = [f"{counts.short_rows.get(k, 0):,}" for k in cutoffs]
        removed = [] if not filtered else ["" if result.filtered is None else str(result.filtered)]
        rows.append((result.name, f"{counts.n_predictions:,}", mean, *short, *removed))
    numeric = range(1, len(heads))
    return _draw_table("Predictions of each system", [*heads, *(["filter"] if filtered else [])], rows, numeric)


def _draw_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Iterable[int]) -> Markup:
    listing = Listing(title, (tuple(head), *map(tuple, rows)), frozenset(numeric), has_head=True)
    return draw_listing(listing, has_caption=False)


def _draw_histograms(files: Sequence[FileInspection]) -> Iterator[Markup]:
    """Draw those of the truth, then those of predictions, which are closed at first where there are many."""
    of_kind: dict[str, list[Markup]] = {}
    for file in files:
        of_kind.setdefault(file.kind, []).extend(_draw_spreads(file))
    for kind, drawn in of_kind.items():
        is_closed = kind != "truth" and len(drawn) > MOST_HISTOGRAMS
        title = f"Predictions per instance: {counted(len(drawn), 'file')}"
        if drawn:
            yield fold(title, element("div", drawn, class_="histograms"), is_closed=is_closed)


def _draw_spreads(file: FileInspection) -> Iterator[Markup]:
    called = name(to_path(file.path).name)
    if file.kind == "truth":
        what = "entries" if file.zeros else "true labels"  # a stored zero is an entry, and no label
        yield from _draw_spread([called, f": {what} per instance"], ("labels", "instances"), file.per_row)
        yield from _draw_spread([called, ": instances per label"], ("instances", "labels"), file.per_label)
    else:
        yield from _draw_spread([called, ": predictions per instance"], ("predictions", "instances"), file.per_row)


def _draw_spread(title: Child, heads: tuple[str, str], spread: Spread | None) -> Iterator[Markup]:
    if spread is None or spread.least == spread.most:  # the table of predictions says it all
        return
    bars = []
    for low, high, number, share in spread.bins:
        first, last = max(low, spread.least), min(high, spread.most)
        bars.append((f"{first:,}" if first == last else f"{first:,}–{last:,}", number, f"{share:.1%}"))
    yield draw_bars([title, f": {spread}"], heads, bars)


def describe_files(content: PageContent) -> PageSection | None:
    """Describe what was wrong with the files, or is worth knowing about them."""
    results, evidence = content.results, content.evidence
    in_table = {file.note for file in evidence.files}
    others = [replace(result, notes=tuple(line for line in result.notes if line not in in_table)) for result in results]
    notes = [*shared_lines(others, "notes"), *evidence.unread]
    parts: list[Child] = []
    for title, lines in (("Warnings", content.warnings), ("Notes", notes)):
        if lines:
            drawn = draw_lines((isolate(line, content.names) for line in lines), "problems")
            is_closed = title == "Notes" and len(lines) > MOST_LINES
            parts += [element("h3", title), fold(counted(len(lines), "line"), drawn, is_closed=is_closed)]
    if evidence.files:
        is_closed = len(evidence.files) > MOST_LINES
        files = fold(
            counted(len(evidence.files), "file"),
            draw_listing(list_files(evidence.files), has_caption=False),
            is_closed=is_closed,
        )
        parts += [element("h3", "Each file"), files]
    return PageSection("files", "Files and warnings", join(parts)) if parts else None


def show_definitions(content: PageContent) -> PageSection:
    """Show each metric once, whatever its cutoffs, with its source and how other tools compute it."""
    groups: dict[str, list[Measure]] = {}
    for figure in content.results[0].figures:
        groups.setdefault(figure.measure.head, []).append(figure.measure)
    facts = draw_facts(map(_define, groups.values()), "definitions")
    title = [listed(list(groups)), ": formulas and sources"]
    return PageSection("definitions", "Definitions", fold(title, facts, is_closed=len(groups) > MOST_DEFINITIONS))


def _define(measures: Sequence[Measure]) -> tuple[Child, Child]:
    first = measures[0]
    metric = first.metric
    formula = first.definition if first.k is None else first.definition.removesuffix(f"; k = {first.k}")
    cutoffs = ", ".join(each.cutoff for each in measures if each.cutoff)
    parts: list[Child] = [element("div", metric.title), element("div", element("code", formula))]
    if cutoffs:
        parts.append(element("div", f"Here k = {cutoffs}.") if first.k is not None else None)
    source = [part for part in (metric.note, metric.source) if part]
    parts += [element("div", part, class_="note") for part in source]
    return first.head, join(parts)


def describe_provenance(content: PageContent) -> PageSection:
    """Describe how the page can be made again."""
    results, evidence = content.results, content.evidence
    options = _describe_options(results, content.comparison)
    facts: dict[str, Child] = {"Program": f"xmceval {results[0].version}", "Truth": name(results[0].truth)}
    facts |= {"Options": options or "all as by default"}
    lines: list[Child] = [write_sentence(line, content.names) for line in describe_propensities(results)]
    if any(each.propensities is not None and each.propensities.n is not None for each in results):
        lines.append(PROPENSITY)
    parts: list[Child] = [draw_facts(facts.items()), draw_lines(lines)]
    if evidence.inputs:
        is_closed = len(evidence.inputs) > MOST_LINES
        files = fold(counted(len(evidence.inputs), "file"), _list_inputs(evidence.inputs), is_closed=is_closed)
        parts += [element("h3", "Input files"), files]
    if evidence.command:
        parts += [element("h3", "Command that makes this page"), element("pre", element("code", evidence.command))]
    return PageSection("provenance", "Provenance", join(parts))


def _describe_options(results: Sequence[Result], comparison: Comparison | None) -> Markup | None:
    options: dict[str, Any] = dict(results[0].options)
    if comparison is not None:
        options |= {key: value for key, value in vars(comparison.testing).items() if value is not None}
    items = [element("code", describe_option(key, value)) for key, value in options.items()]
    return spaced(items, ", ") if items else None


def _list_inputs(inputs: Sequence[InputFile]) -> Markup:
    rows = [(each.path, each.role, f"{each.n_bytes:,}", each.sha256) for each in inputs]
    return _draw_table("Input files", ["File", "read as", "bytes", "SHA-256"], rows, (2,))
