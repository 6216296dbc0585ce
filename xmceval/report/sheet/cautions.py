"""Cautions: what a reader must know before trusting the numbers, derived from counts and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from xmceval.errors import argument, counted, listed
from xmceval.metrics.measure import Measure
from xmceval.scoring.summary import Counts, Figure, Summary

OF_CELLS = frozenset({"label", "confusion", "column"})  # families that take no value of each row


@dataclass(frozen=True)
class Case:
    """What cautions are derived from: the numbers of a system, and the options under which they were computed."""

    summary: Summary
    empty_rows: str = "zero"
    has_threshold: bool = True
    ceiling: bool = False
    zeros_are_judged: bool = False

    @property
    def counts(self) -> Counts:
        """Counts of the input."""
        return self.summary.counts

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures."""
        return self.summary.figures


def find_cautions(case: Case) -> list[str]:
    """Return every caution that applies, in the order of CAUTIONS."""
    return [line for caution in CAUTIONS for line in caution(case)]


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


def _conventions(case: Case) -> Iterator[str]:
    yield from list_conventions(case.counts, case.empty_rows, case.figures)


def _no_truth(case: Case) -> Iterator[str]:
    if case.counts.n_true == 0:
        yield "no instance has a true label: is this the right truth file?"


def _grades(case: Case) -> Iterator[str]:
    least, greatest = case.counts.grades
    names = [figure.name for figure in case.figures if figure.measure.metric.takes_grades]
    if greatest > 1 and names:
        size = f"grades from {least:,} to {greatest:,}" if least < greatest else f"no grade but {greatest:,}"
        yield f"the truth has {size}, which {_are(len(names))} what a hit is worth for {listed(names)}"


def _explicit_zeros(case: Case) -> Iterator[str]:
    n = case.counts.explicit_zeros
    if n and not case.zeros_are_judged:
        yield f"{counted(n, 'stored zero')} in the truth {_are(n)} ignored: labels with value 0 are not true"


def _ideals_of_zero(case: Case) -> Iterator[str]:
    names = [figure.name for figure in _undefined(case) if figure.measure.metric.needs_propensities]
    if names:
        yield f"{listed(names)}: the ideal sums to 0, reported as 0"


def _denominators_of_zero(case: Case) -> Iterator[str]:
    names = [figure.name for figure in _undefined(case) if not figure.measure.metric.needs_propensities]
    if names:
        yield f"{listed(names)}: the denominator is 0, reported as 0"


def _undefined(case: Case) -> Iterable[Figure]:
    return [figure for figure in case.figures if figure.estimate.undefined] if case.counts.n_true else []


def _left_out_rows(case: Case) -> Iterator[str]:
    measures = {figure.name: figure.measure for figure in case.figures}
    for name, n in case.counts.left_out.items():
        has_grade = f"has grade {measures[name].rel} or above"
        reason = measures[name].metric.left_out or f"no label {has_grade}"
        if measures[name].rel > 1:
            reason = reason.replace("is true", has_grade)
        yield f"{name}: {n:,} of {counted(case.counts.n_instances, 'instance')} {_are(n)} left out because {reason}"


def _unscored_truth(case: Case) -> Iterator[str]:
    for rel, unscored in case.counts.unscored.items():
        measures = [figure.measure for figure in case.figures if figure.measure.rel == rel]
        names = [each.name for each in measures if _ranks_all_labels(each)]
        if names and unscored.number:
            labels = "true labels" if rel == 1 else f"labels of grade {rel} or above"
            yield (
                f"{unscored.number / unscored.n_true:.1%} of the {labels} have no score: "
                f"for {listed(names)} they are tied with all other labels without a score"
            )


def _ranks_all_labels(measure: Measure) -> bool:
    metric = measure.metric
    return (metric.needs_labels and metric.family == "row") or metric.family == "column"


def _stored_labels_as_decisions(case: Case) -> Iterator[str]:
    metrics = {figure.name: figure.measure.metric for figure in case.figures}
    names = [name for name, metric in metrics.items() if metric.family == "confusion" and metric.gain == "hit"]
    if names and not case.has_threshold:
        yield (
            f"{listed(names)}: no threshold was passed, so every label with a score counts as predicted "
            f"(hint: pass {argument('threshold')})"
        )


def _missing_shares(case: Case) -> Iterator[str]:
    for part in case.summary.slices[:1]:
        shares = part.estimates
        names = [figure.name for figure in case.figures if figure.name not in shares]
        if names:
            yield f"no share by frequency is available for {listed(names)}"


def _missing_ceilings(case: Case) -> Iterator[str]:
    names = [figure.name for figure in case.figures if figure.estimate.ceiling is None]
    if names and case.ceiling:
        yield f"no ceiling is available for {listed(names)}"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


CAUTIONS: tuple[Callable[[Case], Iterator[str]], ...] = (
    _conventions,
    _no_truth,
    _grades,
    _explicit_zeros,
    _ideals_of_zero,
    _denominators_of_zero,
    _left_out_rows,
    _unscored_truth,
    _stored_labels_as_decisions,
    _missing_shares,
    _missing_ceilings,
)
