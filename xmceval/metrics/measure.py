"""The Measure class: a metric with its options and its cutoff, and its description in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from xmceval.metrics.confusion import OF_NEGATIVES
from xmceval.metrics.metric import Metric, Norm, format_number

DISCOUNT_TEXT = {
    "log2": "1 / log2(rank + 1)",
    "ln": "1 / ln(rank + 1)",
    "letor": "1 at ranks 1 and 2, then 1 / log2(rank)",
    "none": "1",
}

GAIN_TEXT = {"linear": "grade (1 in binary truth)", "exp": "2^grade - 1", "binary": "1"}

MEANS_TEXT = "(1 + beta^2) P R / (beta^2 P + R) of the mean precision P and the mean recall R"  # of=means

AVERAGE_TEXT = {
    "mean": "mean over instances",
    "samples": "mean over instances",
    "rows": "mean over instances",
    "ratio": "ratio of sums over instances",
    "micro": "over all cells together",
    "macro": "mean over {labels}",
    "weighted": "mean over labels, weighted by the number of instances in which each is true",
    "labels": "divided by the number of {labels}",
    "sum": "sum over instances",
    "bins": "over all instances together",
    "columns": "mean over labels that are true in some instances and not in others",
    "predicted": "mean over labels with a prediction",
}

BY_LENGTH = frozenset({"k", "(k+n)/2"})  # divisors in which k is the length of a whole list

LABELS_TEXT = {
    "all": "all labels",
    "truth": "labels that are true in some instance",
    "seen": "labels that are true or predicted in some instance",
    "train": "labels with a training instance",
    "largest": "labels 0 to the largest one that is true or predicted",
    "ideal": "labels within the cutoff of some ideal ranking by inverse propensity",
}


@dataclass(frozen=True, eq=False, repr=False)
class Measure:
    """A metric with options and cutoff: the quantity that one number of a report measures.

    Prints as its canonical name; measures with the same name are equal.

    Attributes
    ----------
    metric : Metric
    k : int or None
        The cutoff; None for the whole list, and for metrics without a cutoff.
    chosen : mapping of str to str
        The options that were set, by name.
    """

    metric: Metric
    k: int | None
    chosen: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Measure {self}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Measure):
            return NotImplemented
        return self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def name(self) -> str:
        """The canonical name."""
        if not self.cutoff:
            return self.head
        return f"{self.head}@{self.cutoff}"

    @cached_property
    def head(self) -> str:
        """The name without the cutoff: the metric and its non-default options, in the order of the table."""
        defaults = {name: choices[0] for name, choices in self.metric.options.items()}
        defaults.update({name: format_number(number.default) for name, number in self.metric.numbers.items()})
        options = [
            f"{name}={self.chosen[name]}"
            for name, default in defaults.items()
            if name != self.metric.level and self.chosen.get(name, default) != default
        ]
        head = self.metric.name.partition("@")[0]
        if not options:
            return head
        return f"{head}({','.join(options)})"

    @cached_property
    def cutoff(self) -> str:
        """The part of the name after the @: a number, ``all``, ``n``, or nothing."""
        if self.k is not None:
            return str(self.k)
        if self.metric.level:
            return format_number(self.number(self.metric.level))
        return self.metric.name.partition("@")[2] or ("all" if self.metric.cutoff == "optional" else "")

    def option(self, name: str, default: str = "") -> str:
        """Return the value of an option, or the table's default."""
        choices = self.metric.options.get(name, (default,))
        return self.chosen.get(name, choices[0])

    def number(self, name: str) -> float:
        """Return the value of a numeric option."""
        default = 0.0
        if name in self.metric.numbers:
            default = self.metric.numbers[name].default
        return float(self.chosen.get(name, default))

    @cached_property
    def rel(self) -> float:
        """The lowest grade of a true label; 0 if any grade above 0 will do."""
        return self.number("rel")

    @property
    def takes_grades(self) -> bool:
        """Whether the value of a hit depends on its grade."""
        return self.metric.gain in {"grade", "stop"} and self.option("gain") != "binary"

    @cached_property
    def norm(self) -> Norm:
        """The chosen norm."""
        norms = self.metric.norms
        return norms[self.chosen.get("norm", next(iter(norms)))]

    @cached_property
    def average(self) -> str:
        """How rows or labels are averaged: by the option with this name, or as the norm does."""
        if self.norm.over != "cells":
            return self.norm.over
        return self.option("average", self.metric.choices["average"][0])

    @property
    def needs_order(self) -> bool:
        """Whether the order of the predictions matters, rather than only the set of predicted labels."""
        is_of_set = self.k is None and self.metric.fold == "sum" and self.discount == "none"
        return self.metric.family != "confusion" and not (self.metric.family == "top-k" and is_of_set)

    @cached_property
    def averages_all_labels(self) -> bool:
        """Whether it is a mean over all labels, to which labels that do not occur add a value."""
        if self.average not in {"macro", "labels"} or self.option("over") != "all":
            return False
        return self.option("zero") != "skip" or self.metric.fold in OF_NEGATIVES

    @cached_property
    def needs_labels(self) -> bool:
        """Whether the number of labels is needed: as a divisor, for true negatives, or to rank all labels."""
        if self.average in {"macro", "labels"}:
            return self.averages_all_labels
        return self.metric.needs_labels

    @cached_property
    def needs_propensities(self) -> bool:
        """Whether it weights or orders labels by inverse propensities, or needs to know the trained labels."""
        return self.metric.needs_propensities or self.option("over") in {"ideal", "train"}

    @property
    def skips_rows(self) -> bool:
        """Whether the predictions decide which rows have a value, so that systems may have different rows."""
        is_of_candidates = bool(self.metric.left_out) and not self.metric.needs_labels
        return is_of_candidates or self.option("zero") == "skip"

    @cached_property
    def is_mean_share(self) -> bool:
        """Whether it is a mean of per-row values that are always between 0 and 1.

        Gains divided by k and the like can be larger.
        """
        is_bounded = self.metric.bounds == (0.0, 1.0) and self.metric.gain != "propensity"
        return is_bounded and self.average in {"mean", "samples", "rows"}

    @cached_property
    def discount(self) -> str:
        """The chosen discount of ranks."""
        return self.option("discount", self.metric.discounts[0])

    @property
    def definition(self) -> str:
        """The definition of this number in one line."""
        formula = self.norm.formula
        if self.option("of") == "means":
            formula = MEANS_TEXT
        return "; ".join([formula, *self._explain()])

    def _explain(self) -> Iterator[str]:
        """Yield what the symbols of the formula, the options and the cutoff mean."""
        if len(self.metric.discounts) > 1:
            yield f"d = {DISCOUNT_TEXT[self.discount]}"
        if self.metric.needs_propensities:
            yield "w = 1 / propensity of the label"
        if self.metric.gain == "grade":
            yield f"g = {GAIN_TEXT[self.option('gain')]}"
        for name, number in self.metric.numbers.items():
            if name != "rel":
                yield f"{name} = {format_number(self.number(name))}"
            elif self.rel != number.default:
                yield f"labels of grade {format_number(self.rel)} or above are true"
        zero = self.option("zero")
        if zero:
            yield f"0/0 is {zero.replace('skip', 'left out')}"
        yield AVERAGE_TEXT[self.average].format(labels=LABELS_TEXT.get(self.option("over"), ""))
        if self.k is not None:
            yield f"k = {self.k}"
        elif self.metric.cutoff == "optional":
            over = "over the whole list"
            if self.norm.divisor in BY_LENGTH:
                over += ", k = the number of the instance's predictions"
            yield over
