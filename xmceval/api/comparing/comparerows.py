"""Compare saved values of rows: the files of ``--save-rows``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from xmceval.api.comparing.matches import find_pairs, in_order, warn_of_untested
from xmceval.api.comparing.pairtests import PairTests, Watch, adjust
from xmceval.errors import DataError, UsageError, argument, counted, listed, warn
from xmceval.files.io.paths import to_path
from xmceval.files.io.shardfiles import find_shards
from xmceval.files.savedrows import RowTable, read_rows
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse, restore_measure
from xmceval.report.comparison import Comparison
from xmceval.report.result import Result
from xmceval.rows.block import Float64
from xmceval.rows.threads import default_threads
from xmceval.scoring.comparing.outputs import Output, outputs_of_rows
from xmceval.scoring.comparing.testoptions import Adjust, AdjustOver, Test, Testing
from xmceval.scoring.estimates import Estimate, estimate
from xmceval.scoring.observing.heldrows import RowBlock
from xmceval.scoring.options import Missing
from xmceval.scoring.summary import Counts, Figure
from xmceval.scoring.tasks.task import Unscored

MOST_NAMED = 3  # rows of a warning


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
    """Compare systems by their saved values of rows.

    Parameters
    ----------
    files : sequence of path
        Files of `score` or `compare` with ``save_rows``, each with one system or more. A pattern such as
        ``"a-*.rows.npz"`` stands for the shards of one file.
    names : sequence of str
        Names of the systems, in the order of the files; default those in the files.
    against : str, optional
        Compare with this system only, as in `compare`.
    test : {"t", "randomization"}
        As in `compare`.
    adjust : {"holm", "none"}
        As in `compare`.
    adjust_over : {"metric", "all"}
        As in `compare`.
    resamples, seed : int
        As in `compare`.
    missing : {"error", "zero", "drop"}
        Rows that only some of the files have, by their ids or numbers: an error, a value of 0 for the systems that lack
        them, or left out.
    threads : int, optional
        Default: one per processor.

    Returns
    -------
    Comparison
        With the same digits as `compare` on the files that were scored.

    Raises
    ------
    DataError
        Files of other rows, other metrics or another truth, or that lack values, with the place.
    UsageError
        Fewer than two systems, or an argument that is wrong.

    See Also
    --------
    compare : From the predictions themselves.
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
        raise UsageError(
            f"files must be a sequence of paths, got the path {str(files)!r} (hint: pass [{str(files)!r}])"
        )
    tables = [read_rows(find_shards(path)) for path in files]
    comparison = compare_tables(tables, names, testing, threads, missing=missing)
    warn(comparison.warnings)
    return comparison


def compare_tables(
    tables: Sequence[RowTable],
    names: Sequence[str],
    testing: Testing,
    threads: int | None = None,
    watch: Watch | None = None,
    missing: Missing = "error",
) -> Comparison:
    """Compare the systems of tables of values of rows; `names` are those of the first systems."""
    systems = [system for table in tables for system in table.systems]
    if len(systems) < 2:
        raise UsageError("a comparison needs at least two systems")
    if missing not in get_args(Missing):
        raise UsageError(f"missing must be one of {listed(get_args(Missing))}, got {missing!r}")
    if len(names) > len(systems):
        raise UsageError(f"{counted(len(names), 'name')} for {counted(len(systems), 'system')}")
    for table in tables[1:]:
        _check_same_data(tables[0], table)
    called = _distinct([*names, *systems[len(names) :]], tables)
    pairs = find_pairs(called, testing)
    block, warnings = _align(tables, missing)
    n_rows, rows_differ = block.rows.size, len(warnings) > 0
    measures = [_measure(name, block.values[block.counts[:, :, m], m, 0]) for m, name in enumerate(tables[0].metrics)]
    outputs = outputs_of_rows(measures, block, pairs, holds_rows=testing.holds_rows)
    counts = _counts(tables, n_rows, are_known=not rows_differ)
    results = tuple(
        Result(name, tuple(Figure(output.measure, _estimate(output, system)) for output in outputs), counts[system])
        for system, name in enumerate(called)
    )
    tests = PairTests(called, pairs, testing, threads or default_threads(), watch)
    tested = adjust([*tests.differences(outputs)], testing)
    means = [[figure.estimate.value for figure in result.figures] for result in results]
    differences = tuple(in_order(tested, measures, called, means, pairs))
    warnings += [*_warnings(tables, rows_differ=rows_differ), *warn_of_untested(differences, outputs)]
    source = f"{counted(n_rows, 'instance')} from saved values"
    return Comparison(results, differences, testing, tuple(warnings), source=source)


