"""Gates: limits of values, and of how much worse a system may be than its baseline."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from xmceval.errors import DataError, UsageError, argument, listed
from xmceval.kernels.metrics.totals import TIE
from xmceval.metrics.entry import format_number
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import find_measures, parse
from xmceval.report.forms.layout import DEFAULT, MOST_PLACES, PLACES, Layout
from xmceval.report.gateoutcomes import GateOutcome
from xmceval.report.result import Result
from xmceval.report.sheet.verdicts import describe_p, describe_size

if TYPE_CHECKING:
    from xmceval.report.comparison import Comparison, Difference  # not loaded by a score

KINDS = {":": "worse", ">=": "at_least", "<=": "at_most"}
NOT_DECIDED = "{}: not decided, because {}"


class Gate(NamedTuple):
    """A limit of a metric, at every cutoff if it names none."""

    kind: str
    metric: str
    number: float  # as it was passed
    limit: float  # a fraction where the metric is a share


def parse_worse(text: str) -> Gate:
    """Parse how much worse a system may be, in points: ``P@5:0.5``, or ``P@5`` for no difference at all."""
    return _parse(text, {"worse"}, "METRIC:X, such as P@5:0.5", in_percent=True)


def parse_required(text: str, *, in_percent: bool = True) -> Gate:
    """Parse what a value must be: ``P@5>=34``, in percent where the metric is a share, or else a fraction."""
    return _parse(text, {"at_least", "at_most"}, "METRIC>=X or METRIC<=X, such as P@5>=34", in_percent=in_percent)


def _parse(text: str, kinds: Iterable[str], expected: str, *, in_percent: bool) -> Gate:
    """Parse a gate that some values or differences pass and others do not."""
    name, sign, limit = [*re.split("(>=|<=|:)", text, maxsplit=1), ":", "0"][:3]
    kind = KINDS[sign]
    try:
        number = float(limit.strip() or (0 if kind == "worse" else math.nan))
    except ValueError:
        number = math.nan
    if kind not in kinds or not math.isfinite(number):
        raise UsageError(f"gate {text!r}: expected {expected}")
    measure = parse(name.strip())[0]
    scale = 100 if in_percent and measure.metric.unit == "share" else 1
    if kind != "worse" and scale > 1 and 0 < number <= 1:
        percent = f"{name}{sign}{format_number(float(100 * Fraction(repr(number))))}"
        raise UsageError(f"gate {text!r}: limits of shares are in percent (hint: pass {percent}, or --fraction)")
    gate = Gate(kind, name.strip(), number, float(Fraction(repr(number)) / scale))  # 68.6 is 0.686, not 0.6859999
    least, most = measure.metric.bounds
    if measure.metric.needs_propensities and measure.norm.over == "mean":
        most = math.inf  # sums of 1/p that nothing divides
    if kind == "worse":
        least, most = 0.0, most - least
    if not (least < gate.limit <= most if kind == "at_least" else least <= gate.limit < most):
        what = "differences" if kind == "worse" else "values"
        bounds = f"{scale * least:g} to {scale * most:g}"
        raise UsageError(f"gate {text!r} has no effect: {what} of {gate.metric} are from {bounds}")
    return gate


def check_computed(gates: Iterable[Gate], measures: Sequence[Measure]) -> None:
    """Refuse gates of metrics that are not computed."""
    missing = dict.fromkeys(gate.metric for gate in gates if not find_measures(gate.metric, measures))
    if missing:
        why = f"it was not computed; expected any of {listed(measures)}"
        raise DataError(*(NOT_DECIDED.format(metric, why) for metric in missing))


def check_decidable(
    gates: Sequence[Gate], measures: Sequence[Measure], n_systems: int, against: str | None, hint: str = ""
) -> None:
    """Refuse gates of differences without two systems and a baseline; `hint` says where the baseline is named."""
    if gates and n_systems < 2:
        raise UsageError("a gate of differences needs at least two systems, got only one")
    if gates and against is None and n_systems > 2:
        hint = hint or f"pass {argument('against', kind='NAME')}"
        raise UsageError(f"a gate of differences needs a baseline, and there are {n_systems} systems (hint: {hint})")
    check_computed(gates, measures)


def check_worse(comparison: Comparison, gates: str | Iterable[str]) -> tuple[GateOutcome, ...]:
    """Check that no system is significantly worse than the baseline, by more than a limit.

    Parameters
    ----------
    comparison : Comparison
        With `against`, or of two systems, of which the first is the baseline.
    gates : str or iterable of str
        Such as ``"P@5:0.5"``: not worse by more than 0.5 points, or 0.5 of the metric's unit; without a limit 0.

    Returns
    -------
    tuple of GateOutcome
        Gate by gate and system by system. Not passed are those with an adjusted p below 0.05 and a difference worse
        than the limit, and those without a test.

    Examples
    --------
    >>> import numpy as np
    >>> import xmceval
    >>> scores = {"old": np.eye(6), "new": np.eye(6)[::-1]}
    >>> [outcome] = check_worse(xmceval.compare(np.eye(6), scores, k=1, metrics="P"), "P@1:0.5")
    >>> outcome.passed, outcome.value, outcome.p_adjusted
    (False, -1.0, 0.03125)
    """
    return judge_comparison([parse_worse(gate) for gate in ([gates] if isinstance(gates, str) else gates)], comparison)


def judge_comparison(
    gates: Sequence[Gate], comparison: Comparison, layout: Layout = DEFAULT
) -> tuple[GateOutcome, ...]:
    """Judge the differences of all systems from the baseline of a comparison."""
    systems, against = list(comparison.systems), comparison.testing.against
    measures = [figure.measure for figure in comparison.results[0].figures]
    check_decidable(gates, measures, len(systems), against)
    return tuple(judge_datasets(gates, {"": comparison}, measures, systems, against or systems[0], layout))


def judge_datasets(
    gates: Sequence[Gate],
    comparisons: Mapping[str, Comparison | None],
    measures: Sequence[Measure],
    systems: Sequence[str],
    baseline: str,
    layout: Layout = DEFAULT,
) -> Iterator[GateOutcome]:
    """Judge the differences of systems from a baseline, by data set; without a comparison they are not decided."""
    others = [system for system in systems if system != baseline]
    for gate in gates:
        for dataset, comparison in comparisons.items():
            for measure in find_measures(gate.metric, measures):
                for system in others:
                    outcome = GateOutcome(gate.kind, system, baseline, dataset, measure, gate.limit)
                    yield _judge_difference(outcome, gate, comparison, layout)


def _judge_difference(outcome: GateOutcome, gate: Gate, comparison: Comparison | None, layout: Layout) -> GateOutcome:
    """Judge the difference of a system from its baseline."""
    measure, system, baseline = outcome.measure, outcome.system, outcome.baseline
    difference = None if comparison is None else comparison.by_key.get((measure.name, system, baseline))
    if difference is not None:
        p = difference.p if difference.p_adjusted is None else difference.p_adjusted
        outcome = replace(outcome, value=difference.difference, p_adjusted=p)
    if comparison is None or difference is None or outcome.p_adjusted is None:
        place = f" on {outcome.dataset}" if outcome.dataset else ""
        why = NOT_DECIDED.format(measure, f"{system} was not tested against {baseline}{place}")
        return replace(outcome, why=why, is_decided=False)
    size = abs(difference.difference)
    if not difference.is_detected or difference.is_better or size <= gate.limit + TIE * gate.limit:
        return replace(outcome, passed=True)
    by = describe_size(difference, _with_places(layout, measure, size, gate.limit))
    points = " points" if measure.metric.unit == "share" and not by.endswith("points") else ""
    more = f", more than {format_number(gate.number)}{points}" if gate.limit else ""
    place = f"{outcome.dataset}: " if outcome.dataset else ""
    evidence = f"{describe_p(difference)}{_describe_family(difference, comparison)}"
    return replace(outcome, why=f"{place}{system} is worse than {baseline} on {measure} by {by}{more} ({evidence})")


def _describe_family(difference: Difference, comparison: Comparison) -> str:
    """Write over which tests p is adjusted; nothing where there is only one."""
    family, tests = "tests", [other for other in comparison.differences if other.p is not None]
    if comparison.testing.adjust_over != "all":
        metric = difference.measure.name
        tests = [other for other in tests if (other.measure.name, other.bin) == (metric, difference.bin)]
        family = f"pairs on {metric}"
    how = "adjusted by Holm over" if comparison.testing.adjust == "holm" else "not adjusted for"
    return f", {how} the {len(tests):,} {family}" if len(tests) > 1 else ""


def judge_values(gates: Sequence[Gate], result: Result, layout: Layout = DEFAULT) -> Iterator[GateOutcome]:
    """Judge the values of a system."""
    for gate in gates:
        for measure in find_measures(gate.metric, [figure.measure for figure in result.figures]):
            value = result.estimates[measure.name].value
            outcome = GateOutcome(gate.kind, result.name, "", "", measure, gate.limit, value)
            too_far = gate.limit - value if gate.kind == "at_least" else value - gate.limit
            if result.estimates[measure.name].undefined or math.isnan(value):
                why = NOT_DECIDED.format(measure, f"it is undefined for {result.name}")
                yield replace(outcome, why=why, is_decided=False)
            elif too_far <= TIE * max(abs(gate.limit), abs(value)):
                yield replace(outcome, passed=True)
            else:
                shown = _with_places(layout, measure, value, gate.limit).format(measure, value)
                bound = f"{gate.kind.replace('_', ' ')} {format_number(gate.number)}"
                yield replace(outcome, why=f"{result.name} has {measure} {shown}, and {bound} is required")


def _with_places(layout: Layout, measure: Measure, value: float, limit: float) -> Layout:
    """Return a layout with so many places that a value beyond a limit does not look like the limit."""
    while layout.format(measure, value) == layout.format(measure, limit) and (layout.places or 0) < MOST_PLACES:
        layout = replace(layout, places=(PLACES if layout.places is None else layout.places) + 1)
    return layout
