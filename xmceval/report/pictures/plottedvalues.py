"""Values as pictures show them: percent for shares, and which measures a picture shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from xmceval.errors import UsageError, argument, listed
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import split_names
from xmceval.report.comparison import Comparison
from xmceval.report.lookup import find_measures
from xmceval.report.pictures.style import printable
from xmceval.report.result import Result
from xmceval.scoring.estimates import Estimate

Subject = Sequence[Result] | Comparison
MOST_PAIRS = 6  # that a picture shows of systems that were all compared with each other


def results_of(subject: Subject) -> Sequence[Result]:
    """Return the results of systems, or those that a comparison has."""
    results = subject.results if isinstance(subject, Comparison) else subject
    if not results:
        raise UsageError("there are no results to draw")
    return results


def comparison_of(kind: str, subject: Subject) -> Comparison:
    """Return the comparison that a kind of picture needs."""
    if not isinstance(subject, Comparison):
        raise UsageError(f"the picture {kind!r} needs a comparison (hint: use compare)")
    return subject


def scale(measure: Measure) -> float:
    """Return what values are multiplied by: shares are drawn in percent."""
    return 100.0 if measure.metric.unit == "share" else 1.0


def ends(estimate: Estimate, factor: float) -> tuple[float, float]:
    """Return both ends of an interval as they are drawn; nan, which is not drawn, without one."""
    if estimate.low is None or estimate.high is None:
        return math.nan, math.nan
    return factor * estimate.low, factor * estimate.high


def unit(measure: Measure, of_shares: str = "%") -> str:
    """Return the unit that follows a name on an axis: percent, or nothing."""
    return f", {of_shares}" if measure.metric.unit == "share" else ""


def choose(
    kind: str,
    measures: Iterable[Measure],
    metrics: str | Iterable[str] | None,
    shows: Callable[[Measure], bool],
    what: str,
) -> list[Measure]:
    """Choose the measures that a picture shows.

    Parameters
    ----------
    kind : str
        Of picture, for messages.
    measures : iterable of Measure
        All that there are.
    metrics : str or iterable of str, optional
        Names of measures in any spelling, with a cutoff or without; default all that the picture can show.
    shows : callable
        Whether a picture of this kind can show a measure.
    what : str
        Which measures these are, in words.
    """
    everything = list(dict.fromkeys(measures))
    possible = require_any(kind, everything, shows, what)
    if metrics is None:
        return possible
    chosen: list[Measure] = []
    for name in (name for text in ([metrics] if isinstance(metrics, str) else metrics) for name in split_names(text)):
        whole = [measure for measure in everything if measure.head == name.strip()]
        found = whole or find_measures(name, everything)
        if not found:
            raise UsageError(f"metrics: {name.strip()} was not computed; expected any of {listed(everything)}")
        shown = [measure for measure in found if measure in possible]
        if not shown:
            raise UsageError(f"the picture {kind!r} shows {what}, not {name}; it can show {listed(possible)}")
        chosen.extend(shown)
    return list(dict.fromkeys(chosen))


def require_any(kind: str, measures: Sequence[Measure], shows: Callable[[Measure], bool], what: str) -> list[Measure]:
    """Return the measures that a kind of picture can show."""
    possible = [measure for measure in measures if shows(measure)]
    if not possible:
        raise UsageError(f"the picture {kind!r} shows {what}, such as P@5; there are only {listed(measures)}")
    return possible


def choosing(name: str, kind: str) -> str:
    """Return the hint for what a picture leaves out: the argument that chooses what it shows."""
    return f"hint: {argument(name, kind=kind)} chooses others"


def main_pairs(comparison: Comparison) -> tuple[list[tuple[str, str]], str]:
    """Return the pairs that a picture shows, and what to say of the others.

    Those with the first system where every pair of more than four systems was compared.
    """
    pairs = comparison.pairs
    if comparison.testing.against is not None or len(pairs) <= MOST_PAIRS:
        return pairs, ""
    first = pairs[0][1]
    shown = [pair for pair in pairs if first in pair]
    if len(shown) == len(pairs):
        return pairs, ""
    return shown, f"{len(shown)} of {len(pairs)} pairs, those with {printable(first)} ({choosing('against', 'NAME')})"


def deepest(measures: Sequence[Measure]) -> list[Measure]:
    """Return one measure for each metric: that of the largest cutoff."""
    found: dict[str, Measure] = {}
    for measure in measures:
        if measure.head not in found or (measure.k or 0) > (found[measure.head].k or 0):
            found[measure.head] = measure
    return list(found.values())
