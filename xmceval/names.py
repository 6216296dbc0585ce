"""The grammar of metric names: ``PSP@5``, ``nDCG(gain=exp)@1,3``, ``AP@all``, ``R@n``, ``LRAP``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from xmceval.entry import Metric, Norm
from xmceval.errors import UsageError, listed
from xmceval.metrics import DEFAULT_CUTS, METRICS

# The same metric under the words of other tools.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "precision": "P",
        "prec": "P",
        "recall": "R",
        "rprecision": "RP",
        "hitrate": "Hit",
        "success": "Hit",
        "ndcg": "nDCG",
        "n": "nDCG",
        "ndcgcut": "nDCG",
        "mrr": "RR",
        "reciprank": "RR@all",
        "map": "AP@all",
        "mapcut": "AP",
        "psprecision": "PSP",
        "psrecall": "PSR",
        "psn": "PSnDCG",
        "psndcg": "PSnDCG",
        "cg": "DCG(discount=none)",
        "rprec": "R@n",
        "recall@gt": "R@n",
        "microrecall@gt": "microR@n",
        "labelrankingaverageprecision": "LRAP",
        "labelrankingaverageprecisionscore": "LRAP",
        "labelrankingloss": "ranking_loss",
        "rocauc": "AUC",
        "microprecision": "microP",
        "microrecall": "microR",
        "microf": "microF1",
        "macroprecision": "macroP",
        "macrorecall": "macroR",
        "macrof": "macroF1",
        "macrof1measure": "macroF1",
        "mprec": "macroR",
        "macrobalancedaccuracy": "macroBA",
        "weightedprecision": "weightedP",
        "weightedrecall": "weightedR",
        "weightedf": "weightedF1",
        "f": "F1",
        "fbeta": "F1",
        "fbetascore": "f1_score",
        "tpr": "recall_score",
        "sensitivity": "recall_score",
        "tnr": "specificity",
        "fallout": "FPR",
        "jaccardscore": "Jaccard",
        "hamming": "hamming_loss",
        "matthewscorrcoef": "MCC",
        "accuracyscore": "subset_accuracy",
        "balancedaccuracyscore": "balanced_accuracy",
    }
)

_OPTION_SPELLINGS: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType(
    {("base", "2"): ("discount", "log2"), ("base", "e"): ("discount", "ln"), ("discount", "log"): ("discount", "ln")}
)

# One word for several metrics.
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType({"confusion": ("tp", "fp", "fn", "tn")})

_NAME = re.compile(r"\s*([A-Za-z][A-Za-z0-9_ -]*?)\s*(?:\(([^()]*)\))?\s*(?:@\s*([^@]*?))?\s*\Z")


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
    def cut(self) -> str:
        """What stands behind the @: a number, ``all``, ``n``, or nothing."""
        if self.k is not None:
            return str(self.k)
        return self.metric.name.partition("@")[2] or ("all" if self.metric.cut == "optional" else "")

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
        return f"{self.head}@{self.cut}" if self.cut else self.head

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
        elif self.metric.cut == "optional":
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
    "ideal": "labels within the cut of some ideal ranking, by inverse propensity",
}


def parse(names: str | Iterable[str], ks: Iterable[int] = DEFAULT_CUTS) -> list[Measure]:
    """Read metric names into measures, each once, in the order given.

    Parameters
    ----------
    names : str or iterable of str
        Such as ``"P"``, ``"psp@1,3"``, ``"nDCG(discount=ln)@5"``; any case, and other tools' usual words.
    ks : iterable of int
        The cuts of names that give none.

    Raises
    ------
    UsageError
        An unknown name, option or choice, or a cut that is no whole number above 0.
    """
    cuts = [check_cut(k) for k in ks]
    found: dict[str, Measure] = {}
    for name in [names] if isinstance(names, str) else names:
        word = name.strip().partition("(")[0]
        each = [name.replace(word, one, 1) for one in GROUPS.get(word.lower(), (word,))]
        for measure in (measure for one in each for measure in _parse_one(one, cuts)):
            found.setdefault(str(measure), measure)
    return list(found.values())


def check_cut(k: object) -> int:
    """Return a cut as int, or say why it is none."""
    try:
        value = int(k)  # type: ignore[call-overload]
        fits = value == k or (isinstance(k, str) and k.strip().isdigit())
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits or isinstance(k, bool) or value < 1:
        raise UsageError(f"k must be a whole number of at least 1, got {k!r}")
    return int(value)


def _parse_one(name: str, cuts: list[int]) -> list[Measure]:
    match = _NAME.match(name)
    if match is None:
        raise UsageError(f"cannot read the metric name {name!r}: expected NAME, NAME@k or NAME(option=choice)@k,k")
    word, options, at = match.groups()
    word, at = _trailing_cut(word, at)
    whole_word = f"{_key(word)}@{(at or '').lower()}"
    if whole_word in ALIASES:  # recall@gt
        word, at = ALIASES[whole_word].partition("@")[::2]
    metric, chosen, whole = _find(word, at, name)
    for item in filter(None, (options or "").split(",")):
        key, _, value = (part.strip().lower() for part in item.partition("="))
        chosen = {**chosen, **_option(metric, key, value)}
    return [Measure(metric, k, chosen) for k in _cuts(metric, at, cuts, whole=whole)]


def _cuts(metric: Metric, at: str | None, cuts: list[int], *, whole: bool) -> list[int | None]:
    """Read what stands behind the @; `whole` says that a name alone means the whole list."""
    if metric.cut == "none":
        if at is not None and at.lower() != metric.name.partition("@")[2]:
            raise UsageError(f"{metric.name} has no cut, got @{at}")
        return [None]
    if at is None:
        return [None] if whole else list(cuts)
    parts = [part.strip() for part in at.split(",")]
    if "all" in (part.lower() for part in parts) and metric.cut != "optional":
        raise UsageError(f"{metric.name.partition('@')[0]} needs a cut, @all is not one")
    return [None if part.lower() == "all" else check_cut(part) for part in parts]


def _trailing_cut(word: str, at: str | None) -> tuple[str, str | None]:
    """Read trec_eval's way of cuts, ``P_5`` and ``ndcg_cut_5``."""
    head, _, tail = word.rpartition("_")
    return (head, tail) if at is None and head and tail.isdigit() else (word, at)


