"""Verdicts: what a comparison comes to, in one plain sentence per pair and metric."""

from __future__ import annotations

from collections.abc import Sequence

from xmceval.report.comparison import LEVEL, Comparison, Difference
from xmceval.report.layout import DEFAULT, Layout

LEAST_P = 0.0001


def write_verdicts(comparison: Comparison, layout: Layout = DEFAULT) -> list[str]:
    """Write one sentence per pair of systems and metric."""
    sentences: list[str] = []
    for system, baseline in comparison.pairs:
        by_head: dict[str, list[Difference]] = {}
        for each in comparison.of_pair(system, baseline):
            by_head.setdefault(each.measure.head, []).append(each)
        sentences.extend(_sentence(differences, layout) for differences in by_head.values())
    return sentences


def _sentence(differences: Sequence[Difference], layout: Layout) -> str:
    """Write what the differences of one metric at all of its cutoffs come to."""
    system, baseline = differences[0].system, differences[0].baseline
    clauses: list[str] = []
    for is_better in (True, False):
        detected = [each for each in differences if each.is_detected and each.is_better == is_better]
        if detected:
            how = "better" if is_better else "worse"
            found = ", ".join(_describe(each, layout) for each in detected)
            clauses.append(f"{how} on {found}" if clauses else f"{system} is {how} than {baseline} on {found}")
    undetected = [each.measure.name for each in differences if not each.is_detected and each.p is not None]
    if undetected:
        about = "" if clauses else f" between {system} and {baseline}"
        clauses.append(f"no difference{about} was detected on {', '.join(undetected)}")
    untested = [each.measure.name for each in differences if each.p is None]
    if untested:
        clauses.append(f"{', '.join(untested)} {'was' if len(untested) == 1 else 'were'} not tested")
    return "; ".join(clauses)


def _describe(difference: Difference, layout: Layout) -> str:
    size = f"{layout.format(difference.measure, abs(difference.difference))}"
    if difference.low is not None and difference.high is not None:
        size += f" ± {layout.format(difference.measure, (difference.high - difference.low) / 2)}"
    unit = " points" if difference.measure.metric.unit == "share" else ""
    return f"{difference.measure.name} by {size}{unit} ({describe_p(difference)})"


def describe_p(difference: Difference) -> str:
    """Write the p that decides."""
    p = difference.p if difference.p_adjusted is None else difference.p_adjusted
    return f"p {format_p(p, relation=True)}"


def format_p(p: float | None, *, relation: bool = False) -> str:
    """Write a p value with three digits, more where it is small."""
    if p is None:
        return ""
    sign = "= " if relation else ""
    if p < LEAST_P:
        return f"< {LEAST_P:g}" if relation else f"<{LEAST_P:g}"
    return sign + (f"{p:.3f}" if p >= 10 * LEAST_P or p >= LEVEL else f"{p:.4f}")
