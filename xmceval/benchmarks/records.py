"""What programs read of a benchmark: a JSON document, and CSV lines and frames with one line per value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from xmceval.benchmarks.outcome import PUBLISHED, Benchmark, DatasetOutcome
from xmceval.report.forms.csv import write_lines
from xmceval.report.forms.json import write_document
from xmceval.report.records import (
    VALUE_COLUMNS,
    Record,
    list_values,
    pick,
    record_comparison,
    record_figure,
    record_gates,
    record_measure,
)
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import specs
from xmceval.version import BENCHMARK_SCHEMA

if TYPE_CHECKING:
    from pandas import DataFrame

    from xmceval.report.comparison import Comparison

COLUMNS = ("dataset", *VALUE_COLUMNS, "n_runs", "sd", "mark")


def write_json(benchmark: Benchmark) -> str:
    """Write a benchmark as JSON."""
    sources = benchmark.published
    return write_document(
        {
            "schema": BENCHMARK_SCHEMA,
            "version": benchmark.version,
            "file": benchmark.file or None,
            **pick(benchmark.testing, specs(Testing)),
            "metrics": [measure.name for measure in benchmark.measures],
            "systems": [{"name": name, "source": sources.get(name) or None} for name in benchmark.systems],
            "datasets": [_record_dataset(dataset, benchmark.systems) for dataset in benchmark.datasets],
            **record_gates(benchmark.gates),
        }
    )


def _record_dataset(dataset: DatasetOutcome, systems: Iterable[str]) -> Record:
    """Return the cells and the comparison of a data set."""
    return {
        "name": dataset.name,
        "why": dataset.why or None,
        "cells": [
            {"system": name, "status": dataset.find_status(name), "why": dataset.missing.get(name) or None}
            for name in systems
        ],
        "published": [{"system": name, "metrics": values} for name, values in dataset.published.items()],
        "notes": dataset.notes,
        "comparison": None if dataset.comparison is None else record_comparison(dataset.comparison),
    }


def write_csv(benchmark: Benchmark) -> str:
    """Write the values of a benchmark as CSV in long form, one line per value."""
    return write_lines(COLUMNS, _list_lines(benchmark))


def make_frame(benchmark: Benchmark, *, bins: bool = False) -> DataFrame:
    """Make a frame with one line per value, indexed by dataset, metric, k and system."""
    from xmceval.report.forms.frame import VALUES, build_frame

    columns = {"kind": "", **VALUES, "n_runs": "Int64", "sd": "float64"}
    return build_frame(_list_lines(benchmark), ["system"], columns, bins=bins, outer=["dataset"])


def _list_lines(benchmark: Benchmark) -> Iterator[Record]:
    """Yield a line for each value, data set by data set, each with its published values last."""
    for dataset in benchmark.datasets:
        for line in _list_computed(dataset.comparison) if dataset.comparison else ():
            yield {**line, "dataset": dataset.name}
        for system in dataset.published:
            for figure in dataset.list_figures(system, benchmark.measures):
                place = {"dataset": dataset.name, "system": system, "bin": "", "kind": PUBLISHED}
                yield {**record_figure(figure), **record_measure(figure.measure), **place, "n_runs": None, "sd": None}


def _list_computed(comparison: Comparison) -> Iterator[Record]:
    """Yield a line for each value of the systems on a data set; of several runs of their mean."""
    runs_by_system = {runs.name: runs for runs in comparison.runs}
    files = {result.name: result.scores for result in comparison.results}
    for name, result in comparison.systems.items():
        runs = runs_by_system.get(name)
        spreads = (*runs.spreads, *runs.spreads_in_bins) if runs else ()
        sds = {(spread.bin, spread.measure.name): spread.sd for spread in spreads}
        parts = runs.results if runs else (name,)
        for line in list_values([result]):
            marks = comparison.marks(name, line["bin"]) or {}
            yield {
                **line,
                "n_runs": len(parts),
                "sd": sds.get((line["bin"], line["name"])),
                "mark": marks.get(line["name"]),
                "scores": ", ".join(files[part] for part in parts),
            }
