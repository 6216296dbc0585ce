"""Parse cutoffs and names of metrics, such as ``PSP@5``, ``nDCG(gain=exp)@1,3``, ``P,R@1-5`` and ``AP@all``."""

from __future__ import annotations

import copyreg
import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from xmceval.errors import UsageError, describe_type, listed
from xmceval.metrics.measure import Measure
from xmceval.metrics.metric import Metric, format_number
from xmceval.metrics.table import DEFAULT_CUTOFFS, DEFAULT_LEVELS, METRICS

# Names of the same metrics in other tools; case, _, - and blanks are ignored.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "precision": "P",
        "prec": "P",
        "recall": "R",
        "r_precision": "RP",
        "ann_recall": "RP",
        "hit_rate": "Hit",
        "hr": "Hit",
        "success": "Hit",
        "one_error": "Abandonment@1",
        "n": "nDCG",
        "ndcg_cut": "nDCG",
        "mrr": "RR",
        "recip_rank": "RR",
        "map": "AP",
        "map_cut": "AP",
        "psprecision": "PSP",
        "psrecall": "PSR",
        "psn": "PSnDCG",
        "cg": "DCG(discount=none)",
        "rprec": "R@n",
        "recall@gt": "R@n",
        "micro_recall@gt": "microR@n",
        "label_ranking_average_precision": "LRAP",
        "label_ranking_average_precision_score": "LRAP",
        "label_ranking_loss": "ranking_loss",
        "micro_precision": "microP",
        "micro_recall": "microR",
        "micro_f": "microF1",
        "macro_precision": "macroP",
        "macro_recall": "macroR",
        "macro_f": "macroF1",
        "macro_f1_measure": "macroF1",
        "mprec": "macroR",
        "item_coverage": "coverage(of=recommended,over=all)",
        "catalog_coverage": "coverage(of=recommended,over=all)",
        "macro_roc_auc": "macroAUC",
        "micro_roc_auc": "microAUC",
        "macro_average_precision": "macroAP",
        "micro_average_precision": "microAP",
        "global_average_precision": "microAP",
        "gap": "microAP",
        "macro_balanced_accuracy": "macroBA",
        "weighted_precision": "weightedP",
        "weighted_recall": "weightedR",
        "weighted_f": "weightedF1",
        "f": "F1",
        "fbeta": "F1",
        "set_p": "P@all",
        "set_precision": "P@all",
        "set_r": "R@all",
        "set_recall": "R@all",
        "set_f": "F1@all",
        "num_rel_ret": "tp",
        "iprec_at_recall": "IPrec",
        "fbeta_score": "f1_score",
        "tpr": "recall_score",
        "sensitivity": "recall_score",
        "tnr": "specificity",
        "fall_out": "FPR",
        "jaccard_score": "Jaccard",
        "hamming": "hamming_loss",
        "matthews_corrcoef": "MCC",
        "accuracy_score": "subset_accuracy",
        "exact_match": "subset_accuracy",
        "emr": "subset_accuracy",
        "balanced_accuracy_score": "balanced_accuracy",
    }
)

# Names in scikit-learn whose average or cutoff is an argument: the default, a macro mean, first.
AVERAGED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "rocauc": ("macroAUC", "microAUC", "AUC"),
        "rocaucscore": ("macroAUC", "microAUC", "AUC"),
        "averageprecisionscore": ("macroAP", "microAP"),
        "topkaccuracy": ("Hit@k",),
        "topkaccuracyscore": ("Hit@k",),
    }
)

# Metrics that are not computed here, by the tool that has them.
ELSEWHERE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ir_measures": (
            *("bpref", "infAP", "Judged", "NumQ", "SetAP", "SetRelP", "SDCG", "BPM", "INST", "INSQ", "Compat", "NRBP"),
            *("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "nNRBP", "AP_IA", "MAP_IA", "P_IA", "StRecall"),
            *("NERR8", "NERR9", "NERR10", "NERR11"),
        ),
        "trec_eval": ("gm_map", "gm_bpref", "set_map", "set_relative_P", "relative_P", "ndcg_rel", "Rndcg", "utility"),
        "scikit-learn": ("brier_score_loss", "log_loss", "hinge_loss", "cohen_kappa_score"),
    }
)

_OPTION_SPELLINGS: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType(
    {
        ("base", "2"): ("discount", "log2"),
        ("base", "e"): ("discount", "ln"),
        ("discount", "log"): ("discount", "ln"),
        ("dcg", "log2"): ("gain", "linear"),  # as in ir_measures
        ("dcg", "exp-log2"): ("gain", "exp"),
    }
)

# Numbers with a different scale under another tool's name: the beta of SetF is beta^2.
_NUMBER_SPELLINGS: Mapping[tuple[str, str], Callable[[float], float]] = MappingProxyType({("setf", "beta"): math.sqrt})

