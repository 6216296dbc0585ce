"""METRICS, the table of every metric, and the grammar of their names (``PSP@5``, ``nDCG(gain=exp)@1,3``)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from xmceval.errors import UsageError, listed

DEFAULT_CUTS = (1, 3, 5)
DEFAULT_NAMES = ("P", "nDCG", "PSP", "PSnDCG")

JAIN = "Jain, Prabhu, Varma, KDD 2016"
MANNING = "Manning, Raghavan, Schuetze, Introduction to Information Retrieval, ch. 8"
JARVELIN = "Jarvelin, Kekalainen, TOIS 2002"
XMLREPO = "XMLRepository (manikvarma.org)"


@dataclass(frozen=True)
class Norm:
    """How a row's sum becomes its value: what divides it, and how rows come together.

    ``over`` is ``mean`` (mean of the rows' values) or ``ratio`` (sum of the rows' values over the sum of the ideal's).
    """

    divisor: str
    over: str
    formula: str


@dataclass(frozen=True)
class Metric:
    """One entry of the table: all that a metric is, as data.

    The row's sum runs over the first k ranked labels that are true (hits): ``fold`` says how gains add up along the
    ranks, ``gain`` what a hit is worth, ``discounts`` what its rank multiplies it by; the first of each is the default.
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

    @cached_property
    def options(self) -> Mapping[str, tuple[str, ...]]:
        """Option names and their choices, the default first."""
        every = {
            "norm": tuple(self.norms),
            "discount": self.discounts,
            "gain": ("linear", "exp") if self.gain == "grade" else (),
        }
        return MappingProxyType({name: choices for name, choices in every.items() if len(choices) > 1})

    @property
    def needs_propensities(self) -> bool:
        """Whether hits are weighted by inverse propensities."""
        return self.gain == "propensity"


def _mean(divisor: str, formula: str) -> dict[str, Norm]:
    return {"mean": Norm(divisor, "mean", formula)}


_LOGS = ("log2", "ln", "letor", "none")
_UNBOUNDED = (0.0, float("inf"))

_ENTRIES = (
    Metric("P", "precision", _mean("k", "hits / k"), MANNING, note="missing predictions are misses: k stays"),
    Metric("R", "recall", _mean("n", "hits / n"), MANNING),
    Metric("RP", "R-precision at k", _mean("min(k,n)", "hits / min(k, n)"), "Chalkidis et al., ACL 2019"),
    Metric(
        "F1", "harmonic mean of precision and recall", _mean("(k+n)/2", "2 P R / (P + R) = 2 hits / (k + n)"), MANNING
    ),
    Metric("Hit", "hit rate", _mean("1", "1 if any hit, else 0"), MANNING, fold="any"),
    Metric(
        "Abandonment",
        "rate of rows without a hit",
        _mean("1", "1 - Hit"),
        "Chuklin, Serdyukov, de Rijke, SIGIR 2013",
        fold="any",
        complement=True,
        higher_is_better=False,
        note="napkinXC and xCOLUMNs call the hit rate abandonment: their number is Hit",
    ),
    Metric(
        "DCG",
        "discounted cumulative gain",
        _mean("1", "sum of g d over hits"),
        JARVELIN,
        gain="grade",
        discounts=_LOGS,
        bounds=_UNBOUNDED,
    ),
    Metric(
        "nDCG",
        "normalised discounted cumulative gain",
        _mean("ideal", "DCG / DCG of the ideal ranking"),
        JARVELIN,
        gain="grade",
        discounts=_LOGS,
    ),
    Metric("RR", "reciprocal rank", _mean("1", "1 / rank of the first hit, 0 without one"), "TREC-8", fold="first"),
    Metric(
        "AP",
        "average precision",
        {
            "n": Norm("n", "mean", "sum of P@rank over hits / n"),
            "k": Norm("k", "mean", "sum of P@rank over hits / k"),
            "min": Norm("min(k,n)", "mean", "sum of P@rank over hits / min(k, n)"),
        },
        MANNING,
        fold="precision",
    ),
    Metric(
        "PSP",
        "propensity-scored precision",
        {
            "ratio": Norm("k", "ratio", "sum over rows of (sum of w over hits / k) / the same of the ideal rankings"),
            "none": Norm("k", "mean", "sum of w over hits / k"),
        },
        JAIN,
        gain="propensity",
        note="the formula printed on XMLRepository has no divisor (norm=none); every XC script has it (norm=ratio)",
    ),
    Metric(
        "PSR",
        "propensity-scored recall",
        {
            "ratio": Norm("n", "ratio", "sum over rows of (sum of w over hits / n) / the same of the ideal rankings"),
            "none": Norm("n", "mean", "sum of w over hits / n"),
        },
        JAIN,
        gain="propensity",
    ),
    Metric(
        "PSDCG",
        "propensity-scored discounted cumulative gain",
        _mean("1", "sum of w d over hits"),
        JAIN,
        gain="propensity",
        discounts=_LOGS,
        bounds=_UNBOUNDED,
        note="its ratio form is PSnDCG(norm=sum)",
    ),
    Metric(
        "PSnDCG",
        "propensity-scored normalised discounted cumulative gain",
        {
            "row": Norm(
                "D(min(k,n))",
                "ratio",
                "sum over rows of (sum of w d over hits / D(min(k, n))) / the same of the ideal rankings",
            ),
            "sum": Norm("1", "ratio", "sum over rows of (sum of w d over hits) / the same of the ideal rankings"),
            "none": Norm("D(k)", "mean", "sum of w d over hits / D(k)"),
        },
        JAIN,
        gain="propensity",
        discounts=_LOGS,
        note="row: pyxclib, napkinXC; sum: the original MATLAB scripts, AttentionXML; "
        "none: as printed on XMLRepository, can exceed 1",
    ),
)

METRICS: Mapping[str, Metric] = MappingProxyType({entry.name: entry for entry in _ENTRIES})

# The same metric under the words of other tools.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "precision": "P",
        "prec": "P",
        "recall": "R",
        "rprecision": "RP",
        "f1score": "F1",
        "hitrate": "Hit",
        "success": "Hit",
        "ndcg": "nDCG",
        "n": "nDCG",
        "ndcgcut": "nDCG",
        "mrr": "RR",
        "reciprank": "RR",
        "map": "AP",
        "mapcut": "AP",
        "psprecision": "PSP",
        "psrecall": "PSR",
        "psn": "PSnDCG",
        "psndcg": "PSnDCG",
        "cg": "DCG(discount=none)",
    }
)

