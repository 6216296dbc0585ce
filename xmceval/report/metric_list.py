"""List all metrics, or describe one in detail with the functions of other tools that agree with it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from types import MappingProxyType
from typing import Any, NamedTuple

from xmceval.errors import listed
from xmceval.labels.catalogue import read_table
from xmceval.metrics.measure import AVERAGE_TEXT, Measure
from xmceval.metrics.metric import FAMILIES, Metric
from xmceval.metrics.names import ALIASES, parse
from xmceval.metrics.table import METRICS as TABLE
from xmceval.report.forms.data import pick, write_document
from xmceval.report.forms.plain import align_columns, align_terms, wrap_text, write_entry
from xmceval.report.renderable import Displayed, fit_line
from xmceval.report.sheet import WIDTH
from xmceval.version import METRICS_SCHEMA

HEAD = ("METRIC", "RANGE", "DEFINITION [OPTIONS]")

# The data from which the metrics of each family are computed.
INPUTS: Mapping[str, str] = MappingProxyType(
    {
        "top-k": "the k best labels of an instance",
        "row": "all labels of an instance, its whole list, or its first k ranks",
        "label": "counts by label within the cutoff",
        "confusion": "decisions: labels with a score of at least the threshold",
        "column": "all cells of a label, which are held in memory",
    }
)

# The symbols in formulas, in order of explanation.
SYMBOLS: Mapping[str, str] = MappingProxyType(
    {
        "k": "the cutoff",
        "n": "the number of true labels of the instance",
        "w": "1 / propensity of the label",
        "d": "the discount of the rank",
        "D": "the sum of d over the first ranks: D(j) over the first j",
        "ideal": "the best possible ranking of the instance's true labels",
        "g": "the grade of the label, 1 in binary truth, with gain=exp 2^grade - 1, with gain=binary 1",
        "tp": "the number of cells (instance, label) predicted and true",
        "fp": "the number of cells predicted and not true",
        "fn": "the number of cells true and not predicted",
        "tn": "the number of cells neither predicted nor true",
    }
)


def write_metrics(names: Sequence[str], form: str, width: int) -> str:
    """Write the list of metrics, or the facts on some of them, as text or JSON."""
    entries = find_metrics(names)
    if form == "json":
        records = map(_record_metric, [metric for metric, _ in entries] or sort_by_family())
        return write_document({"schema": METRICS_SCHEMA, "metrics": list(records)}, is_ascii=False)
    if not entries:
        return _write_table(width)
    details = []
    for metric, asked in entries:
        details.append(write_entry(f"{display_name(metric)}: {metric.title}", _facts(metric, asked), width))
    return "\n".join(details)


def _write_table(width: int) -> str:
    """Write all metrics as a table by family; definitions are wrapped at a width."""
    metrics = sort_by_family()
    heads = align_columns([HEAD[:2], *((display_name(metric), format_range(metric)) for metric in metrics)])
    indent = max(map(len, heads)) + 2
    lines = [heads[0].ljust(indent) + HEAD[2]]
    for family, entries in groupby(zip(metrics, heads[1:], strict=True), lambda entry: entry[0].family):
        lines += ["", *wrap_text(f"{family}: from {INPUTS[family]}", width)]
        for metric, start in entries:
            options = " ".join([*metric.options, *metric.numbers])
            definition = f"{metric.title}: {metric.formula}" + (f" [{options}]" if options else "")
            first, *rest = wrap_text(definition, width - indent)
            lines.append(start.ljust(indent) + first)
            lines.extend(" " * indent + line for line in rest)
    terms = [*explain_symbols(metrics), ("more", "xmceval metrics NAME")]
    return "\n".join([*lines, "", *align_terms(terms, width)]) + "\n"


def find_metrics(names: Iterable[str]) -> list[tuple[Metric, list[Measure]]]:
    """Find metrics by name, each with the measures that were named with options or a cutoff."""
    measures: dict[str, list[Measure]] = {}
    with_level = {display_name(metric).lower(): metric.name for metric in TABLE.values() if metric.level}
    for name in (with_level.get(name.strip().lower(), name.strip()) for name in names):
        is_listed = name.lower().endswith("@k")
        word = f"{name[:-1]}1" if is_listed else name
        for measure, other in zip(parse(word, [1]), parse(word, [2]), strict=True):
            asked = measures.setdefault(measure.metric.name, [])
            has_cutoff = measure.k is not None and measure.k == other.k and not is_listed
            has_options = measure.chosen and name != measure.metric.name
            if has_options or has_cutoff:
                asked.append(measure)
    return [(TABLE[name], asked) for name, asked in measures.items()]


def sort_by_family() -> list[Metric]:
    """Return all metrics sorted by family, then in the order of the table."""
    return sorted(TABLE.values(), key=lambda metric: FAMILIES.index(metric.family))


def display_name(metric: Metric) -> str:
    """Return the name of a metric, with @k where it takes a cutoff, or the option that takes its place."""
    if metric.level:
        return f"{metric.name}@{metric.level}"
    if metric.cutoff == "none" or "@" in metric.name:
        return metric.name
    return f"{metric.name}@k"


def list_aliases(metric: Metric) -> list[str]:
    """Return other tools' names of a metric, with the options that some of these names imply."""
    return [
        alias if name == metric.name else f"{alias} = {name}"
        for alias, name in ALIASES.items()
        if parse(name, [1])[0].metric.name == metric.name
    ]