# Names of several metrics together.
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType({"confusion": ("tp", "fp", "fn", "tn")})

NEAR = 0.7  # minimum similarity of a suggested name

LONGEST_RANGE = 1000  # cutoffs: each gives a number in the report

ALL = "all"  # the cutoff that is the whole list

_CUTOFF_WORDS = frozenset({ALL, "n"})  # cutoffs that are not numbers

_WORDS_AROUND = re.compile(r"\Aneg|(score|loss)+\Z")  # of normalized names: neg_brier_score

_COMMA = re.compile(r",(?![^()]*\))")  # outside parentheses

_HAS_CUTOFF = re.compile(r"@|\.[0-9,-]+\Z")  # the second as in trec_eval: P.5,10

_RANGE = re.compile(r"([0-9]+)\s*-\s*([0-9]+)\Z")

_AT = r"@\s*([^@]*?)|\.([0-9][0-9., -]*?)|_([0-9]*\.[0-9][0-9., ]*?)"  # the last as in iprec_at_recall_0.10

_NAME = re.compile(rf"\s*([A-Za-z][A-Za-z0-9_ -]*?)\s*(?:\(([^()]*)\))?\s*(?:{_AT})?\s*\Z")


def parse(names: str | Iterable[str], ks: Iterable[int] | None = None) -> list[Measure]:
    """Parse names of metrics into measures without repeats, in the order given.

    Parameters
    ----------
    names : str or iterable of str
        Such as ``"P"``, ``"psp@1,3"``, ``"nDCG(discount=ln)@1-5"``; case is ignored, and common names in other
        tools are accepted, such as ``"ndcg_cut.10"``. Commas separate cutoffs after an @, and also names:
        ``"P@1,3,nDCG"``.
    ks : iterable of int, optional
        The cutoffs of names without one; default 1, 3 and 5, or the whole list for metrics that usually use it.
    """
    cutoffs = None
    if ks is not None:
        cutoffs = tuple([check_cutoff(k) for k in ks])
    hint = ""
    if isinstance(names, dict):
        hint = " (hint: names contain their cutoffs, as in ['P@1,5', 'nDCG@3'])"
    if isinstance(names, (str, Metric)):
        names = [names]
    if hint or not isinstance(names, Iterable):
        raise UsageError(f"metrics must be names such as 'P@5', got {describe_type(names)}{hint}")
    texts = tuple(names)
    for text in texts:
        if not isinstance(text, str):
            if isinstance(text, Metric):
                hint = f" (hint: pass its name, {text.name!r})"
            raise UsageError(f"metrics must be names, got {describe_type(text)}{hint}")
    return list(_parse_names(texts, cutoffs))


@lru_cache(maxsize=64)
def _parse_names(texts: tuple[str, ...], cutoffs: tuple[int, ...] | None) -> tuple[Measure, ...]:
    measures: list[Measure] = []
    for name in (name for text in texts for name in split_names(text)):
        word = name.strip().partition("(")[0]
        members = [name.replace(word, member, 1) for member in GROUPS.get(word.lower(), (word,))]
        measures.extend(measure for member in members for measure in _parse_name(member, cutoffs))
    by_name = {str(measure): measure for measure in reversed(measures)}
    return tuple(by_name.pop(name) for name in dict.fromkeys(map(str, measures)))


def split_names(text: str) -> list[str]:
    """Split at the commas between names, ignoring those between options or cutoffs.

    Examples
    --------
    >>> split_names("P@1,3,nDCG(gain=exp,discount=ln)@all,5,R,ndcg_cut.5,10")
    ['P@1,3', 'nDCG(gain=exp,discount=ln)@all,5', 'R', 'ndcg_cut.5,10']
    """
    names: list[str] = []
    for part in _COMMA.split(text):
        is_name = part.strip()[:1].isalpha() and part.strip().lower() not in _CUTOFF_WORDS
        if names and _HAS_CUTOFF.search(names[-1]) and not is_name:
            names[-1] += f",{part}"
        else:
            names.append(part)
    return names


def parse_cutoffs(k: object) -> list[int]:
    """Parse cutoffs: a whole number, or text such as ``"5"``, ``"1,3,5"``, ``"1-5"`` and ``"1-5,10"``."""
    if not isinstance(k, str):
        return [check_cutoff(k)]
    return [cutoff for part in k.split(",") for cutoff in _parse_range(part.strip())]


def _parse_range(text: str) -> Iterable[int]:
    match = _RANGE.match(text)
    if match is None:
        return [check_cutoff(text)]
    first, last = (check_cutoff(number) for number in match.groups())
    if first > last:
        raise UsageError(f"cutoffs must ascend, got {text!r}")
    if last - first >= LONGEST_RANGE:
        raise UsageError(f"a range has at most {LONGEST_RANGE:,} cutoffs, got {text!r}")
    return range(first, last + 1)


