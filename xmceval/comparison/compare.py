"""The functions `compare` and `compare_rows`, which test the differences of systems on a truth, or of saved values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from pathlib import Path
from typing import Any, get_args

import numpy as np

from xmceval.api.saving import check_outputs, check_saving, keep_rows, write_labels
from xmceval.api.score import finish_state, score_opened
from xmceval.api.types import MatrixLike
from xmceval.comparison.comparison import Comparison
from xmceval.comparison.difference import Difference
from xmceval.comparison.options import Adjust, AdjustOver, Test, Testing
from xmceval.comparison.paired import DRAWS, Resampling
from xmceval.comparison.pairs import Systems, Watch, check_lists, find_differences, find_pairs
from xmceval.comparison.sums import Pairs, list_columns, sums_of_rows, sums_of_totals
from xmceval.errors import DataError, Doubt, UsageError, agreeing, argument, counted, listed, warn
from xmceval.files.io.paths import name_of, number_alike, to_path
from xmceval.files.saved_rows import RowTable, read_rows
from xmceval.files.shards import find_shards
from xmceval.metrics.names import restore_measure
from xmceval.report.result import Result
from xmceval.rows.names import doubt_alike
from xmceval.rows.nouns import OF_LABELS, OF_QUERIES
from xmceval.rows.threads import Progress, default_threads
from xmceval.scoring.batch import JointRows
from xmceval.scoring.estimates import estimate
from xmceval.scoring.held_rows import HeldRows, RowBlock
from xmceval.scoring.options import NOTHING, Missing, Options, Saving, refuse_unknown, specs
from xmceval.scoring.setup.resolve import System, check_systems
from xmceval.scoring.setup.truth import OpenedTruth
from xmceval.scoring.summary import Counts, Value
from xmceval.scoring.tasks.task import Unscored

MOST_NAMED = 3  # rows named in a warning


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
    save_labels: str | Path | None = None,
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
        For randomization; label-wise metrics have 1,000 draws, from the seed too. The draws depend only on the seed,
        the resample and the row, and sums have a fixed order: p has the same digits on every machine.
    rows : bool
        Keep the per-row values in memory: each of `results` has them as ``rows``, as in `score`.
    save_rows : path, optional
        Write the per-row values to this file, .npz or .csv.
    save_labels : path, optional
        Write the values of labels to this file, as in `score`; of each run, where a system has several.
    force : bool
        Overwrite `save_rows` and `save_labels`.
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
    >>> difference = compare(y_true, scores, k=1, metrics="P")["P@1", "b", "a"]
    >>> difference.difference, difference.wins
    (1.0, 6)
    """
    refuse_unknown("compare", options, [*specs(), *specs(Testing)])
    check_systems(systems)
    named = [System(y_score, name) for name, y_score in systems.items()]
    check_lists(y_true, named)
    chosen = Options.of(options)
    saving = Saving(rows, save_rows, save_labels, force=force)
    if saving.is_asked or chosen.row_ids is not None:
        check_saving(chosen, named, saving)
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


def compare_systems(
    truth: OpenedTruth,
    systems: Sequence[System],
    testing: Testing,
    saving: Saving = NOTHING,
    *,
    progress: Progress | None = None,
    watch: Watch | None = None,
    needs_pairs: bool = True,
) -> Comparison:
    """Compare systems on an opened truth; `watch` shows the cost and progress of resampling.

    Without `needs_pairs`, a single system or a missing baseline gives results without differences.
    """
    compared = Systems.of(systems, testing, needs_pairs=needs_pairs)
    runs = truth.open_systems(compared.scores)
    if saving.is_asked:
        check_outputs(truth, runs, saving)
    setup = runs[0].setup
    groups = setup.groups
    columns = list_columns(setup.program, setup.bins)
    pairs = Pairs(columns, compared.runs, compared.by_rows, 0 if groups is None else len(groups.names))
    held = HeldRows(truth.setup, len(runs))
    joint: list[JointRows] = [pairs]
    if saving.holds_rows or compared.holds_rows:
        joint.append(held)
    labels = None
    if compared.by_single and any(task.counts_labels for task in setup.program.tasks):
        from xmceval.comparison.labelwise import HeldLabels, find_tested  # not loaded by other comparisons

        tested = find_tested(setup)
        if tested:
            labels = HeldLabels(tested)
            joint.append(labels)
    states = score_opened(truth, runs, joint, progress=progress)
    results = tuple(map(finish_state, states))
    if saving.holds_rows:
        results = keep_rows(held, truth, results, saving)
    write_labels(results, saving)
    block = None
    if compared.holds_rows:
        block = held.join()
    program = states[0].setup.program
    totals = [state.totals for state in states]
    sums = [*sums_of_totals(columns, totals, program, pairs, block)]
    if groups is not None:
        for code, name in enumerate(groups.names):
            inside = None
            if block is not None:
                is_inside = groups.codes[block.rows] == code
                inside = RowBlock(*(array[is_inside] for array in block))
            of_group = [of_run.groups[code] for of_run in totals]
            sums += sums_of_totals(columns, of_group, program, pairs.groups[code], inside, name)
    of_labels = list[Difference]()
    if labels is not None:
        from xmceval.comparison.labelwise import compare_labels

        setup = states[0].setup
        watching = nullcontext() if watch is None else watch(labels.estimate_cost(setup, len(compared.by_single)))
        with watching as shown:
            resampling = Resampling(DRAWS, testing.seed, setup.options.threads or default_threads(), shown)
            of_labels += compare_labels(labels, totals, setup, compared.by_single, resampling)
    return compared.compare(results, sums, of_labels, threads=truth.setup.options.threads, watch=watch)


