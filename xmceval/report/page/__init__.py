"""Page: a report as one HTML file that needs nothing else: no network, and no scripts to be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xmceval.errors import counted
from xmceval.report.comparison import Comparison
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.forms.markup import Child, Markup, element, join, name
from xmceval.report.page.datasections import (
    describe_data,
    describe_files,
    describe_provenance,
    show_definitions,
)
from xmceval.report.page.drawings import show_pictures
from xmceval.report.page.evidence import NOTHING, Evidence
from xmceval.report.page.headline import write_headline
from xmceval.report.page.listedsections import show_comparable, show_differences, show_runs
from xmceval.report.page.pagecontent import PageContent
from xmceval.report.page.pageframe import draw_contents, frame_page
from xmceval.report.page.pageparts import PageSection, spaced
from xmceval.report.page.valuetables import show_bins, show_results
from xmceval.report.page.winmatrix import draw_matrix
from xmceval.report.pictures import check_installed
from xmceval.report.result import Result

MOST_NAMES = 3  # systems in a title
ARRAY = "array"  # what has no name


def render_page(
    results: Sequence[Result],
    comparison: Comparison | None = None,
    *,
    title: str | None = None,
    evidence: Evidence = NOTHING,
    layout: Layout = DEFAULT,
) -> str:
    """Write a page; the same results and evidence give the same bytes.

    Parameters
    ----------
    results : sequence of Result
        Of systems that were scored on the same truth.
    comparison : Comparison, optional
        Of these systems.
    title : str, optional
        Default: the systems and the truth.
    evidence : Evidence
        What was found in the files, and the command.
    layout : Layout
        Decimal places, and whether shares are percent.
    """
    check_installed()
    content = PageContent(results, comparison, evidence, layout)
    sections = [each for each in _build_sections(content) if each is not None]
    contents = draw_contents("On this page", sections)
    main = [_draw_verdict(content), [each.draw() for each in sections]]
    return frame_page(title or _name_all(content), _draw_header(content, title), contents, main)


def _build_sections(content: PageContent) -> Iterator[PageSection | None]:
    yield show_results(content)
    yield show_differences(content)
    yield show_pictures(content)
    yield show_bins(content)
    yield from show_comparable(content)
    yield show_runs(content)
    yield describe_data(content)
    yield describe_files(content)
    yield show_definitions(content)
    yield describe_provenance(content)


def _draw_header(content: PageContent, title: str | None) -> Markup:
    truth, comparison = content.results[0].truth, content.comparison
    has_truth = truth != ARRAY and (comparison is None or not comparison.source)
    facts: list[Child] = [["Truth: ", name(truth)] if has_truth else None, *content.sheet.above[:1]]
    heading = name(title) if title else _name_systems(content)
    return element("header", element("h1", heading), element("p", spaced(filter(None, facts)), class_="about"))


def _name_systems(content: PageContent) -> Markup:
    names = content.ranking.names
    if len(names) > MOST_NAMES:
        return join([counted(len(names), "system")])
    *most, last = map(name, names)
    return join([spaced(most, ", "), " and " if most else "", last])


def _name_all(content: PageContent) -> str:
    names, truth = content.ranking.names, content.results[0].truth
    listed = f"{len(names)} systems" if len(names) > MOST_NAMES else ", ".join(names)
    return listed if truth == ARRAY else f"{listed} on {truth}"


def _draw_verdict(content: PageContent) -> Markup:
    """Draw what the page comes to in sentences and signs, and whether there are warnings."""
    sentences = write_headline(content.results, content.comparison, content.layout)
    parts: list[Child] = [element("p", each, class_=None if i else "lead") for i, each in enumerate(sentences)]
    if content.warnings:
        n_warnings = len(content.warnings)
        verb = "applies" if n_warnings == 1 else "apply"
        link = element("a", counted(n_warnings, "warning"), href="#files")
        parts.append(element("p", link, f" {verb} to these numbers.", class_="caution"))
    parts.append(draw_matrix(content))
    heading = element("h2", "Verdict", id="verdict-title")
    return element("section", heading, parts, id="verdict", aria_labelledby="verdict-title")
