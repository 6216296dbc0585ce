"""Compare: which system is better, by how much, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from xmceval.api.comparing.pairtests import PairTests, Watch, adjust
from xmceval.api.comparing.runs import Lineup, check_lists
from xmceval.api.extras.choose import check_plots, choose_extras
from xmceval.api.extras.extra import Extra, Outcome, Scoring
from xmceval.api.scoring.score import score_systems
from xmceval.api.scoring.setup import Named, Setup
from xmceval.errors import UsageError, argument, listed, warn
from xmceval.files.arrays.npypairs import resolve
from xmceval.files.io.shardfiles import find_shards
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison, Difference
from xmceval.rows.shards import parts_of
from xmceval.rows.threads import Progress, default_threads
from xmceval.scoring.comparing.outputs import Output, collect_outputs
from xmceval.scoring.comparing.pairsums import Pairs, all_pairs
from xmceval.scoring.comparing.testoptions import Adjust, AdjustOver, Details, Test, Testing
from xmceval.scoring.observing.rowsinmemory import RowsInMemory
from xmceval.scoring.options import Options, specs


def compare(
    y_true: Any,
    systems: Mapping[str, Any],
    *,
    against: str | None = None,
    test: Test = "t",
    adjust: Adjust = "holm",
    adjust_over: AdjustOver = "metric",
    resamples: int = 10_000,
    seed: int = 0,
    overlap: bool = False,
    examples: int | None = None,
    texts: Any = None,
    save_rows: str | Path | None = None,
    save_labels: str | Path | None = None,
    plots: str | Iterable[str] = (),
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Compare systems on the same truth, row by row.

    Parameters
    ----------
    y_true : sparse matrix, array, path or shards [n_rows, n_labels]
        As in `score`.
    systems : mapping of str to matrix, path or shards
        The scores of at least two systems by name, each as in `score`, but a list of shards as ``Shards([...])``. A
        list of matrices or paths is one system that was trained several times: its values are means over its runs, and
        where both systems of a pair have at least three, the run is the unit of the test (Welch's t test), else the
        row.
    against : str, optional
        Compare with this system only; without it every pair is compared, the earlier system being the baseline.
    test : {"t", "randomization", "bootstrap"}
        The paired t test (by the delta method for ratios of sums); random signs of the rows' differences, with the
        interval of t; or the bootstrap, with the percentile interval: each row is drawn a Poisson number of times, and
        a resample in which a denominator is 0 is left out. Where fewer than 6 rows differ, or all differ alike, p is
        that of all exchanges of the two systems in these rows, and there is no interval; randomization still resamples
        from 6 such rows on.
    adjust : {"holm", "none", "tukey"}
        How p is adjusted for the number of pairs: Holm's method; not at all; or the randomized two-way Tukey test. The
        difference that is `detectable` by t is that for as many tests as Holm's method adjusts.
    adjust_over : {"metric", "all"}
        Holm over the pairs within each metric, or over all differences.
    resamples, seed : int
        Of the randomization, bootstrap and tukey. What is drawn depends on the seed, the resample and the row alone,
        and sums have a fixed order: the digits of p and of intervals are the same on every machine.
    overlap : bool
        Add `overlaps`: per pair and cutoff, how far the two lists agree, whose hits they are, and what both find
        together. Equal scores are ordered by label; any grade counts as true. Of systems with several runs, the mean
        over the pairs of runs.
    examples : int, optional
        Add `examples`: per pair, so many rows that the system loses most and wins most on the first metric that has
        values of rows, at its largest cutoff; for a ratio of sums these are the rows' own ratios.
    texts : path or sequence of str, optional
        The text of each row, for the examples; a file has one per line.
    save_rows : path, optional
        Write the values of every row there: .npz, .csv or .jsonl.
    save_labels : path, optional
        Write counts and values of every label there, as in `score`, and in .csv and .jsonl also the differences of each
        pair; `label_wins` then counts the labels that each system wins.
    plots : str or iterable of str
        Kinds of pictures to collect data for, which `comparison.plot` then draws: ``"rows"`` needs the rows of each
        pair by their values, ``"gain"`` hits by label, ``"calibration"`` hits by score. The other kinds need nothing
        beside the values.
    progress : callable, optional
        Called with a number of rows each time that many more are done.
    **options
        Any option of `score`.

    Returns
    -------
    Comparison
        A mapping: ``comparison["P@5", "b", "a"]`` is the difference of b minus a.

    Raises
    ------
    DataError
        Data that is wrong, or does not fit together, with its place.
    UsageError
        An argument that is wrong, fewer than two systems, or a name in `against` that is none of them.

    Warns
    -----
    XmcevalWarning
        What a reader must know before trusting the differences.

    Notes
    -----
    Sakai, Laboratory Experiments in Information Retrieval, 2018; for ratios of sums Cochran, Sampling Techniques, 1977,
    ch. 6. Where rows are the unit, nothing tells how much training again, with another seed, would change.

    Examples
    --------
    >>> import numpy as np
    >>> y_true = np.eye(6)
    >>> scores = {"a": np.eye(6)[::-1], "b": np.eye(6)}
    >>> found = compare(y_true, scores, k=1, metrics="P")
    >>> found["P@1", "b", "a"].difference, found["P@1", "b", "a"].wins
    (1.0, 6)
    """
    arguments = locals()
    unknown = set(options) - set(specs())
    if unknown:
        raise TypeError(f"compare() got an unexpected option {listed(sorted(unknown))}")
    if not isinstance(systems, Mapping):
        raise UsageError(
            f"systems must be a dict of scores by name, such as {{'a': ..., 'b': ...}}, got {type(systems).__name__}"
        )
    named = [Named(y_score, name) for name, y_score in systems.items()]
    check_lists(y_true, named)
    chosen, kinds = Options.of(options), check_plots(plots, has_pairs=True)
    details = Details.of(arguments)
    extras = choose_extras(chosen, named, details=details, plots=kinds, save_rows=save_rows, save_labels=save_labels)
    setup = Setup.of(y_true, chosen, named, needs_counts=any(each.needs_counts for each in extras))
    comparison = compare_systems(setup, named, Testing.of(arguments), extras, progress=progress)
    warn(dict.fromkeys([*comparison.warnings, *(line for each in comparison.results for line in each.warnings)]))
    return comparison


