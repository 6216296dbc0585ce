"""Drawings: the pictures of a page, each with its main finding in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from xmceval.errors import UsageError, counted, listed
from xmceval.report.comparison import Difference
from xmceval.report.forms.markup import Markup, element, join, name, raw, text
from xmceval.report.page.pagecontent import PageContent
from xmceval.report.page.pageparts import PageSection
from xmceval.report.pictures import COMPARISON, KINDS, check, draw_panels, to_svg
from xmceval.report.pictures.plottedvalues import Subject, deepest
from xmceval.report.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def show_pictures(content: PageContent) -> PageSection | None:
    """Draw every kind of picture that has something to show."""
    figures = [*_draw_figures(content)]
    return PageSection("pictures", "Pictures", join(figures)) if figures else None


def _draw_figures(content: PageContent) -> Iterator[Markup]:
    for kind, entry in KINDS.items():
        subject = content.comparison if entry.subject == COMPARISON else content.results
        if subject is None or not _has_something(kind, content.results, subject):
            continue
        finding = FINDINGS[kind](content) if kind in FINDINGS else ""
        caption = f"{entry.shows[0].upper()}{entry.shows[1:]}. {finding}".strip()
        yield _draw_figure(kind, subject, caption, anchor=f"picture-{kind}")


def _draw_figure(kind: str, subject: Subject, caption: str, *, anchor: str) -> Markup:
    """Draw a picture whose panels stand side by side or below each other, as a page has room."""
    panels = draw_panels(kind, subject)
    keys = [
        element("li", raw(_write_svg(key, f"{anchor}-key{i}")), name(words))
        for i, (words, key) in enumerate(panels.keys)
    ]
    drawn = [raw(_write_svg(each, f"{anchor}-{i}")) for i, each in enumerate(panels.pictures)]
    note = f" {panels.note[0].upper()}{panels.note[1:]}." if panels.note else ""
    return element(
        "figure",
        element("ul", keys, class_="keys") if keys else None,
        drawn,
        element("figcaption", text(caption + note)),
        id=anchor,
        class_=f"beside{panels.beside}",
        aria_label=panels.text,
    )


def _write_svg(figure: Figure, prefix: str) -> str:
    return to_svg(figure, prefix=prefix).rstrip()


def _has_something(kind: str, results: Sequence[Result], subject: Subject) -> bool:
    """Whether a kind of picture can show a subject, and shows more than the table."""
    if kind == "curves" and len({each.measure.k for each in results[0].figures if each.measure.k is not None}) < 2:
        return False
    try:
        check(kind, subject)
    except UsageError:
        return False
    return True


def _find_in_curves(content: PageContent) -> str:
    """Say how values change with the cutoff, or which system has the best ones."""
    results, layout = content.results, content.layout
    if len(results) > 1:
        at_cutoffs = [each for each in content.ranking.measures if each.k is not None]
        led = content.ranking.group_by_leader(at_cutoffs)
        return " ".join(f"{each} has {len(own)} of the {len(at_cutoffs)} best values." for each, own in led.items())
    measures = [each.measure for each in results[0].figures if each.measure.k is not None]
    own = sorted((each for each in measures if each.head == measures[0].head), key=lambda each: each.k or 0)
    first, last = (results[0].estimates[each.name].value for each in (own[0], own[-1]))
    how = "falls" if last < first else "rises" if last > first else "stays the same"
    values = layout.format(own[0], first), layout.format(own[-1], last)
    return f"{own[0].head} {how} from {values[0]} at {own[0].k} to {values[1]} at {own[-1].k}."


def _find_in_bins(content: PageContent) -> str:
    """Say which system is best in each bin, or what its values are there."""
    results = content.results
    measure = deepest([each.measure for each in results[0].slices[0].figures])[0]
    parts = []
    for i, part in enumerate(results[0].slices):
        values = {each.name: each.slices[i].estimates[measure.name].value for each in results}
        sign = -1.0 if measure.metric.higher_is_better else 1.0
        best = min(values, key=lambda name: sign * values[name])
        shown = content.layout.format(measure, values[best])
        parts.append(f"{part.bin.name} {shown}" + (f" ({best})" if len(results) > 1 else ""))
    return f"{measure}{', best values' if len(results) > 1 else ''}: {listed(parts)}."


def _find_in_differences(content: PageContent) -> str:
    """Say how many of the differences were detected."""
    differences = _list_differences(content)
    n_detected = sum(each.is_detected for each in differences)
    if len(differences) == 1:
        return f"The difference was {'detected' if n_detected else 'not detected'}."
    verb = "was" if n_detected in {0, 1} else "were"
    return f"{n_detected or 'None'} of {counted(len(differences), 'difference')} {verb} detected."


def _list_differences(content: PageContent) -> list[Difference]:
    return [] if content.comparison is None else [each for each in content.comparison.differences if not each.bin]


FINDINGS: Mapping[str, Callable[[PageContent], str]] = MappingProxyType(
    {
        "curves": _find_in_curves,
        "bins": _find_in_bins,
        "differences": _find_in_differences,
    }
)
