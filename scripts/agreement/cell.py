"""Cell: a function of another tool beside ours, where they are expected to agree, and where not and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agreement.inputs import MASKED, Case

OTHERS = "all others"  # inputs of none of the kinds of which something is said


class Example(NamedTuple):
    """The smallest input on which values differ; None is a label without a score."""

    truth: Sequence[Sequence[int]]
    scores: Sequence[Sequence[float | None]]
    by_hand: str  # an expression, which ours must equal
    k: int = 1
    stores_zeros: bool = False  # in the truth


class Differs(NamedTuple):
    """Values differ on inputs of this kind; where the peer is wrong, an example shows it."""

    reason: str
    example: Example | None = None


class Under(NamedTuple):
    """Values are equal on inputs of this kind with these options of ours."""

    options: Mapping[str, Any]
    reason: str = ""


class Bounds(NamedTuple):
    """Values are equal on inputs of this kind for some order of tied scores: they lie within our tie bounds."""

    reason: str


class NotCompared(NamedTuple):
    """Values depend on an order of tied scores that is not defined, and of which no bounds are known."""

    reason: str


Expectation = Differs | Under | Bounds | NotCompared
But = Mapping[str, Expectation]  # what is expected on inputs of a kind


@dataclass(frozen=True)
class Cell:
    """A function of a peer, as its users write it, and the measure of ours that equals it."""

    function: str
    ours: str  # with {k} in place of the cutoff where the function has one
    call: Callable[[Case], Any]  # computes the value of a case, or those at the cutoffs 1, 2, ...
    options: Mapping[str, Any] = field(default_factory=dict)  # of xmceval.score
    but: But = field(default_factory=dict)
    is_of_dicts: bool = False  # whether both are passed dicts by query and document
    tolerance: float = 1e-9  # relative, and absolute below 1
    why: str = ""  # an option or a tolerance is needed

    def takes(self, case: Case) -> bool:
        """Return whether it is compared on a case: scores of -inf are of runs."""
        return self.is_of_dicts or MASKED not in case.kinds


def at_cutoffs(call: Callable[..., Any]) -> Callable[[Case], Any]:
    """Return what computes the values at all cutoffs."""
    return lambda case: [call(case, k) for k in range(1, case.most + 1)]