def compare_rows(
    files: Sequence[str | Path],
    *,
    names: Sequence[str] = (),
    against: str | None = None,
    test: Test = "t",
    adjust: Adjust = "holm",
    adjust_over: AdjustOver = "metric",
    resamples: int = 10_000,
    seed: int = 0,
    missing: Missing = "error",
    threads: int | None = None,
) -> Comparison:
    """Compare systems by their saved per-row values.

    Parameters
    ----------
    files : sequence of path
        Files written by `score` or `compare` with ``save_rows``, or CSV with a column ``row`` and one column
        per metric. A pattern such as ``"a-*.rows.npz"`` stands for the shards of one file.
    names : sequence of str
        Names of the systems, in the order of the files; default: the names in the files.
    against, test, adjust, adjust_over, resamples, seed : optional
        As in `compare`.
    missing : {"error", "zero", "drop"}
        Whether a row, identified by id or number, that only some of the files have, or a value that is NaN in
        only some systems, is an error, counts 0 for the systems that lack it, or is left out.
    threads : int, optional
        Default: one per processor.

    Returns
    -------
    Comparison
        The same digits as from `compare` on the scored files.

    Raises
    ------
    DataError
        Files that differ in rows, metrics or truth, or that lack values; the message says where.
    UsageError
        Fewer than two systems, or an invalid argument.

    See Also
    --------
    compare : Compare the predictions themselves.
    """
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
    if isinstance(files, (str, Path)):
        raise UsageError(f"files must be a sequence of paths, got the path {str(files)!r}")
    tables = [read_rows(find_shards(path)) for path in files]
    comparison = compare_tables(tables, names, testing, threads=threads, missing=missing)
    warn(comparison.warnings)
    return comparison


def compare_tables(
    tables: Sequence[RowTable],
    names: Sequence[str],
    testing: Testing,
    *,
    threads: int | None,
    watch: Watch | None = None,
    missing: Missing,
) -> Comparison:
    """Compare the systems in tables of per-row values; `names` rename the first systems."""
    systems = [system for table in tables for system in table.systems]
    if missing not in get_args(Missing):
        raise UsageError(f"missing must be one of {listed(get_args(Missing))}, got {missing!r}")
    if len(names) > len(systems):
        raise UsageError(f"{counted(len(names), 'name')} for {counted(len(systems), 'system')}")
    for table in tables[1:]:
        _check_same_data(tables[0], table)
    names = [*names, *systems[len(names) :]]
    files = [name_of(to_path(table.name)) for table in tables for _ in table.systems]
    called = [f"{name} ({file})" if names.count(name) > 1 else name for name, file in zip(names, files, strict=True)]
    called = number_alike(called)
    pairs = find_pairs(called, testing.against)
    block, warnings = _align(tables, missing)
    are_same_rows = not warnings
    measures = [restore_measure(name) for name in tables[0].metrics]
    sums = sums_of_rows(measures, block, pairs, holds_rows=testing.holds_rows)
    unknown = Counts(block.rows.size, 0, 0, 0, 0, 0, 0, short_rows={}, tied_rows={}, are_known=False)
    counts = [unknown] * len(called)
    if are_same_rows and all("counts" in table.meta for table in tables):  # zeros would look like counts
        counts = _restore_counts(tables)
    results = []
    nouns = OF_QUERIES if all(table.meta.get("has_queries") for table in tables) else OF_LABELS
    for i, name in enumerate(called):
        values = np.stack([metric.sums[i] for metric in sums])
        extremes = np.stack([metric.extremes[i] for metric in sums])
        estimates = estimate(measures, values, [metric.n_rows[i] for metric in sums], extremes)
        figures = tuple(
            Value(measure, number.without_tie_bounds()) for measure, number in zip(measures, estimates, strict=True)
        )
        results.append(Result(name, figures, counts[i], nouns=nouns))
    differences, untested = find_differences(results, pairs, sums, testing, threads, watch)
    warnings += [*map(Doubt, _list_doubts(tables, are_same_rows=are_same_rows)), *untested]
    source = f"{counted(block.rows.size, nouns.row)} from saved values"
    return Comparison(tuple(results), differences, testing, tuple(warnings), source=source)


