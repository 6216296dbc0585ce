"""Compare saved values of rows: the files of ``--save-rows``."""

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
from xmceval.files.io.shardfiles import find_shards
from xmceval.files.saved.rowtable import RowTable, align
from xmceval.files.saved.rowvalues import read_rows
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
    joined, lacking = align(tables, missing)
    values, n_rows = joined.values, len(joined.rows)
    measures = [_measure(name, values[:, :, i, 0]) for i, name in enumerate(joined.metrics)]
    is_missing = np.isnan(values[:, :, :, 0])
    values[is_missing] = 0.0
    weights = joined.weights if (joined.weights != 1).any() else np.empty(0)
    left_out = is_missing.sum(axis=0)
    outputs = outputs_of_rows(measures, values, weights, pairs, left_out, holds_rows=testing.holds_rows)
    counts = _counts(tables, n_rows, are_known=not lacking)
    results = tuple(
        Result(name, tuple(Figure(output.measure, _estimate(output, system)) for output in outputs), counts[system])
        for system, name in enumerate(called)
    )
    tests = PairTests(called, pairs, testing, threads or default_threads(), watch)
    tested = adjust([*tests.differences(outputs)], testing)
    means = [[figure.estimate.value for figure in result.figures] for result in results]
    differences = tuple(in_order(tested, measures, called, means, pairs))
    warnings = *lacking, *_warnings(tables, rows_differ=len(lacking) > 0), *warn_of_untested(differences, outputs)
    source = f"{counted(n_rows, 'instance')} from saved values"
    return Comparison(results, differences, testing, warnings, source=source)


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
    lost_rows = (first.has_dropped or other.has_dropped) and set(first.rows) != set(other.rows)
    if _differ(first, other, "truth") and not lost_rows:
        raise DataError(
            f"{first.name} and {other.name} are of different truths, by their digests (hint: score both against the "
            f"same truth, with its rows in the same order and the same {argument('filter')}, if any)"
        )
    weighed = [name for name in first.metrics if any(each.needs_propensities for each in _parsed(name))]
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
    unknown = [table.name for table in tables if "truth" not in table.meta or (table.has_dropped and rows_differ)]
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
