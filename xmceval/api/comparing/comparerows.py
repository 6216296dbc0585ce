"""Compare saved values of rows: those of ``--save-rows``, or the per-query files of other tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from xmceval.api.comparing.matches import find_pairs, in_order, warn_of_untested
from xmceval.api.comparing.pairtests import PairTests, Watch, adjust
from xmceval.errors import DataError, UsageError, argument, counted, listed, warn
from xmceval.files.io.paths import to_path
from xmceval.files.saved.rowtable import RowTable, join_rows
from xmceval.files.saved.rowvalues import read_row_values
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse, restore_measure
from xmceval.report.comparison import Comparison
from xmceval.report.result import Result
from xmceval.rows.threads import default_threads
from xmceval.scoring.comparing.outputs import Output, outputs_of_rows
from xmceval.scoring.comparing.testoptions import Adjust, AdjustOver, Test, Testing
from xmceval.scoring.estimates import Estimate, estimate
from xmceval.scoring.options import Missing
from xmceval.scoring.summary import Counts, Figure
from xmceval.scoring.tasks.task import Unscored


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
        Files of `score` or `compare` with ``save_rows``, each with one system or more; or per-query files of other
        tools: three columns of query, measure and value (ir_measures), measure, query and value (``trec_eval -q``),
        or one column per measure below a header.
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
        them, or left out. ``trec_eval -q`` and others write no line for a query that a run lacks.
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
    testing = Testing.of(locals())
    if isinstance(files, (str, Path)):
        raise UsageError(
            f"files must be a sequence of paths, got the path {str(files)!r} (hint: pass [{str(files)!r}])"
        )
    tables = [read_row_values(path) for path in files]
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
    """Compare the systems of tables of values of rows."""
    if sum(len(table.systems) for table in tables) < 2:
        raise UsageError("a comparison needs at least two systems")
    if missing not in get_args(Missing):
        raise UsageError(f"missing must be one of {listed(get_args(Missing))}, got {missing!r}")
    tables, lacking = join_rows(tables, missing)
    first = tables[0]
    for table in tables[1:]:
        _check_together(first, table)
    own = [system for table in tables for system in table.systems]
    if len(names) > len(own):
        raise UsageError(f"{counted(len(names), 'name')} for {counted(len(own), 'system')}")
    called = _distinct([*names, *own[len(names) :]], tables)
    pairs = find_pairs(called, testing)
    values = np.concatenate([_aligned(first, table) for table in tables], axis=1)
    measures = [_measure(name, values[:, :, i, 0]) for i, name in enumerate(first.metrics)]
    is_missing = np.isnan(values[:, :, :, 0])
    values[is_missing] = 0.0
    weights = first.weights if (first.weights != 1).any() else np.empty(0)
    n_rows, holds_rows = len(first.rows), testing.holds_rows
    outputs = outputs_of_rows(measures, values, weights, pairs, is_missing.sum(axis=0), holds_rows=holds_rows)
    estimates = [[_estimate(each, system) for each in outputs] for system in range(len(own))]
    source = f"{counted(n_rows, 'instance')} from saved values"
    tests = PairTests(called, pairs, testing, threads or default_threads(), watch)
    results = tuple(_result(name, s, measures, estimates[s], tables, n_rows) for s, name in enumerate(called))
    tested = adjust([*tests.differences(outputs)], testing)
    found = [[figure.estimate.value for figure in result.figures] for result in results]
    differences = tuple(in_order(tested, measures, called, found, pairs))
    warnings = *lacking, *_warnings(tables), *warn_of_untested(differences, outputs)
    return Comparison(results, differences, testing, warnings, source=source)


def _check_together(first: RowTable, other: RowTable) -> None:
    """Refuse tables that are not of the same rows, metrics and truth."""
    if set(first.metrics) != set(other.metrics):
        lacking = "; ".join(
            f"{lacks.name} has no {listed(sorted(alone))}"
            for lacks, has in ((first, other), (other, first))
            if (alone := set(has.metrics) - set(lacks.metrics))
        )
        raise DataError(f"{first.name} and {other.name} have different metrics: {lacking}")
    digests = first.meta.get("truth"), other.meta.get("truth")
    lost_rows = (first.has_dropped or other.has_dropped) and set(first.rows) != set(other.rows)
    if None not in digests and digests[0] != digests[1] and not lost_rows:
        raise DataError(
            f"{first.name} and {other.name} are of different truths, by their digests (hint: score both against the "
            f"same truth, with its rows in the same order and the same {argument('filter')}, if any)"
        )
    weighed = [name for name in first.metrics if any(each.needs_propensities for each in _parsed(name))]
    digests = first.meta.get("propensities"), other.meta.get("propensities")
    if weighed and None not in digests and digests[0] != digests[1]:
        raise DataError(
            f"{first.name} and {other.name} were scored with different propensities, which {listed(weighed)} "
            f"{'depends' if len(weighed) == 1 else 'depend'} on "
            f"(hint: score both with the same {argument('train')}, A and B)"
        )
    for lacks, has in ((other, first), (first, other)):
        known = set(lacks.rows)
        rows = [row for row in has.rows if row not in known]
        if rows:
            ways = f"{argument('missing', 'zero')} or {argument('missing', 'drop')}"
            raise DataError(
                f"{lacks.name} lacks {counted(len(rows), 'row')} that {has.name} has; the first is row {rows[0]} "
                f"(hint: pass {ways} to compare them all the same)"
            )
    if not np.array_equal(first.weights, _in_rows_of(first, other, other.weights)):
        raise DataError(f"{first.name} and {other.name} have different sample weights")


def _in_rows_of(first: RowTable, table: RowTable, array: NDArray[Any]) -> NDArray[Any]:
    if table.rows == first.rows:
        return array
    places = {row: i for i, row in enumerate(table.rows)}
    return array[[places[row] for row in first.rows]]


def _aligned(first: RowTable, table: RowTable) -> NDArray[np.float64]:
    """Return values in the rows and metrics of the first table."""
    order = [table.metrics.index(name) for name in first.metrics]
    return _in_rows_of(first, table, table.values)[:, :, order]


def _distinct(names: Sequence[str], tables: Sequence[RowTable]) -> list[str]:
    """Add the file to names that several systems have, and a number where that is not enough."""
    files = [to_path(table.name).name for table in tables for _ in table.systems]
    called = [f"{name} ({file})" if names.count(name) > 1 else name for name, file in zip(names, files, strict=True)]
    numbers = [called[: i + 1].count(name) for i, name in enumerate(called)]
    return [
        f"{name} ({number})" if called.count(name) > 1 else name for name, number in zip(called, numbers, strict=True)
    ]


def _measure(name: str, values: NDArray[np.float64]) -> Measure:
    """Return the measure of a name; that of another tool's metric is of shares where all values are from 0 to 1."""
    return restore_measure(name, "share" if ((values >= 0) & (values <= 1)).all() else "count")