class PairedRows(Extra):
    """Sum the values of rows that tests of pairs of systems need, or keep them for those that resample rows."""

    def __init__(self, pairs: Sequence[tuple[int, int]], *, holds_rows: bool) -> None:
        self._of_pairs = pairs
        self._held = RowsInMemory() if holds_rows else None

    def start(self, scoring: Scoring, files: ExitStack) -> None:  # noqa: ARG002 - extras share one signature
        """Make the observers."""
        n_bins = scoring.opened[0].terms.n_bins
        self._pairs = Pairs(scoring.setup.program, n_bins, scoring.groups, self._of_pairs)
        self.observers = [self._pairs, *([] if self._held is None else [self._held])]

    def outputs(self, outcome: Outcome) -> list[Output]:
        """Return what is known of each metric that has values of rows."""
        scoring = outcome.scoring
        bins = scoring.opened[0].terms.bins
        return collect_outputs(scoring.setup.program, outcome.totals, scoring.groups, self._pairs, self._held, bins)


def compare_systems(
    setup: Setup,
    systems: Sequence[Named],
    testing: Testing,
    extras: Sequence[Extra] = (),
    *,
    progress: Progress | None = None,
    watch: Watch | None = None,
    needs_pairs: bool = True,
) -> Comparison:
    """Compare systems on an opened truth; `watch` shows the cost of resampling, and how much of it is done.

    Without `needs_pairs`, a single system, or a baseline that is missing, gives results without differences.
    """
    lineup = Lineup.of(systems)
    names = lineup.names
    pairs, overlapping = lineup.without_parts(find_pairs(names, testing) if needs_pairs else list_pairs(names, testing))
    if needs_pairs and not pairs:
        raise UsageError(f"no pair of systems is left to compare: {'; '.join(overlapping)}")
    by_runs = lineup.by_runs(pairs)
    if by_runs and testing.adjust == "tukey":
        of_runs = listed(dict.fromkeys(names[each] for pair in by_runs for each in reversed(pair)))
        raise UsageError(
            f"{argument('adjust', 'tukey')} permutes rows, but {of_runs} are compared by runs (hint: use holm)"
        )
    by_rows = [pair for pair in pairs if pair not in by_runs]
    paired = PairedRows(by_rows, holds_rows=testing.holds_rows and len(by_rows) > 0)
    outcome = score_systems(
        *(setup, lineup.runs, [paired, *extras]), names=names, groups=lineup.groups, pairs=pairs, progress=progress
    )
    results, outputs = outcome.results, paired.outputs(outcome)
    tests = PairTests(names, by_rows, testing, setup.options.threads or default_threads(), watch)
    tested = adjust([*tests.differences(outputs), *lineup.differences(results, by_runs)], testing)
    measures = [figure.measure for figure in results[0].figures]
    differences = [
        *in_order(tested, measures, names, lineup.means(results), pairs),
        *(each for each in tested if each.bin),
    ]
    return Comparison(
        results,
        tuple(differences),
        testing,
        (*overlapping, *_warn_of_files(lineup), *warn_of_untested(differences, outputs, testing)),
        tuple(lineup.spreads(results)),
        overlaps=outcome.overlaps,
        examples=outcome.examples,
        label_wins=outcome.label_wins,
        densities=outcome.densities,
    )


