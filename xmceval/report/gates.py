"""Parse gates, which are limits on metric values, and check values against them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from xmceval.errors import DataError, UsageError, listed
from xmceval.kernels.metrics.sums import TIE
from xmceval.metrics.measure import Measure
from xmceval.metrics.metric import format_number
from xmceval.metrics.names import find_measures, parse
from xmceval.report.scored import GateOutcome, Scored
from xmceval.report.sheet import DEFAULT, MOST_PLACES, PLACES, Layout

KINDS = {":": "worse", ">=": "at_least", "<=": "at_most"}
NOT_DECIDED = "{}: not decided, because {}"


class Gate(NamedTuple):
    """A limit of a metric, at every cutoff if it names none."""

    kind: str
    metric: str
    number: float  # as passed
    limit: float  # a fraction if the metric is a share; NaN where its unit is not known yet
    is_percent: bool  # whether it was passed with a percent sign

    @property
    def text(self) -> str:
        """The gate of a difference, as it is passed."""
        return f"{self.metric}:{format_number(self.number)}{'%' * self.is_percent}"


def parse_worse(text: str, *, in_percent: bool | None = True) -> Gate:
    """Parse how much worse a system may be, such as ``P@5:0.5``, or ``P@5`` for no difference at all.

    A share is in percent, which here are points, or else a fraction; ``0.5%`` is in percent anyway. With None this is
    not known yet, and the limit is not checked.
    """
    return _parse(text, {"worse"}, "METRIC:X, such as P@5:0.5", in_percent=in_percent)


def parse_drop(text: str, *, in_percent: bool | None) -> Gate:
    """Parse how much worse a system may be, tested or not, as in `parse_worse`."""
    return parse_worse(text, in_percent=in_percent)._replace(kind="drop")


def parse_required(text: str, *, in_percent: bool | None = True) -> Gate:
    """Parse a limit of values, such as ``P@5>=34``, in the unit that `parse_worse` takes."""
    return _parse(text, {"at_least", "at_most"}, "METRIC>=X or METRIC<=X, such as P@5>=34", in_percent=in_percent)


def _parse(text: str, kinds: Iterable[str], expected: str, *, in_percent: bool | None) -> Gate:
    """Parse a gate that some values or differences pass and others do not."""
    name, sign, limit = [*re.split("(>=|<=|:)", text, maxsplit=1), ":", "0"][:3]
    kind = KINDS[sign]
    name = name.strip()
    limit = limit.strip()
    is_percent = limit.endswith("%")
    if kind == "worse" and limit in {"", "%"}:
        limit = "0"
    try:
        number = float(limit.removesuffix("%"))
    except ValueError:
        number = math.nan
    if kind not in kinds or not math.isfinite(number):
        raise UsageError(f"gate {text!r}: expected {expected}")
    measure = parse(name)[0]
    is_share = measure.metric.unit == "share"
    if is_percent and not is_share:
        raise UsageError(f"gate {text!r}: {name} is not a share; expected a number without %")
    if is_share and in_percent is None and not is_percent:
        return Gate(kind, name, number, math.nan, is_percent)
    scale = 1
    if is_percent or (is_share and in_percent):
        scale = 100
    if kind != "worse" and scale > 1 and not is_percent and 0 < number <= 1:
        percent = f"{name}{sign}{format_number(float(100 * Fraction(repr(number))))}"
        raise UsageError(f"gate {text!r}: limits of shares are in percent (hint: pass {percent}, or --fraction)")
    gate = Gate(kind, name, number, float(Fraction(repr(number)) / scale), is_percent)  # 0.686, not 0.6859999
    least, most = measure.metric.bounds
    if measure.metric.needs_propensities and measure.norm.over == "mean":
        most = math.inf  # unnormalised sums of 1/p
    what = "values"
    if kind == "worse":
        what = "differences"
        most -= least
        least = 0.0
    has_effect = least <= gate.limit < most
    if kind == "at_least":
        has_effect = least < gate.limit <= most
    if not has_effect:
        bounds = f"{scale * least:g} to {scale * most:g}"
        hint = ""
        if is_share and scale == 1 and 1 < number < 100:
            hint = f" (hint: pass {text.strip()}%, or --percent)"
        raise UsageError(f"gate {text!r} has no effect: {what} of {name} are from {bounds}{hint}")
    return gate


def check_computed(gates: Iterable[Gate], measures: Sequence[Measure]) -> None:
    """Refuse gates of metrics that are not computed."""
    missing = dict.fromkeys(gate.metric for gate in gates if not _is_computed(gate.metric, measures))
    if missing:
        why = f"it was not computed; expected any of {listed(measures)}"
        raise DataError(*(NOT_DECIDED.format(metric, why) for metric in missing))


def _is_computed(name: str, measures: Sequence[Measure]) -> bool:
    """Return whether a metric is computed: at each cutoff that its name has, else at any."""
    computed = find_measures(name, measures)
    return bool(computed) and ("@" not in name or len(computed) == len(parse(name)))


def judge_values(gates: Sequence[Gate], result: Scored, layout: Layout = DEFAULT) -> Iterator[GateOutcome]:
    """Judge the values of a system."""
    layout = layout.settle(result.nouns)
    for gate in gates:
        for measure in find_measures(gate.metric, [figure.measure for figure in result.figures]):
            estimate = result.estimates[measure.name]
            value = estimate.value
            why = ""
            too_far = value - gate.limit
            if gate.kind == "at_least":
                too_far = -too_far
            is_decided = not (estimate.undefined or math.isnan(value))
            if not is_decided:
                why = NOT_DECIDED.format(measure, f"it is undefined for {result.name}")
            elif too_far > TIE * max(abs(gate.limit), abs(value)):
                shown = with_places(layout, measure, value, gate.limit).format(measure, value)
                bound = f"{gate.kind.replace('_', ' ')} {format_number(gate.number)}{'%' * gate.is_percent}"
                why = f"{result.name} has {measure} {shown}, and {bound} is required"
            yield GateOutcome(
                gate.kind,
                result.name,
                "",
                "",
                measure,
                gate.limit,
                value,
                passed=not why,
                why=why,
                is_decided=is_decided,
            )


def with_places(layout: Layout, measure: Measure, value: float, limit: float) -> Layout:
    """Return a layout with enough places that a value beyond a limit does not look like the limit."""
    while layout.format(measure, value) == layout.format(measure, limit) and (layout.places or 0) < MOST_PLACES:
        layout = replace(layout, places=(PLACES if layout.places is None else layout.places) + 1)
    return layout
