"""The command ``xmceval compare``, which tests the differences between systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from xmceval.cli import options
from xmceval.cli.inputs import Inputs, find_inputs, open_inputs, split_name, watch
from xmceval.cli.messages import enforce, long_work, print_output, warn_of_results
from xmceval.cli.outputs import output_options, prepare_outputs
from xmceval.comparison.options import Testing
from xmceval.errors import UsageError, listed
from xmceval.files.io.paths import RemotePath, to_path
from xmceval.report.pictures import OF_COMPARISON
from xmceval.report.renderable import render
from xmceval.rows.shards import parts_of
from xmceval.scoring.options import Options, Saving, specs

if TYPE_CHECKING:
    from xmceval.comparison.comparison import Comparison
    from xmceval.report.gates import Gate
    from xmceval.report.sheet import Layout


MAIN = (*options.MAIN, "against", "test", "runs", "form", "plots", "page", "fail_if_worse", "quiet")


@options.command("compare", short_help="Test which of several systems is better.", main_options=MAIN)
@click.argument("truth", type=options.FILE)
@click.argument("preds", nargs=-1, type=options.FILE)
@options.derived(Testing)
@options.fail_if_worse
@options.fail_if_drop
@options.scoring
@options.option(
    "--runs",
    multiple=True,
    group="Input",
    metavar="NAME=FILES",
    help="Add a system with several runs: a quoted pattern, or A,B,C.",
)
@options.report_form
@options.layout
@options.save_rows
@options.save_labels
@output_options(OF_COMPARISON, "differences")
@options.force
@options.dask
@options.strict
@options.quiet
@options.verbose
def command(form: str, **arguments: Any) -> None:
    """Test which of PREDS, files or NAME=FILE, is better on TRUTH.

    TRUTH and PREDS are as in xmceval score. Files written by --save-rows are compared without TRUTH.

    \b
    Examples:
      xmceval compare tst_X_Y.txt old=old.txt new=new.txt --train trn_X_Y.txt
      xmceval compare tst_X_Y.txt --runs 'a=a/seed*.npz' --runs b=b1.npz,b2.npz
      xmceval compare old.rows.npz new.rows.npz
    """
    layout = options.take_layout(arguments, form)
    from xmceval.comparison.gates import judge_comparison, parse_gates

    def find_gates(layout: Layout) -> list[Gate]:
        return parse_gates(arguments["fail_if_worse"], arguments["fail_if_drop"], in_percent=layout.percent)

    find_gates(layout)  # the unit of shares may not be known before the truth is opened
    if _has_rows(arguments["truth"]):
        names, files = _find_tables(arguments)
        parts = [("values per instance", to_path(part)) for file in files for part in parts_of(file)]
        write_files = prepare_outputs(arguments, parts, None, "differences")
        comparison = _compare_tables(arguments, names, files)
    else:
        inputs = _find_systems(arguments)
        from xmceval.comparison.compare import compare_systems
        from xmceval.comparison.gates import check_decidable

        testing = Testing.of({**arguments, "against": inputs.find_system(arguments["against"])})
        write_files = prepare_outputs(arguments, inputs.list_files(), inputs.options, "differences")
        saving = Saving(
            save_rows=arguments["save_rows"], save_labels=arguments["save_labels"], force=arguments["force"]
        )
        with open_inputs(inputs, arguments, saving) as truth:
            gates = find_gates(layout.settle(truth.setup.nouns))
            check_decidable(gates, truth.setup.options.measures, len(inputs.systems), testing.against)
            comparison = compare_systems(truth, inputs.systems, testing, saving, watch=watch(arguments["quiet"]))
    gates = find_gates(layout.settle(comparison.results[0].nouns))
    comparison = replace(comparison, gates=judge_comparison(gates, comparison, layout))
    warn_of_results(arguments, comparison.results, comparison.doubts, form=form)
    print_output(render(comparison, form, layout))
    write_files(comparison.results, comparison)
    enforce(comparison.gates, quiet=arguments["quiet"])


def _find_systems(arguments: Mapping[str, Any]) -> Inputs:
    """Find the truth and the systems.

    Refuse per-row values next to a truth, states (which would be read as labels), and a call without systems.
    """
    from xmceval.files.shards import check_files, find_shards
    from xmceval.scoring.state_file import is_state

    row_files = [text for text in arguments["preds"] if _has_rows(text)]
    if row_files:
        check_files(parts_of(find_shards(split_name(arguments["truth"])[1])))  # a name with a mistake is no truth
        raise UsageError(
            f"{listed(row_files)}: per-instance values are compared without TRUTH "
            f"(hint: leave out {arguments['truth']})"
        )
    inputs = find_inputs(arguments)
    files = map(to_path, (arguments["truth"], *inputs.files.values()))
    states = [path for path in files if not isinstance(path, RemotePath) and path.is_file() and is_state(path)]
    if states:
        raise UsageError(
            f"{listed(states)}: saved states cannot be compared: each has only the totals of one system "
            "(hint: compare predictions, or files of --save-rows)"
        )
    if not inputs.systems:
        raise UsageError("a comparison needs at least two systems after TRUTH, got none")
    return inputs


def _find_tables(arguments: Mapping[str, Any]) -> tuple[Sequence[str], Sequence[Any]]:
    """Return the names, empty where none was passed, and the files of per-row values."""
    of_scoring = {*specs(Options), "runs", "save_rows", "save_labels", "dask"} - {"threads", "missing"}
    passed = [parameter.opts[0] for parameter in options.passed_options(of_scoring)]
    if passed:
        raise UsageError(
            f"{listed(passed)}: not available for per-instance values, which are scored already "
            "(hint: pass these options to the command that writes them)"
        )
    from xmceval.files.shards import find_shards

    names, paths = zip(*map(split_name, (arguments["truth"], *arguments["preds"])), strict=True)
    return names, [find_shards(path) for path in paths]


def _compare_tables(arguments: Mapping[str, Any], names: Sequence[str], files: Sequence[Any]) -> Comparison:
    """Read and compare per-row values."""
    from xmceval.comparison.compare import compare_tables
    from xmceval.files.saved_rows import read_rows

    with long_work(arguments["quiet"]):
        tables = list(map(read_rows, files))
        called: list[str] = []  # names from NAME=FILE, or from the file
        for name, table in zip(names, tables, strict=True):
            if name and len(table.systems) > 1:
                raise UsageError(
                    f"{name}={table.name}: has {len(table.systems)} systems: {listed(table.systems)} "
                    "(hint: in Python, compare_rows(..., names=) names each of them)"
                )
            if name:
                called.append(name)
            else:
                called += table.systems
        return compare_tables(
            tables,
            called,
            Testing.of(arguments),
            threads=arguments["threads"],
            watch=watch(arguments["quiet"]),
            missing=arguments["missing"] if options.passed_options({"missing"}) else "error",
        )


def _has_rows(text: str) -> bool:
    """Return whether FILE or NAME=FILE, or the first of its shards, has per-row values."""
    from xmceval.files.saved_rows import is_row_file
    from xmceval.files.shards import find_shards

    return is_row_file(parts_of(find_shards(split_name(text)[1]))[0])
