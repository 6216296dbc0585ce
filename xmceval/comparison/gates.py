"""Gates that limit how much worse a system may be than its baseline."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from xmceval.comparison.comparison import Comparison
from xmceval.comparison.sheet import describe_size
from xmceval.errors import UsageError, argument
from xmceval.kernels.metrics.sums import TIE
from xmceval.metrics.measure import Measure
from xmceval.metrics.metric import format_number
from xmceval.metrics.names import find_measures
from xmceval.report.gates import NOT_DECIDED, Gate, check_computed, parse_drop, parse_worse, with_places
from xmceval.report.scored import GateOutcome
from xmceval.report.sheet import DEFAULT, Layout


def check_decidable(
    gates: Sequence[Gate], measures: Sequence[Measure], n_systems: int, against: str | None, hint: str = ""
) -> None:
    """Refuse gates of differences without two systems and a baseline; `hint` says how to name the baseline."""
    if gates and n_systems < 2:
        raise UsageError("a gate of differences needs at least two systems, got only one")
    if gates and against is None and n_systems > 2:
        hint = hint or f"pass {argument('against', kind='NAME')}"
        raise UsageError(f"a gate of differences needs a baseline, and there are {n_systems} systems (hint: {hint})")
    check_computed(gates, measures)


def check_worse(
    comparison: Comparison, gates: str | Iterable[str] = (), *, fail_if_drop: str | Iterable[str] = ()
) -> tuple[GateOutcome, ...]:
    """Check that no system is worse than the baseline, significantly and by more than a limit.

    Parameters
    ----------
    comparison : Comparison
        A comparison with `against`, or of two systems, the first of which is the baseline.
    gates : str or iterable of str
        Such as ``"P@5:0.5"``: not worse by more than 0.5 points, or 0.5 of the metric's unit. The default limit
        is 0. If rows are queries, shares are fractions as in their tables: ``"nDCG@10:0.005"``. With a percent sign,
        as in ``"P@5:0.5%"``, a limit is always in points.
    fail_if_drop : str or iterable of str
        Gates that need no significance, such as ``"macroF1@5:1%"``: they judge the difference alone, also where there
        is no test.

    Returns
    -------
    tuple of GateOutcome
        Gate by gate and system by system. A gate fails if the adjusted p is below 0.05 and the difference is
        worse than the limit, or if there is no test; one of `fail_if_drop` if the difference is worse than the limit.

    Examples
    --------
    >>> import numpy as np
    >>> import xmceval
    >>> scores = {"old": np.eye(6), "new": np.eye(6)[::-1]}
    >>> [outcome] = check_worse(xmceval.compare(np.eye(6), scores, k=1, metrics="P"), "P@1:0.5")
    >>> outcome.passed, outcome.value, outcome.p_adjusted
    (False, -1.0, 0.03125)
    """
    in_percent = DEFAULT.settle(comparison.results[0].nouns).is_in_percent
    return judge_comparison(parse_gates(gates, fail_if_drop, in_percent=in_percent), comparison)


def parse_gates(
    fail_if_worse: str | Iterable[str], fail_if_drop: str | Iterable[str], *, in_percent: bool | None
) -> list[Gate]:
    """Parse gates of differences."""
    worse, drop = ([texts] if isinstance(texts, str) else texts for texts in (fail_if_worse, fail_if_drop))
    gates = [parse_worse(text, in_percent=in_percent) for text in worse]
    return [*gates, *(parse_drop(text, in_percent=in_percent) for text in drop)]


def judge_comparison(
    gates: Sequence[Gate], comparison: Comparison, layout: Layout = DEFAULT
) -> tuple[GateOutcome, ...]:
    """Judge how every system of a comparison differs from its baseline."""
    layout = layout.settle(comparison.results[0].nouns)
    systems = list(comparison.systems)
    against = comparison.testing.against
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
    """Judge how systems differ from a baseline, by data set; without a comparison the outcome is undecided."""
    for gate, (dataset, comparison) in itertools.product(gates, comparisons.items()):
        for measure, system in itertools.product(find_measures(gate.metric, measures), systems):
            if system != baseline:
                outcome = GateOutcome(gate.kind, system, baseline, dataset, measure, gate.limit)
                yield _judge_difference(outcome, gate, comparison, layout)


def _judge_difference(outcome: GateOutcome, gate: Gate, comparison: Comparison | None, layout: Layout) -> GateOutcome:
    """Judge how a system differs from its baseline."""
    measure = outcome.measure
    system = outcome.system
    baseline = outcome.baseline
    difference = None
    if comparison is not None:
        difference = comparison.by_key.get((measure.name, system, baseline))
    needs_test = gate.kind == "worse"
    is_decided = False
    if difference is not None:
        outcome = replace(outcome, value=difference.difference, p_adjusted=difference.p_that_decides)
        is_decided = not math.isnan(difference.difference)
        if needs_test:
            is_decided = outcome.p_adjusted is not None
    if comparison is None or difference is None or not is_decided:
        verb = "tested against" if needs_test else "compared with"
        why = NOT_DECIDED.format(measure, f"{system} was not {verb} {baseline}")
        if outcome.dataset:
            why += f" on {outcome.dataset}"
        return replace(outcome, why=why, is_decided=False)
    size = abs(difference.difference)
    if not size or difference.is_better or size <= gate.limit + TIE * gate.limit:
        return replace(outcome, passed=True)
    loss = f"{system} is worse than {baseline} on {measure} by "
    if outcome.dataset:
        loss = f"{outcome.dataset}: {loss}"
    loss += describe_size(difference, with_places(layout, measure, size, gate.limit))
    if measure.metric.unit == "share" and layout.is_in_percent:
        loss += " points"
    if gate.limit:
        loss += f", more than {format_number(gate.number)}"
        if gate.limit != gate.number and not layout.is_in_percent:
            loss += " points"
    family = "tests"
    tests = [other for other in comparison.differences if other.p is not None]
    if comparison.testing.adjust_over != "all":
        family = f"pairs on {measure}"
        tests = [other for other in tests if (other.measure.name, other.bin) == (measure.name, difference.bin)]
    evidence = "not tested"
    if outcome.p_adjusted is not None:
        evidence = difference.describe_p()
    if len(tests) > 1:
        how = "adjusted by Holm over" if comparison.testing.adjust == "holm" else "not adjusted for"
        evidence += f", {how} the {len(tests):,} {family}"
    if needs_test and not difference.is_detected:
        advice = f"{argument('fail_if_drop', gate.text)} fails on the difference alone"
        return replace(outcome, passed=True, why=f"{loss}, which is not significant ({evidence}); {advice}")
    return replace(outcome, why=f"{loss} ({evidence})")
