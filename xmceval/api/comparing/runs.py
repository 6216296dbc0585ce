"""Runs: systems that were trained several times, such as with other seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmceval.api.scoring.setup import Named
from xmceval.errors import Doubt, UsageError, counted
from xmceval.files.arrays.npypairs import resolve
from xmceval.files.io.shardfiles import find_shards
from xmceval.files.ranking.recordlines import is_by_query
from xmceval.report.compared import Difference, RunsOf, RunSpread
from xmceval.report.result import Result
from xmceval.rows.matrices.lists import is_pair
from xmceval.rows.shards import Shards, parts_of
from xmceval.scoring.summary import Figure
from xmceval.statistics.paired import mean_of_runs, welch

FEWEST = 3  # runs of both systems from which on the run is the unit of a test


@dataclass(frozen=True)
class Lineup:
    """Systems by name, and the runs that each consists of."""

    names: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]  # the runs of each system, by number
    runs: tuple[Named, ...]  # in the order of the systems

    @classmethod
    def of(cls, systems: Sequence[Named]) -> Lineup:
        """Take systems apart: one whose scores are a list of matrices or paths has several runs."""
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
        return cls(tuple(called), tuple(groups), tuple(runs))

    def sharing(self, pair: tuple[int, int]) -> list[str]:
        """Return the runs that both systems of a pair consist of."""
        ours, theirs = ([self.runs[run] for run in self.groups[number]] for number in pair)
        return [str(run.name) for run in ours if any(_are_same(run.y_score, other.y_score) for other in theirs)]

    def without_parts(self, pairs: Sequence[tuple[int, int]]) -> tuple[list[tuple[int, int]], list[str]]:
        """Leave out pairs of a system and one of its own runs; return the others, and a warning of each overlap."""
        kept, warnings = list[tuple[int, int]](), list[str]()
        for pair in pairs:
            system, baseline = (self.names[each] for each in pair)
            shared, sizes = self.sharing(pair), [len(self.groups[each]) for each in pair]
            if not shared or sizes == [1, 1]:
                kept.append(pair)
            elif min(sizes) == 1:
                part, whole = (system, baseline) if sizes[0] == 1 else (baseline, system)
                warnings.append(f"{whole} and {part} are not compared: {part} is one of the runs of {whole}")
            else:
                warnings.append(
                    Doubt(
                        f"{system} and {baseline} share {counted(len(shared), 'run')}, "
                        "but their test assumes independent runs"
                    )
                )
                kept.append(pair)
        return kept, warnings

    def by_runs(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the pairs in which both systems have enough runs for tests whose unit is the run."""
        return [pair for pair in pairs if min(len(self.groups[each]) for each in pair) >= FEWEST]

    def differences(self, results: Sequence[Result], pairs: Sequence[tuple[int, int]]) -> Iterator[Difference]:
        """Yield the differences of pairs by Welch's t test of the values of their runs: of all labels, then of bins."""
        figures = [list(_list_figures(result)) for result in results]
        for pair in pairs:
            system, baseline = (self.names[number] for number in pair)
            for i, (bin_name, figure) in enumerate(figures[0]):
                ours, theirs = ([figures[run][i][1].estimate.value for run in self.groups[number]] for number in pair)
                n = len(ours) + len(theirs)
                tested = welch(ours, theirs)
                yield Difference.of(figure.measure, (system, baseline), tested, n=n, bin=bin_name, unit="run")

    def means(self, results: Sequence[Result]) -> list[list[float]]:
        """Return the means of all metrics over the runs of each system."""
        values = [[figure.estimate.value for figure in result.figures] for result in results]
        return [list(map(mean_of_runs, zip(*[values[run] for run in group], strict=True))) for group in self.groups]

    def spreads(self, results: Sequence[Result]) -> Iterator[RunsOf]:
        """Yield how far the runs of each system that has several lie apart."""
        figures = [list(_list_figures(result)) for result in results]
        for name, group in zip(self.names, self.groups, strict=True):
            if len(group) == 1:
                continue
            spreads = [
                RunSpread.of(figure.measure, [figures[run][i][1].estimate.value for run in group], bin_name)
                for i, (bin_name, figure) in enumerate(figures[group[0]])
            ]
            in_total, in_bins = ([s for s in spreads if bool(s.bin) == is_bin] for is_bin in (False, True))
            yield RunsOf(name, tuple(results[run].name for run in group), tuple(in_total), tuple(in_bins))


def _list_figures(result: Result) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of all labels, with an empty name, then those of each bin with its name."""
    yield from (("", figure) for figure in result.figures)
    yield from ((part.bin.name, figure) for part in result.slices for figure in part.figures)


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


def are_runs(y_score: Any) -> bool:
    """Return whether scores are a list of matrices or paths: the runs of one system."""
    return (
        isinstance(y_score, (list, tuple))
        and len(y_score) > 0
        and all(
            isinstance(y, (str, Path, Shards)) or len(getattr(y, "shape", ())) == 2 or is_by_query(y) for y in y_score
        )
        and not is_pair(y_score, "y_score")
    )
