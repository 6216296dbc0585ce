"""The fields of what ``benchmark`` writes: each data set as ``compare`` writes it, and what these come to together."""

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
from xmceval.report.fields.lines import MEASURE, VALUES, list_values
from xmceval.report.fields.scorefields import TRUTH
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.summary import Figure
from xmceval.version import BENCHMARK_SCHEMA

if TYPE_CHECKING:
    from xmceval.report.benchmark import Benchmark, DatasetOutcome
    from xmceval.report.comparison import Comparison
    from xmceval.report.result import Result
    from xmceval.statistics.across import Across

RANK = "rank"


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


def _by_metric(find: Callable[[Benchmark, str], Any]) -> Callable[[Benchmark], dict[str, Any]]:
    """Return what finds something for each metric of a benchmark, by its name."""
    return lambda benchmark: {each.name: find(benchmark, each.name) for each in benchmark.measures}


def _name(benchmark: Benchmark, across: Across) -> tuple[list[str], list[str]]:
    """Return the names of the data sets and the systems of a test."""
    return [benchmark.datasets[i].name for i in across.datasets], [benchmark.systems[i] for i in across.systems]


def _find_ranks(benchmark: Benchmark, metric: str) -> dict[str, Any]:
    across = benchmark.across(metric)
    datasets, systems = _name(benchmark, across)
    left_out = [name for name in benchmark.systems if name not in systems]
    by_dataset = dict(zip(datasets, across.ranks, strict=True))
    return {"systems": systems, "left_out": left_out, "mean": across.mean_ranks, "by_dataset": by_dataset}


RANKS = record(systems=many(PLAIN), left_out=many(PLAIN), mean=many(NUMBER), by_dataset=by(many(NUMBER)))

WINS = record(system=PLAIN, other=PLAIN, wins=WHOLE, ties=WHOLE, losses=WHOLE)


def _list_wins(benchmark: Benchmark, metric: str) -> list[dict[str, Any]]:
    found = benchmark.wins(metric).items()
    return [{"system": system, "other": other, **each._asdict()} for (system, other), each in found]


def _find_across(benchmark: Benchmark, metric: str) -> dict[str, Any]:
    """Return the tests across data sets, with names for numbers."""
    across, names = benchmark.across(metric), benchmark.systems
    datasets, systems = _name(benchmark, across)
    nemenyi = across.nemenyi and {
        "critical_difference": across.nemenyi.critical_difference,
        "groups": [[names[i] for i in group] for group in across.nemenyi.groups],
        "ahead": [[names[i] for i in pair] for pair in across.nemenyi.ahead],
    }
    signed = [
        {"system": names[each.system], "baseline": names[each.baseline], "p": each.p, "p_adjusted": each.p_adjusted}
        for each in across.signed_ranks
    ]
    return {
        "datasets": datasets,
        "systems": systems,
        "untested": across.untested,
        "friedman": across.friedman,
        "nemenyi": nemenyi,
        "signed_ranks": signed,
        "least_p_adjusted": across.least_p if signed else None,
    }


ACROSS = record(
    datasets=many(PLAIN),
    systems=many(PLAIN),
    untested=UNLESS_EMPTY,
    friedman=record(chi2=NUMBER, f=NUMBER, df=many(WHOLE), p=NUMBER),
    nemenyi=record(critical_difference=NUMBER, groups=many(many(PLAIN)), ahead=many(many(PLAIN))),
    signed_ranks=many(record(system=PLAIN, baseline=PLAIN, p=NUMBER, p_adjusted=NUMBER)),
    least_p_adjusted=NUMBER,
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
        "ranks": by(RANKS).of(_by_metric(_find_ranks)),
        "wins": by(many(WINS)).of(_by_metric(_list_wins)),
        "across": by(ACROSS).of(_by_metric(_find_across)),
        "warnings": many(PLAIN),
        "gates": OUTCOMES.of(lambda benchmark: benchmark.gates or None),
    },
)


class BenchmarkLine(NamedTuple):
    """A value of a system on a data set; a published one, and a mean rank over all data sets, has no result."""

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
    "unit": MEASURE["unit"].of(lambda line: RANK if line.kind == RANK else line.figure.measure.metric.unit),
    "higher_is_better": MEASURE["higher_is_better"].of(
        lambda line: line.kind != RANK and line.figure.measure.metric.higher_is_better
    ),
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


def list_mean_ranks(benchmark: Benchmark) -> Iterator[BenchmarkLine]:
    """Yield a line for each mean rank."""
    for measure in benchmark.measures:
        for system, rank in benchmark.ranks(measure.name).items():
            yield BenchmarkLine("", system, Figure(measure, Estimate(rank)), RANK)


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
