"""Metrics as measures of ir_measures, which PyTerrier also accepts; ir_measures is imported only on request."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from xmceval.api.score import score
from xmceval.errors import UsageError, counted, missing_module
from xmceval.metrics.names import parse
from xmceval.scoring.compile import compile_program
from xmceval.scoring.options import Options

try:
    import ir_measures
except ModuleNotFoundError as error:
    raise missing_module("xmceval.ir_measures", error) from None

CUTOFF = "cutoff"


def measure(metric: str, **options: Any) -> ir_measures.Measure:
    """Return a metric as a measure of ir_measures, for its ``calc``, ``iter_calc`` and the experiments of PyTerrier.

    The value of a query is the value of the metric in its row. For a ratio of sums, such as PSP, it is the numerator
    divided by the mean of the denominators, so that the mean over queries is the metric. Judged queries that a
    run lacks count 0, queries that a metric leaves out are NaN and not in the mean, and documents with equal
    scores are ordered as in trec_eval.

    Parameters
    ----------
    metric : str
        A metric with per-row values, with or without a cutoff: ``"PSP@5"``, ``"nDCG(gain=exp)@10"``, ``"RR"``.
        ``measure("PSP") @ 5`` is the same as the first.
    **options
        Options of `score`, such as ``train``, ``a``, ``b``, ``inverse_propensities``.

    Examples
    --------
    >>> import ir_measures
    >>> from xmceval.ir_measures import measure
    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1, "d3": 1}}
    >>> run = {"q1": {"d1": 0.9, "d2": 0.4}, "q2": {"d3": 0.8, "d2": 0.7}}
    >>> measure("RP@2").calc_aggregate(qrels, run)
    0.75
    """
    measures = parse(metric, [1])
    n_of_rows = len(compile_program(measures).row_measures)
    if len(measures) != 1 or n_of_rows != 1:
        got = "one without"
        if len(measures) != 1:
            got = counted(len(measures), "metric")
        raise UsageError(f"{metric!r}: expected one metric that has values of rows, such as PSP, got {got}")
    unknown = options.keys() - {field.name for field in fields(Options)} | options.keys() & {"metrics", "k"}
    if unknown:
        raise UsageError(f"measure takes no {min(unknown)!r} (hint: it takes the options of score, except k)")
    [taken] = measures
    params: dict[str, ir_measures.ParamInfo] = {name: ir_measures.ParamInfo() for name in options}
    if taken.metric.cutoff != "none":
        params[CUTOFF] = ir_measures.ParamInfo(dtype=int, required=taken.metric.cutoff == "required")
    name = taken.name  # in R@n and IPrec@0.5, the text after @ is no cutoff
    if CUTOFF in params:
        name = taken.head
    body = {"NAME": name, "__name__": name, "SUPPORTED_PARAMS": params}
    made: ir_measures.Measure = type("Measure", (_Measure,), body)(**options)
    if "@" not in metric or taken.k is None:
        return made
    return made @ taken.k


class _Measure(ir_measures.Measure):
    """A metric whose parameters are its cutoff and the options of `score`."""

    def runtime_impl(self, qrels: Any, run: Any) -> Iterator[ir_measures.Metric]:
        """Yield the values of all judged queries, as ir_measures expects of user-defined measures."""
        name = self.NAME
        options = dict(self.params)
        if CUTOFF in self.SUPPORTED_PARAMS:
            name = f"{name}@{options.pop(CUTOFF, 'all')}"
        rows = score(qrels, run, metrics=name, rows=True, **options).rows
        [(name, values)] = rows.items()
        if name in rows.ideals:
            values = values / np.nanmean(rows.ideals[name])
        for query, value in zip(rows.ids or (), values.tolist(), strict=True):
            yield ir_measures.Metric(query, self, value)

    def aggregator(self) -> ir_measures.MeanAgg:
        return _MeanOfKnown()


class _MeanOfKnown(ir_measures.MeanAgg):
    """The mean over values that are not NaN."""

    def add(self, value: float) -> None:
        if not math.isnan(value):
            super().add(value)
