"""``xmceval score``: one table of metrics for one or more systems."""

from __future__ import annotations

import click

from xmceval.cli import options, progressbar, shared
from xmceval.cli.plotting import Plots, plot_options
from xmceval.errors import UsageError
from xmceval.report.forms.registry import render
from xmceval.report.pictures import RESULTS


@click.command("score", cls=options.GroupedCommand, short_help="Score predictions against the truth.")
@click.argument("truth", type=options.FILE)
@click.argument("preds", nargs=-1, required=True, type=options.FILE)
@options.scoring
@options.fused
@options.report_form
@options.names
@options.layout
@options.published
@options.shards
@options.save_rows
@options.save_labels
@options.option(
    "--save-state",
    type=options.FILE,
    group="Output",
    metavar="FILE",
    help="Write the totals of one system, for xmceval merge.",
)
@options.option(
    "--shard", group="Output", metavar="I/N", help="With --save-state: this is shard I of N, so that merge finds gaps."
)
@options.option(
    "--max-weight",
    type=float,
    group="Input",
    metavar="W",
    help="The largest sample weight of all shards, where --save-state saves them one by one.",
)
@plot_options(RESULTS, "bins with --by-frequency, else curves")
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
    published: bool,
    shards: bool,
    save_rows: str | None,
    save_labels: str | None,
    save_state: str | None,
    shard: str | None,
    max_weight: float | None,
    plots: tuple[str, ...],
    plot_kinds: tuple[str, ...],
    dask: str | None,
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

    Shards are scored as one: a quoted pattern stands for the files that match, in natural order, and @LIST for the
    files that it lists, one path per line. Each shard of TRUTH needs a shard of PREDS with as many rows, or one file
    for all; formats may differ.

    \b
    Examples:
      xmceval score tst_X_Y.txt score_mat.txt --train trn_X_Y.txt -k 1,3,5
      xmceval score 'truth-*.npz' 'preds-*.txt.gz'
      xmceval score 'truth-*.txt' 'preds-*.txt' --dask tcp://scheduler:8786
    """
    if published and form == "csv":
        raise UsageError("published values are not part of the CSV (hint: pass -o table or -o json)")
    layout = options.take_layout(arguments, form)
    systems = shared.system_names(preds, names)
    pictures = Plots.of(plots, plot_kinds)
    shared.start(quiet, ahead=True)
    from xmceval.api.extras.choose import choose_extras
    from xmceval.api.scoring.score import score_systems
    from xmceval.api.scoring.setup import Setup
    from xmceval.labels.standings import require_dataset
    from xmceval.report.result import with_standings
    from xmceval.scoring.options import Options

    chosen = Options.of(arguments | {"train": shared.shards_of(arguments["train"], shards)})
    entry = require_dataset(chosen.dataset) if published else None
    named = shared.named_systems(preds, systems, fused, shards=shards)
    pictures.check(RESULTS, chosen)
    extras = choose_extras(
        *(chosen, named),
        plots=pictures.collected,
        save_rows=save_rows,
        save_labels=save_labels,
        save_state=save_state,
        shard=shard,
    )
    with shared.engine(dask) as engine, progressbar.shown(quiet):
        setup = Setup.of(
            *(shared.shards_of(truth, shards), chosen, named),
            needs_counts=any(each.needs_counts for each in extras),
            max_weight=max_weight,
            **engine,
        )
        results = score_systems(setup, named, extras).results
    results = results if entry is None else tuple(with_standings(result, entry) for result in results)
    if strict:
        shared.refuse_warnings(results)
    shared.report(results, quiet=quiet, verbose=verbose)
    click.echo(render(form, results, layout), nl=False)
    pictures.write(results)
