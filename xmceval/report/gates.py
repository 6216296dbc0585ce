"""Gates: what the values of systems must keep to; a gate that cannot be decided never passes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from xmceval.errors import DataError, UsageError, argument, listed
from xmceval.kernels.metrics.totals import TIE
from xmceval.metrics.entry import format_number
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.forms.layout import DEFAULT, MOST_PLACES, PLACES, Layout
from xmceval.report.gateoutcomes import AT_LEAST, AT_MOST, WORSE, GateOutcome
from xmceval.report.lookup import find_measures
from xmceval.report.result import Result
from xmceval.report.sheet.verdicts import describe_p, describe_size
from xmceval.scoring.estimates import Estimate

SIGNS = {">=": AT_LEAST, "<=": AT_MOST}


@dataclass(frozen=True)
class Gate:
    """A limit of a metric, as it was asked for.

    Attributes
    ----------
    kind : str
        One of GATES: what a difference may at most be worse by, or what a value must be at least, or at most.
    metric : str
        A name in any spelling; without a cutoff it stands for all that were computed.
    limit : float
        In points or percent where the metric is a share.
    in_percent : bool
        Whether it is, or a fraction.
    """

    kind: str
    metric: str
    limit: float
    in_percent: bool = True

    def __str__(self) -> str:
        sign = {kind: sign for sign, kind in SIGNS.items()}.get(self.kind, ":")
        return f"{self.metric}{sign}{format_number(self.limit)}"

    def limit_of(self, measure: Measure) -> float:
        """Return the limit of a measure; of a share as a fraction."""
        is_share = self.in_percent and measure.metric.unit == "share"
        return float(Fraction(repr(self.limit)) / 100) if is_share else self.limit  # 68.6 is 0.686, not 0.6859999

    @property
    def in_hundredths(self) -> Gate | None:
        """The gate that was meant where a limit of a share from 0 to 1 is a fraction instead of percent."""
        is_small = self.in_percent and 0 < self.limit <= 1
        if not (is_small and any(each.metric.unit == "share" for each in self.find_in([]))):
            return None
        return replace(self, limit=float(100 * Fraction(repr(self.limit))))

    def find_in(self, measures: Sequence[Measure]) -> list[Measure]:
        """Return the measures that it is about; where none of them was computed, those that its name means."""
        return find_measures(self.metric, measures) or parse(self.metric)


def parse_worse(text: str) -> Gate:
    """Parse what a difference may at most be worse by: ``P@5:0.5``, or ``P@5`` for any difference."""
    metric, _, limit = text.rpartition(":") if ":" in text else (text, "", "")
    number = _parse_number(limit) if limit.strip() else 0.0
    if number is None or number < 0:
        raise UsageError(f"gate {text!r}: expected a limit of at least 0, such as P@5:0.5")
    parse(metric)
    return Gate(WORSE, metric.strip(), number)


def parse_required(text: str, *, in_percent: bool = True) -> Gate:
    """Parse what a value must be at least or at most: ``P@5>=34``.

    Parameters
    ----------
    text : str
    in_percent : bool
        Whether limits of shares are in percent, as in a table, or fractions.
    """
    sign = next((each for each in SIGNS if each in text), "")
    metric, _, limit = text.partition(sign) if sign else (text, "", "")
    number = _parse_number(limit)
    if number is None:
        raise UsageError(f"gate {text!r}: expected >= or <= and a number, such as P@5>=34")
    parse(metric)
    return Gate(SIGNS[sign], metric.strip(), number, in_percent)


def _parse_number(text: str) -> float | None:
    """Return a number; None where there is none, or an infinite one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def check_baseline(n_systems: int, against: str | None, hint: str = "") -> None:
    """Refuse gates of differences where it is not clear which system is the baseline.

    `hint` says where it is named, if that is no argument.
    """
    if against is None and n_systems > 2:
        hint = hint or f"pass {argument('against', kind='NAME')}"
        raise UsageError(f"a gate of differences needs a baseline, and there are {n_systems} systems (hint: {hint})")


def check_decidable(
    gates: Sequence[Gate], measures: Sequence[Measure], n_systems: int, against: str | None, hint: str = ""
) -> None:
    """Refuse gates of differences that scoring could not decide; see `check_baseline` and `check_computed`."""
    if gates:
        check_baseline(n_systems, against, hint)
        check_computed(gates, measures)


