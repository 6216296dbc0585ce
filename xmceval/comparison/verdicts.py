"""Describe the outcome of a comparison in plain sentences."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from xmceval.comparison.difference import ADJUSTED, Compared, Difference
from xmceval.comparison.options import BETTER, MARKS, NONE, WORSE
from xmceval.comparison.paired import LEVEL
from xmceval.errors import counted, listed
from xmceval.kernels.metrics.sums import FEW_DIFFER
from xmceval.report.forms.layout import DEFAULT, Layout

MOST_PAIRS = 3  # that have sentences of their own


def describe_level(comparison: Compared) -> str:
    """Describe when a difference is significant."""
    return f"{ADJUSTED if comparison.testing.adjust == 'holm' else 'p'} < {LEVEL:g}"


def has_many_pairs(comparison: Compared) -> bool:
    """Return whether there are too many pairs for one list per pair, so that the table has one per metric."""
    return len(comparison.pairs) > MOST_PAIRS


def summarise(comparison: Compared) -> list[str]:
    """Write one sentence per metric: what the best system is better than, or how all compare with the baseline."""
    by_measure: dict[str, list[Difference]] = {}
    for difference in comparison.differences:
        if not difference.bin:
            by_measure.setdefault(difference.measure.name, []).append(difference)
    sentences, against = list[str](), comparison.testing.against
    for name, differences in by_measure.items():
        if any(difference.p is not None for difference in differences):
            how = _summarise_best(differences) if against is None else _summarise_baseline(differences, against)
            sentences.append(f"{name}: {how}")
    return sentences + list_untested(comparison)


def _summarise_best(differences: Sequence[Difference]) -> str:
    """Write which systems the best one is better than; the best are those that no other has a better value than."""
    by_pair = {frozenset(difference.pair): difference for difference in differences}
    names = list(dict.fromkeys(name for difference in differences for name in (difference.baseline, difference.system)))
    behind = {difference.loser for difference in differences if difference.difference != 0}
    best = [name for name in names if name not in behind] or names[:1]
    rest = [name for name in names if name not in best]
    if not rest:
        return "all systems have the same value"
    from_best = {name: [by_pair[pair] for top in best if (pair := frozenset((name, top))) in by_pair] for name in rest}
    beaten = [name for name in rest if from_best[name] and all(each.is_detected for each in from_best[name])]
    others = [name for name in rest if from_best[name] and name not in beaten]
    apart = [name for name in rest if not from_best[name]]
    lead = f"{listed(best, 'and')} have equal values and are"
    if len(best) == 1:
        lead = f"{best[0]} is"
    elif not all(frozenset(pair) in by_pair for pair in itertools.combinations(best, 2)):  # their values may differ
        all_of_them = "all " if len(best) > 2 else ""
        lead = f"{listed(best, 'and')}, which are not {all_of_them}compared with each other, are"
    untested = f"; {listed(apart, 'and')} {'was' if len(apart) == 1 else 'were'} not compared with it" if apart else ""
    if not others and beaten:
        return f"{lead} better than all others{untested}"
    after = f"{_note_few({name: from_best[name][0] for name in others})}{untested}"
    if not beaten:
        return f"{lead} best, but no difference from any other was detected{after}"
    return f"{lead} better than {listed(beaten, 'and')}; no difference from {listed(others, 'or')} was detected{after}"


def _summarise_baseline(differences: Sequence[Difference], baseline: str) -> str:
    """Write which systems are better or worse than the baseline."""
    words = f"better than {baseline}", f"worse than {baseline}", "no difference was detected", "not tested"
    parts = []
    for mark, word in zip(MARKS, words, strict=True):
        having = {difference.system: difference for difference in differences if difference.mark == mark}
        if having:
            parts.append(f"{word}: {listed(having)}{_note_few(having) if mark == NONE else ''}")
    return "; ".join(parts)


def _note_few(differences: Mapping[str, Difference]) -> str:
    """Write how few rows differ, by name of the other system, after a sentence on undetected differences."""
    few = {name: words for name, difference in differences.items() if (words := describe_few(difference))}
    if len(few) > MOST_PAIRS:
        return f" (few instances differ from {len(few)} of them)"
    return f" ({'; '.join(f'{name}: {words}' for name, words in few.items())})" if few else ""


def describe_few(difference: Difference) -> str:
    """Write how few rows differ, or that all of them do alike, where p is exact for that reason."""
    m = difference.n_differing
    if m is None:
        return ""
    if m > FEW_DIFFER:
        return f"all {m:,} instances that differ do so by the same amount"
    return "no instances differ" if m == 0 else f"only {counted(m, 'instance')} differ{'s' if m == 1 else ''}"


def find_beaten(comparison: Compared) -> dict[tuple[str, str, str], list[str]]:
    """Return the systems that each is significantly better than, by (bin, metric, system)."""
    beaten: dict[tuple[str, str, str], list[str]] = {}
    for difference in comparison.differences:
        if difference.is_detected:
            loser = difference.loser
            winner = difference.system if loser == difference.baseline else difference.baseline
            beaten.setdefault((difference.bin, difference.measure.name, winner), []).append(loser)
    return beaten


def write_verdicts(comparison: Compared, layout: Layout = DEFAULT) -> list[str]:
    """Write a sentence or two per pair of systems and metric, and one on the pairs not tested."""
    sentences: list[str] = []
    untested: dict[tuple[str, str], tuple[str, ...]] = {}
    for pair in comparison.pairs:
        by_head: dict[str, list[Difference]] = {}
        for difference in comparison.of_pair(*pair):
            by_head.setdefault(difference.measure.head, []).append(difference)
        for differences in by_head.values():
            sentences.extend(_write_sentences(differences, layout))
        untested[pair] = tuple(
            difference.measure.name for group in by_head.values() for difference in group if difference.p is None
        )
    if len(set(untested.values())) == 1:
        untested = {("", ""): next(iter(untested.values()))}
    return sentences + [_describe_untested(names, pair) for pair, names in untested.items() if names]


def _write_sentences(differences: Sequence[Difference], layout: Layout) -> list[str]:
    """Describe the differences of one metric at all of its cutoffs; better and worse have sentences of their own."""
    system, baseline = differences[0].pair
    sizes: dict[str, list[str]] = {BETTER: [], WORSE: []}
    undetected: dict[str, list[str]] = {}  # by how few rows differ: first those tested as always
    for difference in sorted(differences, key=lambda difference: difference.n_differing is not None):
        if difference.mark == NONE:
            undetected.setdefault(describe_few(difference), []).append(difference.measure.name)
    for difference in differences:
        if difference.mark in sizes:
            few = describe_few(difference)
            why = f"{difference.describe_p()}{f'; {few}' if few else ''}"
            sizes[difference.mark].append(f"{difference.measure.name} by {describe_size(difference, layout)} ({why})")
    sentences = [f"{system} is {how} than {baseline} on {', '.join(of)}" for how, of in sizes.items() if of]
    if undetected:
        parts = (f"{', '.join(names)}{f', where {few}' if few else ''}" for few, names in undetected.items())
        names = ", and on ".join(parts)
        if not sentences:
            return [f"no difference between {system} and {baseline} was detected on {names}"]
        sentences[-1] += f"; no difference was detected on {names}"
    return sentences


def list_untested(comparison: Compared) -> list[str]:
    """Write which metrics were tested for no pair, if there are any."""
    over_all = [difference for difference in comparison.differences if not difference.bin]
    tested = {difference.measure.name for difference in over_all if difference.p is not None}
    names = dict.fromkeys(name for difference in over_all if (name := difference.measure.name) not in tested)
    return [_describe_untested(list(names))] if names else []


def _describe_untested(names: Sequence[str], pair: tuple[str, str] = ("", "")) -> str:
    """Describe which metrics were not tested, for one pair or, without a name, for all pairs."""
    about = f" between {' and '.join(pair)}" if all(pair) else ""
    return f"{listed(names, 'and')} {'was' if len(names) == 1 else 'were'} not tested{about}"


def describe_size(difference: Difference, layout: Layout) -> str:
    """Write how large a difference is, with its interval: ``2.05 ± 3.00 points``, or ``2.05 (0.10..4.12) points``."""
    measure, low, high = difference.measure, difference.low, difference.high
    size = layout.format(measure, abs(difference.difference))
    if low is not None and high is not None:
        ends = (low, high) if difference.difference > 0 else (-high, -low)
        first, last = (layout.format(measure, end) for end in ends)
        margin = layout.format(measure, (high - low) / 2)
        size += f" ± {margin}" if difference.is_symmetric else f" ({first}..{last})"
    return size + (" points" if measure.metric.unit == "share" and layout.percent else "")
