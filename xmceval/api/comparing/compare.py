"""Compare: which system is better, by how much, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from xmceval.api.comparing.matches import Matches
from xmceval.api.comparing.pairtests import Watch
from xmceval.api.comparing.runs import check_lists
from xmceval.api.matrixlike import MatrixLike
from xmceval.api.scoring.saving import NOTHING, Saving
from xmceval.api.scoring.score import score_opened
from xmceval.api.scoring.setup import Named, OpenedTruth, check_systems
from xmceval.errors import listed, warn
from xmceval.report.comparison import Comparison
from xmceval.rows.threads import Progress
from xmceval.scoring.comparing.outputs import Output, RunSums, collect_outputs
from xmceval.scoring.comparing.pairsums import Pairs, ValueColumns
from xmceval.scoring.comparing.testoptions import Adjust, AdjustOver, Test, Testing
from xmceval.scoring.observing.heldrows import HeldRows, RowBlock
from xmceval.scoring.observing.observers import GroupedRows, Observer
from xmceval.scoring.options import Options, specs
from xmceval.scoring.setup import Setup
from xmceval.scoring.totals import Totals


def compare(
    y_true: MatrixLike,
    systems: Mapping[str, MatrixLike],
    *,
    against: str | None = None,
    test: Test = "t",
    adjust: Adjust = "holm",
    adjust_over: AdjustOver = "metric",
    resamples: int = 10_000,
    seed: int = 0,
    rows: bool = False,
    save_rows: str | Path | None = None,
    force: bool = False,
    executor: Executor | None = None,
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
        row. Runs of the ranking field are ``{"a": {query: {document: score}}, ...}``.
    against : str, optional
        Compare with this system only; without it every pair is compared, the earlier system being the baseline.
    test : {"t", "randomization"}
        The paired t test (by the delta method for ratios of sums); or random signs of the rows' differences, with the
        interval of t. Where fewer than 6 rows differ, or all differ alike, p is that of all exchanges of the two
        systems in these rows, and there is no interval; randomization still resamples from 6 such rows on.
    adjust : {"holm", "none"}
        How p is adjusted for the number of pairs: by Holm's method, or not at all. The difference that is `detectable`
        by t is that for as many tests as Holm's method adjusts.
    adjust_over : {"metric", "all"}
        Holm over the pairs within each metric, or over all differences.
    resamples, seed : int
        Of the randomization. What is drawn depends on the seed, the resample and the row alone, and sums have a fixed
        order: the digits of p are the same on every machine.
    rows : bool
        Hold the values of every row in memory: each of `results` has them as ``rows``, as in `score`.
    save_rows : path, optional
        Write the values of every row there: .npz or .csv.
    force : bool
        Overwrite `save_rows`.
    executor : concurrent.futures.Executor, optional
        Score in parts, as in `score`; not for randomization.
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
        What puts the differences in doubt; see `score`.

    See Also
    --------
    compare_rows : From saved values of rows.
    score_all : Without tests.
    benchmark : On several data sets.
    check_worse : Whether a system became worse, for CI.

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
    unknown = set(options) - set(specs())
    if unknown:
        raise TypeError(f"compare() got an unexpected option {listed(sorted(unknown))}")
    check_systems(systems)
    named = [Named(y_score, name) for name, y_score in systems.items()]
    check_lists(y_true, named)
    chosen = Options.of(options)
    saving = Saving.of(chosen, named, rows=rows, save_rows=save_rows, force=force)
    truth = OpenedTruth.of(y_true, chosen, named, executor=executor)
    testing = Testing.of(
        {
            "against": against,
            "test": test,
            "adjust": adjust,
            "adjust_over": adjust_over,
            "resamples": resamples,
            "seed": seed,
        }
    )
    comparison = compare_systems(truth, named, testing, saving, progress=progress)
    warn(comparison.doubts)
    return comparison


class PairedRows:
    """Sums the values of rows that tests of pairs of systems need, and holds them for tests that resample rows."""

    def __init__(self, matches: Matches, setup: Setup) -> None:
        program = setup.program
        self._runs, self._program, self._groups = matches.lineup.groups, program, setup.groups
        self._columns = ValueColumns.of(program, setup.bins)
        names = () if setup.groups is None else setup.groups.names
        self._all, *of_groups = [Pairs(self._columns, self._runs, matches.by_rows) for _ in ("", *names)]
        self._of_groups = dict(zip(names, of_groups, strict=True))
        self._held = HeldRows(program.row_measures) if matches.holds_rows else None
        self.observers: list[Observer] = [
            self._all,
            *([] if setup.groups is None else [GroupedRows(setup.groups, of_groups)]),
            *([] if self._held is None else [self._held]),
        ]

    def outputs(self, totals: Sequence[Totals]) -> list[Output]:
        """Return what is known of each metric that has values of rows: of all rows, then of each group."""
        held = None if self._held is None else self._held.join()
        outputs = self._collect(totals, self._all, held)
        for code, (name, pairs) in enumerate(self._of_groups.items()):
            of_group = [run.groups[code] for run in totals]
            inside = None
            if held is not None and self._groups is not None:
                is_inside = self._groups.codes[held.rows] == code
                inside = RowBlock(*(array[is_inside] for array in held))
            outputs += self._collect(of_group, pairs, inside, name)
        return outputs

    def _collect(self, totals: Sequence[Totals], pairs: Pairs, held: RowBlock | None, group: str = "") -> list[Output]:
        runs = [RunSums.of(self._program, run) for run in totals]
        n_all = max(run.tally.n_rows for run in totals)
        return collect_outputs(self._columns, runs, n_all, self._runs, pairs, held, group)


def compare_systems(
    truth: OpenedTruth,
    systems: Sequence[Named],
    testing: Testing,
    saving: Saving = NOTHING,
    *,
    progress: Progress | None = None,
    watch: Watch | None = None,
    needs_pairs: bool = True,
) -> Comparison:
    """Compare systems on an opened truth; `watch` shows the cost of resampling, and how much of it is done.

    Without `needs_pairs`, a single system, or a baseline that is missing, gives results without differences.
    """
    matches = Matches.of(systems, testing, needs_pairs=needs_pairs)
    runs = truth.open_systems(matches.lineup.runs)
    paired = PairedRows(matches, runs[0].setup)
    totals, results = score_opened(truth, runs, saving, paired.observers, progress=progress)
    return matches.compare(results, paired.outputs(totals), threads=truth.setup.options.threads, watch=watch)
