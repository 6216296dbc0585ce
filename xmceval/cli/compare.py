"""``xmceval compare``: which system is better, by how much, and whether that is more than chance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from xmceval.cli import options, shared
from xmceval.errors import UsageError
from xmceval.report.forms import render_comparison
from xmceval.scoring.testing import Testing

if TYPE_CHECKING:
    from xmceval.report.comparison import Comparison


@click.command("compare", cls=options.GroupedCommand, short_help="Compare systems on the same truth.")
@click.argument("truth", type=options.FILE)
@click.argument("preds", nargs=-1, type=options.FILE)
@lambda function: options.derived(function, Testing)
@options.scoring
@options.fused
@options.runs
@options.report_form
@options.names
@options.places
@options.save_rows
@options.option(
    "--rows", is_flag=True, group="Input", help="The files are values of rows, such as trec_eval -q writes."
)
@options.strict
@options.quiet
@options.verbose
def command(
    truth: str,
    preds: tuple[str, ...],
    form: str,
    names: tuple[str, ...],
    places: int,
    fused: tuple[str, ...],
    runs: tuple[str, ...],
    save_rows: str | None,
    rows: bool,
    strict: bool,
    quiet: bool,
    verbose: bool,
    **arguments: object,
) -> None:
    """Compare PREDS, one file per system, on the instances of TRUTH.

    For each pair of systems and each metric: the difference (system minus baseline) with its 95% interval, p, the
    rows won, tied and lost, and what it comes to in a sentence. The system named earlier is the baseline.

    Instead of TRUTH and PREDS, files of --save-rows can be compared, whose names contain .rows., and per-query files of
    other tools after --rows.

    \b
    Examples:
      xmceval compare tst_X_Y.txt old.txt new.txt --train trn_X_Y.txt -k 1,3,5
      xmceval compare old.rows.npz new.rows.npz
    """
    if rows or is_row_file(truth):
        comparison = _compare_rows((truth, *preds), names, arguments, quiet)
        shared.report(comparison.results, quiet=quiet, verbose=verbose, warnings=comparison.warnings)
        click.echo(render_comparison(form, comparison, places), nl=False)
        return
    if not preds and not fused and not runs:
        raise UsageError("a comparison needs at least two systems")
    systems = shared.system_names(preds, names)
    shared.start(quiet, ahead=True)
    from xmceval.api.compare import compare_systems
    from xmceval.api.setup import Setup
    from xmceval.scoring.options import Options

    testing = Testing.of(arguments)
    named = [*shared.named_systems(preds, systems, fused), *shared.systems_of_runs(runs)]
    setup = Setup.of(truth, Options.of(arguments), named)
    with shared.progress(f"{len(systems)} systems", quiet) as report:
        comparison = compare_systems(setup, named, testing, progress=report, save_rows=save_rows)
    if strict:
        shared.refuse_warnings(comparison.results, comparison.warnings)
    shared.report(comparison.results, quiet=quiet, verbose=verbose, warnings=comparison.warnings)
    click.echo(render_comparison(form, comparison, places), nl=False)


def _compare_rows(
    files: tuple[str, ...], names: tuple[str, ...], arguments: dict[str, object], quiet: bool
) -> Comparison:
    """Compare saved values of rows; options of scoring were those of the files."""
    shared.start(quiet)
    from xmceval.api.comparerows import compare_tables
    from xmceval.files.rowvalues import read_row_values

    return compare_tables([read_row_values(path) for path in files], names, Testing.of(arguments))


def is_row_file(path: str) -> bool:
    """Return whether a name is that of values of rows."""
    return ".rows." in Path(path).name