def _check_same_data(first: RowTable, other: RowTable) -> None:
    """Refuse tables with different metrics, truths or propensities."""
    pair = f"{first.name} and {other.name}"
    alone = set(first.metrics) ^ set(other.metrics)
    if alone:
        raise DataError(f"{pair} have different metrics: only one of them has {listed(sorted(alone))}")
    n_shards = first.n_shards, other.n_shards
    if n_shards[0] != n_shards[1] and (first.is_by_shard or other.is_by_shard):
        raise DataError(
            f"{pair} are {counted(n_shards[0], 'shard')} and {counted(n_shards[1], 'shard')}, and their rows are "
            f"numbered within each shard (hint: score both in the same shards, or with {argument('row_ids')})"
        )
    # If queries were left out, the digests of one truth differ: `_align` then refuses such rows or drops them.
    lost_rows = (_has_dropped(first) or _has_dropped(other)) and set(first.rows) != set(other.rows)
    if n_shards[0] == n_shards[1] and _differ(first, other, "truth") and not lost_rows:
        raise DataError(
            f"{pair} are of different truths, by their digests (hint: score both against the same truth, with its rows "
            f"in the same order and the same {argument('filter')} and {argument('only_labels')}, if any)"
        )
    weighed = [name for name in first.metrics if restore_measure(name).needs_propensities]
    if weighed and _differ(first, other, "propensities"):
        raise DataError(
            f"{pair} were scored with different propensities, which {listed(weighed)} "
            f"{agreeing(len(weighed), 'depends', 'depend')} on "
            f"(hint: score both with the same {argument('train')}, A and B)"
        )


def _differ(first: RowTable, other: RowTable, what: str) -> bool:
    return what in first.meta and what in other.meta and first.meta[what] != other.meta[what]


def _has_dropped(table: RowTable) -> bool:
    """Return whether queries missing from a run were left out of the truth."""
    return bool(table.meta.get("rules", {}).get("missing") == "drop")


