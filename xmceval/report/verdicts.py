"""Verdicts: what a comparison comes to, in one plain sentence per pair and metric."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xmceval.errors import listed
from xmceval.report.comparison import LEVEL, Comparison, Difference
from xmceval.report.layout import DEFAULT, Layout

LEAST_P = 0.0001
ADJUSTED = {"holm": "p (Holm)", "tukey": "p (Tukey)"}
MOST_PAIRS = 3  # that have sentences of their own


def describe_level(comparison: Comparison) -> str:
    """Describe what makes a difference significant."""
    return f"{ADJUSTED.get(comparison.testing.adjust, 'p')} < {LEVEL:g}"


def has_many_pairs(comparison: Comparison) -> bool:
    """Return whether there are so many pairs that a table has one list per metric instead of one per pair."""
    return len(comparison.pairs) > MOST_PAIRS


def summarise(comparison: Comparison) -> list[str]:
    """Write one sentence per metric: what the best system is better than, or how all compare with the baseline."""
    by_measure: dict[str, list[Difference]] = {}
    for each in comparison.differences:
        if not each.bin:
            by_measure.setdefault(each.measure.name, []).append(each)
    tested = {name: own for name, own in by_measure.items() if any(each.p is not None for each in own)}
    against = comparison.testing.against
    sentences = [
        f"{name}: {_summarise_best(own) if against is None else _summarise_baseline(own, against)}"
        for name, own in tested.items()
    ]
    untested = [name for name in by_measure if name not in tested]
    return sentences + ([_describe_untested(untested)] if untested else [])


def _summarise_best(differences: Sequence[Difference]) -> str:
    """Write which systems the best one is better than; the best are those that no other has a better value than."""
    names = list(dict.fromkeys(name for each in differences for name in (each.baseline, each.system)))
    behind = {_loser(each) for each in differences if each.difference != 0}
    best = [name for name in names if name not in behind] or names[:1]
    detected = {(_loser(each), _opponent(each, _loser(each))) for each in differences if each.is_detected}
    rest = [name for name in names if name not in best]
    beaten = [name for name in rest if all((name, each) in detected for each in best)]
    others = [name for name in rest if name not in beaten]
    if not rest:
        return "all systems have the same value"
    lead = f"{best[0]} is" if len(best) == 1 else f"{' and '.join(best)} have the same value, and are"
    if not others and beaten:
        return f"{lead} better than all others"
    if not beaten:
        return f"{lead} best, but no difference from any other was detected"
    return f"{lead} better than {listed(beaten)}; no difference from {listed(others)} was detected"


def _summarise_baseline(differences: Sequence[Difference], baseline: str) -> str:
    """Write which systems are better or worse than the baseline."""
    better = [_opponent(each, baseline) for each in differences if each.is_detected and _loser(each) == baseline]
    worse = [_opponent(each, baseline) for each in differences if each.is_detected and _loser(each) != baseline]
    others = [_opponent(each, baseline) for each in differences if not each.is_detected]
    parts = (
        (f"better than {baseline}: ", better),
        (f"worse than {baseline}: ", worse),
        ("no difference was detected: ", others),
    )
    return "; ".join(f"{words}{listed(names)}" for words, names in parts if names)


def _loser(difference: Difference) -> str:
    """Return the name of the system with the worse value."""
    return difference.baseline if difference.is_better else difference.system


def _opponent(difference: Difference, name: str) -> str:
    return difference.baseline if difference.system == name else difference.system


def find_beaten(comparison: Comparison) -> dict[tuple[str, str, str], list[str]]:
    """Return the systems that each is significantly better than, by (bin, metric, system)."""
    beaten: dict[tuple[str, str, str], list[str]] = {}
    for each in comparison.differences:
        if each.is_detected:
            loser = _loser(each)
            beaten.setdefault((each.bin, each.measure.name, _opponent(each, loser)), []).append(loser)
    return beaten


def write_verdicts(comparison: Comparison, layout: Layout = DEFAULT) -> list[str]:
    """Write one sentence per pair of systems and metric, and one on what was not tested."""
    sentences: list[str] = []
    untested: dict[tuple[str, str], tuple[str, ...]] = {}
    for pair in comparison.pairs:
        by_head: dict[str, list[Difference]] = {}
        for each in comparison.of_pair(*pair):
            by_head.setdefault(each.measure.head, []).append(each)
        sentences.extend(_sentence(own, layout) for own in by_head.values() if any(each.p is not None for each in own))
        untested[pair] = tuple(each.measure.name for own in by_head.values() for each in own if each.p is None)
    if len(set(untested.values())) == 1:
        untested = {("", ""): next(iter(untested.values()))}
    return sentences + [_describe_untested(names, pair) for pair, names in untested.items() if names]


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
    return "; ".join(clauses)


def _describe_untested(names: Sequence[str], pair: tuple[str, str] = ("", "")) -> str:
    """Write what was not tested, of one pair or, without a name, of all."""
    about = f" between {' and '.join(pair)}" if all(pair) else ""
    return f"{listed(names)} {'was' if len(names) == 1 else 'were'} not tested{about}"


def _describe(difference: Difference, layout: Layout) -> str:
    size = f"{layout.format(difference.measure, abs(difference.difference))}"
    if difference.low is not None and difference.high is not None:
        size += f" ± {layout.format(difference.measure, (difference.high - difference.low) / 2)}"
    unit = " points" if difference.measure.metric.unit == "share" and layout.percent else ""
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
    if p < LEVEL <= float(f"{p:.3f}"):  # 0.050 would not look significant
        return f"{sign}{math.floor(p * 10_000) / 10_000:.4f}"
    return sign + (f"{p:.3f}" if p >= 10 * LEAST_P else f"{p:.4f}")
