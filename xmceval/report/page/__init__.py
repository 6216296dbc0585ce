"""Page: a report as one HTML file that needs nothing else: no network, and no scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from xmceval.errors import UsageError, counted
from xmceval.files.io.streams import read_resource
from xmceval.report.comparison import Comparison
from xmceval.report.forms.html import Markup, element, isolate, join, name, raw
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.page.provenance import NOTHING, Provenance, draw_definitions, draw_provenance
from xmceval.report.page.tables import draw_lines, draw_listings, draw_section, fold, separate, write_sentence
from xmceval.report.pictures import check_installed
from xmceval.report.pictures.chosen import Subject, choose_measures
from xmceval.report.result import Result
from xmceval.report.scored import shared_lines
from xmceval.report.sheet.comparesheet import build_comparison_sheet, list_differences, list_runs
from xmceval.report.sheet.model import Listing, Sheet
from xmceval.report.sheet.scoresheet import build_sheet
from xmceval.version import VERSION

MOST_NAMES = 3  # systems in a title
MOST_LINES = 12  # doubts, or sentences, that are open at first
ARRAY = "array"  # what has no name
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"  # a browser loads nothing


@dataclass(frozen=True)
class PageSection:
    """A section of a page: its anchor, its title and what it shows."""

    anchor: str
    title: str
    content: Markup


def render_page(
    results: Sequence[Result],
    comparison: Comparison | None = None,
    *,
    title: str | None = None,
    provenance: Provenance = NOTHING,
    layout: Layout = DEFAULT,
) -> str:
    """Write a page of systems that were scored on the same truth; the same results give the same bytes.

    The default title is the systems and the truth.
    """
    check_installed()
    sheet = build_sheet(results, layout) if comparison is None else build_comparison_sheet(comparison, layout)
    names = [*(result.name for result in results), *(() if comparison is None else comparison.systems)]
    names += [figure.measure.head for figure in results[0].figures]
    sections = [
        *_show_verdicts(sheet, names),
        *_show_doubts(results, comparison, names),
        *_show_values(results, sheet, names),
        *_show_pictures(results, comparison),
        *_show_differences(comparison, layout, names),
        PageSection("definitions", "Definitions", draw_definitions(results[0])),
        PageSection("provenance", "Provenance", draw_provenance(results, provenance, names)),
    ]
    systems = [result.name for result in results] if comparison is None else list(comparison.systems)
    are_many = len(systems) > MOST_NAMES
    listing = counted(len(systems), "system") if are_many else ", ".join(systems)
    heading = name(title) if title else listing if are_many else _list_names(systems)
    has_truth = results[0].truth != ARRAY and (comparison is None or not comparison.source)
    facts = [["Truth: ", name(results[0].truth)] if has_truth else None, *sheet.above]
    header = element("header", element("h1", heading), element("p", separate(facts, " · "), class_="about"))
    return _frame_page(title or (f"{listing} on {results[0].truth}" if has_truth else listing), header, sections)


def _list_names(systems: Sequence[str]) -> Markup:
    *most, last = map(name, systems)
    return join([separate(most, ", "), " and " if most else "", last])


def _show_verdicts(sheet: Sheet, names: Sequence[str]) -> Iterator[PageSection]:
    """Show what a comparison comes to, in sentences."""
    sentences = [write_sentence(line, names) for line in sheet.verdicts]
    if sentences:
        yield PageSection("verdict", "Verdict", draw_lines(sentences, "verdicts"))


def _show_doubts(
    results: Sequence[Result], comparison: Comparison | None, names: Sequence[str]
) -> Iterator[PageSection]:
    """Show why the values may be wrong."""
    lines = comparison.doubts if comparison is not None else tuple(shared_lines(results, "doubts"))
    if lines:
        drawn = draw_lines((isolate(line, names) for line in lines), "doubts")
        is_long = len(lines) > MOST_LINES
        yield PageSection("doubts", "Doubts", fold(counted(len(lines), "doubt"), drawn) if is_long else drawn)


def _show_values(results: Sequence[Result], sheet: Sheet, names: Sequence[str]) -> Iterator[PageSection]:
    """Show the table of all labels with its notes, then that of each bin of labels or group of instances."""
    whole, *bins = sheet.sections
    shares = [figure.measure.metric.unit == "share" for result in results for figure in result.figures]
    unit = ("Percent" if all(shares) else "Shares in percent") if sheet.layout.percent and any(shares) else ""
    notes = draw_lines((write_sentence(line, names) for line in (*sheet.notes, *sheet.below)), "lines")
    yield PageSection("results", "Results", join([draw_section(whole, sheet, unit), notes]))
    if bins:
        is_of_groups = any(part.bin.noun == "group" for result in results for part in result.slices)
        title = "By group" if is_of_groups else "By label frequency"
        yield PageSection("bins", title, join(draw_section(section, sheet, unit) for section in bins))


def _show_pictures(results: Sequence[Result], comparison: Comparison | None) -> Iterator[PageSection]:
    """Draw every kind of picture that has something to show."""
    has_curves = len({figure.measure.k for figure in results[0].figures} - {None}) > 1  # or the table says as much
    kinds = [*(["curves"] if has_curves else []), "bins", *(["differences"] if comparison is not None else [])]
    figures = []
    for kind in kinds:
        with suppress(UsageError):  # none of the metrics can be drawn so
            figures.append(_draw_picture(kind, results if comparison is None else comparison))
    if figures:
        yield PageSection("pictures", "Pictures", join(figures))


def _draw_picture(kind: str, subject: Subject) -> Markup:
    """Draw a picture whose panels a page arranges as it has room, below its legend."""
    from xmceval.report.pictures.drawing import plan_picture
    from xmceval.report.pictures.figure import draw_keys, draw_panels

    plan = plan_picture(kind, subject, choose_measures(kind, subject))
    keys = [element("li", raw(symbol), name(text)) for text, symbol in draw_keys(plan, f"{kind}-key")]
    panels = [raw(panel) for panel in draw_panels(plan, f"{kind}-panel")]
    caption = ". ".join(text[:1].upper() + text[1:] for text in (plan.caption, plan.note) if text)
    return element(
        "figure",
        element("ul", keys, class_="keys") if keys else None,
        element("div", panels, class_="panels"),
        element("figcaption", f"{caption}."),
        id=f"picture-{kind}",
        aria_label=plan.text,
    )


def _show_differences(comparison: Comparison | None, layout: Layout, names: Sequence[str]) -> Iterator[PageSection]:
    """Show the differences of each pair, those in bins of labels behind a line, and how far runs lie apart."""
    if comparison is None or layout.pairs is False:
        return
    if comparison.differences:
        whole, bins = (_list_differences(comparison, layout, in_bins=in_bins) for in_bins in (False, True))
        parts = [draw_listings(whole, names)]
        if bins:
            noun = comparison.results[0].slices[0].bin.noun
            parts.append(fold(f"In each {noun}: {counted(len(bins), 'table')}", draw_listings(bins, names)))
        yield PageSection("differences", "Differences", join(parts))
    if comparison.runs:
        yield PageSection("runs", "Runs", draw_listings(list_runs(comparison.runs, layout), names))


def _list_differences(comparison: Comparison, layout: Layout, *, in_bins: bool) -> list[Listing]:
    differences = tuple(difference for difference in comparison.differences if bool(difference.bin) == in_bins)
    return list(list_differences(replace(comparison, differences=differences), layout))


def _frame_page(title: str, header: Markup, sections: Sequence[PageSection]) -> str:
    """Write a page of sections, with links to them."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="generator", content=f"xmceval {VERSION}"),
        element("title", title),
        element("style", raw(read_resource(__package__, "style.css"))),
    )
    links = [element("li", element("a", section.title, href=f"#{section.anchor}")) for section in sections]
    body = element(
        "body",
        element("a", "Skip to the results", href="#results", class_="skip"),
        header,
        element("nav", element("ul", links), aria_label="On this page"),
        element("main", map(_draw_section, sections)),
        element("footer", f"Made by xmceval {VERSION}."),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _draw_section(section: PageSection) -> Markup:
    heading = element("h2", section.title, id=f"{section.anchor}-title")
    return element("section", heading, section.content, id=section.anchor, aria_labelledby=f"{section.anchor}-title")
