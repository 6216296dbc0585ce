"""Headline: what a page comes to in a few sentences, first of all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from xmceval.errors import counted, listed
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.markup import Markup, element, join, name, text
from xmceval.report.page.systemranking import SystemRanking
from xmceval.report.result import Result
from xmceval.report.sheet.systemtable import join_cutoffs
from xmceval.report.sheet.verdicts import describe_few, describe_p, describe_size
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.summary import Figure

MOST_VALUES = 4  # metrics in the sentence on one system
MOST_SYSTEMS = 5  # that are compared with a baseline in a sentence each


def write_headline(results: Sequence[Result], comparison: Comparison | None, layout: Layout) -> list[Markup]:
    """Write the sentences: on one system its values, on several which is better over all metrics, and by how much."""
    if len(results) == 1:
        return [_describe_one(results[0], results[0].figures, layout), *_describe_standing(results[0])]
    ranking = SystemRanking(results, comparison)
    if len(ranking.names) == 1:  # and several runs of it
        [system] = ranking.names
        means = [Figure(each, Estimate(ranking.value(system, each))) for each in ranking.measures]
        return [_describe_one(replace(results[0], name=system), means, layout)]
    if not ranking.measures:
        return []
    if len(ranking.measures) == 1:
        return [_describe_best(ranking, layout)]
    against = None if comparison is None else comparison.testing.against
    if not ranking.is_tested:
        return [*_describe_leads(ranking), text("The differences were not tested.")]
    if len(ranking.names) == 2:
        system, other = ranking.names
        better, worse, _ = ranking.split(system, other)
        pair = (other, system) if len(worse) > len(better) else (system, other)
        return [_describe_pair(ranking, *pair, layout), *_list_metrics(ranking, *pair)]
    if against is not None:
        return [*_describe_all_against(ranking, against, layout)]
    return [*_describe_best_of_all(ranking, layout), *_describe_leads(ranking)]


def _describe_one(result: Result, figures: Iterable[Figure], layout: Layout) -> Markup:
    """Write the values of one system: of each metric the one at its first cutoff."""
    firsts: dict[str, Figure] = {}
    for figure in figures:
        firsts.setdefault(figure.measure.head, figure)
    values = [_describe_value(each, layout) for each in list(firsts.values())[:MOST_VALUES]]
    n_rows = counted(result.counts.n_instances, "instance")
    return join([_strong(result.name), " has ", _enumerate(values), f" on {n_rows}."])


def _strong(system: str) -> Markup:
    return element("strong", name(system))


def _describe_standing(result: Result) -> Iterator[Markup]:
    """Write where the first value that published ones can be compared with would rank."""
    if result.published is not None and result.published.places:
        place, dataset = result.published.places[0], result.published.dataset
        n_published = counted(place.n_published, "published result")
        yield text(f"Its {place.metric} would rank {place.rank} with the {n_published} for {dataset}.")


def _describe_value(figure: Figure, layout: Layout) -> Markup:
    measure, estimate = figure.measure, figure.estimate
    interval = layout.format_interval(measure, estimate.value, estimate.low, estimate.high)
    number = element("strong", layout.format(measure, estimate.value))
    margin, ends = (interval.replace("±", " ± "), "") if "±" in interval else ("", interval and f" ({interval})")
    return element("span", f"{figure.name} ", number, margin, _percent(measure, layout), ends, class_="value")


def _percent(measure: Measure, layout: Layout) -> str:
    return "%" if measure.metric.unit == "share" and layout.percent else ""


def _enumerate(parts: Sequence[Markup]) -> Markup:
    """Join parts as a sentence does: a, b and c."""
    *most, last = parts
    if not most:
        return last
    return join([*(piece for part in most[:-1] for piece in (part, ", ")), most[-1], " and ", last])


def _describe_best(ranking: SystemRanking, layout: Layout) -> Markup:
    """Write which system is best on the only metric, by how much, and whether that was detected."""
    measure = ranking.measures[0]
    best, second, *others = ranking.order(measure)
    strong, other = _strong(best), _strong(second)
    value = layout.format(measure, ranking.value(best, measure)) + _percent(measure, layout)
    difference = ranking.difference(measure, best, second)
    if ranking.leader(measure) is None:
        of_all = f", the best of {counted(len(others) + 2, 'system')}" if others else ""
        return join([strong, " and ", other, f" have the same {measure}, {value}{of_all}."])
    if difference is None or difference.p is None:
        extreme = "highest" if measure.metric.higher_is_better else "lowest"
        untested = join([": the difference to ", other, " was not tested"])
        return join([strong, f" has the {extreme} {measure}, {value}", untested, "."])
    size, p = element("strong", describe_size(difference, layout, "\N{NO-BREAK SPACE}")), describe_p(difference)
    if difference.is_detected:
        next_best = ", the next best of " + counted(len(others) + 2, "system") + "," if others else ""
        return join([strong, " is better than ", other, f"{next_best} on {measure} by ", size, f" ({p})."])
    if not others:
        what = join(["No difference between ", strong, " and ", other, " was detected"])
    else:
        what = join(["No difference between the best two systems, ", strong, " and ", other, ", was detected"])
    return join([what, f" on {measure}: ", size, f" ({p})."])


def _describe_pair(ranking: SystemRanking, system: str, other: str, layout: Layout) -> Markup:
    """Write on how many metrics a system is better or worse than another, and where most."""
    first, second, n_all = _strong(system), _strong(other), len(ranking.measures)
    better, worse, undetected = ranking.split(system, other)
    if not (better or worse or undetected):
        return join(["The differences between ", first, " and ", second, " were not tested."])
    if not (better or worse):
        number = f"{n_all}" if len(undetected) == n_all else f"the {len(undetected)} tested"
        size = _describe_largest(undetected, ", ", layout)
        return join(
            ["No difference between ", first, " and ", second, f" was detected on any of {number} metrics; ", size, "."]
        )
    words, most, least = ("better", better, worse) if len(better) >= len(worse) else ("worse", worse, better)
    opposite = f" and {'worse' if most is better else 'better'} on {len(least)}" if least else ""
    number, size = _count_metrics(len(most), ranking), _describe_largest(most, " by ", layout)
    return join([first, f" is {words} than ", second, f" on {number}{opposite}; ", size, "."])


def _count_metrics(number: int, ranking: SystemRanking) -> str:
    n_all = len(ranking.measures)
    return f"all {n_all} metrics" if number == n_all else f"{number} of {n_all} metrics"


def _describe_largest(differences: Sequence[Difference], by: str, layout: Layout) -> Markup:
    """Write the largest of some differences; of those in points, where there are such."""
    shares = [each for each in differences if each.measure.metric.unit == "share"]
    largest = max(shares or differences, key=lambda each: abs(each.difference))
    size, few = element("strong", describe_size(largest, layout, "\N{NO-BREAK SPACE}")), describe_few(largest)
    return join([f"largest: {largest.measure}{by}", size, f" ({describe_p(largest)}{few and f'; {few}'})"])


def _list_metrics(ranking: SystemRanking, system: str, other: str) -> Iterator[Markup]:
    """Write which metrics differ in which direction, which do not, and which were not tested."""
    groups = ranking.split(system, other)
    tested = [[each.measure for each in group] for group in groups]
    rest = [each for each in ranking.measures if each not in {measure for group in tested for measure in group}]
    heads = [
        [name(system), " is better on "],
        [name(other), " is better on "],
        ["no difference was detected on "],
        ["not tested: "],
    ]
    parts = [[*head, listed(join_cutoffs(own))] for head, own in zip(heads, [*tested, rest], strict=True) if own]
    parts[0][0] = parts[0][0] if len(parts[0]) > 2 else f"{parts[0][0][0].upper()}{parts[0][0][1:]}"
    yield join([piece for i, part in enumerate(parts) for piece in ("; " if i else "", *part)] + ["."])


def _describe_all_against(ranking: SystemRanking, baseline: str, layout: Layout) -> Iterator[Markup]:
    """Write how each system compares with the baseline, the one that is better on most metrics first."""
    scores = {}
    for system in ranking.names:
        if system != baseline:
            better, worse, _ = ranking.split(system, baseline)
            scores[system] = len(better) - len(worse)
    order = sorted(scores, key=lambda system: -scores[system])
    yield from (_describe_pair(ranking, system, baseline, layout) for system in order[:MOST_SYSTEMS])
    n_more = len(order) - MOST_SYSTEMS
    if n_more > 0:
        verb = "is" if n_more == 1 else "are"
        yield join([f"{counted(n_more, 'more system')} {verb} compared with ", name(baseline), " below."])


def _describe_best_of_all(ranking: SystemRanking, layout: Layout) -> Iterator[Markup]:
    """Write which system is better than each other one on the most metrics, and where its lead is largest."""
    leads = {system: ranking.leads_over_all(system) for system in ranking.names}
    best = max(ranking.names, key=lambda system: len(leads[system]))
    n_others = len(ranking.names) - 1
    if not leads[best]:
        yield text(f"No system is better than each of the others on any of {len(ranking.measures)} metrics.")
        return
    number = _count_metrics(len(leads[best]), ranking)
    size = _describe_largest(leads[best], " by ", layout)
    words = f" is better than each of the other {n_others} systems on {number}; over the next one, "
    yield join([_strong(best), words, size, "."])


def _describe_leads(ranking: SystemRanking) -> Iterator[Markup]:
    """Write for each system of which metrics it has the best value, and for how many its lead was detected."""
    for system, measures in ranking.group_by_leader(ranking.measures).items():
        of_all = _count_metrics(len(measures), ranking)
        words = f" has the best value of {of_all} ({listed(join_cutoffs(measures))})"
        yield join([name(system), words, _count_detected(ranking, measures), "."])


def _count_detected(ranking: SystemRanking, measures: Sequence[Measure]) -> str:
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
