"""Page: a report as one HTML file that needs nothing else: no network, and no scripts to be read."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence

from xmceval.errors import counted
from xmceval.files.resources import read_resource
from xmceval.report.comparison import Comparison
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.forms.markup import Child, Markup, element, join, name, raw
from xmceval.report.page.datasections import (
    describe_data,
    describe_files,
    describe_provenance,
    list_warnings,
    show_definitions,
)
from xmceval.report.page.drawings import show_pictures
from xmceval.report.page.evidence import NOTHING, Evidence
from xmceval.report.page.headline import write_headline
from xmceval.report.page.listedsections import show_comparable, show_details, show_differences
from xmceval.report.page.pageparts import PageSection, spaced
from xmceval.report.page.valuetables import show_bins, show_results
from xmceval.report.pictures import check_installed
from xmceval.report.result import Result
from xmceval.report.sheet.comparesheet import build_comparison_sheet
from xmceval.report.sheet.model import Sheet
from xmceval.report.sheet.scoresheet import build_sheet
from xmceval.version import VERSION

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

    Raises
    ------
    DataError
        matplotlib is not installed.
    """
    check_installed()
    if comparison is not None:
        sheet = build_comparison_sheet(comparison, layout)
    else:
        sheet = build_sheet(results, layout)
    sections = [each for each in _build_sections(results, comparison, sheet, evidence) if each is not None]
    style, script = (read_resource(__name__, each) for each in ("style.css", "script.js"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        element("meta", name="generator", content=f"xmceval {VERSION}"),
        element("title", title or _name_all(results, comparison)),
        element("style", raw(style)),
    )
    body = element(
        "body",
        element("a", "Skip to the results", href="#results", class_="skip"),
        _draw_header(results, comparison, sheet, title),
        element(
            "main",
            _draw_verdict(results, comparison, evidence, layout),
            _draw_contents(sections),
            [each.draw() for each in sections],
        ),
        element("footer", f"Made by xmceval {VERSION}."),
        element("div", id="status", class_="status", role="status"),
        element("script", raw(script)),
    )
    page: str = element("html", head, body, lang="en")
    return f"<!doctype html>\n{page}\n"


def _build_sections(
    results: Sequence[Result], comparison: Comparison | None, sheet: Sheet, evidence: Evidence
) -> Iterator[PageSection | None]:
    layout, names = sheet.layout, _list_names(results, comparison)
    yield show_results(results, sheet, names)
    yield None if comparison is None else show_differences(comparison, sheet, names)
    yield show_pictures(results, comparison, layout)
    yield show_bins(results, sheet, names)
    yield from show_comparable(results, layout, names)
    yield from () if comparison is None else show_details(comparison, layout, names)
    yield describe_data(results, evidence)
    yield describe_files(results, comparison, evidence, layout)
    yield show_definitions(results)
    yield describe_provenance(results, comparison, evidence, names)


def _list_names(results: Sequence[Result], comparison: Comparison | None) -> list[str]:
    """List the names of systems and metrics, which sentences may begin with and which are written in any direction."""
    systems = [*_systems(results, comparison), *(result.name for result in results)]
    return list(dict.fromkeys([*systems, *(figure.measure.head for result in results for figure in result.figures)]))


def _policy(script: str) -> str:
    """Return what a browser may do with the page: run this one script, and load nothing."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}'"
    return f"default-src 'none'; style-src 'unsafe-inline'; {scripts}; base-uri 'none'; form-action 'none'"


def _draw_header(results: Sequence[Result], comparison: Comparison | None, sheet: Sheet, title: str | None) -> Markup:
    has_truth = results[0].truth != ARRAY and (comparison is None or not comparison.source)
    truth: list[Child] = [["Truth: ", name(results[0].truth)]] if has_truth else []
    heading = name(title) if title else _name_systems(results, comparison)
    return element("header", element("h1", heading), element("p", spaced([*truth, *sheet.above[:1]]), class_="about"))


def _systems(results: Sequence[Result], comparison: Comparison | None) -> list[str]:
    runs = () if comparison is None else comparison.runs
    of_runs = {each for system in runs for each in system.results}
    return [*(each.name for each in runs), *(each.name for each in results if each.name not in of_runs)]


def _name_systems(results: Sequence[Result], comparison: Comparison | None) -> Markup:
    names = _systems(results, comparison)
    if len(names) > MOST_NAMES:
        return join([counted(len(names), "system")])
    *most, last = map(name, names)
    return join([spaced(most, ", "), " and " if most else "", last])


def _name_all(results: Sequence[Result], comparison: Comparison | None) -> str:
    names = _systems(results, comparison)
    listed = f"{len(names)} systems" if len(names) > MOST_NAMES else ", ".join(names)
    return listed if results[0].truth == ARRAY else f"{listed} on {results[0].truth}"


def _draw_verdict(
    results: Sequence[Result], comparison: Comparison | None, evidence: Evidence, layout: Layout
) -> Markup:
    """Draw what the page comes to, and whether there are warnings."""
    sentences = write_headline(results, comparison, layout)
    n_warnings = len(list_warnings(results, comparison, evidence))
    parts = [element("p", each, class_=None if i else "lead") for i, each in enumerate(sentences)]
    if n_warnings:
        verb = "applies" if n_warnings == 1 else "apply"
        link = element("a", counted(n_warnings, "warning"), href="#files")
        parts.append(element("p", link, f" {verb} to these numbers.", class_="caution"))
    heading = element("h2", "Verdict", id="verdict-title")
    return element("section", heading, parts, id="verdict", aria_labelledby="verdict-title")


def _draw_contents(sections: Sequence[PageSection]) -> Markup:
    items = [element("li", element("a", each.title, href=f"#{each.anchor}")) for each in sections]
    heading = element("h2", "On this page", id="contents-title")
    return element("nav", heading, element("ul", items), aria_labelledby="contents-title")
