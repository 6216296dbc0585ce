"""Gates: limits of values, and of how much worse a system may be than its baseline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
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
    """A limit of a metric: of its value, or of how much worse a system may be (``worse``).

    `limit` is in points or percent where the metric is a share and `in_percent` is set. A metric without a cutoff
    stands for all cutoffs that are computed.
    """

    kind: str
    metric: str
    limit: float
    in_percent: bool = True

    def limit_of(self, measure: Measure) -> float:
        """Return the limit of a measure; of a share as a fraction."""
        is_percent = self.in_percent and measure.metric.unit == "share"
        return float(Fraction(repr(self.limit)) / 100) if is_percent else self.limit  # 68.6 is 0.686, not 0.6859999

    def find_in(self, measures: Sequence[Measure]) -> list[Measure]:
        """Return the measures that it is about; where none of them was computed, those that its name means."""
        return find_measures(self.metric, measures) or parse(self.metric)


def parse_worse(text: str) -> Gate:
    """Parse how much worse a system may be: ``P@5:0.5``, or ``P@5`` for no difference at all."""
    metric, _, limit = text.rpartition(":") if ":" in text else (text, "", "")
    return _make_gate(text, "worse", metric, limit.strip() or "0", "a limit of at least 0, such as P@5:0.5")


def parse_required(text: str, *, in_percent: bool = True) -> Gate:
    """Parse what a value must be: ``P@5>=34``; limits of shares are in percent, or else fractions."""
    sign = next((sign for sign in SIGNS if sign in text), "")
    metric, _, limit = text.partition(sign) if sign else ("", "", "")
    expected = ">= or <= and a number, such as P@5>=34"
    return _make_gate(text, SIGNS.get(sign, ""), metric, limit, expected, in_percent=in_percent)


def _make_gate(text: str, kind: str, metric: str, limit: str, expected: str, *, in_percent: bool = True) -> Gate:
    """Return a gate that can fail."""
    try:
        number = float(limit)
    except ValueError:
        number = math.nan
    if not (kind and math.isfinite(number)) or (kind == "worse" and number < 0):
        raise UsageError(f"gate {text!r}: expected {expected}")
    gate = Gate(kind, metric.strip(), number, in_percent)
    measure = parse(metric)[0]
    is_share = measure.metric.unit == "share"
    if kind != "worse" and in_percent and is_share and 0 < number <= 1:
        percent = text.replace(limit, format_number(float(100 * Fraction(repr(number)))))
        raise UsageError(
            f"gate {text!r}: limits of shares are in percent, as in the table (hint: pass {percent}, or "
            "--fraction for limits and table as fractions)"
        )
    low, high = measure.metric.bounds
    if measure.metric.needs_propensities and measure.norm.over == "mean":
        high = math.inf  # sums of 1/p that nothing divides
    least, most = (0.0, high - low) if kind == "worse" else (low, high)
    own = gate.limit_of(measure)
    can_fail = {"worse": least <= own < most, "at_least": least < own <= most, "at_most": least <= own < most}[kind]
    if not can_fail:
        scale = 100 if in_percent and is_share else 1
        what = "differences" if kind == "worse" else "values"
        upper = f"to {format_number(scale * most)}" if math.isfinite(most) else "on"
        raise UsageError(
            f"gate {text!r} has no effect: {what} of {gate.metric} are from {format_number(scale * least)} {upper}"
        )
    return gate


def check_decidable(
    gates: Sequence[Gate], measures: Sequence[Measure], n_systems: int, against: str | None, hint: str = ""
) -> None:
    """Refuse gates of differences that scoring could not decide; `hint` says where the baseline is named."""
    if gates:
        _check_baseline(n_systems, against, hint)
        check_computed(gates, measures)


def _check_baseline(n_systems: int, against: str | None, hint: str = "") -> None:
    """Refuse gates of differences where there is nothing to compare, or where it is not clear with what."""
    if n_systems < 2:
        raise UsageError("a gate of differences needs at least two systems, got only one")
    if against is None and n_systems > 2:
        hint = hint or f"pass {argument('against', kind='NAME')}"
        raise UsageError(f"a gate of differences needs a baseline, and there are {n_systems} systems (hint: {hint})")


def check_computed(gates: Iterable[Gate], measures: Sequence[Measure]) -> None:
    """Refuse gates of metrics that are not computed, before anything is scored."""
    missing = dict.fromkeys(measure for gate in gates for measure in gate.find_in(measures) if measure not in measures)
    if missing:
        raise DataError(*(f"a gate cannot be decided: {_not_computed(measure, measures)}" for measure in missing))


def _not_computed(measure: Measure, measures: Sequence[Measure]) -> str:
    return f"{measure} was not computed; expected any of {listed(measures)}"


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
        worse than the limit, and where it cannot be decided: the metric was not computed, or not tested.

    Raises
    ------
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
    return judge_differences([parse_worse(gate) for gate in ([gates] if isinstance(gates, str) else gates)], comparison)


def judge_differences(
    gates: Sequence[Gate], comparison: Comparison, layout: Layout = DEFAULT
) -> tuple[GateOutcome, ...]:
    """Judge the differences of all systems from the baseline of a comparison."""
    systems = list(comparison.systems)
    _check_baseline(len(systems), comparison.testing.against)
    baseline = comparison.testing.against or comparison.pairs[0][1]
    return judge_datasets(gates, {"": comparison}, systems, baseline, layout)


def judge_datasets(
    gates: Sequence[Gate],
    comparisons: Mapping[str, Comparison | None],
    systems: Sequence[str],
    baseline: str,
    layout: Layout = DEFAULT,
) -> tuple[GateOutcome, ...]:
    """Judge the differences of systems from a baseline, by data set; without a comparison they are undecided."""
    outcomes = []
    for gate in gates:
        for dataset, comparison in comparisons.items():
            measures = [] if comparison is None else [figure.measure for figure in comparison.results[0].figures]
            for measure in gate.find_in(measures):
                for system in systems:
                    if system != baseline:
                        outcome = GateOutcome("worse", system, baseline, dataset, measure, gate.limit_of(measure))
                        outcomes.append(_judge_difference(outcome, gate, comparison, measures, layout))
    return tuple(outcomes)


def _judge_difference(
    outcome: GateOutcome, gate: Gate, comparison: Comparison | None, measures: Sequence[Measure], layout: Layout
) -> GateOutcome:
    """Judge the difference of a system from its baseline."""
    measure, system, baseline = outcome.measure, outcome.system, outcome.baseline
    place = f"{outcome.dataset}: " if outcome.dataset else ""
    difference = None if comparison is None else comparison.by_key.get((measure.name, system, baseline))
    if comparison is None or difference is None or difference.p is None:
        was = "compared with" if difference is None else "tested against"
        is_computed = comparison is None or measure in measures
        why = f"{system} was not {was} {baseline} on {measure}" if is_computed else _not_computed(measure, measures)
        value = None if difference is None else difference.difference
        return replace(outcome, value=value, why=f"{place}{why}", is_decided=False)
    p = difference.p if difference.p_adjusted is None else difference.p_adjusted
    size, limit = abs(difference.difference), outcome.limit
    passed = not difference.is_detected or difference.is_better or size <= limit + TIE * limit
    outcome = replace(outcome, value=difference.difference, p_adjusted=p, passed=passed)
    if passed:
        return outcome
    by = describe_size(difference, _with_places(layout, measure, size, limit))
    points = " points" if measure.metric.unit == "share" and not by.endswith("points") else ""
    more = f", more than {format_number(gate.limit)}{points}" if gate.limit else ""
    evidence = f"{describe_p(difference)}{_describe_family(difference, comparison)}"
    return replace(outcome, why=f"{place}{system} is worse than {baseline} on {measure} by {by}{more} ({evidence})")


def _describe_family(difference: Difference, comparison: Comparison) -> str:
    """Write over which tests p is adjusted; nothing where there is only one."""
    is_of_all, is_adjusted = comparison.testing.adjust_over == "all", comparison.testing.adjust == "holm"
    metric = difference.measure.name
    tests = [
        each
        for each in comparison.differences
        if each.p is not None and (is_of_all or (each.measure.name, each.bin) == (metric, difference.bin))
    ]
    if len(tests) < 2:
        return ""
    family = counted(len(tests), "test") if is_of_all else f"the {len(tests)} pairs on {metric}"
    return f", adjusted by Holm over {family}" if is_adjusted else f", not adjusted for {family}"


def judge_values(gates: Sequence[Gate], result: Result, layout: Layout = DEFAULT) -> tuple[GateOutcome, ...]:
    """Judge the values of a system."""
    measures = [figure.measure for figure in result.figures]
    return tuple(
        _judge_value(gate, result, measure, measures, layout) for gate in gates for measure in gate.find_in(measures)
    )


def _judge_value(
    gate: Gate, result: Result, measure: Measure, measures: Sequence[Measure], layout: Layout
) -> GateOutcome:
    limit = gate.limit_of(measure)
    outcome = GateOutcome(gate.kind, result.name, "", "", measure, limit)
    estimate = result.estimates.get(measure.name)
    if estimate is None:
        return replace(outcome, why=_not_computed(measure, measures), is_decided=False)
    value = estimate.value
    outcome = replace(outcome, value=value)
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
