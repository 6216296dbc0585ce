"""Write a report as one self-contained HTML file without scripts or network access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xmceval.comparison.comparison import Comparison
from xmceval.comparison.sheet import build_comparison_sheet, list_differences, list_runs, write_verdicts
from xmceval.errors import UsageError, counted, listed
from xmceval.files.io.streams import read_resource
from xmceval.page.provenance import NOTHING, Provenance, draw_definitions, draw_provenance
from xmceval.page.tables import draw_lines, draw_listings, draw_section, fold, separate, write_sentence
from xmceval.report.forms import load_form
from xmceval.report.forms.html import Child, Markup, element, isolate, join, name, raw, text
from xmceval.report.pictures import check_installed, choose_measures
from xmceval.report.result import Result
from xmceval.report.score_sheet import build_sheet
from xmceval.report.scored import shared_lines
from xmceval.report.sheet import DEFAULT, Layout, Listing, Section, Sheet
from xmceval.version import VERSION

if TYPE_CHECKING:
    from xmceval.report.pictures.figure import Plan

MOST_NAMES = 3  # systems in a title
MOST_LINES = 12  # doubts or sentences that are initially visible
ARRAY = "array"  # the name of unnamed inputs
ANCHORS = {"By group": "bins", "By label frequency": "bins"}  # sections with an anchor other than their title
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"  # a browser loads nothing


def render_page(
    results: Sequence[Result],
    comparison: Comparison | None = None,
    *,
    title: str | None = None,
    provenance: Provenance = NOTHING,
    layout: Layout = DEFAULT,
) -> str:
    """Write a page of systems scored on the same truth; equal results give equal bytes.

    The default title names the systems and the data set, or else the truth.
    """
    check_installed()
    layout = layout.settle(results[0].nouns)
    truth = results[0].truth
    if comparison is None:
        sheet = build_sheet(results, layout)
        systems = [result.name for result in results]
        doubts = tuple(shared_lines(results, "doubts"))
    else:
        sheet = build_comparison_sheet(comparison, layout)
        systems = list(comparison.systems)
        doubts = comparison.doubts
    names = [result.name for result in results] + systems + [figure.measure.head for figure in results[0].figures]
    bins = "By label frequency"
    if any(part.bin.noun == "group" for result in results for part in result.slices):
        bins = "By group"
    doubt_list: Markup = draw_lines((isolate(line, names) for line in doubts), "doubts")
    if len(doubts) > MOST_LINES:
        doubt_list = fold(counted(len(doubts), "doubt"), doubt_list)
    kinds = ["bins", "differences"]
    if len({figure.measure.k for figure in results[0].figures} - {None}) > 1:  # else a table is enough
        kinds = ["curves", *kinds]
    figures = []
    for kind in kinds:
        with suppress(UsageError):  # no metric can be drawn in this way, or there is no comparison
            figures.append(_draw_picture(kind, results, comparison))
    sections = {
        "Verdict": draw_lines((write_sentence(line, names) for line in sheet.verdicts), "verdicts"),
        "Doubts": doubt_list,
        "Results": _draw_values(results, sheet, sheet.sections[:1], names),
        bins: _draw_values(results, sheet, sheet.sections[1:]),
        "Pictures": join(figures),
        **_draw_comparison(comparison, layout, names),
        "Definitions": draw_definitions(results[0]),
        "Provenance": draw_provenance(results, provenance, names),
    }
    listing = ", ".join(systems)
    *most, last = map(name, systems)
    heading = separate([separate(most, ", "), last], " and ")
    if len(systems) > MOST_NAMES:
        listing = counted(len(systems), "system")
        heading = text(listing)
    data = results[0].options.get("dataset", truth)
    if data != ARRAY:
        listing = f"{listing} on {data}"
        heading = join([heading, " on ", name(data)])
    if title:
        heading = name(title)
    facts: list[Child] = list(sheet.above)
    if truth != ARRAY:
        facts = [["Truth: ", name(truth)], *facts]
    header = element("header", element("h1", heading), element("p", separate(facts, " · "), class_="about"))
    return _frame_page(title or listing, header, sections)


def render_benchmark(
    benchmark: Any, doubts: Sequence[str], *, provenance: Provenance = NOTHING, layout: Layout = DEFAULT
) -> str:
    """Write a page of a benchmark that was scored on any data set, with a table for each."""
    sheet: Sheet = benchmark._sheet(layout)
    datasets = [dataset.name for dataset in benchmark.datasets]
    results = [result for dataset in benchmark.datasets for result in dataset.scored]
    names = [*benchmark.systems, *datasets]
    verdicts = [f"{data}: {line}" for data, found in benchmark.items() for line in write_verdicts(found, sheet.layout)]
    sections = {
        "Verdict": draw_lines((write_sentence(line, names) for line in verdicts), "verdicts"),
        "Doubts": draw_lines((isolate(line, names) for line in doubts), "doubts"),
        "Results": _draw_values(results, sheet, sheet.sections, names),
        "Pictures": _draw_plan("benchmark", load_form("benchmark").plan_benchmark(benchmark)),
        "Definitions": draw_definitions(max(results, key=lambda result: len(result.figures))),
        "Provenance": draw_provenance(results, provenance, names),
    }
    title = f"{counted(len(benchmark.systems), 'system')} on {listed(datasets, 'and')}"
    return _frame_page(title, element("header", element("h1", name(title))), sections)


def _draw_values(
    results: Sequence[Result], sheet: Sheet, sections: Sequence[Section], names: Sequence[str] | None = None
) -> Markup:
    """Show the table of all labels, or of bins of labels or groups of rows; with `names`, also the notes."""
    shares = [figure.measure.metric.unit == "share" for result in results for figure in result.figures]
    unit = ""
    if sheet.layout.is_in_percent and any(shares):
        unit = "Percent" if all(shares) else "Shares in percent"
    drawn = [draw_section(section, sheet, unit) for section in sections]
    if names is not None:
        drawn.append(draw_lines((write_sentence(line, names) for line in (*sheet.notes, *sheet.below)), "lines"))
    return join(drawn)


def _draw_picture(kind: str, results: Sequence[Result], comparison: Comparison | None) -> Markup:
    """Draw a picture with its legend above panels that the page arranges to fit its width."""
    from xmceval.report.pictures.drawing import plan_picture

    return _draw_plan(kind, plan_picture(kind, results, comparison, choose_measures(kind, results, comparison)))


def _draw_plan(kind: str, plan: Plan) -> Markup:
    from xmceval.report.pictures.figure import draw_keys, draw_panels

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


def _draw_comparison(comparison: Comparison | None, layout: Layout, names: Sequence[str]) -> dict[str, Markup]:
    """Show the differences of each pair, those in bins of labels folded, and the spread of runs."""
    if comparison is None or not layout.pairs:
        return {}
    listings: list[list[Listing]] = []
    for in_bins in (False, True):
        differences = [difference for difference in comparison.differences if bool(difference.bin) == in_bins]
        listings.append(list(list_differences(replace(comparison, differences=tuple(differences)), layout)))
    whole, bins = listings
    drawn = draw_listings(whole, names)
    if bins:
        noun = comparison.results[0].slices[0].bin.noun
        drawn = join([drawn, fold(f"In each {noun}: {counted(len(bins), 'table')}", draw_listings(bins, names))])
    return {"Differences": drawn, "Runs": draw_listings(list_runs(comparison.runs, layout), names)}


def _frame_page(title: str, header: Markup, sections: Mapping[str, Markup]) -> str:
    """Write a page of the non-empty sections by title, with links to them."""
    shown = [
        (ANCHORS.get(heading, heading.lower()), heading, content) for heading, content in sections.items() if content
    ]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="generator", content=f"xmceval {VERSION}"),
        element("title", title),
        element("style", raw(read_resource(__package__, "style.css"))),
    )
    links = [element("li", element("a", heading, href=f"#{anchor}")) for anchor, heading, _ in shown]
    drawn = []
    for anchor, heading, content in shown:
        label = f"{anchor}-title"
        parts = element("h2", heading, id=label), content
        drawn.append(element("section", parts, id=anchor, aria_labelledby=label))
    body = element(
        "body",
        element("a", "Skip to the results", href="#results", class_="skip"),
        header,
        element("nav", element("ul", links), aria_label="On this page"),
        element("main", drawn),
        element("footer", f"Made by xmceval {VERSION}."),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"