def check_computed(gates: Iterable[Gate], measures: Sequence[Measure]) -> None:
    """Refuse gates of metrics that are not computed, before anything is scored."""
    missing = dict.fromkeys(each for gate in gates for each in gate.find_in(measures) if each not in measures)
    if missing:
        raise DataError(*(f"a gate cannot be decided: {_not_computed(each, measures)}" for each in missing))


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
        An unknown metric, a limit that is no number from 0 on, or no baseline.

    Examples
    --------
    >>> import numpy as np
    >>> import xmceval
    >>> scores = {"old": np.eye(6), "new": np.eye(6)[::-1]}
    >>> [outcome] = check_worse(xmceval.compare(np.eye(6), scores, k=1, metrics="P"), "P@1:0.5")
    >>> outcome.passed, outcome.value, outcome.p_adjusted
    (False, -1.0, 0.03125)
    """
    parsed = [parse_worse(each) for each in ([gates] if isinstance(gates, str) else gates)]
    return judge_differences(parsed, comparison)


def judge_differences(
    gates: Sequence[Gate], comparison: Comparison, layout: Layout = DEFAULT
) -> tuple[GateOutcome, ...]:
    """Judge the differences of all systems from the baseline of a comparison."""
    systems = list(comparison.systems)
    check_baseline(len(systems), comparison.testing.against)
    baseline = comparison.testing.against or comparison.pairs[0][1]
    return judge_datasets(gates, {"": comparison}, systems, baseline, layout)


def judge_datasets(
    gates: Sequence[Gate],
    comparisons: Mapping[str, Comparison | None],
    systems: Sequence[str],
    baseline: str,
    layout: Layout = DEFAULT,
) -> tuple[GateOutcome, ...]:
    """Judge the differences of systems from a baseline on each data set of a benchmark.

    Parameters
    ----------
    gates : sequence of Gate
    comparisons : mapping of str to Comparison or None
        By data set. What has no difference there, such as a system without predictions, cannot be decided.
    systems : sequence of str
        All that are tested.
    baseline : str
    layout : Layout
        Of numbers in `why`.
    """
    return tuple(
        _judge_difference(gate, comparison, dataset, measure, (system, baseline), layout)
        for gate in gates
        for dataset, comparison in comparisons.items()
        for measure in gate.find_in(_measures(comparison))
        for system in systems
        if system != baseline
    )


def _measures(comparison: Comparison | None) -> list[Measure]:
    return [] if comparison is None else [each.measure for each in comparison.results[0].figures]


def _judge_difference(
    gate: Gate, comparison: Comparison | None, dataset: str, measure: Measure, pair: tuple[str, str], layout: Layout
) -> GateOutcome:
    """Judge the difference of a system from its baseline."""
    outcome = GateOutcome(gate.kind, *pair, dataset, measure, gate.limit_of(measure))
    place = f"{dataset}: " if dataset else ""
    difference = None if comparison is None else comparison.by_key.get((measure.name, *pair))
    if difference is None or difference.p is None:
        if comparison is not None and measure not in _measures(comparison):
            why = _not_computed(measure, _measures(comparison))
        else:
            was = "compared with" if difference is None else "tested against"
            why = f"{pair[0]} was not {was} {pair[1]} on {measure}"
        value = None if difference is None else difference.difference
        return replace(outcome, value=value, why=f"{place}{why}", is_decided=False)
    p = difference.p if difference.p_adjusted is None else difference.p_adjusted
    outcome = replace(outcome, value=difference.difference, p_adjusted=p)
    if not (
        difference.is_detected and not difference.is_better and _exceeds(abs(difference.difference), outcome.limit)
    ):
        return replace(outcome, passed=True)
    return replace(outcome, why=place + _describe_breach(gate, difference, layout))


def _exceeds(value: float, limit: float) -> bool:
    """Return whether a value is above a limit, by more than rounding."""
    return value > limit + TIE * abs(limit)


def _describe_breach(gate: Gate, difference: Difference, layout: Layout) -> str:
    """Write by how much a system is worse than its baseline."""
    measure = difference.measure
    shown = _with_places(layout, measure, abs(difference.difference), gate.limit_of(measure))
    size = describe_size(difference, shown)
    points = " points" if measure.metric.unit == "share" and not (size.endswith("points") and gate.limit) else ""
    more = f", more than {format_number(gate.limit)}{points}" if gate.limit else ""
    pair = f"{difference.system} is worse than {difference.baseline}"
    return f"{pair} on {measure} by {size}{more} ({describe_p(difference)})"


def _with_places(layout: Layout, measure: Measure, value: float, limit: float) -> Layout:
    """Return a layout with so many places that a value beyond a limit does not look like the limit."""
    shown = layout
    while shown.format(measure, value) == shown.format(measure, limit) and (shown.places or 0) < MOST_PLACES:
        shown = replace(shown, places=(PLACES if shown.places is None else shown.places) + 1)
    return shown


def judge_values(gates: Sequence[Gate], result: Result, layout: Layout = DEFAULT) -> tuple[GateOutcome, ...]:
    """Judge the values of a system."""
    measures = [figure.measure for figure in result.figures]
    return tuple(_judge_value(gate, result, measure, layout) for gate in gates for measure in gate.find_in(measures))


def _judge_value(gate: Gate, result: Result, measure: Measure, layout: Layout) -> GateOutcome:
    limit = gate.limit_of(measure)
    outcome = GateOutcome(gate.kind, result.name, "", "", measure, limit)
    estimate: Estimate | None = result.estimates.get(measure.name)
    if estimate is None:
        measures = [figure.measure for figure in result.figures]
        return replace(outcome, why=_not_computed(measure, measures), is_decided=False)
    value = estimate.value
    if estimate.undefined or math.isnan(value):
        return replace(outcome, value=value, why=f"{result.name} has no {measure}: it is undefined", is_decided=False)
    if not (_exceeds(limit, value) if gate.kind == AT_LEAST else _exceeds(value, limit)):
        return replace(outcome, value=value, passed=True)
    shown = _with_places(layout, measure, value, limit).format(measure, value)
    bound = f"at {gate.kind.removeprefix('at_')} {format_number(gate.limit)}"
    return replace(outcome, value=value, why=f"{result.name} has {measure} {shown}, and {bound} is required")