def describe_empty_rows(metric: Metric) -> str:
    """Describe the effect of a row without a true label."""
    if metric.left_out:
        return f"left out, like all instances where {metric.left_out}; the number of such instances is reported"
    if metric.cuts_at_n:
        return "no effect: none of its labels is predicted"
    norm = next(iter(metric.norms.values()))
    if metric.family in {"label", "confusion", "column"} or norm.over == "micro":
        effect = "its predictions are false positives"
    elif norm.over == "ratio":
        effect = "adds 0 to both sums"
    else:
        effect = f"counts as {metric.empty_value}"
    return f"{effect} (--empty-rows drop leaves it out)"


def describe_ties(metric: Metric) -> str:
    """Describe the effect of equal scores."""
    if metric.family == "confusion":
        return "no effect: only the threshold decides"
    ranks_all = metric.family == "column" or (metric.family == "row" and metric.needs_labels)
    effect = "higher score first, then the lower label id"
    if ranks_all or metric.left_out:
        effect = "as in the definition: they are not ordered"
    if ranks_all:
        effect += "; labels without a score tie with each other, below all others or at 0 (--unscored)"
    if metric.family == "top-k" and not metric.cuts_at_n:
        effect += "; the report shows how far ties could move a value"
    return effect


def _facts(metric: Metric, asked: Sequence[Measure]) -> Iterator[tuple[str, str]]:
    """Yield the facts about a metric, each with its term."""
    yield "definition", metric.formula
    for measure in asked:
        yield str(measure), measure.definition
    for symbol, meaning in explain_symbols([metric]):
        yield "where", f"{symbol} is {meaning}"
    averages = {}  # how rows are combined, which may depend on the norm
    for name, norm in metric.norms.items():
        averages[name] = "as chosen by average="
        if norm.over != "cells":
            averages[name] = AVERAGE_TEXT[norm.over].format(labels="labels")
    overall = "; ".join(f"{name}: {average}" for name, average in averages.items())
    if len(set(averages.values())) == 1:
        overall = next(iter(averages.values()))
    yield "overall", overall
    data = INPUTS[metric.family]
    if metric.family == "row" and metric.cutoff != "none":
        data = "the first k ranks of an instance"
    elif metric.family == "row":
        data = "all labels of an instance" if metric.needs_labels else "the whole list of an instance"
    elif metric.cuts_at_n:
        data = "the n best labels of an instance, which has n true labels"
    if metric.needs_labels:
        data += ", and the number of labels"
    yield "from", data
    yield "range", f"{format_range(metric)}, {'higher' if metric.higher_is_better else 'lower'} is better"
    for name, choices in metric.options.items():
        yield "options", f"{name}={'|'.join(choices)}, {choices[0]} by default"
        if name == "norm":
            for choice, norm in metric.norms.items():
                yield "options", f"  {choice}: {norm.formula}"
    for name, number in metric.numbers.items():
        default = f"{number.default:g} by default"
        if name == metric.level:
            default = "the number after the @"
        text = f"{name}={default}, {number.kind}"
        if name == "rel":
            text = f"rel={number.kind}: labels of this grade or above are true; by default all graded above 0"
        yield "options", text
    yield "no true label", describe_empty_rows(metric)
    yield "ties", describe_ties(metric)
    if metric.cost:
        yield "cost", metric.cost
    if metric.note:
        yield "note", metric.note
    yield from describe_agreement(display_name(metric))
    aliases = list_aliases(metric)
    if aliases:
        yield "also called", f"{', '.join(aliases)} (in any case, with any _ or -)"
    yield "source", metric.source


def explain_symbols(metrics: Iterable[Metric]) -> list[tuple[str, str]]:
    """Explain the symbols that occur in the formulas of metrics."""
    formulas = " ".join(norm.formula for metric in metrics for norm in metric.norms.values())
    words = set(re.findall(r"[A-Za-z]+", formulas))
    return [(symbol, meaning) for symbol, meaning in SYMBOLS.items() if symbol in words]


