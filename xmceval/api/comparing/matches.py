"""Matches: which pairs of systems are compared, by rows or by runs, and the comparison that comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xmceval.api.comparing.pairtests import PairTests, Watch, adjust
from xmceval.api.comparing.runs import Lineup
from xmceval.api.scoring.setup import Named
from xmceval.errors import Doubt, UsageError, argument, listed
from xmceval.files.arrays.npypairs import identify
from xmceval.files.io.shardfiles import find_shards
from xmceval.metrics.measure import Measure
from xmceval.report.compared import Difference
from xmceval.report.comparison import Comparison
from xmceval.report.result import Result
from xmceval.rows.threads import default_threads
from xmceval.scoring.comparing.pairsums import Output, all_pairs
from xmceval.scoring.comparing.testoptions import Testing


@dataclass(frozen=True)
class Matches:
    """The pairs of systems that are compared, each as (system, baseline) by number."""

    lineup: Lineup
    testing: Testing
    pairs: list[tuple[int, int]]
    by_rows: list[tuple[int, int]]  # the pairs whose unit of test is the row
    by_runs: list[tuple[int, int]]  # the pairs whose unit of test is the run
    overlapping: tuple[str, ...] = ()  # a warning of each pair that shares runs

    @classmethod
    def of(cls, systems: Sequence[Named], testing: Testing, *, needs_pairs: bool = True) -> Matches:
        """Match systems; without `needs_pairs`, a single one, or a baseline that is missing, is no error."""
        lineup = Lineup.of(systems)
        find = find_pairs if needs_pairs else list_pairs
        pairs, overlapping = lineup.without_parts(find(lineup.names, testing))
        if needs_pairs and not pairs:
            raise UsageError(f"no pair of systems is left to compare: {'; '.join(overlapping)}")
        by_runs = lineup.by_runs(pairs)
        by_rows = [pair for pair in pairs if pair not in by_runs]
        return cls(lineup, testing, pairs, by_rows, by_runs, tuple(overlapping))

    @property
    def holds_rows(self) -> bool:
        """Whether the values of rows have to be held in memory."""
        return self.testing.holds_rows and len(self.by_rows) > 0

    def compare(
        self,
        results: tuple[Result, ...],
        outputs: Sequence[Output],
        *,
        threads: int | None = None,
        watch: Watch | None = None,
    ) -> Comparison:
        """Return the comparison: results are by run, outputs those of all metrics that have values of rows."""
        lineup, testing = self.lineup, self.testing
        tests = PairTests(lineup.names, self.by_rows, testing, threads or default_threads(), watch)
        of_runs = lineup.differences(results, self.by_runs)
        tested = adjust([*tests.differences(outputs), *of_runs], testing)
        measures = [figure.measure for figure in results[0].figures]
        differences = [
            *in_order(tested, measures, lineup.names, lineup.means(results), self.pairs),
            *(difference for difference in tested if difference.bin),
        ]
        warnings = *self.overlapping, *_warn_of_files(lineup), *warn_of_untested(differences, outputs)
        return Comparison(results, tuple(differences), testing, warnings, tuple(lineup.spreads(results)))


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


def _warn_of_files(lineup: Lineup) -> Iterator[str]:
    """Warn of files, or of matrices in memory, that are several systems."""
    seen: dict[tuple[Path | int, ...], str] = {}
    for system in (lineup.runs[group[0]] for group in lineup.groups if len(group) == 1):
        keys = identify(find_shards(system.y_score))
        if keys in seen:
            one, several = ("file", "files") if isinstance(keys[0], Path) else ("matrix", "matrices")
            same = one if len(keys) == 1 else several
            yield Doubt(f"{seen[keys]} and {system.name} are the same {same}: they tie on every instance")
        seen[keys] = str(system.name)


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
