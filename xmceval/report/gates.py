"""Gates: limits of values, and of how much worse a system may be than its baseline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from xmceval.errors import DataError, UsageError, argument, counted, listed
from xmceval.kernels.metrics.totals import TIE
from xmceval.metrics.entry import format_number
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.forms.layout import DEFAULT, MOST_PLACES, PLACES, Layout
from xmceval.report.gateoutcomes import GateOutcome
from xmceval.report.lookup import find_measures
from xmceval.report.result import Result
from xmceval.report.sheet.verdicts import describe_p, describe_size

SIGNS = {">=": "at_least", "<=": "at_most"}


@dataclass(frozen=True)
class Gate:
    """A limit of a metric: of its value (``at_least``, ``at_most``), or of how much worse a system is (``worse``).

    `limit` is in points or percent where the metric is a share and `in_percent` is set. A metric without a cutoff
    stands for all cutoffs that are computed.
    """

    kind: str
    metric: str
    limit: float
    in_percent: bool = True

    def scale_of(self, measure: Measure) -> int:
        """Return by what the limit of a measure is divided."""
        return 100 if self.in_percent and measure.metric.unit == "share" else 1

    def limit_of(self, measure: Measure) -> float:
        """Return the limit of a measure; of a share as a fraction."""
        return float(Fraction(repr(self.limit)) / self.scale_of(measure))  # 68.6 is 0.686, not 0.6859999


def parse_worse(text: str) -> Gate:
    """Parse how much worse a system may be: ``P@5:0.5``, or ``P@5`` for no difference at all."""
    metric, _, limit = text.rpartition(":") if ":" in text else (text, "", "")
    gate = Gate("worse", metric.strip(), _parse_number(limit.strip() or "0"))
    if not 0 <= gate.limit < math.inf:
        raise UsageError(f"gate {text!r}: expected a limit of at least 0, such as P@5:0.5")
    return _checked(gate, text)


def parse_required(text: str, *, in_percent: bool = True) -> Gate:
    """Parse what a value must be: ``P@5>=34``; limits of shares are in percent, or else fractions."""
    sign = next((sign for sign in SIGNS if sign in text), "=")
    metric, _, limit = text.partition(sign)
    gate = Gate(SIGNS.get(sign, ""), metric.strip(), _parse_number(limit), in_percent)
    if not (gate.kind and math.isfinite(gate.limit)):
        raise UsageError(f"gate {text!r}: expected >= or <= and a number, such as P@5>=34")
    scale = gate.scale_of(parse(gate.metric)[0])
    if scale > 1 and 0 < gate.limit <= 1:
        percent = text.replace(limit, format_number(float(scale * Fraction(repr(gate.limit)))))
        raise UsageError(
            f"gate {text!r}: limits of shares are in percent, as in the table (hint: pass {percent}, or "
            "--fraction for limits and table as fractions)"
        )
    return _checked(gate, text)


def _parse_number(text: str) -> float:
    """Return a number, NaN where a text is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _checked(gate: Gate, text: str) -> Gate:
    """Return a gate that some numbers within the bounds of its metric pass, and others do not."""
    measure = parse(gate.metric)[0]
    least, most = measure.metric.bounds
    if measure.metric.needs_propensities and measure.norm.over == "mean":
        most = math.inf  # sums of 1/p that nothing divides
    if gate.kind == "worse":
        least, most = 0.0, most - least
    limit = gate.limit_of(measure)
    if least < limit <= most if gate.kind == "at_least" else least <= limit < most:
        return gate
    what, scale = "differences" if gate.kind == "worse" else "values", gate.scale_of(measure)
    upper = f"to {format_number(scale * most)}" if math.isfinite(most) else "on"
    raise UsageError(
        f"gate {text!r} has no effect: {what} of {gate.metric} are from {format_number(scale * least)} {upper}"
    )


def check_computed(gates: Iterable[Gate], measures: Sequence[Measure]) -> None:
    """Refuse gates of metrics that are not computed."""
    missing = dict.fromkeys(gate.metric for gate in gates if not find_measures(gate.metric, measures))
    if missing:
        expected = f"was not computed; expected any of {listed(measures)}"
        raise DataError(*(f"a gate cannot be decided: {metric} {expected}" for metric in missing))


