"""The Metric class: one entry of the table of metrics, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

FAMILIES = ("top-k", "row", "label", "confusion", "column")

UNBOUNDED = (0.0, float("inf"))  # the bounds of values that may be of any size
LARGEST = 2.0**40  # limit for grades, below which sums stay exact


@dataclass(frozen=True)
class Norm:
    """How a row's sum becomes its value, and how rows are combined.

    Attributes
    ----------
    divisor : str
        The divisor of a row's sum.
    over : str
        ``mean`` (mean of the rows' values), ``ratio`` (sum of the rows' values divided by the sum of their ideals), or
        the kind of average of counted cells.
    formula : str
    """

    divisor: str
    over: str
    formula: str


@dataclass(frozen=True)
class Number:
    """A numeric option: its default and its bounds, which are exclusive if `is_open`."""

    default: float
    low: float
    high: float
    is_whole: bool = False
    is_open: bool = False

    @property
    def kind(self) -> str:
        """The accepted values, in words."""
        kind = "a number"
        if self.is_whole:
            kind = "a whole number"
        if self.is_open and self.high >= LARGEST:
            return f"{kind} above {self.low:g}"
        if self.is_open:
            return f"{kind} between {self.low:g} and {self.high:g}"
        if self.high < LARGEST:
            return f"{kind} from {self.low:g} to {self.high:g}"
        return f"{kind} of at least {self.low:g}"

    def accepts(self, value: float) -> bool:
        """Return whether a value is within the bounds."""
        is_inside = self.low <= value <= self.high
        if self.is_open:
            is_inside = self.low < value < self.high
        return is_inside and not (self.is_whole and value != int(value))


def format_number(value: float) -> str:
    """Format a numeric option as in names of measures."""
    if value == int(value):
        return str(int(value))
    return repr(value)


REL = Number(0, 0, LARGEST, is_open=True)  # by default any grade above 0


@dataclass(frozen=True, repr=False)
class Metric:
    """One entry of the table of metrics.

    Attributes
    ----------
    name, title : str
        The canonical name, and a short description.
    norms : mapping of str to Norm
        By the name of the option ``norm``; the first is the default.
    source : str
    gain : str
        The value of a hit; ``prediction`` or ``truth`` if something other than hits counts.
    fold : str
        Top-k family: how gains add up along the ranks. Other families: the name in their kernel.
    discounts : tuple of str
        The factors by rank for the gain of a hit; the first is the default.
    complement : bool
        Whether the value is 1 minus the sum.
    bounds : pair of float
    higher_is_better : bool
    note : str
        The tools that agree with the definition, and how others differ.
    elsewhere : str
        What its name means elsewhere, if that is a different metric; results state it as a fact.
    family : str
        The data it is computed from: ``top-k`` the k best labels of a row, ``row`` all labels of a row or its
        whole list, ``label`` counts by label at k, ``confusion`` decisions at a threshold, ``column`` all cells
        of a label.
    cutoff : str
        Whether a name has ``@k``: ``required``, ``none``, or ``optional``, where ``@all`` is the whole list.
    level : str
        The numeric option that replaces the cutoff after the @ in names; may be empty.
    is_of_whole_list : bool
        Whether it is computed ``@all`` if no cutoffs are asked for, instead of at the default cutoffs.
    choices : mapping of str to tuple of str
        Further options and their choices; the first is the default.
    own_numbers : mapping of str to Number
        Numeric options, except ``rel``.
    unit : str
        ``share`` (printed in percent), ``gain`` (a sum), ``count`` or ``cells`` (a whole number).
    needs_labels : bool
        Whether the number of labels is needed, with the default options.
    empty_value : int
        The value of a row without true labels.
    left_out : str
        Which rows have no value, in words; empty if every row has one.
    cost : str
        Memory beyond the needs of the default metrics, in words; empty if negligible.
    """

    name: str
    title: str
    norms: Mapping[str, Norm]
    source: str
    gain: str = "hit"
    fold: str = "sum"
    discounts: tuple[str, ...] = ("none",)
    complement: bool = False
    bounds: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    note: str = ""
    elsewhere: str = ""
    family: str = "top-k"
    cutoff: str = "required"
    level: str = ""
    is_of_whole_list: bool = False
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    own_numbers: Mapping[str, Number] = field(default_factory=dict)
    unit: str = "share"
    needs_labels: bool = False
    empty_value: int = 0
    left_out: str = ""
    cost: str = ""

    def __repr__(self) -> str:
        return f"<Metric {self.name}: {self.title}, {self.formula}>"

    @cached_property
    def options(self) -> Mapping[str, tuple[str, ...]]:
        """Option names and their choices, the default first."""
        options = {"norm": tuple(self.norms), "discount": self.discounts}
        if self.gain == "grade":
            options["gain"] = ("linear", "exp", "binary")
        options.update(self.choices)
        return MappingProxyType({name: choices for name, choices in options.items() if len(choices) > 1})

    @cached_property
    def numbers(self) -> Mapping[str, Number]:
        """Numeric options; ``rel`` is the lowest grade of a true label."""
        numbers = dict(self.own_numbers)
        if self.gain not in {"prediction", "stop"}:
            numbers["rel"] = REL
        return MappingProxyType(numbers)

    @property
    def formula(self) -> str:
        """The formula of the default norm."""
        return next(iter(self.norms.values())).formula

    @property
    def mergeable(self) -> bool:
        """Whether the size of its sums is independent of the number of rows, as needed for loops and states.

        Others compare the scores of several rows, beyond their order within each row.
        """
        return self.family != "column"

    @property
    def cuts_at_n(self) -> bool:
        """Whether it counts labels at a cutoff of each row, its number of true labels."""
        return self.name.endswith("@n") and self.family != "row"

    @property
    def counts_decisions(self) -> bool:
        """Whether its value depends on the threshold of decisions, if one is passed."""
        return self.family == "confusion" and self.gain != "truth"

    @cached_property
    def takes_threshold(self) -> bool:
        """Whether it counts decisions, for which a threshold may be passed."""
        return self.family == "confusion" and self.gain == "hit"

    @property
    def needs_propensities(self) -> bool:
        """Whether hits are weighted by inverse propensities."""
        return self.gain == "propensity"

    @cached_property
    def counts_hits(self) -> bool:
        """Whether its value is 0 exactly where none of the best labels is true."""
        return self.family == "top-k" and self.gain not in {"prediction", "truth"} and not self.complement

    @property
    def is_additive(self) -> bool:
        """Whether the values in bins of labels are shares that add up to the value over all labels."""
        return self.family == "top-k" or self.unit == "cells"