def _align(tables: Sequence[RowTable], missing: Missing) -> tuple[RowBlock, list[str]]:
    """Return the rows of all tables, those that `missing` leaves, and warnings of rows that a table lacks.

    A row that a table lacks has numerator 0 there, and the denominators that another table has.
    """
    rows_of = [set(table.rows) for table in tables]
    in_any = dict.fromkeys(row for table in tables for row in table.rows)
    lacking = [[row for row in in_any if row not in rows] for rows in rows_of]
    if missing == "error":
        _refuse_missing(tables, lacking)
    rows = [row for row in in_any if missing != "drop" or all(row in other for other in rows_of)]
    if not rows:
        raise DataError(f"no row is in all of {listed(table.name for table in tables)}")
    places = {row: place for place, row in enumerate(rows)}
    metrics = tables[0].metrics
    weights = np.full(len(rows), np.nan)
    absent = np.zeros((len(rows), 1, len(metrics), 2))  # the values of a row in a table that lacks it
    arranged = list[tuple[np.ndarray, Float64]]()
    for table in tables:
        at = np.array([places.get(row, -1) for row in table.rows])
        is_kept = at >= 0
        at, values = at[is_kept], table.values[is_kept][:, :, [table.metrics.index(name) for name in metrics]]
        is_new = np.isnan(weights[at])
        if (~is_new & (weights[at] != table.weights[is_kept])).any():
            raise DataError(f"{tables[0].name} and {table.name} have different sample weights")
        weights[at] = table.weights[is_kept]
        absent[at[is_new]] = values[is_new, :1] * [0.0, 1.0]  # the numerator of a row that does not count stays NaN
        arranged.append((at, values))
    columns = []
    for at, values in arranged:
        column = np.repeat(absent, values.shape[1], axis=1)
        column[at] = values
        columns.append(column)
    joined = np.concatenate(columns, axis=1)
    counts = ~np.isnan(joined[..., 0])
    joined[~counts] = 0.0
    outcome = "where they count 0" if missing == "zero" else "left out for all systems"
    warnings = [
        f"{table.name}: lacks {counted(len(lacks), 'row')} of {len(in_any):,}, such as "
        f"{', '.join(map(repr, lacks[:MOST_NAMED]))}, {outcome}"
        for table, lacks in zip(tables, lacking, strict=True)
        if lacks
    ]
    return RowBlock(np.arange(len(rows)), weights, joined, joined[:, :, :0], counts), warnings


def _refuse_missing(tables: Sequence[RowTable], lacking: Sequence[Sequence[str]]) -> None:
    """Refuse a table that lacks rows of another."""
    for table, rows in reversed([*zip(tables, lacking, strict=True)]):
        if rows:
            other = next(other for other in tables if rows[0] in other.rows)
            ways = f"{argument('missing', 'zero')} or {argument('missing', 'drop')}"
            raise DataError(
                f"{table.name} lacks {counted(len(rows), 'row')} that {other.name} has; the first is row {rows[0]} "
                f"(hint: pass {ways} to compare them all the same)"
            )


def _check_same_data(first: RowTable, other: RowTable) -> None:
    """Refuse tables that are not of the same metrics, truth and propensities."""
    if set(first.metrics) != set(other.metrics):
        lacking = "; ".join(
            f"{lacks.name} has no {listed(sorted(alone))}"
            for lacks, has in ((first, other), (other, first))
            if (alone := set(has.metrics) - set(lacks.metrics))
        )
        raise DataError(f"{first.name} and {other.name} have different metrics: {lacking}")
    # Without the queries that a run lacks, digests of one truth differ: `align` refuses such rows, or leaves them out.
    lost_rows = (_has_dropped(first) or _has_dropped(other)) and set(first.rows) != set(other.rows)
    if _differ(first, other, "truth") and not lost_rows:
        raise DataError(
            f"{first.name} and {other.name} are of different truths, by their digests (hint: score both against the "
            f"same truth, with its rows in the same order and the same {argument('filter')}, if any)"
        )
    weighed = [name for name in first.metrics if any(measure.needs_propensities for measure in _parsed(name))]
    if weighed and _differ(first, other, "propensities"):
        raise DataError(
            f"{first.name} and {other.name} were scored with different propensities, which {listed(weighed)} "
            f"{'depends' if len(weighed) == 1 else 'depend'} on "
            f"(hint: score both with the same {argument('train')}, A and B)"
        )


