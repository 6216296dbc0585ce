"""The public function `compare`, which tests the differences between systems scored on the same truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from xmceval.api.saving import check_outputs, check_saving, keep_rows
from xmceval.api.score import finish_state, score_opened
from xmceval.api.types import MatrixLike
from xmceval.comparison.comparison import Comparison
from xmceval.comparison.options import Adjust, AdjustOver, Test, Testing
from xmceval.comparison.pairs import Systems, Watch, check_lists
from xmceval.comparison.sums import Pairs, list_columns, sums_of_totals
from xmceval.errors import listed, warn
from xmceval.rows.threads import Progress
from xmceval.scoring.held_rows import HeldRows, RowBlock
from xmceval.scoring.options import Options, specs
from xmceval.scoring.setup.truth import OpenedTruth, System, check_systems


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
        The scores of at least two systems by name, each as in `score`; pass shards as ``Shards([...])``. A list
        of matrices or paths is one system trained several times: its values are means over these runs. If both
        systems of a pair have at least three runs, the run is the unit of the test (Welch's t test), otherwise
        the row. Rankings by query are ``{"a": {query: {document: score}}, ...}``.
    against : str, optional
        Compare with this system only; by default every pair is compared, and the earlier system is the
        baseline.
    test : {"t", "randomization"}
        The paired t test (by the delta method for ratios of sums); or random signs of the rows' differences,
        with the interval of t. If fewer than 6 rows differ, or all by the same amount, p is exact: it comes
        from all exchanges of the two systems in these rows, and there is no interval. (If at least 6 rows
        differ, all by the same amount, randomization still resamples.)
    adjust : {"holm", "none"}
        How p is adjusted for the number of pairs: by Holm's method, or not at all. `detectable`, the smallest
        detectable difference, accounts for the same number of tests.
    adjust_over : {"metric", "all"}
        Holm over the pairs within each metric, or over all differences.
    resamples, seed : int
        For randomization. The draws depend only on the seed, the resample and the row, and sums have a fixed
        order: p has the same digits on every machine.
    rows : bool
        Keep the per-row values in memory: each of `results` has them as ``rows``, as in `score`.
    save_rows : path, optional
        Write the per-row values to this file, .npz or .csv.
    force : bool
        Overwrite `save_rows`.
    executor : concurrent.futures.Executor, optional
        Score in parts, as in `score`; not available for randomization.
    progress : callable, optional
        Called with the number of rows finished since the last call.
    **options
        Any option of `score`.

    Returns
    -------
    Comparison
        A mapping: ``comparison["P@5", "b", "a"]`` is the difference b minus a.

    Raises
    ------
    DataError
        Invalid or inconsistent data; the message says where.
    UsageError
        An invalid argument, fewer than two systems, or an unknown system in `against`.

    Warns
    -----
    XmcevalWarning
        Reasons why the differences may be wrong; see `score`.

    See Also
    --------
    compare_rows : Compare saved per-row values.
    score_all : Score several systems without tests.
    benchmark : Compare systems on several data sets.
    check_worse : Check whether a system became worse, for CI.

    Notes
    -----
    Sakai, Laboratory Experiments in Information Retrieval, 2018; for ratios of sums Cochran, Sampling Techniques, 1977,
    ch. 6. If rows are the unit, the test says nothing about the variation between training runs.

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
    named = [System(y_score, name) for name, y_score in systems.items()]
    check_lists(y_true, named)
    chosen = Options.of(options)
    if rows or save_rows is not None or chosen.row_ids is not None:
        check_saving(chosen, named, rows=rows, save_rows=save_rows, force=force)
    truth = OpenedTruth.of(y_true, chosen, named, executor=executor)
    how = {"against": against, "test": test, "adjust": adjust, "adjust_over": adjust_over}
    testing = Testing.of({**how, "resamples": resamples, "seed": seed})
    comparison = compare_systems(truth, named, testing, rows=rows, save_rows=save_rows, force=force, progress=progress)
    warn(comparison.doubts)
    return comparison


def compare_systems(
    truth: OpenedTruth,
    systems: Sequence[System],
    testing: Testing,
    *,
    rows: bool = False,
    save_rows: str | Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
    watch: Watch | None = None,
    needs_pairs: bool = True,
) -> Comparison:
    """Compare systems on an opened truth; `watch` shows the cost and progress of resampling.

    Without `needs_pairs`, a single system or a missing baseline gives results without differences.
    """
    compared = Systems.of(systems, testing, needs_pairs=needs_pairs)
    runs = truth.open_systems(compared.scores)
    if rows or save_rows is not None:
        check_outputs(truth, runs, rows=rows, save_rows=save_rows, force=force)
    setup = runs[0].setup
    groups = setup.groups
    columns = list_columns(setup.program, setup.bins)
    pairs = Pairs(columns, compared.runs, compared.by_rows, 0 if groups is None else len(groups.names))
    held = HeldRows(truth.setup) if rows or save_rows is not None or compared.holds_rows else None
    states = score_opened(truth, runs, (pairs,) if held is None else (pairs, held), progress=progress)
    results = tuple(map(finish_state, states))
    if held is not None and (rows or save_rows is not None):
        results = keep_rows(held, truth, results, rows=rows, save_rows=save_rows, force=force)
    block = held.join() if held is not None and compared.holds_rows else None
    program, totals = states[0].setup.program, [state.totals for state in states]
    sums = [*sums_of_totals(columns, totals, program, compared.runs, pairs, block)]
    for code, name in enumerate(() if groups is None else groups.names):
        inside = None
        if groups is not None and block is not None:
            is_inside = groups.codes[block.rows] == code
            inside = RowBlock(*(array[is_inside] for array in block))
        of_group = [of_run.groups[code] for of_run in totals]
        sums += sums_of_totals(columns, of_group, program, compared.runs, pairs.groups[code], inside, name)
    return compared.compare(results, sums, threads=truth.setup.options.threads, watch=watch)