def _key(word: str) -> str:
    return re.sub(r"[ _-]", "", word).lower().removesuffix("atk")


def _find(word: str, at: str | None, name: str) -> tuple[Metric, dict[str, str], bool]:
    """Find a metric by its name or an alias; also the options of the alias, and whether it means the whole list."""
    key = _key(word)
    by_key = {_key(each): each for each in METRICS}
    tail = "n" if at is not None and at.lower() == "n" else "k"  # R@n and AUC@k are entries of their own
    for each in ([f"{key}@{tail}"] if at is not None else []) + [key]:
        if each in by_key:
            return METRICS[by_key[each]], {}, False
    if key in ALIASES:
        measure = _parse_one(ALIASES[key], [1])[0]
        return measure.metric, dict(measure.chosen), measure.k is None
    near = difflib.get_close_matches(key, [*by_key, *ALIASES], 1)
    hint = f" (did you mean {by_key.get(near[0], ALIASES.get(near[0]))}?)" if near else ""
    raise UsageError(f"unknown metric {name!r}{hint}; known: {listed(METRICS)}")


def _option(metric: Metric, key: str, value: str) -> dict[str, str]:
    key, value = _OPTION_SPELLINGS.get((key, value), (key, value))
    if key in metric.numbers:
        return {key: _number(metric, key, value)}
    if key not in metric.options:
        known = listed([*metric.options, *metric.numbers]) if metric.options or metric.numbers else "none"
        raise UsageError(f"{metric.name} has no option {key!r}; its options: {known}")
    if value not in metric.options[key]:
        raise UsageError(f"{metric.name}({key}={value}): choose from {listed(metric.options[key])}")
    return {key: value}


def _number(metric: Metric, key: str, text: str) -> str:
    """Check an option that is a number and write it as names show it."""
    number = metric.numbers[key]
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    inside = number.low < value < number.high if number.is_open else number.low <= value <= number.high
    if not inside or (number.is_whole and value != int(value)):
        kind = "a whole number" if number.is_whole else "a number"
        between = f"between {number.low:g} and {number.high:g}" if number.is_open else f"from {number.low:g}"
        raise UsageError(f"{metric.name}({key}={text}): expected {kind} {between}")
    return _written(value)
