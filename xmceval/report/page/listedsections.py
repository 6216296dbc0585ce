"""Listed sections: what a page shows as lists of the sheet, as the other forms draw them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from xmceval.errors import counted
from xmceval.report.comparison import Comparison
from xmceval.report.forms.markup import Child, Markup, join, name
from xmceval.report.page.copying import copy_listings
from xmceval.report.page.pagecontent import PageContent
from xmceval.report.page.pageparts import (
    MOST_LINES,
    PageSection,
    draw_lines,
    draw_listing,
    fold,
    write_sentence,
    write_title,
)
from xmceval.report.sheet.bounds import list_ceilings, list_ties
from xmceval.report.sheet.comparesheet import list_runs
from xmceval.report.sheet.differences import list_differences, list_pair
from xmceval.report.sheet.model import MINUS, Listing
from xmceval.report.sheet.verdicts import has_many_pairs


def show_differences(content: PageContent) -> PageSection | None:
    """Show what the differences come to in words, then those of each pair; many pairs and bins are closed at first."""
    comparison, names = content.comparison, content.names
    if comparison is None or not comparison.differences:
        return None
    verdicts = draw_lines((write_sentence(line, names) for line in content.sheet.verdicts), "verdicts")
    parts: list[Child] = [
        fold(
            f"In words: {counted(len(content.sheet.verdicts), 'sentence')}",
            verdicts,
            is_closed=len(content.sheet.verdicts) > MOST_LINES,
        ),
    ]
    if content.layout.pairs is not False:
        parts += _draw_pairs(content, comparison)
    return PageSection("differences", "Differences", join(parts))


def _draw_pairs(content: PageContent, comparison: Comparison) -> Iterator[Child]:
    """Draw the tables of each pair; many pairs are copied together, without bins, as the lists that text has."""
    if not has_many_pairs(comparison):
        for pair in comparison.pairs:
            yield from _draw_pair(content, comparison, pair, has_copies=True)
        return
    pairs = [
        fold([name(pair[0]), f" {MINUS} ", name(pair[1])], _draw_pair(content, comparison, pair, has_copies=False))
        for pair in comparison.pairs
    ]
    yield _fold_many("Each pair", pairs)
    whole = replace(comparison, differences=tuple(each for each in comparison.differences if not each.bin))
    yield copy_listings([*list_differences(whole, content.layout)], content.layout, whole)


def _draw_pair(
    content: PageContent, comparison: Comparison, pair: tuple[str, str], *, has_copies: bool
) -> Iterator[Markup]:
    """Draw the differences of a pair over all labels, then those in each bin of labels, which are closed at first."""
    bins = dict.fromkeys(each.bin for each in comparison.differences if (each.system, each.baseline) == pair)
    for listing, bin_name in zip(list_pair(comparison, pair, content.layout), bins, strict=True):
        own = replace(comparison, differences=tuple(comparison.of_pair(*pair, bin_name)))
        copies = copy_listings([listing], content.layout, own) if has_copies else None
        yield _draw_listing(content, listing, copies, is_closed=bool(bin_name))


def _draw_listing(content: PageContent, listing: Listing, copies: Markup | None, *, is_closed: bool) -> Markup:
    """Draw a list with what copies it; the title of a closed one is where a reader opens it."""
    drawn = [draw_listing(listing, content.names, has_caption=not is_closed), copies]
    return fold(write_title(listing.title, content.names), drawn, is_closed=is_closed)


def show_comparable(content: PageContent) -> Iterator[PageSection | None]:
    """Show what values can be compared with: ceilings, and what other orders of ties would give."""
    results, layout = content.results, content.layout
    yield _show("ceilings", "Ceilings", list_ceilings(results, layout), content)
    yield _show("ties", "Ties", list_ties(results, layout), content)


def show_runs(content: PageContent) -> PageSection | None:
    """Show how far the runs of each system lie apart."""
    if content.comparison is None or content.layout.pairs is False:
        return None
    return _show("runs", "Runs", list_runs(content.comparison.runs, content.layout), content)


def _show(anchor: str, title: str, listings: Iterable[Listing], content: PageContent) -> PageSection | None:
    """Show lists; long ones are closed at first."""
    drawn = []
    for each in listings:
        copies = copy_listings([each], content.layout) if each.rows else None
        drawn.append(_draw_listing(content, each, copies, is_closed=len(each.body) > MOST_LINES))
    return PageSection(anchor, title, _fold_many("All", drawn)) if drawn else None


def _fold_many(title: str, drawn: Sequence[Markup]) -> Markup:
    """Draw what is already closed below one title, where it is much."""
    return fold(f"{title}: {counted(len(drawn), 'table')}", drawn, is_closed=len(drawn) > MOST_LINES)
