"""Listed sections: what a page shows as lists of the sheet, as the other forms draw them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xmceval.report.comparison import Comparison
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.markup import Child, element, join, name
from xmceval.report.page.pageparts import PageSection, draw_lines, draw_listing, write_sentence, write_title
from xmceval.report.result import Result
from xmceval.report.sheet.bounds import list_ceilings, list_ties
from xmceval.report.sheet.comparesheet import describe_test, list_runs
from xmceval.report.sheet.differences import list_pair
from xmceval.report.sheet.model import MINUS, Listing, Sheet
from xmceval.report.sheet.overlaplists import list_examples, list_overlap
from xmceval.report.sheet.scoresheet import list_standings
from xmceval.report.sheet.verdicts import has_many_pairs

OVERLAP_NOTES = (
    "Jaccard: labels that both lists have, of those that at least one has.",
    "Hits of both, only …: shares of the hits that at least one of the two finds.",
    "Union P, R: of the two lists together; oracle P: of the best k labels of the union.",
)


def show_differences(comparison: Comparison, sheet: Sheet, names: Sequence[str]) -> PageSection | None:
    """Show what the differences come to in words, then those of each pair; many pairs and bins are closed at first."""
    if not comparison.differences:
        return None
    is_closed = has_many_pairs(comparison)
    content: list[Child] = [
        element("p", write_sentence(describe_test(comparison), names), class_="note"),
        draw_lines((write_sentence(line, names) for line in sheet.verdicts), "verdicts"),
    ]
    for pair in comparison.pairs:
        tables = [*_draw_pair(comparison, pair, sheet.layout, names)]
        summary = element("summary", join([name(pair[0]), f" {MINUS} ", name(pair[1])]))
        content += [element("details", summary, tables)] if is_closed else tables
    return PageSection("differences", "Differences", join(content))


def _draw_pair(comparison: Comparison, pair: tuple[str, str], layout: Layout, names: Sequence[str]) -> Iterator[Child]:
    whole, *bins = list_pair(comparison, pair, layout)
    yield draw_listing(whole, names)
    for each in bins:
        summary = element("summary", write_title(each.title, names))
        yield element("details", summary, draw_listing(each, names, has_caption=False))


def show_details(comparison: Comparison, layout: Layout, names: Sequence[str]) -> Iterator[PageSection | None]:
    """Show the runs of systems, how far lists of labels overlap, and examples of rows."""
    yield _show("runs", "Runs", list_runs(comparison.runs, layout), names)
    overlaps = (list_overlap(each, layout) for each in comparison.overlaps)
    yield _show("overlap", "Overlap of lists", overlaps, names, OVERLAP_NOTES)
    yield _show("examples", "Examples", list_examples(comparison.examples, layout, longest=None), names)


def show_comparable(results: Sequence[Result], layout: Layout, names: Sequence[str]) -> Iterator[PageSection | None]:
    """Show what values can be compared with: published ones, ceilings, and what other orders of ties would give."""
    yield _show("published", "Among published results", list_standings(results, layout, metrics=None), names)
    yield _show("ceilings", "Ceilings", list_ceilings(results, layout), names)
    yield _show("ties", "Ties", list_ties(results, layout), names)


def _show(
    anchor: str, title: str, listings: Iterable[Listing], names: Sequence[str], notes: Sequence[str] = ()
) -> PageSection | None:
    drawn = [draw_listing(each, names) for each in listings]
    return PageSection(anchor, title, join([draw_lines(notes), *drawn])) if drawn else None
