"""Cautions: what a reader must know before trusting the numbers, derived from counts and figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xmceval.errors import argument, counted, listed
from xmceval.metrics.measure import Measure
from xmceval.scoring.summary import Counts, Figure, Summary

OF_CELLS = frozenset({"label", "confusion", "column"})  # families that take no value of each row


def find_cautions(
    summary: Summary,
    *,
    empty_rows: str = "zero",
    has_threshold: bool = True,
    ceiling: bool = False,
    zeros_are_judged: bool = False,
) -> list[str]:
    """Return every caution on the numbers of a system that applies under the options of its scoring."""
    counts, figures = summary.counts, summary.figures
    return [
        *list_conventions(counts, empty_rows, figures),
        *_describe_truth(counts, figures, zeros_are_judged=zeros_are_judged),
        *_describe_undefined(counts, figures),
        *_describe_rows_left_out(counts, figures),
        *_describe_unscored_truth(counts, figures),
        *_describe_what_is_missing(summary, has_threshold=has_threshold, ceiling=ceiling),
    ]


def list_conventions(counts: Counts, empty_rows: str, figures: Iterable[Figure]) -> Iterator[str]:
    """Yield how instances with too few predictions, and those without a true label, were counted in figures."""
    k = max(counts.short_rows, default=0)
    n = counts.short_rows.get(k, 0)
    if n:
        short = f"{n:,} of {counted(counts.n_instances, 'instance')} {_have(n)}"
        if k == 1:
            yield f"{short} no prediction: {'it' if n == 1 else 'each'} counts as a miss"
        else:
            yield f"{short} fewer than {k} predictions: the missing ones count as misses"
    n = counts.empty_rows
    if n:
        it_counts, it_is = ("it counts", "it is") if n == 1 else ("they count", "they are")
        treatment = f"{it_counts} as 0" if empty_rows == "zero" else f"{it_is} left out"
        if empty_rows == "zero" and all(figure.measure.metric.family in OF_CELLS for figure in figures):
            treatment = f"{'its' if n == 1 else 'their'} predictions count as misses"
        yield f"{counted(n, 'instance')} {_have(n)} no true label: {treatment}"


def _describe_truth(counts: Counts, figures: Sequence[Figure], *, zeros_are_judged: bool) -> Iterator[str]:
    if counts.n_true == 0:
        yield "no instance has a true label: is this the right truth file?"
    least, greatest = counts.grades
    graded = [figure.name for figure in figures if figure.measure.metric.takes_grades]
    if greatest > 1 and graded:
        size = f"grades from {least:,} to {greatest:,}" if least < greatest else f"no grade but {greatest:,}"
        yield f"the truth has {size}, which {_are(len(graded))} what a hit is worth for {listed(graded)}"
    n = counts.explicit_zeros
    if n and not zeros_are_judged:
        yield f"{counted(n, 'stored zero')} in the truth {_are(n)} ignored: labels with value 0 are not true"


def _describe_undefined(counts: Counts, figures: Sequence[Figure]) -> Iterator[str]:
    """Yield which values are undefined, although there is truth."""
    undefined = [figure for figure in figures if figure.estimate.undefined and counts.n_true]
    for has_ideal, what in ((True, "the ideal sums to 0"), (False, "the denominator is 0")):
        names = [figure.name for figure in undefined if figure.measure.metric.needs_propensities == has_ideal]
        if names:
            yield f"{listed(names)}: {what}, reported as 0"


def _describe_rows_left_out(counts: Counts, figures: Sequence[Figure]) -> Iterator[str]:
    measures = {figure.name: figure.measure for figure in figures}
    for name, n in counts.left_out.items():
        has_grade = f"has grade {measures[name].rel} or above"
        reason = measures[name].metric.left_out or f"no label {has_grade}"
        if measures[name].rel > 1:
            reason = reason.replace("is true", has_grade)
        yield f"{name}: {n:,} of {counted(counts.n_instances, 'instance')} {_are(n)} left out because {reason}"


def _describe_unscored_truth(counts: Counts, figures: Sequence[Figure]) -> Iterator[str]:
    for rel, unscored in counts.unscored.items():
        measures = [figure.measure for figure in figures if figure.measure.rel == rel]
        names = [measure.name for measure in measures if _ranks_all_labels(measure)]
        if names and unscored.number:
            labels = "true labels" if rel == 1 else f"labels of grade {rel} or above"
            yield (
                f"{unscored.number / unscored.n_true:.1%} of the {labels} have no score: "
                f"for {listed(names)} they are tied with all other labels without a score"
            )


def _ranks_all_labels(measure: Measure) -> bool:
    metric = measure.metric
    return (metric.needs_labels and metric.family == "row") or metric.family == "column"


def _describe_what_is_missing(summary: Summary, *, has_threshold: bool, ceiling: bool) -> Iterator[str]:
    """Yield which metrics lack the threshold, the shares by frequency or the ceilings that were asked for."""
    metrics = {figure.name: figure.measure.metric for figure in summary.figures}
    names = [name for name, metric in metrics.items() if metric.family == "confusion" and metric.gain == "hit"]
    if names and not has_threshold:
        yield (
            f"{listed(names)}: no threshold was passed, so every label with a score counts as predicted "
            f"(hint: pass {argument('threshold')})"
        )
    for part in summary.slices[:1]:
        shares = part.estimates
        names = [name for name in metrics if name not in shares]
        if names:
            yield f"no share by frequency is available for {listed(names)}"
    names = [figure.name for figure in summary.figures if figure.estimate.ceiling is None]
    if names and ceiling:
        yield f"no ceiling is available for {listed(names)}"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
