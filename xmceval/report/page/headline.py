"""Headline: what a page comes to in a few sentences, first of all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from xmceval.errors import counted, listed
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.markup import Child, Markup, element, join, name, text
from xmceval.report.page.systemranking import SystemRanking
from xmceval.report.pictures.plottedvalues import deepest
from xmceval.report.result import Result
from xmceval.report.sheet.systemtable import join_cutoffs
from xmceval.report.sheet.verdicts import describe_few, describe_p, describe_size
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.summary import Figure

MOST_VALUES = 4  # metrics in the sentence on one system


def write_headline(results: Sequence[Result], comparison: Comparison | None, layout: Layout) -> list[Markup]:
    """Write the sentences: on one system its values, on several which is better over all metrics, and by how much."""
    if len(results) == 1:
        return [_describe_one(results[0], results[0].figures, layout)]
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
        return [_describe_best_against(ranking, against, layout), _count_all(ranking, layout, against)]
    return [_describe_best_of_all(ranking), _count_all(ranking, layout)]


def _describe_one(result: Result, figures: Iterable[Figure], layout: Layout) -> Markup:
    """Write the values of one system: of each metric the one at its largest cutoff."""
    figures = list(figures)
    largest = deepest([each.measure for each in figures])[:MOST_VALUES]
    values = [_describe_value(each, layout) for each in figures if each.measure in largest]
    n_rows = counted(result.counts.n_instances, "instance")
    return join([_strong(result.name), " has ", _enumerate(values), f" on {n_rows}."])


def _strong(system: str) -> Markup:
    return element("strong", name(system))


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
    head = [first, f" is {words} than ", second, f" on {_count_metrics(len(most), ranking)}"]
    if not least:
        return join([*head, "; ", _describe_largest(most, " by ", layout), "."])
    opposite = f" and {'worse' if most is better else 'better'} on {len(least)}"
    return join([*head, _describe_most(most, layout), opposite, _describe_most(least, layout), "."])


def _count_metrics(number: int, ranking: SystemRanking) -> str:
    n_all = len(ranking.measures)
    return f"all {n_all} metrics" if number == n_all else f"{number} of {n_all} metrics"


def _describe_largest(differences: Sequence[Difference], by: str, layout: Layout) -> Markup:
    """Write the largest of some differences, and its p."""
    largest = _find_largest(differences)
    size, few = element("strong", describe_size(largest, layout, "\N{NO-BREAK SPACE}")), describe_few(largest)
    return join([f"largest: {largest.measure}{by}", size, f" ({describe_p(largest)}{few and f'; {few}'})"])


def _describe_most(differences: Sequence[Difference], layout: Layout) -> Markup:
    """Write, in parentheses, on which metric the systems differ most in one direction, and by how much."""
    largest = _find_largest(differences)
    size, few = element("strong", describe_size(largest, layout, "\N{NO-BREAK SPACE}")), describe_few(largest)
    return join([f" (most on {largest.measure}, by ", size, f", {describe_p(largest)}{few and f', {few}'})"])


def _find_largest(differences: Sequence[Difference]) -> Difference:
    """Return the largest of some differences; of those in points, where there are such."""
    shares = [each for each in differences if each.measure.metric.unit == "share"]
    return max(shares or differences, key=lambda each: abs(each.difference))


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


def _describe_best_against(ranking: SystemRanking, baseline: str, layout: Layout) -> Markup:
    """Write how the system that is better than the baseline on most metrics compares with it, if there is one."""
    found = {each: ranking.split(each, baseline) for each in ranking.names if each != baseline}
    nets = {system: len(better) - len(worse) for system, (better, worse, _) in found.items()}
    best = max(nets, key=lambda system: nets[system])
    if nets[best] > 0:
        return _describe_pair(ranking, best, baseline, layout)
    has_wins = any(better for better, _, _ in found.values())
    rest = " on more metrics than worse." if has_wins else f" on any of {len(ranking.measures)} metrics."
    return join([f"None of the {len(found)} other systems was found to be better than ", _strong(baseline), rest])


def _describe_best_of_all(ranking: SystemRanking) -> Markup:
    """Write which system is better than each other one on the most metrics, or which has the best value on the most."""
    n_all = len(ranking.measures)
    leads = {system: ranking.leads_over_all(system) for system in ranking.names}
    best = max(ranking.names, key=lambda system: len(leads[system]))
    if not leads[best]:
        led = [(name(system), len(own)) for system, own in ranking.group_by_leader(ranking.measures).items()]
        most: list[Child] = ["; ", led[0][0], f" has the best value on {led[0][1]}"] if led else []
        return join([f"No system was found to be better than every other one on any of {n_all} metrics", *most, "."])
    is_worse = any(ranking.split(best, other)[1] for other in ranking.names if other != best)
    number = _count_metrics(len(leads[best]), ranking)
    never = "" if is_worse or len(leads[best]) == n_all else ", and was found worse on none"
    return join([_strong(best), f" is better than every other system on {number}{never}."])


def _count_all(ranking: SystemRanking, layout: Layout, against: str | None = None) -> Markup:
    """Write how many of the differences that were tested were detected, and which is the largest of them."""
    tested = [each for each in ranking.differences if each.p is not None]
    detected = [each for each in tested if each.is_detected]
    of = [" from ", name(against)] if against else []
    pairs = counted(len({(each.system, each.baseline) for each in tested}), "pair")
    measures = counted(len({each.measure for each in tested}), "metric")
    number = f"{len(detected):,}" if detected else "none"
    words = [f"In all, {number} of {counted(len(tested), 'difference')}", *of, " ", _was(len(detected)), " detected"]
    size = ["; ", _describe_largest_of_all(detected, layout)] if detected else []
    return join([*words, f" ({pairs}, {measures})", *size, "."])


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _describe_largest_of_all(differences: Sequence[Difference], layout: Layout) -> Markup:
    """Write which system is better than which by most, and on what."""
    largest = _find_largest(differences)
    ahead, behind = largest.system, largest.baseline
    if not largest.is_better:
        ahead, behind = behind, ahead
    size = element("strong", describe_size(largest, layout, "\N{NO-BREAK SPACE}"))
    return join(["the largest is ", name(ahead), " over ", name(behind), ", ", size, f" on {largest.measure}"])


def _describe_leads(ranking: SystemRanking) -> Iterator[Markup]:
    """Write for each system of which metrics it has the best value."""
    for system, measures in ranking.group_by_leader(ranking.measures).items():
        of_all = _count_metrics(len(measures), ranking)
        yield join([name(system), f" has the best value of {of_all} ({listed(join_cutoffs(measures))})."])