def format_range(metric: Metric) -> str:
    """Format the bounds of a metric, with nothing after the dots if there is no upper bound."""
    low, high = metric.bounds
    if math.isinf(high):
        return f"{low:g}.."
    return f"{low:g}..{high:g}"


def _record_metric(metric: Metric) -> dict[str, Any]:
    """Return the record of a metric: options have their choices, or as numbers their default and bounds."""
    options: dict[str, dict[str, Any]] = {name: {"choices": list(choices)} for name, choices in metric.options.items()}
    for name, number in metric.numbers.items():
        bounds = {"low": number.low, "high": number.high, "open": number.is_open}
        options[name] = {"default": number.default, "whole": number.is_whole, **bounds}
    return {
        **pick(metric, ("name", "title", "family")),
        "cut": metric.cutoff,
        "definition": metric.formula,
        "norms": {name: {"formula": norm.formula, "over": norm.over} for name, norm in metric.norms.items()},
        "options": options,
        "range": metric.bounds,
        **pick(metric, ("higher_is_better", "unit", "needs_propensities", "needs_labels", "mergeable", "cost")),
        "no_true_label": describe_empty_rows(metric),
        "ties": describe_ties(metric),
        "note": metric.note,
        "aliases": list_aliases(metric),
        "source": metric.source,
    }


AGREES = ("equal", "equal with option")


class Agreement(NamedTuple):
    """How a function of another tool compares with a metric on one kind of input, from the recorded table."""

    metric: str
    peer: str
    version: str
    function: str
    inputs: str
    verdict: str
    option: str
    reason: str


@cache
def recorded() -> dict[tuple[str, str, str], tuple[Agreement, ...]]:
    """Return the lines of each function of each peer and metric: the one of most inputs first, exceptions after it."""
    functions: dict[tuple[str, str, str], tuple[Agreement, ...]] = {}
    for row in read_table("agreement.tsv"):
        line = Agreement(*(row[field] for field in Agreement._fields))
        key = (line.peer, line.metric, line.function)
        functions[key] = (*functions.get(key, ()), line)
    return functions


def describe_agreement(metric: str) -> Iterator[tuple[str, str]]:
    """Yield the functions of peers that agree with a metric, then those that differ, each with its term."""
    variants: dict[tuple[str, str, str], list[tuple[Agreement, ...]]] = {}
    for (_, name, function), lines in recorded().items():
        if name == metric:
            term = "differs from"
            if agrees(lines):
                term = "agrees with"
            peer = f"{lines[0].peer} {lines[0].version}"
            variants.setdefault((term, peer, function.partition("(")[0]), []).append(lines)
    texts: dict[tuple[str, str], list[str]] = {}
    for (term, peer, function), of_function in variants.items():
        texts.setdefault((term, peer), []).append(_describe(function, of_function))
    for (term, peer), functions in sorted(texts.items(), key=lambda item: item[0][0]):
        yield term, f"{peer}: {'; '.join(functions)}"


def agrees(lines: tuple[Agreement, ...]) -> bool:
    """Return whether a function agrees with our values on most inputs."""
    return lines[0].verdict in AGREES


def exceptions(lines: tuple[Agreement, ...]) -> list[Agreement]:
    """Return the lines of the inputs where a function that otherwise agrees does not."""
    return [line for line in lines[1:] if line.verdict not in AGREES]


def _describe(name: str, variants: Sequence[tuple[Agreement, ...]]) -> str:
    """Describe the variants of a function: the options that it takes here, and where it differs."""
    first = variants[0][0]
    text = name
    if len(variants) > 1:
        text += f" in {len(variants)} variants"
    elif first.option:
        text += f" with {first.option}"
    if len(variants) == 1 and first.verdict not in AGREES:
        return f"{text}, which {first.reason}"
    excepted = dict.fromkeys(line.inputs for lines in variants for line in exceptions(lines))
    if excepted:
        text += f", except on {listed(excepted)}"
    return text


class MetricTable(Displayed, Mapping[str, Metric]):
    """The metrics by name: ``METRICS["P"].formula``; ``print(METRICS)`` shows all."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Metric:
        return TABLE[name]

    def __iter__(self) -> Iterator[str]:
        return iter(TABLE)

    def __len__(self) -> int:
        return len(TABLE)

    def __str__(self) -> str:
        return _write_table(WIDTH)

    def _describe(self) -> tuple[str, ...]:
        names = [display_name(metric) for metric in self.values()]
        return f"METRICS: {len(self)} metrics", fit_line(names, len(names)), 'print() shows the table, ["P"] one Metric'


METRICS = MetricTable()
