"""The fields of what ``benchmark`` writes: each data set as ``compare`` writes it, and what these come to together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from xmceval.report.benchmark import FAILED, MISSING, PUBLISHED, SCORED
from xmceval.report.fields.comparefields import COMPARE, TESTING
from xmceval.report.fields.field import (
    Field,
    Fields,
    by,
    count,
    document,
    flag,
    inside,
    many,
    maybe,
    number,
    record,
    several,
    share,
    text,
    unless_empty,
    whole,
)
from xmceval.report.fields.gatefields import OUTCOMES
from xmceval.report.fields.lines import MEASURE, VALUES, list_values
from xmceval.report.fields.scorefields import TRUTH
from xmceval.scoring.comparing.testoptions import MARKS
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.summary import Figure
from xmceval.version import BENCHMARK_SCHEMA

if TYPE_CHECKING:
    from xmceval.report.benchmark import Benchmark, DatasetOutcome
    from xmceval.report.comparison import Comparison
    from xmceval.report.result import Result
    from xmceval.statistics.across import Across

RANK = "rank"
NAME, SYSTEM_NAME = text("Its name."), text("The system.")
UNTESTED, TWO = "where nothing is tested across data sets", "of two systems"


CELL = record(
    "A system on the data set.",
    system=SYSTEM_NAME,
    status=text("How it came about.", (SCORED, PUBLISHED, MISSING, FAILED)),
    why=unless_empty(text("Why it is missing, or could not be scored."), "where it has values"),
    n_runs=count("From how many runs its values are."),
)

PUBLISHED_ROW = record(
    "A published row.",
    system=SYSTEM_NAME,
    method=text("The method, as it is published."),
    metrics=by("canonical name", "Values.", share("A fraction of 1.")),
    suspect=unless_empty(text("Why some value is probably wrong."), "where nothing is suspect"),
)


def _list_published(dataset: DatasetOutcome) -> list[dict[str, Any]]:
    return [
        {"system": name, "method": row.method, "metrics": row.values, "suspect": row.suspect}
        for name, row in dataset.published.items()
    ]


DATASET = record(
    "A data set.",
    name=NAME,
    catalogue=unless_empty(text("Its name in the catalogue."), "where it is not in it").of("entry"),
    cells=many("One per system.", CELL),
    published=many("The published rows that are shown.", PUBLISHED_ROW).of(_list_published),
    notes=many("Such as which metrics it lacks, and why.", text("A note.")),
    comparison=maybe(COMPARE.record, "where no system has values"),
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


ONE_RANK = number("The rank of a system, in their order; equal values share their mean rank.", minimum=1)
RANKS = record(
    "Ranks on a metric.",
    systems=many("Those with a value on each data set that has any.", SYSTEM_NAME),
    left_out=many("The others, and those with published values.", SYSTEM_NAME),
    mean=many("Their mean ranks.", ONE_RANK),
    by_dataset=by("data set", "Their ranks on each data set.", many("Their ranks.", ONE_RANK)),
)

WINS = record(
    "Two systems.",
    system=SYSTEM_NAME,
    other=text("The system that it is compared with."),
    wins=count("Data sets on which the system is ahead, of those on which both have a value."),
    ties=count("Data sets on which they are level."),
    losses=count("Data sets on which the other is ahead."),
)


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
    "Tests across data sets, of one value per system and data set.",
    datasets=many("Those with a value of any system.", text("A data set.")),
    systems=many("Those with a value on each of them.", SYSTEM_NAME),
    untested=unless_empty(text("Why nothing is tested."), "where something is"),
    friedman=maybe(
        record(
            "Friedman's test that all systems have equal ranks.",
            chi2=number("The statistic, corrected for ties.", minimum=0),
            f=maybe(number("F of Iman and Davenport.", minimum=0), "where it is infinite"),
            df=several("The degrees of freedom of F.", whole("Of systems."), whole("Of the rest.")),
            p=share("That of F."),
        ),
        f"{TWO}, and {UNTESTED}",
    ),
    nemenyi=maybe(
        record(
            "Nemenyi's test of all pairs.",
            critical_difference=number("Mean ranks so far apart are told apart at 5%.", minimum=0),
            groups=many("The largest groups in which no two are told apart.", many("Best first.", SYSTEM_NAME)),
            ahead=many(
                "The pairs that are told apart.", several("A pair.", text("The better system."), text("The other."))
            ),
        ),
        f"{TWO}, and {UNTESTED}",
    ),
    signed_ranks=many(
        "Wilcoxon's exact tests of signed ranks, where there is a baseline, or of two systems.",
        record(
            "The test of a system.",
            system=SYSTEM_NAME,
            baseline=text("The system that it is compared with."),
            p=share("Two-sided p value."),
            p_adjusted=share("The same, adjusted by Holm over the systems."),
        ),
    ),
    least_p_adjusted=maybe(share("The least that p_adjusted can be on so many data sets."), "without such tests"),
)

BENCHMARK = document(
    BENCHMARK_SCHEMA,
    "Systems compared on several data sets, and what these come to together.",
    {
        "version": TRUTH["version"],
        "file": unless_empty(text("The file that describes it."), "where it was passed as a dict"),
        **inside("testing", TESTING),
        "metrics": many("The columns, by canonical name.", text("A metric.")).of(
            lambda benchmark: [each.name for each in benchmark.measures]
        ),
        "systems": many(
            "All systems, in the order of the file.",
            record(
                "A system.",
                name=NAME,
                published=flag("Whether its values are published ones, which are neither ranked nor tested."),
            ),
        ).of(
            lambda benchmark: [{"name": each, "published": each in benchmark.published} for each in benchmark.systems]
        ),
        "datasets": many("One per data set, in the order of the file.", DATASET),
        "ranks": by("metric", "Ranks of systems over data sets.", RANKS).of(_by_metric(_find_ranks)),
        "wins": by("metric", "Who is ahead of whom.", many("One per pair.", WINS)).of(_by_metric(_list_wins)),
        "across": by("metric", "Tests across data sets.", ACROSS).of(_by_metric(_find_across)),
        "warnings": many(
            "What a reader must know before trusting the values, beside the warnings of the data sets.",
            text("A warning."),
        ),
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

    found = {name: maybe(fields[name], "of published values and ranks") for name in names}
    return {name: each.of(of_result(each.finder(name))) for name, each in found.items()}


LINES = {
    "dataset": text("The data set; empty for ranks over all data sets."),
    "system": SYSTEM_NAME,
    **{name: VALUES[name] for name in ("metric", "k", "bin")},
    "kind": text("`total`, or of a bin `share` or `average`; `published`; `rank`, the mean rank over data sets."),
    **{name: VALUES[name] for name in ("value", "low", "high", "ceiling", "tie_low", "tie_high", "undefined")},
    "n_runs": maybe(count("From how many runs the value is."), "of published values and ranks"),
    "sd": maybe(number("Standard deviation over the runs.", minimum=0), "of a single run"),
    "mark": maybe(
        text("How the system compares with the baseline of `against`.", MARKS), "of the baseline or without one"
    ),
    "unit": MEASURE["unit"].of(lambda line: RANK if line.kind == RANK else line.figure.measure.metric.unit),
    "higher_is_better": MEASURE["higher_is_better"].of(
        lambda line: line.kind != RANK and line.figure.measure.metric.higher_is_better
    ),
    **_unless_published({**VALUES, "n_instances": TRUTH["n_instances"].of("result.counts.n_instances")}, "n_instances"),
    **_unless_published(VALUES, "n_labels", "truth"),
    "scores": maybe(
        text("The files of its predictions, of runs one after the other."), "of published values and ranks"
    ),
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
