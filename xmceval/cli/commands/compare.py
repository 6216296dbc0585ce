"""``xmceval compare``: which system is better, by how much, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from xmceval.cli import options
from xmceval.cli.commandline import passed_flags
from xmceval.cli.gating import enforced, fail_if_worse, not_worse
from xmceval.cli.messages import warn_of_results
from xmceval.cli.plotting import Plots, plot_options
from xmceval.cli.runner import find_inputs, long_work, open_inputs, watch
from xmceval.cli.systems import split_name
from xmceval.errors import UsageError, listed
from xmceval.files.io.paths import is_address, to_path
from xmceval.report.displayed import render
from xmceval.report.pictures import OF_COMPARISON
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options, specs

if TYPE_CHECKING:
    from xmceval.files.savedrows import RowTable
    from xmceval.report.comparison import Comparison
    from xmceval.report.gates import Gate


@options.command("compare", short_help="Compare systems on the same truth.")
@click.argument("truth", type=options.FILE)
@click.argument("preds", nargs=-1, type=options.FILE)
@options.derived(Testing)
@fail_if_worse
@options.scoring
@options.runs
@options.report_form
@options.names
@options.layout
@options.shards
@options.save_rows
@plot_options(OF_COMPARISON, "differences")
@options.force
@options.dask
@options.strict
@options.quiet
@options.verbose
def command(form: str, plots: tuple[str, ...], plot_kinds: tuple[str, ...], **arguments: Any) -> None:
    """Compare PREDS, one file or NAME=FILE per system, on the instances of TRUTH.

    For each pair of systems and each metric: the difference (system minus baseline) with its 95% interval, p, the
    instances won, tied and lost, and a verdict in a sentence. The system named first is the baseline.

    TRUTH and PREDS are as in xmceval score. Files of --save-rows, and CSV with a column row and one per metric, are
    compared without TRUTH if .rows. is in their names; a quoted pattern stands for the shards of one.

    \b
    Examples:
      xmceval compare tst_X_Y.txt old.txt new.txt --train trn_X_Y.txt -k 1,3,5
      xmceval compare old.rows.npz new.rows.npz
    """
    layout = options.take_layout(arguments, form)
    files = [arguments["truth"], *arguments["preds"]]
    pictures = Plots.of(plots, plot_kinds, force=arguments["force"], inputs=files)
    gates = not_worse(arguments["fail_if_worse"])
    if is_row_file(arguments["truth"]):
        comparison = _compare_rows(arguments)
    else:
        _check_systems(arguments)
        comparison = _compare_systems(arguments, pictures, gates)
    from xmceval.api.comparing.gates import judge_comparison

    comparison = replace(comparison, gates=judge_comparison(gates, comparison, layout))
    warn_of_results(arguments, comparison.results, comparison.doubts, form)
    with enforced(comparison.gates):
        click.echo(render(comparison, form, layout), nl=False)
        pictures.write(comparison)


def _check_systems(arguments: Mapping[str, Any]) -> None:
    """Refuse values of rows beside a truth, states, and no systems at all."""
    row_files = [each for each in arguments["preds"] if is_row_file(each)]
    if row_files:
        raise UsageError(
            f"{listed(row_files)}: per-instance values are compared without TRUTH "
            f"(hint: leave out {arguments['truth']})"
        )
    _refuse_states([arguments["truth"], *arguments["preds"]])
    if not (arguments["preds"] or arguments["runs"]):
        raise UsageError("a comparison needs at least two systems after TRUTH, got none")


def _refuse_states(paths: Sequence[str]) -> None:
    """Refuse states of systems, which are taken for files of labels else."""
    from xmceval.scoring.states.file import is_state

    files = [split_name(each)[1] for each in paths]
    local = [path for path in files if not is_address(path) and to_path(path).is_file()]
    states = [path for path in local if is_state(to_path(path))]
    if states:
        raise UsageError(
            f"{listed(states)}: saved states cannot be compared: each has only the totals of one system "
            "(hint: compare predictions, or files of --save-rows)"
        )


def _compare_systems(arguments: Mapping[str, Any], pictures: Plots, gates: Sequence[Gate]) -> Comparison:
    """Compare predictions on the truth."""
    inputs = find_inputs(arguments)
    from xmceval.api.comparing.compare import compare_systems
    from xmceval.api.comparing.gates import check_decidable

    testing = Testing.of({**arguments, "against": inputs.find_system(arguments["against"])})
    pictures.check(OF_COMPARISON, inputs.options)
    check_decidable(gates, inputs.options.measures, len(inputs.systems), testing.against)
    with open_inputs(inputs, arguments) as truth:
        return compare_systems(
            truth,
            inputs.systems,
            testing,
            save_rows=arguments["save_rows"],
            force=arguments["force"],
            watch=watch(arguments["quiet"]),
        )


def _compare_rows(arguments: Mapping[str, Any]) -> Comparison:
    """Compare saved values of rows."""
    _refuse_scoring()
    from xmceval.api.comparing.comparerows import compare_tables
    from xmceval.files.io.shardfiles import find_shards
    from xmceval.files.savedrows import read_rows

    with long_work(arguments["quiet"]):
        split = [split_name(each) for each in (arguments["truth"], *arguments["preds"])]
        tables = [read_rows(find_shards(path)) for _, path in split]
        names = _names_of_rows(tables, [name for name, _ in split], arguments["names"])
        is_passed = bool(passed_flags(click.get_current_context(), {"missing"}))
        return compare_tables(
            tables,
            names,
            Testing.of(arguments),
            threads=arguments["threads"],
            watch=watch(arguments["quiet"]),
            missing=arguments["missing"] if is_passed else "error",
        )


def _names_of_rows(tables: Sequence[RowTable], own: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names of the systems of files: of --name, of NAME=FILE, or those in the files from the last on."""
    if not any(own):
        return list(names)
    for name, table in zip(own, tables, strict=True):
        if name and len(table.systems) > 1:
            raise UsageError(
                f"{name}={table.name}: has {len(table.systems)} systems: {listed(table.systems)} "
                "(hint: name them by --name, in this order)"
            )
    of_files = [[name] if name else table.systems for name, table in zip(own, tables, strict=True)]
    return [*names, *[each for of_file in of_files for each in of_file][len(names) :]]


def _refuse_scoring() -> None:
    """Refuse options of scoring where values of rows are compared, which nothing scores again."""
    of_scoring = {*specs(Options), "runs", "shards", "save_rows", "dask"}
    of_scoring -= {"threads", "missing"}
    passed = passed_flags(click.get_current_context(), of_scoring)
    if passed:
        raise UsageError(
            f"{listed(passed)}: not available for per-instance values, which are scored already "
            "(hint: pass these options to the command that writes them)"
        )


def is_row_file(path: str) -> bool:
    """Return whether a name is that of values of rows."""
    return ".rows." in to_path(path).name