def _differ(first: RowTable, other: RowTable, what: str) -> bool:
    """Return whether two tables have different digests."""
    digests = first.meta.get(what), other.meta.get(what)
    return None not in digests and digests[0] != digests[1]


def _has_dropped(table: RowTable) -> bool:
    """Return whether queries that a run lacks were left out of the truth."""
    return bool(table.meta.get("rules", {}).get("missing") == "drop")


def _distinct(names: Sequence[str], tables: Sequence[RowTable]) -> list[str]:
    """Add the file to names that several systems have, and a number where that is not enough."""
    files = [to_path(table.name).name for table in tables for _ in table.systems]
    called = [f"{name} ({file})" if names.count(name) > 1 else name for name, file in zip(names, files, strict=True)]
    numbers = [called[: i + 1].count(name) for i, name in enumerate(called)]
    return [
        f"{name} ({number})" if called.count(name) > 1 else name for name, number in zip(called, numbers, strict=True)
    ]


def _measure(name: str, values: Float64) -> Measure:
    """Return the measure of a name; that of another tool's metric is of shares where all values are from 0 to 1."""
    return restore_measure(name, "share" if ((values >= 0) & (values <= 1)).all() else "count")


def _parsed(name: str) -> list[Measure]:
    """Return the measures of a name, none where it is not known."""
    try:
        return parse(name)
    except UsageError:
        return []


def _counts(tables: Sequence[RowTable], n_rows: int, *, are_known: bool) -> list[Counts]:
    """Return the counts of each system; unknown where a table lacks them, as zeros would be read as counts."""
    saved = [counts for table in tables for counts in table.meta.get("counts", [None] * len(table.systems))]
    if None in saved or not are_known:
        unknown = Counts(n_rows, 0, 0, 0, 0, 0, 0, short_rows={}, tied_rows={}, are_known=False)
        return [unknown for _ in saved]
    try:
        return [_restore(counts) for counts in saved]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise DataError(
            f"{listed(table.name for table in tables)}: the counts cannot be read; is a file damaged?"
        ) from None


def _restore(counts: Mapping[str, Any]) -> Counts:
    """Return counts from JSON, whose keys are texts."""
    by_number: dict[str, Any] = {
        name: {int(number): value for number, value in counts[name].items()}
        for name in ("short_rows", "tied_rows", "unscored")
    }
    by_number["unscored"] = {grade: Unscored(*numbers) for grade, numbers in by_number["unscored"].items()}
    return Counts(**{**counts, **by_number, "grades": tuple(counts["grades"])})


def _estimate(output: Output, system: int) -> Estimate:
    of_rows = output.sums[system], output.n_rows[system], output.extremes[system]
    return estimate(output.measure, *of_rows).without_tie_bounds()


def _warnings(tables: Sequence[RowTable], *, rows_differ: bool) -> list[str]:
    """Warn of what cannot be checked, of files that are passed twice, and of options that differ."""
    unknown = [table.name for table in tables if "truth" not in table.meta or (_has_dropped(table) and rows_differ)]
    paths = [to_path(table.name).resolve() for table in tables]
    twice = dict.fromkeys(table.name for i, table in enumerate(tables) if paths[i] in paths[:i])
    warnings = [f"{name} is passed twice: its systems tie with themselves on every instance" for name in twice]
    warnings += [f"{listed(unknown)}: cannot check that the instances are those of the same truth"] if unknown else []
    rules = {table.name: table.meta["rules"] for table in tables if "rules" in table.meta}
    if len({json.dumps(options, sort_keys=True) for options in rules.values()}) > 1:
        described = "; ".join(f"{name}: {_describe_rules(options)}" for name, options in rules.items())
        warnings.append(f"the files were scored under different options: {described}")
    return warnings


def _describe_rules(rules: Mapping[str, Any]) -> str:
    return listed(f"{name}={value}" for name, value in rules.items()) or "the defaults"
