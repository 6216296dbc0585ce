"""The grammar of metric names: ``PSP@5``, ``nDCG(gain=exp)@1,3``, ``AP@all``, ``R@n``, ``LRAP``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xmceval.metrics.entry import Metric, Norm


@dataclass(frozen=True)
class Measure:
    """A metric with its options and its cut: what one number of a report is. Prints as its canonical name.

    ``k`` is None where there is no cut: for the whole list, and for metrics that have none.
    """

    metric: Metric
    k: int | None
    chosen: Mapping[str, str] = field(default_factory=dict, hash=False)

    def option(self, name: str, default: str = "") -> str:
        """Value of an option: as chosen, else the table's default."""
        choices = self.metric.options.get(name, (default,))
        return self.chosen.get(name, choices[0])

    def number(self, name: str) -> float:
        """Value of an option that is a number."""
        number = self.metric.numbers.get(name)
        return float(self.chosen.get(name, number.default if number else 0.0))

    @property
    def rel(self) -> int:
        """The grade from which on a label is true; 1 for metrics that take grades as they are."""
        return int(self.number("rel")) or 1

    @property
    def cutoff(self) -> str:
        """What stands behind the @: a number, ``all``, ``n``, or nothing."""
        if self.k is not None:
            return str(self.k)
        return self.metric.name.partition("@")[2] or ("all" if self.metric.cutoff == "optional" else "")

    @property
    def head(self) -> str:
        """The name without its cut: metric and those options that are not the default, in the table's order."""
        defaults = {name: choices[0] for name, choices in self.metric.options.items()}
        defaults.update({name: _written(number.default) for name, number in self.metric.numbers.items()})
        told = [
            f"{name}={self.chosen[name]}"
            for name, default in defaults.items()
            if self.chosen.get(name, default) != default
        ]
        return self.metric.name.partition("@")[0] + (f"({','.join(told)})" if told else "")

    def __str__(self) -> str:
        return f"{self.head}@{self.cutoff}" if self.cutoff else self.head

    @property
    def norm(self) -> Norm:
        """The chosen way from a row's sum to its value."""
        norms = self.metric.norms
        return norms[self.chosen.get("norm", next(iter(norms)))]

    @property
    def average(self) -> str:
        """How rows or labels come together: the option of that name, or the norm's way."""
        if self.norm.over != "cells":
            return self.norm.over
        return self.option("average", self.metric.choices["average"][0])

    @property
    def needs_propensities(self) -> bool:
        """Whether it weighs or orders labels by inverse propensities, or asks which have a training row."""
        return self.metric.needs_propensities or self.option("over") in {"ideal", "train"}

    @property
    def discount(self) -> str:
        """The chosen discount by rank."""
        return self.option("discount", self.metric.discounts[0])

    @property
    def definition(self) -> str:
        """The definition of this number in one line."""
        parts = [self.norm.formula]
        if len(self.metric.discounts) > 1:
            parts.append(f"d = {_DISCOUNT_TEXT[self.discount]}")
        if self.metric.needs_propensities:
            parts.append("w = 1 / propensity of the label")
        if self.metric.gain == "grade":
            parts.append("g = " + ("2^grade - 1" if self.option("gain") == "exp" else "grade (1 in binary truth)"))
        for name, number in self.metric.numbers.items():
            if name != "rel":
                parts.append(f"{name} = {_written(self.number(name))}")
            elif self.rel != number.default:
                parts.append(f"a label is true from grade {self.rel} on")
        if self.option("zero"):
            parts.append(f"0/0 is {'left out' if self.option('zero') == 'skip' else self.option('zero')}")
        parts.append(_OVER_TEXT[self.average].format(over=_LABELS_TEXT.get(self.option("over"), "")))
        if self.k is not None:
            parts.append(f"k = {self.k}")
        elif self.metric.cutoff == "optional":
            parts.append("over the whole list")
        return "; ".join(parts)


def split(name: str) -> tuple[str, str]:
    """Split a canonical name into its head and what stands behind the @, nothing where there is no @."""
    head, at, cut = name.rpartition("@")
    return (head, cut) if at else (name, "")


def _written(value: float) -> str:
    """Write a number as names show it."""
    return str(int(value)) if value == int(value) else repr(value)


_DISCOUNT_TEXT = {
    "log2": "1 / log2(rank + 1)",
    "ln": "1 / ln(rank + 1)",
    "letor": "1 at ranks 1 and 2, then 1 / log2(rank)",
    "none": "1",
}

_OVER_TEXT = {
    "mean": "mean over rows",
    "samples": "mean over rows",
    "rows": "mean over rows",
    "ratio": "ratio of sums over rows",
    "micro": "of all cells together",
    "macro": "mean over {over}",
    "weighted": "mean over labels, weighted by the rows in which each is true",
    "labels": "divided by the number of {over}",
    "sum": "sum over rows",
}

_LABELS_TEXT = {
    "all": "all labels",
    "truth": "labels true in some row",
    "seen": "labels true or predicted in some row",
    "train": "labels with a training row",
    "largest": "labels 0 to the largest one seen",
    "ideal": "labels within the cutoff of some ideal ranking, by inverse propensity",
}
