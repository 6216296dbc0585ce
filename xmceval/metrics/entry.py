"""Entry: what one metric of the table is, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

FAMILIES = ("top-k", "row", "label", "confusion")


@dataclass(frozen=True)
class Norm:
    """How a row's sum becomes its value: what divides it, and how rows come together.

    ``over`` is ``mean`` (mean of the rows' values) or ``ratio`` (sum of the rows' values over the sum of the ideal's).
    """

    divisor: str
    over: str
    formula: str


@dataclass(frozen=True)
class Number:
    """An option that is a number: its default and its bounds, which an open one does not reach."""

    default: float
    low: float
    high: float
    is_whole: bool = False
    is_open: bool = False


REL = Number(1, 1, 2.0**40, is_whole=True)  # grades are whole: from 1 on is above 0


@dataclass(frozen=True)
class Metric:
    """One entry of the table: all that a metric is, as data.

    ``family`` says what it is computed from: ``top-k`` the k best labels of a row, ``row`` all of its labels or its
    whole list, ``label`` counts by label at k, ``confusion`` decisions at a threshold. ``cut``: whether a name carries
    ``@k``: ``required``, ``none``, or ``optional``, which also allows ``@all``, the whole list.

    In the top-k family the row's sum runs over the first k ranked labels that are true (hits): ``fold`` says how gains
    add up along the ranks, ``gain`` what a hit is worth, ``discounts`` what its rank multiplies it by; the first of
    each is the default. In the others ``fold`` is what their kernel calls it. ``choices`` and ``own_numbers`` are
    further options. ``unit`` is ``share`` (people's reports print percent), ``count`` or ``cells`` (a whole number).
    ``left_out`` says which rows have no value.
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
    family: str = "top-k"
    cutoff: str = "required"
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    own_numbers: Mapping[str, Number] = field(default_factory=dict)
    unit: str = "share"
    needs_labels: bool = False
    left_out: str = ""

    @cached_property
    def options(self) -> Mapping[str, tuple[str, ...]]:
        """Option names and their choices, the default first."""
        every = {
            "norm": tuple(self.norms),
            "discount": self.discounts,
            "gain": ("linear", "exp") if self.gain == "grade" else (),
            **self.choices,
        }
        return MappingProxyType({name: choices for name, choices in every.items() if len(choices) > 1})

    @cached_property
    def numbers(self) -> Mapping[str, Number]:
        """Options that are numbers; binary metrics say from which grade on a label is true."""
        return MappingProxyType({**self.own_numbers, **({"rel": REL} if self.gain in {"hit", "propensity"} else {})})

    @property
    def needs_propensities(self) -> bool:
        """Whether hits are weighted by inverse propensities."""
        return self.gain == "propensity"
