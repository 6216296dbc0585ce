"""Headline: what a page comes to in a few sentences, first of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xmceval.errors import counted, listed
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.layout import Layout
from xmceval.report.markup import Markup, element, join, name, text
from xmceval.report.page.ranking import Ranking
from xmceval.report.result import Result
from xmceval.report.verdicts import describe_p
from xmceval.scoring.finish import Figure

MOST_VALUES = 4  # metrics in the sentence on one system


def write_headline(results: Sequence[Result], comparison: Comparison | None, layout: Layout) -> list[Markup]:
    """Write the sentences: on one system its values, on several which is best and by how much."""
    if len(results) == 1:
        return [_describe_one(results[0], layout), *_describe_standing(results[0])]
    ranking = Ranking(results, comparison)
    if not ranking.measures:
        return []
    return [_describe_best(ranking, layout), *(_describe_leads(ranking) if len(ranking.measures) > 1 else ())]


def _describe_one(result: Result, layout: Layout) -> Markup:
    """Write the values of one system: of each metric the one at its first cutoff."""
    firsts: dict[str, Figure] = {}
    for figure in result.figures:
        firsts.setdefault(figure.measure.head, figure)
    values = [_describe_value(each, layout) for each in list(firsts.values())[:MOST_VALUES]]
    n_rows = counted(result.counts.n_instances, "instance")
    return join([element("strong", name(result.name)), " has ", _enumerate(values), f" on {n_rows}."])


def _describe_standing(result: Result) -> Iterator[Markup]:
    """Write where the first value that published ones can be compared with would rank."""
    if result.published is not None and result.published.places:
        place, dataset = result.published.places[0], result.published.dataset
        n_published = counted(place.n_published, "published result")
        yield text(f"Its {place.metric} would rank {place.rank} with the {n_published} for {dataset}.")


def _describe_value(figure: Figure, layout: Layout) -> Markup:
    measure, estimate = figure.measure, figure.estimate
    margin = ""
    if estimate.high is not None:
        margin = f" ± {layout.format(measure, estimate.high - estimate.value)}"
    number = element("strong", layout.format(measure, estimate.value))
    return element("span", f"{figure.name} ", number, margin, _percent(measure, layout), class_="value")


def _percent(measure: Measure, layout: Layout) -> str:
    return "\N{NO-BREAK SPACE}%" if measure.metric.unit == "share" and layout.percent else ""


def _enumerate(parts: Sequence[Markup]) -> Markup:
    """Join parts as a sentence does: a, b and c."""
    *most, last = parts
    if not most:
        return last
    return join([*(piece for part in most[:-1] for piece in (part, ", ")), most[-1], " and ", last])


def _describe_best(ranking: Ranking, layout: Layout) -> Markup:
    """Write which system is best on the first metric, by how much, and whether that was detected."""
    measure = ranking.measures[0]
    best, second, *others = ranking.order(measure)
    strong, other = element("strong", name(best)), element("strong", name(second))
    value = layout.format(measure, ranking.value(best, measure)) + _percent(measure, layout)
    difference = ranking.difference(measure, best, second)
    if ranking.leader(measure) is None:
        of_all = f", the best of {counted(len(others) + 2, 'system')}" if others else ""
        return join([strong, " and ", other, f" have the same {measure}, {value}{of_all}."])
    if difference is None or difference.p is None:
        extreme = "highest" if measure.metric.higher_is_better else "lowest"
        untested = join([": the difference to ", other, " was not tested"])
        return join([strong, f" has the {extreme} {measure}, {value}", untested, "."])
    size, p = element("strong", _describe_size(difference, layout)), describe_p(difference)
    if difference.is_detected:
        next_best = ", the next best of " + counted(len(others) + 2, "system") + "," if others else ""
        return join([strong, " is better than ", other, f"{next_best} on {measure} by ", size, f" ({p})."])
    if not others:
        what = join(["No difference between ", strong, " and ", other, " was detected"])
    else:
        what = join(["No difference between the best two systems, ", strong, " and ", other, ", was detected"])
    return join([what, f" on {measure}: ", size, f" ({p})."])


def _describe_size(difference: Difference, layout: Layout) -> str:
    measure = difference.measure
    size = layout.format(measure, abs(difference.difference))
    unit = " points" if measure.metric.unit == "share" and layout.percent else ""
    if difference.low is None or difference.high is None:
        return f"{size}{unit}"
    margin = layout.format(measure, (difference.high - difference.low) / 2)
    return f"{size}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{margin}{unit}"


def _describe_leads(ranking: Ranking) -> Iterator[Markup]:
    """Write for each system of which metrics it has the best value, and for how many its lead was detected."""
    led: dict[str, list[Measure]] = {}
    for measure in ranking.measures:
        leader = ranking.leader(measure)
        if leader is not None:
            led.setdefault(leader, []).append(measure)
    n_all = len(ranking.measures)
    for system, measures in sorted(led.items(), key=lambda item: -len(item[1])):
        of_all = f"all {n_all}" if len(measures) == n_all else f"{len(measures)} of {n_all}"
        words = f" has the best value of {of_all} metrics ({listed(_shorten(measures))})"
        yield join([name(system), words, _count_detected(ranking, measures), "."])


def _shorten(measures: Sequence[Measure]) -> list[str]:
    """Write measures with the cutoffs of each metric together: P@1,3,5."""
    cutoffs: dict[str, list[str]] = {}
    for each in measures:
        cutoffs.setdefault(each.head, []).append(each.cutoff)
    return [f"{head}@{','.join(each)}" if each[0] else head for head, each in cutoffs.items()]


def _count_detected(ranking: Ranking, measures: Sequence[Measure]) -> str:
    """Write how many leads of a system were detected; nothing where none was tested."""
    leads = [each for each in map(ranking.lead, measures) if each is not None and each.p is not None]
    if not leads:
        return ""
    other = "the other system" if len(ranking.names) == 2 else "the next system"
    n_detected, n_leads = sum(each.is_detected for each in leads), len(measures)
    return f"; {_count(n_detected, n_leads, other)}"


def _count(n_detected: int, n_leads: int, other: str) -> str:
    if n_leads == 1:
        return f"its lead over {other} was {'detected' if n_detected else 'not detected'}"
    if n_detected in {0, n_leads}:
        return f"{'each' if n_detected else 'none'} of these leads over {other} was detected"
    return f"{n_detected} of these leads over {other} {'was' if n_detected == 1 else 'were'} detected"