def _parsed(name: str) -> list[Measure]:
    """Return the measures of a name, none where it is not known."""
    try:
        return parse(name)
    except UsageError:
        return []


def _result(
    name: str,
    system: int,
    measures: Sequence[Measure],
    estimates: Sequence[Estimate],
    tables: Sequence[RowTable],
    n_rows: int,
) -> Result:
    """Make the result of a system from its values of rows."""
    figures = tuple(map(Figure, measures, estimates))
    saved = [counts for table in tables for counts in table.meta.get("counts", [None] * len(table.systems))]
    if None in saved:  # beside counts of other systems, zeros would be read as counts
        return Result(name, figures, Counts(n_rows, 0, 0, 0, 0, 0, 0, short_rows={}, tied_rows={}, are_known=False))
    counts = dict(saved[system])
    for key in ("short_rows", "tied_rows"):
        counts[key] = {int(k): rows for k, rows in counts[key].items()}
    counts["grades"] = tuple(counts["grades"])
    counts["unscored"] = {int(rel): Unscored(*numbers) for rel, numbers in counts["unscored"].items()}
    return Result(name, figures, Counts(**counts))


def _estimate(output: Output, system: int) -> Estimate:
    of_rows = output.sums[system], output.n_rows[system], output.extremes[system]
    return estimate(output.measure, *of_rows).without_tie_bounds()


def _warnings(tables: Sequence[RowTable]) -> list[str]:
    unknown = [table.name for table in tables if "truth" not in table.meta]
    paths = [to_path(table.name).resolve() for table in tables]
    twice = dict.fromkeys(table.name for i, table in enumerate(tables) if paths[i] in paths[:i])
    warnings = [f"{name} is passed twice: its systems tie with themselves on every instance" for name in twice]
    warnings += [f"{listed(unknown)}: cannot check that the instances are those of the same truth"] if unknown else []
    rules = {table.name: table.meta["rules"] for table in tables if "rules" in table.meta}
    if len({json.dumps(each, sort_keys=True) for each in rules.values()}) > 1:
        described = "; ".join(f"{name}: {_describe_rules(each)}" for name, each in rules.items())
        warnings.append(f"the files were scored under different options: {described}")
    return warnings


def _describe_rules(rules: Mapping[str, Any]) -> str:
    return listed(f"{name}={value}" for name, value in rules.items()) or "the defaults"
