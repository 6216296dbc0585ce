"""Outcomes of gates: what a limit of a value, or of a difference, came to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xmceval.metrics.measure import Measure

GATES = WORSE, AT_LEAST, AT_MOST = ("worse", "at_least", "at_most")


@dataclass(frozen=True)
class GateOutcome:
    """What a gate came to for a system, and on a data set of a benchmark.

    Attributes
    ----------
    kind : str
        One of GATES.
    system : str
    baseline : str
        Empty where values are checked.
    dataset : str
        Empty outside of a benchmark.
    measure : Measure
    limit : float
        A fraction where the measure is a share.
    value : float or None
        The difference from the baseline, or the value; None where there is none.
    p_adjusted : float or None
        Of the difference; p itself where it is not adjusted.
    passed : bool
    why : str
        Why it was not passed.
    is_decided : bool
        Whether there was something to decide by; nothing else passes.
    """

    kind: str
    system: str
    baseline: str
    dataset: str
    measure: Measure
    limit: float
    value: float | None = None
    p_adjusted: float | None = None
    passed: bool = False
    why: str = ""
    is_decided: bool = True


def find_undecided(outcomes: Iterable[GateOutcome]) -> list[str]:
    """Return why outcomes could not be decided, each reason once."""
    return list(dict.fromkeys(each.why for each in outcomes if not each.is_decided))


def find_breaches(outcomes: Iterable[GateOutcome]) -> list[str]:
    """Return what is beyond its limit, one line each."""
    return [each.why for each in outcomes if each.is_decided and not each.passed]
