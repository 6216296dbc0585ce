"""The table of metrics as text: the list, one metric in detail, JSON, and the README's table of definitions."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from xmceval.metrics.entry import FAMILIES, Metric, Number
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import ALIASES, parse
from xmceval.metrics.table import METRICS
from xmceval.report.columns import columns, labelled

SCHEMA = "xmceval-metrics/1"

# What each family is computed from, how it takes ties, and what a row without truth does.
_FROM: Mapping[str, str] = MappingProxyType(
    {
        "top-k": "the best labels of a row",
        "row": "all labels of a row, its whole list, or its first k ranks",
        "label": "counts by label of what is within the cutoff",
        "confusion": "decisions: labels whose score reaches --threshold",
    }
)

_LIST_TIES = "higher score first, then the lower label id"

_TOLD_TIES = f"{_LIST_TIES}; the report tells how far ties could move a value"

_NO_TIES = "without effect: only the threshold decides"

_OWN_TIES = "as the definition says: no order among them"

_UNSCORED_TIES = f"{_OWN_TIES}; labels without a score are tied with each other, below all others or at 0 (--unscored)"

_OVER: Mapping[str, str] = MappingProxyType(
    {
        "mean": "mean over rows",
        "ratio": "ratio of sums over rows",
        "micro": "all cells together",
        "macro": "mean over labels",
        "weighted": "mean over labels, weighted by how often each is true",
        "cells": "as average= says",
        "rows": "mean over rows",
        "sum": "sum over rows",
        "labels": "one count over all rows",
    }
)

_LETTERS: Mapping[str, str] = MappingProxyType(
    {
        "k": "the cut",
        "n": "the number of true labels of the row",
        "w": "1 / propensity of the label",
        "d": "the discount of the rank",
        "D": "the sum of d over so many ranks",
        "ideal": "the ranking of the row's true labels that reaches the most",
        "g": "the grade of the label, 1 in binary truth, or with gain=exp 2^grade - 1",
        "tp": "the number of cells (row, label) predicted and true",
        "fp": "the number of cells predicted and not true",
        "fn": "the number of cells true and not predicted",
        "tn": "the number of cells neither predicted nor true",
    }
)

_NO_LIMIT = 2.0**40

# How people write aliases of several words, by how the grammar of names keeps them.
_WRITTEN: Mapping[str, str] = MappingProxyType(
    {
        written.replace("_", ""): written
        for written in (
            *("hit_rate", "r_precision", "ndcg_cut", "map_cut", "recip_rank", "micro_recall@gt", "roc_auc"),
            *("label_ranking_average_precision", "label_ranking_average_precision_score", "label_ranking_loss"),
            *("micro_precision", "micro_recall", "micro_f", "macro_precision", "macro_recall", "macro_f"),
            *("macro_f1_measure", "macro_balanced_accuracy", "weighted_precision", "weighted_recall", "weighted_f"),
            *("fbeta_score", "fall_out", "jaccard_score", "matthews_corrcoef", "accuracy_score"),
            "balanced_accuracy_score",
        )
    }
)


def display_name(metric: Metric) -> str:
    """Return the name with an @k where it takes a cut."""
    return metric.name if metric.cutoff == "none" or "@" in metric.name else f"{metric.name}@k"


def definition(metric: Metric) -> str:
    """Return the default definition in one line."""
    return next(iter(metric.norms.values())).formula


def aliases(metric: Metric) -> list[str]:
    """Return the words of other tools that mean this metric."""
    known = ((word, meaning, parse(meaning, [1])[0]) for word, meaning in ALIASES.items())
    return [
        _WRITTEN.get(word, word) + ("" if meaning == metric.name else f" = {meaning}")
        for word, meaning, measure in known
        if measure.metric.name == metric.name and word != metric.name.lower()
    ]


def by_family(metrics: Iterable[Metric] = METRICS.values()) -> list[Metric]:
    """Sort metrics by family, otherwise as the table has them."""
    return sorted(metrics, key=lambda metric: FAMILIES.index(metric.family))


def metrics_table() -> str:
    """Write every metric as a line of a table."""
    rows = [("METRIC", "FAMILY", "RANGE", "OPTIONS", "DEFINITION")]
    for metric in by_family():
        options = " ".join([*metric.options, *metric.numbers])
        rows.append((display_name(metric), metric.family, _range(metric), options, _title(metric)))
    told = [(family, f"from {_FROM[family]}") for family in FAMILIES]
    letters = _letters(METRICS.values())
    return "\n".join([*columns(rows), "", *labelled([*told, *letters, ("more", "xmceval metrics NAME")])]) + "\n"


def find(names: Iterable[str]) -> list[tuple[Metric, list[Measure]]]:
    """Find metrics by name; with each what was asked for, where that has options or a cut of its own.

    Raises
    ------
    UsageError
        An unknown name; the message suggests one.
    """
    found: dict[str, list[Measure]] = {}
    for name in names:
        as_listed = name.strip().lower().endswith("@k")
        written = f"{name.strip()[:-1]}1" if as_listed else name
        for measure, other in zip(parse(written, [1]), parse(written, [2]), strict=True):
            own = found.setdefault(measure.metric.name, [])
            has_cut = measure.k is not None and measure.k == other.k and not as_listed
            if measure.chosen or has_cut:
                own.append(measure)
    return [(METRICS[name], own) for name, own in found.items()]


def metric_text(metric: Metric, asked: Sequence[Measure] = ()) -> str:
    """Write one metric in detail, with the definitions of what was asked for."""
    pairs = [("definition", definition(metric))]
    pairs.extend((str(measure), measure.definition) for measure in asked)
    pairs.extend(("where", f"{letter} is {said}") for letter, said in _letters([metric]))
    pairs.append(("over rows", _over(metric)))
    pairs.append(("from", _from(metric)))
    pairs.append(("range", f"{_range(metric)}, {'higher' if metric.higher_is_better else 'lower'} is better"))
    pairs.extend(("options", line) for line in _options(metric))
    pairs.append(("no true label", empty_rows(metric)))
    pairs.append(("ties", ties(metric)))
    if metric.note:
        pairs.append(("note", metric.note))
    if words := aliases(metric):
        pairs.append(("also called", f"{', '.join(words)} (in any case, with any _ or -)"))
    pairs.append(("source", metric.source))
    return "\n".join([f"{display_name(metric)}: {metric.title}", *(f"  {line}" for line in labelled(pairs))]) + "\n"


def metrics_json(metrics: Sequence[Metric]) -> str:
    """Write metrics as JSON."""
    document = {"schema": SCHEMA, "metrics": [_as_dict(metric) for metric in metrics]}
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def readme_table(metrics: Iterable[Metric] = METRICS.values()) -> str:
    """Write the table of definitions as Markdown."""
    lines = ["| metric | what it is | definition | options, the default first |", "| --- | --- | --- | --- |"]
    for metric in by_family(metrics):
        options = "; ".join(_option_words(metric))
        cells = [f"`{display_name(metric)}`", metric.title, definition(metric), options]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def empty_rows(metric: Metric) -> str:
    """Say what a row without a true label does."""
    if metric.left_out:
        return f"left out, as every row of which {metric.left_out}; their number is told"
    norm = next(iter(metric.norms.values()))
    if metric.family in {"label", "confusion"} or norm.over == "micro":
        said = "its labels count as false positives"
    elif norm.over == "ratio":
        said = "adds 0 to both sums"
    else:
        said = "counts " + (norm.formula.partition("; ")[2] or str(int(metric.complement)))
    return f"{said} (--empty-rows drop leaves it out)"


def ties(metric: Metric) -> str:
    """Say what labels of one score do."""
    if metric.family == "confusion":
        return _NO_TIES
    if metric.needs_labels:
        return _UNSCORED_TIES
    if metric.left_out:
        return _OWN_TIES
    return _TOLD_TIES if metric.family == "top-k" else _LIST_TIES


def _letters(metrics: Iterable[Metric]) -> list[tuple[str, str]]:
    """Explain the letters that occur in formulas."""
    formulas = " ".join(norm.formula for metric in metrics for norm in metric.norms.values())
    used = set(re.findall(r"[A-Za-z]+", formulas))
    return [(letter, said) for letter, said in _LETTERS.items() if letter in used]


def _from(metric: Metric) -> str:
    """Say what a metric is computed from."""
    if metric.family != "row":
        said = _FROM[metric.family]
    elif metric.cutoff != "none":
        said = "the first k ranks of a row"
    else:
        said = "all labels of a row" if metric.needs_labels else "the whole list of a row"
    return said + (", and the number of labels" if metric.needs_labels else "")


def _title(metric: Metric) -> str:
    return f"{metric.title}: {definition(metric)}"


def _over(metric: Metric) -> str:
    norms = {name: _OVER.get(norm.over, norm.over) for name, norm in metric.norms.items()}
    if len(set(norms.values())) == 1:
        return next(iter(norms.values()))
    return "; ".join(f"{name}: {said}" for name, said in norms.items())


def _range(metric: Metric) -> str:
    low, high = metric.bounds
    return f"{low:g}.." + (f"{high:g}" if math.isfinite(high) else "")


def _option_words(metric: Metric) -> Iterator[str]:
    for name, choices in metric.options.items():
        yield f"{name}={'|'.join(choices)}"
    for name, number in metric.numbers.items():
        yield f"{name}={number.default:g}"


def _options(metric: Metric) -> Iterator[str]:
    """One line an option; the choices of a norm with their formulas."""
    for name, choices in metric.options.items():
        yield f"{name}={'|'.join(choices)}, {choices[0]} by default"
        if name == "norm":
            yield from (f"  {choice}: {norm.formula}" for choice, norm in metric.norms.items())
    for name, number in metric.numbers.items():
        yield f"{name}={number.default:g} by default, {_kind(number)}" + (
            "; a label is true from this grade on" if name == "rel" else ""
        )


def _kind(number: Number) -> str:
    kind = "a whole number" if number.is_whole else "a number"
    if number.is_open:
        return f"{kind} between {number.low:g} and {number.high:g}"
    return f"{kind} from {number.low:g}" + (f" to {number.high:g}" if number.high < _NO_LIMIT else "")


def _as_dict(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "title": metric.title,
        "family": metric.family,
        "cut": metric.cutoff,
        "definition": definition(metric),
        "norms": {name: {"formula": norm.formula, "over": norm.over} for name, norm in metric.norms.items()},
        "options": {name: {"choices": list(choices)} for name, choices in metric.options.items()}
        | {name: _number_dict(number) for name, number in metric.numbers.items()},
        "range": [end if math.isfinite(end) else None for end in metric.bounds],
        "higher_is_better": metric.higher_is_better,
        "unit": metric.unit,
        "needs_propensities": metric.needs_propensities,
        "needs_labels": metric.needs_labels,
        "no_true_label": empty_rows(metric),
        "ties": ties(metric),
        "note": metric.note,
        "aliases": aliases(metric),
        "source": metric.source,
    }


def _number_dict(number: Number) -> dict[str, Any]:
    bounds = {"low": number.low, "high": number.high, "open": number.is_open}
    return {"default": number.default, "whole": number.is_whole, **bounds}
