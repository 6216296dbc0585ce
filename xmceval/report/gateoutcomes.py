"""Outcomes of gates: whether each gate passed."""

from __future__ import annotations

from dataclasses import dataclass

from xmceval.metrics.measure import Measure


@dataclass(frozen=True)
class GateOutcome:
    """Whether a gate passed for a system.

    Attributes
    ----------
    kind : {"worse", "at_least", "at_most"}
    system, baseline, dataset : str
        The baseline is empty for gates of values, the data set outside of a benchmark.
    measure : Measure
    limit : float
        A fraction where the measure is a share.
    value, p_adjusted : float or None
        The value, or the difference from the baseline with the p that decides; None where there is none.
    passed, is_decided : bool
        A gate without a value or a test to decide by does not pass.
    why : str
        Why it did not pass.
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
