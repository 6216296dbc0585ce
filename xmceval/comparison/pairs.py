"""Choose the pairs of systems to compare, group their runs, and build the Comparison."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xmceval.comparison.comparison import Comparison
from xmceval.comparison.difference import Difference, RunsOf, RunSpread
from xmceval.comparison.options import Testing
from xmceval.comparison.paired import Resampling, detectable, holm, mean_of_runs, randomization_p, welch
from xmceval.comparison.sums import Output, all_pairs
from xmceval.errors import Doubt, UsageError, argument, counted, listed
from xmceval.files.arrays.pairs import identify, resolve
from xmceval.files.shards import find_shards
from xmceval.kernels.metrics.sums import FEW_DIFFER
from xmceval.metrics.measure import Measure
from xmceval.report.result import Result
from xmceval.rows.shards import parts_of
from xmceval.rows.threads import default_threads
from xmceval.scoring.setup.truth import Named, are_runs
from xmceval.scoring.summary import Value

FEWEST = 3  # runs of both systems from which on the run is the unit of a test


@dataclass(frozen=True)
class Matches:
    """Systems by name with the runs of each, and the pairs (system, baseline) that are compared, by number."""

    names: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]  # the runs of each system, by number
    runs: tuple[Named, ...]  # in the order of the systems
    testing: Testing
    pairs: list[tuple[int, int]]
    by_runs: list[tuple[int, int]]  # the pairs whose unit of test is the run
    overlapping: tuple[str, ...]  # a warning of each pair that shares runs

    @classmethod
    def of(cls, systems: Sequence[Named], testing: Testing, *, needs_pairs: bool = True) -> Matches:
        """Match systems; without `needs_pairs`, a single one, or a baseline that is missing, is no error.

        A system whose scores are a list of matrices or paths has several runs.
        """
        groups: list[tuple[int, ...]] = []
        runs: list[Named] = []
        for system in systems:
            first = len(runs)
            if are_runs(system.y_score):
                _check_runs(system)
                n_runs = len(system.y_score)
                names = [system.name] if n_runs == 1 else [f"{system.name} ({i + 1})" for i in range(n_runs)]
                runs.extend(map(Named, system.y_score, names))
            else:
                runs.append(system)
            groups.append(tuple(range(first, len(runs))))
        called = [str(system.name) for system in systems]
        repeated = [name for i, name in enumerate(called) if name in called[:i]]
        if repeated:
            raise UsageError(f"several systems are named {repeated[0]!r}; expected a name of its own for each")
        pairs, overlapping = list[tuple[int, int]](), list[str]()
        for pair in (find_pairs if needs_pairs else list_pairs)(called, testing):
            both = [[runs[run] for run in groups[i]] for i in pair]
            warning, is_compared = _find_overlap(both, [called[i] for i in pair])
            pairs += [pair] if is_compared else []
            overlapping += [warning] if warning else []
        if needs_pairs and not pairs:
            raise UsageError(f"no pair of systems is left to compare: {'; '.join(overlapping)}")
        by_runs = [pair for pair in pairs if min(len(groups[i]) for i in pair) >= FEWEST]
        return cls(tuple(called), tuple(groups), tuple(runs), testing, pairs, by_runs, tuple(overlapping))

    @property
    def by_rows(self) -> list[tuple[int, int]]:
        """The pairs whose unit of test is the row."""
        return [pair for pair in self.pairs if pair not in self.by_runs]

    @property
    def holds_rows(self) -> bool:
        """Whether the values of rows have to be held in memory."""
        return self.testing.holds_rows and len(self.by_rows) > 0

    def compare(
        self, results: tuple[Result, ...], outputs: Sequence[Output], *, threads: int | None, watch: Watch | None
    ) -> Comparison:
        """Return the comparison: results are by run, outputs those of all metrics that have values of rows."""
        values = [list(_list_figures(result)) for result in results]  # by run: over all labels, then in each bin
        places = [(bin_name, figure.measure) for bin_name, figure in values[0]]
        by_system = [
            [[values[run][i][1].estimate.value for run in group] for i in range(len(places))] for group in self.groups
        ]
        of_runs = [
            Difference.of(
                measure,
                (self.names[system], self.names[baseline]),
                welch(ours, theirs),
                n=len(ours) + len(theirs),
                bin=bin_name,
                unit="run",
            )
            for system, baseline in self.by_runs
            for (bin_name, measure), ours, theirs in zip(places, by_system[system], by_system[baseline], strict=True)
        ]
        tested = find_differences(self.names, self.by_rows, outputs, self.testing, threads, watch, of_runs)
        measures = [figure.measure for figure in results[0].figures]
        means = [list(map(mean_of_runs, of_system[: len(measures)])) for of_system in by_system]
        differences = [
            *in_order(tested, measures, self.names, means, self.pairs),
            *(difference for difference in tested if difference.bin),
        ]
        runs = []
        for name, group, of_system in zip(self.names, self.groups, by_system, strict=True):
            if len(group) > 1:
                named = tuple(results[run].name for run in group)
                spreads = [
                    RunSpread(measure, mean_of_runs(own), statistics.stdev(own), min(own), max(own), bin_name)
                    for (bin_name, measure), own in zip(places, of_system, strict=True)
                ]
                runs.append(RunsOf(name, named, tuple(spreads[: len(measures)]), tuple(spreads[len(measures) :])))
        same_files = _warn_of_files([self.runs[group[0]] for group in self.groups if len(group) == 1])
        warnings = *self.overlapping, *same_files, *warn_of_untested(differences, outputs)
        return Comparison(results, tuple(differences), self.testing, warnings, tuple(runs))


def _find_overlap(pair: Sequence[Sequence[Named]], names: Sequence[str]) -> tuple[str, bool]:
    """Return a warning if both systems of a pair consist of the same runs, and whether they are compared all the same.

    A system and one of its own runs are not compared.
    """
    n_shared = sum(any(_are_same(run.y_score, other.y_score) for other in pair[1]) for run in pair[0])
    sizes = [len(runs) for runs in pair]
    if not n_shared or sizes == [1, 1]:
        return "", True
    if min(sizes) == 1:
        part, whole = names if sizes[0] == 1 else reversed(names)
        return f"{whole} and {part} are not compared: {part} is one of the runs of {whole}", False
    shared = counted(n_shared, "run")
    return Doubt(f"{' and '.join(names)} share {shared}, but their test assumes independent runs"), True


def _warn_of_files(systems: Sequence[Named]) -> Iterator[str]:
    """Warn of files, or of matrices in memory, that are several systems."""
    seen: dict[tuple[Path | int, ...], str] = {}
    for system in systems:
        keys = identify(find_shards(system.y_score))
        if keys in seen:
            one, several = ("file", "files") if isinstance(keys[0], Path) else ("matrix", "matrices")
            same = one if len(keys) == 1 else several
            yield Doubt(f"{seen[keys]} and {system.name} are the same {same}: they tie on every instance")
        seen[keys] = str(system.name)


def _list_figures(result: Result) -> Iterator[tuple[str, Value]]:
    """Yield the figures of all labels, with an empty name, then those of each bin with its name."""
    yield from (("", figure) for figure in result.figures)
    yield from ((part.bin.name, figure) for part in result.slices for figure in part.figures)


def find_pairs(names: Sequence[str], testing: Testing) -> list[tuple[int, int]]:
    """Return the pairs (system, baseline) that are compared, by number."""
    if len(names) < 2:
        raise UsageError(f"a comparison needs at least two systems, got {f'only {names[0]}' if names else 'none'}")
    if testing.against is not None and testing.against not in names:
        against = argument("against", testing.against)
        raise UsageError(f"{against}: the systems are {listed(names)}")
    return list_pairs(names, testing)


def list_pairs(names: Sequence[str], testing: Testing) -> list[tuple[int, int]]:
    """Return the pairs (system, baseline), by number, that there are; none without the baseline."""
    if testing.against is None:
        return all_pairs(len(names))
    return all_pairs(len(names), names.index(testing.against)) if testing.against in names else []


def in_order(
    tested: Sequence[Difference],
    measures: Sequence[Measure],
    names: Sequence[str],
    values: Sequence[Sequence[float]],
    pairs: Sequence[tuple[int, int]],
) -> Iterator[Difference]:
    """Yield the differences over all labels in the order of the metrics, also those that are not tested.

    `values` are by system and metric; `pairs` are (system, baseline) by number.
    """
    by_key = {difference.key: difference for difference in tested if not difference.bin}
    for system, baseline in pairs:
        for measure, value, baseline_value in zip(measures, values[system], values[baseline], strict=True):
            untested = Difference(measure, names[system], names[baseline], value - baseline_value)
            yield by_key.get(untested.key, untested)


def warn_of_untested(differences: Sequence[Difference], outputs: Sequence[Output]) -> Iterator[str]:
    """Warn of metrics without a test, each with the reason."""
    of_rows = {output.measure.name for output in outputs}
    untested: dict[str, dict[str, None]] = {}
    for difference in differences:
        if difference.p is not None or difference.bin:
            continue
        if difference.unit == "run":
            why = "the runs of each system are all alike"
        elif difference.measure.name not in of_rows:
            why = "they are not means over instances"
        else:
            why = "there is only one instance" if difference.n else "a system has nothing to divide by"
        untested.setdefault(why, {})[difference.measure.name] = None
    for why, names in untested.items():
        yield f"no test and no interval for {listed(names)}: {why}"


def check_lists(y_true: Any, systems: Sequence[Named]) -> None:
    """Refuse a list that could be the runs of a system as well as its shards."""
    n_shards = len(parts_of(find_shards(y_true)))
    for system in systems if n_shards > 1 else ():
        is_list = are_runs(system.y_score) and len(system.y_score) == n_shards
        if is_list and all(len(parts_of(find_shards(run))) == 1 for run in system.y_score):
            raise UsageError(
                f"{system.name}: beside a truth of {n_shards} shards, a list of {n_shards} may be shards or runs "
                "(hint: pass xmceval.Shards([...]) for shards, and for runs a list of such)"
            )


def _check_runs(system: Named) -> None:
    """Refuse a run that is passed twice, which would count twice."""
    for i, run in enumerate(system.y_score):
        if any(_are_same(run, other) for other in system.y_score[:i]):
            what = f"the file {run}" if isinstance(run, (str, Path)) else f"run {i + 1}"
            raise UsageError(f"{what} is passed twice as a run of {system.name}; expected each run once")


def _are_same(first: Any, second: Any) -> bool:
    """Return whether the scores of two systems or runs are the same file, pair of files or array."""
    if not (isinstance(first, (str, Path)) and isinstance(second, (str, Path))):
        return first is second
    return resolve(first) == resolve(second)


BYTES = 16  # of a row's value, which is a numerator and a denominator


@dataclass(frozen=True)
class Cost:
    """The cost of randomization: number of tests, resamples and rows of each, and bytes of their values."""

    n_tests: int
    n_resamples: int
    n_rows: int
    n_bytes: int

    @property
    def steps(self) -> int:
        """How many rows are drawn in all, at most: where rows take few values, these are counted instead."""
        return self.n_tests * self.n_resamples * self.n_rows

    def __str__(self) -> str:
        tests = f"{counted(self.n_tests, 'test')} of {counted(self.n_resamples, 'resample')}"
        memory = f", whose values take {self.n_bytes / 1e6:,.0f} MB" if self.n_bytes >= 1e6 else ""
        return f"randomization: {tests} of {counted(self.n_rows, 'instance')}{memory}"


# Called with the cost before resampling starts; it returns a callback for the number of resamples done.
Watch = Callable[[Cost], AbstractContextManager[Callable[[int], None] | None]]


def find_differences(
    names: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    outputs: Sequence[Output],
    testing: Testing,
    threads: int | None,
    watch: Watch | None,
    others: Sequence[Difference] = (),
) -> list[Difference]:
    """Test the outputs of systems, pair by pair, and adjust p for the number of tests, together with `others`.

    Pairs are (system, baseline) by number; `watch` shows the cost of resampling, and how much of it is done.
    """
    held = [output for output in outputs if output.rows is not None]
    watching: AbstractContextManager[Callable[[int], None] | None] = nullcontext()
    if watch is not None and held and pairs and testing.holds_rows:
        n_rows = max(output.n(*pair) for output in held for pair in pairs)
        n_values = sum(output.n_runs for output in held) * n_rows
        watching = watch(Cost(len(held) * len(pairs), testing.resamples, n_rows, BYTES * n_values))
    differences = []
    with watching as progress:
        resampling = Resampling(testing.resamples, testing.seed, threads or default_threads(), progress)
        for system, baseline in pairs:
            for output in outputs:
                tested = output.difference(system, baseline)
                if tested is None:
                    continue
                if output.rows is not None and testing.test != "t" and tested.p is not None:
                    if tested.n_differing is None or tested.n_differing > FEW_DIFFER:
                        p = randomization_p(output.rows(system), output.rows(baseline), resampling)
                        tested = replace(tested, p=p)
                    elif progress is not None:  # where few rows differ, p is exact
                        progress(testing.resamples)
                pair = names[system], names[baseline]
                n, record = output.n(system, baseline), output.record(system, baseline) or (None, None, None)
                differences.append(Difference.of(output.measure, pair, tested, n=n, bin=output.bin, record=record))
    return _adjust([*differences, *others], testing)


def _adjust(differences: Sequence[Difference], testing: Testing) -> list[Difference]:
    """Adjust p by Holm's method where that was asked for, and add the smallest difference detectable after it.

    Tests are adjusted together within each metric, or over all; without Holm's method each is alone.
    """
    families: dict[Any, list[int]] = {}
    for i, difference in enumerate(differences):
        if difference.p is not None:
            within = () if testing.adjust_over == "all" else (difference.measure.name, difference.bin)
            families.setdefault(within if testing.adjust == "holm" else i, []).append(i)
    adjusted = list(differences)
    for members in families.values():
        ps = holm([differences[i].p for i in members]) if testing.adjust == "holm" else [None] * len(members)
        for i, p in zip(members, ps, strict=True):
            own, smallest = differences[i], None
            is_by_t = own.unit == "run" or testing.test == "t"
            if is_by_t and own.error is not None and own.degrees is not None:
                smallest = detectable(own.error, own.degrees, len(members))
            adjusted[i] = replace(own, p_adjusted=p, detectable=smallest)
    return adjusted
