"""Outcomes of gates: whether each gate passed."""

from __future__ import annotations

from dataclasses import dataclass

from xmceval.metrics.measure import Measure


@dataclass(frozen=True)
class GateOutcome:
    """Whether a gate passed for a system, and on a data set of a benchmark.

    Attributes
    ----------
    kind : {"worse", "at_least", "at_most"}
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
        Why it did not pass.
    is_decided : bool
        Whether there was a value or a test to decide by; a gate that cannot be decided does not pass.
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
