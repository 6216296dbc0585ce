"""Listed sections: what a page shows as lists of the sheet, as the other forms draw them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xmceval.report.forms.markup import Child, element, join, name
from xmceval.report.page.pagecontent import PageContent
from xmceval.report.page.pageparts import PageSection, draw_lines, draw_listing, write_sentence, write_title
from xmceval.report.sheet.bounds import list_ceilings, list_ties
from xmceval.report.sheet.comparesheet import list_runs
from xmceval.report.sheet.differences import list_pair
from xmceval.report.sheet.model import MINUS, Listing
from xmceval.report.sheet.overlaplists import list_examples, list_overlap
from xmceval.report.sheet.scoresheet import list_standings
from xmceval.report.sheet.verdicts import has_many_pairs

OVERLAP_NOTES = (
    "Jaccard: labels that both lists have, of those that at least one has.",
    "Hits of both, only …: shares of the hits that at least one of the two finds.",
    "Union P, R: of the two lists together; oracle P: of the best k labels of the union.",
)


def show_differences(content: PageContent) -> PageSection | None:
    """Show what the differences come to in words, then those of each pair; many pairs and bins are closed at first."""
    comparison, names = content.comparison, content.names
    if comparison is None or not comparison.differences:
        return None
    is_closed = has_many_pairs(comparison)
    parts: list[Child] = [draw_lines((write_sentence(line, names) for line in content.sheet.verdicts), "verdicts")]
    for pair in () if content.layout.pairs is False else comparison.pairs:
        tables = [*_draw_pair(list_pair(comparison, pair, content.layout), names)]
        summary = element("summary", join([name(pair[0]), f" {MINUS} ", name(pair[1])]))
        parts += [element("details", summary, tables)] if is_closed else tables
    return PageSection("differences", "Differences", join(parts))


def _draw_pair(listings: Iterable[Listing], names: Sequence[str]) -> Iterator[Child]:
    whole, *bins = listings
    yield draw_listing(whole, names)
    for each in bins:
        summary = element("summary", write_title(each.title, names))
        yield element("details", summary, draw_listing(each, names, has_caption=False))


def show_comparable(content: PageContent) -> Iterator[PageSection | None]:
    """Show what values can be compared with: published ones, ceilings, and what other orders of ties would give."""
    results, layout = content.results, content.layout
    yield _show("published", "Among published results", list_standings(results, layout, metrics=None), content)
    yield _show("ceilings", "Ceilings", list_ceilings(results, layout), content)
    yield _show("ties", "Ties", list_ties(results, layout), content)


def show_details(content: PageContent) -> Iterator[PageSection | None]:
    """Show the runs of systems, how far lists of labels overlap, and examples of rows."""
    comparison, layout = content.comparison, content.layout
    if comparison is None or layout.pairs is False:
        return
    overlaps = (list_overlap(each, layout) for each in comparison.overlaps)
    yield _show("runs", "Runs", list_runs(comparison.runs, layout), content)
    yield _show("overlap", "Overlap of lists", overlaps, content, OVERLAP_NOTES)
    yield _show("examples", "Examples", list_examples(comparison.examples, layout, longest=None), content)


def _show(
    anchor: str, title: str, listings: Iterable[Listing], content: PageContent, notes: Sequence[str] = ()
) -> PageSection | None:
    drawn = [draw_listing(each, content.names) for each in listings]
    return PageSection(anchor, title, join([draw_lines(notes), *drawn])) if drawn else None
