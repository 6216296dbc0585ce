"""The grammar of metric names: ``PSP@5``, ``nDCG(gain=exp)@1,3``, ``AP@all``, ``R@n``, ``LRAP``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from xmceval.errors import UsageError, listed
from xmceval.metrics.entry import Metric
from xmceval.metrics.measure import Measure, _written
from xmceval.metrics.table import DEFAULT_CUTOFFS, METRICS

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


def parse(names: str | Iterable[str], ks: Iterable[int] = DEFAULT_CUTOFFS) -> list[Measure]:
    """Read metric names into measures, each once, in the order given.

    Parameters
    ----------
    names : str or iterable of str
        Such as ``"P"``, ``"psp@1,3"``, ``"nDCG(discount=ln)@5"``; any case, and other tools' usual words.
    ks : iterable of int
        The cutoffs of names that give none.

    Raises
    ------
    UsageError
        An unknown name, option or choice, or a cut that is no whole number above 0.
    """
    cutoffs = [check_cutoff(k) for k in ks]
    found: dict[str, Measure] = {}
    for name in [names] if isinstance(names, str) else names:
        word = name.strip().partition("(")[0]
        each = [name.replace(word, one, 1) for one in GROUPS.get(word.lower(), (word,))]
        for measure in (measure for one in each for measure in _parse_one(one, cutoffs)):
            found.setdefault(str(measure), measure)
    return list(found.values())


def check_cutoff(k: object) -> int:
    """Return a cut as int, or say why it is none."""
    try:
        value = int(k)  # type: ignore[call-overload]
        fits = value == k or (isinstance(k, str) and k.strip().isdigit())
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits or isinstance(k, bool) or value < 1:
        raise UsageError(f"k must be a whole number of at least 1, got {k!r}")
    return int(value)


def _parse_one(name: str, cutoffs: list[int]) -> list[Measure]:
    match = _NAME.match(name)
    if match is None:
        raise UsageError(f"cannot read the metric name {name!r}: expected NAME, NAME@k or NAME(option=choice)@k,k")
    word, options, at = match.groups()
    word, at = _trailing_cutoff(word, at)
    whole_word = f"{_key(word)}@{(at or '').lower()}"
    if whole_word in ALIASES:  # recall@gt
        word, at = ALIASES[whole_word].partition("@")[::2]
    metric, chosen, whole = _find(word, at, name)
    for item in filter(None, (options or "").split(",")):
        key, _, value = (part.strip().lower() for part in item.partition("="))
        chosen = {**chosen, **_option(metric, key, value)}
    return [Measure(metric, k, chosen) for k in _cuts(metric, at, cutoffs, whole=whole)]


def _cuts(metric: Metric, at: str | None, cutoffs: list[int], *, whole: bool) -> list[int | None]:
    """Read what stands behind the @; `whole` says that a name alone means the whole list."""
    if metric.cutoff == "none":
        if at is not None and at.lower() != metric.name.partition("@")[2]:
            raise UsageError(f"{metric.name} has no cut, got @{at}")
        return [None]
    if at is None:
        return [None] if whole else list(cutoffs)
    parts = [part.strip() for part in at.split(",")]
    if "all" in (part.lower() for part in parts) and metric.cutoff != "optional":
        raise UsageError(f"{metric.name.partition('@')[0]} needs a cut, @all is not one")
    return [None if part.lower() == "all" else check_cutoff(part) for part in parts]


def _trailing_cutoff(word: str, at: str | None) -> tuple[str, str | None]:
    """Read trec_eval's way of cutoffs, ``P_5`` and ``ndcg_cut_5``."""
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
