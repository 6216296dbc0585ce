"""What programs read of a benchmark: a JSON document, and CSV lines and frames with one line per value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from xmceval.benchmarks.outcome import PUBLISHED, Benchmark, DatasetOutcome
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
    find_numbers,
    inside,
    many,
    record,
)
from xmceval.report.fields.gatefields import OUTCOMES
from xmceval.report.fields.lines import VALUES, list_values
from xmceval.report.fields.scorefields import FIGURE, TRUTH
from xmceval.report.forms.csv import write_values
from xmceval.scoring.summary import Figure
from xmceval.version import BENCHMARK_SCHEMA

if TYPE_CHECKING:
    from pandas import DataFrame

    from xmceval.report.comparison import Comparison
    from xmceval.report.result import Result

CELL = record(system=PLAIN, status=PLAIN, why=UNLESS_EMPTY, n_runs=WHOLE)
PUBLISHED_ROW = record(system=PLAIN, metrics=by(NUMBER))


def _list_published(dataset: DatasetOutcome) -> list[dict[str, Any]]:
    return [{"system": name, "metrics": values} for name, values in dataset.published.items()]


def _list_systems(benchmark: Benchmark) -> list[dict[str, Any]]:
    return [
        {"name": name, "published": name in benchmark.published, "source": benchmark.published.get(name)}
        for name in benchmark.systems
    ]


DATASET = record(
    name=PLAIN,
    catalogue=UNLESS_EMPTY,
    why=UNLESS_EMPTY,
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
        "metrics": many(PLAIN).of(lambda benchmark: [measure.name for measure in benchmark.measures]),
        "systems": many(record(name=PLAIN, published=PLAIN, source=UNLESS_EMPTY)).of(_list_systems),
        "datasets": many(DATASET),
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
    """Return fields that only values with a result have."""

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


def write_csv(benchmark: Benchmark) -> str:
    """Write the values of a benchmark as CSV in long form, one line per value."""
    return write_values(LINES, _list_lines(benchmark))


def make_frame(benchmark: Benchmark, *, bins: bool = False) -> DataFrame:
    """Make a frame with one line per value, indexed by dataset, metric, k and system."""
    from xmceval.report.forms.frame import build_frame

    columns = ["kind", *find_numbers(FIGURE), "n_runs", "sd"]
    return build_frame(LINES, _list_lines(benchmark), ["system"], columns, bins=bins, outer=["dataset"])


def _list_lines(benchmark: Benchmark) -> Iterator[BenchmarkLine]:
    """Yield a line for each value, data set by data set, each with its published values last."""
    for dataset in benchmark.datasets:
        if dataset.comparison is not None:
            yield from _list_computed(dataset.name, dataset.comparison)
        for system in dataset.published:
            figures = dataset.list_figures(system, benchmark.measures)
            yield from (BenchmarkLine(dataset.name, system, figure, PUBLISHED) for figure in figures)


def _list_computed(dataset: str, comparison: Comparison) -> Iterator[BenchmarkLine]:
    """Yield a line for each value of the systems on a data set; of several runs of their mean."""
    runs_by_system = {runs.name: runs for runs in comparison.runs}
    files = {result.name: result.scores for result in comparison.results}
    for name, result in comparison.systems.items():
        runs = runs_by_system.get(name)
        spreads = (*runs.spreads, *runs.spreads_in_bins) if runs else ()
        sds = {(spread.bin, spread.measure.name): spread.sd for spread in spreads}
        parts = runs.results if runs else (name,)
        for line in list_values([result]):
            marks: Mapping[str, str] = comparison.marks(name, line.bin) or {}
            yield BenchmarkLine(
                dataset,
                name,
                line.figure,
                line.figure.kind,
                line.bin,
                result,
                scores=", ".join(files[part] for part in parts),
                n_runs=len(parts),
                sd=sds.get((line.bin, line.figure.name)),
                mark=marks.get(line.figure.name),
            )