def _align(tables: Sequence[RowTable], missing: Missing) -> tuple[RowBlock, list[str]]:
    """Join tables by their rows according to `missing`, and return warnings about rows that a system lacks.

    A table lacks a row without a line there, and a system a value that others have, unless predictions decide which
    rows have one. Such a value has numerator 0, and the denominator of the first system that has it.
    """
    rows = list(dict.fromkeys(row for table in tables for row in table.rows))
    places = {row: place for place, row in enumerate(rows)}
    metrics = tables[0].metrics
    owner = np.repeat(np.arange(len(tables)), [len(table.systems) for table in tables])  # table of each system
    values = np.full((len(rows), owner.size, len(metrics), 2), np.nan)
    has_row = np.zeros((len(rows), len(tables)), dtype=bool)
    weights = np.full(len(rows), np.nan)
    for number, table in enumerate(tables):
        at = np.array([places[row] for row in table.rows])
        systems = np.flatnonzero(owner == number)
        values[at[:, None], systems] = table.values[:, :, [table.metrics.index(name) for name in metrics]]
        has_row[at, number] = True
        if (~np.isnan(weights[at]) & (weights[at] != table.weights)).any():
            raise DataError(f"{tables[0].name} and {table.name} have different sample weights")
        weights[at] = table.weights
    counts = ~np.isnan(values[..., 0])
    lacks = ~counts & counts.any(axis=1, keepdims=True)
    may_skip = np.array([restore_measure(name).skips_rows for name in metrics])
    lacks &= ~(has_row[:, owner, None] & may_skip)
    lines = []
    for number, table in enumerate(tables):
        gaps = lacks[:, owner == number].any(axis=1) & has_row[:, number, None]  # [n_rows, n_metrics]
        without = [name for name, has_gaps in zip(metrics, gaps.any(axis=0), strict=True) if has_gaps]
        kinds = {"lacks": ~has_row[:, number], f"has no value of {listed(without)} in": gaps.any(axis=1)}
        for verb, is_lacking in kinds.items():
            lacking = [rows[place] for place in np.flatnonzero(is_lacking)]
            if lacking:
                examples = listed(map(repr, lacking[:MOST_NAMED]))
                lines.append(
                    f"{table.name}: {verb} {counted(len(lacking), 'row')} of {len(rows):,}, such as {examples}"
                )
    if lines and missing == "error":
        ways = f"{argument('missing', 'zero')} or {argument('missing', 'drop')}"
        raise DataError(*(f"{line} (hint: pass {ways} to compare them all the same)" for line in lines))
    doubts = list[Doubt]()
    for number, table in enumerate(tables):
        here = has_row[:, number] & ~has_row[:, 0]
        there = has_row[:, 0] & ~has_row[:, number]
        only = ([rows[place] for place in np.flatnonzero(is_alone)] for is_alone in (here, there))
        doubts += doubt_alike(table.name, "row", tables[0].name, *only)
    if missing == "drop":
        outcome = "left out for all systems"
        kept = has_row.all(axis=1)
        counts &= ~lacks.any(axis=1, keepdims=True)
    else:
        outcome = "where they count 0"
        kept = np.ones(len(rows), dtype=bool)
        first = counts.argmax(axis=1)[:, None, :, None]  # the first system with a value
        values = np.where(lacks[..., None], np.take_along_axis(values, first, axis=1) * [0.0, 1.0], values)
        counts |= lacks
    if not kept.any():
        raise DataError(f"no row is in all of {listed(table.name for table in tables)}")
    values[~counts] = 0.0
    block = RowBlock(np.arange(np.count_nonzero(kept)), weights[kept], values[kept], counts[kept])
    return block, [*doubts, *(f"{line}, {outcome}" for line in lines)]


def _restore_counts(tables: Sequence[RowTable]) -> list[Counts]:
    """Return the counts of each system."""
    try:
        return [
            Counts(
                **counts
                | {name: {int(k): n for k, n in counts[name].items()} for name in ("short_rows", "tied_rows")}
                | {"unscored": {float(rel): Unscored(*numbers) for rel, numbers in counts["unscored"].items()}}
                | {"grades": tuple(counts["grades"])}
            )
            for table in tables
            for counts in table.meta["counts"]
        ]
    except (AttributeError, KeyError, TypeError, ValueError):
        names = listed(table.name for table in tables)
        raise DataError(f"{names}: the counts cannot be read; is a file damaged?") from None


def _list_doubts(tables: Sequence[RowTable], *, are_same_rows: bool) -> Iterator[str]:
    """Yield doubts about rows of means, files passed twice, unverifiable facts, and options that differ."""
    for table in tables:
        if "all" in table.rows and len(table.rows) > 1:
            yield (
                f"{table.name}: has a row 'all', which in trec_eval's output is the mean of the others "
                "(hint: remove it from the file)"
            )
    paths = Counter(to_path(table.name).resolve() for table in tables)
    twice = dict.fromkeys(table.name for table in tables if paths[to_path(table.name).resolve()] > 1)
    yield from (f"{name} is passed twice: its systems tie with themselves on every instance" for name in twice)
    unknown = [
        table.name
        for table in tables
        if "truth" not in table.meta
        or table.n_shards != tables[0].n_shards
        or (_has_dropped(table) and not are_same_rows)
    ]
    if unknown:
        yield f"{listed(unknown)}: cannot check that the instances have the same truth"
    rules = {table.name: table.meta["rules"] for table in tables if "rules" in table.meta}
    if any(options != next(iter(rules.values())) for options in rules.values()):
        described = (
            f"{name}: {listed(f'{option}={value}' for option, value in options.items()) or 'the defaults'}"
            for name, options in rules.items()
        )
        yield f"the files were scored under different options: {'; '.join(described)}"