def check_cutoff(k: object) -> int:
    """Return a cutoff as int."""
    try:
        value = int(k)  # type: ignore[call-overload]
        is_whole = value == k or (isinstance(k, str) and k.strip().isdigit())
    except (TypeError, ValueError, OverflowError):
        is_whole = False
    if not is_whole or isinstance(k, bool) or value < 1:
        hint = ""
        if isinstance(k, str) and k == ALL:
            hint = " (hint: name the metric with it: P@all)"
        raise UsageError(f"k must be a whole number of at least 1, got {k!r}{hint}")
    return int(value)


@lru_cache(maxsize=64)
def _parse_name(name: str, cutoffs: tuple[int, ...] | None) -> tuple[Measure, ...]:
    match = _NAME.match(name)
    if match is None:
        hint = _hint_at_commas(name)
        raise UsageError(
            f"cannot read the metric name {name!r}: expected NAME, NAME@k or NAME(option=choice)@k,k{hint}"
        )
    word, options, *places = match.groups()
    at = next((place for place in places if place is not None), None)
    head, _, tail = word.rpartition("_")
    if at is None and head and tail.isdigit():
        word = head.removesuffix("_at")
        at = tail
    alias = _ALIASES_BY_KEY.get(f"{_normalize(word)}@{(at or '').lower()}")  # recall@gt
    if alias is not None:
        word, at = alias.partition("@")[::2]
    metric, chosen, alias_cutoff = _find_metric(word, at, name)
    for item in filter(None, (options or "").split(",")):
        key, _, value = (part.strip().lower() for part in item.partition("="))
        option = _parse_option(metric, key, value)
        rescale = _NUMBER_SPELLINGS.get((_normalize(word), key))
        if rescale is not None:
            option = {key: format_number(rescale(float(option[key])))}
        chosen = {**chosen, **option}
    if at is not None and alias_cutoff not in {None, at.lower()}:
        raise UsageError(f"{word} is {metric.name}@{alias_cutoff}, got @{at}")
    if at is None:
        at = alias_cutoff
    if metric.level:
        return tuple(
            Measure(metric, None, {**chosen, metric.level: level}) for level in _parse_levels(metric, at, chosen)
        )
    return tuple(Measure(metric, k, chosen) for k in _parse_cutoffs(metric, at, cutoffs))


def _parse_levels(metric: Metric, at: str | None, chosen: Mapping[str, str]) -> list[str]:
    """Parse the levels after the @ of a metric; without an @ use the option, or the default."""
    if at is None and metric.level in chosen:
        return [chosen[metric.level]]
    if at is None:
        return [format_number(level) for level in DEFAULT_LEVELS]
    if metric.level in chosen:
        raise UsageError(f"{metric.name} has its {metric.level} twice: as an option and after the @")
    return [_parse_number(metric, metric.level, part.strip()) for part in at.split(",")]


def _parse_cutoffs(metric: Metric, at: str | None, cutoffs: tuple[int, ...] | None) -> list[int | None]:
    """Parse the cutoffs after the @; without an @ use the given cutoffs, or the default."""
    if metric.cutoff == "none":
        if at is not None and at.lower() != metric.name.partition("@")[2]:
            raise UsageError(f"{metric.name} has no cutoff, got @{at}")
        return [None]
    if at is None or at.lower() == "k":  # AUC@k, as listed in METRICS, is at the cutoffs k
        if cutoffs is None and at is None and metric.is_of_whole_list:
            return [None]
        if cutoffs is None:
            return [*DEFAULT_CUTOFFS]
        return [*cutoffs]
    parts = [part.strip() for part in at.split(",")]
    if ALL in (part.lower() for part in parts) and metric.cutoff != "optional":
        raise UsageError(f"{metric.name.partition('@')[0]} needs a cutoff, got @all")
    ks = list[int | None]()
    for part in parts:
        if part.lower() == ALL:
            ks.append(None)
        else:
            ks += parse_cutoffs(part)
    return ks


def _normalize(word: str) -> str:
    return re.sub(r"[ _-]", "", word).lower().removesuffix("atk")


_METRICS_BY_KEY = {_normalize(name): name for name in METRICS}
_ALIASES_BY_KEY = {_normalize(alias): name for alias, name in ALIASES.items()}