def check_decidable(
    gates: Sequence[Gate], measures: Sequence[Measure], n_systems: int, against: str | None, hint: str = ""
) -> None:
    """Refuse gates of differences where there is nothing to compare, or where it is not clear with what.

    `hint` says where the baseline is named.
    """
    if not gates:
        return
    if n_systems < 2:
        raise UsageError("a gate of differences needs at least two systems, got only one")
    if against is None and n_systems > 2:
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
        Such as ``"P@5:0.5"``: not worse by more than 0.5 points where the metric is a share, else by 0.5 of its unit;
        without a limit 0.

    Returns
    -------
    tuple of GateOutcome
        Gate by gate and system by system. One is not passed where the adjusted p is below 0.05 and the difference is
        worse than the limit, and where it cannot be decided, because the metric was not tested.

    Raises
    ------
    DataError
        A metric that was not computed.
    UsageError
        An unknown metric, a limit that no difference can exceed, or no baseline.

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
    """Judge the differences of systems from a baseline, by data set; without a comparison they are undecided."""
    for gate in gates:
        for dataset, comparison in comparisons.items():
            for measure in find_measures(gate.metric, measures):
                for system in systems:
                    if system != baseline:
                        outcome = GateOutcome("worse", system, baseline, dataset, measure, gate.limit_of(measure))
                        yield _judge_difference(outcome, gate, comparison, layout)


def _judge_difference(outcome: GateOutcome, gate: Gate, comparison: Comparison | None, layout: Layout) -> GateOutcome:
    """Judge the difference of a system from its baseline."""
    measure, system, baseline, limit = outcome.measure, outcome.system, outcome.baseline, outcome.limit
    place = f"{outcome.dataset}: " if outcome.dataset else ""
    difference = None if comparison is None else comparison.by_key.get((measure.name, system, baseline))
    if comparison is None or difference is None:
        why = f"{place}{system} was not compared with {baseline} on {measure}"
        return replace(outcome, why=why, is_decided=False)
    p = difference.p if difference.p_adjusted is None else difference.p_adjusted
    outcome = replace(outcome, value=difference.difference, p_adjusted=p)
    if p is None:
        why = f"{place}{system} was not tested against {baseline} on {measure}"
        return replace(outcome, why=why, is_decided=False)
    size = abs(difference.difference)
    if not difference.is_detected or difference.is_better or size <= limit + TIE * limit:
        return replace(outcome, passed=True)
    by = describe_size(difference, _with_places(layout, measure, size, limit))
    points = " points" if measure.metric.unit == "share" and not by.endswith("points") else ""
    more = f", more than {format_number(gate.limit)}{points}" if gate.limit else ""
    evidence = f"{describe_p(difference)}{_describe_family(difference, comparison)}"
    return replace(outcome, why=f"{place}{system} is worse than {baseline} on {measure} by {by}{more} ({evidence})")


def _describe_family(difference: Difference, comparison: Comparison) -> str:
    """Write over which tests p is adjusted; nothing where there is only one."""
    tests = [other for other in comparison.differences if other.p is not None]
    family = counted(len(tests), "test")
    if comparison.testing.adjust_over != "all":
        metric = difference.measure.name
        tests = [other for other in tests if (other.measure.name, other.bin) == (metric, difference.bin)]
        family = f"the {len(tests)} pairs on {metric}"
    if len(tests) < 2:
        return ""
    return f", {'adjusted by Holm over' if comparison.testing.adjust == 'holm' else 'not adjusted for'} {family}"


def judge_values(gates: Sequence[Gate], result: Result, layout: Layout = DEFAULT) -> tuple[GateOutcome, ...]:
    """Judge the values of a system."""
    measures = [figure.measure for figure in result.figures]
    check_computed(gates, measures)
    return tuple(
        _judge_value(gate, result, measure, layout)
        for gate in gates
        for measure in find_measures(gate.metric, measures)
    )


def _judge_value(gate: Gate, result: Result, measure: Measure, layout: Layout) -> GateOutcome:
    """Judge a value of a system."""
    estimate, limit = result.estimates[measure.name], gate.limit_of(measure)
    value = estimate.value
    outcome = GateOutcome(gate.kind, result.name, "", "", measure, limit, value)
    if estimate.undefined or math.isnan(value):
        return replace(outcome, why=f"{result.name} has no {measure}: it is undefined", is_decided=False)
    too_far = limit - value if gate.kind == "at_least" else value - limit
    if too_far <= TIE * max(abs(limit), abs(value)):
        return replace(outcome, passed=True)
    shown = _with_places(layout, measure, value, limit).format(measure, value)
    bound = f"{gate.kind.replace('_', ' ')} {format_number(gate.limit)}"
    return replace(outcome, why=f"{result.name} has {measure} {shown}, and {bound} is required")


def _with_places(layout: Layout, measure: Measure, value: float, limit: float) -> Layout:
    """Return a layout with so many places that a value beyond a limit does not look like the limit."""
    while layout.format(measure, value) == layout.format(measure, limit) and (layout.places or 0) < MOST_PLACES:
        layout = replace(layout, places=(PLACES if layout.places is None else layout.places) + 1)
    return layout
