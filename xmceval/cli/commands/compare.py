"""``xmceval compare``: which system is better, by how much, and whether that is more than chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from xmceval.cli import options, progressbar, shared
from xmceval.cli.plotting import Plots, plot_options
from xmceval.errors import UsageError, listed
from xmceval.files.io.paths import to_path
from xmceval.report.forms.registry import render_comparison
from xmceval.report.pictures import COMPARISON
from xmceval.scoring.comparing.testoptions import Details, Testing
from xmceval.scoring.options import Options, specs

if TYPE_CHECKING:
    from xmceval.api.scoring.setup import Named
    from xmceval.report.comparison import Comparison


@click.command("compare", cls=options.GroupedCommand, short_help="Compare systems on the same truth.")
@click.argument("truth", type=options.FILE)
@click.argument("preds", nargs=-1, type=options.FILE)
@lambda function: options.derived(function, Testing)
@lambda function: options.derived(function, Details)
@options.scoring
@options.fused
@options.runs
@options.report_form
@options.names
@options.layout
@options.shards
@options.save_rows
@options.save_labels
@plot_options(COMPARISON, "differences")
@options.option(
    "--rows", is_flag=True, group="Input", help="The files are values of rows, such as trec_eval -q writes."
)
@options.dask
@options.strict
@options.quiet
@options.verbose
def command(
    truth: str,
    preds: tuple[str, ...],
    form: str,
    names: tuple[str, ...],
    fused: tuple[str, ...],
    runs: tuple[str, ...],
    shards: bool,
    save_rows: str | None,
    save_labels: str | None,
    plots: tuple[str, ...],
    plot_kinds: tuple[str, ...],
    rows: bool,
    dask: str | None,
    strict: bool,
    quiet: bool,
    verbose: bool,
    **arguments: object,
) -> None:
    """Compare PREDS, one file per system, on the instances of TRUTH.

    For each pair of systems and each metric: the difference (system minus baseline) with its 95% interval, p, the
    rows won, tied and lost, and what it comes to in a sentence. The system named earlier is the baseline.

    TRUTH and PREDS may be shards, as in xmceval score. Instead of them, files of --save-rows can be compared, whose
    names contain .rows., and per-query files of other tools after --rows.

    \b
    Examples:
      xmceval compare tst_X_Y.txt old.txt new.txt --train trn_X_Y.txt -k 1,3,5
      xmceval compare old.rows.npz new.rows.npz
    """
    layout = options.take_layout(arguments, form)
    pictures = Plots.of(plots, plot_kinds)
    if rows or is_row_file(truth):
        comparison = _compare_rows((truth, *preds), names, arguments, pictures, quiet)
    elif any(is_row_file(each) for each in preds):
        names_of_rows = listed(each for each in preds if is_row_file(each))
        raise UsageError(f"{names_of_rows}: values of rows are compared without TRUTH (hint: leave out {truth})")
    elif not preds and not fused and not runs:
        raise UsageError("a comparison needs at least two systems after TRUTH, got none")
    elif form == "csv" and Details.of(arguments).needs_lists:
        raise UsageError("csv has differences only, neither overlap nor examples (hint: pass -o json)")
    else:
        systems = shared.system_names(preds, names)
        shared.start(quiet, ahead=True)
        named = [
            *shared.named_systems(preds, systems, fused, shards=shards),
            *shared.systems_of_runs(runs, shards=shards),
        ]
        arguments["train"] = shared.shards_of(arguments["train"], shards)
        comparison = _compare_systems(
            *(shared.shards_of(truth, shards), named, arguments, save_rows, save_labels, pictures, quiet, dask)
        )
    if strict:
        shared.refuse_warnings(comparison.results, comparison.warnings)
    shared.report(comparison.results, quiet=quiet, verbose=verbose, warnings=comparison.warnings)
    for wins in () if quiet else comparison.label_wins:
        shared.say(f"{save_labels}: {wins}")
    click.echo(render_comparison(form, comparison, layout), nl=False)
    pictures.write(comparison)


def _compare_systems(
    truth: Any,
    systems: list[Named],
    arguments: dict[str, object],
    save_rows: str | None,
    save_labels: str | None,
    pictures: Plots,
    quiet: bool,
    dask: str | None,
) -> Comparison:
    """Compare predictions on the truth."""
    from xmceval.api.comparing.compare import compare_systems
    from xmceval.api.extras.choose import choose_extras
    from xmceval.api.scoring.setup import Setup

    testing, details = Testing.of(arguments), Details.of(arguments)
    chosen = Options.of(arguments)
    pictures.check(COMPARISON, chosen)
    extras = choose_extras(
        *(chosen, systems),
        details=details,
        plots=pictures.collected,
        save_rows=save_rows,
        save_labels=save_labels,
    )
    with shared.engine(dask) as engine, progressbar.shown(quiet):
        setup = Setup.of(truth, chosen, systems, needs_counts=any(each.needs_counts for each in extras), **engine)
        return compare_systems(setup, systems, testing, extras, watch=shared.watch(quiet))


def _compare_rows(
    files: tuple[str, ...], names: tuple[str, ...], arguments: dict[str, object], pictures: Plots, quiet: bool
) -> Comparison:
    """Compare saved values of rows."""
    _refuse_scoring()
    if Details.of(arguments).needs_lists:
        raise UsageError(
            "overlap and examples need lists of labels, which values of rows do not have (hint: pass TRUTH and PREDS)"
        )
    shared.start(quiet)
    from xmceval.api.comparing.comparerows import check_row_plots, compare_tables
    from xmceval.files.saved.rowvalues import read_row_values

    kinds = check_row_plots(pictures.collected)
    threads = arguments["threads"] if isinstance(arguments["threads"], int) else None
    with progressbar.shown(quiet):
        tables = [read_row_values(path) for path in files]
        return compare_tables(tables, names, Testing.of(arguments), threads, shared.watch(quiet), kinds)


def _refuse_scoring() -> None:
    """Refuse options of scoring where values of rows are compared, which nothing scores again.

    Raises
    ------
    UsageError
        All of them.
    """
    context = click.get_current_context()
    of_scoring = {*specs(Options), "fused", "runs", "shards", "save_rows", "save_labels", "dask"} - {"threads"}
    passed = [
        each.opts[0]
        for each in context.command.params
        if each.name in of_scoring and context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE
    ]
    if passed:
        raise UsageError(
            f"{listed(passed)}: the files hold values of rows that were already scored "
            "(hint: pass these options to the command that writes them)"
        )


def is_row_file(path: str) -> bool:
    """Return whether a name is that of values of rows."""
    return ".rows." in to_path(path).name