def _find_metric(word: str, at: str | None, name: str) -> tuple[Metric, dict[str, str], str | None]:
    """Find a metric by name or alias; also return the options and the cutoff that an alias implies."""
    key = _normalize(word)
    candidates = [key]
    if at is not None:  # R@n and AUC@k have their own entries
        candidates = [f"{key}@k", key]
        if at.lower() == "n":
            candidates = [f"{key}@n", key]
    for candidate in candidates:
        if candidate in _METRICS_BY_KEY:
            return METRICS[_METRICS_BY_KEY[candidate]], {}, None
    if key in _ALIASES_BY_KEY:
        meaning = _ALIASES_BY_KEY[key]
        if meaning in METRICS:
            return METRICS[meaning], {}, None
        measure = _parse_name(meaning, (1,))[0]
        cutoff = None
        if measure.metric.cutoff != "none":
            cutoff = meaning.partition("@")[2] or None
        return measure.metric, dict(measure.chosen), cutoff
    root = _WORDS_AROUND.sub("", key)
    for tool, names in ELSEWHERE.items():
        for other in names:
            if root == _WORDS_AROUND.sub("", _normalize(other)):
                its_name = other
                if key == _normalize(other):
                    its_name = "it"
                raise UsageError(f"{word} is not computed here; {tool} has {its_name}")
    known = _ALIASES_BY_KEY | _METRICS_BY_KEY
    meant = (
        dict.fromkeys(_list_averages(word))
        or dict.fromkeys(AVERAGED.get(key, ()))
        or dict.fromkeys(known[match] for match in difflib.get_close_matches(key, known, 3, NEAR))
        or dict.fromkeys(known[match] for match in difflib.get_close_matches(root, known, 3, NEAR))
    )
    question = ""
    if meant:
        question = f"; did you mean {' or '.join(meant)}?"
    hint = _hint_at_commas(name) or f"{question} (hint: xmceval metrics lists all)"
    raise UsageError(f"unknown metric {name!r}{hint}")


def _list_averages(word: str) -> Iterable[str]:
    """List the metrics that a name of scikit-learn's scorers, such as ``f1_macro``, may mean."""
    name, _, average = word.lower().replace("-", "_").rpartition("_")
    metric = METRICS.get(f"{name}_score")
    if metric is not None and average in metric.options.get("average", ()):
        yield f"{metric.name}(average={average})"
        at_cutoffs = _METRICS_BY_KEY.get(_normalize(average + name)) or _ALIASES_BY_KEY.get(_normalize(average + name))
        if at_cutoffs is not None:
            yield f"{at_cutoffs}@k"


def _hint_at_commas(text: str) -> str:
    """Hint at commas if several names are separated by blanks."""
    words = text.split()
    if len(words) < 2:
        return ""
    try:
        for word in words:
            _parse_name(word, None)
    except UsageError:
        return ""
    return f" (hint: separate metrics by commas: {','.join(words)})"


def _parse_option(metric: Metric, key: str, value: str) -> dict[str, str]:
    key, value = _OPTION_SPELLINGS.get((key, value), (key, value))
    if key in metric.numbers:
        return {key: _parse_number(metric, key, value)}
    if key not in metric.options:
        options = listed([*metric.options, *metric.numbers]) or "none"
        raise UsageError(f"{metric.name} has no option {key!r}; its options: {options}")
    if value not in metric.options[key]:
        raise UsageError(f"{metric.name}({key}={value}): expected one of {listed(metric.options[key])}")
    return {key: value}


def _parse_number(metric: Metric, key: str, text: str) -> str:
    """Check a numeric option, and format it as in names of measures."""
    number = metric.numbers[key]
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not number.accepts(value):
        raise UsageError(f"{metric.name}({key}={text}): expected {number.kind}")
    return format_number(value)


@lru_cache(maxsize=4096)
def restore_measure(name: str) -> Measure:
    """Return the measure with a canonical name."""
    [measure] = parse(name)
    return measure


def find_name(name: Any, measures: Sequence[Measure]) -> str:
    """Return the canonical name of the one measure that a name means."""
    names = dict.fromkeys(measure.name for measure in measures)
    if name in names:
        return str(name)
    meant = [measure.name for measure in find_measures(name, measures)]
    if not meant:
        raise KeyError(f"{name!r} is not one of {', '.join(names)}")
    if len(meant) > 1:
        raise KeyError(f"{name!r} is any of {', '.join(meant)}; expected one of them")
    return meant[0]


def find_measures(name: Any, measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that a name means; without a cutoff it means all available cutoffs."""
    by_name = {measure.name: measure for measure in measures}
    cutoffs = dict.fromkeys(measure.k for measure in measures if measure.k is not None)
    try:
        meant = dict.fromkeys(measure.name for measure in (*parse(name, cutoffs), *parse(name)))
        return [by_name[canonical] for canonical in meant if canonical in by_name]
    except (ValueError, AttributeError, TypeError):
        return []


# The entries of the table of metrics cannot be pickled; canonical names are equivalent.
copyreg.pickle(Measure, lambda measure: (restore_measure, (measure.name,)))
