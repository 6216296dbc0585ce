"""Choose the pairs of systems to compare, test their differences, and adjust p for the number of tests."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from xmceval.comparison.comparison import Comparison
from xmceval.comparison.difference import Difference, RunsOf, RunSpread
from xmceval.comparison.options import Testing
from xmceval.comparison.paired import LEVEL, Resampling, detectable, holm, mean_of_runs, randomization_p, welch
from xmceval.comparison.sums import MetricSums, Pair, Runs
from xmceval.errors import Doubt, UsageError, argument, counted, listed, plural
from xmceval.files.io.paths import identify
from xmceval.files.shards import find_shards
from xmceval.kernels.metrics.sums import FEW_DIFFER
from xmceval.metrics.measure import Measure
from xmceval.report.result import Result
from xmceval.rows.shards import parts_of
from xmceval.rows.threads import default_threads
from xmceval.scoring.setup.resolve import System, are_runs, doubt_same_scores

FEWEST = 3  # runs per system that make the run the unit of a test


@dataclass(frozen=True)
class Systems:
    """Systems by name, with their runs, and the pairs (system, baseline) to compare, by number."""

    names: tuple[str, ...]
    runs: tuple[Runs, ...]  # of each system, by number
    scores: tuple[System, ...]  # one per run, in the order of the systems
    testing: Testing
    pairs: list[Pair]
    by_runs: list[Pair]  # pairs whose unit of test is the run
    overlapping: tuple[str, ...]  # one warning per pair that shares runs

    @classmethod
    def of(cls, systems: Sequence[System], testing: Testing, *, needs_pairs: bool = True) -> Systems:
        """Pair systems; without `needs_pairs`, a single system or a missing baseline is no error.

        A system whose scores are a list of matrices or paths has several runs.
        """
        runs: list[Runs] = []
        scores: list[System] = []
        identities: list[list[tuple[Path | int, ...]]] = []  # of the runs of each system
        for system in systems:
            keys = [identify(run.y_score) for run in system.runs]
            identities.append(keys)
            for i, run in enumerate(system.runs):
                if keys[i] in keys[:i]:  # the run would count twice
                    what = f"the file {run.y_score}" if isinstance(run.y_score, (str, Path)) else f"run {i + 1}"
                    raise UsageError(f"{what} is passed twice as a run of {system.name}; expected each run once")
            runs.append(tuple(range(len(scores), len(scores) + len(system.runs))))
            scores += system.runs
        called = [str(system.name) for system in systems]
        repeated = [name for i, name in enumerate(called) if name in called[:i]]
        if repeated:
            raise UsageError(f"several systems are named {repeated[0]!r}; expected a name of its own for each")
        pairs = list[Pair]()
        overlapping = list[str]()
        for pair in find_pairs(called, testing.against, needs_pairs=needs_pairs):
            warning, is_compared = _find_overlap([identities[i] for i in pair], [called[i] for i in pair])
            if is_compared:
                pairs.append(pair)
            if warning:
                overlapping.append(warning)
        if needs_pairs and not pairs:
            raise UsageError(f"no pair of systems is left to compare: {'; '.join(overlapping)}")
        by_runs = [pair for pair in pairs if min(len(runs[i]) for i in pair) >= FEWEST]
        return cls(tuple(called), tuple(runs), tuple(scores), testing, pairs, by_runs, tuple(overlapping))

    @property
    def by_rows(self) -> list[Pair]:
        """Pairs whose unit of test is the row."""
        return [pair for pair in self.pairs if pair not in self.by_runs]

    @property
    def by_single(self) -> dict[Pair, tuple[str, str]]:
        """Pairs of systems with one run each, by the numbers of these runs, with the names of the systems."""
        return {
            (self.runs[system][0], self.runs[baseline][0]): (self.names[system], self.names[baseline])
            for system, baseline in self.pairs
            if len(self.runs[system]) == len(self.runs[baseline]) == 1
        }

    @property
    def holds_rows(self) -> bool:
        """Whether the values of rows have to be held in memory."""
        return self.testing.holds_rows and bool(self.by_rows)

    def compare(
        self,
        results: tuple[Result, ...],
        sums: Sequence[MetricSums],
        of_labels: Sequence[Difference],
        *,
        threads: int | None,
        watch: Watch | None,
    ) -> Comparison:
        """Return the comparison, given the results by run and the sums of all metrics with per-row values.

        `of_labels` are the differences in label-wise metrics that are tested already.
        """
        places = [(name, figure.measure) for name, figures in results[0].by_bin.items() for figure in figures]
        numbers = [
            [figure.estimate.value for figures in result.by_bin.values() for figure in figures] for result in results
        ]
        values = [list(zip(*(numbers[run] for run in runs), strict=True)) for runs in self.runs]  # by system and place
        nouns = results[0].nouns
        of_runs = [
            Difference(
                measure,
                self.names[system],
                self.names[baseline],
                **asdict(welch(ours, theirs)),
                n=len(ours) + len(theirs),
                bin=bin_name,
                unit="run",
                nouns=nouns,
            )
            for system, baseline in self.by_runs
            for (bin_name, measure), ours, theirs in zip(places, values[system], values[baseline], strict=True)
        ]
        with_runs = list[RunsOf]()
        n_measures = len(results[0].figures)
        for name, runs, of_system in zip(self.names, self.runs, values, strict=True):
            if len(runs) > 1:
                spreads = tuple(
                    RunSpread(
                        measure,
                        mean_of_runs(values_of_runs),
                        _deviation(values_of_runs),
                        min(values_of_runs),
                        max(values_of_runs),
                        bin_name,
                    )
                    for (bin_name, measure), values_of_runs in zip(places, of_system, strict=True)
                )
                names = tuple(results[run].name for run in runs)
                with_runs.append(RunsOf(name, names, spreads[:n_measures], spreads[n_measures:]))
        untested = Comparison(results, (), self.testing, runs=tuple(with_runs))
        systems = [*untested.systems.values()]  # means for systems with several runs
        others = [*of_labels, *of_runs]
        differences, why_not = find_differences(systems, self.pairs, sums, self.testing, threads, watch, others)
        singles = [self.scores[runs[0]] for runs in self.runs if len(runs) == 1]
        same_files = doubt_same_scores(singles, nouns.row)
        return replace(untested, differences=differences, warnings=(*self.overlapping, *same_files, *why_not))


def _find_overlap(pair: Sequence[Sequence[Any]], names: Sequence[str]) -> tuple[str, bool]:
    """Return a warning if the systems of a pair share runs, and whether they are compared nevertheless.

    A system is not compared with one of its runs. `pair` has the identities of the runs of both.
    """
    n_shared = sum(run in pair[1] for run in pair[0])
    sizes = [len(runs) for runs in pair]
    if not n_shared or sizes == [1, 1]:
        return "", True
    if min(sizes) == 1:
        part, whole = names if sizes[0] == 1 else reversed(names)
        return f"{whole} and {part} are not compared: {part} is one of the runs of {whole}", False
    shared = counted(n_shared, "run")
    return Doubt(f"{' and '.join(names)} share {shared}, but their test assumes independent runs"), True


def find_pairs(names: Sequence[str], against: str | None, *, needs_pairs: bool = True) -> list[Pair]:
    """Return the pairs (system, baseline) to compare, by number: all, with the earlier system as baseline.

    With `against`, only the pairs with this baseline. Without `needs_pairs`, there may be none.
    """
    if needs_pairs and len(names) < 2:
        raise UsageError(f"a comparison needs at least two systems, got {f'only {names[0]}' if names else 'none'}")
    if needs_pairs and against is not None and against not in names:
        raise UsageError(f"{argument('against', against)}: the systems are {listed(names)}")
    if against is None:
        return [(later, earlier) for earlier, later in itertools.combinations(range(len(names)), 2)]
    return [(system, names.index(against)) for system, name in enumerate(names) if against in names and name != against]


def _deviation(values: Sequence[float]) -> float:
    """Return the sample standard deviation; NaN where an empty bin has no values."""
    if any(map(math.isnan, values)):
        return math.nan
    return statistics.stdev(values)


def check_lists(y_true: Any, systems: Sequence[System]) -> None:
    """Refuse a list that could be either the runs of a system or its shards."""
    n_shards = len(parts_of(find_shards(y_true)))
    if n_shards == 1:
        return
    for system in systems:
        is_list = are_runs(system.y_score) and len(system.y_score) == n_shards
        if is_list and all(len(parts_of(find_shards(run))) == 1 for run in system.y_score):
            raise UsageError(
                f"{system.name}: the truth has {n_shards} shards, so that a list of {n_shards} may be shards or runs "
                "(hint: pass xmceval.Shards([...]) for shards, and for runs a list of such)"
            )


BYTES = 16  # per row: a numerator and a denominator


@dataclass(frozen=True)
class Cost:
    """The cost of randomization: number of tests, resamples and rows per test, and bytes of their values."""

    n_tests: int
    n_resamples: int
    n_rows: int
    n_bytes: int
    noun: str = "instance"  # of a row

    @property
    def steps(self) -> int:
        """Upper bound on the rows drawn: if they take few distinct values, counts of these are drawn instead."""
        return self.n_tests * self.n_resamples * self.n_rows

    def __str__(self) -> str:
        tests = f"{counted(self.n_tests, 'test')} of {counted(self.n_resamples, 'resample')}"
        memory = f", whose values take {self.n_bytes / 1e6:,.0f} MB" if self.n_bytes >= 1e6 else ""
        return f"randomization: {tests} of {counted(self.n_rows, self.noun)}{memory}"


Watched = AbstractContextManager[Callable[[int], None] | None]
# Called with the cost before resampling starts; returns a callback for the number of finished resamples.
Watch = Callable[[Cost], Watched]


def find_differences(
    systems: Sequence[Result],
    pairs: Sequence[Pair],
    sums: Sequence[MetricSums],
    testing: Testing,
    threads: int | None,
    watch: Watch | None,
    others: Sequence[Difference] = (),
) -> tuple[tuple[Difference, ...], list[str]]:
    """Test the differences between systems; return them with facts about rows, and one per reason for not testing.

    Differences over all labels, tested or not, are in the order of the pairs and metrics; differences in bins follow.
    Systems have the means over their runs; `others` are tested already, of label-wise metrics or over runs; pairs are
    (system, baseline) by number; `watch` shows the cost and progress of resampling.
    """
    nouns = systems[0].nouns
    names = [result.name for result in systems]
    are_tested = {difference.pair for difference in others if difference.unit == "run"}
    by_rows = [pair for pair in pairs if (names[pair[0]], names[pair[1]]) not in are_tested]
    held = [metric for metric in sums if metric.held is not None]
    watching: Watched = nullcontext()
    if watch is not None and held and by_rows:
        n_rows = max(metric.count(*pair).n for metric in held for pair in by_rows)
        n_values = sum(len(metric.sums) for metric in held) * n_rows
        watching = watch(Cost(len(held) * len(by_rows), testing.resamples, n_rows, BYTES * n_values, nouns.row))
    tested = list[Difference]()
    notes = list[str]()
    with watching as progress:
        resampling = Resampling(testing.resamples, testing.seed, threads or default_threads(), progress)
        for (system, baseline), metric in itertools.product(by_rows, sums):
            test = metric.difference(system, baseline)
            if test is None:
                continue
            if metric.held is not None and test.p is not None:
                if test.n_differing is None or test.n_differing > FEW_DIFFER:
                    a, b = (metric.rows(metric.held, number) for number in (system, baseline))
                    test = replace(test, p=randomization_p(a, b, resampling))
                elif progress is not None:  # p is exact if few rows differ
                    progress(testing.resamples)
            counts = metric.count(system, baseline)
            if metric.measure.skips_rows and counts.n_one_sided and not metric.bin:
                only = f"{counted(counts.n_one_sided, nouns.row)} with a value in only one of"
                notes.append(f"{metric.measure} counts {only} {names[baseline]} and {names[system]}")
            tested.append(
                Difference(
                    metric.measure,
                    names[system],
                    names[baseline],
                    **asdict(test),
                    n=counts.n,
                    wins=counts.wins,
                    ties=counts.ties,
                    losses=counts.losses,
                    bin=metric.bin,
                    nouns=nouns,
                )
            )
    empty = {part.bin.name for part in systems[0].slices if part.bin.is_empty}
    # Adjusted together within each metric, or over all metrics.
    differences = [difference for difference in (*tested, *others) if difference.bin not in empty]
    families: dict[Any, dict[int, float]] = {}  # p by the number of the difference
    for i, difference in enumerate(differences):
        if difference.p is not None:
            family: Any = (difference.measure.name, difference.bin)
            if testing.adjust_over == "all":
                family = ()
            if testing.adjust == "none":
                family = i
            families.setdefault(family, {})[i] = difference.p
    adjusted = list(differences)
    for members in families.values():
        ps = dict[int, float]()
        if testing.adjust == "holm":
            ps = dict(zip(members, holm([*members.values()]), strict=True))
        for i in members:
            difference = differences[i]
            smallest = None
            is_by_t = difference.unit == "run" or testing.test == "t"
            if is_by_t and difference.error is not None and difference.degrees is not None:
                smallest = detectable(difference.error, difference.degrees, len(members))
            adjusted[i] = replace(difference, p_adjusted=ps.get(i), detectable=smallest)
    disagreeing = [difference.measure.name for difference in adjusted if _disagree(difference)]
    if disagreeing:
        measures = listed(dict.fromkeys(disagreeing), "and")
        notes.append(f"{measures}: p and the interval disagree on whether there is a difference; the verdict follows p")
    ordered, untested = _order_pairs(adjusted, systems, pairs, {metric.measure for metric in sums})
    return ordered, [*notes, *untested]


def _disagree(difference: Difference) -> bool:
    """Return whether the interval of a label-wise metric, which other draws give, says other than p."""
    if not difference.test or difference.p is None or difference.low is None or difference.high is None:
        return False
    return (difference.p < LEVEL) == (difference.low <= 0 <= difference.high)


def _order_pairs(
    tested: Sequence[Difference],
    systems: Sequence[Result],
    pairs: Sequence[Pair],
    of_rows: Collection[Measure],
) -> tuple[tuple[Difference, ...], list[str]]:
    """Add the untested differences, with warnings; `of_rows` are the measures with per-row values."""
    by_key = {difference.key: difference for difference in tested if not difference.bin}
    differences = list[Difference]()
    untested = dict[str, dict[str, None]]()
    nouns = systems[0].nouns
    for system, baseline in pairs:
        for figure, other in zip(systems[system].figures, systems[baseline].figures, strict=True):
            gap = figure.estimate.value - other.estimate.value
            names = systems[system].name, systems[baseline].name
            difference = Difference(figure.measure, *names, gap, nouns=nouns)
            difference = by_key.get(difference.key, difference)
            differences.append(difference)
            if difference.p is not None:
                continue
            if difference.unit == "run":
                why = "the runs of each system are all alike"
            elif difference.test:
                why = f"the difference does not depend on how {plural(nouns.row)} are weighted"
            elif figure.measure not in of_rows:
                means = f"only means over {plural(nouns.row)} and most rates of labels in single runs have them"
                why = f"{means}, or any metric of {FEWEST} runs of each system"
            else:
                why = f"there is only one {nouns.row}" if difference.n else "a system has nothing to divide by"
            untested.setdefault(why, {})[figure.name] = None
    differences += (difference for difference in tested if difference.bin)
    warnings = [f"no test and no interval for {listed(names)}: {why}" for why, names in untested.items()]
    return tuple(differences), warnings