_OPTION_SPELLINGS: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType(
    {("base", "2"): ("discount", "log2"), ("base", "e"): ("discount", "ln"), ("discount", "log"): ("discount", "ln")}
)

_NAME = re.compile(r"\s*([A-Za-z][A-Za-z0-9_ -]*?)\s*(?:\(([^()]*)\))?\s*(?:@\s*([^@]*?))?\s*\Z")


@dataclass(frozen=True)
class Measure:
    """A metric with its options and its cut: what one number of a report is. Prints as its canonical name."""

    metric: Metric
    k: int
    chosen: Mapping[str, str] = field(default_factory=dict, hash=False)

    def option(self, name: str, default: str = "") -> str:
        """Value of an option: as chosen, else the table's default."""
        choices = self.metric.options.get(name, (default,))
        return self.chosen.get(name, choices[0])

    @property
    def head(self) -> str:
        """The name without its cut: metric and those options that are not the default, in the table's order."""
        told = [
            f"{name}={self.chosen[name]}"
            for name, choices in self.metric.options.items()
            if self.chosen.get(name, choices[0]) != choices[0]
        ]
        return self.metric.name + (f"({','.join(told)})" if told else "")

    def __str__(self) -> str:
        return f"{self.head}@{self.k}"

    @property
    def norm(self) -> Norm:
        """The chosen way from a row's sum to its value."""
        norms = self.metric.norms
        return norms[self.chosen.get("norm", next(iter(norms)))]

    @property
    def discount(self) -> str:
        """The chosen discount by rank."""
        return self.option("discount", "none")

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
        over = "mean over rows" if self.norm.over == "mean" else "ratio of sums over rows"
        return f"{'; '.join(parts)}; {over}; k = {self.k}"


_DISCOUNT_TEXT = {
    "log2": "1 / log2(rank + 1)",
    "ln": "1 / ln(rank + 1)",
    "letor": "1 at ranks 1 and 2, then 1 / log2(rank)",
    "none": "1",
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
        for measure in _parse_one(name, cuts):
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
    metric, chosen = _find(word, name)
    for item in filter(None, (options or "").split(",")):
        key, _, value = (part.strip().lower() for part in item.partition("="))
        chosen = {**chosen, **_option(metric, key, value)}
    ks = cuts if at is None else [check_cut(k) for k in at.split(",")]
    return [Measure(metric, k, chosen) for k in ks]


def _trailing_cut(word: str, at: str | None) -> tuple[str, str | None]:
    """Read trec_eval's way of cuts, ``P_5`` and ``ndcg_cut_5``."""
    head, _, tail = word.rpartition("_")
    return (head, tail) if at is None and head and tail.isdigit() else (word, at)


def _key(word: str) -> str:
    return re.sub(r"[ _-]", "", word).lower().removesuffix("atk")


def _find(word: str, name: str) -> tuple[Metric, dict[str, str]]:
    key = _key(word)
    by_key = {_key(each): each for each in METRICS}
    if key in by_key:
        return METRICS[by_key[key]], {}
    if key in ALIASES:
        measure = _parse_one(ALIASES[key], [1])[0]
        return measure.metric, dict(measure.chosen)
    near = difflib.get_close_matches(key, [*by_key, *ALIASES], 1)
    hint = f"; did you mean {by_key.get(near[0], ALIASES.get(near[0]))}?" if near else ""
    raise UsageError(f"unknown metric {name!r}{hint} Known: {listed(METRICS)}")


def _option(metric: Metric, key: str, value: str) -> dict[str, str]:
    key, value = _OPTION_SPELLINGS.get((key, value), (key, value))
    if key not in metric.options:
        known = listed(metric.options) if metric.options else "none"
        raise UsageError(f"{metric.name} has no option {key!r}; its options: {known}")
    if value not in metric.options[key]:
        raise UsageError(f"{metric.name}({key}={value}): choose from {listed(metric.options[key])}")
    return {key: value}
