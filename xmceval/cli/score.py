"""``xmceval score``: one table of metrics for one or more systems."""

from __future__ import annotations

import click

from xmceval.cli import bars, options, shared
from xmceval.cli.plotting import Plots, plot_options
from xmceval.errors import UsageError
from xmceval.report.forms import render
from xmceval.report.pictures import RESULTS


@click.command("score", cls=options.GroupedCommand, short_help="Score predictions against the truth.")
@click.argument("truth", type=options.FILE)
@click.argument("preds", nargs=-1, required=True, type=options.FILE)
@options.scoring
@options.fused
@options.report_form
@options.names
@options.layout
@options.option(
    "--published",
    is_flag=True,
    group="Output",
    help="Show where these values would rank in the table of --dataset.",
)
@options.save_rows
@options.save_labels
@plot_options(RESULTS, "bins with --by-frequency, else curves")
@options.strict
@options.quiet
@options.verbose
def command(
    truth: str,
    preds: tuple[str, ...],
    form: str,
    names: tuple[str, ...],
    fused: tuple[str, ...],
    published: bool,
    save_rows: str | None,
    save_labels: str | None,
    plots: tuple[str, ...],
    plot_kinds: tuple[str, ...],
    strict: bool,
    quiet: bool,
    verbose: bool,
    **arguments: object,
) -> None:
    """Score PREDS, one file per system, against TRUTH.

    TRUTH is in one of XMLRepository's text formats, lists of labels or of their names, fastText, JSON lines, npz, npy,
    mat or qrels; PREDS are text with rows of idx:score, tab-separated pairs, ranked lists, JSON lines, npz, npy, mat, a
    TREC run, or a pair NAME-labels.npy and NAME-scores.npy. All may be compressed (gz, xz, bz2, zst), one may be -,
    standard input. The format is detected by content.

    \b
    Example:
      xmceval score tst_X_Y.txt score_mat.txt --train trn_X_Y.txt -k 1,3,5
    """
    if published and form == "csv":
        raise UsageError("published values are not part of the CSV (hint: pass -o table or -o json)")
    layout = options.take_layout(arguments, form)
    systems = shared.system_names(preds, names)
    pictures = Plots.of(plots, plot_kinds)
    shared.start(quiet, ahead=True)
    from xmceval.api.score import score_systems
    from xmceval.api.setup import Setup
    from xmceval.labels.standings import require_dataset
    from xmceval.report.result import with_standings
    from xmceval.scoring.options import Options

    chosen = Options.of(arguments)
    entry = require_dataset(chosen.dataset) if published else None
    named = shared.named_systems(preds, systems, fused)
    pictures.check(RESULTS, chosen)
    with bars.shown(quiet):
        setup = Setup.of(truth, chosen, named, needs_counts="gain" in pictures.collected)
        results = score_systems(setup, named, save_rows=save_rows, save_labels=save_labels, plots=pictures.collected)
    results = results if entry is None else [with_standings(result, entry) for result in results]
    if strict:
        shared.refuse_warnings(results)
    shared.report(results, quiet=quiet, verbose=verbose)
    click.echo(render(form, results, layout), nl=False)
    pictures.write(results)
