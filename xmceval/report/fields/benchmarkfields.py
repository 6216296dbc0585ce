"""The fields of what ``benchmark`` writes: each data set as ``compare`` writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from xmceval.report.benchmark import PUBLISHED
from xmceval.report.fields.comparefields import COMPARE, TESTING
from xmceval.report.fields.field import (
    NUMBER,
    PLAIN,
    UNLESS_EMPTY,
    WHOLE,
    Field,
    Fields,
    by,
    document,
    inside,
    many,
    record,
)
from xmceval.report.fields.gatefields import OUTCOMES
from xmceval.report.fields.lines import VALUES, list_values
from xmceval.report.fields.scorefields import TRUTH
from xmceval.scoring.summary import Figure
from xmceval.version import BENCHMARK_SCHEMA

if TYPE_CHECKING:
    from xmceval.report.benchmark import Benchmark, DatasetOutcome
    from xmceval.report.comparison import Comparison
    from xmceval.report.result import Result


CELL = record(
    system=PLAIN,
    status=PLAIN,
    why=UNLESS_EMPTY,
    n_runs=WHOLE,
)

PUBLISHED_ROW = record(system=PLAIN, method=PLAIN, metrics=by(NUMBER), suspect=UNLESS_EMPTY)


def _list_published(dataset: DatasetOutcome) -> list[dict[str, Any]]:
    return [
        {"system": name, "method": row.method, "metrics": row.values, "suspect": row.suspect}
        for name, row in dataset.published.items()
    ]


DATASET = record(
    name=PLAIN,
    catalogue=UNLESS_EMPTY.of("entry"),
    cells=many(CELL),
    published=many(PUBLISHED_ROW).of(_list_published),
    notes=many(PLAIN),
    comparison=COMPARE.record,
)


BENCHMARK = document(
    BENCHMARK_SCHEMA,
    {
        "version": TRUTH["version"],
        "file": UNLESS_EMPTY,
        **inside("testing", TESTING),
        "metrics": many(PLAIN).of(lambda benchmark: [each.name for each in benchmark.measures]),
        "systems": many(record(name=PLAIN, published=PLAIN)).of(
            lambda benchmark: [{"name": each, "published": each in benchmark.published} for each in benchmark.systems]
        ),
        "datasets": many(DATASET),
        "warnings": many(PLAIN),
        "gates": OUTCOMES.of(lambda benchmark: benchmark.gates or None),
    },
)


class BenchmarkLine(NamedTuple):
    """A value of a system on a data set; a published one has no result."""

    dataset: str
    system: str
    figure: Figure
    kind: str
    bin: str = ""
    result: Result | None = None
    scores: str | None = None
    n_runs: int | None = None
    sd: float | None = None
    mark: str | None = None


def _unless_published(fields: Fields, *names: str) -> dict[str, Field]:
    """Return fields of what only values that were computed have."""

    def of_result(find: Callable[[Any], Any]) -> Callable[[BenchmarkLine], Any]:
        return lambda line: None if line.result is None else find(line)

    return {name: fields[name].of(of_result(fields[name].finder(name))) for name in names}


LINES = {
    "dataset": PLAIN,
    "system": PLAIN,
    **{name: VALUES[name] for name in ("metric", "k", "bin")},
    "kind": PLAIN,
    **{name: VALUES[name] for name in ("value", "low", "high", "ceiling", "tie_low", "tie_high", "undefined")},
    "n_runs": WHOLE,
    "sd": NUMBER,
    "mark": PLAIN,
    **{name: VALUES[name] for name in ("unit", "higher_is_better")},
    **_unless_published({**VALUES, "n_instances": TRUTH["n_instances"].of("result.counts.n_instances")}, "n_instances"),
    **_unless_published(VALUES, "n_labels", "truth"),
    "scores": PLAIN,
    **_unless_published(VALUES, "propensities", "options", "version"),
}


def list_benchmark_values(benchmark: Benchmark) -> Iterator[BenchmarkLine]:
    """Yield a line for each value, data set by data set, each with its published values last."""
    for dataset in benchmark.datasets:
        if dataset.comparison is not None:
            yield from _list_computed(dataset.name, dataset.comparison)
        for system in dataset.published:
            figures = dataset.list_figures(system, benchmark.measures)
            yield from (BenchmarkLine(dataset.name, system, figure, PUBLISHED) for figure in figures)


def _list_computed(dataset: str, comparison: Comparison) -> Iterator[BenchmarkLine]:
    """Yield a line for each value of the systems on a data set; of several runs of their mean."""
    runs = {each.name: each for each in comparison.runs}
    files = {each.name: each.scores for each in comparison.results}
    for name, result in comparison.systems.items():
        own = runs.get(name)
        spreads = (*own.spreads, *own.spreads_in_bins) if own else ()
        sds = {(each.bin, each.measure.name): each.sd for each in spreads}
        scores = ", ".join(files[each] for each in (own.results if own else (name,)))
        n_runs = len(own.results) if own else 1
        for line in list_values([result]):
            marks: Mapping[str, str] = comparison.marks(name, line.bin) or {}
            key = line.bin, line.figure.name
            yield BenchmarkLine(
                *(dataset, name, line.figure, line.figure.kind, line.bin, result, scores),
                *(n_runs, sds.get(key), marks.get(line.figure.name)),
            )
