"""The Metric class: one entry of the table of metrics, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

FAMILIES = ("top-k", "row", "label", "confusion", "column")

LARGEST = 2.0**40  # of grades: sums stay exact up to it


@dataclass(frozen=True)
class Norm:
    """How a row's sum becomes its value, and how rows are combined.

    Attributes
    ----------
    divisor : str
        What the sum of a row is divided by.
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
    """A numeric option: its default and its bounds, which are excluded where `is_open`."""

    default: float
    low: float
    high: float
    is_whole: bool = False
    is_open: bool = False

    @property
    def kind(self) -> str:
        """The values that it takes, in words."""
        kind = "a whole number" if self.is_whole else "a number"
        if self.is_open:
            return f"{kind} between {self.low:g} and {self.high:g}"
        if self.high < LARGEST:
            return f"{kind} from {self.low:g} to {self.high:g}"
        return f"{kind} of at least {self.low:g}"

    def accepts(self, value: float) -> bool:
        """Return whether a value is within the bounds."""
        is_inside = self.low < value < self.high if self.is_open else self.low <= value <= self.high
        return is_inside and not (self.is_whole and value != int(value))


def format_number(value: float) -> str:
    """Write a numeric option as names of measures show it."""
    return str(int(value)) if value == int(value) else repr(value)


REL = Number(1, 1, LARGEST, is_whole=True)


@dataclass(frozen=True, repr=False)
class Metric:
    """One entry of the table of metrics.

    Attributes
    ----------
    name, title : str
        The canonical name, and what the metric is in a few words.
    norms : mapping of str to Norm
        By the name of the option ``norm``; the first is the default.
    source : str
    gain : str
        What a hit is worth; ``prediction`` or ``truth`` where something else than hits counts.
    fold : str
        Top-k family: how gains add up along the ranks. In the others, the name that their kernel has for it.
    discounts : tuple of str
        What the rank of a hit multiplies its gain by; the first is the default.
    complement : bool
        Whether the value is 1 minus the sum.
    bounds : pair of float
    higher_is_better : bool
    note : str
        Which tools agree with the definition, and where others differ.
    elsewhere : str
        What its name means elsewhere, if that is another metric: results state it as a fact.
    family : str
        What it is computed from: ``top-k`` the k best labels of a row, ``row`` all labels of a row or its whole list,
        ``label`` counts by label at k, ``confusion`` decisions at a threshold, ``column`` all cells of a label.
    cutoff : str
        Whether a name has ``@k``: ``required``, ``none``, or ``optional``, where ``@all`` is the whole list.
    level : str
        The numeric option that names have after the @ in place of a cutoff; empty where there is none.
    is_of_whole_list : bool
        Whether it is ``@all`` where no cutoffs are asked for, instead of at the default ones.
    choices : mapping of str to tuple of str
        Further options and their choices; the first is the default.
    own_numbers : mapping of str to Number
        Numeric options, without ``rel``.
    unit : str
        ``share`` (tables for people print percent), ``gain`` (a sum), ``count`` or ``cells`` (a whole number).
    needs_labels : bool
        Whether the number of labels is needed.
    empty_value : int
        The value of a row without a true label.
    left_out : str
        Which rows have no value, in words; empty where every row has one.
    cost : str
        Memory beyond that of the default metrics, in words; empty where there is none to speak of.
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
        options = {
            "norm": tuple(self.norms),
            "discount": self.discounts,
            "gain": ("linear", "exp") if self.gain == "grade" else (),
            **self.choices,
        }
        return MappingProxyType({name: choices for name, choices in options.items() if len(choices) > 1})

    @cached_property
    def numbers(self) -> Mapping[str, Number]:
        """Numeric options; ``rel`` is the lowest grade of a true label, for metrics of binary truth."""
        return MappingProxyType({**self.own_numbers, **({"rel": REL} if self.takes_rel else {})})

    @property
    def formula(self) -> str:
        """The formula of the default norm."""
        return next(iter(self.norms.values())).formula

    @property
    def mergeable(self) -> bool:
        """Whether its sums have a size that does not grow with the rows, so that loops and saved states take it."""
        return self.family != "column"

    @property
    def needs_propensities(self) -> bool:
        """Whether hits are weighted by inverse propensities."""
        return self.gain == "propensity"

    @property
    def takes_grades(self) -> bool:
        """Whether the grade of a hit decides what it is worth."""
        return self.gain in {"grade", "stop"}

    @property
    def takes_rel(self) -> bool:
        """Whether it depends on which labels are true, and not on their grades."""
        return self.gain in {"hit", "propensity", "truth"}

    @property
    def is_additive(self) -> bool:
        """Whether the values of bins of labels are shares that add up to the value over all labels."""
        return self.family == "top-k" or self.unit == "cells"
