"""Cell: a function of another tool beside ours, where they are expected to agree, and where not and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agreement.inputs import Case

OTHERS = "all others"  # inputs of none of the kinds of which something is said


@dataclass(frozen=True)
class Example:
    """The smallest input on which values differ; None is a label without a score."""

    truth: Sequence[Sequence[int]]
    scores: Sequence[Sequence[float | None]]
    by_hand: str  # an expression, which ours must equal
    k: int = 1
    stores_zeros: bool = False  # in the truth


@dataclass(frozen=True)
class Differs:
    """Values differ on inputs of this kind; where the peer is wrong, an example shows it."""

    reason: str
    example: Example | None = None


@dataclass(frozen=True)
class Under:
    """Values are equal on inputs of this kind with these options of ours."""

    options: Mapping[str, Any]
    reason: str = ""


@dataclass(frozen=True)
class Bounds:
    """Values are equal on inputs of this kind for some order of tied scores: they lie within our tie bounds."""

    reason: str


@dataclass(frozen=True)
class NotCompared:
    """Values depend on an order of tied scores that is not defined, and of which no bounds are known."""

    reason: str


Expectation = Differs | Under | Bounds | NotCompared


@dataclass(frozen=True)
class Cell:
    """A function of a peer, and what equals it here.

    Attributes
    ----------
    function : str
        As its users write it.
    ours : str
        The measure, with {k} in place of the cutoff where the function has one.
    call : callable
        Computes the value of a case, or those at the cutoffs 1, 2, ...
    options : mapping
        Of ``xmceval.score``.
    but : mapping of str to expectation
        What is expected on inputs of a kind.
    is_of_dicts : bool
        Whether both are passed dicts by query and document.
    tolerance : float
        Relative, and absolute below 1.
    why : str
        Why an option or a tolerance is needed.
    """

    function: str
    ours: str
    call: Callable[[Case], Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    but: Mapping[str, Expectation] = field(default_factory=dict)
    is_of_dicts: bool = False
    tolerance: float = 1e-9
    why: str = ""