def find_pairs(names: Sequence[str], testing: Testing) -> list[tuple[int, int]]:
    """Return the pairs (system, baseline) that are compared, by number."""
    if len(names) < 2:
        raise UsageError(f"a comparison needs at least two systems, got {listed(names) or 'none'}")
    if testing.against is not None and testing.against not in names:
        raise UsageError(f"against names {testing.against!r}, which is not one of the systems: {listed(names)}")
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
    """Yield the differences over all labels in the order of the metrics, those that are not tested too.

    Parameters
    ----------
    tested : sequence of Difference
    measures : sequence of Measure
    names : sequence of str
        Of the systems.
    values : sequence of sequence of float
        By system and metric.
    pairs : sequence of (system, baseline)
        By number.
    """
    by_key = {each.key: each for each in tested if not each.bin}
    for system, baseline in pairs:
        for measure, own, other in zip(measures, values[system], values[baseline], strict=True):
            plain = Difference(measure, names[system], names[baseline], own - other)
            yield by_key.get(plain.key, plain)


def _warn_of_files(lineup: Lineup) -> Iterator[str]:
    """Warn of files, or of matrices in memory, that are several systems."""
    seen: dict[tuple[Path | int, ...], str] = {}
    for each in (lineup.runs[group[0]] for group in lineup.groups if len(group) == 1):
        parts = parts_of(find_shards(each.y_score))
        keys = tuple(resolve(part) if isinstance(part, (str, Path)) else id(part) for part in parts)
        if keys in seen:
            one, several = ("file", "files") if isinstance(keys[0], Path) else ("matrix", "matrices")
            same = one if len(keys) == 1 else several
            yield f"{seen[keys]} and {each.name} are the same {same}: all of their rows tie"
        seen[keys] = str(each.name)


def warn_of_untested(differences: Sequence[Difference], outputs: Sequence[Output], testing: Testing) -> Iterator[str]:
    """Warn of metrics without a test, each with the reason."""
    of_rows = {each.measure.name for each in outputs}
    untested: dict[str, dict[str, None]] = {}
    for each in differences:
        if each.p is not None or each.bin:
            continue
        if each.unit == "run":
            why = "the runs of each system are all alike"
        elif each.measure.name not in of_rows:
            why = "they are not means over rows" if testing.test != "bootstrap" else "they are not resampled"
        else:
            why = "there is one row only" if each.n else "a system has nothing to divide by"
        untested.setdefault(why, {})[each.measure.name] = None
    for why, names in untested.items():
        yield f"no test and no interval for {listed(names)}: {why}"
